"""The envelope grammar: every block stands between two keyed lines that name its kind.

    === EVIDENCE
    === data 5QXK…26 characters [3] L4 web://example.org
    the text of the block, escaped because it is data
    === data 5QXK…26 characters end

A heading line stands before the first block of each run of one section. The opening line bears
the boundary, the anchors, the authority level and the origin; uuids and hashes live in the
trace. The boundary is an HMAC over the content itself (R1), with a counter as long as it occurs
in any content, so no text can hold its own boundary, not even one that quotes an older envelope.

Invariants: `parse_envelope(render_blocks(blocks, seal)) == blocks` for every block list; a text
has at most one reading, and that reading has exactly one text (only the boundaries need a key);
changing one block leaves the other blocks' bytes alone; the format never varies (R2).

Not decided here: which blocks there are and in what order, what a level-4 text may become.
Checklist C-044, C-084, C-165, C-168, C-207.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from ...schema.compile_terms import BlockKind
from ...schema.errors import Fault, InvalidInput
from .block import HEADINGS, Block
from .escape import escape_data, unescape_data
from .header import MAX_IDS, opening_line, read_opening

_SECTIONS: Final = {f"=== {heading}": section for section, heading in HEADINGS.items()}
_TOKEN_RUN: Final = re.compile(r"[A-Za-z2-7]{26,}")
_TOKEN_LENGTH: Final = 26
_TOKEN_BYTES: Final = 20
"""Bytes of the code that are written out: whole groups of five that hold so many characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """What keys the boundaries of one envelope."""

    key: bytes
    """The tenant's secret of this epoch; never shown, never stored with the envelope."""
    epoch: int
    """The key's epoch; the trace stores it."""
    policy_hash: str
    """Hash of the policy pack."""

    def __repr__(self) -> str:
        return f"Seal(epoch={self.epoch}, policy_hash={self.policy_hash!r})"


@dataclass(frozen=True, slots=True)
class Broken:
    """A block that `verify_envelope` could not confirm."""

    index: int
    """Position in the block list, from 0."""
    section: str
    """Section of the block."""
    reason: str
    """`boundary`: text, header or key do not match. `escape`: data holds unescaped structure."""


NO_IDS: Final[Mapping[str, str]] = MappingProxyType({})
NO_POINTERS: Final[AbstractSet[str]] = frozenset()


def boundary(seal: Seal, block: Block, *, ids: Mapping[str, str] = NO_IDS, counter: int = 0) -> str:
    """Return the 26 characters that stand at both ends of `block` (R1).

    Unpredictable without the key, the same for the same block on any machine. Kind, origin and
    level are keyed too, so a header cannot be changed unseen; the visible anchors are not.
    """
    frame = f"{block.kind.value} L{block.authority} {block.origin}"
    named = _framed([ids.get(each, each).encode() for each in block.object_ids])
    head = ["v1", str(seal.epoch), seal.policy_hash, block.section, frame]
    fields = [field.encode() for field in head]
    fields += [named, hashlib.sha256(block.text.encode()).digest()]
    if counter:
        fields.append(str(counter).encode())
    code = hmac.digest(seal.key, _framed(fields), "sha256")
    return base64.b32encode(code[:_TOKEN_BYTES]).decode("ascii")[:_TOKEN_LENGTH]


def _framed(fields: Iterable[bytes]) -> bytes:
    """Join fields, each after its own length, so that no two lists of fields read the same."""
    return b"".join(b"%d:%s" % (len(field), field) for field in fields)


def render_blocks(
    blocks: Sequence[Block],
    seal: Seal,
    *,
    ids: Mapping[str, str] = NO_IDS,
    issued: AbstractSet[str] = NO_POINTERS,
) -> str:
    """Return the text of an envelope.

    `ids` maps visible ids to object ids (see `anchored`); `issued` are the pointers that the
    store made and that stay usable inside data. Order is the caller's.
    """
    bodies = [_body(block, issued) for block in blocks]
    lines: list[str] = []
    section = ""
    for block, body, token in zip(blocks, bodies, _tokens(blocks, bodies, seal, ids), strict=True):
        if block.section != section:
            section = block.section
            lines.append(f"=== {HEADINGS[section]}\n")
        lines.append(f"{_opening(block, token)}\n{body}\n{_closing(block.kind, token)}\n")
    return "".join(lines)


def _body(block: Block, issued: AbstractSet[str]) -> str:
    return escape_data(block.text, issued=issued) if block.kind is BlockKind.DATA else block.text


def _opening(block: Block, token: str) -> str:
    return opening_line(
        (block.kind.value, token), block.object_ids, authority=block.authority, origin=block.origin
    )


