"""Small media files, made with the standard library alone."""

import io
import struct
import wave
import zlib


def png(width: int, height: int) -> bytes:
    """Return a grey picture that any viewer opens."""
    rows = b"".join(b"\0" + b"\x80" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    body = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


def wav(seconds: float, rate: int = 8_000) -> bytes:
    """Return silence."""
    held = io.BytesIO()
    with wave.open(held, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(b"\0\0" * round(seconds * rate))
    return held.getvalue()


def box(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body) + 8) + name + body


def mp4(seconds: int, width: int, height: int, *, wide: bool = False) -> bytes:
    """Return the boxes of a film that say how long and how large it is."""
    if wide:
        mvhd = bytes([1]) + bytes(19) + struct.pack(">IQ", 600, seconds * 600)
    else:
        mvhd = bytes(12) + struct.pack(">II", 600, seconds * 600) + bytes(80)
    tkhd = bytes(76) + struct.pack(">II", width << 16, height << 16)
    sound = bytes(84)
    tracks = box(b"trak", box(b"tkhd", tkhd)) + box(b"trak", box(b"tkhd", sound))
    large = struct.pack(">I", 1) + b"free" + struct.pack(">Q", 20) + bytes(4)
    return box(b"ftyp", b"isom") + large + box(b"moov", box(b"mvhd", mvhd) + tracks)
