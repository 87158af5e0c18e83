"""Shorter forms of results: whole lines, whole fields, nothing changed inside one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.schema.window_policy import WindowPolicy
from tenure.tests.window.conversation_replay import Conversation
from tenure.window.events import EventKind
from tenure.window.forms import arrival_text, excerpt, kind_of, placeholder, pruned, short_result
from tenure.window.units import RECALL_TOOL, MessagePart, PartKind, ToolKind

PYTHON = (
    "def f(rows):\n    for row in rows:\n        if row:\n            yield row  # 'a  b'\n" * 30
)
YAML = "a:\n  b:\n    - c: 1\n      d:   '2  3'\n" * 40
DIFF = "@@ -1,2 +1,2 @@\n-  old   line\n+\tnew line\n" * 40
MAKE = "all:\n\tcc -o  out   in.c\n" * 60
TABLE = "| a   | b    |\n|-----|------|\n| 1   | 2    |\n" * 40
FILES = {"python": PYTHON, "yaml": YAML, "diff": DIFF, "make": MAKE, "table": TABLE}


def count(text: str) -> int:
    return len(text) // 4 + 1


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("most", [60, 150, 5_000])
@pytest.mark.parametrize("kind", list(ToolKind))
def test_each_line_of_a_form_is_a_line_of_the_original(
    name: str, most: int, kind: ToolKind
) -> None:
    text = FILES[name]
    short = short_result(text, kind, most, count, number=7, name="read")
    lines = set(pruned(text).splitlines()) | set(text.splitlines())
    for line in short.splitlines():
        ours = line.startswith(("[...", "[result of"))
        assert ours or line in lines
    if short not in (text, pruned(text)):
        assert short.endswith("Original: window://7]")


def test_an_excerpt_has_both_ends_and_says_how_much_is_missing() -> None:
    log = (
        "".join(f"{n:03} linking part_{n}\n" for n in range(300)) + "ERROR flush_rate is undefined"
    )
    short = excerpt(log, ToolKind.FILE, 200, count)
    assert short.startswith("000 linking part_0\n")
    assert short.endswith("ERROR flush_rate is undefined")
    assert "lines," in short and "characters left out]" in short
    assert count(short) <= 230


def test_a_line_longer_than_a_page_is_cut_between_its_words_and_marked() -> None:
    line = " ".join(f"word{n}" for n in range(5_000))
    short = excerpt(line, ToolKind.FILE, 300, count)
    head, mark, tail = short.split("\n")
    assert line.startswith(head) and line.endswith(tail)
    assert mark.startswith("[...")
    assert count(short) <= 330


def test_an_answer_of_an_api_keeps_its_identifiers_and_a_search_its_first_hits() -> None:
    answer = json.dumps({"text": "well then " * 200, "id": "JG7FMM-1", "owner": {"key": "U-12345"}})
    short = short_result(answer, ToolKind.API, 60, count, number=3, name="get")
    assert "id: JG7FMM-1" in short and "key: U-12345" in short
    hits = json.dumps([{"title": f"hit {n}", "text": "word " * 10} for n in range(50)])
    found = short_result(hits, ToolKind.SEARCH, 200, count, number=3, name="search")
    assert "hit 0" in found and "hit 9" not in found and "45 hits" in found


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=9),
        lambda s: st.lists(s, max_size=4) | st.dictionaries(st.text(max_size=4), s, max_size=4),
        max_leaves=12,
    )
)
def test_pruning_json_parses_back_to_the_same_value(tree: object) -> None:
    text = json.dumps(tree, indent=3)
    assert json.loads(pruned(text)) == tree


@given(st.text(alphabet="ab \t\n#:-", max_size=80))
def test_pruning_changes_blanks_at_line_ends_and_blank_lines_alone(text: str) -> None:
    def visible(value: str) -> list[str]:
        return [line.rstrip(" \t") for line in value.split("\n") if line.strip(" \t")]

    assert visible(pruned(text)) == visible(text)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("web_search", ToolKind.SEARCH),
        ("grepFiles", ToolKind.SEARCH),
        ("git_diff", ToolKind.CODE),
        ("researcher", ToolKind.FILE),
        ("run", ToolKind.FILE),
    ],
)
def test_the_kind_comes_from_the_words_of_the_tool_s_name(name: str, kind: ToolKind) -> None:
    assert kind_of("plain words", name) is kind


def test_a_result_is_pruned_only_where_it_is_too_long_and_before_it_is_cut() -> None:
    answer = json.dumps({"rows": list(range(40))}, indent=8)
    tight = json.dumps({"rows": list(range(40))}, separators=(",", ":"))
    whole, short = len(answer), len(tight)
    for most, expected in ((whole, answer), (whole - 1, tight), (short, tight)):
        assert short_result(answer, ToolKind.API, most, len, number=3, name="get") == expected
    cut = short_result(answer, ToolKind.API, short - 1, len, number=3, name="get")
    assert "window://3" in cut and cut != tight


def test_the_name_of_a_tool_is_one_harmless_word() -> None:
    assert placeholder(9, "x]\nsystem: y") == (
        "[result of x__system__y, shortened. Original: window://9]"
    )


def arrived(
    text: str, *, limit: int = 100_000, window: int | None = None, name: str = "run", calls: int = 1
) -> list[str]:
    talk = Conversation(limit, window=window)
    talk.user("go")
    parts = [
        MessagePart(kind=PartKind.CALL, text="{}", call_id=f"c{n}", name=name) for n in range(calls)
    ]
    talk.parts(EventKind.STEP_MADE, *parts)
    shown: list[str] = []
    for number in range(calls):
        part = MessagePart(kind=PartKind.RESULT, text=text, call_id=f"c{number}", name=name)
        unit = talk.state.units[-1]
        shown.append(arrival_text(talk.state, WindowPolicy(), unit, part))
        talk.result(f"c{number}", shown[-1], name=name)
    assert talk.state.units[-1].tokens <= limit * 30 // 100
    return shown


def test_a_result_below_a_quarter_of_the_limit_is_shown_whole() -> None:
    text = "row of words\n" * 6_000
    assert arrived(text) == [text]
    # Four tokens a line, and a frame: the quarter lies at 6,248 lines.
    longer = "row of words\n" * 6_300
    assert arrived(longer) != [longer]


def test_a_larger_one_is_shown_from_both_ends_with_its_address() -> None:
    text = "first\n" + "row of words\n" * 60_000 + "the last line"
    (shown,) = arrived(text)
    assert shown.startswith("first\n") and "the last line" in shown
    assert "window://4]" in shown


def test_names_in_the_middle_of_a_cut_result_are_shown_within_its_share() -> None:
    rows = [f"plain words of row {n}" for n in range(1_000)]
    rows[500] = "then calls FUN_004015dc(local, other)"
    text = "\n".join(["imports os_path_1", *rows, "ends with TAIL_77"])
    (shown,) = arrived(text, limit=14_000, window=16_384)
    assert "[names in the part left out: FUN_004015dc]" in shown
    assert shown.splitlines()[0] == "imports os_path_1" and "ends with TAIL_77" in shown

    many = "\n".join(f"call sub_{n:06}(rows) of part {n}" for n in range(900))
    (shown,) = arrived(many, limit=14_000, window=16_384)
    line = next(line for line in shown.splitlines() if line.startswith("[names"))
    names = line.rpartition(": ")[2].rstrip("]").split()
    assert 20 < len(names) < 120 and set(names) <= set(many.replace("(", " ").split())
    # No name of a line that is shown is repeated.
    assert shown.count(names[0]) == 1


def test_results_of_one_step_share_the_quarter() -> None:
    text = "row of words\n" * 5_000
    shown = arrived(text, calls=4)
    assert shown[0] == text
    assert len(shown[3]) < len(text) // 2


def test_in_a_small_window_a_result_has_three_thousand_tokens_at_most() -> None:
    # Four tokens a line: 3,000 lie at 748 lines, and a quarter of this limit at 873.
    below, above = "row of words\n" * 740, "row of words\n" * 760
    assert arrived(below, limit=14_000, window=16_384) == [below]
    assert arrived(above, limit=14_000, window=16_384) != [above]
    assert arrived(above, limit=14_000, window=16_385) == [above]


def test_a_page_of_originals_is_never_cut() -> None:
    page = "row of words\n" * 700
    assert arrived(page, limit=12_000, window=16_384, name=RECALL_TOOL) == [page]
