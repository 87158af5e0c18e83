"""An output is checked, repaired once, and then refused."""

from typing import Any

from tenure.compiler.envelope.envelope import Envelope
from tenure.schema.errors import InvalidInput
from tenure.service.client.answer import answer
from tenure.service.client.connect import connect
from tenure.tests.support.refusals import refused

SCHEMA = {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}


def compiled(**given: Any) -> Envelope:
    with connect(":memory:") as memory:
        return memory.compile("data_extraction", "the city", **given)


class Model:
    """Answers what it was told to, one output after the other, and keeps what it was asked."""

    def __init__(self, *outputs: object) -> None:
        self.outputs = list(outputs)
        self.asked: list[str] = []

    def __call__(self, note: str) -> object:
        self.asked.append(note)
        return self.outputs.pop(0)


def envelope() -> Envelope:
    rule = {"text": "Answer in JSON", "enforcement": "schema", "spec": SCHEMA}
    return compiled(constraints=[rule], acceptance=["names a city of Italy"])


def test_an_output_that_holds_is_taken_at_once() -> None:
    model = Model('{"city": "Rome"}')
    found = answer(envelope(), model)
    assert (found.output, found.repaired, model.asked) == ('{"city": "Rome"}', False, [""])
    assert found.report.passed
    assert found.unjudged == ("names a city of Italy",)


def test_a_failure_is_told_once_and_repaired() -> None:
    model = Model("Rome", '{"city": "Rome"}')
    found = answer(envelope(), model)
    assert found.repaired
    assert "- Constraint: Answer in JSON: the output is no JSON" in model.asked[1]


def test_acceptance_that_no_code_checks_is_judged() -> None:
    model = Model('{"city": "Oslo"}', '{"city": "Rome"}')
    found = answer(envelope(), model, judge=lambda item, output: "Rome" in str(output))
    assert (found.repaired, found.unjudged) == (True, ())
    assert model.asked[1].endswith("- names a city of Italy")


def test_acceptance_that_binds_nobody_is_told_as_unjudged() -> None:
    """An item that is not hard was neither checked nor told, as if it had been met."""
    pattern = {"enforcement": "pattern", "spec": {"required": ["Rome"]}}
    items = [{"text": "names Rome", **pattern}, {"text": "says Rome", "hard": False, **pattern}]
    found = answer(compiled(acceptance=items), Model("Rome"))
    assert found.unjudged == ("says Rome",)


def test_a_second_failure_refuses_the_answer() -> None:
    model = Model("Rome", "[]")
    with refused(InvalidInput, "output_rejected") as caught:
        answer(envelope(), model)
    assert len(model.asked) == 2
    assert caught.value.data["failures"]


def test_a_field_may_say_that_it_does_not_know_where_the_constraint_allows_it() -> None:
    rule = {"text": "JSON", "enforcement": "schema", "spec": SCHEMA, "uncertain": True}
    loose, strict = compiled(constraints=[rule]), compiled(constraints=[{**rule, "spec": {}}])
    assert loose.check('{"city": "unknown"}').passed
    assert loose.check('{"city": "Rome"}').passed
    assert not loose.check('{"city": 7}').passed
    assert strict.check('{"city": 7}').passed
    whole = {**rule, "spec": {"schema": SCHEMA}}
    number = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    forced = compiled(constraints=[{**whole, "spec": number, "uncertain": False}])
    free = compiled(constraints=[{**whole, "spec": {"schema": number}}])
    assert not forced.check('{"n": "unknown"}').passed
    assert free.check('{"n": "unknown"}').passed
