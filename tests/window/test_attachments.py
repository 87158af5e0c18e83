"""Pictures and files in a tool's result reach each provider in the form that it takes."""

import json
from base64 import b64decode, b64encode, urlsafe_b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.tests.window.conversation_replay import Conversation, faults
from tenure.window.checkpoint import media_blocks, media_line, scratchpad_entries
from tenure.window.events import ERASURE_MARK, EventKind, WindowEvent
from tenure.window.intake import ATTACHMENT, ToolAttachment, attachment, tool_content
from tenure.window.layout import attachment_block, native_messages
from tenure.window.state import part_tokens, snapshot_text, state_from
from tenure.window.step import step
from tenure.window.units import MessagePart, PartKind, StandingForm, part_body

PIXELS = b"\x89PNG\r\n\x1a\n hello"
DATA = b64encode(PIXELS).decode()
PNG = ToolAttachment("image/png", data=DATA)
PDF = ToolAttachment("application/pdf", data=b64encode(b"%PDF-1.7 hello").decode())
ADDRESS = "https://example.org/a.png"
SHAPES: dict[str, dict[str, Any]] = {
    "the protocol": {"type": "image", "data": DATA, "mimeType": "image/png"},
    "anthropic": {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": DATA},
    },
    "the protocol in Python": {"type": "image", "data": DATA, "mime_type": "image/png"},
    "chat": {"type": "image_url", "image_url": {"url": PNG.address}},
    "responses": {"type": "input_image", "image_url": PNG.address},
    "gemini": {"inline_data": {"mime_type": "image/png", "data": DATA}},
    "gemini on the wire": {"inlineData": {"mimeType": "image/png", "data": PIXELS}},
}
SCREEN = SHAPES["the protocol"]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_picture_is_read_in_every_form(shape: dict[str, Any]) -> None:
    assert attachment(shape) == PNG
    (block,) = tool_content([shape]).blocks
    assert attachment(json.loads(block)) == PNG


@pytest.mark.parametrize(
    "value",
    [
        {"type": "file", "path": "a.py"},
        {"type": "image", "path": "a.png"},
        {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a"}},
        {"type": "image_url", "image_url": {"url": "file:///etc/passwd"}},
        {"type": "input_image", "image_url": "http://example.org/a.png"},
        {"type": "image", "source": {"type": "url"}},
        {"data": [1, 2], "mimeType": "image/png"},
        {"data": "rows", "mimeType": ""},
    ],
)
def test_what_only_looks_like_a_picture_stays_a_value(value: dict[str, Any]) -> None:
    assert attachment(value) is None
    assert tool_content([value]) == ([value], (), False)
    assert tool_content(value) == (value, (), False)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=8))
def test_a_value_that_is_not_made_of_blocks_stays_as_it_is(value: Any) -> None:
    assert tool_content(value) == (value, (), False)
    assert tool_content({"rows": value}).words == {"rows": value}


def test_words_of_a_result_stand_apart_from_its_pictures() -> None:
    link = {"type": "resource_link", "uri": "file:///a.txt"}
    content = [{"type": "text", "text": "before"}, SCREEN, {"type": "text"}, link]
    words, blocks, is_error = tool_content(content)
    assert words == f"before\n\n{json.dumps(link)}"
    assert [json.loads(block) for block in blocks] == [SCREEN]
    assert not is_error


def test_a_result_of_the_protocol_says_itself_that_it_failed() -> None:
    result = {"content": [{"type": "text", "text": "no such page"}], "isError": True}
    assert tool_content(result) == ("no such page", (), True)
    in_python = {"content": result["content"], "is_error": True, "meta": {"took": 3}}
    assert tool_content(in_python) == ("no such page", (), True)
    assert not tool_content(result | {"isError": False}).is_error
    # Another object that happens to have such a field is nobody's result.
    assert tool_content({**result, "page": 2}).words == {**result, "page": 2}
    assert tool_content({"content": "words", "isError": False}).words["content"] == "words"


