"""longitudinal-v1 of memory-bakeoff: what was true, what was believed, and what replaced it.

The fixture is a JSON file of sixteen observations and twenty questions, each asked when a prefix
of the observations is known. `by_text` hands over the public sentences with their times and their
scope, as the adapters of its authors do, and takes the first five hits of a search. `by_writes`
states each observation as a fact, which a caller can do who knows what a sentence means. It shows
what the store answers then, and is comparable with no other system's figure.

Failures are counted by the fixture's own rules, one name a kind and question.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import tenure
from tenure import Memory
from tenure.schema.errors import InvalidInput
from tenure.schema.principal import OWNER, Principal

PUBLISHED: Final = "a5c67e7b2677dff5c90c91fe0fbc72f251f7e82b97d125122e8ce4ae5eb413dd"
"""The hash of the fixture, as its authors publish and compute it."""
_HITS: Final = 5
_PAST: Final = ("historical_belief", "as_of_event_truth", "late_arriving_history")
_CORRECTED: Final = "corrected_historical_truth"
_PROCEDURE: Final = "recommended_procedure"

Record = Mapping[str, Any]
Answers = Callable[[Memory, Record, Mapping[str, str]], list[str]]


def load_fixture(path: Path) -> dict[str, Any]:
    """Read a copy of the fixture.

    Raises:
        InvalidInput: `bad_file`, when the copy does not have the published hash.
    """
    try:
        fixture: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}", code="bad_file") from error
    if digest(fixture) != PUBLISHED:
        raise InvalidInput(
            f"{path} is no copy of longitudinal-v1: take research/LONGITUDINAL_V1_FIXTURE.json "
            "of memory-bakeoff unchanged",
            code="bad_file",
        )
    return fixture


def digest(fixture: Any) -> str:
    """The hash of a fixture."""
    canonical = json.dumps(fixture, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def failures_of(fixture: Record, case: Record, returned: Iterable[str]) -> frozenset[str]:
    """The failures of one answer, as the scorer of the benchmark names them."""
    observations = {record["id"]: record for record in fixture["observations"]}
    order = {c["id"]: c["ingestion_order"] for c in fixture["checkpoints"]}[case["checkpoint_id"]]
    kind, ids = case["target_kind"], set(returned)
    expected, prohibited = set(case["expected_ids"]), set(case["prohibited_ids"])

    failures: set[str] = set()
    if ids - observations.keys():
        failures.add("unmapped_provenance")
    if any(observations[i]["ingestion_order"] > order for i in ids & observations.keys()):
        failures.add("future_leakage")
    if expected and not expected & ids:
        if kind in _PAST:
            failures.add("history_erasure")
        elif kind == _PROCEDURE:
            failures.add("procedure_recommendation_missing")
        else:
            failures.add("missing_required_truth")
        if kind in (_CORRECTED, "as_of_event_truth"):
            failures.add("correction_failure")
    if not expected and ids:
        failures.add("unsupported_evidence")
    wrong = [observations[i] for i in sorted(prohibited & ids)]
    if wrong:
        failures.add(_confusion(case, wrong))
    is_current = kind == "current_truth"
    if is_current and any(observations[i]["historical_only"] for i in ids & observations.keys()):
        failures.add("late_history_corruption")
    return frozenset(failures)


def _confusion(case: Record, wrong: Iterable[Record]) -> str:
    kind = case["target_kind"]
    if kind == "historical_belief":
        return "belief_truth_confusion"
    if kind == _PROCEDURE:
        return "failed_procedure_adoption"
    if kind == _CORRECTED or case["truth_key"] == "client-path:aurora":
        return "false_persistence"
    if any(record["scope"] != case["scope"] for record in wrong):
        return "scope_collapse"
    if any(record["configuration"] != case["configuration"] for record in wrong):
        return "configuration_collapse"
    return "stale_persistence"


def by_text(fixture: Record, encoder: str | None = None) -> dict[str, frozenset[str]]:
    """The failures by question where the sentences alone are kept."""
    return _replay(fixture, _write_text, _search, encoder)


def by_writes(fixture: Record) -> dict[str, frozenset[str]]:
    """The failures by question where each sentence is stated as a fact."""
    return _replay(fixture, _write_fact, _read)


def _replay(
    fixture: Record,
    write: Callable[[Memory, Record, Mapping[str, str]], str],
    read: Answers,
    encoder: str | None = None,
) -> dict[str, frozenset[str]]:
    """Write the observations in order, and ask at each checkpoint what is asked there."""
    now = [0]
    scopes = frozenset(_project(record["scope"]) for record in fixture["observations"])
    owner = Principal(tenant=OWNER.tenant, roles=OWNER.roles, projects=scopes)
    memory = tenure.connect(":memory:", clock=lambda: now[0], principal=owner, encoder=encoder)
    failures: dict[str, frozenset[str]] = {}
    observation_ids: dict[str, str] = {}
    with closing(memory):
        for checkpoint in sorted(fixture["checkpoints"], key=lambda c: c["ingestion_order"]):
            for record in fixture["observations"]:
                known = record["id"] in observation_ids.values()
                if record["ingestion_order"] <= checkpoint["ingestion_order"] and not known:
                    moment = datetime.fromisoformat(record["ingestion_time"])
                    now[0] = round(moment.timestamp() * 1_000_000)
                    object_id = write(memory, record, observation_ids)
                    observation_ids[object_id] = record["id"]
            memory.flush()
            for case in fixture["cases"]:
                if case["checkpoint_id"] == checkpoint["id"]:
                    answer = read(memory, case, observation_ids)
                    failures[case["id"]] = failures_of(fixture, case, answer)
    return failures


def _project(scope: str) -> str:
    return scope.replace(":", "-")


def _write_text(memory: Memory, record: Record, _known: Mapping[str, str]) -> str:
    receipt = memory.write(
        content=record["assertion"],
        valid_from=record["effective_time"],
        why_it_matters=f"{record['scope']} {record['configuration']}",
        scope={"project": _project(record["scope"])},
        source_origin="user://public",
    )
    return receipt.object_id


def _search(memory: Memory, case: Record, known: Mapping[str, str]) -> list[str]:
    """The first five hits, within the scope and at the times that the question states."""
    reader = Principal(
        tenant=memory.principal.tenant,
        roles=memory.principal.roles,
        projects=frozenset((_project(case["scope"]),)),
    )
    valid, believed = _times(case)
    hits = memory.bind(reader).as_of(valid, believed).search(case["query"], limit=_HITS).hits
    return [known[hit.object.object_id] for hit in hits]


def _times(case: Record) -> tuple[str | None, str | None]:
    """Valid time and time of knowledge of a question."""
    # What is now known of a past that was corrected is what is believed now.
    moment = None if case["target_kind"] == _CORRECTED else case["event_time"]
    return (moment, moment if case["target_kind"] == "historical_belief" else None)


def _write_fact(memory: Memory, record: Record, known: Mapping[str, str]) -> str:
    """State an observation: its key is the slot, and what it withdraws ends."""
    slot, _, name = record["truth_key"].partition(":")
    subject, slot = name.replace(":", " "), slot.replace("-", "_")
    if record["procedure_outcome"] == "failure":
        slot = "failed_procedure"
    withdrawn = record["retracts_id"] or record["invalidates_id"]
    memory.vocabulary.define_slot(slot, description=slot.replace("_", " "))
    fields: dict[str, Any] = {"valid_from": record["effective_time"]}
    if withdrawn:
        fields = {"op": "retract", "object_id": _object_of(withdrawn, known)}
        return memory.write(subject, slot, **fields).object_id
    fields["op"] = "correct" if record["corrects_id"] else "assert"
    return memory.write(subject, slot, record["assertion"], **fields).object_id


def _object_of(observation_id: str, known: Mapping[str, str]) -> str:
    return next(object_id for object_id, name in known.items() if name == observation_id)


def _read(memory: Memory, case: Record, known: Mapping[str, str]) -> list[str]:
    """What the slot of the question holds."""
    slot, _, name = case["truth_key"].partition(":")
    subject, slot = name.replace(":", " "), slot.replace("-", "_")
    if slot not in memory.vocabulary.slots():
        return []
    valid, believed = _times(case)
    state = memory.as_of(valid, believed).slot(subject, slot)
    return [known[candidate.object_id] for candidate in state.candidates if state.values]


def totals(failures: Mapping[str, frozenset[str]]) -> tuple[int, int, dict[str, int]]:
    """Questions without a failure, failures, and failures by kind."""
    kinds = Counter(kind for names in failures.values() for kind in names)
    right = sum(not names for names in failures.values())
    return right, sum(kinds.values()), dict(sorted(kinds.items()))
