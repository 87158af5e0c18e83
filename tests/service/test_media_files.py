"""What files say of themselves, and a compile of real ones: pictures, sound, a film, tables."""

import io
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tenure import InvalidInput, Memory, connect
from tenure.compiler.media.table import measures, media_type_of
from tenure.compiler.request.request import MediaKind
from tenure.service.artifacts.artifacts import records_of
from tenure.tests.media_samples import box, mp4, png, wav
from tenure.tests.support.refusals import refused

IMAGE, AUDIO, VIDEO = MediaKind.IMAGE, MediaKind.AUDIO, MediaKind.VIDEO


def webp(form: bytes, body: bytes) -> bytes:
    return b"RIFF" + bytes(4) + b"WEBP" + form + bytes(4) + body.ljust(20, b"\0")


FRAME = struct.pack(">HBHHB", 11, 8, 30, 40, 1) + b"\1\x11\0"
JPEG = b"\xff\xd8" + b"\xff\xe0\x00\x04ab" + b"\xff\xc0" + FRAME + b"\xff\xd9"


def jpeg(orientation: int, order: str = ">") -> bytes:
    """Return the beginning of a JPEG of 40x30 whose camera was turned."""
    mark = b"MM" if order == ">" else b"II"
    other = struct.pack(order + "HHIHxx", 0x010F, 3, 1, 7)
    turned = struct.pack(order + "HHIHxx", 0x0112, 3, 1, orientation)
    tiff = mark + struct.pack(order + "HIH", 42, 8, 2) + other + turned + bytes(4)
    exif = b"Exif\0\0" + tiff
    return b"\xff\xd8\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + JPEG[8:]


STREAM = bytes(10) + struct.pack(">Q", 8_000 << 44 | 12_000) + bytes(16)
FLAC = b"fLaC" + b"\x80\0\0\x22" + STREAM


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (png(40, 30), (40, 30)),
        (b"GIF89a" + struct.pack("<HH", 40, 30), (40, 30)),
        (b"BM" + bytes(16) + struct.pack("<ii", 40, -30), (40, 30)),
        (JPEG, (40, 30)),
        (webp(b"VP8 ", bytes(6) + struct.pack("<HH", 40, 30)), (40, 30)),
        (webp(b"VP8L", b"\x2f" + (39 | 29 << 14).to_bytes(4, "little")), (40, 30)),
        (webp(b"VP8X", bytes(4) + b"\x27\0\0\x1d\0\0"), (40, 30)),
        (webp(b"VP9 ", b""), None),
        (b"\xff\xd8\xff\xd9", None),
        (b"\xff\xd8" + bytes(20), None),
        (b"no picture at all", None),
        (png(40, 30)[:12], None),
    ],
    ids=str,
)
def test_a_picture_tells_its_size(data: bytes, size: tuple[int, int] | None) -> None:
    told = measures(data, IMAGE)
    assert told == ({} if size is None else {"width": size[0], "height": size[1]})


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("orientation", range(10))
def test_a_photo_tells_the_size_that_it_is_seen_in(orientation: int, order: str) -> None:
    lies = 5 <= orientation <= 8
    across, down = (30, 40) if lies else (40, 30)
    assert measures(jpeg(orientation, order), IMAGE) == {"width": across, "height": down}


@pytest.mark.parametrize(
    "exif",
    [b"Exif\0\0MM", b"Exif\0\0xx" + bytes(20), b"http://ns.adobe.com/xap/1.0/\0", b"Exif\0\0",
     b"Exif\0\0MM\0*\xff\xff\xff\xff" + bytes(30), b"Exif\0\0MM\0*\0\0\0\x08" + bytes(30)],
    ids=str,
)  # fmt: skip
def test_a_photo_whose_notes_say_nothing_is_upright(exif: bytes) -> None:
    photo = b"\xff\xd8\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + JPEG[8:]
    assert measures(photo, IMAGE) == {"width": 40, "height": 30}


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (png(3, 3), "image/png"),
        (JPEG, "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"BM", "image/bmp"),
        (webp(b"VP8 ", b""), "image/webp"),
        (wav(0.1), "audio/wav"),
        (b"RIFF", ""),
        (FLAC, "audio/flac"),
        (b"ID3", "audio/mpeg"),
        (b"\xff\xfb\x90", "audio/mpeg"),
        (b"\xff\xf1", ""),
        (mp4(1, 2, 2), ""),
        (b"", ""),
    ],
    ids=str,
)
def test_bytes_show_their_media_type(data: bytes, kind: str) -> None:
    assert media_type_of(data) == kind


