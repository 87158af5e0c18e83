"""What becomes of each thing that a question asks."""

import re
from hashlib import sha256
from typing import Any

import pytest

import tenure
from tenure.compiler.ir.records import Asked
from tenure.compiler.ranking.answers import unanswered_line
from tenure.schema.principal import Principal
from tenure.tests.compiler.fake_reader import Bench


def office(**row: Any) -> Bench:
    bench = Bench(principal=Principal(user="bob"))
    bench.world.add("office", subject="Ann", slot="office", value="Rome",
                    claim="Ann office: Rome", **row)  # fmt: skip
    return bench


def states(bench: Bench, query: str, **given: Any) -> dict[tuple[str, str], tuple[str, str]]:
    asked = bench.compile(query=query, **given).asked
    return {(record.name, record.slot): (record.state, record.why) for record in asked}


def test_a_value_that_stands_in_the_text_is_known() -> None:
    envelope = office().compile(query="Where is the office of Ann?")
    (record,) = envelope.asked
    assert (record.name, record.slot, record.state) == ("Ann", "office", "known")
    assert record.object_ids == tuple(
        o.object_id for o in envelope.trace.compiled_objects if o.section == "turn_memory"
    )
    assert "Not known" not in envelope.text
    assert envelope.cut_budget == 0


def test_a_slot_that_the_way_fills_is_not_asked_of_where_it_begins() -> None:
    with tenure.connect(":memory:") as memory:
        ann = {"name": "Ann Lee", "type": "person"}
        memory.write({"name": "Bo Falk", "type": "person"}, "manager", ann)
        memory.write(ann, "phone", "+1 555")
        envelope = memory.compile("assistant", "What is the phone of the manager of Bo Falk?")
    assert [(r.slot, r.state) for r in envelope.asked] == [
        ("manager", "known"),
        ("phone", "known"),
    ]
    assert "+1 555" in envelope.text


@pytest.mark.parametrize("query", ["Ann's phone?", "What is the phone of Ann?"])
def test_what_a_colleague_has_is_unknown_of_the_person_who_is_asked_about(query: str) -> None:
    with tenure.connect(":memory:") as memory:
        bo = {"name": "Bo Falk", "type": "person"}
        memory.write(bo, "manager", {"name": "Ann Lee", "type": "person"})
        memory.write(bo, "phone", "+1 555")
        envelope = memory.compile("assistant", query)
    assert [(r.name, r.state) for r in envelope.asked] == [
        ("Ann Lee", "unknown"),
        ("Bo Falk", "known"),
    ]


def test_a_word_of_an_office_is_no_name_where_it_asks() -> None:
    with tenure.connect(":memory:") as memory:
        memory.write({"name": "Ann Lee", "type": "person"}, "office", "Rome")
        memory.write({"name": "Rome Office", "type": "location"}, "related_to", "Nova")
        envelope = memory.compile("assistant", "Is Ann Lee's office in Rome?")
    assert [(r.name, r.slot) for r in envelope.asked] == [("Ann Lee", "office")]


def test_a_goal_asks_nothing_beside_a_question() -> None:
    goal = {"goal": "a plan of the visit, that Mirko can send to the phone"}
    assert states(office(), "Where is the office of Ann?", **goal) == {
        ("Ann", "office"): ("known", "")
    }
    assert states(office(), "", goal="Find the office of Ann") == {("Ann", "office"): ("known", "")}


@pytest.mark.parametrize("query", ["What is Ann's phone?", "What is the phone of Ann?"])
def test_a_slot_without_a_value_is_unknown_and_the_text_says_so(query: str) -> None:
    bench = office()
    assert states(bench, query) == {("Ann", "phone"): ("unknown", "no_value")}
    assert "Not known: Ann phone." in bench.compile(query=query).text


