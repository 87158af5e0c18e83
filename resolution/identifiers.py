"""Identifiers: what a stated one proves, in which form it is compared, and what a write teaches.

A scheme that a policy registers as an e-mail address, phone, handle, domain or place is *soft*:
an entity has any number of values, and an equal one is evidence in addition to a name. Every other
scheme is *hard*: it gives an entity one value, which decides, and another one excludes. A *filler*
such as `n/a` or `000000` identifies no entity in any scheme; it is left out, and the receipt says
so.

Values are compared in the form of their kind. The spelling is stored as it was given; where its
form differs, a row of a scheme with `FORM_MARK` makes the form findable. Callers, projects and
documents are named exactly, since two ids that differ in a sign are two. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from ..schema.claim import Permissions
from ..schema.entity import (
    SUGGESTION,
    Entity,
    EntityCandidate,
    EntityRef,
    Feature,
    Identifier,
    Resolution,
)
from ..schema.errors import InvalidInput
from ..schema.policy import ResolutionPolicy
from ..schema.principal import TENANT_SCOPE, Scope
from ..schema.slots import BUILT_IN_SLOTS, compatible
from ..schema.vocabulary import AttributeKind, CandidateSource, EntityState
from .keys import MentionOrId, alias_key, as_ref, is_id
from .known import Lookup
from .lexicon import lexicon
from .register import FORM_MARK, Register, Rules
from .vetoes import COMPARATORS, plain_identifier

USER_SCHEME: Final = "user"
"""The scheme of the ids by which callers are known to the store."""
FILLER_WARNING: Final = "filler_identifier"
"""The warning of a write that states a value which identifies no entity."""
Schemes = tuple[tuple[str, str], ...]
"""(scheme, kind) pairs, as a policy registers them."""

DEFAULT_SCHEMES: Final = ResolutionPolicy().attributes
_ADDRESS: Final = ("address", AttributeKind.PLACE.value)
_KEYS: Final = ("record", "transcript", "task")
"""Schemes of keys that tenure itself makes, where every sign counts: `n/a-b` is not `n/ab`."""
_EXACT: Final = frozenset((USER_SCHEME, "owner", "project", "tenant", "doc", *_KEYS))
_RUN_FROM: Final = 6
"""Characters from which one character repeated, or a plain run, is no register's number: 7 and 123
are record numbers, 000000 and 123456 are typed to fill a field."""
_NAMED_TYPES: Final = ("person", "organization")
_SHORT_NAME: Final = 3
"""A filler word of at most so many letters may be the name of a person."""
UNLIKE_NAME: Final = "unlike_name"
"""The reason of a question about an identifier whose holder has a wholly unlike name."""
SHARED_FROM: Final = 3
"""Holders of unlike names from which a soft value is a house's, and tells nothing."""
BUILT_IN_CONSTANTS: Final = frozenset(
    slot.name for slot in BUILT_IN_SLOTS.values() if slot.constant
)
CONTRADICTED_FROM: Final = 2
"""So many things against a pair make it a suggestion. A single one makes it a question."""
CONSTANT_WEIGHT: Final = 3.0
"""Log-odds that an equal birth date, or another value that cannot change, adds to a name."""
_ISO_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOST: Final = 5
"""Excluded entities that a resolution shows."""

SOFT_WEIGHTS: Final = {
    AttributeKind.EMAIL: 6.0,
    AttributeKind.PHONE: 4.0,
    AttributeKind.HANDLE: 4.0,
    AttributeKind.DOMAIN: 2.0,
    AttributeKind.PLACE: 2.0,
}
"""Log-odds that one value in common adds to a name; priors, as of attributes."""


