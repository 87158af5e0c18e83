"""Exports of conversations: ChatGPT, Claude, Slack and WhatsApp, recognised by their content.

A message is not a passage of a document: it is observed, with its author as the speaker and its
own time. Its key is source, conversation and message, so that a longer export adds the new ones
alone. Messages of assistants are `agent://`; those of the system and of tools stay out. Pure.
"""

from __future__ import annotations

import codecs
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from html import unescape
from typing import Any, Final, NamedTuple, cast

from ...schema.errors import TenureError
from ...schema.values import fields_of
from ..visual.zone import zone_named
from .blocks import check_archive, refusal

_HALF: Final = r"[AaPp]\.?\s?[Mm]\.?|[上下午]午|午[前後]|오[전후]|[صم]"
"""The half of the day, as phones write it; `_AFTERNOON` has the letters of the second half."""
_AFTERNOON: Final = frozenset("Pp下後후م")
_LINE: Final = re.compile(
    r"^[\u200e\u200f\ufeff]*\[?(?P<date>\d{1,4}(?:[./-]\s?\d{1,4}){2})\.?[,،]?\s+"
    # Some languages put a short word between date and time, or the half of the day.
    rf"(?:(?P<early>{_HALF})\s?|[^\W\d]{{1,4}}\s)?"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
    rf"\s*(?P<late>{_HALF})?(?:\]|\s-|,)\s(?P<rest>.*)$"
)
_BUDDHIST: Final = 543
_SPOKEN: Final = re.compile(r"(?P<author>[^:\n]{1,80}): (?P<text>.*)", re.DOTALL)
_DIRECTION: Final = dict.fromkeys(map(ord, "\u200e\u200f\u202a\u202c\ufeff"))
_DAY_FILE: Final = re.compile(r"(?:.*/)?(?P<channel>[^/]+)/\d{4}-\d{2}-\d{2}\.json")
_SLACK_LINK: Final = re.compile(r"<(?P<sign>[@#!]?)(?P<target>[^|<>]+)(?:\|(?P<label>[^<>]*))?>")
_SLACK_SPOKEN: Final = frozenset(
    (None, "thread_broadcast", "reply_broadcast", "me_message", "file_share")
)


class ChatMessage(NamedTuple):
    """One message of an export."""

    conversation: str
    key: str
    author: str
    is_agent: bool
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ChatExport:
    """The messages of an export, in order."""

    program: str
    """`chatgpt`, `claude`, `slack` or `whatsapp`."""
    messages: tuple[ChatMessage, ...]
    left_out: Mapping[str, int]
    """Messages, and parts of messages, that stay out, by reason."""
    warnings: tuple[str, ...] = ()


def read_chats(
    data: bytes, name: str, *, dates: str | None = None, zone: str | None = None
) -> ChatExport | None:
    """The messages of an export; None for any other file.

    Raises:
        InvalidInput: `ambiguous_dates`, `bad_document`, `too_large`, `bad_time`.
    """
    try:
        return _read(_files(data, name), name, dates, zone)
    except TenureError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, OSError) as error:
        raise refusal("bad_document", f"{name} is a damaged export: {error!r:.200}") from error


def _read(
    files: Mapping[str, bytes], name: str, dates: str | None, zone: str | None
) -> ChatExport | None:
    left_out: Counter[str] = Counter()
    for path, content in files.items():
        if path.rpartition("/")[2] == "conversations.json" or len(files) == 1:
            tree = _json(content)
            if _is_list_with(tree, "mapping"):
                return ChatExport("chatgpt", tuple(_chatgpt(tree, left_out)), +left_out)
            if _is_list_with(tree, "chat_messages"):
                return ChatExport("claude", tuple(_claude(tree, left_out)), +left_out)

    days = {path: match for path in files if (match := _DAY_FILE.fullmatch(path))}
    if days and any(path.endswith("users.json") for path in files):
        return ChatExport("slack", tuple(_slack(files, days, left_out)), +left_out)
    for content in files.values():
        lines = _chat_lines(content)
        if lines:
            return _whatsapp(lines, name, dates, zone, left_out)

    return None