@pytest.mark.parametrize(
    ("slot", "value", "query", "told"),
    [
        ("employer", "Acme", "Where does Ann Lee work?", ""),
        ("office", "Rome", "Where does Ann Lee work?", ""),
        ("child", "Tim", "Tell me about the family of Ann Lee.", ""),
        ("title", "chief", "What is the job of Ann Lee?", ""),
        ("title", "chief", "What is the job of Ann Lee, and which company is it?", "employer"),
        ("employer", "Acme", "Where does Ann Lee work, and which office is it?", "office"),
        ("email", "a@b.example", "Where does Ann Lee work?", "employer, office"),
    ],
)
def test_a_word_of_two_slots_is_answered_by_either(
    slot: str, value: str, query: str, told: str
) -> None:
    with tenure.connect(":memory:") as memory:
        memory.write({"name": "Ann Lee", "type": "person"}, slot, value)
        envelope = memory.compile("assistant", query)
    unknown = [record.slot for record in envelope.asked if record.state == "unknown"]
    assert ", ".join(unknown) == told
    assert ("Not known" in envelope.text) == bool(told)


@pytest.mark.parametrize(
    "when", ["in February", "since May 2026", "before June 2025", "on 3 March", "im Oktober"]
)
def test_a_month_is_the_name_of_nobody(when: str) -> None:
    with tenure.connect(":memory:") as memory:
        memory.write({"name": "Ann Lee", "type": "person"}, "office", "Rome")
        envelope = memory.compile("assistant", f"What was Ann's office {when}?")
    assert [(r.name, r.slot, r.state) for r in envelope.asked] == [("Ann Lee", "office", "known")]
    assert "Rome" in envelope.text


def test_a_fact_of_whom_a_question_names_stays_beside_a_name_of_nobody() -> None:
    with tenure.connect(":memory:") as memory:
        memory.write({"name": "Ann Lee", "type": "person"}, "office", "Rome")
        envelope = memory.compile("assistant", "What is Ann's office, and what is Mirko's?")
    assert "Rome" in envelope.text


@pytest.mark.parametrize(
    ("query", "asked", "is_shown"),
    [
        ("Where is the office of Ann Lee?", ("Ann Lee", "office", "known"), True),
        ("Where is the office of Ann?", ("Ann Lee", "office", "known"), True),
        ("Where is Ann's office?", ("Ann Lee", "office", "known"), True),
        ("Where is Ann's phone?", ("Ann Lee", "phone", "unknown"), True),
        ("Ann's office?", ("Ann Lee", "office", "known"), True),
        ("Anns Büro?", ("Ann Lee", "office", "known"), True),
        ("Welche E-Mail hat Ann?", ("Ann Lee", "email", "unknown"), True),
        ("Ann: the office?", ("Ann Lee", "office", "known"), True),
        ("Ann Lee and Bo: which offices?", ("Bo Lee", "office", "known"), True),
        ("Where is Ann Berg's office?", ("Ann Berg", "office", "unknown"), False),
        ("Where is the office of Lee?", ("", "", ""), True),
        ("Where is the office of Mirko Dahl?", ("Mirko Dahl", "office", "unknown"), False),
        ("Who is Mirko Dahl?", ("Mirko Dahl", "", "unknown"), False),
        ("Where is the office of Ann Lee and of Nova?", ("Ann Lee", "office", "known"), True),
        ("What did Mirko Dahl say about the harbour?", ("Mirko Dahl", "", "unknown"), False),
        ("Summarise the Quay Report for a visit.", ("", "", ""), False),
    ],
)
def test_a_part_of_a_name_means_whoever_alone_bears_it(
    query: str, asked: tuple[str, str, str], is_shown: bool
) -> None:
    with tenure.connect(":memory:") as memory:
        for name, city in (("Ann Lee", "Rome"), ("Bo Lee", "Oslo")):
            memory.write({"name": name, "type": "person"}, "office", city)
        envelope = memory.compile("assistant", query)
    found = {(record.name, record.slot, record.state) for record in envelope.asked}
    assert found >= {asked} if asked[0] else not found
    assert ("Rome" in envelope.text) == is_shown
    assert ({"mirko", "dahl"} <= set(envelope.unmatched)) == ("Mirko Dahl" in query)
    gaps = {gap.subject for gap in envelope.gaps if gap.code == "unknown_entity"}
    assert gaps == {name for name, _, _ in found} - {"Ann Lee", "Bo Lee"}


