"""Naming: add a name to an entity, restore one, and withdraw the names that an erasure takes.

An alias can hijack an entity, so the edge checks the privilege first. The name is an alias in one
scope. If another entity has it already, it takes the next ordinal, and a bare mention of it opens a
review from then on. A review case has a surface that is an alias too: a decision may close or widen
it, and undoing the decision restores it.

After an erasure, a name that another write also taught stays from the day of that write; the others
end. Some objects name an entity in their words without a link: the text of a plain write, the words
behind a fact about another entity, a name that was not yet known. A person must check whether they
mean this entity or a namesake.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from ...resolution.bind import Scorer
from ...resolution.identifiers import is_role_mailbox
from ...resolution.keys import alias_key, free_ordinal
from ...resolution.known import Known, Lookup
from ...resolution.lexicon import lexicon
from ...resolution.names import short_id
from ...resolution.normalize import normalize, plain_letters, whole_words
from ...resolution.register import FORM_MARK
from ...schema.claim import Assertion
from ...schema.entity import Alias, EntityRef, Review
from ...schema.terms import terms
from ...schema.vocabulary import CandidateSource, EntityState
from ..port.store import WriteTx
from ..search.term_weights import is_searchable
from .change import Mandate, OperationChange, begin, unknown_entity

_BY_NAME: Final = frozenset(
    {CandidateSource.EXACT.value, CandidateSource.ALIAS.value, "no_candidate"}
)
"""Reasons of a bind in which the subject was named, and by a name that it has."""


def add_alias(
    tx: WriteTx,
    entity_id: str,
    surface: str,
    *,
    scope_id: str,
    mandate: Mandate,
    scorer: Scorer | None,
) -> Alias:
    """Teach an entity a name and return it; a name it has already is returned as it is.

    Raises:
        NotFound: `unknown_entity`.
        InvalidInput: `bad_name`.
    """
    change = begin(tx.lock(), mandate, "add_alias")
    norm = alias_key(EntityRef(name=surface).name)
    known = tx.entities((entity_id,), tx_us=change.clock.last_us)
    entity = known.entities.get(entity_id)
    if entity is None or entity.state is EntityState.ERASED:
        raise unknown_entity(entity_id)

    # Nothing is written, so that a retry under another operation id teaches nothing twice.
    for alias in known.aliases:
        if alias.norm == norm and alias.scope_id == scope_id:
            return alias

    alias = Alias(
        entity_id=entity_id,
        surface=surface,
        norm=norm,
        type=entity.type,
        scope_id=scope_id,
        ordinal=next_ordinal(tx, change, norm, scope_id),
        tx_start=change.stamp,
        object_id=mandate.operation_id,
    )
    change.aliases.append(alias)
    if scorer:
        change.block_keys[norm] = scorer.stored_keys(surface, entity.type)
    change.objects.append(entity_id)
    tx.apply(change.batch())
    return alias


def next_ordinal(tx: WriteTx, change: OperationChange, norm: str, scope_id: str) -> int:
    """The first ordinal that tells one more entity of a name in a scope from the others."""
    lookup = Lookup(norms=(norm,))
    aliases = tx.known(lookup, scopes=(scope_id,), tx_us=change.clock.last_us).aliases
    carriers = (*aliases, *change.aliases)
    return free_ordinal(alias.ordinal for alias in carriers if alias.norm == norm)


def teach_again(tx: WriteTx, change: OperationChange, case: Review, known: Known) -> None:
    """Let the surface name the waiting entity again, when the decision had closed that."""
    norm = alias_key(case.mention)
    for alias in known.aliases:
        in_place = (alias.norm, alias.scope_id) == (norm, case.scope_id)
        if in_place and alias.entity_id == case.entity_id and alias not in change.closed_aliases:
            return
    change.aliases.append(alias_of_case(tx, change, case, case.scope_id))


def alias_of_case(tx: WriteTx, change: OperationChange, case: Review, scope_id: str) -> Alias:
    """The surface of a case as a name of the entity that it is about."""
    norm = alias_key(case.mention)
    return Alias(
        entity_id=case.entity_id,
        surface=case.mention,
        norm=norm,
        type=case.type,
        scope_id=scope_id,
        ordinal=next_ordinal(tx, change, norm, scope_id),
        tx_start=change.stamp,
        object_id=case.object_id,
    )


def refold_names(
    tx: WriteTx,
    change: OperationChange,
    erased_claims: Mapping[str, Assertion],
    *,
    erased_ids: Collection[str],
) -> tuple[str, ...]:
    """Close the names that erased claims taught, or pass them on to claims that use them.

    Entities that are erased themselves are left out. The ids of those that lost a name.
    """
    ids: set[str | None] = set()
    for assertion in erased_claims.values():
        ids |= {assertion.details.subject_id, assertion.details.value_entity_id}
    known = tx.entities(sorted(filter(None, ids)), tx_us=change.clock.last_us)

    taken = (alias for alias in known.aliases if alias.object_id in erased_claims)
    lost_aliases = [alias for alias in taken if alias.entity_id not in erased_ids]
    if not lost_aliases:
        return ()

    members = sorted({alias.entity_id for alias in lost_aliases})
    assertions = tx.assertions(tx.objects_of(members))
    users = [row for object_id, row in sorted(assertions.items()) if object_id not in erased_claims]

    nameless: set[str] = set()
    for alias in lost_aliases:
        change.closed_aliases.append(alias)
        heir = _heir(alias, known.entities[alias.entity_id].name, users)
        if heir is None:
            nameless.add(alias.entity_id)
            continue
        # The heir's scope, not that of the erased: where only the erased was read, nobody uses it.
        scope_id = heir.details.scope.scope_id
        same = scope_id == alias.scope_id
        ordinal = alias.ordinal if same else next_ordinal(tx, change, alias.norm, scope_id)
        change.aliases.append(
            replace(
                alias,
                object_id=heir.claim.object_id,
                scope_id=scope_id,
                ordinal=ordinal,
                tx_start=heir.claim.tx,
                merge_id=None,
            )
        )

    for raw in sorted(nameless):
        _rename_nameless(change, known, raw)
    return tuple(sorted(nameless))


def _heir(alias: Alias, own_name: str, users: Iterable[Assertion]) -> Assertion | None:
    """The strongest claim that uses a name: its text says it, or it bound its subject by it.

    Which name bound a subject is not stored; it counts for the entity's own name alone, since a
    nickname that only an erased write used must not stay.
    """
    is_own = alias_key(own_name) == alias.norm
    heirs: list[Assertion] = []
    for assertion in users:
        details = assertion.details
        by_name = is_own and details.subject_id == alias.entity_id
        by_name = by_name and details.resolved_via in _BY_NAME
        says_it = alias.surface.casefold() in assertion.content.text.casefold()
        if (by_name or says_it) and not assertion.quarantine:
            heirs.append(assertion)
    return min(heirs, key=_trust, default=None)


def _trust(assertion: Assertion) -> tuple[int, int, int, str]:
    details, claim = assertion.details, assertion.claim
    return details.authority_level, -details.scope.specificity, claim.tx, claim.object_id


def _rename_nameless(change: OperationChange, known: Known, raw: str) -> None:
    """Call an entity by a name that it keeps, or by the head of its id."""
    entity = known.entities[raw]
    # A name that was passed on is in the change again; what is closed is no name any more.
    names: list[Alias] = []
    norms: set[str] = set()
    for alias in (*known.aliases, *change.aliases):
        if alias.entity_id == raw and alias not in change.closed_aliases:
            names.append(alias)
            norms.add(alias.norm)
    if alias_key(entity.name) in norms:
        return

    first = min(names, key=lambda alias: (alias.tx_start, alias.surface), default=None)
    name = short_id(raw) if first is None else first.surface
    change.entities.append(replace(entity, name=name))


_TELLING: Final = 5
"""Characters of an identifier that tells of somebody: a record number such as 7 is in any text."""
_PROVING: Final = 7
"""Characters of one that means nobody else: a shorter number may count something else in a text."""
_AT_ONCE: Final = 1_000
"""Objects that are in memory at a time: a single name may be in a hundred thousand."""
_PHONE: Final = re.compile(r"[+(]?\d[\d\s()./-]{5,}\d")
_LAST_DIGITS: Final = 8
"""Of a phone number, behind which a prefix or country code may differ in writing."""


class NamingTexts(NamedTuple):
    """The objects whose words, and no link, refer to an entity."""

    identifying_ids: set[str]
    """Those that hold an identifier of it that no other entity has."""
    naming_ids: set[str]
    """Those that name it, or an identifier that others share."""


def texts_naming(tx: WriteTx, entity_ids: Collection[str], *, tx_us: int) -> NamingTexts:
    """The objects in whose words these entities are named, or an identifier of theirs stands."""
    known = tx.entities(tuple(sorted(entity_ids)), tx_us=tx_us)
    texts = NamingTexts(set(), set())
    for row in known.identifiers:
        if len(row.value) < _TELLING:
            continue
        scheme = row.scheme.removeprefix(FORM_MARK)
        pairs = (scheme, row.value), (FORM_MARK + scheme, row.value)
        holders = tx.known(Lookup(identifiers=pairs), scopes=(), tx_us=tx_us).identifiers
        may_be_other = is_role_mailbox(row.value) or len(row.value) < _PROVING
        may_be_other |= any(holder.entity_id not in known.entities for holder in holders)
        for assertion in _objects_matching(tx, _identifier_mentions(row.value)):
            # A fact about another entity is that entity's, whatever its value identifies.
            proves = assertion.details.slot is None and not may_be_other
            (texts.identifying_ids if proves else texts.naming_ids).add(assertion.claim.object_id)

    for assertion in _objects_matching(tx, _name_mentions(known)):
        texts.naming_ids.add(assertion.claim.object_id)
    return texts


def _objects_matching(
    tx: WriteTx, mentions: Iterable[tuple[str, re.Pattern[str] | None]]
) -> Iterator[Assertion]:
    """The objects in whose own words one of the patterns is found, by the words of its phrase."""
    for phrase, pattern in mentions:
        words = list(filter(is_searchable, dict.fromkeys(terms(phrase))))
        if pattern is None or not words:
            continue
        candidates = tx.objects_with(words)
        for first in range(0, len(candidates), _AT_ONCE):
            for assertion in tx.assertions(candidates[first : first + _AT_ONCE]).values():
                if pattern.search(plain_letters(_own_words(assertion))):
                    yield assertion


def _identifier_mentions(value: str) -> Iterator[tuple[str, re.Pattern[str] | None]]:
    yield value, whole_words(value)
    if not _PHONE.fullmatch(value):
        return

    # However a text groups the digits, its last group is a word of the index.
    digits = re.sub(r"\D", "", value)
    pattern = re.compile(r"\D{0,3}".join(digits[-_LAST_DIGITS:]) + r"(?!\d)")
    for first in range(len(digits) - 1):
        for prefix in ("", "0", "00"):
            yield prefix + digits[first:], pattern


def _name_mentions(known: Known) -> Iterator[tuple[str, re.Pattern[str] | None]]:
    """The ways to name entities, each with words that its texts hold.

    Names stand whole. A family name counts behind a title or the initial of the given name, or in
    front of the given name; alone it may mean anybody of the family.
    """
    names = {entity.name for entity in known.entities.values()}
    names |= {alias.surface for alias in known.aliases}
    for name in sorted(names):
        yield name, whole_words(name)

    if "person" not in {entity.type for entity in known.entities.values()}:
        return
    titles = "|".join(map(re.escape, sorted(lexicon().titles)))
    for form in (normalize(name, "person") for name in sorted(names)):
        if len(form.core) > 1 and form.latin:
            small = "|".join(map(re.escape, form.particles)) or "-"
            given_name, family = form.core[0], re.escape(form.core[-1])
            before = rf"(?<!\w)(?:{titles}|{given_name[0]})\.?(?:\W+(?:{small}))*\W+{family}"
            comma_order = rf"(?<!\w){family}\W+{re.escape(given_name)}"
            yield form.core[-1], re.compile(rf"(?:{before}|{comma_order})(?!\w)")


def _own_words(assertion: Assertion) -> str:
    """What somebody wrote: the sentence that is made of a fact names its subject by itself."""
    content = assertion.content
    parts = [content.why_it_matters, content.behavioral_implication or ""]
    if content.text != content.normalized_claim:
        parts.append(content.text)
    if not assertion.details.value_entity_id and json.loads(content.value_json) is not None:
        parts.append(content.value_json)

    return "\n".join(parts)
