"""The capability table: every row dated, narrow patterns first, unknown models generic."""

import re
from fnmatch import fnmatchcase

import pytest

from tenure.compiler.tokens.capabilities import (
    GENERIC,
    TABLE,
    CacheProvider,
    CountingRule,
    capability,
    plain_name,
)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.pattern)
def test_every_row_is_dated_and_consistent(row: object) -> None:
    assert row in TABLE
    for known in TABLE:
        assert known.evidence
        assert re.fullmatch(r"20\d\d-\d\d", known.as_of)
        assert known.window is None or known.window >= 100_000
        assert len(known.write_permille) == max(1, len(known.ttls_s))
        assert all(price >= 1000 for price in known.write_permille)
        assert 0 < known.read_permille <= 1000
        assert known.granularity_tokens >= 1


def test_no_row_is_hidden_behind_a_wider_one() -> None:
    for place, row in enumerate(TABLE):
        example = re.sub(r"\[(.)[^]]*\]", r"\1", row.pattern).replace("*", "x")
        first = next(known for known in TABLE if fnmatchcase(example, known.pattern))
        assert first is TABLE[place], row.pattern


@pytest.mark.parametrize(
    ("model", "minimum"),
    [
        ("claude-opus-5", 512),
        ("claude-fable-5-1", 512),
        ("claude-opus-4-8", 1024),
        ("claude-sonnet-5", 1024),
        ("claude-sonnet-4-6", 2048),
        ("claude-opus-4-7", 2048),
        ("claude-opus-4-6", 4096),
        ("claude-haiku-4-5-20251001", 4096),
        ("gpt-4o", 1024),
        ("gpt-5.6-sol", 1024),
        ("gemini-2.5-flash", 2048),
        ("gemini-3-pro", 4096),
        ("generic", None),
    ],
)
def test_minimum_cacheable_tokens_follow_the_table(model: str, minimum: int | None) -> None:
    assert capability(model).min_cacheable_tokens == minimum


@pytest.mark.parametrize(
    ("model", "rule"),
    [
        ("claude-3-5-sonnet-20241022", CountingRule.CLAUDE_TO_4_6),
        ("claude-opus-4-20250514", CountingRule.CLAUDE_TO_4_6),
        ("claude-sonnet-4.6", CountingRule.CLAUDE_TO_4_6),
        ("claude-opus-4.7", CountingRule.CLAUDE_FROM_4_7),
        ("claude-someday-9", CountingRule.CLAUDE_FROM_4_7),
        ("o3", CountingRule.O200K),
        ("o4-mini", CountingRule.O200K),
        ("gemini-3-pro", CountingRule.GEMINI),
    ],
)
def test_models_are_counted_by_their_family(model: str, rule: CountingRule) -> None:
    assert capability(model).counting is rule


def test_an_unknown_model_has_the_generic_row() -> None:
    assert capability("llama-9") is GENERIC is capability("generic")
    assert GENERIC.window is None
    assert GENERIC.provider is CacheProvider.NONE


def test_cache_writes_cost_from_gpt_5_6_on() -> None:
    assert capability("gpt-5.5").write_permille == (1000,)
    assert capability("gpt-5.6").write_permille == (1250, 1250)
    assert (capability("gpt-5.5").granularity_tokens, capability("gpt-5.6").granularity_tokens) == (
        128,
        1,
    )


def test_only_later_claude_models_take_a_system_message_in_the_middle() -> None:
    assert capability("claude-opus-4-8").mid_conversation_system
    assert not capability("claude-opus-4-7").mid_conversation_system


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("anthropic/claude-opus-4.8", "claude-opus-4-8"),
        ("us.anthropic.claude-opus-4-8", "claude-opus-4-8"),
        (" OpenAI/GPT-5.6 ", "gpt-5-6"),
        ("models/gemini-2.5-pro", "gemini-2-5-pro"),
    ],
)
def test_provider_prefixes_and_dots_do_not_matter(model: str, name: str) -> None:
    assert plain_name(model) == name


@pytest.mark.parametrize(
    ("model", "media"),
    [
        ("claude-opus-4-8", "image"),
        ("anthropic/claude-3-5-sonnet", "image"),
        ("gpt-5.6", "image"),
        ("gpt-4o-mini", "image"),
        ("gpt-4o-audio-preview", "audio"),
        ("gpt-4o-mini-audio-preview-2024-12-17", "audio"),
        ("gpt-audio-mini", "audio"),
        ("o3", "image"),
        ("o3-mini", ""),
        ("o1-mini", ""),
        ("gemini-2.5-flash", "image audio video"),
        ("a model nobody knows", "image audio video"),
    ],
)
def test_what_a_model_reads_beside_text_stands_in_its_row(model: str, media: str) -> None:
    assert " ".join(capability(model).media) == media
