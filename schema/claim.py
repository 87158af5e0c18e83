"""Claims and the rows of a timeline: what reconciliation compares and what stores hold.

A `Claim` is an immutable assertion about a slot; a `Row` is a piece of one, with both
intervals and how it looks. A row never changes but for one closing of its transaction end.
What erasure must be able to empty stands apart in `Content`, what never changes in `Details`,
and permissions, which belong to the object and change by `reclassify`, in `Permissions`.
Checklist C-014 to C-031.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from .interval import ALL_TIME, INF_US, Interval
from .layers import DecayRule
from .principal import EVERYONE_TAG, Principal, Scope, Sight
from .records import short_repr
from .values import NO_VALUE_KEY, moment, stated_span
from .vocabulary import (
    Authority,
    Classification,
    EdgeKind,
    ObjectType,
    Op,
    RetirementRule,
    Sensitivity,
    StateLayer,
    Status,
)

_PERSONAL: Final = frozenset({Sensitivity.PERSONAL, Sensitivity.SPECIAL_PERSONAL})

_LONGEST_MONTH_US: Final = 32 * 86_400_000_000
"""A month in which the clocks were set back has more than its days."""

FULL_TRUST: Final = 1000
"""Trust or confidence without a doubt, in thousandths."""


class Key(NamedTuple):
    """What competes at an instant; the greatest is shown. Integers only."""

    strength: int
    """Minus the effective level."""
    since_us: int
    """The claim's asserted valid_from: newer is stronger."""
    source_authority: int
    """In thousandths."""
    confidence: int
    """In thousandths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An immutable assertion, as reconciliation sees it."""

    object_id: str
    slot_key: str
    """The slot under the subject as observed; merged entities have several."""
    op: Op
    value_key: str
    """Equal exactly for equal values; empty for no value. Of a `delete`: empty, or on a slot
    of cardinality `many` the one value that it names."""
    interval: Interval
    """The asserted valid interval."""
    since_us: int
    """The valid_from that enters the key: the asserted one, or that of a retired claim."""
    level: int
    """The effective level: lower is stronger."""
    source_authority: int
    confidence: int
    tx: int
    ordinal: int
    """Place among the claims of one stamp."""
    target: str | None = None
    """Of a withdrawal: the one claim it acts on; None: every claim that its verb names."""

    @property
    def key(self) -> Key:
        """The conflict key."""
        # Compared field by field as a tuple: level first, then recency, then trust.
        return Key(-self.level, self.since_us, self.source_authority, self.confidence)

    @property
    def says_nothing(self) -> bool:
        """Whether the claim is a gap: "no value"."""
        return self.value_key == NO_VALUE_KEY

    @property
    def says(self) -> tuple[bool, str]:
        """Whether the claim denies, and what: equal for claims that say the same."""
        return self.op is Op.DENY, self.value_key

    @property
    def order(self) -> tuple[int, int]:
        """The place in the order of writing."""
        return self.tx, self.ordinal


class Look(NamedTuple):
    """How a row looks: its status, the machine-readable reason, and whether it decides."""

    status: Status
    reason: str
    head: bool


CLEAN_HEAD: Final = Look(Status.CLEAN, "", True)


