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
from typing import Final, NamedTuple

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
from .entry import POINTER, MediaEntry, MediaPlan, media_text
from .parts import cropped_picture, least_tokens, smaller
from .serialisation import Form, serialise
from .table import needed_rows, rows_of, table_rules, table_within, whole_table
from .worth import claim_on_budget, offer, original, permille, with_transcript

__all__ = ["MediaEntry", "MediaPlan", "media_text", "plan_media"]

_FRAME: Final = 64
"""Tokens of a table's part that its frame may take."""
_LEAST_TABLE: Final = 160
"""Tokens from which a table is worth showing: a note, what it adds up to, and a few rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlanContext:
    """What every step looks at."""

    counter: TokenCounter
    rules: CompilePolicy
    query_terms: frozenset[str]
    pool: int
    """The most tokens of all media and tables together."""
    modalities: Collection[Modality]
    """What the model reads beside text."""


def plan_media(
    media: Iterable[Media],
    counter: TokenCounter,
    rules: CompilePolicy,
    *,
    budget: int,
    query_terms: frozenset[str] = frozenset(),
    modalities: Collection[Modality] = GENERIC.media,
) -> MediaPlan:
    """How each item enters, and what is then sent beside the text.

    What shares `query_terms`, the content terms of the request, comes first. `modalities` is
    what the model reads beside text: nothing else is sent or counted.

    Raises:
        ContextBudgetExhausted: `required_over_budget`, when something could only be named and
            the policy fails loud.
        InvalidInput: `bad_media`; under such a policy also for what the model does not take.
    """
    pool = round(budget * rules.media_share)
    context = _PlanContext(
        counter=counter, rules=rules, query_terms=query_terms, pool=pool, modalities=modalities
    )
    entries = [_full_entry(item, context) for item in media]
    if sum(map(_size, entries)) > pool:
        entries = _share_pool(entries, context)

    withheld_entries = [entry for entry in entries if entry.withheld]
    if withheld_entries and (rules.safety_critical or rules.overflow is OverflowPolicy.FAIL_LOUD):
        _refuse(withheld_entries, context)
        raise _budget_error(withheld_entries, budget)

    return MediaPlan(tuple(entries))


def _refuse(entries: Sequence[MediaEntry], context: _PlanContext) -> None:
    """Refuse what no budget makes the model take."""
    unreadable_uris: list[str] = []
    for entry in entries:
        if entry.item.modality not in context.modalities:
            unreadable_uris.append(entry.media.uri)
    if unreadable_uris:
        raise InvalidInput(
            f"the model does not take {', '.join(unreadable_uris)} and the policy leaves nothing "
            "out: give stand_ins (text, method), leave them out, or compile for a model that takes "
            "them",
            code="bad_media",
        )


def _budget_error(entries: Sequence[MediaEntry], budget: int) -> ContextBudgetExhausted:
    tokens = 0
    uris: list[str] = []
    for entry in entries:
        tokens += original(entry.media).tokens
        uris.append(entry.media.uri)
    return ContextBudgetExhausted(
        f"{', '.join(uris)} would take {tokens} tokens beside the text, the budget is {budget} "
        "and the policy leaves nothing out: raise budget_tokens, send fewer or smaller ones, or "
        "give stand_ins (text, method), segments or regions",
        code="required_over_budget",
        shortfall=tokens,
    )


def _size(entry: MediaEntry) -> int:
    """What an item takes of the media's part: tables too, stand-ins not."""
    table = entry.item.modality is Modality.STRUCTURED
    return entry.item.tokens if table else entry.attachment_tokens


def _full_entry(media: Media, context: _PlanContext) -> MediaEntry:
    """An item as it enters where nothing is scarce."""
    if media.kind is MediaKind.STRUCTURED:
        return _table(media, context, None)

    entry = cropped_picture(MediaEntry(media=media, text=media_text(media), item=original(media)))
    if entry.item.modality not in context.modalities:
        return _substitute_entry(entry, context)

    offers = _offers(media, context)

    share = round(1000 * context.rules.media_fidelity)
    substitution = substitute(entry.item, offers, fidelity_permille=share)
    if substitution.replacement is entry.item:
        return entry

    return _stand_in_entry(media, substitution, offers[substitution.replacement])


def _offers(media: Media, context: _PlanContext) -> dict[MediaItem, StandIn]:
    """What may replace an item: its stand-ins, and a transcript that its segments make."""
    room, query_terms = context.pool, context.query_terms
    full = with_transcript(media, context.counter, room=room, query_terms=query_terms)

    offers: dict[MediaItem, StandIn] = {}
    for number, stand_in in enumerate(full.stand_ins):
        offers[offer(full, number, context.counter)] = stand_in
    return offers


def _stand_in_entry(media: Media, substitution: Substitution, stand_in: StandIn) -> MediaEntry:
    link = reference_to(substitution, permille(stand_in.confidence, 1000)).line()
    return MediaEntry(
        media=media,
        text=f"{media_text(media)}\n[{link}]\n{stand_in.text}",
        item=substitution.replacement,
        saved_tokens=max(0, original(media).tokens - substitution.replacement.tokens),
        reference=link,
    )


