"""The documentation site lists every page once, and what is generated is as the code is."""

import re
from pathlib import Path

import tenure
from tenure.tests.docs_pages import pages
from tenure.tests.reference_page import page
from tenure.tests.site_pages import (
    REFERENCE,
    add_texts,
    listed_pages,
    llms_text,
    site,
    write_pages,
)
from tenure.tests.source_tree import ROOT, pyproject

CLIENT = frozenset({"Memory", "View", "Envelope", "__version__"})

ORDER = [
    "Time",
    "Memory for a chat",
    "Who may see what",
    "Compiling",
    "Reviewing",
    "Loading",
    "Operating",
    "Comparison",
    "Reference",
    "Design",
]


def test_every_page_stands_in_the_navigation_once() -> None:
    files = [file for _, _, file in listed_pages()]
    written = [path.relative_to(ROOT / "docs").as_posix() for path in pages()[1:]]
    assert sorted({*files} - {REFERENCE}) == sorted({*written} - {REFERENCE})
    assert len(files) == len(set(files))


def test_the_chapters_stand_in_the_order_in_which_people_need_them() -> None:
    chapters = list(dict.fromkeys(chapter for chapter, _, _ in listed_pages()))
    assert chapters == ["Home", *ORDER]


def test_the_reference_names_everything_that_is_public() -> None:
    text = page()
    names = vars(tenure)["__all__"]
    assert [name for name in names if f"`{name}`" not in text and name not in CLIENT] == []
    assert "memory.write(\n    subject: " in text
    assert re.search(r" at 0x|<[A-Z]\w+\.", text) is None


def test_what_a_function_takes_and_raises_stands_as_lists() -> None:
    # Markdown makes a list only behind an empty line.
    headings = re.findall(r"^(Args|Raises):\n(.*)", page(), flags=re.M)
    assert {word for word, _ in headings} == {"Args", "Raises"}
    assert {line for _, line in headings} == {""}


def test_the_list_for_machines_says_what_each_page_is_about() -> None:
    lines = [line for line in llms_text().splitlines() if line.startswith("- [")]
    assert len(lines) == len(list(listed_pages()))
    assert [line for line in lines if not line.endswith(".")] == []
    assert [line for line in lines if "```" in line or len(line) > 320] == []


def test_the_list_for_machines_leads_to_texts_that_stand_beside_it(tmp_path: Path) -> None:
    write_pages(tmp_path / "docs")
    add_texts(tmp_path / "docs", tmp_path / "site")
    targets = re.findall(r"^- \[[^]]+\]\(([^)]+)\)", llms_text(), re.M)
    assert len(targets) > 30
    assert [target for target in targets if not (tmp_path / "site" / target).is_file()] == []


def test_a_picture_of_the_site_has_its_dark_twin(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    write_pages(folder)
    targets: list[str] = []
    for path in folder.glob("*.md"):
        targets += re.findall(r"!\[[^]]*\]\(([^)]+)\)", path.read_text(encoding="utf-8"))

    files, schemes = zip(*(target.split("#only-") for target in targets), strict=True)
    assert schemes.count("light") == schemes.count("dark") == len(targets) // 2 >= 5
    assert [file for file in files if not (folder / file).is_file()] == []


def test_every_block_of_the_site_states_a_language_that_the_builder_takes(tmp_path: Path) -> None:
    write_pages(tmp_path / "docs")

    openings: list[str] = []
    for path in sorted((tmp_path / "docs").rglob("*.md")):
        fences = re.findall(r"^ *(`{3,}[^\n]*)$", path.read_text(encoding="utf-8"), re.M)
        assert len(fences) % 2 == 0, path
        openings += fences[::2]
        assert {fence.strip("`") for fence in fences[1::2]} <= {""}, path

    assert {opening for opening in openings if not re.fullmatch(r"`{3,}\w*", opening)} == set()


def test_a_signature_is_no_wider_than_its_page() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", page(), re.M | re.S)
    widths = [len(line) for block in blocks for line in block.splitlines()]

    assert len(blocks) > 50
    assert max(widths) <= 100


def test_the_site_loads_nothing_from_elsewhere() -> None:
    assert site()["theme"]["font"] is False
    assert site()["site_name"] == pyproject()["project"]["name"]