@pytest.mark.parametrize(
    ("data", "seconds"),
    [
        (wav(1.5), 1.5),
        (FLAC, 1.5),
        (mp4(7, 0, 0), 7),
        (wav(0), None),
        (b"RIFF" + bytes(4) + b"WAVE" + b"data" + bytes(4), None),
        (b"RIFF" + bytes(4) + b"WAVE" + b"junk" + bytes(4), None),
        (b"fLaC" + bytes(30), None),
        (b"ID3 something else", None),
    ],
    ids=str,
)
def test_a_recording_tells_its_length(data: bytes, seconds: float | None) -> None:
    assert measures(data, AUDIO) == ({} if seconds is None else {"seconds": seconds})


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
def test_a_picture_that_a_library_wrote_tells_its_type_and_size(form: str) -> None:
    file = io.BytesIO()
    Image.new("RGB", (31, 17)).save(file, form)
    assert media_type_of(file.getvalue()) == f"image/{form.lower()}"
    assert measures(file.getvalue(), IMAGE) == {"width": 31, "height": 17}


def test_a_drawing_in_letters_is_no_picture() -> None:
    drawing = b'<svg width="9" height="9" xmlns="http://www.w3.org/2000/svg"/>'
    assert measures(drawing, IMAGE) == {}


SAMPLES = st.sampled_from(
    [png(4, 3), JPEG, jpeg(6), wav(0.1), FLAC, mp4(1, 2, 3), mp4(1, 2, 3, wide=True)]
)
PATCHES = st.lists(st.tuples(st.integers(0, 127), st.integers(0, 255)), max_size=5)


@given(SAMPLES, PATCHES, st.integers(0, 400), st.sampled_from(MediaKind))
def test_a_damaged_file_tells_what_it_can_and_never_fails(
    data: bytes, patches: list[tuple[int, int]], end: int, kind: MediaKind
) -> None:
    damaged = bytearray(data)
    for place, byte in patches:
        damaged[place % len(damaged)] = byte

    told = measures(bytes(damaged[:end]), kind)
    assert told.keys() <= {"width", "height", "seconds"}
    assert all(number > 0 for number in told.values())


def test_a_film_tells_both() -> None:
    told = {"width": 640, "height": 480, "seconds": 12}
    assert measures(mp4(12, 640, 480), VIDEO) == told
    assert measures(mp4(12, 640, 480, wide=True), VIDEO) == told
    assert measures(box(b"mvhd", bytes(32)), VIDEO) == {}
    assert measures(struct.pack(">I", 4) + b"moov", VIDEO) == {}
    assert measures(struct.pack(">I", 0) + b"moov" + bytes(4), VIDEO) == {}
    assert measures(b"", MediaKind.STRUCTURED) == {}


ROWS = [{"run": 1, "who": "007", "took": 1.5}, {"run": 2, "who": "bob", "took": -3}]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("run,who,took\n1,007,1.5\n2,bob,-3\n", "t.csv"),
        ("run\twho\ttook\n1\t007\t1.5\n2\tbob\t-3\n", "t.tsv"),
        ('[{"run":1,"who":"007","took":1.5},{"run":2,"who":"bob","took":-3}]', "t.json"),
        ('{"run":1,"who":"007","took":1.5}\n\n{"run":2,"who":"bob","took":-3}\n', "t.jsonl"),
    ],
)
def test_a_table_is_read_in_four_forms(text: str, name: str) -> None:
    assert records_of(text, name=name, media_type="") == ROWS


@pytest.mark.parametrize("text", ["", "just words\nin lines", "[1, 2]", "[{", "a,b\n"])
def test_what_is_no_table_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="no table"):
        records_of(text, name="", media_type="")


def test_a_row_with_cells_of_no_column_is_kept_whole() -> None:
    assert records_of("a,b\n1,2,3\n", name="", media_type="") == [{"a": 1, "b": 2, "None": ["3"]}]