def _table(media: Media, context: _PlanContext, room: int | None) -> MediaEntry:
    """A table in its cheapest form, within a room where there is one."""
    reduction = needed_rows(media)
    options = table_rules(context.counter, context.rules, context.query_terms, media)
    head = media_text(media)
    if room is None:
        table = whole_table(reduction, options)
    else:
        overhead = context.counter.upper_bound(head) + _FRAME
        table = table_within(reduction, options, max(0, room - overhead))

    method = _table_method(table.note, reduction.note)
    # What a caller would have sent without this plan: all rows, as JSON for people.
    pretty = context.counter.upper_bound(serialise(rows_of(media), Form.PRETTY_JSON))
    return MediaEntry(
        media=media,
        text="\n".join(filter(None, (head, table.text))),
        item=replace(original(media), tokens=table.tokens, method=method),
        saved_tokens=max(0, pretty - table.tokens),
        form=table.form,
        note=table.note,
    )


def _table_method(note: str, request_note: str) -> str:
    """What was done to a table: nothing, what the caller asked for, or more."""
    if not note:
        return "original"
    return "filtered" if note == request_note else "sampled"


def _share_pool(entries: Sequence[MediaEntry], context: _PlanContext) -> list[MediaEntry]:
    """The items within a pool that cannot hold all of them whole.

    The items of greatest worth whose smallest versions fit together stay; the pool is then
    divided between them.
    """
    claims: list[_Claim] = []
    for number, entry in enumerate(entries):
        if _size(entry):
            claims.append(_claim(f"{number:05}", entry, context))

    # First who goes in at all, at its smallest; then what each gets of the rest.
    items = [Item(claim.id, claim.least_tokens, claim.worth) for claim in claims]
    selection = knapsack(items, context.pool)
    winners = [claim for claim in claims if claim.id in selection]

    plans: dict[str, MediaEntry] = {}
    rations = _rations(winners, context.pool)
    for claim in winners:
        if claim.entry.media.kind is not MediaKind.IMAGE:
            plans[claim.id] = _smaller(claim.entry, rations[claim.id], context)

    # Segments and rows come in lumps and leave something over, pictures can take any size: so
    # the pictures divide what the others did not use.
    pictures = [claim for claim in winners if claim.id not in plans]
    rations = _rations(pictures, context.pool - sum(map(_size, plans.values())))
    for claim in pictures:
        plans[claim.id] = _smaller(claim.entry, rations[claim.id], context)

    for claim in claims:
        if claim.id not in plans:
            plans[claim.id] = _substitute_entry(claim.entry, context)

    # What takes nothing of the pool made no claim, and stays as it is.
    final_entries: list[MediaEntry] = []
    for number, entry in enumerate(entries):
        final_entries.append(plans.get(f"{number:05}", entry))
    return final_entries


class _Claim(NamedTuple):
    """What an item asks of a pool that cannot hold all items whole."""

    id: str
    entry: MediaEntry
    least_tokens: int
    """The fewest tokens with which it can go in at all."""
    worth: int


def _claim(name: str, entry: MediaEntry, context: _PlanContext) -> _Claim:
    worth = claim_on_budget(entry.media, context.query_terms)
    return _Claim(name, entry, _least_tokens(entry, context), worth)


def _rations(claims: Iterable[_Claim], pool: int) -> Mapping[str, int]:
    """Each item's part of the pool, by worth and size, from the one exact allocator."""
    sections: list[Section] = []
    for claim in claims:
        size = _size(claim.entry)
        section = Section(
            claim.id,
            w=claim.worth / 1000,
            alpha=float(size),
            # Half of a token's worth is lost after a quarter of the item: the first segments
            # and rows say most.
            beta=max(1.0, size / 4),
            t_min=claim.least_tokens,
            t_max=size,
        )
        sections.append(section)

    return allocate(sections, pool).tokens


def _least_tokens(entry: MediaEntry, context: _PlanContext) -> int:
    """The fewest tokens that an item must have to go in at all."""
    if entry.media.kind is MediaKind.STRUCTURED:
        head = context.counter.upper_bound(media_text(entry.media))
        return min(_size(entry), head + _FRAME + _LEAST_TABLE)
    return least_tokens(entry, context.rules.media_least_px)


def _smaller(entry: MediaEntry, target: int, context: _PlanContext) -> MediaEntry:
    if _size(entry) <= target:
        return entry
    if entry.media.kind is MediaKind.STRUCTURED:
        return _table(entry.media, context, target)

    least_px = context.rules.media_least_px
    return smaller(entry, target, least_px=least_px, query_terms=context.query_terms)


def _substitute_entry(entry: MediaEntry, context: _PlanContext) -> MediaEntry:
    """What stands for an item that cannot be sent: its best stand-in, else its name."""
    if entry.media.kind is MediaKind.STRUCTURED:
        return _table(entry.media, context, 0)

    readable = entry.item.modality in context.modalities
    # A stand-in for what could be sent must be cheaper; for what cannot, it need only fit.
    ceiling = entry.item.tokens if readable else context.pool + 1
    offers = _offers(entry.media, context)
    fitting = [item for item in offers if item.tokens < ceiling]

    if fitting:
        item = max(fitting, key=lambda item: (item.utility_permille, item.id))
        saving = entry.item.tokens - item.tokens
        substitution = Substitution(entry.item, item, saving)
        return _stand_in_entry(entry.media, substitution, offers[item])

    reason = f"it takes {entry.item.tokens} tokens"
    if not readable:
        reason = f"the model takes no {entry.item.modality.value}"

    return MediaEntry(
        media=entry.media,
        text=media_text(entry.media, notes=[f"[not sent: {reason}; ask for it by its address]"]),
        item=replace(entry.item, tokens=0, method=POINTER),
        saved_tokens=original(entry.media).tokens,
        note=reason,
    )
