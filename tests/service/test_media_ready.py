"""Originals made ready to send: real pictures and recordings, permissions, files that lie."""

import io
import json
import struct
import sys
import wave
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest
from google.genai import types
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from typer.testing import CliRunner

from tenure import InvalidInput, Memory, NotFound, Principal, SentMedia, Unavailable, connect
from tenure.compiler.envelope.envelope import Envelope
from tenure.compiler.media.reduction import PICTURE
from tenure.compiler.tokens.modality import audio_tokens, image_tokens
from tenure.faces.adapters.adk import before_model, user_text
from tenure.faces.cli.main import app
from tenure.tests.media_samples import mp4, png, wav
from tenure.tests.support.refusals import refused


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with connect(str(tmp_path / "m.db"), artifacts=f"memory://{tmp_path.name}") as opened:
        yield opened


def picture(
    size: tuple[int, int] = (800, 400), form: str = "PNG", mode: str = "RGB", **options: Any
) -> bytes:
    """Return a picture whose left half is red and whose right half is blue."""
    made = Image.new("RGB", size, "red")
    made.paste("blue", (size[0] // 2, 0, *size))
    held, made = io.BytesIO(), made.convert(mode)
    if mode.endswith("A"):
        made.putalpha(128)
    made.save(held, form, **options)
    return held.getvalue()


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def compiled(memory: Memory, *items: Any, budget: int = 4_000, **given: Any) -> Envelope:
    return memory.compile(
        "code_generation", "deploy", evidence=items, budget_tokens=budget, **given
    )


def put(memory: Memory, data: bytes, name: str, **stated: Any) -> dict[str, Any]:
    return {"artifact": memory.artifacts.put(data, name=name).address, **stated}


def test_a_picture_that_fits_goes_out_byte_for_byte(memory: Memory) -> None:
    data = picture(form="JPEG", exif=b"Exif\0\0")
    one = compiled(memory, put(memory, data, "board.jpg"))
    (sent,) = memory.media(one).values()
    assert (sent.data, sent.type) == (data, "image/jpeg")


def test_a_picture_that_is_too_large_is_sent_in_its_planned_size(memory: Memory) -> None:
    board = put(memory, picture((3840, 2160)), "board.png")
    one = compiled(memory, board, model="claude-opus-4-8", budget=2_500)
    (listed,) = one.trace.budget["media"]
    assert listed["sent_as"] == "downsampled"
    media = memory.media(one)
    (sent,) = media.values()
    assert list(opened(sent.data).size) == listed["size"]
    assert image_tokens(*opened(sent.data).size, PICTURE) == listed["tokens"]
    request = one.render("anthropic", media=media)
    kinds = [part["type"] for part in request["messages"][-1]["content"]]
    assert kinds.count("image") == 1
    assert memory.media(one) == media  # the same bytes again


def test_a_picture_is_cropped_to_its_regions(memory: Memory) -> None:
    board = put(memory, picture(), "board.png", regions=[[420, 10, 540, 90]])
    one = compiled(memory, board)
    ((address, sent),) = memory.media(one).items()
    assert address.endswith("#xywh=420,10,120,80")
    cut = opened(sent.data)
    assert (cut.size, cut.convert("RGB").getpixel((5, 5))) == ((120, 80), (0, 0, 255))
    assert one.render("openai", media={address: sent})
    large = put(memory, picture((1600, 800)), "large.png", regions=[[0, 0, 1500, 790]])
    tight = compiled(memory, large, budget=1_300)
    ((address, sent),) = memory.media(tight).items()
    assert address.endswith("#xywh=0,0,1500,790")
    (listed,) = tight.trace.budget["media"]
    assert list(opened(sent.data).size) == listed["size"]


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_a_photo_is_upright_and_loses_its_notes(memory: Memory, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = orientation, "a camera"
    photo = put(memory, picture((1600, 800), form="JPEG", exif=exif), "photo.jpg")
    one = compiled(memory, photo, budget=1_300)
    (sent,) = memory.media(one).values()
    made = opened(sent.data)
    across = orientation in (1, 3)
    assert (made.width > made.height) is across
    assert not made.getexif()
    corner = made.convert("RGB").getpixel((3, 3))
    assert isinstance(corner, tuple)
    assert (corner[0] > 200) is (orientation in (1, 6))  # red lies left, above when turned


def test_a_photo_counted_as_it_is_stored_is_cut_as_it_is_stored(memory: Memory) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    photo = put(memory, picture((1600, 800), form="JPEG", exif=exif), "photo.jpg")
    one = compiled(memory, {**photo, "width": 1600, "height": 800}, budget=1_300)
    (sent,) = memory.media(one).values()
    assert list(opened(sent.data).size) == one.trace.budget["media"][0]["size"]
    assert opened(sent.data).width > opened(sent.data).height


@pytest.mark.parametrize(
    ("mode", "form", "kind"),
    [
        ("RGB", "PNG", "image/png"),
        ("RGBA", "PNG", "image/png"),
        ("P", "PNG", "image/png"),
        ("L", "PNG", "image/png"),
        ("1", "PNG", "image/png"),
        ("LA", "PNG", "image/png"),
        ("RGB", "WEBP", "image/jpeg"),
        ("RGBA", "WEBP", "image/png"),
        ("CMYK", "JPEG", "image/jpeg"),
        ("P", "GIF", "image/png"),
    ],
)
def test_every_common_kind_of_picture_is_resized(
    memory: Memory, mode: str, form: str, kind: str
) -> None:
    board = put(memory, picture((1600, 800), form, mode), f"board.{form.lower()}")
    one = compiled(memory, board, budget=1_300)
    (sent,) = memory.media(one).values()
    assert sent.type == kind
    assert list(opened(sent.data).size) == one.trace.budget["media"][0]["size"]
    assert one.render("anthropic", media=memory.media(one))


def test_sixteen_bits_of_grey_keep_their_shades(memory: Memory) -> None:
    held = io.BytesIO()
    Image.new("I;16", (1600, 800), 0x8000).save(held, "PNG")
    one = compiled(memory, put(memory, held.getvalue(), "scan.png"), budget=1_300)
    (sent,) = memory.media(one).values()
    assert opened(sent.data).getpixel((9, 9)) == 128


@pytest.mark.parametrize(("form", "name"), [("BMP", "b.bmp"), ("TIFF", "b.tif")])
def test_what_no_provider_takes_goes_out_as_a_png(memory: Memory, form: str, name: str) -> None:
    board = put(memory, picture(form=form), name, width=800, height=400)
    one = compiled(memory, board)
    (sent,) = memory.media(one).values()
    assert (sent.type, opened(sent.data).size) == ("image/png", (800, 400))


def test_a_huge_png_goes_out_as_a_jpeg(memory: Memory) -> None:
    noise = Image.effect_noise((2_000, 2_000), 90).convert("RGB")
    held = io.BytesIO()
    Image.merge("RGB", [c.rotate(90 * n) for n, c in enumerate(noise.split())]).save(held, "PNG")
    one = compiled(memory, put(memory, held.getvalue(), "noise.png"), budget=8_000)
    (sent,) = memory.media(one).values()
    assert sent.type == "image/jpeg"
    assert len(sent.data) < 5_000_000


def lying_png(width: int, height: int) -> bytes:
    """Return a small file that says it is a large picture."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 99)), (b"IEND", b""))
    body = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


def bomb_tiff(width: int, height: int) -> bytes:
    """Return a TIFF whose directory says that it is large."""
    tags = [(256, width), (257, height), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1),
            (278, height), (279, 1)]  # fmt: skip
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + bytes(4)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (lying_png(20_000, 20_000), "bomb.png"),
        (lying_png(60_000, 60_000), "bomb.png"),
        (bomb_tiff(10_000, 10_000), "bomb.tif"),
        (bomb_tiff(20_000, 20_000), "bomb.tif"),
    ],
)
def test_a_picture_that_would_fill_the_memory_is_never_opened(
    memory: Memory, data: bytes, name: str
) -> None:
    one = compiled(memory, put(memory, data, name), budget=3_000)
    with refused(InvalidInput, "bad_media", match="more than 89,478,485 pixels"):
        memory.media(one)


@pytest.mark.parametrize(
    "data",
    [picture((1600, 800))[:400], lying_png(1600, 800), picture((1600, 800), "JPEG")[:700],
     b"\x89PNG\r\n\x1a\n" + bytes(30)],
    ids=["cut off", "says more than it holds", "half a photo", "zeros"],
)  # fmt: skip
def test_a_damaged_picture_is_refused_with_what_to_do(memory: Memory, data: bytes) -> None:
    one = compiled(memory, put(memory, data, "b.png", width=1600, height=800), budget=1_300)
    with pytest.raises(InvalidInput, match="cannot be read as a picture"):
        memory.media(one)


def test_a_drawing_that_is_no_raster_is_refused(memory: Memory) -> None:
    svg = put(memory, b"<svg xmlns='http://www.w3.org/2000/svg'/>", "drawing.svg")
    with pytest.raises(InvalidInput, match="keep it again as PNG"):
        memory.media(compiled(memory, svg))


def test_a_stated_size_that_is_wrong_is_refused(memory: Memory) -> None:
    board = put(memory, picture((1600, 800)), "board.png")
    wrong = compiled(memory, {**board, "width": 1500, "height": 900}, budget=1_300)
    with pytest.raises(InvalidInput, match="1600x800 and was counted as 1500x900"):
        memory.media(wrong)
    less = compiled(memory, {**board, "width": 500, "height": 500})
    with pytest.raises(InvalidInput, match="state its true width and height"):
        less.render("openai", media=memory.media(less))
    beyond = compiled(memory, {**board, "width": 0, "height": 0, "regions": [[0, 0, 1700, 9]]})
    with pytest.raises(InvalidInput, match="its regions reach 1700x9"):
        memory.media(beyond)


def test_without_pillow_the_error_says_what_to_install(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = compiled(memory, put(memory, picture(), "a.png"))
    tight = compiled(memory, put(memory, picture((1600, 800)), "b.png"), budget=1_300)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    assert memory.media(whole)
    with refused(Unavailable, "media_unavailable", match=r"pip install 'tenure\[media\]'"):
        memory.media(tight)


def tone(seconds: float, rate: int = 8_000, channels: int = 1) -> bytes:
    """Return sound of which every second differs."""
    held = io.BytesIO()
    with wave.open(held, "wb") as sound:
        sound.setparams((channels, 2, rate, 0, "NONE", ""))
        samples = range(round(seconds * rate))
        sound.writeframes(b"".join(struct.pack("<h", n // rate + 1) * channels for n in samples))
    return held.getvalue()


def heard(data: bytes) -> tuple[float, int]:
    """Return the length of a recording, and its first sample."""
    with wave.open(io.BytesIO(data)) as sound:
        seconds = sound.getnframes() / sound.getframerate()
        return seconds, struct.unpack("<h", sound.readframes(1)[:2])[0]


@pytest.mark.parametrize("channels", [1, 2])
def test_segments_are_cut_out_of_a_recording(memory: Memory, channels: int) -> None:
    said = [{"start": 10, "end": 20}, {"start": 30, "end": 32.5}, {"start": 40, "end": 99}]
    call = put(memory, tone(100, channels=channels), "call.wav", segments=said)
    one = compiled(memory, call, budget=3_000)
    media = memory.media(one)
    assert {a.partition("#")[2]: heard(sent.data) for a, sent in media.items()} == {
        "t=10,20": (10, 11),
        "t=30,32.5": (2.5, 31),
    }
    assert one.render("openai", media=media)
    whole = compiled(memory, {**call, "segments": []}, budget=20_000)
    (sent,) = memory.media(whole).values()
    assert sent.data == tone(100, channels=channels)


def test_a_segment_never_lasts_longer_than_it_was_counted(memory: Memory) -> None:
    said = [{"start": 1.00003, "end": 2.00004}, {"start": 3, "end": 90}]
    call = put(memory, tone(90, rate=44_100), "call.wav", segments=said)
    one = compiled(memory, call, budget=1_000)
    (sent,) = memory.media(one).values()
    seconds, first = heard(sent.data)
    assert (first, seconds <= 1.0) == (2, True)
    assert one.render("openai", media=memory.media(one))


def float_wav() -> bytes:
    data = wav(90)
    return data[:20] + struct.pack("<H", 3) + data[22:]


@pytest.mark.parametrize(
    ("data", "name", "why"),
    [
        (b"ID3" + bytes(90), "call.mp3", "only WAV is cut here"),
        (float_wav(), "call.wav", "cannot be cut"),
        (wav(90)[:30], "call.wav", "cannot be cut"),
        (wav(5), "call.wav", "ends before 10 seconds"),
    ],
)
def test_a_recording_that_cannot_be_cut_says_what_to_do(
    memory: Memory, data: bytes, name: str, why: str
) -> None:
    said = [{"start": 10, "end": 20}, {"start": 30, "end": 90}]
    call = put(memory, data, name, segments=said, seconds=90)
    one = compiled(memory, call, budget=1_500)
    with refused(InvalidInput, "bad_media", match=why):
        memory.media(one)
    part = f"{call['artifact']}#t=10,20"
    ready = memory.media(one, originals={part: wav(10)})  # cut by whoever can
    assert list(ready) == [part]
    assert one.render("openai", media=ready)


def test_what_goes_out_whole_on_the_web_is_passed_on_and_never_fetched(memory: Memory) -> None:
    address = "https://example.org/board.png"
    web = {"kind": "image", "uri": address, "width": 280, "height": 140}
    one = compiled(memory, web)
    assert memory.media(one) == {address: SentMedia(url=address)}
    assert address in str(one.render("anthropic", media=memory.media(one)))
    crop = compiled(memory, {**web, "regions": [[0, 0, 28, 28]]})
    with pytest.raises(InvalidInput, match="is sent cropped, and tenure reads artifacts alone"):
        memory.media(crop)
    ready = memory.media(crop, originals={address: picture((280, 140))})
    assert [opened(sent.data).size for sent in ready.values()] == [(28, 28)]


@pytest.mark.parametrize("uri", ["board.png", "file:///etc/passwd", "s3://bucket/board.png"])
def test_no_other_address_is_read(memory: Memory, uri: str) -> None:
    one = compiled(memory, {"kind": "image", "uri": uri, "width": 28, "height": 28})
    with pytest.raises(InvalidInput, match=r"originals=\{uri: bytes\}"):
        memory.media(one)
    assert memory.media(one, originals={uri: png(28, 28)})[uri].data == png(28, 28)
    told = memory.media(one, originals={uri: "https://example.org/board.png"})
    assert told[uri].url == "https://example.org/board.png"


def test_films_are_left_to_providers_that_cut_them(memory: Memory) -> None:
    film = put(memory, mp4(600, 640, 480), "film.mp4", segments=[
        {"start": 0, "end": 2}, {"start": 5, "end": 9}])  # fmt: skip
    one = compiled(memory, film, model="gemini-3-pro", budget=2_500)
    media = memory.media(one)
    assert [sent.type for sent in media.values()] == ["video/mp4"]
    made = one.render("adk", media=media)["contents"][-1]["parts"]
    assert [part["video_metadata"] for part in made if "video_metadata" in part] == [
        {"start_offset": "0s", "end_offset": "2s"}
    ]


def test_the_smallest_of_two_uses_of_one_original_serves_both(memory: Memory) -> None:
    board = put(memory, picture((1600, 800)), "board.png")
    one = compiled(memory, board, {**board, "description": "again", "utility": 0.5}, budget=2_500)
    sizes = sorted(tuple(each["size"]) for each in one.trace.budget["media"])
    assert sizes[0] != sizes[1]
    (sent,) = memory.media(one).values()
    assert opened(sent.data).size == sizes[0]


ANN = Principal(tenant="default", user="ann", roles=frozenset({"agent"}))
BOB = Principal(tenant="default", user="bob", roles=frozenset({"agent"}))


def test_originals_are_read_with_the_callers_own_permissions(memory: Memory) -> None:
    ann, bob = memory.bind(ANN), memory.bind(BOB)
    one = compiled(ann, put(ann, picture(), "hers.png"))
    assert ann.media(one)
    with refused(NotFound, "unknown_artifact"):
        bob.media(one)


def test_no_tenant_sends_the_originals_of_another(memory: Memory, tmp_path: Path) -> None:
    with connect(str(tmp_path / "all") + "/", artifacts=f"memory://{tmp_path.name}-2") as every:
        a = every.bind(Principal(tenant="a", roles=frozenset({"owner"})))
        b = every.bind(Principal(tenant="b", roles=frozenset({"owner"}), authority_level=0))
        board = put(a, picture(), "board.png")
        one = compiled(a, board)
        assert a.media(one)
        for call in (lambda: b.media(one), lambda: compiled(b, board)):
            with refused(NotFound, "unknown_artifact"):
                call()


def test_what_was_erased_since_the_compile_is_not_sent(memory: Memory) -> None:
    board = put(memory, picture(), "board.png")
    one = compiled(memory, board)
    memory.artifacts.erase(board["artifact"], reason="case 17")
    with refused(NotFound, "erased", match="was erased"):
        memory.media(one)


def test_a_replay_sends_the_same_media(memory: Memory) -> None:
    one = compiled(memory, put(memory, picture((1600, 800)), "board.png"), budget=1_300)
    again = memory.replay(one.manifest)
    assert memory.media(again) == memory.media(one)
    assert again.render("openai", media=memory.media(again)) == one.render(
        "openai", media=memory.media(one)
    )


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.tuples(st.integers(1, 900), st.integers(1, 900)), min_size=1, max_size=3),
    st.floats(0.1, 30),
    st.integers(600, 3_000),
)
def test_what_is_really_sent_never_takes_more_than_the_budget_took(
    memory: Memory, sizes: list[tuple[int, int]], seconds: float, budget: int
) -> None:
    items = [put(memory, picture(size), f"{n}.png") for n, size in enumerate(sizes)]
    half = round(seconds / 2, 3)
    items.append(put(memory, tone(seconds, rate=1_000), "call.wav", segments=[
        {"start": 0, "end": half}]))  # fmt: skip
    one = compiled(memory, *items, budget=budget)
    media = memory.media(one)
    one.render("openai", media=media)
    took = one.trace.budget["asked_tokens"] - one.trace.budget["budget_tokens"]
    assert sum(tokens_of(sent.data) for sent in media.values()) <= one.plan.media_tokens <= took


def tokens_of(data: bytes) -> int:
    if data[:4] == b"RIFF":
        with wave.open(io.BytesIO(data)) as sound:
            return audio_tokens(max(1, sound.getnframes()))  # a thousand a second
    return image_tokens(*opened(data).size, PICTURE)


def asked(*parts: Any) -> LlmRequest:
    made = [types.Part(text=part) if isinstance(part, str) else part for part in parts]
    return LlmRequest(model="gemini-3-pro", contents=[types.Content(role="user", parts=made)],
                      config=types.GenerateContentConfig())  # fmt: skip


def test_the_adk_callback_lays_media_inside_their_frames_and_never_twice(memory: Memory) -> None:
    own = types.Part(inline_data=types.Blob(data=b"\x89PNG", mime_type="image/png"))
    board = put(memory, picture(), "board.png")
    request = asked("Why did the deploy fail?", own)
    lay = before_model(memory, "analytical_reporting", evidence=[board], valid="2026-12-01T00:00Z")
    lay(None, request)
    first = [part.model_dump() for part in request.contents[-1].parts or []]
    data = [part.inline_data.data for part in request.contents[-1].parts or [] if part.inline_data]
    assert data == [b"\x89PNG", picture()]
    assert user_text(request) == "Why did the deploy fail?"
    lay(None, request)
    assert [part.model_dump() for part in request.contents[-1].parts or []] == first


def test_a_turn_without_words_is_rewritten_without_stacking(memory: Memory) -> None:
    own = types.Part(inline_data=types.Blob(data=b"\x89PNG", mime_type="image/png"))
    request = asked(own)
    lay = before_model(memory, "analytical_reporting", goal="see",
                       evidence=[put(memory, picture(), "board.png")])  # fmt: skip
    lay(None, request)
    lay(None, request)
    data = [part.inline_data.data for part in request.contents[-1].parts or [] if part.inline_data]
    assert data == [b"\x89PNG", picture()]
    assert user_text(request) == ""


def test_media_that_cannot_be_sent_leave_the_adk_request_as_it_was(memory: Memory) -> None:
    web = {"kind": "image", "uri": "board.png", "width": 28, "height": 28}
    request = asked("Why?")
    before = request.model_dump()
    with pytest.raises(InvalidInput, match="originals"):
        before_model(memory, "analytical_reporting", evidence=[web])(None, request)
    assert request.model_dump() == before
    before_model(memory, "analytical_reporting", evidence=[web], media=False)(None, request)
    assert not any(part.inline_data for part in request.contents[-1].parts or [])
    given = {"board.png": png(28, 28)}
    before_model(memory, "analytical_reporting", evidence=[web], media=given)(None, request)
    assert any(part.inline_data for part in request.contents[-1].parts or [])


def test_a_text_named_like_a_film_is_a_text(memory: Memory) -> None:
    code = memory.artifacts.put("const a: number = 1;\n", name="app.mpeg")
    assert code.media_type == "text/plain"
    assert memory.artifacts.put(wav(1), name="call.wav").media_type.startswith("audio/")
    assert "const a: number" in compiled(memory, code.address).text


def command(*words: str, code: int = 0) -> Any:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("TENURE_STORE", "TENURE_TENANT", "TENURE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "board.png").write_bytes(picture((2400, 1200)))
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "board.png").write_bytes(picture((200, 100)))
    (tmp_path / "app.ts").write_text("const a: number = 1;\n")
    (tmp_path / "zeros.bin").write_bytes(b"\xff\xfe\xfd")
    command("artifact", "put", "app.ts")  # makes the store
    return tmp_path


COMPILE = ("compile", "--task", "data_extraction", "--query", "deploy", "--budget", "3000")


def test_the_command_line_sends_files_and_artifacts(folder: Path) -> None:
    kept = command("artifact", "put", "board.png").stdout.strip()
    files = ("--evidence", "board.png", "--evidence", "more/board.png", "--evidence", "app.ts")
    told = command(*COMPILE, "--evidence", kept, *files, "--model", "claude-opus-4-8",
                   "--render", "anthropic")  # fmt: skip
    content = json.loads(told.stdout)["messages"][-1]["content"]
    assert [part["type"] for part in content].count("image") == 3
    text = "".join(part.get("text", "") for part in content)
    assert "const a: number" in text
    assert " file://board.png]" in text
    assert " file://2/board.png]" in text
    assert "more in media" in told.stderr
    bare = command(*COMPILE, *files, "--render", "anthropic", "--no-media")
    assert "image" not in {p["type"] for p in json.loads(bare.stdout)["messages"][-1]["content"]}


def test_the_command_line_writes_bytes_for_google_in_base64(folder: Path) -> None:
    told = command(*COMPILE, "--evidence", "more/board.png", "--render", "adk")
    parts = [types.Part.model_validate_json(json.dumps(part))
             for part in json.loads(told.stdout)["contents"][-1]["parts"]]  # fmt: skip
    (held,) = [part.inline_data for part in parts if part.inline_data]
    assert held.data == (folder / "more" / "board.png").read_bytes()
    assert "[image 200x100" in command(*COMPILE, "--evidence", "more/board.png").stdout


def test_the_command_line_refuses_what_it_cannot_send(folder: Path) -> None:
    (folder / "call.wav").write_bytes(wav(2))
    told = command(*COMPILE, "--evidence", "call.wav", "--render", "anthropic", code=1)
    assert "takes no audio" in told.stderr
    assert "is not UTF-8 text" in command(*COMPILE, "--evidence", "zeros.bin", code=1).stderr
