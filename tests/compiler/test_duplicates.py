"""Duplicates by probes are those that comparing every text with every other finds."""

from hypothesis import example, given
from hypothesis import strategies as st

from tenure.compiler.text.duplicates import Text, duplicates, shingles
from tenure.compiler.text.sentences import negates, numbers_of

WORDS = st.lists(st.sampled_from("a b c d no 1 2".split()), max_size=12).map(" ".join)


@st.composite
def texts(draw: st.DrawFn) -> list[Text]:
    stated = draw(st.lists(st.tuples(WORDS, st.sampled_from("xy"), st.integers(0, 3)), max_size=8))
    return [Text(str(n), text, (guard,), (rank,)) for n, (text, guard, rank) in enumerate(stated)]


def compared(given_texts: list[Text], words: int, threshold: float) -> dict[str, str]:
    """Return the duplicates by comparing all pairs."""
    kept: list[Text] = []
    found: dict[str, str] = {}
    for text in sorted(given_texts, key=lambda t: (t.rank, t.object_id)):
        mine = set(shingles(text.text, words))
        whole = next((k for k in kept if mine and _says(k, text, mine, words, threshold)), None)
        if whole is None:
            kept.append(text)
        else:
            found[text.object_id] = whole.object_id
    return found


def _says(whole: Text, part: Text, mine: set[tuple[str, ...]], words: int, least: float) -> bool:
    shared = mine & set(shingles(whole.text, words))
    return (
        len(shared) >= least * len(mine)
        and whole.guard == part.guard
        and numbers_of(part.text) <= numbers_of(whole.text)
        and negates(part.text) == negates(whole.text)
    )


@given(texts(), st.sampled_from([0.5, 0.8, 0.92, 1.0]), st.integers(1, 5))
@example(
    [Text("0", "d d c c a b d b a", (), (0,)), Text("1", "a a d d c c a b d b a", (), (0,))], 0.8, 2
)
def test_no_duplicate_is_overlooked(stated: list[Text], threshold: float, words: int) -> None:
    found = duplicates(stated, words=words, threshold=threshold)
    assert found == compared(stated, words, threshold)
