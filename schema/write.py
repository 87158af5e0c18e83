"""A write as a caller states it, and the receipt it returns.

`Write` is input: nothing in it is trusted until the edge has made a `Draft` of it. `Receipt`
is what every write returns, retried or not: what was stored, what it met, and why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from .claim import Content, Details, Permissions
from .entity import EntityRef, Resolution
from .errors import InvalidInput
from .interval import Interval
from .layers import DecayRule
from .principal import Principal, Scope
from .records import short_repr
from .slots import Slot
from .vocabulary import ClaimVerdict, Op, Outcome

ABSENT: Final = "absent"
"""What a write expects of a slot in which nothing stands yet."""
Moment = str | date | None
"""ISO 8601 text with a zone, a date or an aware datetime, or None."""


RECORD_SCHEME: Final = "record://"
"""How the origin of a record begins: all that one record says of a name is weighed together."""
RESTATE: Final = "restate"
"""The verb of a record that its source states again, with what changed in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write; every field means what the parameter of `Memory.write` means."""

    __repr__ = short_repr

    subject: str | EntityRef | Mapping[str, Any] | None = None
    slot: str | None = None
    value: Any = None
    op: str = "assert"
    valid_from: Moment = None
    valid_until: Moment = None
    object_id: str | None = None
    content: str | None = None
    object_type: str | None = None
    layer: str | None = None
    scope: Scope | Mapping[str, str] | None = None
    source_origin: str = "user://chat"
    source_authority: float | None = None
    confidence: float = 0.8
    authority_level: int | None = None
    why_it_matters: str = ""
    applicable_task_types: Sequence[str] = ()
    behavioral_implication: str | None = None
    security_classification: str | None = None
    sensitivity: Sequence[str] = ()
    allow_roles: Sequence[str] = ()
    deny_roles: Sequence[str] = ()
    decay_rule: DecayRule | Mapping[str, float] | None = None
    retirement_rule: str | None = None
    update_path: str | None = None
    derived_from: Sequence[str] = ()
    planned: bool = False
    enforcement: Mapping[str, Any] | None = None
    idempotency_key: str | None = None
    expected: str | None = None
    """The object whose value is in the slot now, or `ABSENT`; None: whatever is there."""


@dataclass(frozen=True, slots=True)
class Span:
    """A name inside a draft's text, not bound yet."""

    start: int
    """First character."""
    end: int
    """One past the last character."""
    mention: EntityRef | str
    """A mention, or an entity id."""
    stated: bool
    """The caller said so: it may create an entity. What was only found never does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A sanitised write: bounded words, checked times, authority from the channel.

    Only the subject, an entity value and the stamp are still open; resolution and the commit
    fill them in under the tenant's write lock.
    """

    object_id: str
    op: Op
    slot: Slot | None
    slot_key: str | None
    """The stored slot of the object the write addresses instead of subject and slot; then
    `details` already carries its subject and scope."""
    subject: EntityRef | str | None
    """A mention, or an entity id; None for text about nobody."""
    value_key: str
    """The key of the value; empty while an entity value is unbound, and for no value."""
    value_mention: EntityRef | str | None
    """Of a relation: the mention the value names."""
    valid_from: int | None
    """None: the write's own stamp."""
    valid_until: int
    whole_extent: bool
    """Of a retract without an interval: the value's whole live extent."""
    level: int
    """The effective level after the slot's precedence."""
    source_authority: int
    confidence: int
    details: Details
    content: Content
    permissions: Permissions
    quarantine: str
    warnings: tuple[str, ...]
    idempotency_key: str | None
    """The keyed digest of the caller and the key that the caller stated."""
    fingerprint: str
    """SHA-256 of the canonical request, to tell a retry from another body."""
    mentions: tuple[Span, ...] = ()
    """Names inside the text of an observation, in order."""
    plain_key: str | None = None
    """The key as it was stated: stores from before the digest hold it so."""
    expected: str | None = None
    """As in `Write`: the object that must be in the slot, `ABSENT`, or None."""
    restates: bool = False
    """Whether it replaces what its own origin said of the slot with the same start."""


@dataclass(frozen=True, slots=True)
class Submission:
    """The drafts of one write, admitted or refused together under one stamp."""

    drafts: tuple[Draft, ...]
    scopes: frozenset[str]
    """Scope ids whose aliases the writer may use; a draft may use those of its own scope, too."""
    actor: str
    stated_tx: int | None = None
    """Of a replay: the transaction time it recorded."""
    writer: Principal | None = None
    """Whose sight decides what may count as standing around a mention; None: nothing does."""
    has_reader: bool = True
    """Whether somebody reads the receipts: an import only counts them, so that they name nobody."""
    vocabulary: int | None = None
    """The version that the drafts were made with; None: whichever is the newest."""
    record: tuple[Draft, ...] = ()
    """All drafts of the record that this write is a part of: their evidence counts for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationMet:
    """A stored claim that the write met."""

    __repr__ = short_repr

    object_id: str
    relation: str
    """Allen relation, "stored *relation* incoming"."""
    verdict: ClaimVerdict
    """Seen from the incoming claim."""
    reason: str
    interval: Interval
    """Where the two meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a write did."""

    __repr__ = short_repr

    object_id: str
    tx: datetime
    """The stamp; of a dry run the stamp it would have had at the earliest."""
    outcome: Outcome
    replayed: bool = False
    """A retry: this is the first receipt."""
    dry_run: bool = False
    entity: str | None = None
    """Canonical id of the subject."""
    resolution: Resolution | None = None
    relations: tuple[RelationMet, ...] = ()
    superseded: tuple[str, ...] = ()
    """Objects that lost ground to this write, in order of meeting."""
    inserted: int = 0
    """Version rows opened by this write."""
    actions: tuple[str, ...] = ()
    reviews: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    detail: str = ""
    """A sentence for a person; empty when the outcome says all."""


def check_start(draft: Draft, stamp_us: int) -> None:
    """Refuse a draft that ends before its transaction time and states no start.

    Without a start a claim holds from its transaction time on; that of a constant slot always did.

    Raises:
        InvalidInput: `start_missing`.
    """
    is_constant = draft.slot is not None and draft.slot.constant
    if draft.valid_from is not None or draft.valid_until > stamp_us:
        return
    if not is_constant or draft.op in (Op.RETRACT, Op.DELETE):
        raise InvalidInput(
            "valid_until lies in the past and no start is stated; state valid_from, or -infinity "
            "for an unknown start",
            code="start_missing",
            field="valid_from",
        )
