"""Units and whole states as plain values and back: what an undo carries, and what a snapshot keeps.

A snapshot spares whoever opens a session the events before it. It is a cache: one of another
format reads as none, and the log is folded from its first event.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, Final, get_type_hints

from ..schema.record_json import from_plain, to_plain
from ..schema.values import canonical_json
from .events import ERASURE_MARK
from .state import WindowState, part_body
from .units import (
    LEVELS,
    MessagePart,
    PartKind,
    StandingForm,
    ToolKind,
    WindowItem,
    WindowUnit,
    emptied_part,
)

_COMPRESSION: Final = 6
"""Of zlib: lower levels take half the time for a fifth more."""
_FORMAT: Final = 2
"""Rises when `step` folds an event in another way: older snapshots then count for nothing."""
_OWN_LAYOUT: Final = frozenset({"units", "pins"})
"""Fields with a layout of their own: units are most of a state, and keys in JSON are no numbers."""


def unit_record(unit: WindowUnit) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A unit without its words, and its words in the order of its parts."""
    parts: list[dict[str, Any]] = []
    for item in unit.items:
        place = {"seq": item.seq, "part": item.part, "level": item.level}
        parts.append(part_body(item.content, item.tokens) | place)

    record: dict[str, Any] = {
        "unit": unit.number,
        "turn": unit.turn,
        "step": unit.step,
        "parts": parts,
        "abandoned": sorted(unit.given_up),
    }
    if unit.form is not StandingForm.FULL:
        span = [unit.full_tokens, unit.last_number, unit.last_turn, unit.fold_level]
        record |= {"form": unit.form.value, "span": span}
    return record, tuple(item.text for item in unit.items)


def unit_from(record: Mapping[str, Any], texts: Iterator[str]) -> WindowUnit:
    """The unit of a record; its words are taken off an iterator that several records share."""
    items = tuple(item_from(int(part["seq"]), part, next(texts)) for part in record["parts"])
    full_tokens, last_number, last_turn, *level = record.get("span", (0, 0, 0))
    return WindowUnit(
        number=int(record["unit"]),
        turn=int(record["turn"]),
        step=int(record["step"]),
        items=items,
        form=StandingForm(record.get("form", StandingForm.FULL)),
        full_tokens=full_tokens,
        last_number=last_number,
        last_turn=last_turn,
        # Records of before folds had levels hold folds of messages alone.
        fold_level=level[0] if level else int(record.get("form") == StandingForm.EXTRACT),
        given_up=frozenset(record["abandoned"]),
    )


def item_from(seq: int, line: Mapping[str, Any], text: str, part: int = 0) -> WindowItem:
    """The item of an event's line about a part, with the part's text."""
    kind = PartKind(line["kind"])
    content = MessagePart(
        kind=kind,
        text=text,
        call_id=line.get("call_id", ""),
        name=line.get("name", ""),
        tool_kind=ToolKind(line["tool_kind"]) if "tool_kind" in line else None,
        is_error=bool(line.get("is_error")),
    )
    if text == ERASURE_MARK:
        content = emptied_part(content, text)
    return WindowItem(
        seq=seq,
        part=int(line.get("part", part)),
        content=content,
        tokens=int(line["tokens"]),
        level=int(line.get("level", LEVELS[kind])),
    )


def snapshot_text(state: WindowState) -> str:
    """A state as packed JSON; `state_from` reads it back.

    The words of the window stand in the log already, so a store keeps them here a second time as
    small as can be.
    """
    records: list[dict[str, Any]] = []
    texts: list[str] = []
    for unit in state.units:
        record, words = unit_record(unit)
        records.append(record)
        texts += words

    plain = {name: to_plain(getattr(state, name)) for name in _field_hints()}
    pins = sorted(state.pins.items())
    snapshot = {"format": _FORMAT, "state": plain, "pins": pins, "units": records, "texts": texts}
    return b64encode(zlib.compress(canonical_json(snapshot).encode(), _COMPRESSION)).decode()


def state_from(text: str) -> WindowState | None:
    """The state of a snapshot, None for one of another format."""
    # Format 1 was bare JSON, which no packed text begins like.
    if text.startswith("{"):
        return None
    snapshot = json.loads(zlib.decompress(b64decode(text)))

    # A field that came or went since changes the names, so it needs no new number.
    hints = _field_hints()
    if snapshot["format"] != _FORMAT or snapshot["state"].keys() != hints.keys():
        return None

    texts = iter(snapshot["texts"])
    units = tuple(unit_from(record, texts) for record in snapshot["units"])
    pins: dict[int, int | None] = dict(snapshot["pins"])
    members = {name: from_plain(hints[name], value) for name, value in snapshot["state"].items()}
    return WindowState(units=units, pins=pins, **members)


@cache
def _field_hints() -> Mapping[str, Any]:
    # Looked up once a process: reading annotations takes longer than decoding what they describe.
    hints = get_type_hints(WindowState)
    return {
        field.name: hints[field.name]
        for field in fields(WindowState)
        if field.name not in _OWN_LAYOUT
    }
