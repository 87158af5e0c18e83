"""What becomes of the media of a request: sent as they are, smaller, in parts, or as a stand-in.

Each item is counted by its modality. A picture is cropped to what the task needs; a stand-in
(text read from a picture, a transcript) takes the place of an original when it costs less and
keeps the stated share of its worth. What then takes more than the policy's share of the budget
is divided by the exact allocator, by worth and size: pictures are planned smaller, recordings
lose segments, films frames, tables rows. What cannot keep to its part gives way to the best
stand-in there is, else it is only named, and the envelope says so. Whoever holds the bytes
resizes and cuts them; the text names every original, so that a model can ask for it.

Nothing is decoded or changed here. Media text is untrusted data of level 4 like any evidence.
Checklist C-188 to C-196.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...schema.compile_terms import OverflowPolicy
from ...schema.errors import ContextBudgetExhausted, InvalidInput
from ...schema.policy import CompilePolicy
from ..budget.allocate import allocate
from ..budget.items import Item
from ..budget.knapsack import knapsack
from ..budget.section import Section
from ..request.request import Media, MediaKind, StandIn
from ..tokens.capabilities import GENERIC
from ..tokens.counting import TokenCounter
from ..tokens.modality import MediaItem, Modality, Substitution, reference_to, substitute
from .entry import POINTER, MediaPlan, Shown, media_text
from .parts import cropped_picture, least_tokens, smaller
from .serialisation import Form, serialise
from .table import needed, rows_of, table_rules, table_within, whole_table
from .worth import claim_on_budget, offer, original, permille, with_transcript

__all__ = ["MediaPlan", "Shown", "media_text", "plan_media"]

_FRAME: Final = 64
"""Tokens of a table's part that its frame may take."""
_LEAST_TABLE: Final = 160
"""Tokens from which a table is worth showing: a note, what it adds up to, and a few rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Desk:
    """What every step looks at."""

    counter: TokenCounter
    rules: CompilePolicy
    asked: frozenset[str]
    pool: int
    """The most tokens of all media and tables together."""
    takes: Collection[Modality]
    """What the model reads beside text."""


def plan_media(
    media: Iterable[Media],
    counter: TokenCounter,
    rules: CompilePolicy,
    *,
    budget: int,
    asked: frozenset[str] = frozenset(),
    takes: Collection[Modality] = GENERIC.media,
) -> MediaPlan:
    """How each item enters, and what is then sent beside the text.

    `asked` are the content terms of the request: what shares them comes first. `takes` is what
    the model reads beside text: nothing else is sent or counted.

    Raises:
        ContextBudgetExhausted: `required_over_budget`, when something could only be named and
            the policy fails loud.
        InvalidInput: `bad_media`; under such a policy also for what the model does not take.
    """
    pool = round(budget * rules.media_share)
    desk = _Desk(counter=counter, rules=rules, asked=asked, pool=pool, takes=takes)
    shown = [_whole(item, desk) for item in media]
    if sum(map(_size, shown)) > pool:
        shown = _divided(shown, desk)

    lost = [each for each in shown if each.withheld]
    if lost and (rules.safety_critical or rules.overflow is OverflowPolicy.FAIL_LOUD):
        _refuse(lost, desk)
        raise _exhausted(lost, budget)

    return MediaPlan(tuple(shown))


def _refuse(lost: Sequence[Shown], desk: _Desk) -> None:
    """Refuse what no budget makes the model take."""
    names = ", ".join(each.media.uri for each in lost if each.item.modality not in desk.takes)
    if names:
        raise InvalidInput(
            f"the model does not take {names} and the policy leaves nothing out: give stand_ins "
            "(text, method), leave them out, or compile for a model that takes them",
            code="bad_media",
        )


def _exhausted(lost: Sequence[Shown], budget: int) -> ContextBudgetExhausted:
    tokens = sum(original(each.media).tokens for each in lost)
    names = ", ".join(each.media.uri for each in lost)
    return ContextBudgetExhausted(
        f"{names} would take {tokens} tokens beside the text, the budget is {budget} and the "
        "policy leaves nothing out: raise budget_tokens, send fewer or smaller ones, or give "
        "stand_ins (text, method), segments or regions",
        code="required_over_budget",
        shortfall=tokens,
    )


def _size(shown: Shown) -> int:
    """What an item takes of the media's part: tables too, stand-ins not."""
    table = shown.item.modality is Modality.STRUCTURED
    return shown.item.tokens if table else shown.beside


def _whole(media: Media, desk: _Desk) -> Shown:
    """An item as it enters where nothing is scarce."""
    if media.kind is MediaKind.STRUCTURED:
        return _table(media, desk, None)

    sent = cropped_picture(Shown(media=media, text=media_text(media), item=original(media)))
    if sent.item.modality not in desk.takes:
        return _instead(sent, desk)

    offered = _offers(media, desk)
    share = round(1000 * desk.rules.media_fidelity)
    found = substitute(sent.item, [item for item, _ in offered], fidelity_permille=share)
    if found.chosen is sent.item:
        return sent

    each = next(stand_in for item, stand_in in offered if item is found.chosen)
    return _stood_in(media, found, each)


