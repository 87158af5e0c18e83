"""Take the pictures of an envelope's page and of notebook cells, as they stand in the docs.

    python -P tests/page_pictures.py

They show the store of `tenure demo` in the system's Chromium, at the widths and in the themes of
`SHOTS`, and are written into `docs/pictures`. Look at each before it is committed.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import sync_playwright

import tenure
from tenure.schema.principal import OWNER
from tenure.service.cli.tour import take_tour
from tenure.tests.source_tree import ROOT

PICTURES: Final = ROOT / "docs" / "pictures"
QUESTION: Final = (
    "Draft the renewal note for Orchid Foods, and say how the signed contract reaches Sam Rivera."
)
SHOTS: Final = (
    # file, page, width, scheme, medium
    ("page-light", "page", 1280, "light", "screen"),
    ("page-dark", "page", 1280, "dark", "screen"),
    ("page-390", "page", 390, "light", "screen"),
    ("page-print", "page", 794, "light", "print"),
    ("notebook-light", "notebook", 940, "light", "screen"),
    ("notebook-dark", "notebook", 940, "dark", "screen"),
)
PRINT_HEIGHT: Final = 1500
"""Of the printed page, whose account goes on for several sheets."""

CELL: Final = """<!doctype html><meta charset="utf-8"><style>
body{{margin:0;padding:16px;font-family:system-ui;background:#fff;color:#111}}
div.cell{{border-left:3px solid #1976d2;padding:8px 12px;max-width:860px}}
@media(prefers-color-scheme:dark){{body{{background:#111418;color:#e6e6e6}}}}
</style><div class="cell">{envelope}</div><p></p><div class="cell">{plane}</div>
"""
"""Two cells as a notebook shows them: no style sheet of ours, colours of its own."""


def pages(folder: Path) -> None:
    """Write the page and the cells into a folder."""
    store = folder / "demo.db"
    take_tour(str(store), tenant="demo")
    with tenure.connect(str(store), principal=replace(OWNER, tenant="demo")) as memory:
        envelope = memory.compile(
            "conversation", QUESTION, valid="2026-07-15T00:00:00Z", budget_tokens=420
        )
        plane = memory.as_of("2026-07-15T00:00:00Z").plane("Orchid Foods", "pricing_tier")
        cells = CELL.format(envelope=envelope._repr_html_(), plane=plane._repr_html_())
        (folder / "page.html").write_text(envelope.to_html(), encoding="utf-8")
        (folder / "notebook.html").write_text(cells, encoding="utf-8")


def main() -> None:
    """Take every picture."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        pages(folder)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for file, page, width, scheme, medium in SHOTS:
            theme: Any = scheme
            context = browser.new_context(
                viewport={"width": width, "height": 844}, color_scheme=theme
            )
            view = context.new_page()
            view.goto((folder / f"{page}.html").as_uri())
            target = str(PICTURES / f"{file}.png")
            if medium == "print":
                view.emulate_media(media="print")
                sheet: Any = {"x": 0, "y": 0, "width": width, "height": PRINT_HEIGHT}
                view.screenshot(path=target, full_page=True, clip=sheet)
            else:
                view.screenshot(path=target, full_page=True)
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
