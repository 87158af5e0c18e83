"""Why something stayed out of an envelope, and what it lacks, in words for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...schema.compile_terms import GapCode, Reason

_WORDS: Final[Mapping[str, str]] = {
    Reason.NEIGHBOURHOOD_CAP: "further away than the walk around the entities goes",
    Reason.ENTITY_PENDING: "a person is still to decide whom it is about",
    Reason.PERMISSION_DENIED: "this caller may not see it",
    Reason.EXPIRED_VALID_TIME: "true once, not any more",
    Reason.NOT_YET_VALID: "planned: not true yet",
    Reason.SUPERSEDED: "something newer took its place",
    Reason.OVERRIDDEN: "a stronger source says otherwise",
    Reason.DISPUTED_LOWER_TRUST: "a more trusted source says otherwise",
    Reason.DENIED_VALUE: "somebody with authority said that it is not so",
    Reason.DECAYED_BELOW_THRESHOLD: "too old, and never confirmed",
    Reason.RETIRED: "retired",
    Reason.AWAITING_CONFIRMATION: "waits for a confirmation",
    Reason.STALE_DERIVATION: "what it was derived from has changed",
    Reason.ERASED: "erased",
    Reason.CONFLICTING_CLAIM_UNRESOLVED: "two words of equal weight; a person is asked",
    Reason.POLICY_HOLD: "held back by a rule of the policy",
    Reason.INJECTION_SUSPECTED: "it looks like an injected instruction",
    Reason.IRRELEVANT_TO_ACTIVE_TASK: "not for this kind of task",
    Reason.BELOW_FLOOR: "not about the question",
    Reason.PARENT_REMAINDER: "the parts of it that matter are in",
    Reason.DUPLICATE_OF: "something that is in says the same",
    Reason.MERGED_INTO: "told together with something that is in",
    Reason.FIDELITY_REJECTED: "shortening it would have changed what it says",
    Reason.OVER_BUDGET: "worth less than what took its tokens",
    Reason.SECTION_CAP: "its section was full",
    Reason.ITEM_LARGER_THAN_SECTION: "larger than its whole section",
    Reason.SECTION_DROPPED: "its section had no room",
    Reason.RETRIEVAL_DEFERRED: "can be asked for with a tool",
    Reason.NEXT_PAGE: "on the next page",
    Reason.INVALID_ENCODING: "no valid text",
    Reason.PROVENANCE_MISSING: "nobody knows where it comes from",
}

_GAP_WORDS: Final[Mapping[str, str]] = {
    GapCode.NO_VALUE: "nobody has stated it",
    GapCode.DISPUTED_VALUE: "claims of equal weight differ",
    GapCode.UNKNOWN_ENTITY: "nobody of this name is known",
    GapCode.AMBIGUOUS_ENTITY: "the name fits several",
    GapCode.USER_UNSTATED: "nobody says whose wishes count",
    GapCode.EVIDENCE_NEEDED: "this needs evidence",
    GapCode.RETRIEVAL_PENDING: "was deferred, and can be asked for",
    GapCode.ACCEPTANCE_MISSING: "nothing says when the step is done",
    GapCode.ERASED: "was erased",
}


def gap_words(code: str) -> str:
    """A gap as a clause.

    >>> gap_words("ambiguous_entity")
    'the name fits several'
    """
    return _GAP_WORDS[code]


def reason_words(reason: str) -> str:
    """A reason as a clause.

    >>> reason_words("over_budget")
    'worth less than what took its tokens'
    """
    return _WORDS.get(reason, reason.replace("_", " "))
