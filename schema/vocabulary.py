"""The fixed lists of claims, objects and entities: one enum each, used by every surface.

Values are lowercase snake_case unless a source prints them otherwise. A word outside a list
is refused at the edge by `parse`, which names the nearest known words; nothing is guessed.
The lists of the compiler are in `compile_terms`, the lists a tenant may extend in `slots`.
Checklist C-058.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from typing import Final, TypeVar

from .errors import InvalidInput, unknown


class ObjectType(StrEnum):
    """What a context object is (C-015)."""

    PREFERENCE = "preference"
    IDENTITY_FACT = "identity_fact"
    PROJECT_DECISION = "project_decision"
    RETRIEVED_PASSAGE = "retrieved_passage"
    POLICY_RULE = "policy_rule"
    TOOL_SCHEMA = "tool_schema"
    INFERRED_BELIEF = "inferred_belief"
    ACTIONABLE_CONSTRAINT = "actionable_constraint"


class Classification(StrEnum):
    """Security classification, rising; a reader needs a clearance at least as high (C-019)."""

    PUBLIC = "public"
    RESTRICTED = "restricted"
    CONFIDENTIAL = "confidential"
    HIGHLY_RESTRICTED = "highly_restricted"

    @property
    def rank(self) -> int:
        """0 for public up to 3 for highly restricted."""
        return _RANKS[self]


_RANKS: Final = {name: rank for rank, name in enumerate(Classification)}


class Status(StrEnum):
    """The contradiction status of a version row (C-027)."""

    CLEAN = "clean"
    DISPUTED = "disputed"
    OVERRIDDEN = "overridden"
    QUARANTINED = "quarantined"
    ERASED = "erased"
    """Of what an erasure emptied; no row is stored with it."""


class Authority(IntEnum):
    """The five authority levels; the lower number is the stronger (C-043)."""

    PLATFORM = 0
    DEVELOPER = 1
    USER = 2
    INFERRED_MEMORY = 3
    RETRIEVED = 4

    @property
    def trust(self) -> TrustLevel:
        """The trust level that derives from the authority (C-169)."""
        if self <= Authority.DEVELOPER:
            return TrustLevel.TRUSTED
        return TrustLevel.UNTRUSTED if self == Authority.RETRIEVED else TrustLevel.SEMI_TRUSTED

    @property
    def hierarchy(self) -> str:
        """S, D, U or T of source 000; empty for inferred memory, which it lacks (C-142)."""
        return "SDU T"[self].strip()


class TrustLevel(StrEnum):
    """How far text may steer a model (C-169)."""

    TRUSTED = "TRUSTED"
    SEMI_TRUSTED = "SEMI_TRUSTED"
    UNTRUSTED = "UNTRUSTED"


class StateLayer(StrEnum):
    """The nine state layers (C-003); their profiles are in `layers`."""

    SESSION = "session"
    TASK = "task"
    PROJECT = "project"
    USER = "user"
    TENANT = "tenant"
    CORPUS = "corpus"
    TOOL = "tool"
    POLICY = "policy"
    BELIEF = "belief"


class RetirementRule(StrEnum):
    """What the sweep does with an object whose strength fell below its threshold (C-031)."""

    ARCHIVE = "archive"
    HARD_DELETE = "hard_delete"
    DEMOTE_TO_ARCHIVAL = "demote_to_archival"
    TRIGGER_USER_CONFIRMATION = "trigger_user_confirmation"


class Sensitivity(StrEnum):
    """Labels in addition to the classification."""

    PERSONAL = "personal"
    SPECIAL_PERSONAL = "special_personal"
    FINANCIAL = "financial"
    CREDENTIAL = "credential"
    LEGAL_PRIVILEGED = "legal_privileged"
    COMMERCIAL_SECRET = "commercial_secret"


class Op(StrEnum):
    """The verbs of a write."""

    ASSERT = "assert"
    CORRECT = "correct"
    RETRACT = "retract"
    DELETE = "delete"
    DENY = "deny"

    @property
    def withdraws(self) -> bool:
        """Whether the verb withdraws stored claims, and so needs the hidden rows."""
        return self in (Op.CORRECT, Op.RETRACT, Op.DELETE)


class Outcome(StrEnum):
    """What became of a write; when several apply the earliest of the list is reported."""

    QUARANTINED = "quarantined"
    REFUSED = "refused"
    PENDING_REVIEW = "pending_review"
    DISPUTED = "disputed"
    OVERRIDDEN = "overridden"
    CLIPPED = "clipped"
    CONFIRMED = "confirmed"
    ACCEPTED = "accepted"


class ClaimVerdict(StrEnum):
    """How an incoming claim fares against a stored one, seen from the incoming."""

    WINS = "wins"
    LOSES = "loses"
    TIES = "ties"
    CONFIRMS = "confirms"
    APART = "apart"


class SlotStatus(StrEnum):
    """The state of a slot at one point of both axes."""

    CLEAN = "clean"
    DISPUTED = "disputed"
    DENIED = "denied"
    UNKNOWN = "unknown"
    ERASED = "erased"


class Cardinality(StrEnum):
    """Whether two values of a slot exclude each other."""

    ONE = "one"
    MANY = "many"


class Precedence(StrEnum):
    """What the first part of a conflict key is made of."""

    AUTHORITY = "authority"
    SOURCE_RANK = "source_rank"


class ValueType(StrEnum):
    """The type of a slot's value; each has one rule of equality in `values`."""

    STRING = "string"
    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    INSTANT = "instant"
    DATE = "date"
    PARTIAL_DATE = "partial_date"
    ENTITY = "entity"
    JSON = "json"