@pytest.mark.parametrize(
    ("query", "near_name", "told"),
    [
        ("What do we know about Prya Shah?", "Priya Shah", "Prya Shah (did you mean Priya Shah?)"),
        ("Was wissen wir über Prya Shah?", "Priya Shah", "Prya Shah (did you mean Priya Shah?)"),
        ("What is the office of Prya Shah?", "Priya Shah", "Prya Shah office (did you mean Priya"),
        ("What is the status of Biling API?", "Billing API", "API status (did you mean Billing"),
        ("What do we know about Priya Dahl?", "", "Not known: Priya Dahl."),
        ("Was wissen wir über Mirko Dahl?", "", "Not known: Mirko Dahl."),
    ],
)
def test_a_misspelt_name_is_told_the_known_one_and_nothing_of_it(
    query: str, near_name: str, told: str
) -> None:
    with tenure.connect(":memory:") as memory:
        memory.write({"name": "Priya Shah", "type": "person"}, "office", "Berlin")
        memory.write({"name": "Billing API", "type": "system"}, "status", "green")
        envelope = memory.compile("assistant", query)
    (record,) = envelope.asked
    assert record.near_names == ((near_name,) if near_name else ())
    assert told in envelope.text
    assert "Berlin" not in envelope.text
    assert "green" not in envelope.text


@pytest.mark.parametrize("closed", [{}, {"sensitivity": ["personal"]}, {"allow_roles": ["owner"]}])
def test_only_a_name_that_the_caller_may_read_is_near(closed: dict[str, Any]) -> None:
    with tenure.connect(":memory:") as memory:
        priya = {"name": "Priya Shah", "type": "person"}
        memory.vocabulary.define_slot("carer", value_type="entity", description="who cares for one")
        memory.write({"name": "Ann Lee", "type": "person"}, "carer", priya, **closed)
        member = memory.bind(tenure.Principal(user="bo"))
        text = member.compile("assistant", "Who is Prya Shah, the carer of Ann Lee?").text
    assert ("did you mean Priya Shah?" in text) == (not closed)


OFFICE: tuple[tuple[str, str, str, str | tuple[str, str]], ...] = (
    ("organization", "Brisk Holdings", "jurisdiction", "Delaware"),
    ("organization", "Brisk Holdings", "pricing_tier", "customer"),
    ("person", "Tilda Moro", "manager", ("person", "Egon Falk")),
    ("person", "Runa Solberg", "manager", ("person", "Egon Falk")),
    ("person", "Egon Falk", "manager", ("person", "Zita Bell")),
    ("person", "Runa Solberg", "team", "Platform"),
    ("person", "Tilda Moro", "team", "Sales"),
    ("system", "Ledger Core", "owner", ("person", "Runa Solberg")),
    ("system", "Ledger Core", "depends_on", ("system", "Vault Disk")),
    ("system", "Vault Disk", "owner", ("person", "Tilda Moro")),
)