def _files(data: bytes, name: str) -> dict[str, bytes]:
    """The texts of an export, zipped or not."""
    if not data.startswith(b"PK\x03\x04"):
        return {name: data}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_archive(archive, len(data), name)
            members = [m for m in archive.namelist() if m.endswith((".json", ".txt"))]
            return {member: archive.read(member) for member in sorted(members)}
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError) as error:
        raise refusal("bad_document", f"{name} is a damaged archive: {error}") from error


def _json(content: bytes) -> Any:
    bare = content.removeprefix(codecs.BOM_UTF8).lstrip()
    if bare[:1] not in (b"[", b"{"):
        return None
    with suppress(ValueError, RecursionError):
        return json.loads(bare)
    return None


def _is_list_with(tree: Any, field: str) -> bool:
    entries = cast("list[object]", tree) if isinstance(tree, list) else []
    return bool(entries) and isinstance(entries[0], dict) and field in entries[0]


def _chatgpt(tree: Sequence[Mapping[str, Any]], left_out: Counter[str]) -> Iterator[ChatMessage]:
    """The branch that was shown last; messages of other branches are counted."""
    for talk in tree:
        nodes: Mapping[str, Any] = talk.get("mapping") or {}
        number = str(talk.get("id") or talk.get("conversation_id") or talk.get("title"))
        path: list[Mapping[str, Any]] = []
        node_id, seen = talk.get("current_node") or next(reversed([*nodes]), None), set[str]()
        while isinstance(node_id, str) and node_id in nodes and node_id not in seen:
            seen.add(node_id)
            path.append(nodes[node_id])
            node_id = nodes[node_id].get("parent")

        others = (node.get("message") for key, node in nodes.items() if key not in seen)
        left_out["other_branch"] += sum(map(bool, others))
        for message in [node["message"] for node in reversed(path) if node.get("message")]:
            writer: Any = message.get("author") or {}
            content: Any = message.get("content") or {}
            role, parts = writer.get("role"), content.get("parts") or [content]
            # A part with a text of its own is code, or what was said aloud.
            words: list[Any] = []
            for part in parts:
                words.append(part if isinstance(part, str) else fields_of(part).get("text"))
            left_out["no_text"] += sum(not isinstance(word, str) for word in words)
            text = "\n".join(word for word in words if isinstance(word, str)).strip()
            if role not in ("user", "assistant"):
                left_out["system_or_tool"] += 1
            elif text:
                stamp = message.get("create_time") or talk.get("create_time") or 0
                is_agent = role == "assistant"
                author = "ChatGPT" if is_agent else "user"
                at = datetime.fromtimestamp(float(stamp), UTC)
                yield ChatMessage(number, str(message.get("id")), author, is_agent, text, at)


def _claude(tree: Sequence[Mapping[str, Any]], left_out: Counter[str]) -> Iterator[ChatMessage]:
    for talk in tree:
        for message in talk.get("chat_messages") or ():
            parts = message.get("content") or ()
            texts = [p.get("text", "") for p in parts if p.get("type") == "text"]
            text = "\n".join(texts).strip() or str(message.get("text") or "").strip()
            left_out["system_or_tool"] += len(parts) - len(texts)
            left_out["attachment"] += len(message.get("attachments") or ())
            if not text:
                left_out["no_text"] += 1
            else:
                is_agent = message.get("sender") != "human"
                at = datetime.fromisoformat(str(message["created_at"]).replace("Z", "+00:00"))
                author = "Claude" if is_agent else "user"
                key = str(message.get("uuid"))
                yield ChatMessage(str(talk.get("uuid")), key, author, is_agent, text, at)


def _slack(
    files: Mapping[str, bytes], days: Mapping[str, re.Match[str]], left_out: Counter[str]
) -> Iterator[ChatMessage]:
    """The messages of all channels; of a message that was edited the newest text."""
    names: dict[str, str] = {}
    for path, content in files.items():
        if path.endswith("users.json"):
            for user in _json(content) or ():
                profile: Any = user.get("profile") or {}
                names[str(user.get("id"))] = str(profile.get("real_name") or user.get("name"))

    for path, match in days.items():
        for message in _json(files[path]) or ():
            text = str(message.get("text") or "").strip()
            if message.get("subtype") not in _SLACK_SPOKEN or not text:
                left_out["system_or_tool"] += 1
                continue

            stamp = str(message.get("ts"))
            thread = str(message.get("thread_ts") or "")
            channel = match["channel"]
            user = str(message.get("user"))
            profile = message.get("user_profile") or {}
            author = names.get(user) or profile.get("real_name") or user
            text = unescape(_SLACK_LINK.sub(lambda m: _link_words(m, names), text))
            conversation = f"{channel}/{thread}" if thread else channel
            is_agent = bool(message.get("bot_id"))
            at = datetime.fromtimestamp(float(stamp), UTC)
            yield ChatMessage(conversation, stamp, author, is_agent, text, at)