class StatedIdentifier(NamedTuple):
    """An identifier of a mention that may identify, with what it proves."""

    scheme: str
    value: str
    """As it was given."""
    form: str
    """In which it is compared; empty for a soft value that says nothing, as an extension."""
    kind: AttributeKind | None
    """Of a soft scheme; None where the value decides."""

    @property
    def is_single(self) -> bool:
        """Whether an entity has one value, so that another one excludes."""
        return self.kind is None

    @property
    def weight(self) -> float:
        """What a soft value adds to a name, where few have it."""
        if self.kind is None or not self.form or is_role_mailbox(self.form):
            return 0.0
        return SOFT_WEIGHTS[self.kind]

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The (scheme, value) pairs under which holders are found."""
        forms = (
            (self.scheme, self.value),
            (self.scheme, self.form),
            (FORM_MARK + self.scheme, self.form),
        )
        return tuple(dict.fromkeys(pair for pair in forms if pair[1]))


def stated_identifiers(
    ref: EntityRef, schemes: Schemes = DEFAULT_SCHEMES
) -> tuple[StatedIdentifier, ...]:
    """The identifiers of a mention that may identify it, by scheme.

    >>> ref = EntityRef(name="Jo", external_ids={"badge": "A-17", "tax": "n/a"})
    >>> [(row.scheme, row.form) for row in stated_identifiers(ref)]
    [('badge', 'a17')]
    """
    if not ref.external_ids:
        return ()
    return _read(tuple(sorted(ref.external_ids.items())), schemes)


def is_exact(scheme: str) -> bool:
    """Whether a scheme names what the store itself tells apart by the exact id."""
    return scheme in _EXACT


def has_filler(ref: EntityRef, schemes: Schemes = DEFAULT_SCHEMES) -> bool:
    """Whether a mention states a value that identifies no entity."""
    return len(stated_identifiers(ref, schemes)) < len(ref.external_ids)


@lru_cache(maxsize=512)
def _read(pairs: tuple[tuple[str, str], ...], schemes: Schemes) -> tuple[StatedIdentifier, ...]:
    rows: list[StatedIdentifier] = []
    kinds = dict((_ADDRESS, *schemes)).items()
    soft = {scheme: AttributeKind(kind) for scheme, kind in kinds if kind in SOFT_WEIGHTS}
    for scheme, value in pairs:
        kind = soft.get(scheme)
        if scheme in _EXACT or not _is_filler(value, kind):
            rows.append(StatedIdentifier(scheme, value, _form(scheme, value, kind), kind))
    return tuple(rows)


def _form(scheme: str, value: str, kind: AttributeKind | None) -> str:
    if scheme in _EXACT:
        return value
    return COMPARATORS[kind].form_of(value) if kind else plain_identifier(value)


def _is_filler(value: str, kind: AttributeKind | None) -> bool:
    """Whether a value was only typed to fill a field.

    >>> [_is_filler(text, None) for text in ("N/A", "-", "000000", "123456", "7", "111")]
    [True, True, True, True, False, False]
    """
    signs = plain_identifier(value)
    mailbox, fillers = plain_identifier(value.partition("@")[0]), lexicon().fillers
    if not signs or signs in fillers or (kind is AttributeKind.EMAIL and mailbox in fillers):
        return True
    if kind is None and len(signs) < _RUN_FROM:
        return False
    return len(signs) < 2 or len(set(signs)) == 1 or _is_run(signs)


def check_named(refs: Iterable[EntityRef]) -> None:
    """Refuse a person or organization that only a placeholder names: all rows with it would be one.

    A short word such as "Nan" may be a name; `n/a` is none.

    Raises:
        InvalidInput: `bad_name`.
    """
    for ref in refs:
        if ref.type not in _NAMED_TYPES:
            continue
        signs = "".join(filter(str.isalnum, ref.name.casefold()))
        is_word = len(signs) > _SHORT_NAME or not ref.name.isalnum()
        is_filler = not signs or (is_word and signs in lexicon().fillers)
        if is_filler and not stated_identifiers(ref):
            raise InvalidInput(
                f"{ref.name!r} names no {ref.type}; give a name or an identifier (external_ids), "
                "or leave this fact out",
                code="bad_name",
            )


def _is_run(signs: str) -> bool:
    steps = {ord(after) - ord(before) for before, after in pairwise(signs)}
    # "1234567890" goes on from nine to nought.
    return len(signs) > 2 and (steps <= {1, -9} or steps <= {-1, 9})


def is_role_mailbox(address: str) -> bool:
    """Whether a text is the e-mail address of an office, such as `info@mill.example`."""
    mailbox, sign, _ = address.partition("@")
    if not sign:
        return False
    mailbox = mailbox.replace("-", ".").replace("_", ".").replace("+", ".")
    return not lexicon().mailboxes.isdisjoint((mailbox.partition(".")[0], mailbox.replace(".", "")))


def excluding_schemes(
    ref: EntityRef, entity_id: str, known: Register, rules: Rules
) -> tuple[str, ...]:
    """The schemes of one value under which a mention and an entity have different ones."""
    stated_rows = stated_identifiers(ref, rules.bands.attributes)
    if not any(row.is_single for row in stated_rows):
        return ()

    stored_values = known.held(entity_id, rules.identifier_test(known))
    schemes: list[str] = []
    for row in stated_rows:
        if not row.is_single or row.scheme not in stored_values:
            continue
        stored_refs = stored_values[row.scheme]
        forms = {_form(row.scheme, value, None) for value in stored_refs}
        fillers = [value for value in stored_refs if _is_filler(value, None)]
        if row.form not in forms and len(fillers) < len(stored_refs):
            schemes.append(row.scheme)
    return tuple(schemes)


@dataclass(frozen=True, slots=True)
class Lesson:
    """A write, as far as it teaches names and identifiers."""

    object_id: str
    scope: Scope
    permissions: Permissions
    tx: int
    vouches: bool = False
    """Whether it may say of other_candidates who they are."""


def fresh_identifiers(
    ref: EntityRef, entity_id: str, lesson: Lesson, known: Register, rules: Rules
) -> list[Identifier]:
    """The identifiers of a mention that its entity lacks for the readers of a write.

    Where a scheme gives one value, the first one stays; a second e-mail address is added. Any
    reader of the write knows the identifier, so one that is known in a narrow scope, or to few, is
    stored again by a write of a wider one.
    """
    excluded_schemes = excluding_schemes(ref, entity_id, known, rules)
    identifiers: list[Identifier] = []
    for row in stated_identifiers(ref, rules.bands.attributes):
        scope_id = identifier_scope(row.scheme, row.value, lesson.scope).scope_id
        if row.scheme in excluded_schemes or _is_known(row, entity_id, scope_id, lesson, known):
            continue
        spellings = [(row.scheme, row.value)]
        if row.form and row.form != row.value:
            spellings.append((FORM_MARK + row.scheme, row.form))
        for scheme, value in spellings:
            identifier = Identifier(
                entity_id=entity_id,
                scheme=scheme,
                value=value,
                tx_start=lesson.tx,
                scope_id=scope_id,
                object_id=lesson.object_id,
            )
            identifiers.append(identifier)
    return identifiers


def identifier_scope(scheme: str, value: str, scope: Scope) -> Scope:
    """Where an identifier is known that a write of a scope has stated.

    Who a user is, that user knows in every session and project of theirs.

    >>> identifier_scope("user", "ann", Scope(user="ann", session="s1")).scope_id
    'user=ann'
    >>> identifier_scope("email", "sam@acme.example", Scope(session="s1")).scope_id
    'session=s1'
    """
    is_own = scheme == USER_SCHEME and value == scope.user
    return Scope(user=scope.user) if is_own else scope


def _is_known(
    row: StatedIdentifier, entity_id: str, scope_id: str, lesson: Lesson, known: Register
) -> bool:
    """Whether all who may read the write know the identifier already, as surely as it says so."""
    reach = {scope_id, TENANT_SCOPE.scope_id}
    for stored_row in known.identifiers_of(entity_id):
        if (stored_row.scheme, stored_row.value) not in row.pairs:
            continue
        restriction = known.restriction(stored_row.object_id)
        is_open = restriction is None or lesson.permissions.is_within(restriction.permissions)
        is_as_sure = not lesson.vouches or known.is_vouched(stored_row.object_id)
        if is_open and is_as_sure and stored_row.scope_id in reach:
            return True
    return False


def holders_of(row: StatedIdentifier, known: Register, rules: Rules) -> dict[str, str]:
    """The entities that hold a stated identifier, as far as it counts: a raw id by canonical id."""
    shows = rules.identifier_test(known)
    roots: dict[str, str] = {}
    for raw in known.owners(row.pairs, shows):
        roots.setdefault(known.root(raw), raw)
    return roots


def lookup_of(mentions: Iterable[MentionOrId], schemes: Schemes = DEFAULT_SCHEMES) -> Lookup:
    """Everything that binding these mentions by id, identifier or alias may need."""
    ids: set[str] = set()
    identifiers: set[tuple[str, str]] = set()
    norms: set[str] = set()
    for mention in mentions:
        if isinstance(mention, str) and is_id(mention):
            ids.add(mention)
            continue
        ref = as_ref(mention)
        norms.update(map(alias_key, (ref.name, *ref.aliases)))
        for row in stated_identifiers(ref, schemes):
            identifiers.update(row.pairs)

    return Lookup(
        identifiers=tuple(sorted(identifiers)),
        norms=tuple(sorted(norms)),
        entity_ids=tuple(sorted(ids)),
    )


class Weighed(NamedTuple):
    """What a write says of a mention apart from its name, against what an entity has stored."""

    agrees: tuple[Feature, ...] = ()
    differs: tuple[Feature, ...] = ()
    near: tuple[Feature, ...] = ()
    """Values that may be one value with a slip."""
    unshared: tuple[Feature, ...] = ()
    """The kinds of contact, and places, that both sides state without one in common."""
    is_stated: bool = False
    """Whether both sides say anything at all."""

    @property
    def is_contradicted(self) -> bool:
        """Whether two things speak against a person and none speaks for them.

        One contact or place changes in a life; who shares none of two is most likely a namesake.
        """
        return not self.agrees and len(self.unshared) >= CONTRADICTED_FROM


def weigh(ref: EntityRef, root: str, known: Register, rules: Rules) -> Weighed:
    """Compare what cannot change and the contacts of a mention with those of an entity."""
    stated_rows = [
        row for row in stated_identifiers(ref, rules.bands.attributes) if not is_exact(row.scheme)
    ]
    if not (rules.evidence or stated_rows):
        return Weighed()

    facts: Mapping[str, frozenset[str]] = rules.stored.constants(root) if rules.stored else {}
    lines: dict[str, list[Feature]] = {"agrees": [], "differs": [], "near": [], "unshared": []}
    places = place_slots(rules.bands)
    for slot, key in sorted(rules.evidence.items()):
        stored_keys = sorted(facts.get(slot, ()))
        if not stored_keys:
            continue
        kind = "agrees" if key in stored_keys else "differs"
        if slot in places:
            place = COMPARATORS[AttributeKind.PLACE].form_of
            # That two live in one town says little; many do.
            if place(key[2:]) in {place(other_key[2:]) for other_key in stored_keys}:
                continue
            kind = "unshared"
        elif kind == "differs" and any(_is_slip(key, other_key) for other_key in stored_keys):
            kind = "near"
        weight = CONSTANT_WEIGHT if kind == "agrees" else 0.0
        detail = f"{'equal' if weight else 'differing'}: {key[2:]!r} / {stored_keys[0][2:]!r}"
        lines[kind].append(Feature(slot, float(bool(weight)), weight, detail))

    held_schemes = known.held(root, rules.identifier_test(known))
    for row in stated_rows:
        holders = holders_of(row, known, rules) if row.weight else {}
        if root in holders and len(holders) <= SHARED_FROM:
            lines["agrees"].append(Feature(row.scheme, 1.0, 0.0, f"equal: {row.value!r}"))
        elif row.weight and held_schemes.get(row.scheme) and root not in holders:
            detail = f"differing: {row.value!r} / {held_schemes[row.scheme][0]!r}"
            lines["unshared"].append(Feature(row.scheme, 0.0, 0.0, detail))
    has_constants = not facts.keys() <= places
    is_known = has_constants or lines["unshared"] or not all(map(is_exact, held_schemes))
    return Weighed(
        **{kind: tuple(features) for kind, features in lines.items()},
        is_stated=bool(is_known) and rules.stored is not None,
    )


def place_slots(bands: ResolutionPolicy) -> frozenset[str]:
    """The slots that a policy compares as places."""
    return frozenset([name for name, kind in bands.attributes if kind == AttributeKind.PLACE])


def _is_slip(left: str, right: str) -> bool:
    """Whether two dates differ by one digit, or by day and month exchanged.

    >>> _is_slip("s:1961-02-17", "s:1961-02-11"), _is_slip("s:1961-02-03", "s:1961-03-02")
    (True, True)
    >>> _is_slip("s:1961-02-17", "s:1994-10-05")
    False
    """
    if not (_ISO_DAY.fullmatch(left[2:]) and _ISO_DAY.fullmatch(right[2:])):
        return False
    year, month, day = left[2:].split("-")
    differing = sum(a != b for a, b in zip(left, right, strict=True))
    return differing == 1 or right[2:] == f"{year}-{day}-{month}"


def excluded_line(
    ref: EntityRef, entity: Entity, known: Register, rules: Rules
) -> tuple[Feature, ...]:
    """The evidence about an entity of a mention's name that has another identifier."""
    values = known.held(entity.entity_id, rules.identifier_test(known))
    features = [Feature("exact", 1.0, 0.0, f"equal name: {entity.name}")]
    evidence = weigh(ref, entity.entity_id, known, rules)
    features += [*evidence.differs, *evidence.unshared]
    for scheme in excluding_schemes(ref, entity.entity_id, known, rules):
        detail = f"differing: {ref.external_ids[scheme]!r} / {values[scheme][0]!r}"
        features.append(Feature(scheme, 0.0, 0.0, detail))
    return tuple(features)