@pytest.mark.parametrize(
    ("query", "unknown", "shown", "never"),
    [
        ("Is Globex a customer?", "Globex", (), ("Brisk",)),
        ("Is Globex in Delaware?", "Globex", (), ("Brisk",)),
        ("Does Vandelay own a system in Delaware?", "Vandelay owner", (), ("Runa", "Brisk")),
        ("What do we know of Hanso Works?", "Hanso Works", (), ("Brisk",)),
        ("Does Kestrel Air know Runa Solberg?", "Kestrel Air", ("Platform",), ("Brisk",)),
        ("Ist Globex ein customer?", "Globex", (), ("Brisk",)),
        ("Is Brisk Holdings a customer?", "", ("customer",), ("Runa",)),
        ("Which customer is in Delaware?", "", ("Delaware", "customer"), ("Runa",)),
        ("Who reports to Egon Falk?", "", ("Tilda", "Runa"), ("Zita",)),
        ("Whom does Egon Falk manage?", "", ("Tilda", "Runa"), ("Zita",)),
        ("Wer berichtet an Egon Falk?", "", ("Tilda", "Runa"), ("Zita",)),
        ("Who is the manager of Egon Falk?", "", ("Zita",), ("Tilda",)),
        ("Who reports to Runa Solberg?", "", (), ("Tilda",)),
        ("Who manages Runa Solberg?", "", ("Egon Falk",), ("Tilda",)),
        ("Who manages Egon Falk?", "", ("Zita",), ("Tilda",)),
        ("What depends on Vault Disk?", "", ("Ledger Core",), ("Runa",)),
        ("Which systems belong to Runa Solberg?", "", ("Ledger Core",), ("Brisk",)),
        ("Who owns what Ledger depends on?", "", ("Vault Disk", "Tilda"), ("Sales",)),
        ("Which team is the owner of Ledger in?", "", ("Platform",), ("Sales",)),
    ],
)
def test_a_question_shows_what_it_is_about_and_says_whom_nobody_knows(
    query: str, unknown: str, shown: tuple[str, ...], never: tuple[str, ...]
) -> None:
    with tenure.connect(":memory:") as memory:
        for type, name, slot, value in OFFICE:
            end = value if isinstance(value, str) else {"name": value[1], "type": value[0]}
            memory.write({"name": name, "type": type}, slot, end)
        envelope = memory.compile("assistant", query)
    text = envelope.text.partition("=== REQUEST")[0]
    found = [line for line in text.splitlines() if line.startswith("Not known")]
    assert found == ([f"Not known: {unknown}."] if unknown else [])
    assert [value for value in shown if value not in text] == []
    assert [value for value in never if value in text] == []


def test_a_linked_fact_never_stands_without_its_link() -> None:
    linked = 0
    with tenure.connect(":memory:") as memory:
        disk = {"name": "Vault Disk", "type": "system"}
        for name in ("Ledger Core of the North", "Harbour Gate Control", "Payroll Batch Engine"):
            system = {"name": name, "type": "system"}
            memory.write(system, "depends_on", disk)
            memory.write(system, "version", "4")
        for budget in range(150, 230):
            text = memory.compile("assistant", "Explain Vault Disk.", budget_tokens=budget).text
            for row in re.findall(r"(?m)^\w.*version = 4.*", text):
                linked += 1
                assert "depends on = Vault Disk" in row, budget
    assert linked


def test_what_talk_tells_is_not_said_to_be_unknown() -> None:
    query, line = "What happened to Ann Lee's car?", "Not known: Ann Lee vehicle."
    with tenure.connect(":memory:") as memory:
        ann = {"name": "Ann Lee", "type": "person"}
        memory.write(ann, "office", "Rome")
        assert line in memory.compile("assistant", query).text
        memory.observe("A student took the car off my hands.", ann, source_origin="chat://a")
        envelope = memory.compile("assistant", query)
    assert line not in envelope.text
    assert "A student" in envelope.text
    assert ("vehicle", "unknown") in [(record.slot, record.state) for record in envelope.asked]


def test_a_disputed_slot_is_said_without_its_values() -> None:
    with tenure.connect(":memory:") as memory:
        for day, chat in (("02", "x"), ("16", "y")):
            memory.write(
                "Project Heron", "deadline", f"2026-11-{day}T00:00:00Z",
                valid_from="2026-08-01T00:00:00Z", source_origin=f"chat://{chat}",
            )  # fmt: skip
        envelope = memory.compile("assistant", "What is the deadline of Project Heron?")
    assert [(r.slot, r.state) for r in envelope.asked] == [("deadline", "disputed")]
    assert "Disputed, undecided: Project Heron deadline." in envelope.text
    assert "2026-11" not in envelope.text


def test_what_is_hidden_is_withheld_for_a_named_entity_and_slot_alone() -> None:
    bench = office(visible=False)
    bench.world.add("title", subject="Ann", slot="title", value="chief", claim="Ann title: chief")
    assert states(bench, "Where is the office of Ann?")["Ann", "office"][0] in (
        "withheld",
        "unknown",
    )
    assert all(s != "withheld" for s, _ in states(bench, "Tell me about Rome").values())


