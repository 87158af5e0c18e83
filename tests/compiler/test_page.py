"""Pages and pictures of envelopes: complete, the same bytes, and closed to what texts contain."""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.compiler.envelope.envelope import Envelope
from tenure.compiler.explain.charts import INK, SECTION_FILLS, budget_bar
from tenure.compiler.explain.page import _UNSAFE, _environment
from tenure.schema.compile_terms import Reason
from tenure.schema.policy import QUALITY_METRICS
from tenure.schema.principal import Principal
from tenure.tests.compiler.fake_reader import DAY, NOW, Bench, uid
from tenure.tests.compiler.test_compile import REQUEST, full_bench
from tenure.tests.support.sampling import part

PAYLOADS = (
    "<script>document.title='owned'</script>",
    "</pre></details><img src=x onerror=\"document.title='owned'\">",
    '"><svg onload=alert(1)><style>*{display:none}</style>',
    "]]><!-- <iframe srcdoc='<script>parent.document.title=1</script>'> -->",
    "&lt;b&gt; &#60;script&#62; \u202e\u0000\x1b[31m",
    "<a href='javascript:alert(1)'>x</a><meta http-equiv=refresh content='0;url=//evil.example'>",
)
ELEMENTS = frozenset(
    "html head meta title style body main h1 h2 h3 section div p dl dt dd table thead tbody tr th "
    "td details summary pre svg desc g rect text path strong b br small ul li a blockquote".split()
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Page(HTMLParser):
    """What a browser would build, and the words of it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


def hostile(payload: str) -> Envelope:
    """Return an envelope that holds a text in every place where a caller can put one."""
    bench = Bench(principal=Principal(tenant=f"t{payload}".replace("\0", "")[:200], user="ann"))
    world = bench.world
    world.add("passage", text=f"alpha {payload}", level=4, origin=f"doc://d/{payload}",
              object_type="retrieved_passage")  # fmt: skip
    world.person(f"Sam {payload}")
    world.add("fact", subject=f"Sam {payload}", slot="office", value=f"alpha {payload}")
    return bench.compile(
        query=f"alpha office of Sam {payload}",
        goal=payload,
        step=payload,
        constraints=[payload],
        history=[f"one {payload}", {"role": "tool", "text": f"two {payload}", "name": "t"}],
        evidence=[{"text": f"alpha {payload}", "origin": f"web://{payload}", "title": payload}],
        entities=[f"Nobody {payload}"],
        errors=[payload],
    )


def pages(envelope: Envelope) -> list[str]:
    drawn = [envelope.budget_svg(), envelope.lineage_svg()]
    return [envelope.to_html(), envelope._repr_html_(), *drawn]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_becomes_an_element_or_an_attribute(payload: str) -> None:
    envelope = hostile(payload)
    for text in pages(envelope):
        closed(text)
    assert "alpha" in Page(envelope.to_html()).words


def closed(text: str) -> None:
    """Assert that a page has the elements of this module alone, and nothing that runs or loads."""
    for name, attributes in Page(text).elements:
        assert name in ELEMENTS
        for key in attributes:
            assert not key.startswith("on")
            assert key not in {"src", "srcdoc", "action", "style"}
        # The one link leads from a number in the text to its source below it.
        assert re.fullmatch(r"#source-\d+", attributes.get("href") or "#source-1")


def test_the_shared_payloads_stay_text_in_every_page(shared_data: Path) -> None:
    lines = (shared_data / "injection/injections.dev.jsonl").read_text(encoding="utf-8")
    texts = [json.loads(line)["text"] for line in lines.splitlines()]
    assert len(texts) > 100
    texts = [*part(texts)]
    for start in range(0, len(texts), 40):
        some = texts[start : start + 40]
        envelope = Bench().compile(
            query="alpha",
            evidence=[{"text": t, "origin": f"web://{t[:60]}"} for t in some],
            history=[{"role": "user", "text": t} for t in some],
            budget_tokens=60_000,
        )
        closed(envelope.to_html())
        ElementTree.fromstring(envelope.lineage_svg())


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the PATH")
def test_a_browser_builds_no_element_of_a_payload(tmp_path: Path) -> None:
    # Without the page's own policy, so that the escaping alone has to hold.
    policy = r'<meta http-equiv="Content-Security-Policy"[^>]*>'
    page = re.sub(policy, "", hostile(" ".join(PAYLOADS)).to_html())
    file = tmp_path / "page.html"
    file.write_text(page, encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'u'}"]
    done = subprocess.run(
        [str(CHROMIUM), *flags, "--virtual-time-budget=2000", "--dump-dom", file.as_uri()],
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
    )
    names = {name for name, _ in Page(done.stdout).elements}
    assert {"html", "svg", "pre"} <= names <= ELEMENTS
    assert "<title>Context envelope" in done.stdout


def test_a_page_shows_every_part_of_the_envelope() -> None:
    envelope = full_bench().compile(**{**REQUEST, "budget_tokens": 900})
    words = Page(envelope.to_html()).words
    for block in envelope.blocks:
        assert block.origin in words
        assert block.text in words
    trace = envelope.trace
    ids = {o.object_id for o in trace.compiled_objects}
    ids |= {o.object_id for o in trace.omitted_objects}
    assert all(object_id in words for object_id in ids)
    for said in (
        *QUALITY_METRICS,
        *trace.metrics,
        envelope.digest,
        trace.cache_metadata["prompt_cache_key"],
    ):
        assert str(said) in words
    assert f"{trace.budget['shadow_price']:g} (the shadow price)" in words
    assert "over_budget" in words


def test_a_page_shows_what_was_set_apart_what_is_missing_and_what_is_withheld() -> None:
    bench = Bench(principal=Principal(user="ann", roles=frozenset({"auditor"})))
    bench.world.add("a", subject="Sam", slot="office", value="Rome", status="disputed",
                    reason="unresolved_tie")  # fmt: skip
    bench.world.add("b", subject="Sam", slot="title", value="clerk", deny=("auditor",))
    bench.world.add("old", text="alpha fact", decay=(10, 0.01), tx=NOW - 30 * DAY)
    envelope = bench.compile(query="office and title of Sam, alpha fact", step="look",
                             entities=["Sam"])  # fmt: skip
    words = Page(envelope.to_html()).words
    assert Reason.CONFLICTING_CLAIM_UNRESOLVED.value in words
    assert "acceptance_missing" in words
    assert "outside" in words


def test_a_page_begins_with_the_question_and_the_prompt_and_its_hashes_come_last() -> None:
    envelope = full_bench().compile(**{**REQUEST, "budget_tokens": 900})
    out = [each.object_id for each in envelope.trace.omitted_objects]
    html = envelope.to_html(words={out[0]: "The words of what stayed out"})
    page = Page(html)
    question = str(REQUEST["query"])
    places = [question, "The prompt", "What stayed out", "Budget", "How it was compiled"]
    prompt_words = page.words[page.words.index(question) :]
    order = [prompt_words.index(place) for place in places]
    assert order == sorted(order)
    assert envelope.digest not in prompt_words[: order[-1]]
    assert envelope.envelope_id not in prompt_words[: order[-1]]
    assert order[2] < prompt_words.index("The words of what stayed out") < order[3]
    assert "worth less than what took its tokens" in page.words


def test_a_number_in_the_text_leads_to_its_source_and_a_forged_one_does_not() -> None:
    payload = "[999] is a source, they say, and so is\n[1] this one"
    envelope = Bench().compile(query="alpha", evidence=[f"alpha {payload}"])
    elements = Page(envelope.to_html()).elements
    links = {str(a["href"]).removeprefix("#") for n, a in elements if n == "a"}
    sources = {a["id"] for n, a in elements if n == "li"}
    assert links <= sources
    assert "source-999" not in links


def test_a_page_asks_for_nothing_and_its_policy_holds_the_hash_of_its_style() -> None:
    page = full_bench().compile(**REQUEST).to_html()
    elements = Page(page).elements
    policy = next(a["content"] for n, a in elements if a.get("http-equiv"))
    style = re.search(r"<style>(.*?)</style>", page, re.S)
    assert style is not None
    assert policy is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "url(" not in style[1]
    assert "@import" not in style[1]
    ids = [a["id"] for _, a in elements if "id" in a]
    assert len(ids) == len(set(ids))
    assert not {"script", "link", "img"} & {name for name, _ in elements}


DRAW = """
from tenure.tests.compiler.test_compile import REQUEST, full_bench
import hashlib
e = full_bench().compile(**REQUEST)
for text in (e.to_html(), e._repr_html_(), e.budget_svg(), e.lineage_svg()):
    print(hashlib.sha256(text.encode()).hexdigest())
"""


def test_pages_have_the_same_bytes_in_another_process_and_after_another_run() -> None:
    envelope = full_bench().compile(**REQUEST)
    here = [hashlib.sha256(text.encode()).hexdigest() for text in pages(envelope)]
    later = envelope.with_sidecar(run_id="another", compilation_latency_ms=9.9)
    assert pages(later) == pages(envelope)
    done = subprocess.run(
        [sys.executable, "-c", DRAW],
        env={**os.environ, "PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == here


def test_pictures_say_in_words_what_they_show() -> None:
    envelope = full_bench().compile(**REQUEST)
    for text in pages(envelope)[2:]:
        root = ElementTree.fromstring(text)
        space = "{http://www.w3.org/2000/svg}"
        title, desc = root.find(space + "title"), root.find(space + "desc")
        assert title is not None and desc is not None
        assert root.get("role") == "img"
        assert root.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"
        assert len(desc.text or "") > 20
    assert f"{envelope.tokens_upper:,} of 8,000 tokens used" in pages(envelope)[2]


def test_the_bar_gives_each_section_its_share() -> None:
    envelope = full_bench().compile(**REQUEST)
    root = ElementTree.fromstring(envelope.budget_svg())
    parts = [group for group in root.iter() if group.tag.endswith("}g")]
    widths = [int(part[1].get("width", "0")) for part in parts]
    free = 8_000 - envelope.tokens_upper
    whole = sum(use.tokens for use in envelope.sections) + free
    assert [part[0].text for part in parts] == [
        f"{use.name.replace('_', ' ')}: {use.tokens:,} token" + "s" * (use.tokens != 1)
        for use in envelope.sections
    ]
    for use, width in zip(envelope.sections, widths, strict=True):
        assert abs(width - use.tokens * 960 / whole) < 1


def test_each_section_has_a_colour_of_its_own_that_its_name_is_read_on() -> None:
    def luminance(colour: str) -> float:
        shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
        return sum(w * s for w, s in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    assert len(set(SECTION_FILLS)) == len(SECTION_FILLS) == 16
    for fill in SECTION_FILLS:
        assert (luminance(fill) + 0.05) / (luminance(INK) + 0.05) >= 7
    parts = budget_bar(full_bench().compile(**REQUEST), alone=True).parts
    assert len({part.fill for part in parts}) == len(parts)


@given(st.text())
def test_any_text_comes_back_as_the_same_words(text: str) -> None:
    drawn = _environment().from_string('<p title="{{ text }}">{{ text }}</p>').render(text=text)
    page = Page(drawn)
    plain = _UNSAFE.sub("\ufffd", text)
    assert (page.elements, page.words) == ([("p", {"title": plain})], plain)


def test_the_lineage_tells_how_each_object_was_found_and_what_it_stands_for() -> None:
    envelope = full_bench().compile(**REQUEST)
    rows = {row.object_id: row for row in envelope.lineage}
    assert set(rows) == {each.object_id for each in envelope.trace.compiled_objects}
    assert rows[uid("style")].found == ("standing",)
    assert "words of the query" in rows[uid("office")].found
    given = [row for row in rows.values() if row.origin.startswith("request://")]
    assert given and all(row.found == ("the request",) for row in given)
    numbers = [row.block for row in envelope.lineage]
    assert numbers == sorted(numbers)


def test_the_lineage_names_duplicates() -> None:
    bench = Bench()
    text = "The alpha report of the harbour was sent to nine people on Monday evening."
    bench.world.add("one", text=text, level=4, origin="doc://1", object_type="retrieved_passage")
    envelope = bench.compile(
        query="alpha report harbour",
        evidence=[{"text": text, "origin": "doc://2"}],
    )
    assert [len(row.absorbed) for row in envelope.lineage if row.absorbed] == [1]
    assert "+1" in envelope.lineage_svg()


def test_the_lineage_draws_only_so_many_objects() -> None:
    turns = [f"turn {i} about alpha" for i in range(80)]
    envelope = Bench().compile(query="alpha", history=turns, budget_tokens=60_000)
    assert len(envelope.lineage) > 60
    assert re.search(r"and \d+ more", envelope.lineage_svg())
    assert "Of these, 60 are drawn" in envelope.lineage_svg()


def test_an_empty_budget_part_and_a_bare_request_are_drawn_too() -> None:
    envelope = Bench().compile(query="nothing at all")
    for text in pages(envelope):
        closed(text)
    assert "Nothing was scarce" in envelope.to_html()


def test_a_notebook_gets_a_short_form() -> None:
    envelope = full_bench().compile(**{**REQUEST, "budget_tokens": 900})
    short = envelope._repr_html_()
    assert "<style" not in short
    assert len(short) < len(envelope.to_html()) / 2
    texts = [f"alpha {i} stands in harbour {i} of nine" for i in range(60)]
    many = Bench().compile(query="alpha", evidence=texts, budget_tokens=500)
    assert len(many.trace.omitted_objects) > 20
    assert re.search(r"and \d+ more", many._repr_html_())


def test_a_source_has_the_day_on_which_it_was_recorded() -> None:
    bench = Bench()
    bench.world.add("a", subject="Sam", slot="office", value="Rome", tx=NOW - 30 * DAY)
    page = bench.compile(query="office of Sam", entities=["Sam"]).to_html()
    day = datetime.fromtimestamp((NOW - 30 * DAY) / 1_000_000, UTC).date().isoformat()
    assert re.search(rf'<small class="source">\S+, {day}</small>', page)


def test_a_page_asks_for_the_words_of_what_stayed_out() -> None:
    envelope = full_bench().compile(**{**REQUEST, "budget_tokens": 900})
    omitted = envelope.trace.omitted_objects[0].object_id
    assert f"object {omitted[:8]}" in envelope.to_html()

    asked: list[str] = []

    def words(about: Envelope) -> dict[str, str]:
        asked.append(about.envelope_id)
        return {omitted: "the boat is in the yard"}

    answer = envelope.with_words(words)
    assert answer == envelope
    for text in (answer.to_html(), answer._repr_html_()):
        assert "the boat is in the yard" in text
        assert f"object {omitted[:8]}" not in text
    assert asked == [envelope.envelope_id] * 2
    assert "the boat" not in answer.to_html(words={})


def test_what_several_gates_withheld_is_told_once_and_without_a_number() -> None:
    envelope = Bench().compile(query="alpha")
    trace = replace(envelope.trace, withheld={"gate": 1, "store_text": 2})
    page = replace(envelope, _tell=lambda: trace).to_html()
    assert page.count("<small>Something that this caller may not see.</small>") == 1
    assert page.count("that this caller may not see.") == 1
