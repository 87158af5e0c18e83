"""Passages depend on the text around them, and every word stands in one of them."""

import pytest

from tenure.service.documents.blocks import FileBlock, FileBlockKind, FileReading
from tenure.service.documents.cutting import cut, heading_paths
from tenure.service.documents.text_reader import read_code, read_markdown, read_text
from tenure.tests.service.documents.handbook import Handbook


def reading(*blocks: FileBlock) -> FileReading:
    return FileReading(blocks)


def test_every_word_stands_in_a_passage_or_heading():
    book = Handbook(3)
    for _ in range(20):
        book.edit()
        read = read_markdown(book.markdown, "a.md")
        text, headings, pieces = cut(read)
        words = [word for heading in headings for word in heading.title.split()]
        words += [word for piece in pieces for word in piece.text.split()]
        assert sorted(words) == sorted(book.markdown.replace("#", "").split())
        for piece in pieces:
            assert text[piece.start :][: piece.length] == piece.text
            assert len(piece.text) <= 1_200


def test_an_edit_rewrites_the_passages_next_to_it_alone():
    book, kept, edits = Handbook(5, sections=20), 0, 40
    before = {piece.text for piece in cut(read_markdown(book.markdown, "a.md"))[2]}
    total = 0
    for _ in range(edits):
        _title, paragraphs = book.chance.choice(book.sections)
        paragraphs[book.chance.randrange(len(paragraphs))] = book.paragraph()
        after = {piece.text for piece in cut(read_markdown(book.markdown, "a.md"))[2]}
        kept += len(after & before)
        total += len(after)
        before = after
    assert kept / total > 0.96


def test_a_heading_cuts_and_a_colon_does_not():
    long = "word " * 90
    _, headings, pieces = cut(
        reading(
            FileBlock("Leave", FileBlockKind.HEADING, 1),
            FileBlock(long.strip() + ":"),
            FileBlock("what follows it"),
            FileBlock("Travel", FileBlockKind.HEADING, 1),
            FileBlock("by train"),
        )
    )
    assert [heading.title for heading in headings] == ["Leave", "Travel"]
    assert [piece.heading for piece in pieces] == [1, 2]
    assert pieces[0].text.endswith("what follows it")


def test_code_is_never_joined_with_prose():
    blocks = FileBlock("a"), FileBlock("x = 1", FileBlockKind.CODE), FileBlock("b")
    _, _, pieces = cut(reading(*blocks))
    assert [piece.text for piece in pieces] == ["a", "x = 1", "b"]


@pytest.mark.parametrize("text", ["", "\n\n", "   "])
def test_no_text_makes_no_passage(text):
    assert cut(read_text(text, "a.txt"))[2] == ()


def test_markdown_keeps_what_makes_no_token_and_drops_comments():
    text = "---\neffective: 2026-06-01\n---\n# T\n\nsee [x]\n\n[x]: https://a.example\n"
    text += "\n<!-- obey -->\n"
    read = read_markdown(text, "a.md")
    assert "https://a.example" in read.text
    assert "obey" not in read.text
    assert read.dropped == {"front_matter": 4, "hidden_text": 3}
    assert read.dates["effective"] == "2026-06-01"


@pytest.mark.parametrize(
    "text",
    [
        "Use `<script>` and `</script>`.",
        "> ```html\n> <!-- kept -->\n> ```",
        "- a\n\n  ```\n  <style>b</style>\n  ```",
        "Two ``<!-- a ` b -->`` ticks",
    ],
)
def test_markdown_shows_the_code_that_quotes_a_comment_or_script(text):
    read = read_markdown(text, "a.md")
    assert (read.text, read.dropped) == (text, {})
    hidden = read_markdown(text.replace("`", ""), "a.md")
    assert hidden.dropped["hidden_text"] > 0


def test_front_matter_is_read_in_yaml_and_in_toml():
    for text in (
        "---\ntitle: T\neffective: 2026-06-01\n---\n",
        '+++\ntitle = "T"\neffective = 2026-06-01\n+++\n',
    ):
        read = read_markdown(f"{text}words\n", "a.md")
        assert (read.text, read.title, read.dates["effective"]) == ("words", "T", "2026-06-01")


def test_names_of_functions_are_the_headings_of_code():
    read = read_code(
        "import os\n\n\ndef f(x):\n    return g(x)\n\n\nclass A:\n    def h(self): ...\n", "a.py"
    )
    script = read_code("class A {\n}\n\nfunction f(x) {\n  return g(x)\n}\n", "a.js")
    blocks = (*read.blocks, *script.blocks)
    titles = [(b.text, b.level) for b in blocks if b.kind is FileBlockKind.HEADING]
    assert titles == [("f", 1), ("A", 1), ("h", 2), ("A", 1), ("f", 1)]
    assert read_code("x", "a.nolanguage") == read_text("x", "a.nolanguage")


def test_a_heading_with_nothing_below_it_is_a_passage():
    page = "# Leave\n\n14 weeks.\n\n## Dogs are welcome\n\n# Empty\n\n## Below\n\n"
    page += "# Pay\n\n### Day\n\nThe 25th."
    text, headings, pieces = cut(read_markdown(page, "a.md"))
    assert [heading.title for heading in headings] == ["Leave", "Pay", "Day"]
    paths = heading_paths(headings)
    assert [(piece.text, paths[piece.heading]) for piece in pieces] == [
        ("14 weeks.\nDogs are welcome", ("Leave",)),
        ("Empty\nBelow", ()),
        ("The 25th.", ("Pay", "Day")),
    ]
    assert all(text[p.start : p.start + p.length] == p.text for p in pieces)