def test_what_the_budget_cut_is_shown_by_the_budget_that_is_named() -> None:
    bench = Bench(principal=Principal(user="bob"))
    for number in range(60):
        bench.world.add(f"f{number:02}", subject="Ann", slot="skill", value=f"skill {number}",
                        claim=f"Ann skill: a long name of the skill number {number}")  # fmt: skip
    bench.world.add(
        "office", subject="Ann", slot="phone", value="+1 555", claim="Ann phone: +1 555"
    )
    query = "Which skill has Ann, and which phone?"
    envelope = bench.compile(query=query, budget_tokens=256, entities=["Ann"])
    for record in envelope.asked:
        if record.state == "cut":
            assert envelope.cut_budget >= record.budget_tokens > 256
            again = bench.compile(query=query, budget_tokens=record.budget_tokens, entities=["Ann"])
            assert {r.state for r in again.asked if r.slot == record.slot} == {"known"}


def test_a_name_of_several_is_told_as_undecided_and_not_as_unknown() -> None:
    assert unanswered_line([]) == ""
    records = [
        Asked(subject="a", slot="office", why="no_value", name="Erik Vance"),
        Asked(subject="Erik Vance", why="ambiguous_entity", name="Erik Vance"),
        Asked(subject="c", slot="phone", why="no_value", name="Mira Falk"),
    ]
    line = unanswered_line(records)
    assert line == "Undecided which one is meant: Erik Vance. Not known: Mira Falk phone."


@pytest.mark.parametrize(
    ("count", "query", "state", "lines", "told"),
    [
        (3, "Tell me about Vistula Pumps.", "known", 3, ""),
        (24, "Tell me about Vistula Pumps.", "known", 24, ""),
        (25, "Tell me about Vistula Pumps.", "cut", 0, "employer = Vistula Pumps (25)"),
        (60, "Who works at Vistula Pumps?", "", 40, "employer = Vistula Pumps (60)"),
        (60, "What is the email of Vistula Pumps?", "unknown", 0, ""),
    ],
)
def test_an_entity_of_which_only_facts_of_others_tell_is_known(
    count: int, query: str, state: str, lines: int, told: str
) -> None:
    employer = {"name": "Vistula Pumps", "type": "organization"}
    with tenure.connect(":memory:") as memory:
        people = [{"name": f"Ann {sha256(bytes([n])).hexdigest()}"} for n in range(count)]
        memory.write_many(
            [tenure.Write(subject=p, slot="employer", value=employer) for p in people]
        )
        envelope = memory.compile("assistant", query, budget_tokens=6_000)
    assert envelope.text.count(" | employer = ") == lines
    assert [record.state for record in envelope.asked] == [state] * bool(state)
    assert ("Not all listed" in envelope.text) == bool(told)
    assert told in envelope.text


def test_a_count_of_relations_says_nothing_of_personal_data() -> None:
    clinic = {"name": "Rowan Clinic", "type": "organization"}
    with tenure.connect(":memory:") as memory:
        for number in range(60):
            fields = {"sensitivity": ("special_personal",)} if number % 2 else {}
            memory.write(
                {"name": f"Patient {sha256(bytes([number])).hexdigest()}"},
                "employer",
                clinic,
                **fields,
            )
        text = memory.compile("assistant", "Tell me about Rowan Clinic.").text
    assert "employer = Rowan Clinic (30)" in text


@pytest.mark.parametrize(
    ("query", "is_unknown"),
    [
        ("Who is Priya Nair's manager?", True),
        ("Wer ist der Chef von Priya Nair?", True),
        ("What is Billing API part of?", True),
        ("What is part of Billing API?", False),
        ("Who reports to Priya Nair?", False),
        ("Who has Priya Nair as their manager?", False),
        ("Whose boss is Priya Nair?", False),
        ("List everyone whose manager is Priya Nair.", False),
        ("Is Priya Nair the manager of Ann Lee?", False),
        ("Wessen Chefin ist Priya Nair?", False),
        ("Who is Tom Berg's partner?", False),
    ],
)
def test_a_relation_is_unknown_of_its_subject_however_many_name_it(
    query: str, is_unknown: bool
) -> None:
    with tenure.connect(":memory:") as memory:
        for subject, slot, value in (
            ("Ann Lee", "manager", "Priya Nair"),
            ("Bo Lund", "manager", "Priya Nair"),
            ("Ann Lee", "partner", "Tom Berg"),
        ):
            person = {"name": value, "type": "person"}
            memory.write({"name": subject, "type": "person"}, slot, person)
        api = {"name": "Billing API", "type": "system"}
        memory.write({"name": "Web", "type": "system"}, "part_of", api)
        envelope = memory.compile("assistant", query, budget_tokens=600)
    assert any(record.state == "unknown" for record in envelope.asked) == is_unknown
    assert ("Not known" in envelope.text) == is_unknown
    assert " | " in envelope.text


