"""The pages over the store of the tour: what they show, what their forms do and refuse."""

import html
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import tenure
from tenure.faces.http import page_reviews as review_page
from tenure.faces.http import pages as first_page
from tenure.faces.http.api import AnswerBook, StoredAnswer
from tenure.schema.policy import Policy, ResolutionPolicy
from tenure.schema.principal import OWNER, Principal
from tenure.schema.values import stamp_time
from tenure.tests.faces.http.site import OWN, Site, site_over

UUID = r"[0-9a-f]{8}-[0-9a-f-]{27}"


def merged(memory: tenure.Memory) -> tuple[str, str]:
    """One entity of two names; the id that stays, and the one that went."""
    first = memory.write("Ann Lee", "office", "Rome").entity
    second = memory.write("Annabel Leeds", "office", "Oslo").entity
    kept = memory.entities.merge(first, second).canonical_id
    return kept, ({str(first), str(second)} - {kept}).pop()


def read(site: Site, path: str) -> str:
    answer = site.browser.get(path, headers={"accept": "text/html"})
    assert answer.status_code == 200, (path, answer.text[:600])
    return answer.text


def find(site: Site, name: str) -> str:
    return site.browser.get("/find", params={"name": name}).headers["location"]


def addresses(site: Site) -> list[str]:
    """Return every page that can be reached by links from the first one."""
    known: dict[str, str] = {}
    waiting = ["/", "/?q=Orchid"]
    while waiting:
        path = waiting.pop()
        if path in known or path.startswith(("/static", "#", "data:")):
            continue
        if path.count("?") and path.split("?")[0] in {p.split("?")[0] for p in known if "?" in p}:
            continue
        answer = site.browser.get(path, headers={"accept": "text/html"})
        # An envelope of somebody holds rows that are his alone; its list says that it was made.
        if path.startswith("/envelopes/") and "may not be read by this caller" in answer.text:
            continue
        assert answer.status_code == 200, (path, answer.text[:600])
        known[path] = answer.text
        waiting += map(html.unescape, re.findall(r'href="([^"]*)"', answer.text))
    return list(known)


def test_every_link_leads_to_a_page(site: Site) -> None:
    kinds = {re.sub(rf"{UUID}|[0-9a-f]{{64}}", "*", path.split("?")[0]) for path in addresses(site)}
    assert kinds >= {
        "/",
        "/reviews",
        "/reviews/*",
        "/actions",
        "/quarantine",
        "/envelopes",
        "/envelopes/*",
        "/health",
        "/entities/*",
        "/entities/*/plane/pricing_tier",
        "/claims/*",
        "/people/*",
    }


@pytest.mark.parametrize("role", ["auditor", "member"])
def test_who_may_not_decide_is_offered_no_decision_and_no_dead_end(
    own_site: Site, role: str
) -> None:
    merged(own_site.memory)
    steward = own_site.settings.steward
    own_site.sign_in_as(replace(steward, roles=frozenset({role})))
    pages = addresses(own_site)
    assert not any(path.startswith("/reviews") for path in pages)
    assert {"/", "/actions", "/quarantine", find(own_site, "Ann Lee")} <= {*pages}

    for path in pages:
        # Signing out is everybody's; every other form asks for a word that is not theirs to say.
        forms = re.findall(r'<form method="post" action="([^"]+)"', read(own_site, path))
        assert {*forms} <= {"/sign-out"}, path
    assert "A steward decides." in read(own_site, "/actions")
    assert "1 review" in read(own_site, "/")


def test_the_first_page_finds_names_and_facts(site: Site) -> None:
    text = read(site, "/?q=Orchid+Foods")
    assert re.search(rf'class="name" href="/entities/{UUID}">Orchid Foods', text)
    assert "second bakery" in text
    assert "No visible fact or text matches" in read(site, "/?q=zzzzqqq")
    assert "1 review" in text