class Dumped:
    """A record as the SDK of a protocol has it."""

    def __init__(self, plain: Any) -> None:
        self._plain = plain

    def model_dump(self, **wishes: Any) -> Any:
        assert wishes == {"mode": "json", "by_alias": True, "exclude_none": True}
        return self._plain


def test_records_of_an_sdk_are_read_like_their_json() -> None:
    assert len(tool_content(Dumped({"content": [SCREEN]})).blocks) == 1
    assert len(tool_content([Dumped(SCREEN)]).blocks) == 1


@pytest.mark.parametrize(
    ("block", "blocks"),
    [
        (
            SHAPES["chat"],
            {
                "anthropic": SHAPES["anthropic"],
                "openai": None,
                "responses": SHAPES["responses"],
                "gemini": SHAPES["gemini"],
            },
        ),
        (
            {"type": "input_image", "image_url": ADDRESS},
            {
                "anthropic": {"type": "image", "source": {"type": "url", "url": ADDRESS}},
                "responses": {"type": "input_image", "image_url": ADDRESS},
                "gemini": None,
            },
        ),
        (
            {"type": "document", "source": {"type": "url", "url": ADDRESS}},
            {"responses": {"type": "input_image", "image_url": ADDRESS}},
        ),
        (
            {"data": PDF.data, "mimeType": PDF.media_type},
            {
                "anthropic": {
                    "type": "document",
                    "source": {
                        "type": "base64",
                        "media_type": PDF.media_type,
                        "data": PDF.data,
                    },
                },
                "responses": {
                    "type": "input_file",
                    "filename": "result.pdf",
                    "file_data": PDF.address,
                },
                "gemini": {"inline_data": {"mime_type": PDF.media_type, "data": PDF.data}},
            },
        ),
        (
            {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
            {"anthropic": None, "responses": None, "gemini": None},
        ),
        ({"type": "text", "text": "no picture"}, {"anthropic": None}),
    ],
)
def test_each_provider_gets_the_form_that_it_takes(
    block: dict[str, Any], blocks: dict[str, dict[str, Any] | None]
) -> None:
    assert {target: attachment_block(json.dumps(block), target) for target in blocks} == blocks


@pytest.mark.parametrize("declared", ["image/png", "image/jpeg", "image/tiff"])
@pytest.mark.parametrize(
    ("pixels", "media_type"),
    [
        (PIXELS, "image/png"),
        (b"\xff\xd8\xff\xe0 hello", "image/jpeg"),
        (b"GIF87a hello", "image/gif"),
        (b"RIFF\n\x00\x00\x00WEBPVP8 hello", "image/webp"),
    ],
)
def test_the_bytes_of_a_picture_tell_its_type(
    declared: str, pixels: bytes, media_type: str
) -> None:
    data = b64encode(pixels).decode()
    block = json.dumps({"type": "image", "data": data, "mimeType": declared})
    sent = attachment_block(block, "anthropic")
    assert sent is not None
    assert sent["source"]["media_type"] == media_type


@pytest.mark.parametrize("pixels", [b"", b"h", b"<svg/>", b"RIFF....WAVE", b"\x89PNG"])
def test_what_would_be_refused_by_providers_is_only_told_of(pixels: bytes) -> None:
    data = b64encode(pixels).decode()
    block = {"type": "image", "data": data, "mimeType": "image/png"}
    for target in ("anthropic", "responses", "gemini"):
        assert attachment_block(json.dumps(block), target) is None
    assert len(tool_content([block]).blocks) == bool(pixels)


def test_data_that_are_no_base64_stay_words() -> None:
    for data in ("not base64!", DATA[:-3] + "é"):
        block = {"type": "image", "data": data, "mimeType": "image/png"}
        assert tool_content([block, SCREEN]).words == json.dumps(block, ensure_ascii=False)


def test_data_in_lines_and_in_the_alphabet_of_addresses_are_sent_in_the_common_one() -> None:
    pixels = PIXELS + bytes(range(200, 256))
    data = urlsafe_b64encode(pixels).decode()
    assert "-" in data
    assert "_" in data
    block = {"type": "image", "data": f"{data[:20]}\n{data[20:]}", "mimeType": "image/png"}
    (text,) = tool_content([block]).blocks
    sent = attachment_block(text, "gemini")
    assert sent == {"inline_data": {"mime_type": "image/png", "data": b64encode(pixels).decode()}}


def seen(*blocks: dict[str, Any], words: str = "a page", **body: Any) -> Conversation:
    """A conversation in which a tool handed back words and pictures."""
    talk = Conversation(limit=40_000)
    talk.user("Look at the page.")
    talk.call("c1", "browse")
    parts = [MessagePart(kind=PartKind.RESULT, text=words, call_id="c1", name="browse")]
    for block in blocks:
        text = json.dumps(block)
        parts.append(MessagePart(kind=PartKind.MEDIA, text=text, call_id="c1", name=ATTACHMENT))
    lines = [part_body(part, part_tokens(talk.state, part)) for part in parts]
    texts = tuple(part.text for part in parts)
    talk.put(EventKind.RESULT_CAME, {"parts": lines, **body}, texts)
    return talk


def results(talk: Conversation) -> dict[str, Any]:
    """What stands as the result of the call, by provider."""
    assert faults(talk.state) == []
    return {
        "anthropic": native_messages(talk.state, "anthropic")[-1]["content"][0]["content"],
        "openai": native_messages(talk.state, "openai")[-1]["content"],
        "responses": native_messages(talk.state, "responses")[-1]["output"],
        "gemini": native_messages(talk.state, "gemini")[-1]["parts"][0]["function_response"],
    }


def test_a_picture_stands_in_the_result_of_its_call() -> None:
    assert results(seen(SCREEN)) == {
        "anthropic": [{"type": "text", "text": "a page"}, SHAPES["anthropic"]],
        "openai": "a page\n[1 picture: image/png. Original: window://4]",
        "responses": [{"type": "input_text", "text": "a page"}, SHAPES["responses"]],
        "gemini": {
            "name": "browse",
            "response": {"result": "a page"},
            "parts": [SHAPES["gemini"]],
        },
    }


def test_a_picture_needs_no_words_and_a_sound_is_told_of() -> None:
    bare = results(seen(SCREEN, words=""))
    assert bare["anthropic"] == [SHAPES["anthropic"]]
    assert bare["openai"] == "[1 picture: image/png. Original: window://4]"
    sound = {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}
    standing = results(seen(sound))
    assert standing["anthropic"] == "a page\n[1 sound: audio/wav. Original: window://4]"


def test_pictures_of_parallel_calls_stay_with_their_results() -> None:
    talk = Conversation(limit=40_000)
    talk.user("Look.")
    calls = [{"type": "tool_use", "id": each, "name": "browse", "input": {}} for each in "ab"]
    talk.model({"role": "assistant", "content": calls})
    for call_id in "ba":
        data = b64encode(b"GIF89a" + call_id.encode()).decode()
        block = json.dumps({"type": "image", "data": data, "mimeType": "image/gif"})
        talk.parts(
            EventKind.RESULT_CAME,
            MessagePart(kind=PartKind.RESULT, text=call_id, call_id=call_id),
            MessagePart(kind=PartKind.MEDIA, text=block, call_id=call_id, name=ATTACHMENT),
        )

    pictures = {}
    for block in native_messages(talk.state, "anthropic")[-1]["content"]:
        words, picture = block["content"]
        pixels = b64decode(picture["source"]["data"])
        pictures[block["tool_use_id"]] = (words["text"], pixels)
    assert pictures == {"a": ("a", b"GIF89aa"), "b": ("b", b"GIF89ab")}
    assert native_messages(talk.state, "anthropic")[-2]["content"] == calls


def test_pictures_that_wait_in_the_log_are_no_part_of_the_window() -> None:
    talk = seen(SCREEN, words="short", apart=True)
    assert results(talk)["anthropic"] == "short"
    assert talk.state.tokens < 1_000


def test_the_bytes_of_a_picture_are_no_words() -> None:
    talk = seen(SCREEN)
    assert DATA not in talk.state.units[1].text
    assert "a page" in talk.state.units[1].text


def test_an_erased_picture_leaves_the_mark_in_its_result() -> None:
    talk = seen(SCREEN)
    event = WindowEvent(seq=9, kind=EventKind.TEXTS_ERASED, body={"places": [[4, 1]]})
    talk.state = step(talk.state, event)
    assert results(talk)["anthropic"] == f"a page\n{ERASURE_MARK}"
    assert len(native_messages(talk.state, "anthropic")) == 3


def test_a_snapshot_gives_pictures_back_at_their_place() -> None:
    talk = seen(SCREEN)
    again = state_from(snapshot_text(talk.state))
    assert again is not None
    assert native_messages(again, "responses") == native_messages(talk.state, "responses")


# ---- A picture stands for two turns; then an edit may leave a line about it.

PICTURE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="},
}


