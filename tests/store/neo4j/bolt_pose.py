"""A port that speaks just enough Bolt to say which server it is: an old one, or another product.

It answers the handshake with Bolt 5.4, every request with success, and every query with the rows
of `dbms.components()` that it was given.
"""

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence

BOLT_5_4 = b"\x00\x00\x04\x05"
HELLO, GOODBYE, RUN, PULL = 0x01, 0x02, 0x10, 0x3F
SUCCESS, RECORD = 0x70, 0x71


@contextlib.contextmanager
def posing(agent: str, rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """Serve on a free port, and yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as door:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    guest, _ = door.accept()
                    with guest, contextlib.suppress(OSError, struct.error):
                        _answer(guest, agent, rows)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"bolt://127.0.0.1:{door.getsockname()[1]}"
        door.shutdown(socket.SHUT_RDWR)
        thread.join()


def _answer(guest: socket.socket, agent: str, rows: Sequence[Sequence[object]]) -> None:
    guest.settimeout(5)
    _read(guest, 20)
    guest.sendall(BOLT_5_4)
    told = {
        HELLO: {"server": agent, "connection_id": "1"},
        RUN: {"fields": ["name", "versions", "edition"]},
    }
    while (tag := _tag(_message(guest))) != GOODBYE:
        if tag == PULL:
            for row in rows:
                guest.sendall(_framed(RECORD, list(row)))
        guest.sendall(_framed(SUCCESS, told.get(tag, {})))


def _read(guest: socket.socket, size: int) -> bytes:
    held = b""
    while len(held) < size:
        part = guest.recv(size - len(held))
        if not part:
            raise OSError("the guest left")
        held += part
    return held


def _message(guest: socket.socket) -> bytes:
    held = b""
    while True:
        (size,) = struct.unpack(">H", _read(guest, 2))
        if not size and held:
            return held
        held += _read(guest, size)


def _tag(message: bytes) -> int:
    return message[1]


def _framed(tag: int, value: object) -> bytes:
    body = bytes([0xB1, tag]) + packed(value)
    return struct.pack(">H", len(body)) + body + b"\x00\x00"


def packed(value: object) -> bytes:
    """Return a small value in PackStream: texts, lists and maps of up to 255 things."""
    if isinstance(value, str):
        text = value.encode()
        return bytes([0xD0, len(text)]) + text
    if isinstance(value, Mapping):
        pairs = b"".join(packed(name) + packed(one) for name, one in value.items())
        return bytes([0xD8, len(value)]) + pairs
    if isinstance(value, Sequence):
        return bytes([0xD4, len(value)]) + b"".join(map(packed, value))
    raise TypeError(f"no such value is needed here: {value!r}")