class SlotKind(StrEnum):
    """The role of a slot; templates, decay and neighbourhood walks use it."""

    ATTRIBUTE = "attribute"
    STATE = "state"
    MEASUREMENT = "measurement"
    IDENTIFIER = "identifier"
    CONTACT = "contact"
    PREFERENCE = "preference"
    DIRECTIVE = "directive"
    DECISION = "decision"
    BELIEF = "belief"
    HIERARCHY = "hierarchy"
    MEMBERSHIP = "membership"
    OWNERSHIP = "ownership"
    DEPENDENCY = "dependency"
    AUTHORSHIP = "authorship"
    LOCATION = "location"
    ASSOCIATION = "association"
    STRUCTURE = "structure"
    """The outline of a document: no search term, no vector, no candidate of a compile."""


class EdgeKind(StrEnum):
    """The edges between claims."""

    SUPERSEDES = "SUPERSEDES"
    OVERRIDES = "OVERRIDES"
    CONFLICTS_WITH = "CONFLICTS_WITH"
    CONFIRMS = "CONFIRMS"
    DERIVED_FROM = "DERIVED_FROM"


class ActionKind(StrEnum):
    """What waits in the resolver queue."""

    SETTLE_TIE = "settle_tie"
    CONFIRM_DUE = "confirm_due"
    REVERIFY_BELIEF = "reverify_belief"
    REGENERATE_SUMMARY = "regenerate_summary"
    REVIEW_QUARANTINE = "review_quarantine"
    RETIRE_APPROVAL = "retire_approval"
    MERGE_CONFLICT = "merge_conflict"
    CONFIRM_DIRECTIVE = "confirm_directive"


class EntityState(StrEnum):
    """The state of an entity in the register (C-053)."""

    ACTIVE = "active"
    PENDING = "pending"
    MERGED = "merged"
    ERASED = "erased"


class Decision(StrEnum):
    """What resolution decides for one mention (C-049)."""

    BIND = "bind"
    REVIEW = "review"
    NEW = "new"


class JudgementVerdict(StrEnum):
    """What a judgement says of two entities."""

    MATCH = "MATCH"
    NON_MATCH = "NON_MATCH"
    UNSURE = "UNSURE"


class JudgedBy(StrEnum):
    """Who judged, by falling strength."""

    HUMAN = "human"
    SYSTEM_OF_RECORD = "system_of_record"
    RULE = "rule"
    MODEL = "model"

    @property
    def strength(self) -> int:
        """3 for a human down to 0 for a model."""
        return len(JudgedBy) - 1 - list(JudgedBy).index(self)


class ReviewState(StrEnum):
    """The state of a review case."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNSURE = "unsure"
    UNDONE = "undone"


class CandidateSource(StrEnum):
    """How a candidate entity was found."""

    IDENTIFIER = "identifier"
    EXACT = "exact"
    ALIAS = "alias"
    SCOPED_REGISTER = "scoped_register"
    NEIGHBOURHOOD = "neighbourhood"
    SESSION = "session"
    BLOCKING = "blocking"


class AttributeKind(StrEnum):
    """How the values of a slot tell two entities apart, or tell that they are one."""

    BIRTH_DATE = "birth_date"
    EMAIL = "email"
    PHONE = "phone"
    HANDLE = "handle"
    """What somebody is called on a platform."""
    DOMAIN = "domain"
    """A name of the web, of which a house has several."""
    PLACE = "place"
    IDENTIFIER = "identifier"
    """A number or code that one register gives out, to one thing alone."""


class Enforcement(StrEnum):
    """How a hard constraint is enforced (C-039)."""

    SCHEMA = "schema"
    GRAMMAR = "grammar"
    PATTERN = "pattern"
    TOOL_POLICY = "tool_policy"
    STATED = "stated"


Word = TypeVar("Word", bound=StrEnum)


def parse(kind: type[Word], word: object) -> Word:
    """The member of a bounded list, or refuse with the nearest known words.

    Raises:
        InvalidInput: `unknown_vocabulary`.
    """
    try:
        # Through the text, so that a member and its word are the same answer.
        return kind(str(word))
    except ValueError:
        prose = "".join(f" {c.lower()}" if c.isupper() else c for c in kind.__name__).strip()
        raise unknown(prose, str(word), (member.value for member in kind)) from None


def parse_level(level: object) -> Authority:
    """The authority level 0 to 4.

    Raises:
        InvalidInput: `unknown_vocabulary`.
    """
    # True is an int in Python; as an authority level it would be the developer's.
    if isinstance(level, int) and not isinstance(level, bool) and 0 <= level <= 4:
        return Authority(level)

    raise InvalidInput(
        f"authority_level {level!r} is no level; give 0 (platform) to 4 (retrieved)",
        code="unknown_vocabulary",
        what="authority_level",
        word=str(level),
    )


ASPECTS: Final = {
    "scope": ("tenant_id", "state_layer", "permission_scope"),
    "source": ("source_origin", "source_kind"),
    "authority": ("authority_level", "source_authority"),
    "lifespan": ("valid_from", "tx_start"),
    "relevance": ("why_it_matters", "applicable_task_types"),
    "update_path": ("update_path",),
    "conflict_policy": ("contradiction_status",),
    "retirement_rule": ("retirement_rule",),
}
"""The eight aspects of tenure (C-001) and the fields that carry them."""


def missing_aspects(draft: Mapping[str, object]) -> tuple[str, ...]:
    """The aspects of tenure that a draft of an object leaves without a value.

    An open start and an empty list of task types are values; null and empty text are not.
    """
    # Null and empty text say nothing; 0, false and an empty list are answers.
    field_names = {name for name, value in draft.items() if value not in (None, "")}
    return tuple(name for name, carriers in ASPECTS.items() if not field_names.issuperset(carriers))
