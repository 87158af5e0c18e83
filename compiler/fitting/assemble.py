"""Assemble the chosen pieces into blocks and text, in the one wire order.

Sections are ordered by stability class, authority and ordinal. In a section the shared block of
rows comes first, then single blocks, in stable key order. Anchors count up in the order of the
text, so a change never renumbers a cached prefix; an anchor leads to an object id in the trace.
The text parses back into exactly these blocks.

The clean facts of one entity form one row, with values copied verbatim:

    Sam Rivera | office = Chicago [3] | title = engineer [4]

Checklist C-082, C-085, C-136, C-207.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from ...schema.compile_terms import SectionName, wire_key
from ..format.grammar import HEADINGS, Block, Seal, render_blocks
from ..format.header import short_origin
from ..format.lines import BlockPiece, line_of
from ..format.rows import fact_rows, since_mark
from ..ir.context import CompileContext
from ..ir.outputs import Assembled
from ..ir.records import Piece
from ..tokens.counting import TokenCounter

_UNKNOWN_ORIGIN = "unknown://"
_ASSISTANT = "agent"
_TALK = frozenset({"chat", "user"})
_SAMPLE = "5QXKABCD2E"
"""Stands for a boundary's token where the real one is not known yet."""


def seal_of(context: CompileContext) -> Seal:
    """Return what keys the boundaries of this compile."""
    return Seal(
        key=context.keys[context.epoch], epoch=context.epoch, policy_hash=context.policy_hash
    )


def assemble(pieces: Iterable[Piece], seal: Seal) -> Assembled:
    """Return the text of pieces."""
    groups: list[tuple[Piece, ...]] = []
    for section in _by_section(pieces):
        groups += _groups(section)

    # The first block that shows an object numbers it, so what is added behind moves no anchor.
    anchors: dict[str, str] = {}
    blocks: list[Block] = []
    for group in groups:
        for piece in group:
            for object_id in visible_ids(piece):
                anchors.setdefault(object_id, str(len(anchors) + 1))
        blocks.append(_block(group, anchors))

    ids = {anchor: object_id for object_id, anchor in anchors.items()}
    text = render_blocks(blocks, seal, ids=ids)
    return Assembled(text, tuple(blocks), tuple(groups), ids, spans_of(text, blocks))


def spans_of(text: str, blocks: Sequence[Block]) -> tuple[tuple[int, int], ...]:
    """Return the span of each block in a text that was rendered from these blocks.

    A heading belongs to the block it comes before. Only a block's own boundary ends it: text
    inside may look like a heading or a closing line, but cannot hold the boundary.
    """
    spans: list[tuple[int, int]] = []
    offset, section = 0, ""
    for block in blocks:
        start = offset
        if block.section != section:
            section = block.section
            offset += len(f"=== {HEADINGS[section]}\n")

        line_end = text.index("\n", offset)
        token = text[offset:line_end].split(" ", 3)[2]
        closing = f" {token} end\n"
        offset = text.index(closing, line_end) + len(closing)
        spans.append((start, offset))
    return tuple(spans)


def _by_section(pieces: Iterable[Piece]) -> list[list[Piece]]:
    sections: dict[SectionName, list[Piece]] = {}
    for piece in pieces:
        sections.setdefault(piece.section, []).append(piece)

    ordered: list[list[Piece]] = []
    for name in sorted(sections, key=wire_key):
        ordered.append(sorted(sections[name], key=lambda piece: piece.key))
    return ordered


def _groups(section: Sequence[Piece]) -> list[tuple[Piece, ...]]:
    """Return the blocks of a section: our own text, then the shared rows, then the rest."""
    own_texts: list[tuple[Piece, ...]] = []
    rows: list[Piece] = []
    singles: list[tuple[Piece, ...]] = []
    lines: dict[int, list[Piece]] = {}
    for piece in section:
        if piece.shared:
            lines.setdefault(piece.level, []).append(piece)
        elif not piece.alone:
            rows.append(piece)
        elif piece.candidate is None:
            own_texts.append((piece,))
        else:
            singles.append((piece,))

    # A block stands where its last piece would: of evidence, which rises, the best comes last.
    singles += map(_by_source, lines.values())
    singles.sort(key=_last_key)
    shared_rows = [tuple(rows)] if rows else []
    return [*own_texts, *shared_rows, *singles]


def _last_key(group: Iterable[Piece]) -> tuple[int, int, str]:
    return max(piece.key for piece in group)