def _closing(kind: BlockKind, token: str) -> str:
    return f"=== {kind.value} {token} end"


def _tokens(
    blocks: Sequence[Block], bodies: Sequence[str], seal: Seal, ids: Mapping[str, str]
) -> Iterator[str]:
    """Yield each block's boundary: the first counter whose boundary is in no content.

    A boundary can only occur inside a run of 26 or more characters of its alphabet, and such
    runs are rare: one pass collects them, instead of one search for each block.
    """
    fields = [*bodies]
    for block in blocks:
        fields += (block.origin, *block.object_ids)
    runs = {run.upper() for field in fields for run in _TOKEN_RUN.findall(field)}
    haystack = "\n".join(sorted(runs))
    for block in blocks:
        counter = 0
        while (token := boundary(seal, block, ids=ids, counter=counter)) in haystack:
            counter += 1
        yield token


def parse_envelope(text: str) -> tuple[Block, ...]:
    """Return the blocks of an envelope, from its text alone.

    Raises:
        InvalidInput: `bad_envelope`, when the text is no envelope or was not written by
            `render_blocks`; `data["offset"]` is the character where reading stopped.
    """
    return tuple(block for block, _, _ in _read(text))


def _read(text: str) -> Iterator[tuple[Block, str, str]]:
    """Yield (block, token, body as written) in order."""
    at, section, named = 0, "", 0
    while at < len(text):
        line, after = _line(text, at)
        if line in _SECTIONS:
            if _SECTIONS[line] == section:
                raise _bad("the heading repeats", at)
            section = _SECTIONS[line]
            at = after
            line, after = _line(text, at)
        if not section:
            raise _bad("no heading stands before the first block", at)
        block, token, body, end = _read_block(text, section, (at, line, after))
        named += len(block.object_ids)
        if named > MAX_IDS:
            raise _bad(f"more than {MAX_IDS} ids", at)
        yield block, token, body
        at = end


def _read_block(
    text: str, section: str, opening: tuple[int, str, int]
) -> tuple[Block, str, str, int]:
    at, line, after = opening
    header = read_opening(line)
    if header is None:
        raise _bad("expected a boundary line", at)
    kind = BlockKind(header.kind)
    closing = f"\n{_closing(kind, header.token)}\n"
    end = text.find(closing, after)
    if end < 0:
        raise _bad("a block is not closed", at)
    body = text[after:end]
    content = unescape_data(body) if kind is BlockKind.DATA else body
    try:
        block = Block(section, kind, header.object_ids, header.origin, header.authority, content)
    except (InvalidInput, Fault) as error:
        raise _bad(str(error), at) from error
    return block, header.token, body, end + len(closing)


def _line(text: str, at: int) -> tuple[str, int]:
    end = text.find("\n", at)
    if end < 0:
        raise _bad("the last line is not ended", at)
    return text[at:end], end + 1


def _bad(why: str, offset: int) -> InvalidInput:
    return InvalidInput(
        f"no envelope of this grammar: {why} (at character {offset}); "
        "give the text exactly as it was compiled",
        code="bad_envelope",
        offset=offset,
    )


def verify_envelope(
    text: str,
    seal: Seal,
    *,
    ids: Mapping[str, str] = NO_IDS,
    issued: AbstractSet[str] = NO_POINTERS,
) -> tuple[Broken, ...]:
    """Derive every boundary again and return the blocks that do not match, in order.

    Empty means intact: text, kind, section, level, origin and ids are what was sealed.

    Raises:
        InvalidInput: `bad_envelope`, when the text cannot be read at all.
    """
    read = tuple(_read(text))
    blocks = [block for block, _, _ in read]
    expected = _tokens(blocks, [body for _, _, body in read], seal, ids)
    broken: list[Broken] = []
    for index, ((block, token, body), right) in enumerate(zip(read, expected, strict=True)):
        if token != right:
            broken.append(Broken(index, block.section, "boundary"))
        elif body != _body(block, issued):
            broken.append(Broken(index, block.section, "escape"))
    return tuple(broken)


def check_reparse(text: str, blocks: Sequence[Block]) -> None:
    """Check that emitted text reads back as exactly these blocks (`BoundaryTokensIntact`).

    Raises:
        Fault: `envelope_reparse_failed`.
    """
    try:
        read = parse_envelope(text)
    except InvalidInput as error:
        raise Fault(
            f"the envelope just written cannot be read: {error}", code="envelope_reparse_failed"
        ) from error
    if read != tuple(blocks):
        raise Fault(
            f"the envelope reads back as {len(read)} other blocks than the {len(blocks)} written",
            code="envelope_reparse_failed",
        )
