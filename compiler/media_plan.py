"""What becomes of the media of a request: sent as they are, smaller, or as a stand-in.

Each item is counted by its modality. A stand-in that the caller brought (text read from a
picture, a transcript) takes its place when it costs less and keeps the stated share of its
utility; the text then names the original and how it was read, so that a model can ask for it.
Pictures that together take more than the policy's share of the budget are planned smaller, and
whoever holds the bytes resizes them. Tables are written in the cheapest form that is read surely
enough, sampled where they take too much, and say what they lost.

Nothing is decoded or changed here. Media text is untrusted data of level 4 like any evidence.
Source 000, 6.12; checklist C-188 to C-196.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from ..schema.errors import ContextBudgetExhausted
from ..schema.policy import CompilePolicy
from .counting import TokenCounter
from .media_cost import PICTURE, one_media_tokens
from .media_reduction import Reduced, downsampled, filtered, sampled
from .modality import MediaItem, Modality, Substitution, evidence_split, reference_to, substitute
from .request import Media, MediaKind, StandIn
from .serialisation import Form, ParseAccuracy, choose_form, serialise

_UTILITY_OF_METHOD: Final[Mapping[str, int]] = {"ocr": 900, "transcript": 900, "caption": 600}
"""Utility of a stand-in that states none, in permille of a whole original: the words of a page
or a speech carry most of it, a caption tells what it shows."""
_OTHER_METHOD: Final = 800


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """How one media item enters the envelope."""

    media: Media
    text: str
    """What stands in the evidence section, before containment."""
    item: MediaItem
    """What is sent beside the text, or the text that stands in; a table's tokens are its text's."""
    saved_tokens: int = 0
    size: tuple[int, int] | None = None
    """Width and height to resize a picture to; None when it is sent as it is."""
    form: str = ""
    """Of a table: how its records are written."""
    note: str = ""
    """What was left out of a table."""
    reference: str = ""
    """The cross-modal link of a stand-in to its original."""

    @property
    def beside(self) -> int:
        """Return the tokens that are sent beside the text."""
        sent = self.item.method in ("original", "downsampled")
        return self.item.tokens if sent and self.item.modality is not Modality.STRUCTURED else 0

    def to_dict(self) -> dict[str, Any]:
        """Return the item as the trace lists it, empty fields left out."""
        listed = {
            "uri": self.media.uri,
            "modality": self.item.modality.value,
            "sent_as": self.item.method,
            "tokens": self.item.tokens,
            "saved_tokens": self.saved_tokens,
            "size": None if self.size is None else list(self.size),
            "form": self.form,
            "note": self.note,
            "reference": self.reference,
        }
        return {name: value for name, value in listed.items() if value or name == "tokens"}


@dataclass(frozen=True, slots=True)
class MediaPlan:
    """All media of a request, in its order."""

    shown: tuple[Shown, ...] = ()

    @property
    def tokens(self) -> int:
        """Return the tokens that are sent beside the text."""
        return sum(each.beside for each in self.shown)

    @property
    def texts(self) -> tuple[str, ...]:
        """Return what stands in the text for each item."""
        return tuple(each.text for each in self.shown)

    def split(self) -> dict[str, int]:
        """Return the tokens by modality of what is shown; stand-ins count as text."""
        found = evidence_split(each.item for each in self.shown)
        return {modality.value: tokens for modality, tokens in found.items()}


def plan_media(
    media: Iterable[Media], counter: TokenCounter, rules: CompilePolicy, *, budget: int
) -> MediaPlan:
    """Return how each item enters, and what is then sent beside the text.

    Raises:
        ContextBudgetExhausted: `required_over_budget`, when they leave nothing for the text.
        InvalidInput: `bad_media`.
    """
    most = round(budget * rules.media_share)
    shown = [
        _table(item, counter, rules, most=most)
        if item.kind is MediaKind.STRUCTURED
        else _sent(item, counter, rules)
        for item in media
    ]
    plan = MediaPlan(tuple(shown))
    if plan.tokens > most:
        plan = MediaPlan(tuple(_smaller(each, plan.tokens, most, rules) for each in shown))
    if plan.tokens and plan.tokens >= budget:
        raise ContextBudgetExhausted(
            f"the media of the request take {plan.tokens} tokens and the budget is {budget}: "
            "raise budget_tokens, send fewer or smaller ones, or give stand_ins (text, method)",
            code="required_over_budget",
            shortfall=plan.tokens - budget + 1,
        )
    return plan


def _sent(media: Media, counter: TokenCounter, rules: CompilePolicy) -> Shown:
    """Return the original or the stand-in that replaces it."""
    original = MediaItem(
        id=media.uri,
        modality=Modality(media.kind.value),
        tokens=one_media_tokens(media),
        utility_permille=_permille(media.utility, 1000),
    )
    offered = [_offer(media, place, each, counter) for place, each in enumerate(media.stand_ins)]
    share = round(1000 * rules.media_fidelity)
    found = substitute(original, offered, fidelity_permille=share)
    if found.chosen is original:
        return Shown(media=media, text=media_text(media), item=original)
    place = offered.index(found.chosen)
    return _stood_in(media, found, media.stand_ins[place])


def _offer(media: Media, place: int, each: StandIn, counter: TokenCounter) -> MediaItem:
    usual = _UTILITY_OF_METHOD.get(each.method, _OTHER_METHOD)
    whole = _permille(media.utility, 1000)
    return MediaItem(
        id=f"{media.uri}#{each.method}{place + 1}",
        modality=Modality.TEXT,
        tokens=counter.upper_bound(each.text),
        utility_permille=_permille(each.utility, usual * whole // 1000),
        method=each.method,
    )


def _stood_in(media: Media, found: Substitution, each: StandIn) -> Shown:
    link = reference_to(found, _permille(each.confidence, 1000)).line()
    return Shown(
        media=media,
        text=f"{media_text(media)}\n[{link}]\n{each.text}",
        item=found.chosen,
        saved_tokens=found.saved_tokens,
        reference=link,
    )


def _smaller(each: Shown, total: int, most: int, rules: CompilePolicy) -> Shown:
    """Return a picture planned down to its part of what media may take."""
    media = each.media
    if media.kind is not MediaKind.IMAGE or not each.beside or not (media.width and media.height):
        return each
    target = each.beside * most // total
    size = downsampled(
        media.width, media.height, PICTURE, target_tokens=target, least_px=rules.media_least_px
    )
    if size is None:
        return each
    resized = replace(media, width=size[0], height=size[1])
    tokens = one_media_tokens(resized)
    return replace(
        each,
        text=media_text(resized),
        item=replace(each.item, tokens=tokens, method="downsampled"),
        saved_tokens=each.item.tokens - tokens,
        size=size,
    )


def _table(media: Media, counter: TokenCounter, rules: CompilePolicy, *, most: int) -> Shown:
    """Return a table in its cheapest form, with fewer rows where it takes too much."""
    rows = cast("Sequence[Mapping[str, object]]", json.loads(media.records))
    least = ParseAccuracy[rules.structured_accuracy.upper()]
    whole = filtered(rows, media.columns) if media.columns else Reduced(tuple(rows), "")
    found, note = choose_form(whole.rows, counter, least_accuracy=least), ""
    size = len(whole.rows)
    while found.tokens > most and size > 1:
        size = max(1, min(size - 1, size * most // found.tokens))
        part = sampled(whole.rows, size)
        found, note = choose_form(part.rows, counter, least_accuracy=least), part.note
    said = "; ".join(each for each in (whole.note, note) if each)
    pretty = counter.upper_bound(serialise(rows, Form.PRETTY_JSON))
    lines = (media_text(media), f"[{said}]" if said else "", found.text)
    return Shown(
        media=media,
        text="\n".join(line for line in lines if line),
        item=MediaItem(
            id=media.uri,
            modality=Modality.STRUCTURED,
            tokens=found.tokens,
            utility_permille=_permille(media.utility, 1000),
        ),
        saved_tokens=max(0, pretty - found.tokens),
        form=found.form.value,
        note=said,
    )


def media_text(media: Media) -> str:
    """Return what names a media item in the text: kind, size, address, description."""
    size = f" {media.width}x{media.height}" if media.width and media.height else ""
    length = f" {media.seconds:g}s" if media.seconds else ""
    address = f" {media.uri}" if media.uri else ""
    head = f"[{media.kind.value}{size}{length}{address}]"
    return f"{head}\n{media.description}" if media.description else head


def _permille(share: float | None, usual: int) -> int:
    return usual if share is None else round(1000 * share)
