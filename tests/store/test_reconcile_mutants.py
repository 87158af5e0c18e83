"""Proof that the core checks kill wrong planners: each mutant must fail at least one of them.

A mutant is a change of source text, so the real modules stay untouched. Not expressible here,
because they are no part of the planner: as-of tx exclusive, tx that goes backwards, history
rewritten, an as-of answer that a later write changes, the first state of a shared stamp kept,
slots that interfere, a whole entity closed (all in the contract suite of the stores).
"""

from __future__ import annotations

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


_KEY = "return Key(-self.level, self.since_us, self.source_authority, self.confidence)"

MUTANTS = (
    # precedence
    Mutant("last writer wins", PLAN, "if not withdrawn(new, row.claim, many, reach)]",
           "if not (withdrawn(new, row.claim, many, reach) or new.op is Op.ASSERT)]"),
    Mutant("older valid_from wins", CLAIM, _KEY, _KEY.replace("self.since", "-self.since")),
    Mutant(
        "trust before valid_from",
        CLAIM,
        _KEY,
        "return Key(-self.level, self.source_authority, self.since_us, self.confidence)",
    ),
    Mutant(
        "valid_from before authority",
        CLAIM,
        _KEY,
        "return Key(self.since_us, -self.level, self.source_authority, self.confidence)",
    ),
    Mutant("authority inverted", CLAIM, _KEY, _KEY.replace("-self.level", "self.level")),
    Mutant("trust ignored", CLAIM, _KEY, "return Key(-self.level, self.since_us, 0, 0)"),
    Mutant("confidence ignored", CLAIM, _KEY, _KEY.replace("self.confidence", "0")),
    # ties
    Mutant("last value wins a tie", RULE,
           "lead.append(c)", "lead = [c]"),
    Mutant(
        "a tie falls back to the weaker claim",
        RULE,
        "top, lead = _lead(best)",
        "keys = [key for key, c in best.values() if c.op is not Op.DENY]\n"
        "    top = max((k for k in keys if keys.count(k) == 1), default=max(keys, default=None))\n"
        "    lead = [c for key, c in best.values() if key == top and c.op is not Op.DENY]",
    ),
    Mutant(
        "the whole claim is excluded instead of the intersection",
        PLAN,
        "    waiting = sorted(",
        "    points_of_ties = [r for r in survivors if r.claim.key == new.key]\n"
        "    if points_of_ties:\n"
        "        return [_Cell(first, last, _cell_looks([s.claim for s in spans], many))]\n"
        "    waiting = sorted(",
    ),
    # splitting
    Mutant(
        "a remnant takes its own start as key",
        PLAN,
        "insert.append(Row(0, row.claim, cut,",
        "from dataclasses import replace\n"
        "                insert.append(Row(0, replace(row.claim, since_us=start), cut,",
    ),
    Mutant(
        "losers are dropped",
        PLAN,
        "filter(_is_stored, work.insert)",
        "row for row in work.insert if row.look.head",
    ),
    Mutant(
        "a write over several incumbents is judged once",
        PLAN,
        "    incumbents.sort(key=_place)",
        "    incumbents.sort(key=_place)\n    incumbents = incumbents[:1]",
    ),
    Mutant(
        "the truncated old piece is not inserted again",
        PLAN,
        "remnants = [(first, inner[0], row.look), (inner[1], last, row.look)]",
        "remnants = [(inner[1], last, row.look)]",
    ),
    Mutant(
        "the right-hand remnant is not inserted again",
        PLAN,
        "remnants = [(first, inner[0], row.look), (inner[1], last, row.look)]",
        "remnants = [(first, inner[0], row.look)]",
    ),
    Mutant("a hidden row is never looked at again", PLAN, "if pieces == [(*inner, row.look)]:",
           "if not row.look.head or pieces == [(*inner, row.look)]:"),
    # verbs
    Mutant("correct = assert", RULE, "if not new.op.withdraws or",
           "if not new.op.withdraws or new.op is Op.CORRECT or"),
    Mutant("delete = assert of no value", RULE, "if not new.op.withdraws or",
           "if not new.op.withdraws or new.op is Op.DELETE or"),
    Mutant("delete adds nothing", RULE, "return new.op is not Op.RETRACT and",
           "return new.op not in (Op.RETRACT, Op.DELETE) and"),
    Mutant("a retract asserts", RULE, "return new.op is not Op.RETRACT and", "return"),
    Mutant(
        "a retract takes the whole claim instead of the portion",
        PLAN,
        "remnants = [(first, inner[0], row.look), (inner[1], last, row.look)]",
        "remnants = [(first, inner[0], row.look), (inner[1], last, row.look)]\n"
        "        if new.op is Op.RETRACT and row.claim.value_key == new.value_key:\n"
        "            remnants = []",
    ),
    Mutant("withdrawals ignore authority", RULE, "incumbent.level >= new.level and ", ""),
    Mutant("withdrawals need a stronger level", RULE, "incumbent.level >= new.level",
           "incumbent.level > new.level"),
    Mutant("retract takes every value", RULE, "if new.op is Op.RETRACT or (many",
           "if (many"),
    Mutant("deny falls back", RULE, "{lead[0].object_id: DENIED_HEAD, foe[1].object_id: IN_FORCE}",
           "{lead[0].object_id: DENIED_HEAD._replace(head=False)}"),
    Mutant("deny is ignored", RULE, "return foe if foe and foe[0] >= lead[0].key else None",
           "return None"),
    Mutant("an equal denial wins", RULE, "if foe and foe[0] > lead[0].key:", "if foe:"),
    Mutant("an equal denial loses", RULE, "foe[0] >= lead[0].key", "foe[0] > lead[0].key"),
    Mutant(
        "the first of two denials decides",
        RULE,
        "if (entry[0], strongest[1].object_id) > (strongest[0], c.object_id):",
        "if c.op is not Op.DENY and "
        "(entry[0], strongest[1].object_id) > (strongest[0], c.object_id):",
    ),
    # same value
    Mutant(
        "a stronger confirmation is dropped",
        RULE,
        "if (entry[0], strongest[1].object_id) > (strongest[0], c.object_id):",
        "if entry[0] > strongest[0] and c.order < strongest[1].order:",
    ),
    Mutant(
        "a confirmation cuts the timeline",
        RULE,
        "looks_of_all.append((c, DOMINATED_ROW))",
        "looks_of_all.append((c, looks_of_all[0][1]))",
    ),
    Mutant("equal values tie", RULE, "saying, entry = c.says, (c.key, c)",
           "saying, entry = (c.says[0], c.object_id), (c.key, c)"),
    # slots
    Mutant("many is treated as one", PLAN, "    if not many:\n        return looks(alive)",
           "    if alive:\n        return looks(alive)"),
    Mutant("one is treated as many", PLAN, "    if not many:\n        return looks(alive)", ""),
    Mutant("a named delete takes every value", RULE, "or (many and not new.says_nothing):",
           "or False:"),
    Mutant("a gap takes part among many", RULE, " and not (many and new.op is Op.DELETE)", ""),
    # intervals
    Mutant("closed valid end", SPAN, "self.start_us <= instant_us < self.end_us",
           "self.start_us <= instant_us <= self.end_us"),
    Mutant("exclusive valid start", SPAN, "self.start_us <= instant_us < self.end_us",
           "self.start_us < instant_us < self.end_us"),
    Mutant("touching intervals overlap", SPAN,
           "self.start_us < second.end_us and second.start_us < self.end_us",
           "self.start_us <= second.end_us and second.start_us <= self.end_us"),
    Mutant("a row that one stamp opens and replaces is kept", PLAN,
           "close = tuple(row for row in before if row.row_key not in has)", "close = ()"),
)  # fmt: skip


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
