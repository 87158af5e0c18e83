"""Each adapter beside the real package, in an environment that holds no other framework.

What runs there is the adapter's own tests, and the example of its section in `docs/adapters.md`.
"""

# nightly, or when these change: faces/adapters docs/adapters.md tests/adapter_env.py
import re
from pathlib import Path

import pytest

from tenure.tests.adapter_env import environment, requirements, run_in
from tenure.tests.docs_pages import blocks
from tenure.tests.source_tree import ROOT

PAGE = ROOT / "docs" / "adapters.md"
EXAMPLE_LINES = 30
ADAPTERS = {
    "adk": "test_adk_memory.py",
    "anthropic": "test_anthropic_memory.py",
    "langchain": "test_langchain.py",
    "langgraph": "test_langgraph.py",
    "openai-agents": "test_openai_session.py",
    "pydantic-ai": "test_pydantic_ai.py",
}


def example(extra: str) -> str:
    """The Python block of a section; its heading names the extra."""
    sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.M)
    (section,) = [text for text in sections if f"`[{extra}]`" in text.partition("\n\n")[0]]
    (block,) = [b for b in blocks(section, PAGE.name) if b.language == "python"]
    return block.text


@pytest.mark.parametrize("extra", ADAPTERS)
def test_an_example_is_short_and_its_extra_is_no_part_of_another(extra: str) -> None:
    assert len(example(extra).splitlines()) <= EXAMPLE_LINES
    assert [name for name in requirements(extra) if "tenure[" in name] == []


@pytest.mark.nightly
@pytest.mark.parametrize("extra", ADAPTERS)
def test_an_adapter_works_with_the_real_package(extra: str, tmp_path: Path) -> None:
    python = environment(extra)
    tests = f"tenure/tests/faces/adapters/{ADAPTERS[extra]}"
    options = ["-q", "--noconftest", "-W", "default", "-p", "no:cacheprovider"]
    options += ["-p", "tenure.tests.support.memories"]
    run = run_in(python, "-m", "pytest", *options, "--rootdir", ".", tests, folder=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "skipped" not in run.stdout
    assert re.search(r"\d+ passed", run.stdout)


@pytest.mark.nightly
@pytest.mark.parametrize("extra", ADAPTERS)
def test_the_example_of_an_adapter_runs(extra: str, tmp_path: Path) -> None:
    script = tmp_path / "example.py"
    script.write_text(example(extra), encoding="utf-8")
    run = run_in(environment(extra), str(script), folder=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    (expected,) = re.findall(
        rf"^## [^\n]*`\[{extra}\]`.*?^```text(?: output)?\n(.*?)^```", PAGE.read_text(), re.M | re.S
    )
    assert run.stdout == expected
