"""Which objects name an entity in words of their own, though nothing links them to it.

A text that was observed is linked to whom it mentions and goes with them. What was written
otherwise is not: a text of a write, the words behind a fact about somebody else, a name that nobody
knew yet. Whether they mean this entity or a namesake, a person must look.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Final

from ...resolution.whole_words import plain_letters, whole_words
from ...schema.claim import Assertion
from ...schema.terms import terms
from ..port.store import WriteTx
from ..search.term_weights import is_searchable

_AT_ONCE: Final = 1_000
"""Objects that are in memory at a time: a single name may stand in a hundred thousand."""


def objects_naming(tx: WriteTx, entity_ids: Collection[str], *, tx_us: int) -> frozenset[str]:
    """The objects in whose words a name of these entities stands whole."""
    if not entity_ids:
        return frozenset()

    known = tx.entities(tuple(sorted(entity_ids)), tx_us=tx_us)
    names = {entity.name for entity in known.entities.values()}
    names |= {alias.surface for alias in known.aliases}

    object_ids: set[str] = set()
    for name in sorted(names):
        words = list(filter(is_searchable, dict.fromkeys(terms(name))))
        pattern = whole_words(name)
        if not words or pattern is None:
            continue

        candidates = tx.objects_with(words)
        for first in range(0, len(candidates), _AT_ONCE):
            claims = tx.assertions(candidates[first : first + _AT_ONCE])
            for object_id, assertion in claims.items():
                if pattern.search(plain_letters(_own_words(assertion))):
                    object_ids.add(object_id)

    return frozenset(object_ids)


def _own_words(assertion: Assertion) -> str:
    """What somebody wrote: the sentence that is made of a fact names its subject by itself."""
    content = assertion.content
    parts = [content.why_it_matters, content.behavioral_implication or ""]
    if content.text != content.normalized_claim:
        parts.append(content.text)
    if not assertion.details.value_entity_id and json.loads(content.value_json) is not None:
        parts.append(content.value_json)

    return "\n".join(parts)
