"""What was written and no longer holds is shown, with its days, where a question asks the past."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

import tenure
from tenure.schema.slots import Vocabulary
from tenure.tests.compiler.fake_reader import DAY, NOW, Bench
from tenure.tests.compiler.test_replay import again

ENDED = {"valid": (NOW - 9 * DAY, NOW - DAY)}
HERON = {"name": "Heron", "type": "system"}
KESTREL = {"name": "Kestrel", "type": "system"}
TARN = {"name": "Tarn Foods", "type": "organization"}
EDDA = {"name": "Edda Lund", "type": "person"}
MIRA, JONAS, ANKE, TOM = (
    {"name": name, "type": "person"}
    for name in ("Mira Falk", "Jonas Wirth", "Anke Voss", "Tom Reuter")
)
MARA = {"name": "Mara Lind", "type": "person", "external_ids": {"user": "mara"}}
FACTS: tuple[tuple[dict[str, Any], str, str | dict[str, str], str], ...] = (
    (HERON, "status", "degraded", "2025-01-05"),
    (HERON, "status", "down", "2025-02-10"),
    (HERON, "status", "healthy", "2025-05-01"),
    (KESTREL, "status", "in service", "2024-01-01"),
    (KESTREL, "status", "out of order", "2026-10-01"),
    (TARN, "cto", "Ilse Brandt", "2020-01-01"),
    (TARN, "cto", "Yusuf Kaya", "2025-03-01"),
    (TARN, "service_plan", "Starter", "2023-01-01"),
    (TARN, "service_plan", "Scale", "2024-01-01"),
    (TARN, "ceo", JONAS, "2018-01-01"),
    (TARN, "ceo", MIRA, "2024-01-01"),
    (TARN, "chair", "Olga Sand", "2019-01-01"),
    (TARN, "chair", "Kofi Mensah", "2023-05-01"),
    (TARN, "chair", "Lea Okoye", "2025-05-01"),
    (EDDA, "manager", TOM, "2021-01-01"),
    (EDDA, "manager", ANKE, "2024-06-01"),
    (EDDA, "employer", "Blauwerk", "2019-01-01"),
    (EDDA, "employer", "Kantoor", "2023-04-01"),
    (MARA, "home", "Utrecht", "2023-01-01"),
    (MARA, "home", "Ghent", "2025-02-01"),
    (MARA, "diet", "vegetarian", "2022-01-01"),
    (MARA, "diet", "vegan", "2025-01-01"),
)


@contextmanager
def filled_store() -> Iterator[tenure.Memory]:
    """A store of written facts that gave way to others."""
    with tenure.connect(":memory:") as memory:
        for slot in ("cto", "chair", "service_plan"):
            memory.vocabulary.define_slot(slot, value_type="string", description="of a company")
        memory.vocabulary.define_slot("ceo", value_type="entity", description="of a company")
        for subject, slot, value, start in FACTS:
            memory.write(subject, slot, value, valid_from=start)
        yield memory


@pytest.fixture
def owner() -> Iterator[tenure.Memory]:
    with filled_store() as memory:
        yield memory


@pytest.fixture(scope="module")
def reader() -> Iterator[tenure.Memory]:
    """A member of a store that the tests of this file only read."""
    with filled_store() as memory:
        yield memory.bind(tenure.Principal(user="mara"))


@pytest.fixture
def mara(owner: tenure.Memory) -> tenure.Memory:
    """Return the same store as one of its members sees it."""
    return owner.bind(tenure.Principal(user="mara"))


def order_of(envelope: tenure.Envelope, memory: tenure.Memory) -> list[str]:
    """Return the values of the facts in an envelope, the best first."""
    objects = [o for o in envelope.trace.compiled_objects if o.section == "turn_memory"]
    ids = [o.object_id for o in sorted(objects, key=lambda o: -o.score) if "://" not in o.object_id]
    return [memory.explain(i).object.content.rpartition(": ")[2] for i in ids]


@pytest.mark.parametrize(
    ("query", "was", "holds"),
    [
        ("What was Heron's status in February?", "down (2025-02-10 to 2025-05-01)", "healthy"),
        ("Was Kestrel in service in May?", "in service (2024-01-01 to", "out of order"),
        ("War Kestrel im Mai in service?", "in service (2024-01-01 to", "out of order"),
        ("Was Heron ever degraded?", "degraded (2025-01-05 to 2025-02-10)", "healthy"),
        ("How has the status of Heron changed?", "degraded (2025-01-05 to", "healthy"),
        ("Who was Tarn Foods' CTO before Yusuf?", "Ilse Brandt (2020-01-01 to", "Yusuf Kaya"),
        ("Wer war der CTO von Tarn Foods?", "Ilse Brandt (2020-01-01 to", "Yusuf Kaya"),
        ("Which plans has Tarn Foods ever had?", "Starter (2023-01-01 to", "Scale"),
        ("Who employed Edda Lund before Kantoor?", "Blauwerk (2019-01-01 to", "Kantoor"),
        ("Who was Edda's employer in 2020?", "Blauwerk (2019-01-01 to", "Kantoor"),
        ("Where did I live in 2024?", "Utrecht (2023-01-01 to", "Ghent"),
        ("Wo habe ich 2024 gewohnt?", "Utrecht (2023-01-01 to", "Ghent"),
        ("What is my diet now, and before?", "vegetarian (2022-01-01 to", "vegan"),
        ("What was my diet before?", "vegetarian (2022-01-01 to", "vegan"),
        (
            "What is Edda Lund's employer, and was it Blauwerk?",
            "Blauwerk (2019-01-01 to",
            "Kantoor",
        ),
        ("Who was CTO before Yusuf Kaya?", "Ilse Brandt (2020-01-01 to", "Yusuf Kaya"),
        ("Wer war CTO vor Yusuf Kaya?", "Ilse Brandt (2020-01-01 to", "Yusuf Kaya"),
        ("Who preceded Yusuf Kaya as CTO?", "Ilse Brandt (2020-01-01 to", "Yusuf Kaya"),
        ("Who was the CEO before Mira Falk?", "Jonas Wirth (2018-01-01 to", "Mira Falk"),
        ("Whom did Mira Falk replace as CEO?", "Jonas Wirth (2018-01-01 to", "Mira Falk"),
        ("Who led Tarn Foods before Mira Falk?", "Jonas Wirth (2018-01-01 to", "Mira Falk"),
        ("Wer leitete Tarn Foods vor Mira Falk?", "Jonas Wirth (2018-01-01 to", "Mira Falk"),
        ("Who held the chair before Lea Okoye?", "Kofi Mensah (2023-05-01 to", "Lea Okoye"),
        ("What has changed at Heron?", "degraded (2025-01-05 to", "healthy"),
        ("Give me the history of Heron.", "down (2025-02-10 to", "healthy"),
        ("Wie hat sich Heron verändert?", "down (2025-02-10 to", "healthy"),
        ("Is Heron still degraded?", "degraded (2025-01-05 to", "healthy"),
        ("Ist Heron noch degraded?", "degraded (2025-01-05 to", "healthy"),
        ("Who was the manager before Anke Voss?", "Tom Reuter (2021-01-01 to", "Anke Voss"),
    ],
)
def test_a_question_about_the_past_shows_what_ended_behind_what_holds(
    reader: tenure.Memory, query: str, was: str, holds: str
) -> None:
    envelope = reader.compile("assistant", query)
    assert was in envelope.text
    assert f"Not known: {was.partition(' (')[0]}" not in envelope.text
    assert not re.search(rf"{holds} \((?!since)", envelope.text)
    values = order_of(envelope, reader)
    assert values.index(holds) < values.index(was.partition(" (")[0])
    assert reader.replay(envelope).text == envelope.text


@pytest.mark.parametrize(
    ("query", "never"),
    [
        ("What is Heron's status?", "down"),
        ("Who is the CTO of Tarn Foods?", "Ilse"),
        ("Prepare a briefing on Tarn Foods.", "Starter"),
        ("Where do I live?", "Utrecht"),
        ("Who was the CTO of Tarn Foods?", "Starter"),
        ("What was the status of the harbour?", "down"),
        ("What is still open at Heron?", "down"),
        ("What has changed at Tarn Foods?", "degraded"),
    ],
)
def test_what_ended_stays_out_where_its_past_is_not_asked(
    reader: tenure.Memory, query: str, never: str
) -> None:
    assert never not in reader.compile("assistant", query).text


def test_what_was_never_so_is_no_past(owner: tenure.Memory) -> None:
    owner.write("Heron", "status", "broken", valid_from="2025-07-01")
    owner.write("Heron", "status", "calm", op="correct", valid_from="2025-07-01")
    text = owner.compile("assistant", "What was Heron's status before?").text
    assert "broken" not in text
    assert "healthy (2025-05-01 to 2025-07-01)" in text


def test_the_past_is_that_of_the_pinned_knowledge(owner: tenure.Memory) -> None:
    before = owner.as_of().tx
    owner.write("Heron", "status", "idle", valid_from="2025-06-01")
    query = "What was Heron's status before?"
    assert "healthy (2025-05-01 to 2025-06-01)" in owner.compile("assistant", query).text
    text = owner.compile("assistant", query, tx=before).text
    assert "healthy" in text
    assert "healthy (since 2025-05-01)" in text
    assert "idle" not in text


def test_what_ended_is_not_shown_to_who_may_not_see_it(owner: tenure.Memory) -> None:
    owner.write(
        "Heron",
        "status",
        "sabotaged",
        valid_from="2024-01-01",
        valid_until="2024-02-01",
        allow_roles=["owner"],
    )
    query = "What was Heron's status in 2024?"
    assert "sabotaged (2024-01-01 to 2024-02-02)" in owner.compile("assistant", query).text
    member = owner.bind(tenure.Principal(user="mara"))
    assert "sabotaged" not in member.compile("assistant", query).text


def test_a_value_that_ended_leads_to_what_was_before_it(reader: tenure.Memory) -> None:
    text = reader.compile("assistant", "Who was the chair before Kofi Mensah?").text
    assert "chair = Olga Sand (2019-01-01 to 2023-05-01)" in text
    assert "Not known" not in text


def test_what_came_before_a_value_is_nothing_taken_back_or_hidden(
    owner: tenure.Memory, mara: tenure.Memory
) -> None:
    hidden = {"valid_from": "2017-01-01", "valid_until": "2018-01-01", "allow_roles": ["owner"]}
    owner.write("Tarn Foods", "cto", "Otto Wrong", **hidden)
    owner.write("Tarn Foods", "chair", "Nils Typo", valid_from="2025-07-01")
    owner.write("Tarn Foods", "chair", "Ada Quist", op="correct", valid_from="2025-07-01")
    assert "Otto Wrong" in owner.compile("assistant", "Who was CTO before Yusuf Kaya?").text
    assert "Otto" not in mara.compile("assistant", "Who was CTO before Yusuf Kaya?").text
    text = mara.compile("assistant", "Who was the chair before Ada Quist?").text
    assert "Lea Okoye (2025-05-01 to" in text
    assert "Nils" not in text


def test_a_masked_value_does_not_lead_to_what_was_before_it(
    owner: tenure.Memory, mara: tenure.Memory
) -> None:
    owner.vocabulary.define_slot("clinic", value_type="string", description="where one is treated")
    for value, start in (("Visby", "2020-01-01"), ("Umea", "2024-01-01")):
        owner.write("Edda Lund", "clinic", value, valid_from=start, sensitivity=["personal"])
    query = "Was Edda Lund in {} before?"
    found: list[object] = []
    for town in ("Umea", "Narva"):
        envelope = mara.compile("assistant", query.format(town))
        words = [record.words.replace(town, "?") for record in envelope.asked]
        found.append((words, envelope.trace.compiled_objects[:-1]))
    assert found[0] == found[1]


def test_a_masked_value_of_the_past_is_as_unknown_as_any_other(
    owner: tenure.Memory, mara: tenure.Memory
) -> None:
    for value, start in (("Visby", "2020-01-01"), ("Umea", "2024-01-01")):
        owner.write("Edda Lund", "home", value, valid_from=start, sensitivity=["personal"])
    texts: list[str] = []
    for town in ("Visby", "Narva"):
        envelope = mara.compile("assistant", f"Where is Edda Lund's home, and was it {town}?")
        texts.append(" ".join(asked.name for asked in envelope.asked).replace(town, "?"))
    assert texts[0] == texts[1]
    assert "?" in texts[0]


@pytest.mark.parametrize(("end", "is_shown"), [(NOW - 5 * DAY, False), (NOW - 9 * DAY, True)])
def test_a_row_of_a_time_that_a_hidden_one_shares_stays_out_in_replays_too(
    end: int, is_shown: bool
) -> None:
    bench = Bench(principal=tenure.Principal(user="ann", roles=frozenset({"agent"})))
    bench.world.add("rome", subject="Ann", slot="office", value="Rome", **ENDED)
    bench.world.add("oslo", subject="Ann", slot="office", value="Oslo",
                    valid=(NOW - 19 * DAY, end), deny=("agent",))  # fmt: skip
    envelope = bench.compile(query="Where was the office of Ann?")
    assert ("Rome (" in envelope.text) is is_shown
    assert again(bench, envelope.manifest).text == envelope.text


def test_no_instruction_is_made_of_what_ended() -> None:
    slot = replace(Vocabulary().slots["skill"], instruction=(("*", "Teach {title} with {value}."),))
    bench = Bench(vocabulary=Vocabulary().define("slot", slot))
    mine = {"subject": "Ann", "scope": {"user": "ann"}}
    bench.world.add("skill", slot="skill", value="alpha", **mine)
    bench.world.add("title", slot="title", value="guru", **mine, **ENDED)
    text = bench.compile(query="What was the title of Ann, and alpha skill?").text
    assert "title = guru (" in text or "title: guru (" in text
    assert "Teach guru" not in text


def test_days_are_told_with_their_hours_where_they_are_one() -> None:
    bench = Bench()
    bench.world.add("rome", subject="Ann", slot="office", value="Rome", valid=(NOW - 50, NOW - 10))
    text = bench.compile(query="Where was the office of Ann?").text
    assert "Rome (2001-09-09T01:46:39.999950Z to 2001-09-09T01:46:39.999990Z)" in text