def test_a_table_too_large_to_be_read_says_its_size() -> None:
    with refused(InvalidInput, "too_large", match="5001 rows"):
        records_of("a,b\n" + "1,2\n" * 5_001, name="", media_type="")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with connect(str(tmp_path / "m.db"), artifacts=f"memory://{tmp_path.name}") as opened:
        yield opened


def put(memory: Memory, data: bytes | str, name: str, **stated: Any) -> dict[str, Any]:
    return {"artifact": memory.artifacts.put(data, name=name).address, **stated}


def test_a_compile_of_files_that_do_not_fit_says_what_became_of_each(memory: Memory) -> None:
    table = "run,failed,note\n" + "".join(f"{n},{n % 2},ordinary\n" for n in range(900))
    said = [
        {"start": 0, "end": 80, "text": "Good morning."},
        {"start": 80, "end": 92, "text": "The deploy did fail again."},
    ]
    given = {
        "screen": put(memory, png(1400, 1400), "screen.png", regions=[[0, 0, 560, 560]]),
        "call": put(memory, wav(92), "call.wav", segments=said, beyond_text=1),
        "spoken": put(memory, wav(93), "spoken.wav", segments=said),
        "film": put(memory, mp4(20, 1120, 1120), "film.mp4"),
        "lunch": put(memory, wav(90), "lunch.wav", description="lunch"),
        "table": put(memory, table, "runs.csv", kind="structured", columns=["run", "failed"]),
    }
    envelope = memory.compile(
        "analytical_reporting", "why did the deploy fail", evidence=list(given.values()),
        budget_tokens=6_000,
    )  # fmt: skip
    names = {each["artifact"]: name for name, each in given.items()}
    listed = {names[each["uri"]]: each for each in envelope.trace.budget["media"]}
    assert {name: each["sent_as"] for name, each in listed.items()} == {
        "screen": "cropped", "call": "segments", "spoken": "transcript",
        "film": "fewer_frames", "lunch": "pointer", "table": "sampled",
    }  # fmt: skip
    assert listed["screen"]["tokens"] == 400
    assert listed["screen"]["parts"] == [f"{given['screen']['artifact']}#xywh=0,0,560,560"]
    assert listed["call"]["parts"] == [f"{given['call']['artifact']}#t=80,92"]
    assert "The deploy did fail again." in envelope.text
    assert "of 20 frames, evenly spaced" in listed["film"]["note"]
    assert "1 of 3 columns left out" in listed["table"]["note"]
    assert '"count":900,"sum":450' in envelope.text
    beside = sum(listed[name]["tokens"] for name in ("screen", "call", "film"))
    assert envelope.tokens_upper <= 6_000 - beside
    assert beside + listed["table"]["tokens"] <= 3_600
    assert {c.detail for c in envelope.trace.conversions} >= {"cropped", "transcript", "pointer"}
    assert [(g.code.value, names[g.subject]) for g in envelope.gaps] == [
        ("retrieval_pending", "lunch")
    ]
    for name, each in given.items():  # every original stays reachable by what the text holds
        assert each["artifact"] in envelope.text, name
        assert memory.rehydrate(each["artifact"]).data
    assert set(envelope.manifest.artifact_uris) == set(names)
    assert memory.replay(envelope.manifest).text == envelope.text


def test_a_stored_table_is_sampled_by_rows_and_its_original_stays(memory: Memory) -> None:
    rows = [{"week": n, "sales": n * 10, "city": "Zagreb" if n == 77 else "Rome"}
            for n in range(200)]  # fmt: skip
    memory.vocabulary.define_slot("sales_table", value_type="json", description="sales by week")
    kept = memory.write("Nova", "sales_table", rows, why_it_matters="sales of nova")
    envelope = memory.compile(
        "analytical_reporting", "sales of Nova in Zagreb", entities=["Nova"], budget_tokens=900
    )
    assert '"city":"Zagreb"' in envelope.text
    assert "of 200 rows, nearest to the request first" in envelope.text
    assert '"column":"sales","count":200,"sum":199000' in envelope.text
    assert [(c.object_id, c.conversion.value) for c in envelope.trace.conversions] == [
        (kept.object_id, "truncated")
    ]
    assert '"sales":1990' in memory.rehydrate(kept.object_id).text
    assert memory.replay(envelope.manifest).text == envelope.text
