"""A bitemporal knowledge store for agents, with a context compiler."""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from tenure.compiler.allocate import Allocation, allocate
    from tenure.compiler.block import Block
    from tenure.compiler.differences import diff_envelopes
    from tenure.compiler.envelope import Envelope
    from tenure.compiler.grammar import parse_envelope
    from tenure.compiler.manifest import Manifest
    from tenure.compiler.media_sent import SentMedia
    from tenure.compiler.request import Constraint, Evidence, Media, Tool, Turn
    from tenure.compiler.sections import Section
    from tenure.schema.answers import (
        Action,
        Change,
        EntityView,
        Explanation,
        HistoryRow,
        Neighbourhood,
        SearchHit,
        SearchResult,
        Segment,
        SlotState,
    )
    from tenure.schema.artifact import Artifact, Original
    from tenure.schema.context_object import ContextObject, json_schema
    from tenure.schema.entity import EntityRef, Resolution
    from tenure.schema.errors import (
        Conflict,
        ContextBudgetExhausted,
        Fault,
        Forbidden,
        InvalidInput,
        NotFound,
        TenureError,
        Unavailable,
    )
    from tenure.schema.interval import Interval, Relation
    from tenure.schema.layers import DecayRule
    from tenure.schema.operation import (
        ActionReceipt,
        ErasureReceipt,
        MergeReceipt,
        ReclassifyReceipt,
        ReviewReceipt,
        SweepReceipt,
        UnmergeReceipt,
    )
    from tenure.schema.policy import Policy
    from tenure.schema.presets import preset, role_prompt
    from tenure.schema.principal import Principal, Scope
    from tenure.schema.uncertainty import allow_unknown, forced_fields
    from tenure.schema.write import Receipt, Write
    from tenure.service.answering import answer
    from tenure.service.async_memory import AsyncMemory, aconnect
    from tenure.service.comparing import ablate
    from tenure.service.connect import connect
    from tenure.service.encoders import Encoder
    from tenure.service.envelopes import StoredEnvelope
    from tenure.service.memory import Memory
    from tenure.service.times import day
    from tenure.service.view import View
    from tenure.store.artifact_files import ArtifactFiles
    from tenure.store.targets import Cell, Target

_HOME = {
    "compiler.allocate": ("Allocation", "allocate"),
    "compiler.block": ("Block",),
    "compiler.differences": ("diff_envelopes",),
    "compiler.envelope": ("Envelope",),
    "compiler.grammar": ("parse_envelope",),
    "compiler.manifest": ("Manifest",),
    "compiler.media_sent": ("SentMedia",),
    "compiler.request": ("Constraint", "Evidence", "Media", "Tool", "Turn"),
    "compiler.sections": ("Section",),
    "schema.answers": (
        "Action",
        "Change",
        "EntityView",
        "Explanation",
        "HistoryRow",
        "Neighbourhood",
        "SearchHit",
        "SearchResult",
        "Segment",
        "SlotState",
    ),
    "schema.artifact": ("Artifact", "Original"),
    "schema.context_object": ("ContextObject", "json_schema"),
    "schema.entity": ("EntityRef", "Resolution"),
    "schema.errors": (
        "Conflict",
        "ContextBudgetExhausted",
        "Fault",
        "Forbidden",
        "InvalidInput",
        "NotFound",
        "TenureError",
        "Unavailable",
    ),
    "schema.interval": ("Interval", "Relation"),
    "schema.layers": ("DecayRule",),
    "schema.operation": (
        "ActionReceipt",
        "ErasureReceipt",
        "MergeReceipt",
        "ReclassifyReceipt",
        "ReviewReceipt",
        "SweepReceipt",
        "UnmergeReceipt",
    ),
    "schema.policy": ("Policy",),
    "schema.presets": ("preset", "role_prompt"),
    "schema.principal": ("Principal", "Scope"),
    "schema.uncertainty": ("allow_unknown", "forced_fields"),
    "schema.write": ("Receipt", "Write"),
    "service.answering": ("answer",),
    "service.async_memory": ("AsyncMemory", "aconnect"),
    "service.comparing": ("ablate",),
    "service.connect": ("connect",),
    "service.encoders": ("Encoder",),
    "service.envelopes": ("StoredEnvelope",),
    "service.memory": ("Memory",),
    "service.times": ("day",),
    "service.view": ("View",),
    "store.artifact_files": ("ArtifactFiles",),
    "store.targets": ("Cell", "Target"),
}
_WHERE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Action",
    "ActionReceipt",
    "Allocation",
    "Artifact",
    "ArtifactFiles",
    "AsyncMemory",
    "Block",
    "Cell",
    "Change",
    "Conflict",
    "Constraint",
    "ContextBudgetExhausted",
    "ContextObject",
    "DecayRule",
    "Encoder",
    "EntityRef",
    "EntityView",
    "Envelope",
    "ErasureReceipt",
    "Evidence",
    "Explanation",
    "Fault",
    "Forbidden",
    "HistoryRow",
    "Interval",
    "InvalidInput",
    "Manifest",
    "Media",
    "Memory",
    "MergeReceipt",
    "Neighbourhood",
    "NotFound",
    "Original",
    "Policy",
    "Principal",
    "Receipt",
    "ReclassifyReceipt",
    "Relation",
    "Resolution",
    "ReviewReceipt",
    "Scope",
    "SearchHit",
    "SearchResult",
    "Section",
    "Segment",
    "SentMedia",
    "SlotState",
    "StoredEnvelope",
    "SweepReceipt",
    "Target",
    "TenureError",
    "Tool",
    "Turn",
    "Unavailable",
    "UnmergeReceipt",
    "View",
    "Write",
    "ablate",
    "aconnect",
    "allocate",
    "allow_unknown",
    "answer",
    "connect",
    "day",
    "diff_envelopes",
    "forced_fields",
    "json_schema",
    "parse_envelope",
    "preset",
    "role_prompt",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: `import tenure` costs nothing."""
    if name not in _WHERE:
        raise AttributeError(f"module 'tenure' has no attribute {name!r}")
    found = globals()[name] = getattr(_importlib.import_module(f"tenure.{_WHERE[name]}"), name)
    return found


def __dir__() -> list[str]:
    return [*__all__]
