"""A model on this machine that speaks the protocols of OpenAI and Anthropic, well or badly.

The name of the model in a request says how it behaves; `answers` holds what a good one proposes.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class ModelServer:
    """What it answers, and what it was asked."""

    claims: list[Any] = field(default_factory=list)
    read: Callable[[dict[str, Any]], list[Any] | None] | None = None
    """Makes the claims of a request, none at all for a bad answer; None answers `claims` to all."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    summary: Callable[[str], str] = str
    """What a good model makes of the prompt for a summary."""
    failures: int = 0
    """How many requests are refused with 500 before one is answered."""
    url: str = ""


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """Run a server until the block ends."""
    state = ModelServer()

    def claims_of(body: dict[str, Any]) -> list[Any] | None:
        return state.claims if state.read is None else state.read(body)

    def summary_of(model: str, body: dict[str, Any]) -> str:
        return "" if model == "empty" else state.summary(body["messages"][-1]["content"])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append(body)
            if state.failures:
                state.failures -= 1
                self._send(500, {"error": {"message": "overloaded", "type": "server_error"}})
                return

            model = body["model"]
            if model == "slow":
                time.sleep(1.5)
            if model == "broken":
                self._send_bytes(200, b'{"choices": [{"mess')
            elif model == "page":
                self._send_bytes(200, b"<html>a login page</html>", "text/html")
            elif model == "odd":
                self._send(200, {"hello": "world"})
            elif model == "gone":
                self.close_connection = True
            elif model == "torn":
                self._send_bytes(200, b'{"choices": [{"mess', length=4_000)
                self.close_connection = True
            elif model == "limited":
                self._send(429, {"error": {"message": "too many requests", "type": "rate_limit"}})
            elif model == "moved":
                self._send(302, {"error": {"message": "elsewhere"}})
            elif model == "binary":
                self._send_bytes(200, bytes(range(256)))
            elif model == "refused":
                self._send(401, {"error": {"message": "no such key", "type": "auth"}})
            elif "messages" in self.path:
                self._send(200, self._anthropic(model, body))
            else:
                self._send(200, self._openai(model, body))

        def _openai(self, model: str, body: dict[str, Any]) -> dict[str, Any]:
            if "response_format" in body:
                text = json.dumps({"claims": claims_of(body)})
            else:
                text = summary_of(model, body)
            if model == "talkative":
                text = "Sure! Here are the claims: " + text
            message: dict[str, Any] = {"role": "assistant", "content": text}
            if model == "cut":
                message["content"] = text[:40]
            if model == "calls":
                function = {"name": "send", "arguments": "{}"}
                message["tool_calls"] = [{"id": "c1", "type": "function", "function": function}]
            reason = "length" if model == "cut" else "stop"
            return {
                "id": "c1", "object": "chat.completion", "created": 1, "model": model,
                "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                "usage": {"prompt_tokens": 400, "completion_tokens": 50, "total_tokens": 450},
            }  # fmt: skip

        def _anthropic(self, model: str, body: dict[str, Any]) -> dict[str, Any]:
            tool = {"type": "tool_use", "id": "t1", "name": "record_claims",
                    "input": {"claims": claims_of(body)}}  # fmt: skip
            text = {"type": "text", "text": "I would rather not."}
            content: list[dict[str, Any]] = [text] if model == "talkative" else [tool]
            reason = "tool_use"
            if "tools" not in body:
                words = {"type": "text", "text": summary_of(model, body)}
                content = [words, tool] if model == "calls" else [words]
                reason = "end_turn"
            return {
                "id": "m1", "type": "message", "role": "assistant", "model": model,
                "content": content,
                "stop_reason": "max_tokens" if model == "cut" else reason,
                "stop_sequence": None,
                "usage": {"input_tokens": 400, "output_tokens": 50},
            }  # fmt: skip

        def _send(self, status: int, body: Any) -> None:
            self._send_bytes(status, json.dumps(body).encode())

        def _send_bytes(
            self, status: int, body: bytes, kind: str = "application/json", length: int = 0
        ) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(length or len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
