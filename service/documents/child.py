"""Parsing of what may be hostile, in a process of its own with limits of time and memory.

A run has one child, started with the first file that needs it and anew after a death. It gets bytes
and answers JSON, has no environment, and may take 60 s of the clock, 20 s of the processor and 1 GB
for a file. A death refuses that file alone. Where the system has no such limits the clock alone
ends it.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from dataclasses import asdict
from typing import Any, Final, cast

from pydantic import TypeAdapter

from ...schema.errors import InvalidInput, TenureError, Unavailable
from .blocks import FileReading, refusal
from .formats import format_of, read_file

CLOCK_S: Final = 60.0
PROCESSOR_S: Final = 20
MEMORY_BYTES: Final = 2**30
_START: Final = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from tenure.service.documents.child import serve; serve()"
)


class ParsingChild:
    """Reads files in another process; a context manager."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ParsingChild:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def read(self, data: bytes, name: str, **options: str | None) -> FileReading:
        """The reading of a file, as `formats.read_file` gives it.

        Raises:
            InvalidInput: what the reader refuses; `bad_document` where it died; `too_slow`.
            Unavailable: `documents_extra_missing`.
        """
        if format_of(data, name, options.get("media_type")).is_plain:
            return read_file(data, name, **options)
        process = self._process = self._process or subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        head = json.dumps({"name": name, "size": len(data), "options": options}).encode()
        timer = threading.Timer(CLOCK_S, process.kill)
        timer.start()
        try:
            process.stdin.write(head + b"\n" + data)
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = b""
        finally:
            is_late = not timer.is_alive()
            timer.cancel()

        if not line:
            self._end()
            if is_late:
                raise refusal("too_slow", f"{name} took more than {CLOCK_S:.0f} s to read")
            raise refusal("bad_document", f"{name} ended its reader: damaged, or too large to read")

        return _reading(json.loads(line))

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            # Closes both pipes, of which one may hold bytes that nobody reads any more.
            with contextlib.suppress(OSError), process:
                pass


def serve() -> None:
    """Answer files on standard input until it ends; what parsers print goes nowhere."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    while head := source.readline():
        _raise_limits()
        request = json.loads(head)
        data = source.read(request["size"])
        answer: object
        try:
            answer = read_file(data, request["name"], **request["options"])
        except TenureError as error:
            is_missing = isinstance(error, Unavailable)
            answer = {"code": error.code, "message": str(error), "is_missing": is_missing}
        except (MemoryError, RecursionError):
            message = f"{request['name']} is too large or too deep for its reader"
            answer = {"code": "bad_document", "message": message, "is_missing": False}

        target.write(json.dumps(answer, default=asdict).encode() + b"\n")
        target.flush()


def _raise_limits() -> None:
    """Set the limits of the next file; the processor time used so far is on top."""
    try:
        import resource
    except ImportError:  # Windows: the clock of the other process ends it
        return

    usage = resource.getrusage(resource.RUSAGE_SELF)
    limit_s = int(usage.ru_utime + usage.ru_stime) + PROCESSOR_S
    _, hardest_s = resource.getrlimit(resource.RLIMIT_CPU)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (limit_s, hardest_s))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _reading(answer: Any) -> FileReading:
    """A reading that the child wrote; nothing of it is trusted but its form."""
    if isinstance(answer, dict):
        refused = cast("dict[str, Any]", answer)
        kind = Unavailable if refused["is_missing"] else InvalidInput
        raise kind(str(refused["message"]), code=str(refused["code"]))
    return TypeAdapter(FileReading).validate_python(answer)
