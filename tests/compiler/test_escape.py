import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure.compiler.format.escape import LINE_BREAKS, escape_data, unescape_data

PIECES = st.sampled_from(
    [
        *[
            "\\",
            "\\\\",
            "=",
            "===",
            "====",
            " ",
            "\t",
            "a",
            "x",
            "Human:",
            "system :",
            "</",
            "<",
            "<|",
        ],
        *[
            "[INST]",
            "[/INST]",
            "<<SYS>>",
            "<</SYS>>",
            "<s>",
            "<system>",
            "artifact://",
            "rehydrate://",
        ],
        *[
            "[OMITTED",
            "[OMITTED: 3]",
            "]",
            "#",
            ">",
            "*",
            "_",
            "**",
            "\u200d",
            "\u2060",
            "/",
            ".",
            ")",
        ],
        *[
            "system_message",
            "(",
            ":",
            "\uff1a",
            "\uff1d\uff1d",
            "\uff1c\uff5c",
            "\u017fystem:",
            "artifact://ok",
        ],
        *LINE_BREAKS,
    ]
)
ISSUED = frozenset({"artifact://ok", "[OMITTED: 3]"})


@given(st.lists(PIECES, max_size=20).map("".join))
@settings(max_examples=1500)
def test_text_of_marks_and_backslashes_comes_back(text: str) -> None:
    assert unescape_data(escape_data(text)) == text
    assert unescape_data(escape_data(text, issued=ISSUED)) == text


@given(st.text())
def test_any_text_comes_back(text: str) -> None:
    assert unescape_data(escape_data(text)) == text


@given(st.lists(PIECES, max_size=12).map("".join))
def test_no_mark_stands_bare_in_escaped_text(text: str) -> None:
    escaped = escape_data(text)
    for mark in ("<|", "artifact://", "rehydrate://", "[OMITTED", "[INST]"):
        assert escaped.count(mark) == escaped.count("\\" + mark)


@pytest.mark.parametrize(
    "text",
    [
        "=== EVIDENCE",
        "===data",
        "  === instruction AAAA",
        "> === data",
        "\u200d=== data",
        "\uff1d\uff1d\uff1d data",
        "==================== data",
        "Human: hi",
        "ASSISTANT : hi",
        "**Human:** hi",
        "### Instruction: do",
        "system\uff1a do",
        "###(system_message) do",
        "<|im_start|>",
        "\uff1c\uff5cbegin",
        "[INST] x",
        "[/inst]",
        "<<SYS>>",
        "<</SYS>>",
        "</document>",
        "<system>",
        "<start_of_turn>",
        "[TOOL_CALLS]",
        "[OMITTED: 3 turns]",
        "ARTIFACT://sha256/ab",
        "rehydrate://t_17",
    ],
)
def test_what_looks_like_structure_gets_one_backslash(text: str) -> None:
    escaped = escape_data(text)
    assert len(escaped) == len(text) + 1
    assert escaped.replace("\\", "") == text


@pytest.mark.parametrize("line_break", LINE_BREAKS)
def test_every_line_break_starts_a_line(line_break: str) -> None:
    assert escape_data(f"a{line_break}Human: b") == f"a{line_break}\\Human: b"


@pytest.mark.parametrize(
    "text",
    [
        "plain text, with: colons",
        "Title\n=====\n\nText",
        "====  =====\na     b\n====  =====",
        "a Human: in the middle",
        "if a === b:",
        "x < y and y > z",
        "<p>",
        "[1] a note",
        "C:\\path\\to",
        "my-artifact:/one",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert escape_data(text) == text


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("artifact://ok", "artifact://ok"),
        ("(artifact://ok).", "(artifact://ok)."),
        ("artifact://okay", "\\artifact://okay"),
        ("artifact://ok/../x", "\\artifact://ok/../x"),
        ("\\artifact://ok", "\\\\artifact://ok"),
        ("[OMITTED: 3]", "[OMITTED: 3]"),
        ("[OMITTED: 4]", "\\[OMITTED: 4]"),
        ("[OMITTED: open", "\\[OMITTED: open"),
        ("</a>", "\\</a>"),
    ],
)
def test_only_pointers_that_were_issued_stay_bare(text: str, escaped: str) -> None:
    assert escape_data(text, issued=ISSUED) == escaped


@pytest.mark.parametrize(
    "unit", ["\\", "\n", " ", "#", "=", "\n=", "\\\n", "<", "[OMITTED", "a", "> "]
)
def test_a_hostile_text_takes_linear_time(unit: str) -> None:
    started = time.perf_counter()
    text = unit * (200_000 // len(unit))
    assert unescape_data(escape_data(text)) == text
    assert time.perf_counter() - started < 2
