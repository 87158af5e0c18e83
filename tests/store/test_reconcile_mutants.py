"""Proof that the core checks kill wrong planners: each mutant must fail at least one of them.

A mutant is a change of source text, so the real modules stay untouched. Not expressible here,
because they are no part of the planner: as-of tx exclusive, tx that goes backwards, history
rewritten, an as-of answer that a later write changes, the first state of a shared stamp kept,
slots that interfere, a whole entity closed (all in the contract suite of the stores).
"""

import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest

from tenure.schema import claim, interval, values
from tenure.schema.errors import InvalidInput
from tenure.schema.interval import Interval
from tenure.store.timeline import reconcile
from tenure.store.timeline import rule as reconcile_rule
from tenure.tests.source_tree import data_table
from tenure.tests.store.core_checks import check_all

SOURCES = {
    module.__name__: Path(str(module.__file__)).read_text(encoding="utf-8")
    for module in (claim, interval, reconcile_rule, reconcile)
}
RULE, PLAN, CLAIM, SPAN = (
    reconcile_rule.__name__,
    reconcile.__name__,
    claim.__name__,
    interval.__name__,
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong planner: pieces of text to replace, by module."""

    name: str
    module: str
    old: str
    new: str


NAMES = {"rule": RULE, "plan": PLAN, "claim": CLAIM, "interval": SPAN}
MUTANTS = [
    Mutant(**{**row, "module": NAMES[row["module"]]})
    for row in data_table("planner-mutants.toml")["mutant"]
]


def _replaced(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the planner of a mutant; `claim` and `interval` are patched in place."""
    source = SOURCES[mutant.module]
    assert source.count(mutant.old) >= 1, f"{mutant.name}: the text to change is not there"
    if mutant.module in (CLAIM, SPAN):
        _patch_class(mutant, monkeypatch)
        return reconcile
    for name in (RULE, PLAN):
        text = SOURCES[name]
        text = text.replace(mutant.old, mutant.new) if name == mutant.module else text
        module = ModuleType(name)
        module.__package__ = "tenure.store.timeline"
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(text + "\nfrom dataclasses import replace\n", name, "exec"), module.__dict__)
    return sys.modules[PLAN]


def _patch_class(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    real, owner = {CLAIM: (claim, "Claim"), SPAN: (interval, "Interval")}[mutant.module]
    module = ModuleType("mutant")
    module.__package__ = "tenure.schema"
    monkeypatch.setitem(sys.modules, "mutant", module)
    exec(compile(SOURCES[mutant.module].replace(mutant.old, mutant.new), "mutant", "exec"),
         module.__dict__)  # fmt: skip
    wrong, right = getattr(module, owner), getattr(real, owner)
    for name in ("key", "__contains__", "overlaps"):
        if name in vars(right):
            monkeypatch.setattr(right, name, vars(wrong)[name])


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_wrong_planner_is_found_out(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    planner = _replaced(mutant, monkeypatch)
    with pytest.raises((AssertionError, InvalidInput)):
        check_all(planner)


def test_the_right_planner_passes_as_text_too(monkeypatch: pytest.MonkeyPatch) -> None:
    planner = _replaced(Mutant("none", PLAN, "def plan(", "def plan("), monkeypatch)
    assert planner is not reconcile
    check_all(planner)


# Mutants of the interval type and of time at the edge


def test_a_mutant_that_accepts_an_empty_interval_is_found_out() -> None:
    with pytest.raises(InvalidInput, match="empty"):
        Interval(5, 5)


def test_a_mutant_of_instants_is_found_out() -> None:
    """Millisecond truncation, an offset ignored, a naive datetime accepted."""
    fine = datetime.fromisoformat("2026-06-06T12:00:00.000001+02:00")
    assert values.micros(fine) % 1000 == 1
    assert values.micros(fine) == values.micros(fine.astimezone(UTC))
    assert values.micros(fine) != values.micros(fine.replace(tzinfo=UTC))
    with pytest.raises(InvalidInput, match="time zone"):
        values.micros(fine.replace(tzinfo=None))