def _offers(media: Media, desk: _Desk) -> list[tuple[MediaItem, StandIn]]:
    """What may replace an item: its stand-ins, and a transcript that its segments make."""
    full = with_transcript(media, desk.counter, room=desk.pool, asked=desk.asked)
    return [(offer(full, place, desk.counter), each) for place, each in enumerate(full.stand_ins)]


def _stood_in(media: Media, found: Substitution, each: StandIn) -> Shown:
    link = reference_to(found, permille(each.confidence, 1000)).line()
    return Shown(
        media=media,
        text=f"{media_text(media)}\n[{link}]\n{each.text}",
        item=found.chosen,
        saved_tokens=max(0, original(media).tokens - found.chosen.tokens),
        reference=link,
    )


def _table(media: Media, desk: _Desk, room: int | None) -> Shown:
    """A table in its cheapest form, within a room where there is one."""
    found, how = needed(media), table_rules(desk.counter, desk.rules, desk.asked, media)
    head = media_text(media)
    if room is None:
        table = whole_table(found, how)
    else:
        used = desk.counter.upper_bound(head) + _FRAME
        table = table_within(found, how, max(0, room - used))

    pretty = desk.counter.upper_bound(serialise(rows_of(media), Form.PRETTY_JSON))
    return Shown(
        media=media,
        text="\n".join(line for line in (head, table.text) if line),
        item=replace(original(media), tokens=table.tokens, method=_done(table.note, found.note)),
        saved_tokens=max(0, pretty - table.tokens),
        form=table.form,
        note=table.note,
    )


def _done(note: str, needed_note: str) -> str:
    """What was done to a table: nothing, what the caller asked for, or more."""
    if not note:
        return "original"
    return "filtered" if note == needed_note else "sampled"


def _divided(shown: Sequence[Shown], desk: _Desk) -> list[Shown]:
    """The items within a pool that cannot hold all of them whole.

    The items of greatest worth whose smallest versions fit together stay; the pool is then
    divided between them.
    """
    held = {f"{place:05}": each for place, each in enumerate(shown) if _size(each)}
    least = {name: _least(each, desk) for name, each in held.items()}
    worth = {name: claim_on_budget(each.media, desk.asked) for name, each in held.items()}
    kept = knapsack([Item(name, least[name], worth[name]) for name in held], desk.pool)
    parts = _rations({name: held[name] for name in kept}, least, desk.pool, desk)
    found = {name: _smaller(held[name], parts[name], desk) for name in kept}
    settled = {name: each for name, each in found.items() if not _is_picture(each)}
    pictures = {name: held[name] for name in kept if _is_picture(held[name])}
    left = desk.pool - sum(map(_size, settled.values()))
    parts = _rations(pictures, least, left, desk)  # segments and rows leave something over
    settled |= {name: _smaller(each, parts[name], desk) for name, each in pictures.items()}
    settled |= {name: _instead(each, desk) for name, each in held.items() if name not in kept}
    return [settled.get(f"{place:05}", each) for place, each in enumerate(shown)]


def _is_picture(each: Shown) -> bool:
    return each.media.kind is MediaKind.IMAGE


def _rations(
    held: Mapping[str, Shown], least: Mapping[str, int], pool: int, desk: _Desk
) -> Mapping[str, int]:
    """Each item's part of the pool, by worth and size, from the one exact allocator."""
    sections = [
        Section(
            name,
            w=claim_on_budget(each.media, desk.asked) / 1000,
            alpha=float(_size(each)),
            beta=max(1.0, _size(each) / 4),
            t_min=least[name],
            t_max=_size(each),
        )
        for name, each in held.items()
    ]
    return allocate(sections, pool).tokens


def _least(each: Shown, desk: _Desk) -> int:
    """The fewest tokens that an item must have to go in at all."""
    if each.media.kind is MediaKind.STRUCTURED:
        head = desk.counter.upper_bound(media_text(each.media))
        return min(_size(each), head + _FRAME + _LEAST_TABLE)
    return least_tokens(each, desk.rules.media_least_px)


def _smaller(each: Shown, target: int, desk: _Desk) -> Shown:
    if _size(each) <= target:
        return each
    if each.media.kind is MediaKind.STRUCTURED:
        return _table(each.media, desk, target)
    return smaller(each, target, least_px=desk.rules.media_least_px, asked=desk.asked)


def _instead(shown: Shown, desk: _Desk) -> Shown:
    """What stands for an item that cannot be sent: its best stand-in, else its name."""
    if shown.media.kind is MediaKind.STRUCTURED:
        return _table(shown.media, desk, 0)

    taken = shown.item.modality in desk.takes
    most = shown.item.tokens if taken else desk.pool + 1
    offers = [pair for pair in _offers(shown.media, desk) if pair[0].tokens < most]

    if offers:
        best, each = max(offers, key=lambda pair: (pair[0].utility_permille, pair[0].id))
        saved = shown.item.tokens - best.tokens
        return _stood_in(shown.media, Substitution(shown.item, best, saved), each)

    why = f"it takes {shown.item.tokens} tokens"
    if not taken:
        why = f"the model takes no {shown.item.modality.value}"

    return Shown(
        media=shown.media,
        text=media_text(shown.media, said=[f"[not sent: {why}; ask for it by its address]"]),
        item=replace(shown.item, tokens=0, method=POINTER),
        saved_tokens=original(shown.media).tokens,
        note=why,
    )
