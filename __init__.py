"""A bitemporal knowledge store for agents, with a context compiler."""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from tenure.compiler.budget.allocate import allocate
    from tenure.compiler.budget.section import Allocation, Section
    from tenure.compiler.envelope.compare import diff_envelopes
    from tenure.compiler.envelope.envelope import Envelope
    from tenure.compiler.format.block import Block
    from tenure.compiler.format.grammar import parse_envelope
    from tenure.compiler.render.media import SentMedia
    from tenure.compiler.request.request import (
        Constraint,
        Evidence,
        Media,
        Tool,
        Turn,
    )
    from tenure.compiler.trace.manifest import Manifest
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
    from tenure.service.backend.times import day
    from tenure.service.client.ablate import ablate
    from tenure.service.client.answer import answer
    from tenure.service.client.async_memory import AsyncMemory, aconnect
    from tenure.service.client.connect import connect
    from tenure.service.client.memory import Memory
    from tenure.service.encoders.encoder import Encoder
    from tenure.service.reading.envelopes import StoredEnvelope
    from tenure.service.reading.view import View
    from tenure.store.port.targets import Cell, Target
    from tenure.store.transfer.artifact_files import ArtifactFiles

_HOME = {
    "compiler.budget.allocate": ("allocate",),
    "compiler.budget.section": ("Allocation", "Section"),
    "compiler.envelope.compare": ("diff_envelopes",),
    "compiler.envelope.envelope": ("Envelope",),
    "compiler.format.block": ("Block",),
    "compiler.format.grammar": ("parse_envelope",),
    "compiler.render.media": ("SentMedia",),
    "compiler.request.request": (
        "Constraint",
        "Evidence",
        "Media",
        "Tool",
        "Turn",
    ),
    "compiler.trace.manifest": ("Manifest",),
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
    "schema.artifact": (
        "Artifact",
        "Original",
    ),
    "schema.context_object": (
        "ContextObject",
        "json_schema",
    ),
    "schema.entity": (
        "EntityRef",
        "Resolution",
    ),
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
    "schema.interval": (
        "Interval",
        "Relation",
    ),
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
    "schema.presets": (
        "preset",
        "role_prompt",
    ),
    "schema.principal": (
        "Principal",
        "Scope",
    ),
    "schema.uncertainty": (
        "allow_unknown",
        "forced_fields",
    ),
    "schema.write": (
        "Receipt",
        "Write",
    ),
    "service.backend.times": ("day",),
    "service.client.ablate": ("ablate",),
    "service.client.answer": ("answer",),
    "service.client.async_memory": (
        "AsyncMemory",
        "aconnect",
    ),
    "service.client.connect": ("connect",),
    "service.client.memory": ("Memory",),
    "service.encoders.encoder": ("Encoder",),
    "service.reading.envelopes": ("StoredEnvelope",),
    "service.reading.view": ("View",),
    "store.port.targets": (
        "Cell",
        "Target",
    ),
    "store.transfer.artifact_files": ("ArtifactFiles",),
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
