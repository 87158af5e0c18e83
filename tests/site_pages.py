"""The documentation site: its pages in their order, and the list for machines made of them.

`python -P tests/site_pages.py FOLDER` writes what the site is built from: the pages of `docs/`, the
reference and `llms.txt`. `make docs` does, into the folder that `mkdocs.yml` names, and lays the
pages as they are into the built site with `python -P tests/site_pages.py FOLDER SITE`.
"""

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tenure.tests.reference_page import page
from tenure.tests.source_tree import ROOT

REFERENCE = "reference.md"
HEAD = """# tenure

> A bitemporal knowledge store for AI agents, with a context compiler on top: facts with two times,
> entities resolved before the write, permission-safe envelopes within a token budget.
"""


def site() -> dict[str, Any]:
    """The settings of the site."""
    settings: dict[str, Any] = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    return settings


def listed_pages(nav: Any = None, chapter: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield (chapter, title, file) of the navigation, in its order."""
    for entry in site()["nav"] if nav is None else nav:
        ((title, target),) = entry.items()
        if isinstance(target, str):
            yield chapter or title, title, target
        else:
            yield from listed_pages(target, title)


def llms_text() -> str:
    """The list of pages for machines: chapters, titles, and the first sentence of each page."""
    parts = [HEAD]
    last = ""
    for chapter, title, file in listed_pages():
        if chapter != last:
            parts.append(f"\n## {chapter}\n\n")
            last = chapter
        parts.append(f"- [{title}]({file}): {_opening(file)}\n")
    return "".join(parts)


def _opening(file: str) -> str:
    if file == REFERENCE:
        return "Every public name, from the code itself."

    text = (ROOT / "docs" / file).read_text(encoding="utf-8")
    paragraphs = re.split(r"\n\s*\n", text)
    prose = next(part for part in paragraphs if part[0].isalpha() or part[0] == "`")
    return " ".join(prose.split()).partition(". ")[0].rstrip(".:") + "."


def plain_fences(text: str) -> str:
    """A page whose code blocks state their language alone.

    The words behind it are for the tests (`no-run`, `output`). The builder takes a fence with such
    words for none, and the end of that block for the beginning of the next: from there on prose
    is code and code is prose.
    """
    return re.sub(r"^( *```+\w+)[ \t][^\n]*$", r"\1", text, flags=re.M)


def dark_twins(text: str) -> str:
    """A page whose pictures follow its scheme; the theme shows the one that the mark allows.

    >>> dark_twins("![A plane](pictures/plane-light.png)")
    '![A plane](pictures/plane-light.png#only-light)![A plane](pictures/plane-dark.png#only-dark)'
    """
    twins = r"\1-light.png#only-light)\1-dark.png#only-dark)"
    return re.sub(r"(!\[[^]]*\]\(pictures/\w+)-light\.png\)", twins, text)


def write_pages(folder: Path) -> None:
    """Write everything that the site is built from into a folder, anew."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    for path in folder.rglob("*.md"):
        text = dark_twins(plain_fences(path.read_text(encoding="utf-8")))
        path.write_text(text, encoding="utf-8")

    (folder / REFERENCE).write_text(page(), encoding="utf-8")
    (folder / "llms.txt").write_text(llms_text(), encoding="utf-8")


def add_texts(folder: Path, built_site: Path) -> None:
    """Lay the Markdown of every page into the built site, where `llms.txt` says it is."""
    for path in folder.rglob("*.md"):
        target = built_site / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


if __name__ == "__main__":
    folders = [Path(word) for word in sys.argv[1:]]
    if len(folders) == 1:
        write_pages(*folders)
    else:
        add_texts(*folders)