def _by_source(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Return lines with those of one source together, in their own order; its best piece counts.

    What an assistant said stands where it was said: behind what it answers, or before what follows.
    """
    in_time = sorted(pieces, key=lambda piece: (piece.date, piece.written_us, piece.key))
    talk = next((piece.origin for piece in in_time if piece.scheme in _TALK), "")
    sources: dict[str, list[Piece]] = {}
    for piece in in_time:
        if piece.scheme in _TALK:
            talk = piece.origin
        origin = talk if piece.scheme == _ASSISTANT and talk else piece.origin
        sources.setdefault(origin, []).append(piece)

    return tuple(chain.from_iterable(sorted(sources.values(), key=_last_key)))


def _block(group: tuple[Piece, ...], anchors: Mapping[str, str]) -> Block:
    first = group[0]
    # As weak as its weakest piece: sharing a block must not raise what a text may say.
    level = max(piece.level for piece in group)
    if first.shared:
        lines = [_line(piece, anchors) for piece in group]
        return Block.shared_fields(first.section.value, first.kind, level, lines)

    anchor_ids: list[str] = []
    for piece in group:
        for object_id in visible_ids(piece):
            anchor_ids.append(anchors[object_id])
    return Block(
        section=first.section.value,
        kind=first.kind,
        object_ids=tuple(anchor_ids),
        origin=_origin(group),
        authority=level,
        text=first.text if first.alone else _rows(group, anchors),
    )


def _line(piece: Piece, anchors: Mapping[str, str]) -> BlockPiece:
    return BlockPiece(
        anchor=anchors[piece.object_id],
        text=piece.text,
        who=piece.speaker,
        when=piece.date,
        origin=short_origin(piece.origin) or _UNKNOWN_ORIGIN,
    )


def visible_ids(piece: Piece) -> tuple[str, ...]:
    """Return the objects a reader is led to: a row's own, of a block all that it represents."""
    if piece.candidate is None:
        return ()
    return piece.object_ids if piece.alone else piece.object_ids[:1]


def _origin(group: tuple[Piece, ...]) -> str:
    origins: set[str] = set()
    schemes: set[str] = set()
    for piece in group:
        origins.add(piece.origin)
        schemes.add(piece.scheme)
    if len(origins) == 1:
        return short_origin(group[0].origin) or _UNKNOWN_ORIGIN
    return f"{schemes.pop()}://" if len(schemes) == 1 else "tenure://"


def _rows(group: tuple[Piece, ...], anchors: Mapping[str, str]) -> str:
    """Return the rows of a shared block: one for each entity, one for each other text."""
    labels: dict[str, list[Piece]] = {}
    for piece in group:
        if piece.cell:
            labels.setdefault(piece.label, []).append(piece)
    days = Counter(piece.date for piece in group if piece.cell and piece.date)
    count, day = max(((count, day) for day, count in days.items()), default=(0, ""))
    most_day = day if count > 1 else ""

    # A row stands where its first cell would; the cells that follow were taken with it.
    lines = [f"@ since {most_day}"] if most_day else []
    for piece in group:
        if not piece.cell:
            lines.append(fact_rows([(anchors[piece.object_id], piece.text)]))
        elif piece.label in labels:
            members = labels.pop(piece.label)
            cells: list[str] = []
            for member in members:
                since = since_mark(member.date, most_day)
                cells.append(f"{member.cell}{since} [{anchors[member.object_id]}]")
            lines.append(" | ".join([piece.label, *cells]))
    return "\n".join(lines)


def piece_tokens(piece: Piece, counter: TokenCounter) -> int:
    """Return about how many tokens a piece takes, its own frame included."""
    if piece.cell:
        # Without the year, as most facts of a block say it, if they say it at all.
        return counter.upper_bound(f" | {piece.cell}{since_mark(piece.date[5:])} [100]")
    if piece.shared:
        return counter.upper_bound(f"{line_of(piece.text, piece.speaker, '100')}\n")
    if not piece.alone:
        return counter.upper_bound(f"[100] {piece.text}\n")
    return counter.upper_bound(piece.text) + frame_tokens(piece, counter)


def frame_tokens(piece: Piece, counter: TokenCounter) -> int:
    """Return about how many tokens the lines around a block take."""
    kind, origin = piece.kind.value, short_origin(piece.origin)
    if piece.shared:
        lines = f"=== {kind} {_SAMPLE} L4 10\n\n=== {kind} {_SAMPLE} end\n"
        return counter.upper_bound(lines)
    return counter.upper_bound(
        f"=== {kind} {_SAMPLE} [100] L4 {origin}\n\n=== {kind} {_SAMPLE} end\n"
    )


def heading_tokens(section: SectionName, counter: TokenCounter) -> int:
    """Return the tokens of a section's heading."""
    return counter.upper_bound(f"=== {HEADINGS[section.value]}\n")


def label_tokens(label: str, counter: TokenCounter) -> int:
    """Return the tokens of the head of a row."""
    return counter.upper_bound(label + "\n")
