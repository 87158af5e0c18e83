"""Markup: words stay words, whatever they are."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.compiler.explain.markup import Markup, element, escaped, joined


class Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.said = ""
        self.tags: list[str] = []
        self.titles: list[str | None] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.titles += [value for _, value in attrs]

    def handle_data(self, data):
        self.said += data


@given(st.text())
def test_any_text_comes_back_as_the_same_words_and_makes_no_element(text: str) -> None:
    reader = Words()
    reader.feed(element("p", text, title=text))
    reader.close()
    plain = "".join("\ufffd" if escaped(c) == "\ufffd" else c for c in text)
    assert (reader.tags, reader.said, reader.titles) == (["p"], plain, [plain])


def test_what_is_markup_already_is_not_escaped_again() -> None:
    assert joined([element("b", 1), "<", Markup("&lt;")]) == "<b>1</b>&lt;&lt;"


def test_a_void_element_has_no_end_and_a_missing_attribute_no_name() -> None:
    assert element("meta", charset="utf-8", id=None) == '<meta charset="utf-8">'
    assert element("svg", viewBox="0 0 1 1", class_="a", aria_label="b") == (
        '<svg viewBox="0 0 1 1" class="a" aria-label="b"></svg>'
    )


@pytest.mark.parametrize("name", ["style", "onclick", "onerror"])
def test_an_attribute_that_a_strict_policy_forbids_cannot_be_written(name: str) -> None:
    with pytest.raises(AssertionError):
        element("p", **{name: "x"})
