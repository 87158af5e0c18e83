"""`docs/cli.md` says what `--help` says."""

from __future__ import annotations

from tenure.tests.cli_page import page
from tenure.tests.source_tree import ROOT


def test_the_page_of_the_command_line_is_made_from_its_help() -> None:
    kept = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert kept == page(), "run: python tests/cli_page.py > docs/cli.md"
