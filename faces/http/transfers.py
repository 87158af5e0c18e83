"""Tenants over HTTP: events in, an export out and in, vectors made anew; each says how far it is.

Bodies are lines that go to a file as they come, so that no request is held in memory and a slow
disk slows its sender down. An export leaves one line at a time, as fast as it is read.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from ...schema.errors import InvalidInput
from ...schema.principal import OPERATE
from ...service.backend.caller import backend_of
from ...service.calls.table import Permit
from ...service.client.memory import Memory
from ...service.encoders.encoder import Progress
from ...service.stewardship.operations import re_embed
from ...service.stewardship.transfer import RestoreProgress
from ...service.writing.ingest_report import IngestReport
from .bearer_watch import BearerWatch
from .bearers import Bearers
from .heavy_calls import HeavyCalls
from .metrics import CountedRoute
from .paging import NDJSON
from .progress import Tell, respond

JSON: Final = "application/json"
_REPORT: Final = TypeAdapter(IngestReport)
_BOOLEANS: Final = {"false": False, "true": True}


@dataclass(frozen=True, slots=True)
class Transfers:
    """The routes that move whole tenants, for keys that may do anything."""

    bearers: Bearers
    memory: Memory
    heavy_calls: HeavyCalls

    def routes(self) -> list[CountedRoute]:
        """Every route."""
        return [
            CountedRoute("/v1/ingest", self._ingest, methods=["POST"]),
            CountedRoute("/v1/export", self._export, methods=["GET"]),
            CountedRoute("/v1/import", self._import, methods=["POST"]),
            CountedRoute("/v1/import/abort", self._abort, methods=["POST"]),
            CountedRoute("/v1/re_embed", self._re_embed, methods=["POST"]),
        ]

    def _memory(self, request: Request) -> Memory:
        """The memory of the caller, who must be allowed everything.

        Raises:
            Forbidden: `sign_in_needed`, `permission_required`, `privilege_required`.
        """
        credential = self.bearers.of_request(request)
        credential.require(Permit.ADMIN)
        credential.principal.require(OPERATE)
        return self.memory.bind(credential.principal)

    async def _ingest(self, request: Request) -> Response:
        memory = self._memory(request)
        place = self.heavy_calls.place(memory.principal)
        replay = _flag(request, "replay")
        path = await _body_file(request)

        def work(tell: Tell) -> Response:
            def progress(line: int, events: int) -> None:
                tell({"line": line, "events": events})

            with _removing(path):
                report = memory.ingest(path, replay=replay, progress=progress)
            return Response(_REPORT.dump_json(report), media_type=JSON)

        return await respond(request, work, BearerWatch(self.bearers, request), place)

    async def _export(self, request: Request) -> Response:
        memory = self._memory(request)
        lines = memory.transfer.lines(keys=_flag(request, "keys"))
        # The first line is read now, so that a refusal is an answer and no torn list.
        async with self.heavy_calls.place(memory.principal):
            first = await run_in_threadpool(next, lines)
        watch = BearerWatch(self.bearers, request)
        whole_lines = (f"{line}\n".encode() for line in chain([first], lines))
        return StreamingResponse(watch.lines(whole_lines), media_type=NDJSON)

    async def _import(self, request: Request) -> Response:
        memory = self._memory(request)
        place = self.heavy_calls.place(memory.principal)
        transfer = memory.transfer
        resume = _flag(request, "resume")
        path = await _body_file(request)

        def work(tell: Tell) -> Response:
            def watch(progress: RestoreProgress) -> None:
                tell(asdict(progress))

            with _removing(path):
                report = transfer.import_file(path, resume=resume, watch=watch)
            return JSONResponse({"tenant": report.tenant, "records": report.records})

        return await respond(request, work, BearerWatch(self.bearers, request), place)

    async def _abort(self, request: Request) -> Response:
        await run_in_threadpool(self._memory(request).transfer.abort)
        return JSONResponse({"aborted": True})

    async def _re_embed(self, request: Request) -> Response:
        memory = self._memory(request)
        place = self.heavy_calls.place(memory.principal)

        def work(tell: Tell) -> Response:
            def show(progress: Progress) -> None:
                tell(progress._asdict())

            total = re_embed(backend_of(memory), memory.principal, progress=show)
            return JSONResponse(total._asdict())

        return await respond(request, work, BearerWatch(self.bearers, request), place)


def _flag(request: Request, name: str) -> bool:
    """A query parameter that is true or false.

    Raises:
        InvalidInput: `bad_request`.
    """
    word = request.query_params.get(name, "false")
    if word not in _BOOLEANS:
        raise InvalidInput(f"{name} is true or false", code="bad_request", field=name)
    return _BOOLEANS[word]


async def _body_file(request: Request) -> Path:
    """A file with the body of a request; whoever works on it removes it.

    What reads it checks all of it before the first write, so it is kept whole, on the disk.
    """
    handle, name = tempfile.mkstemp(suffix=".jsonl")
    path = Path(name)
    with ExitStack() as undo:
        undo.callback(path.unlink)
        with os.fdopen(handle, "wb") as file:
            async for chunk in request.stream():
                await run_in_threadpool(file.write, chunk)
        undo.pop_all()
    return path


@contextmanager
def _removing(path: Path) -> Generator[None]:
    try:
        yield
    finally:
        path.unlink()