def _link_words(link: re.Match[str], names: Mapping[str, str]) -> str:
    """What Slack shows of a link; the address of a page stays behind its label."""
    sign, target, label = link["sign"], link["target"], link["label"]
    if sign == "@":
        return names.get(target) or label or target
    if sign:
        return f"{'#' if sign == '#' else '@'}{label or target}"
    return f"{label} ({target})" if label else target


def _chat_lines(content: bytes) -> list[tuple[re.Match[str], str]]:
    """The lines of a WhatsApp export, each with those that continue it; none of another text."""
    try:
        lines = content.decode("utf-8").replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError:
        return []

    found: list[tuple[re.Match[str], str]] = []
    for line in lines:
        match = _LINE.match(line)
        if match:
            found.append((match, match["rest"]))
        elif found:
            found[-1] = found[-1][0], f"{found[-1][1]}\n{line}"
        elif line.strip():
            return []

    spoken = sum(": " in text for _, text in found)
    return found if len(found) >= 3 and 2 * spoken > len(found) else []


def _whatsapp(
    lines: Sequence[tuple[re.Match[str], str]],
    name: str,
    dates: str | None,
    zone: str | None,
    left_out: Counter[str],
) -> ChatExport:
    order = _date_order([match["date"] for match, _ in lines], name, dates)
    zone_info = zone_named(zone, code="bad_time")

    counts: Counter[tuple[datetime, str, str]] = Counter()
    messages: list[ChatMessage] = []
    for match, rest in lines:
        spoken = _SPOKEN.fullmatch(rest.translate(_DIRECTION).rstrip())
        if spoken is None or not spoken["text"].strip():
            left_out["system_or_tool"] += 1
            continue

        numbers = _numbers(match["date"])
        day, month, year = (numbers[place] for place in order)
        year += 2_000 if year < 100 else 0
        year -= _BUDDHIST if year > 2_400 else 0
        hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"] or 0)
        half = match["early"] or match["late"]
        if half:
            hour = hour % 12 + 12 * bool(_AFTERNOON.intersection(half))
        try:
            at = datetime(year, month, day, hour, minute, second, tzinfo=zone_info)
        except ValueError as error:
            raise refusal("bad_document", f"{name}: {match['date']} is no date") from error

        author, text = spoken["author"].strip(), spoken["text"].strip()
        # A minute holds several messages of one author: what they say tells them apart.
        counts[at, author, text] += 1
        key = f"{at.isoformat()}/{author}/{counts[at, author, text]}/{text}"
        messages.append(ChatMessage(name, key, author, False, text, at))

    warnings = () if zone else ("zone_assumed",)
    return ChatExport("whatsapp", tuple(messages), left_out, warnings)


def _date_order(dates: Sequence[str], name: str, stated: str | None) -> tuple[int, int, int]:
    """The places of day, month and year in the dates of an export.

    Raises:
        InvalidInput: `ambiguous_dates`.
    """
    rows = [_numbers(date) for date in dates]
    if rows[0][0] > 31:
        return 2, 1, 0
    orders = {"day": (0, 1, 2), "month": (1, 0, 2)}
    if stated in orders:
        return orders[stated]
    if any(row[0] > 12 for row in rows):
        return orders["day"]
    if any(row[1] > 12 for row in rows):
        return orders["month"]

    fitting: list[tuple[int, int, int]] = []
    for order in orders.values():
        days = [tuple(row[place] for place in reversed(order)) for row in rows]
        fitting += [order] if days == sorted(days) else []

    if len(fitting) == 1:
        return fitting[0]
    raise refusal(
        "ambiguous_dates", f"{name}: its dates can be read in two ways; state dates=day or month"
    )


def _numbers(date: str) -> list[int]:
    return [int(part) for part in re.split(r"[./-]\s?", date)]