@dataclass(frozen=True, slots=True)
class Row:
    """A version row: a piece of a claim on both axes."""

    vid: int
    """The row's number in its tenant, rising in the order of writing; 0 before it has one."""
    claim: Claim
    interval: Interval
    """The valid interval of this piece."""
    look: Look
    tx_start: int
    tx_end: int = INF_US
    continues: int | None = None
    """The vid of the row this remainder was cut from."""

    @property
    def live(self) -> bool:
        """Whether the row is open in transaction time."""
        return self.tx_end == INF_US

    @property
    def row_key(self) -> tuple[str, Interval, Look]:
        """What makes two rows of a slot the same row."""
        return self.claim.object_id, self.interval, self.look


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """Who may see an object, today."""

    __repr__ = short_repr

    classification: Classification = Classification.PUBLIC
    allow: tuple[str, ...] = (EVERYONE_TAG,)
    """Roles, sorted; `*` for everyone; never empty."""
    deny: tuple[str, ...] = ()
    """Roles, sorted; wins over `allow`."""

    def admits(self, sight: Sight) -> bool:
        """Whether a caller may see the object, wherever it stands."""
        return sight.may_see(
            classification=self.classification.rank, allow=self.allow, deny=self.deny
        )

    def is_within(self, outer: Permissions) -> bool:
        """Whether whoever is admitted here is admitted by others, too.

        >>> Permissions(allow=("hr",)).is_within(EVERYONE), EVERYONE.is_within(EVERYONE)
        (True, True)
        >>> EVERYONE.is_within(Permissions(allow=("hr",)))
        False
        """
        is_cleared = self.classification.rank >= outer.classification.rank
        is_allowed = EVERYONE_TAG in outer.allow or set(self.allow) <= set(outer.allow)
        return is_cleared and is_allowed and set(outer.deny) <= set(self.deny)


EVERYONE: Final = Permissions()
"""Nothing is kept from anybody of the scope."""


@dataclass(frozen=True, slots=True)
class Authorship:
    """Who wrote a claim, as far as that decides whom the claim may instruct.

    It is set once, at the write. A person who later accepts or settles the claim does not
    become its writer, and a copy keeps the writer of its original.
    """

    user: str | None = None
    session: str | None = None
    directs: bool = False
    """Whether the writer held a level of 0 or 1, or a directive role, at that time."""


UNKNOWN_AUTHOR: Final = Authorship()
"""Nobody: what such a claim says is data for everyone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """What a claim says about itself and erasure leaves: ids, provenance, tenure."""

    scope: Scope
    slot: str | None
    """The slot's name; None for text that asserts no slot."""
    subject_id: str | None
    """The raw entity id the mention was bound to."""
    value_entity_id: str | None
    """Of a relation: the raw entity id of the value."""
    authority_level: Authority
    source_origin: str
    source_kind: str
    object_type: ObjectType
    layer: StateLayer
    applicable_task_types: tuple[str, ...]
    sensitivity: tuple[Sensitivity, ...]
    decay_rule: DecayRule | None
    retirement_rule: RetirementRule
    update_path: str
    derived_from: tuple[str, ...]
    origins: tuple[str, ...]
    """Every origin the object rests on, sorted: its own, and those of its sources."""
    planned: bool
    actor: str
    """Who wrote it: the user, else the tenant's service."""
    resolved_via: str
    """How the subject was bound: the resolution's reason, or empty."""
    authorship: Authorship = UNKNOWN_AUTHOR
    certain_us: int | None = None
    """The end of the month or year that was stated as the start. From this instant on the claim
    holds for certain, before it possibly. None for a start that is an instant."""

    @property
    def directs(self) -> bool:
        """Whether it was written at a level of 0 or 1, or by a directive role."""
        return self.authority_level <= Authority.DEVELOPER or self.authorship.directs

    @property
    def is_of_record(self) -> bool:
        """Whether a granted system of record stated it."""
        return self.source_kind == "system_of_record"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What erasure empties."""

    value_json: str
    """Canonical JSON of the value; `null` for none."""
    text: str
    """The raw content, verbatim (ladder level 0)."""
    normalized_claim: str
    why_it_matters: str
    behavioral_implication: str | None
    enforcement: str | None
    """Canonical JSON of {kind, spec} of a hard constraint."""
    terms: str
    """Search terms of text, claim and value, joined by spaces."""


EMPTY_CONTENT: Final = Content(
    value_json="null",
    text="",
    normalized_claim="",
    why_it_matters="",
    behavioral_implication=None,
    enforcement=None,
    terms="",
)
"""What erasure leaves of a content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """A whole claim as it is stored."""

    claim: Claim
    details: Details
    content: Content
    permissions: Permissions
    quarantine: str = ""
    """`policy_hold` or `injection_suspected` for a claim that never competes."""
    erased: bool = False
    """Whether the content was emptied by an erasure; then `content` is `EMPTY_CONTENT`."""

    def is_visible(self, sight: Sight) -> bool:
        """Whether a caller may see it, by its scope and its permissions of today."""
        return self.details.scope.scope_id in sight.scopes and self.permissions.admits(sight)