def shown(*blocks: Any, later_turns: int = 3) -> Conversation:
    talk = Conversation(limit=40_000, model="claude-opus-4-7")
    talk.user({"role": "user", "content": [*blocks, {"type": "text", "text": "What is this?"}]})
    talk.model("A cat.")
    for number in range(later_turns):
        talk.user(f"question {number}")
        talk.model("yes")
    return talk


REPORT = {
    "type": "document",
    "title": 'report" of June.pdf',
    "source": {"type": "base64", "media_type": "application/pdf", "data": "aGVsbG8="},
}
SOUND = {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}}
CHAT_FILE = {"type": "file", "file": {"filename": "plan.xlsx", "file_id": "file_7"}}
SHEET = {"file_data": {"mime_type": "text/csv", "file_uri": "gs://a/b", "display_name": "b.csv"}}


def test_a_file_stays_with_its_provider_and_its_words_are_counted() -> None:
    words = {"type": "text", "media_type": "text/plain", "data": "many words " * 2_000}
    long = {"type": "document", "source": words}
    talk = Conversation(limit=90_000, model="claude-opus-4-7")
    talk.user({"role": "user", "content": [long]})
    assert talk.state.units[0].tokens > 4_000
    assert native_messages(talk.state, "anthropic")[0]["content"] == [long]

    talk.user({"role": "user", "content": [CHAT_FILE]})
    assert native_messages(talk.state, "openai")[-1]["content"] == [CHAT_FILE]
    assert media_line(3, [json.dumps(CHAT_FILE)]) == (
        '[1 file: of unknown format "plan.xlsx". Original: window://3]'
    )
    talk.user({"role": "user", "parts": [SHEET]})
    assert native_messages(talk.state, "gemini")[-1]["parts"] == [SHEET]
    assert media_line(3, [json.dumps(SHEET)] * 2) == (
        '[2 files: text/csv "b.csv". Original: window://3]'
    )


def test_an_old_picture_becomes_a_line_and_comes_back_as_its_block() -> None:
    talk = shown(PICTURE, PICTURE, REPORT)
    history = talk.state.units
    talk.edit(talk.plan(talk.state.tokens - 100))
    unit = talk.state.units[0]
    assert [item.kind for item in unit.items] == [PartKind.NOTE, PartKind.USER]
    assert unit.items[0].text.startswith("[2 pictures and 1 file: image/png, application/pdf")
    assert unit.items[0].text.endswith("Original: window://2]")
    assert faults(talk.state) == []
    entries = list(scratchpad_entries(history, talk.state.units))
    assert [entry.kind.value for entry in entries] == ["picture", "picture", "file"]
    assert {entry.stands for entry in entries} == {False}
    assert media_blocks(history) == [PICTURE, PICTURE, REPORT]


def test_a_young_picture_stays() -> None:
    talk = shown(PICTURE, later_turns=2)
    plan = talk.plan(talk.state.tokens - 100)
    forms = [change.form for change in plan.changes] if plan else []
    assert StandingForm.SHORT not in forms
