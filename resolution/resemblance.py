"""Names that no score brings together and a person should still see.

Drawn alike, written as another language does, said in short, or equal once a learned short form
is said in full: where `PG` is an alias of PostgreSQL, the PG cluster may be the PostgreSQL cluster.
What resembles a known name binds nothing and waits for nobody. Where the score makes it a new
entity, it leaves a suggestion with one line of evidence that says why. Pure; checklist C-048.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..schema.entity import Entity, EntityRef, Feature
from ..schema.vocabulary import EntityState
from .bind import is_trusted, short_words
from .blocking import outline
from .keys import alias_key
from .look_alike import LOOK_ALIKE, look_alike
from .normalize import form_of
from .register import Register, Rules
from .renderings import RENDERING, is_rendering
from .short_names import SHORT_NAME, is_in_short

SHORT_FORM = "learned_short_form"
"""The line of evidence that says so."""


def resemblance(mention: str, names: Iterable[str], kind: str) -> Feature | None:
    """What makes one of an entity's names worth a look; None for nothing.

    >>> resemblance("Sasha Petrov", ["Alexander Petrov"], "person").name
    'rendering'
    """
    form = form_of(mention, kind)
    for name in names:
        stored_form = form_of(name, kind)
        pair = f"{mention!r} / {name!r}"
        if look_alike(form, stored_form):
            return Feature(LOOK_ALIKE, 1.0, 0.0, f"drawn alike: {pair}")
        if is_rendering(form, stored_form):
            return Feature(RENDERING, 1.0, 0.0, f"one name as two languages write it: {pair}")
        if is_in_short(form, stored_form):
            return Feature(SHORT_NAME, 1.0, 0.0, f"one says the other in short: {pair}")
    return None


def learned_short_form(
    mention: EntityRef, names: Iterable[str], known: Register, rules: Rules
) -> Feature | None:
    """What makes a name worth a look because one of its words is an alias here; None for nothing.

    Only of an alias that means one entity: two that are called PG tell nothing.
    """
    words = alias_key(mention.name).split()
    for short in short_words(mention):
        owner = _owner(short, known, rules)
        if owner is None or alias_key(owner.name) == short:
            continue
        in_full = " ".join([owner.name if word == short else word for word in words])
        form = form_of(in_full, mention.type)
        for name in names:
            if form_of(name, mention.type).ordered == form.ordered:
                detail = f"{short!r} is an alias of {owner.name!r}: {mention.name!r} / {name!r}"
                return Feature(SHORT_FORM, 1.0, 0.0, detail)
    return None


def _owner(short: str, known: Register, rules: Rules) -> Entity | None:
    """The one settled entity that a word is an alias of, as the caller sees it."""
    owners: dict[str, Entity] = {}
    for alias in known.named(short):
        entity = known.entity(known.root(alias.entity_id))
        is_visible = rules.shows(alias, known) and is_trusted(alias, known, rules)
        if entity is not None and is_visible and entity.state is EntityState.ACTIVE:
            owners[entity.entity_id] = entity
    return next(iter(owners.values())) if len(owners) == 1 else None


def may_resemble(mention: str, names: Iterable[str], kind: str) -> bool:
    """Whether any of these names may resemble a mention: at a glance, to keep it in question."""
    left = outline(mention, kind)
    for name in names:
        right = outline(name, kind)
        if not left.sounds.isdisjoint(right.sounds) or not left.spellings.isdisjoint(
            right.spellings
        ):
            return True
        if is_in_short(form_of(mention, kind), form_of(name, kind)):
            return True
    return False