def test_the_heads_of_lists_say_how_many_there_are(
    own_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, head in (
        ("/", "Known entities (7)"),
        ("/", ">1 quarantined text</a>"),
        ("/reviews", "Perhaps the same (1)"),
        ("/actions", "Actions (2)"),
        ("/documents", "Documents (0)"),
    ):
        assert head in read(own_site, path)

    # A list that goes on says so, and its next page claims no number for all.
    monkeypatch.setattr(first_page, "_ENTITIES", 4)
    text = read(own_site, "/")
    assert "Known entities (4+)" in text
    (more,) = re.findall(r'href="(/\?after=[^"]+)"', text)
    assert "Known entities</h2>" in read(own_site, more)


def test_an_entity_shows_names_instead_of_ids(site: Site) -> None:
    text = read(site, find(site, "Sam Rivera"))
    assert "<h1>Samantha Rivera</h1>" in text
    assert ">William Nakamura</a>" in text
    assert "Who changed what" in text


def test_the_plane_answers_in_words_and_prints_what_it_was_asked(site: Site) -> None:
    path = find(site, "Orchid Foods") + "/plane/pricing_tier"
    text = read(site, f"{path}?valid=2026-03-01&tx=2026-03-01T00:00")
    assert "we believed standard. Today we know it was premium" in text
    assert 'data-valid="2026-03-01T00:00:00Z" data-tx="2026-03-01T00:00:00Z"' in text
    for question in ("True now", "Believed then", "True then, as known now"):
        assert question in text
    # A day of known time is its last moment, as in every other question.
    of_the_day = read(site, f"{path}?valid=2026-03-01&tx=2026-03-01")
    assert 'data-valid="2026-03-01T00:00:00Z" data-tx="2026-03-01T23:59:59' in of_the_day
    known_now = read(site, f"{path}?valid=2026-03-01T00:00:00Z")
    assert "On 1 March 2026 it was premium" in known_now


def test_a_plane_of_nonsense_is_refused_in_words(site: Site) -> None:
    path = find(site, "Orchid Foods") + "/plane/"
    for wrong in ("pricing_tier?valid=yesterday", "nothing"):
        answer = site.browser.get(path + wrong, headers={"accept": "text/html"})
        assert answer.status_code == 422
        assert "<h1>Not understood</h1>" in answer.text


def test_a_page_says_what_is_wrong_with_a_request(site: Site) -> None:
    for path, words in (
        (f"/?q={'x' * 401}", "at most 400 characters"),
        ("/entities/an-address-cut-short", "entity_id"),
    ):
        answer = site.browser.get(path, headers={"accept": "text/html"})
        assert answer.status_code == 422
        assert words in answer.text


def test_a_case_answers_who_why_and_what_then(site: Site) -> None:
    waiting, suggested = re.findall(rf'<a href="/reviews/({UUID})"', read(site, "/reviews"))
    assert site.memory.reviews.get(suggested).review.reason == "possible_same_as"
    text = read(site, f"/reviews/{waiting}")
    assert "Who is “Daniel Okafor”?" in text
    assert '<table class="points">' in text
    assert "can be taken out again" in text
    for key in "1nu":
        assert re.search(rf'data-key="[^"]*\b{key}"', text)
    # An equal name was never weighed: +0.0 would say that it counted for nothing.
    points = text.partition('<table class="points">')[2].partition("</table>")[0]
    assert "equal name or id" in points
    assert "by rule" in points
    assert "+0.0" not in points


def test_namesakes_are_told_apart_wherever_entities_are_listed(site: Site) -> None:
    names = re.findall(rf'<a href="/entities/{UUID}">(Daniel Okafor[^<]*)</a>', read(site, "/"))
    assert len(names) > 1
    assert len(set(names)) == len(names)


def test_the_page_of_a_person_calls_others_by_name(site: Site) -> None:
    person = find(site, "Samantha Rivera").replace("/entities/", "/people/")
    row = read(site, person).partition("manager</th>")[2].partition("</tr>")[0]
    assert "William Nakamura" in row


def test_a_case_put_aside_is_taken_back_whenever_it_is_opened(own_site: Site) -> None:
    reviews = own_site.memory.reviews
    review = reviews.list()[0]
    reviews.unsure(review.review_id)

    text = read(own_site, f"/reviews/{review.review_id}")
    assert "Decided: unsure" in text
    assert 'data-key="n"' in text  # it can be decided as well
    assert text.count('data-key="z"') == 1
    version = reviews.get(review.review_id).review.version
    own_site.post(f"/reviews/{review.review_id}/undo", version=version)
    assert reviews.get(review.review_id).review.state.value == "undone"
    assert "Decided" not in read(own_site, f"/reviews/{review.review_id}")


def test_the_queue_says_since_when_a_case_waits_and_how_many_stand_behind(
    own_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = own_site.memory
    for place in ("Rome", "Oslo"):
        person = tenure.EntityRef(name="Mika Rogers", type="person", external_ids={"hr": place})
        memory.write(person, "office", place)
    memory.write(tenure.EntityRef(name="Mika Rogers", type="person"), "title", "counsel")
    review, behind = memory.reviews.list()
    opened_on = f"{stamp_time(review.opened_tx):%Y-%m-%d}"
    text = read(own_site, "/reviews")
    assert re.search(rf"{review.review_id}.*<td><time>{opened_on}[^<,]*</time></td>", text)
    assert "more case" not in text

    monkeypatch.setattr(review_page, "_ROWS", 1)
    text = read(own_site, "/reviews")
    assert review.review_id in text
    assert behind.review_id not in text
    assert "1 more case will come up" in text
    pair_count = len(memory.reviews.list(kind="possible_same_as"))
    assert f"Perhaps the same ({pair_count})" in text


def namesakes(memory: tenure.Memory) -> str:
    """Two people of one name, and a third mention of it; the case that asks which."""
    for number, title in (("3301", "welder"), ("3302", "planner")):
        person = {"name": "Erik Vance", "type": "person", "external_ids": {"hr": number}}
        memory.write(person, "title", title)
    receipt = memory.write({"name": "Erik Vance", "type": "person"}, "office", "Bergen")
    return receipt.reviews[0]


def test_equal_candidates_have_no_default_and_are_told_apart_by_their_facts(
    own_site: Site,
) -> None:
    text = read(own_site, f"/reviews/{namesakes(own_site.memory)}")
    assert text.index('class="decide"') < text.index('id="who"')
    bar = text[text.index('class="decide"') : text.index('id="who"')]
    labels = re.findall(r'<button type="submit"([^>]*)>([^<]*)', bar)
    keys = [key for words, _ in labels for key in re.findall(r'data-key="([^"]+)"', words)]
    assert keys == ["1", "2", "n", "u"]
    for words, _ in labels:
        assert 'class="secondary"' in words
    both = labels[0][1] + labels[1][1]
    assert "title welder" in both
    assert "title planner" in both
    assert "Erik Vance (title" in both  # no beginning of an id stands in for what differs


def test_every_decision_of_a_session_is_undone_in_turn(own_site: Site) -> None:
    memory = own_site.memory
    cases = memory.reviews.list()[:3]
    for case in cases:
        version = memory.reviews.get(case.review_id).review.version
        own_site.post(f"/reviews/{case.review_id}/reject", version=version)
    assert all(case.mention in read(own_site, "/decided") for case in cases)

    path = "/reviews"
    for case in reversed(cases):
        found = re.search(
            rf'action="/reviews/({UUID})/undo".*?name="version" value="(\d+)".*?data-key="z"',
            read(own_site, path), re.DOTALL,
        )  # fmt: skip
        assert found is not None
        assert found[1] == case.review_id
        answer = own_site.post(f"/reviews/{found[1]}/undo", version=int(found[2]))
        path = answer.headers["location"]
    assert 'data-key="z"' not in read(own_site, path)
    assert {case.review_id for case in memory.reviews.list()} >= {c.review_id for c in cases}


def test_a_decision_that_came_too_late_names_the_case_its_answer_and_who_gave_it(
    own_site: Site,
) -> None:
    memory = own_site.memory
    case = memory.reviews.list()[0]
    version = memory.reviews.get(case.review_id).review.version
    bob = memory.bind(replace(OWNER, tenant="demo", user="bob"))
    bob.reviews.reject(case.review_id, version=version)
    namesakes(memory)
    data = {"form_token": own_site.form_token(), "version": version}
    answer = own_site.browser.post(
        f"/reviews/{case.review_id}/accept", data=data, headers={**OWN, "accept": "text/html"}
    )
    assert answer.status_code == 412
    assert f"{case.mention}” was decided meanwhile" in answer.text
    assert "kept apart by bob" in answer.text
    assert re.search(rf'data-key="k" href="/reviews/{UUID}"', answer.text)


def test_a_second_look_at_what_no_person_decided_gives_an_agreement(tmp_path: Path) -> None:
    policy = Policy(resolution=ResolutionPolicy(audit_share=1.0))
    principal = replace(OWNER, tenant="demo")
    with tenure.connect(":memory:", policy=policy, principal=principal) as memory:
        site = site_over(memory, tmp_path)
        assert "Audit of automatic" not in read(site, "/reviews")
        for first, second in (("Order Service", "OrderService"), ("Mail Gateway", "MailGateway")):
            for name in (first, second):
                memory.write(tenure.EntityRef(name=name, type="system"), "status", name)

        listed = read(site, "/reviews").partition("Audit of automatic")[2]
        waiting = re.findall(rf'<a href="/reviews/({UUID})">(\w+)</a> system', listed)
        assert {name for _, name in waiting} == {"OrderService", "MailGateway"}
        assert "Order Service" not in listed  # which is what was decided
        for (review_id, _), decision in zip(waiting, ("accept", "reject"), strict=True):
            version = memory.reviews.get(review_id).review.version
            assert site.post(f"/reviews/{review_id}/{decision}", version=version).status_code == 303
        assert "2 second looks, 50% in agreement." in read(site, "/reviews")


@pytest.mark.parametrize("decision", ["accept", "reject", "unsure"])
def test_a_decision_is_taken_back_without_a_trace_in_the_facts(
    own_site: Site, decision: str
) -> None:
    memory = own_site.memory
    before = {e.entity_id: memory.as_of().facts(e.entity_id) for e in memory.entities.list()}
    review = memory.reviews.list()[0]
    fields: dict[str, object] = {"version": review.version}
    if decision == "accept":
        fields["entity"] = review.candidates[0].entity
    answer = own_site.post(f"/reviews/{review.review_id}/{decision}", **fields)
    assert answer.status_code == 303, answer.text
    assert memory.reviews.get(review.review_id).review.decided_by == "steward"

    text = read(own_site, answer.headers["location"])
    assert 'data-key="z"' in text
    version = re.search(r'name="version" value="(\d+)"', text)
    assert version is not None
    own_site.post(f"/reviews/{review.review_id}/undo", version=version[1])
    assert memory.reviews.get(review.review_id).review.state.value in ("undone", "open")
    after = {e.entity_id: memory.as_of().facts(e.entity_id) for e in memory.entities.list()}
    assert {k: {s: v.values for s, v in f.items()} for k, f in after.items()} == {
        k: {s: v.values for s, v in f.items()} for k, f in before.items()
    }


def test_who_was_slower_is_told_so(own_site: Site) -> None:
    review = own_site.memory.reviews.list()[0]
    own_site.memory.reviews.unsure(review.review_id)
    answer = own_site.post(f"/reviews/{review.review_id}/reject", version=review.version)
    assert (answer.status_code, answer.json()["code"]) == (412, "stale_version")


def test_one_s_own_submission_is_decided_by_somebody_else(own_site: Site) -> None:
    memory = own_site.memory
    writer = memory.bind(own_site.settings.steward)
    (review_id,) = writer.write("W. Nakamura", "office", "Lima").reviews
    plain_steward = replace(own_site.settings.steward, roles=frozenset({"steward"}))
    own_site.sign_in_as(plain_steward)
    version = memory.reviews.get(review_id).review.version
    answer = own_site.post(f"/reviews/{review_id}/reject", version=version)
    assert (answer.status_code, answer.json()["code"]) == (403, "own_submission")

    own_site.sign_in_as(replace(plain_steward, user="ann"))
    answer = own_site.post(f"/reviews/{review_id}/reject", version=version)
    assert answer.status_code == 303


def test_a_tie_is_settled_by_choosing_a_side(own_site: Site) -> None:
    text = read(own_site, "/actions")
    assert "This one is right" in text
    action = next(a for a in own_site.memory.actions() if a.kind.value == "settle_tie")
    answer = own_site.post(f"/actions/{action.action_id}", winner=action.members[0])
    assert answer.status_code == 303
    assert "Settled." in read(own_site, answer.headers["location"])
    assert own_site.memory.as_of().slot("Atlas", "deadline").status.value == "clean"


@pytest.mark.parametrize("accept", ["yes", "no"])
def test_suspected_words_are_marked_and_both_answers_are_undone(
    own_site: Site, accept: str
) -> None:
    action = next(a for a in own_site.memory.actions() if a.kind.value == "review_quarantine")
    for path in ("/actions", "/quarantine"):
        text = read(own_site, path)
        assert re.search(r"<mark>[^<]*gnore all previous instructions", text)
        for words in (
            "It is harmless: let it in",
            "Keep it out for good",
            "Both can be undone.",
            "indirect, override instructions: tells the model to drop what it was told",
        ):
            assert words in text

    text = read(own_site, f"/claims/{action.object_id}")
    assert "tells the model to drop what it was told" in text
    assert "folded:" not in text

    own_site.post(f"/actions/{action.action_id}", accept=accept)
    assert "No action is open" in read(own_site, "/quarantine")
    assert f"/actions/{action.action_id}/undo" in read(own_site, "/actions")
    answer = own_site.post(f"/actions/{action.action_id}/undo")
    assert "The question is open again." in read(own_site, answer.headers["location"])
    again = next(a for a in own_site.memory.actions() if a.kind.value == "review_quarantine")
    assert again.object_id == action.object_id


def test_a_user_confirms_on_the_page_what_an_agent_wrote(own_site: Site) -> None:
    ann = Principal(tenant="demo", user="ann")
    person = {"name": "Ann Berg", "type": "person", "external_ids": {"user": "ann"}}
    memory = own_site.memory.bind(replace(ann, authority_level=3))
    memory.write(person, "response_style", "short", layer="user")
    own_site.sign_in_as(ann)
    text = read(own_site, "/actions")
    assert "Let agents follow it" in text
    action = next(a for a in memory.actions() if a.kind.value == "confirm_directive")
    assert own_site.post(f"/actions/{action.action_id}", accept="yes").status_code == 303
    state = own_site.memory.bind(ann).as_of().slot("Ann Berg", "response_style")
    assert state.candidates[0].authority_level == 2


def test_an_envelope_shows_the_prompt_first(site: Site) -> None:
    text = read(site, "/envelopes")
    (first, *_) = re.findall(r"/envelopes/([0-9a-f]{64})", text)
    text = read(site, f"/envelopes/{first}")
    assert text.index("The prompt") < text.index("What stayed out") < text.index(">Budget<")
    assert "it looks like an injected instruction" in text
    assert first not in text[: text.index("What stayed out")]
    assert re.search(rf'href="/claims/{UUID}"', text)


def test_two_envelopes_are_compared_as_texts(site: Site) -> None:
    ids = list(dict.fromkeys(re.findall(r"/envelopes/([0-9a-f]{64})", read(site, "/envelopes"))))
    text = read(site, f"/compare?a={ids[1]}&b={ids[0]}")
    assert "They differ from token" in text
    assert "enterprise" in text
    same = read(site, f"/compare?a={ids[0]}&b={ids[0]}")
    assert "The texts are the same" in same


def test_a_person_takes_a_copy_along(site: Site) -> None:
    path = find(site, "Sam Rivera").replace("entities", "people")
    assert "Chicago" in read(site, path)
    answer = site.browser.get(f"{path}/export")
    assert answer.headers["content-disposition"] == 'attachment; filename="samantha-rivera.json"'
    account = json.loads(answer.text)
    assert {row["value"] for row in account["history"]["office"]} == {"Austin", "Chicago"}


def test_a_steward_erases_nobody(own_site: Site) -> None:
    own_site.sign_in_as(replace(own_site.settings.steward, roles=frozenset({"steward"})))
    path = find(own_site, "Sam Rivera").replace("entities", "people")
    assert "Erase for ever" not in read(own_site, path)
    answer = own_site.post(f"{path}/erase", reason="asked", confirm="Samantha Rivera")
    assert (answer.status_code, answer.json()["code"]) == (403, "privilege_required")


def test_an_administrator_erases_after_typing_the_name(own_site: Site) -> None:
    own_site.sign_in_as(replace(own_site.settings.steward, user="ann", roles=frozenset({"admin"})))
    path = find(own_site, "Sam Rivera").replace("entities", "people")

    answer = own_site.post(f"{path}/erase", reason="case 17", confirm="Sam")
    assert (answer.status_code, "nothing was erased" in answer.text) == (422, True)
    reason = "samantha rivera asked"
    answer = own_site.post(f"{path}/erase", reason=reason, confirm="Samantha Rivera")
    assert (answer.status_code, "Nothing was erased: the reason" in answer.text) == (422, True)
    answer = own_site.post(f"{path}/erase", reason="case 17", confirm="Samantha Rivera")
    assert "Receipt" in answer.text
    everything = "".join(read(own_site, page) for page in addresses(own_site))
    assert "Samantha" not in everything
    assert "Chicago" not in everything


def test_an_erasure_on_its_page_empties_the_answers_that_programs_were_given(
    own_site: Site,
) -> None:
    path = find(own_site, "Sam Rivera").replace("entities", "people")
    entity_id = path.rpartition("/")[2]
    book, caller = AnswerBook(own_site.control), tenure.Principal(tenant="demo", user="kim")
    for key, body in (("about", f'{{"entity":"{entity_id}"}}'), ("else", "{}")):
        book.begin(caller, key, b"request")
        book.finish(caller, key, StoredAnswer(200, body.encode()))

    own_site.sign_in_as(replace(own_site.settings.steward, user="ann", roles=frozenset({"admin"})))
    own_site.post(f"{path}/erase", reason="case 17", confirm="Samantha Rivera")
    with pytest.raises(tenure.Conflict, match="erased"):
        book.begin(caller, "about", b"request")
    assert book.begin(caller, "else", b"request") == StoredAnswer(200, b"{}")


def test_a_case_whose_candidate_was_erased_has_a_page(own_site: Site) -> None:
    memory = own_site.memory
    older = memory.write(tenure.EntityRef(name="Jonathan Smythe", type="person"), "office", "Oslo")
    memory.write(tenure.EntityRef(name="Jon Smythe", type="person"), "office", "Rome")
    (case,) = [case for case in memory.reviews.list() if case.mention == "Jon Smythe"]
    memory.erase(entity=older.entity, reason="asked")

    page = read(own_site, f"/reviews/{case.review_id}")
    assert "Nothing is moved" in page
    assert "Yes, " not in page


def test_a_merge_is_undone_on_the_page_of_its_entity(own_site: Site) -> None:
    merged(own_site.memory)
    path = find(own_site, "Ann Lee")
    merge = re.search(r'action="(/merges/[^"]+/undo)"', read(own_site, path))
    assert merge is not None
    answer = own_site.post(merge[1], entity_id=path.rpartition("/")[2])
    assert "taken back" in read(own_site, answer.headers["location"])
    assert find(own_site, "Annabel Leeds") != find(own_site, "Ann Lee")


def test_a_merged_away_address_leads_to_who_is_left(own_site: Site) -> None:
    kept, gone = merged(own_site.memory)
    answer = own_site.browser.get(f"/entities/{gone}")
    assert answer.headers["location"] == f"/entities/{kept}"


def test_health_says_what_is_broken(site: Site) -> None:
    assert "is consistent" in read(site, "/health")


HOSTILE = "<script>alert('x')</script><img src=x onerror=alert(1)> \u202e\u200bcanary {{ 7*7 }}"


def test_nothing_that_was_written_becomes_markup(own_site: Site) -> None:
    memory = own_site.memory
    name = "<b onclick=x>Eve</b>\u202e"
    receipt = memory.write(
        name, "office", HOSTILE, source_origin="user://<i>", why_it_matters=HOSTILE
    )
    memory.write(None, None, None, content=HOSTILE, object_type="retrieved_passage",
                 layer="tenant", source_origin="https://evil.example/<s>")  # fmt: skip
    memory.entities.add_alias(receipt.entity, "<u>Evie</u>")
    memory.write(name, "title", HOSTILE, valid_from="2026-01-01T00:00:00Z")
    memory.write("Daniel Okafor", "title", HOSTILE)
    memory.compile("analytical_reporting", f"Eve {HOSTILE}", entities=(receipt.entity,))
    own_site.browser.get("/", params={"q": HOSTILE})

    for path in [*addresses(own_site), "/?q=" + "%3Cscript%3Ealert(1)%3C/script%3E"]:
        answer = own_site.browser.get(path, headers={"accept": "text/html"})
        if answer.headers["content-type"] == "application/json":
            assert answer.headers["content-disposition"].startswith("attachment")
            continue
        text = answer.text
        assert "<script>alert" not in text, path
        assert "<img src=x" not in text, path
        assert "<b onclick" not in text, path
        assert "<u>Evie" not in text, path
        assert "\u202e" not in text, path
        assert "canary 49" not in text, path
        assert not re.search(r"<[^>]+ (?:style|on[a-z]+)=", text), path


def test_another_tenant_s_ids_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "stores").mkdir()
    with tenure.connect(str(tmp_path / "stores"), principal=replace(OWNER, tenant="demo")) as demo:
        demo.write("Sam Rivera", "office", "Rome")
        check_isolation(site_over(demo, tmp_path))


def check_isolation(own_site: Site) -> None:
    other = own_site.memory.bind(replace(OWNER, tenant="other"))
    receipt = other.write("Sam Rivera", "office", "canary")
    envelope = other.compile("analytical_reporting", "Sam Rivera office")
    for path in (
        f"/claims/{receipt.object_id}",
        f"/entities/{receipt.entity}",
        f"/entities/{receipt.entity}/plane/office",
        f"/people/{receipt.entity}",
        f"/people/{receipt.entity}/export",
        f"/envelopes/{envelope.envelope_id}",
        "/?q=canary",
    ):
        answer = own_site.browser.get(path)
        assert answer.status_code in (200, 404), path
        assert "canary" not in answer.text.replace('value="canary"', "")


def test_a_page_without_a_session_shows_nothing(site: Site) -> None:
    for path in addresses(site):
        answer = site.stranger().get(path, headers={"accept": "text/html"})
        assert answer.status_code == 303, path
        assert answer.headers["location"].startswith("/sign-in?next=")


@pytest.mark.parametrize(
    "path",
    ["/reviews/{id}/accept", "/actions/{id}", "/merges/{id}/undo", "/people/{id}/erase"],
)
def test_no_form_works_without_its_token(site: Site, path: str) -> None:
    address = path.format(id="0190e3a2-7c1f-7000-8000-000000000001")
    data = {"version": 1, "entity_id": "0190e3a2-7c1f-7000-8000-000000000001", "reason": "x"}
    answer = site.browser.post(address, data=data, headers=OWN)
    assert (answer.status_code, answer.json()["code"]) == (403, "cross_site_form")


def test_documents_have_a_list_and_a_page_with_versions_and_passages(own_site: Site) -> None:
    put = own_site.memory.documents.put
    fields = {"name": "leave.md", "source": "handbook"}
    put(
        "# Leave\n\nSick leave is paid.\n\n# Parents\n\n14 weeks.\n",
        effective="2026-01-01",
        **fields,
    )
    put(
        "# Leave\n\nSick leave is paid.\n\n# Parents\n\n20 weeks.\n",
        effective="2026-06-01",
        **fields,
    )
    assert "No document that you may see at this time." in read(
        own_site, "/documents?valid=2025-06-01"
    )
    listing = read(own_site, "/documents?valid=2026-07-01")
    assert "handbook/leave.md" in listing
    (address,) = set(re.findall(rf"/documents/{UUID}", listing))

    shown = read(own_site, f"{address}?valid=2026-07-01")
    assert "<mark>20 weeks.</mark>" in shown
    assert "14 weeks." not in shown
    assert re.findall(r"<th scope=\"row\"><a[^>]*><time>([\d-]+)</time></a>", shown) == [
        "2026-01-01",
        "2026-06-01",
    ]
    before = read(own_site, f"{address}?valid=2026-03-01")
    assert "14 weeks." in before
    assert "<mark>" not in before

    # An older version that was recorded later was not known then.
    then = own_site.memory.as_of().tx.isoformat().replace("+00:00", "Z")
    put("# Leave\n\nSick leave is unpaid.\n", effective="2025-01-01", **fields)
    early = read(own_site, f"{address}?valid=2026-03-01&tx={then}")
    assert "14 weeks." in early
    assert "<mark>" not in early

    own_site.memory.documents.reclassify("handbook/leave.md", allow_roles=("owner",))
    own_site.sign_in_as(Principal(tenant="demo", user="worker"))
    assert own_site.browser.get(address).status_code == 404
    assert "handbook/leave.md" not in read(own_site, "/documents?valid=2026-07-01")
