"""What a caller asks of a compile: one frozen value with typed items.

`parse_request` is the edge: it takes plain texts and mappings where an item is expected and
refuses what it cannot read, naming the field. `CompileRequest` itself holds only checked,
canonical values, so that its JSON is part of the manifest and of the envelope's identity.
Set-like inputs (entities, tools, evidence, pinned, skills) are kept sorted: their order in the
call never changes a byte. History, constraints, acceptance, progress and errors keep theirs.

Nothing here is trusted: which level an item gets is decided by `given` from the caller's
ceiling. Sources: API "Compiling"; settled 10; checklist C-126 to C-128, C-146, C-216.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, TypeVar, cast

from ..schema.errors import InvalidInput, did_you_mean
from ..schema.interval import INF_US, MIN_US
from ..schema.values import canonical_json, micros
from ..schema.vocabulary import Enforcement, parse, parse_level

MAX_TEXT: Final = 1_000_000
"""Characters of one item; a longer text is a document to be ingested, not a request."""

MAX_ITEMS: Final = 5_000
"""Items of one list."""

VECTOR_SCALE: Final = 4_000
"""A vector is kept as whole numbers, `rint(4000 x)` of the normalised one (settled 8)."""


class Role(StrEnum):
    """Who spoke a turn."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class MediaKind(StrEnum):
    """What a media item holds."""

    IMAGE = "image"
    AUDIO = "audio"
    VIDEO = "video"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn of the conversation, verbatim."""

    text: str
    role: Role = Role.USER
    name: str = ""
    """The tool's name, for a tool result."""
    call_id: str = ""
    """Joins a tool call to its result; the two are never parted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A retrieved text with its provenance (C-127)."""

    text: str
    origin: str = "request://evidence"
    title: str = ""
    authority_level: int | None = None
    """None: 4. A stronger level is taken only as far as the caller's own ceiling."""
    source_authority: float | None = None
    retrieved_at: str = ""
    span: str = ""
    """Where in the source the text stands, in the caller's words."""
    lineage: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    """Acceptance items this text bears on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """A picture, recording or film; the envelope's text holds its description."""

    kind: MediaKind
    uri: str
    description: str = ""
    width: int = 0
    """Pixels."""
    height: int = 0
    """Pixels."""
    seconds: float = 0.0
    origin: str = "request://media"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool the model may call (C-128)."""

    name: str
    description: str = ""
    input_schema: str = "{}"
    """Canonical JSON."""
    output_schema: str = "{}"
    """Canonical JSON."""
    protocol: str = ""
    authorization_scope: str = ""
    timeout_class: str = ""
    origin: str = "request://tools"
    authority_level: int | None = None
    """None: the weaker of the caller's ceiling and 2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A rule for the answer and how code enforces it (C-146, D1)."""

    text: str
    enforcement: Enforcement = Enforcement.STATED
    spec: str = "{}"
    """Canonical JSON of what the enforcement needs."""
    hard: bool = True
    positive: bool = True
    explicit: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A short named text: a skill, a step of progress, a lesson of an error."""

    text: str
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileRequest:
    """One compile, as asked."""

    task: str
    """A task type of the vocabulary."""
    query: str = ""
    """What is searched for; also the request when no `user_request` is given."""
    user_request: str = ""
    """The user's words, verbatim."""
    goal: str = ""
    step: str = ""
    """What is being done now; without `acceptance` it leaves a gap."""
    acceptance: tuple[Constraint, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    entities: tuple[str, ...] = ()
    """Mentions or entity ids, sorted."""
    tools: tuple[Tool, ...] = ()
    history: tuple[Turn, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    media: tuple[Media, ...] = ()
    skills: tuple[Note, ...] = ()
    pinned: tuple[Evidence, ...] = ()
    pinned_ids: tuple[str, ...] = ()
    """Stored objects that the request pins, sorted."""
    progress: tuple[Note, ...] = ()
    errors: tuple[Note, ...] = ()
    project: str | None = None
    query_vector: tuple[int, ...] | None = None
    budget_tokens: int = 8_000
    reserve_tokens: int | None = None
    model: str = "generic"
    profile: str = "default"
    valid_us: int | None = None
    """None: the newest instant the store knows."""
    tx_us: int | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("entities", "pinned_ids"):
            put(self, name, tuple(sorted(set(getattr(self, name)))))
        for name in ("tools", "evidence", "media", "skills", "pinned"):
            put(self, name, tuple(sorted(getattr(self, name), key=_canonical)))
        _check_numbers(self)

    @property
    def wish(self) -> str:
        """Return the user's words: the stated request, else the query."""
        return self.user_request or self.query

    def to_json(self) -> str:
        """Return the request as canonical JSON, the form that a manifest pins."""
        return canonical_json(asdict(self))


def request_from_json(text: str) -> CompileRequest:
    """Return the request of a canonical JSON.

    Raises:
        InvalidInput: `bad_manifest`, when the text is no request.
    """
    try:
        stored = json.loads(text)
        return _rebuilt(stored)
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise InvalidInput(
            f"the request of the manifest cannot be read: {error}", code="bad_manifest"
        ) from error


def parse_request(task: str, **given: Any) -> CompileRequest:
    """Return a checked request from what a caller passed to `compile`.

    Raises:
        InvalidInput: `bad_request`, `too_large`, `naive_datetime`, `unknown_vocabulary`.
    """
    known = (*_READERS, "valid", "tx")
    for name in given:
        if name not in known:
            raise _bad(name, f"no such parameter; {did_you_mean(name, known)}")
    read: dict[str, Any] = {
        name: _READERS[name](name, raw)
        for name, raw in given.items()
        if name in _READERS and raw is not None
    }
    evidence = read.pop("evidence", ())
    pinned = read.pop("pinned", ())
    return CompileRequest(
        task=_text("task", task),
        evidence=tuple(item for item in evidence if isinstance(item, Evidence)),
        media=tuple(item for item in evidence if isinstance(item, Media)),
        pinned=tuple(item for item in pinned if isinstance(item, Evidence)),
        pinned_ids=tuple(item for item in pinned if isinstance(item, str)),
        valid_us=_instant("valid", given.get("valid")),
        tx_us=_instant("tx", given.get("tx")),
        **read,
    )


def quantised(vector: Sequence[float]) -> tuple[int, ...]:
    """Return a vector as the whole numbers that searches multiply (settled 8).

    >>> quantised([3.0, 4.0])
    (2400, 3200)
    """
    length = math.sqrt(math.fsum(x * x for x in vector))
    if not vector or not math.isfinite(length) or length <= 0:
        raise _bad("query_vector", "it must hold finite numbers that are not all zero")
    return tuple(round(VECTOR_SCALE * x / length) for x in vector)


_Kind = TypeVar("_Kind")


def _canonical(item: Any) -> str:
    return canonical_json(asdict(item))


def _bad(where: str, why: str) -> InvalidInput:
    return InvalidInput(f"{where}: {why}", code="bad_request", field=where)


def _text(where: str, raw: object) -> str:
    if not isinstance(raw, str):
        raise _bad(where, f"give a text, not {type(raw).__name__}")
    if len(raw) > MAX_TEXT:
        raise InvalidInput(
            f"{where} has {len(raw)} characters, the limit is {MAX_TEXT}; "
            "ingest it as a document and let the compile find its parts",
            code="too_large",
            field=where,
        )
    return raw


def _listed(where: str, raw: object) -> tuple[Any, ...]:
    if isinstance(raw, str | Mapping) or not isinstance(raw, Sequence | set | frozenset):
        raw = (raw,)
    items = tuple(cast("Sequence[Any]", raw))
    if len(items) > MAX_ITEMS:
        raise InvalidInput(f"{where} has more than {MAX_ITEMS} items", code="too_large")
    return items


def _item(kind: type[_Kind], where: str, raw: object) -> _Kind:
    if isinstance(raw, kind):
        return raw
    if isinstance(raw, str):
        raw = {"name" if kind is Tool else "text": raw}
    if not isinstance(raw, Mapping):
        raise _bad(where, f"give a text, a mapping or a {kind.__name__}")
    names = [field.name for field in fields(cast("Any", kind))]
    stated: dict[str, Any] = {}
    for name, value in cast("Mapping[str, Any]", raw).items():
        if name not in names:
            raise _bad(where, f"unknown field {name!r}; {did_you_mean(name, names)}")
        stated[name] = _FIELDS.get(name, _text)(f"{where}.{name}", value)
    try:
        return kind(**stated)
    except TypeError as error:
        raise _bad(where, str(error)) from error


def _json_text(where: str, raw: object) -> str:
    try:
        return canonical_json(json.loads(raw) if isinstance(raw, str) else raw)
    except (TypeError, ValueError) as error:
        raise _bad(where, f"it is no JSON: {error}") from error


def _whole(where: str, raw: object) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int) or raw < 0:
        raise _bad(where, f"give a whole number of at least 0, not {raw!r}")
    return raw


def _number(where: str, raw: object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not 0 <= raw < math.inf:
        raise _bad(where, f"give a number of at least 0, not {raw!r}")
    return float(raw)


def _share(where: str, raw: object) -> float | None:
    if raw is None:
        return None
    if _number(where, raw) > 1:
        raise _bad(where, f"give a number from 0 to 1, not {raw!r}")
    return _number(where, raw)


def _flag(where: str, raw: object) -> bool:
    if not isinstance(raw, bool):
        raise _bad(where, f"give true or false, not {raw!r}")
    return raw


def _level(_where: str, raw: object) -> int | None:
    return None if raw is None else int(parse_level(raw))


def _texts(where: str, raw: object) -> tuple[str, ...]:
    return tuple(_text(where, item) for item in _listed(where, raw))


def _instant(where: str, raw: object) -> int | None:
    if raw is None or (isinstance(raw, int) and not isinstance(raw, bool)):
        instant = raw
    elif raw in ("infinity", "-infinity"):
        instant = INF_US if raw == "infinity" else MIN_US
    elif isinstance(raw, datetime):
        instant = micros(raw)
    else:
        try:
            instant = micros(datetime.fromisoformat(_text(where, raw)))
        except InvalidInput:
            raise
        except ValueError as error:
            raise _bad(where, f"{raw!r} is no ISO 8601 instant with a zone") from error
    if instant is not None and not MIN_US <= instant <= INF_US:
        raise _bad(where, "the instant leaves the years 1 to 9999")
    return instant


def _vector(where: str, raw: object) -> tuple[int, ...]:
    values = tuple(raw) if isinstance(raw, Sequence) else ()
    if values and all(isinstance(x, int) and not isinstance(x, bool) for x in values):
        return cast("tuple[int, ...]", values)
    return quantised([_signed(where, x) for x in values])


def _signed(where: str, raw: object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise _bad(where, f"give numbers, not {raw!r}")
    return float(raw)


def _items(kind: type[Any]) -> Any:
    def read(where: str, raw: object) -> tuple[Any, ...]:
        items = enumerate(_listed(where, raw))
        return tuple(_item(kind, f"{where}[{place}]", item) for place, item in items)

    return read


def _evidence(where: str, raw: object) -> tuple[Evidence | Media, ...]:
    read: list[Evidence | Media] = []
    for place, item in enumerate(_listed(where, raw)):
        media = isinstance(item, Media) or (isinstance(item, Mapping) and "kind" in item)
        name = f"{where}[{place}]"
        read.append(_item(Media, name, item) if media else _item(Evidence, name, item))
    return tuple(read)


def _pinned(where: str, raw: object) -> tuple[Evidence | str, ...]:
    read: list[Evidence | str] = []
    for place, item in enumerate(_listed(where, raw)):
        pin = isinstance(item, str) and _is_id(item)
        read.append(str(item) if pin else _item(Evidence, f"{where}[{place}]", item))
    return tuple(read)


def _is_id(text: str) -> bool:
    return len(text) == 36 and text.count("-") == 4 and not text.strip("0123456789abcdef-")


_FIELDS: Final[Mapping[str, Any]] = {
    "role": lambda _where, raw: parse(Role, raw),
    "kind": lambda _where, raw: parse(MediaKind, raw),
    "enforcement": lambda _where, raw: parse(Enforcement, raw),
    "input_schema": _json_text,
    "output_schema": _json_text,
    "spec": _json_text,
    "authority_level": _level,
    "source_authority": _share,
    "lineage": _texts,
    "covers": _texts,
    "width": _whole,
    "height": _whole,
    "seconds": _number,
    "hard": _flag,
    "positive": _flag,
    "explicit": _flag,
}
_READERS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(
        ("query", "user_request", "goal", "step", "project", "model", "profile"), _text
    ),
    **dict.fromkeys(("budget_tokens", "reserve_tokens"), _whole),
    "acceptance": _items(Constraint),
    "constraints": _items(Constraint),
    "entities": _texts,
    "tools": _items(Tool),
    "history": _items(Turn),
    "evidence": _evidence,
    "skills": _items(Note),
    "pinned": _pinned,
    "progress": _items(Note),
    "errors": _items(Note),
    "query_vector": _vector,
}
_ITEM_KINDS: Final[Mapping[str, type[Any]]] = {
    "acceptance": Constraint,
    "constraints": Constraint,
    "tools": Tool,
    "history": Turn,
    "evidence": Evidence,
    "media": Media,
    "skills": Note,
    "pinned": Evidence,
    "progress": Note,
    "errors": Note,
}


def _rebuilt(stored: dict[str, Any]) -> CompileRequest:
    read = dict(stored)
    for name, kind in _ITEM_KINDS.items():
        read[name] = tuple(_item(kind, name, item) for item in read[name])
    for name in ("entities", "pinned_ids", "query_vector"):
        read[name] = None if read[name] is None else tuple(read[name])
    return CompileRequest(**read)


def _check_numbers(request: CompileRequest) -> None:
    if request.budget_tokens < 1:
        raise _bad("budget_tokens", "give at least 1")
    vector = request.query_vector
    if vector is not None and any(abs(x) > VECTOR_SCALE for x in vector):
        raise _bad("query_vector", f"its whole numbers lie in -{VECTOR_SCALE} to {VECTOR_SCALE}")
