"""Take the pictures of an envelope's page, of notebook cells and of every page of a server.

    python -P tests/page_pictures.py [site [light | dark | 390]]

They show the store of `tenure demo` in the system's Chromium, at the widths and in the themes of
`SHOTS` and `THEMES`, and are written into `docs/pictures`; `site` takes those of the server alone.
Look at each before it is committed.
"""

import io
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from PIL import Image
from playwright.sync_api import sync_playwright

import tenure
from tenure.faces.cli.demo import read_handbook, take_tour
from tenure.faces.http.command import steward_of
from tenure.schema.principal import OWNER
from tenure.service.settings import Settings
from tenure.tests.faces.http.served import serving
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
SITE_PICTURES: Final = PICTURES / "site"
THEMES: Final = {"light": (1280, "light"), "dark": (1280, "dark"), "390": (390, "light")}
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


def addresses(page: Any, base: str) -> dict[str, str]:
    """An address of every kind of page of the demonstration, by the name of its picture."""
    entity = page.request.get(f"{base}/find?name=Orchid+Foods").url.removeprefix(base)
    page.goto(f"{base}/envelopes")
    envelopes = [link.get_attribute("href") for link in page.locator("a[data-row]").all()]
    ids = [link.rpartition("/")[2] for link in envelopes]
    page.goto(f"{base}/documents")
    document = page.locator("a[data-row]").first.get_attribute("href")
    page.goto(f"{base}/reviews")
    review = page.get_attribute("a[data-key=o]", "href")
    page.goto(base + entity)
    claim = page.locator("a[href^='/claims/']").first.get_attribute("href")
    return {
        "home": "/?q=Orchid",
        "entity": entity,
        "person": entity.replace("entities", "people"),
        "claim": claim,
        "plane": f"{entity}/plane/pricing_tier?valid=2026-03-01&tx=2026-03-01",
        "reviews": "/reviews",
        "review": review,
        "decided": "/decided",
        "actions": "/actions",
        "quarantine": "/quarantine",
        "envelopes": "/envelopes",
        "envelope": envelopes[-1],
        "what-if": f"{envelopes[-1]}/what-if?budget=300",
        "compare": f"/compare?a={ids[1]}&b={ids[0]}",
        "documents": "/documents",
        "document": document,
        "health": "/health",
        "missing": "/nothing",
    }


def take_site(browser: Any, folder: Path) -> None:
    """Take every page of a server in every theme, as far as the first sheet goes."""
    store = folder / "site.db"
    take_tour(str(store), tenant="demo")
    read_handbook(str(store), tenant="demo")
    steward = steward_of(Settings(tenant="demo"), is_demo=True)
    SITE_PICTURES.mkdir(parents=True, exist_ok=True)
    with (
        tenure.connect(str(store), principal=replace(OWNER, tenant="demo")) as memory,
        serving(memory, folder, steward=steward, is_demo=True) as server,
    ):
        for theme, (width, scheme) in THEMES.items():
            if len(sys.argv) > 2 and theme not in sys.argv:
                continue
            size: Any = {"width": width, "height": 900}
            page = browser.new_context(viewport=size, color_scheme=scheme).new_page()
            page.goto(f"{server.url}/")
            take_picture(page, f"sign-in-{theme}")
            page.fill("#code", server.control.new_code("demo"))
            page.click("main button")
            page.wait_for_load_state()
            for name, path in addresses(page, server.url).items():
                page.goto(server.url + path)
                take_picture(page, f"{name}-{theme}")
            page.context.close()


def take_picture(page: Any, name: str) -> None:
    """Write what a page shows above its fold as a small file."""
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.save(SITE_PICTURES / f"{name}.webp", quality=45, method=6)


def main() -> None:
    """Take every picture."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        take_site(browser, folder)
        if "site" in sys.argv:
            return
        pages(folder)
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
