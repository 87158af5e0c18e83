"""Contradictions between rules and payload: found by plain rules, named, never rewritten."""

from typing import Any

import pytest

from tenure.compiler.envelope.envelope import Envelope
from tenure.compiler.trace.lint import LintFinding
from tenure.schema.principal import Principal
from tenure.tests.compiler.fake_reader import Bench

FORM = {
    "type": "object",
    "properties": {"due": {"type": "string"}, "total": {"type": "number"}, "note": {}},
    "required": ["due", "total"],
}


def compiled(rule: str = "", task: str = "code_generation", **given: Any) -> Envelope:
    bench = Bench(principal=Principal(user="ann", projects=frozenset({"nova"})))
    if rule:
        bench.world.add("rule", text=rule, object_type="policy_rule", level=1)
    return bench.compile(task, **{"query": "x", **given})


def codes(envelope: Envelope) -> list[str]:
    return [finding.code for finding in envelope.trace.lint]


@pytest.mark.parametrize(
    ("rule", "request_text", "code"),
    [
        ("Never print customer emails.", "Print the customer emails.", "opposite_directive"),
        ("Always cite page numbers.", "Do not cite page numbers.", "opposite_directive"),
        ("Answer in English.", "Please answer in German.", "exclusive_choice"),
        ("Return the result as valid JSON.", "Write it as YAML.", "exclusive_choice"),
        ("Be brief.", "Answer at length.", "exclusive_choice"),
    ],
)
def test_a_contradiction_is_a_finding_that_names_the_effective_rule(
    rule: str, request_text: str, code: str
) -> None:
    envelope = compiled(rule, user_request=request_text)
    assert codes(envelope) == [code]
    (finding,) = envelope.trace.lint
    ids = {o.object_id: o.section for o in envelope.trace.compiled_objects}
    assert ids[finding.rule] == ids[finding.effective] == "tenant_policy"
    assert ids[finding.against_id] == "user_request"
    assert envelope.trace.validation_status == "WARNINGS"
    assert request_text in envelope.text


@pytest.mark.parametrize(("positive", "found"), [(True, []), (False, ["opposite_directive"])])
def test_what_a_constraint_forbids_is_read_off_its_flag(positive: bool, found: list[str]) -> None:
    constraint = {"text": "Cite page numbers.", "positive": positive}
    assert codes(compiled("Always cite page numbers.", constraints=[constraint])) == found


@pytest.mark.parametrize(
    ("rule", "request_text"),
    [
        ("Never print customer emails.", "Never print the customer emails."),
        ("Never print customer emails.", "Summarise the customer meeting."),
        ("Never print customer emails or keys.", "Print the customer report of the week."),
        ("Answer in English.", "Translate the German letter into French."),
        ("Answer in English.", "Answer in English or in German."),
        ("Answer in English.", "Answer in English, then answer in German."),
        ("Do not guess.", "Guess the weather."),
        ("", "Never answer."),
        ("Be brief.", "Convert this JSON to YAML."),
    ],
)
def test_what_agrees_or_speaks_of_something_else_is_no_finding(
    rule: str, request_text: str
) -> None:
    assert compiled(rule, user_request=request_text).trace.lint == ()


def test_the_stronger_authority_is_effective_whoever_says_it() -> None:
    bench = Bench(principal=Principal(user="ann", authority_level=0))
    bench.world.add("rule", text="Answer in English.", object_type="policy_rule", level=1)
    (finding,) = bench.compile(query="x", constraints=["Answer in German."]).trace.lint
    assert bench.world.name_of(finding.effective) == "rule"
    weak = Bench(principal=Principal(user="ann"))
    weak.world.add("rule", text="Answer in English.", object_type="policy_rule", level=1)
    (second,) = weak.compile(query="x", constraints=["Answer in German."]).trace.lint
    assert weak.world.name_of(second.effective) == "rule"


def test_a_safety_critical_policy_fails_the_envelope() -> None:
    bench = Bench().rules(safety_critical=True)
    bench.world.add("rule", text="Answer in English.", object_type="policy_rule", level=1)
    envelope = bench.compile(query="x", user_request="Answer in German.")
    assert envelope.trace.validation_status == "FAILED"
    listed = envelope.trace.to_dict()["lint"]
    assert listed[0]["detail"] == "language: english or german"


def pattern(**spec: Any) -> dict[str, Any]:
    return {"text": f"pattern {sorted(spec)}", "enforcement": "pattern", "spec": spec}


def schema(**spec: Any) -> dict[str, Any]:
    return {"text": f"schema {sorted(spec)} {spec!r:.30}", "enforcement": "schema", "spec": spec}


def test_constraints_that_no_answer_can_keep_clash() -> None:
    both = [pattern(required=["END", "x"]), pattern(forbidden="END")]
    assert codes(compiled(constraints=both)) == ["pattern_clash"]
    assert codes(compiled(constraints=both[::-1])) == ["pattern_clash"]
    assert codes(compiled(constraints=[pattern(required="A"), pattern(forbidden="B")])) == []
    types = [schema(type="object"), schema(schema={"type": "array"})]
    assert codes(compiled(constraints=types)) == ["schema_clash"]
    assert codes(compiled(constraints=[schema(type="object"), schema(required=["a"])])) == []
    assert codes(compiled(constraints=[schema(type="object"), pattern(required="A")])) == []


def test_an_extraction_that_forces_an_answer_is_a_finding() -> None:
    closed = compiled(task="data_extraction", constraints=[schema(schema=FORM)])
    assert [(f.code, f.detail) for f in closed.trace.lint] == [("forced_fabrication", "due total")]
    assert codes(compiled(constraints=[schema(schema=FORM)])) == []
    loose = {**schema(schema=FORM), "uncertain": True}
    assert codes(compiled(task="data_extraction", constraints=[loose])) == []
    bare = {**schema(**FORM), "uncertain": True}
    assert codes(compiled(task="data_extraction", constraints=[bare])) == []


def test_findings_are_sorted_and_plain() -> None:
    assert sorted([LintFinding("b", "", "", "", ""), LintFinding("a", "", "", "", "")])[0][0] == "a"