@dataclass(frozen=True, slots=True)
class Version:
    """A row as a read returns it: permissions applied, erasure respected."""

    row: Row
    details: Details
    content: Content | None
    """None when the content was erased or the caller may not see it."""
    permissions: Permissions
    visible: bool
    erased: bool = False
    last_confirmed_us: int | None = None
    """tx of the last confirmation known at the view's tx."""
    demoted: bool = False
    """In the archival tier: no candidate unless asked for."""
    stale: bool = False
    """A source it was derived from has changed since (C-098)."""
    confirm_due: bool = False
    """Waits for a confirmation; kept out of envelopes."""
    signature: str = ""
    """The store's signature of (object id, scope), `schema.signing`; the gate checks it."""
    turn: int = 0
    """Its number among the turns of its scope, from 1 in the order of writing; 0 for no turn."""

    @property
    def precision(self) -> str:
        """`year` or `month` where the piece begins in one that was stated; empty otherwise."""
        certain_us, start_us = self.details.certain_us, self.row.interval.start_us
        if certain_us is None or start_us != self.row.claim.interval.start_us:
            return ""
        return "year" if certain_us - start_us > _LONGEST_MONTH_US else "month"

    @property
    def stated_start(self) -> str:
        """The year or month in which the piece begins, such as `1994-10`; else empty."""
        start, precision = moment(self.row.interval.start_us), self.precision
        return stated_span(start, precision) if start and precision else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """An edge between two claims, or from a claim to the claim it was derived from."""

    kind: EdgeKind
    src: str
    """object_id of the newer, the winner, the confirming or the derived claim."""
    dst: str
    interval: Interval = ALL_TIME
    """The valid interval on which the edge holds."""
    reason: str = ""
    relation: str = ""
    """Allen relation, "stored *relation* incoming"; empty where none applies."""
    tx: int
    merge_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionLink:
    """A span of an object's text that names an entity: what an observation is linked by.

    It holds ids and offsets, no words, so an erasure leaves it as it leaves a subject.
    """

    object_id: str
    entity_id: str
    """The raw entity id the mention was bound to; a merge never changes it."""
    start: int
    """First character of the name in the text."""
    end: int
    """One past the last character."""


def is_turn(details: Details) -> bool:
    """Tell whether an object is what somebody said, observed in a user's or session's layer."""
    spoken = details.layer in (StateLayer.USER, StateLayer.SESSION)
    return spoken and details.slot is None and details.object_type is ObjectType.RETRIEVED_PASSAGE


def is_personal(details: Details) -> bool:
    """Tell whether an object is labelled as personal data."""
    return bool(details.sensitivity) and not _PERSONAL.isdisjoint(details.sensitivity)


def masked_for(principal: Principal, details: Details, *, roles: Iterable[str]) -> bool:
    """Tell whether personal data is hidden from a caller who holds none of the roles.

    Whose own scope it is in sees it. Whom it is about is a question of identity, which is
    not asked here.
    """
    if not is_personal(details):
        return False
    if principal.user is not None and details.scope.user == principal.user:
        return False
    return frozenset(roles).isdisjoint({EVERYONE_TAG, *principal.roles})


def milli(share: float) -> int:
    """A share of 0 to 1 in whole thousandths, so that no float decides.

    >>> milli(0.8), milli(0.0005)
    (800, 0)
    """
    return round(1000 * share)


def slot_key(subject_id: str, slot: str, scope_id: str) -> str:
    """The key of a slot: ids only, never names."""
    return f"{subject_id}/{slot}/{scope_id}"


def text_key(object_id: str) -> str:
    """The slot key of text that asserts no slot: each object is a slot of its own."""
    return f"text:{object_id}"