def other_type_lines(
    ref: EntityRef, known: Register, rules: Rules
) -> dict[str, tuple[Feature, ...]]:
    """The evidence about entities of another type that hold an identifier of a mention."""
    hints: dict[str, tuple[Feature, ...]] = {}
    for row in stated_identifiers(ref, rules.bands.attributes):
        holders = holders_of(row, known, rules)
        if row.kind is not None and len(holders) >= SHARED_FROM:
            continue
        for root in holders:
            entity = known.entity(root)
            is_live = entity is not None and entity.state is EntityState.ACTIVE
            if entity is None or not is_live or compatible(ref.type, entity.type):
                continue
            detail = f"equal: {row.value!r}, of type {entity.type}"
            line = Feature(row.scheme, 1.0, 0.0, detail)
            hints[root] = (*hints.get(root, ()), line)
    return hints


def with_hints(
    resolution: Resolution, hints: Mapping[str, tuple[Feature, ...]], known: Register, rules: Rules
) -> Resolution:
    """A new entity's resolution, which suggests those that identifiers speak of.

    `hints` has the evidence by canonical id. Their score is as much as a suggestion may have:
    above, a person would have to decide before the entity is used.
    """
    if not hints:
        return resolution

    score = rules.bands.review_above
    candidates: list[EntityCandidate] = []
    for root, features in sorted(hints.items())[:_MOST]:
        entity = known.entity(root)
        assert entity is not None  # it has been looked at
        candidates.append(
            EntityCandidate(
                entity=root,
                name=entity.name,
                score=score,
                log_odds=round(math.log(max(score, 1e-6) / (1 - score)), 6),
                source=CandidateSource.EXACT,
                features=features,
                vetoes=() if features[0].name == "alias" else ("attribute_conflict",),
            )
        )

    other_candidates = [row for row in resolution.candidates if row.entity not in hints]
    return replace(
        resolution, score=score, reason=SUGGESTION, candidates=(*candidates, *other_candidates)
    )