def test_a_yes_or_no_question_of_a_relation_shows_its_subject_alone() -> None:
    with tenure.connect(":memory:") as memory:
        for name in ("Ann Lee", "Bo Lund"):
            chief = {"name": "Priya Nair", "type": "person"}
            memory.write({"name": name, "type": "person"}, "manager", chief)
        text = memory.compile("assistant", "Is Priya Nair the manager of Ann Lee?").text
    assert "Ann Lee | manager = Priya Nair" in text
    assert "Bo Lund" not in text


def test_a_value_at_midnight_is_shown_as_its_day() -> None:
    with tenure.connect(":memory:") as memory:
        memory.write({"name": "Heron", "type": "project"}, "deadline", "2027-03-01")
        memory.write({"name": "Tern", "type": "project"}, "deadline", "2027-03-01T14:00Z")
        text = memory.compile("assistant", "What is the deadline of Heron and of Tern?").text
        (first, *_) = memory.as_of().search("due 2027-03-01").hits
    assert "Heron | deadline = 2027-03-01 [" in text
    assert "Tern | deadline = 2027-03-01T14:00:00Z [" in text
    assert first.object.content == "Heron deadline: 2027-03-01"


@pytest.mark.parametrize(
    ("query", "asked", "shown"),
    [
        ("What is my manager's phone?", ("Bo Falk", "phone"), "+45 111"),
        ("Call my manager.", ("Bo Falk", "phone"), "+45 111"),
        ("Die Telefonnummer meiner Chefin?", ("Bo Falk", "phone"), "+45 111"),
        ("How old is my daughter?", ("Ines Horn", "birthday"), "2022-04-05"),
        ("Plan a dinner for my family.", ("Lea Horn", "child"), "allergy = eggs"),
    ],
)
def test_what_is_asked_of_my_relation_is_shown_of_it_and_of_no_stranger(
    query: str, asked: tuple[str, str], shown: str
) -> None:
    lea, bo, ines, ada = (
        {"name": name, "type": "person"}
        for name in ("Lea Horn", "Bo Falk", "Ines Horn", "Ada Rist")
    )
    with tenure.connect(":memory:") as memory:
        memory.write({**lea, "external_ids": {"user": "lea"}}, "manager", bo)
        memory.write({**lea, "external_ids": {"user": "lea"}}, "child", ines)
        for who, facts in (
            (bo, {"phone": "+45 111", "birthday": "1980-02-03", "allergy": "dust"}),
            (ines, {"birthday": "2022-04-05", "allergy": "eggs"}),
            (ada, {"phone": "+45 222", "birthday": "1990-09-09", "allergy": "nuts"}),
        ):
            for slot, value in facts.items():
                memory.write(who, slot, value)
        envelope = memory.bind(Principal(user="lea")).compile("assistant", query)
    known = {(record.name, record.slot) for record in envelope.asked if record.state == "known"}
    assert asked in known
    assert shown in envelope.text
    assert "Ada Rist" not in envelope.text
    assert "Not known: Lea Horn phone" not in envelope.text


def test_a_question_of_everybody_is_not_one_of_the_caller() -> None:
    with tenure.connect(":memory:") as memory:
        for name, user, day in (
            ("Lea Horn", "lea", "1990-01-02"),
            ("Ada Rist", "ada", "1991-03-04"),
        ):
            person = {"name": name, "type": "person", "external_ids": {"user": user}}
            memory.write(person, "birthday", day)
        text = memory.bind(Principal(user="lea")).compile("assistant", "List all birthdays.").text
    assert "1990-01-02" in text
    assert "1991-03-04" in text
