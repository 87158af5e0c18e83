"""The first minutes of a newcomer, by the README alone, with the wheel of this checkout.

Install, `serve --demo`, decide a review and ask the plane in a browser, compile over MCP from the
official client: at most five commands and five minutes.
"""

# nightly, or when these change: faces/cli/serve.py faces/mcp service/client pyproject.toml
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path

import httpx2
import pytest

from tenure.tests.source_tree import ROOT
from tenure.tests.wheel import built_wheel

MOST_COMMANDS = 5
MOST_SECONDS = 300.0
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
AGENT = """
import asyncio, sys, httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

async def ask(url, key):
    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=60) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            question = {"query": "Which pricing tier does Orchid Foods have?"}
            answer = await client.call_tool("compile_context", question)
            print(answer.content[0].text)

asyncio.run(ask(sys.argv[1], sys.argv[2]))
"""


class Shell:
    """A folder of the newcomer's own, and the commands that were given in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commands: list[str] = []

    def run(self, *words: str) -> str:
        """Give a command and wait for its end."""
        self.commands.append(" ".join(words))
        command = subprocess.run(
            words,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
            check=False,
        )
        assert command.returncode == 0, command.stdout + command.stderr
        return command.stdout

    @contextmanager
    def running(self, *words: str) -> Iterator[subprocess.Popen[str]]:
        """Give a command that goes on until it is interrupted."""
        self.commands.append(" ".join(words))
        process = subprocess.Popen(words, cwd=self.folder, stderr=subprocess.PIPE, text=True)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)
            assert process.stderr is not None
            process.stderr.close()


def words_of(process: subprocess.Popen[str], last: str) -> str:
    """What a process says, up to the line that begins so."""
    assert process.stderr is not None
    lines: list[str] = []
    while not lines or not lines[-1].strip().startswith(last):
        line = process.stderr.readline()
        assert line, "".join(lines)
        lines.append(line)
    return "".join(lines)


def decide_a_review(browser: httpx2.Client) -> str:
    """Open the first case that waits, say yes, and return what the page answers."""
    (path, *_) = re.findall(r'href="(/reviews/[0-9a-f-]{36})"', browser.get("/reviews").text)
    page = browser.get(path).text
    (form,) = re.findall(rf'<form[^>]*action="{path}/reject".*?</form>', page, re.S)
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
    return browser.post(f"{path}/reject", data=fields, follow_redirects=True).text


def ask_the_plane(browser: httpx2.Client) -> str:
    """Follow the links from a search to the time plane, and return its text."""
    search = browser.get("/", params={"q": "Orchid Foods"}).text
    (entity, *_) = re.findall(r'href="(/entities/[0-9a-f-]{36}[^"]*)"', search)
    page = browser.get(unescape(entity)).text
    (plane, *_) = re.findall(r'href="(/entities/[0-9a-f-]{36}/plane/pricing_tier[^"]*)"', page)
    return browser.get(unescape(plane)).text


@pytest.mark.nightly
def test_a_newcomer_gets_there_in_five_commands_and_five_minutes(tmp_path: Path) -> None:
    wheel = built_wheel(tmp_path)
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    shell = Shell(tmp_path)
    uv = str(Path(sys.executable).parent / "uv")
    began = time.monotonic()

    shell.run(uv, "venv", "--python", sys.executable, "env")
    python = "env/bin/python"
    shell.run(uv, "pip", "install", "--python", python, f"{wheel}[server,mcp]")
    with shell.running("env/bin/tenure", "serve", "--demo", "--port", "0") as server:
        words = words_of(server, "tnr_")
        url, code = ADDRESS.findall(words)[0], re.findall(r"once\): (\S+)", words)[0]
        with httpx2.Client(base_url=url, headers={"origin": url}, timeout=60) as browser:
            assert browser.post("/sign-in", data={"code": code}).status_code == 303
            assert "Undo" in decide_a_review(browser)
            assert "premium" in ask_the_plane(browser)

        key = words.split()[-1]
        context = shell.run(python, "agent.py", f"{url}/mcp", key)
        assert "Orchid Foods" in context

    seconds = time.monotonic() - began
    print(f"{len(shell.commands)} commands, {seconds:.0f} s")
    assert len(shell.commands) <= MOST_COMMANDS
    assert seconds <= MOST_SECONDS


def test_the_readme_names_the_commands_of_a_newcomer() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "pip install 'tenure[server,mcp]'" in text
    assert "tenure serve --demo" in text
