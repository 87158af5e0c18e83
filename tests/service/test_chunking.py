from hypothesis import given
from hypothesis import strategies as st

from tenure.service.encoders.encoder import chunks_of


def words(text: str) -> int:
    return len(text.split())


def letters(text: str) -> int:
    return len("".join(text.split()))


@given(st.text("ab .\n。", max_size=80), st.integers(1, 9))
def test_pieces_keep_every_word_in_order_within_the_limit(text: str, most: int) -> None:
    pieces = chunks_of(text, limit=most, count=words)
    assert " ".join(pieces).replace("。", "。 ").split() == text.replace("。", "。 ").split()
    assert all(0 < words(piece) <= most for piece in pieces)
    assert all(piece in text for piece in pieces)


@given(st.text("ab 。\n", max_size=60), st.integers(1, 9))
def test_a_word_above_the_limit_is_cut_inside(text: str, most: int) -> None:
    pieces = chunks_of(text, limit=most, count=letters)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(0 < letters(piece) <= most for piece in pieces)


def test_a_text_within_the_limit_is_one_piece() -> None:
    assert chunks_of("  one two\n\nthree ", limit=3, count=words) == ("one two\n\nthree",)
    assert chunks_of(" \n ", limit=3, count=words) == ()


def test_paragraphs_are_cut_before_sentences_and_words() -> None:
    text = "One two. Three four.\n\nFive six. Seven eight nine ten."
    assert chunks_of(text, limit=5, count=words) == (
        "One two. Three four.",
        "Five six.",
        "Seven eight nine ten.",
    )
    assert chunks_of(text, limit=4, count=words)[0] == "One two. Three four."
    assert chunks_of("a b c d e", limit=2, count=words) == ("a b", "c d", "e")


def test_tokens_around_a_text_are_counted_once_a_piece() -> None:
    pieces = chunks_of("a b c d e f", limit=4, count=lambda text: words(text) + 2)
    assert pieces == ("a b", "c d", "e f")
