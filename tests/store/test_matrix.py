"""Claims with one to three chunks and, in half of them, a condition."""

import itertools
import math
import random
import threading
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.schema.errors import Fault, InvalidInput
from tenure.store.port.records import PlacedVector
from tenure.store.port.store import Clock
from tenure.store.port.vectors import (
    FULL,
    MOST_DIMENSIONS,
    SCALE,
    SQUARE_LIMIT,
    VectorScore,
    check_vector,
    pack_vector,
    quantise,
    to16,
    unpack_vector,
)
from tenure.store.search import matrix as module
from tenure.store.search.matrix import BLOCK, Matrices, Matrix, VectorRows, sign_bits
from tenure.tests.support.refusals import refused

ENCODER = "test@1"
EVERYTHING = 10**9
SCOPES = ("user=ann", "user=bob", "tenant")


def placed(object_id: str, part: str, vec16: bytes, encoder: str = ENCODER) -> PlacedVector:
    return PlacedVector(object_id, encoder, part, vec16, SCOPES[-1])


def row(
    object_id: str, part: str, vector: Sequence[float], scope_id: str = SCOPES[-1]
) -> PlacedVector:
    return PlacedVector(object_id, ENCODER, part, quantise(vector), scope_id)


def random_rows(seed: int, count: int, dimensions: int) -> list[PlacedVector]:
    """Claims with one to three chunks and, in half of them, a condition."""
    rng = random.Random(seed)
    rows: list[PlacedVector] = []
    for number in range(count):
        parts = [str(chunk) for chunk in range(rng.choice((1, 1, 1, 3)))]
        for part in parts + ["why"] * rng.randint(0, 1):
            vector = [rng.gauss(0, 1) for _ in range(dimensions)]
            rows.append(row(f"o{number:05}", part, vector, SCOPES[number % 3]))
    return rows


def by_hand(rows: Sequence[PlacedVector], query: Sequence[int]) -> list[tuple[str, int]]:
    """Score every claim with Python's own whole numbers."""
    best: dict[str, int] = {}
    for each in rows:
        numbers = np.frombuffer(each.vec16, "<i2").tolist()
        score = sum(a * b for a, b in zip(numbers, query, strict=True))
        if each.part != "why":
            best[each.object_id] = max(best.get(each.object_id, -(10**9)), score)
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))


def walked(
    matrix: Matrix,
    query: Sequence[int],
    *,
    scopes: Sequence[str] = SCOPES,
    exact_rows: int = EVERYTHING,
) -> list[list[tuple[str, int]]]:
    chunks = matrix.walk(query, scopes=scopes, first=10, exact_rows=exact_rows)
    return [[(name, score) for name, score in chunk] for chunk in chunks]


def flat(chunks: list[list[tuple[str, int]]]) -> list[tuple[str, int]]:
    return [hit for chunk in chunks for hit in chunk]


def filled(rows: Sequence[PlacedVector]) -> Matrix:
    matrix = Matrix(ENCODER)
    matrix.add(rows)
    return matrix


def a_query(seed: int, dimensions: int) -> tuple[int, ...]:
    rng = random.Random(seed)
    return to16([rng.gauss(0, 1) for _ in range(dimensions)])


@pytest.mark.parametrize("dimensions", [1, 3, 64, 100, 384])
def test_scores_equal_those_of_pythons_whole_numbers(dimensions: int) -> None:
    rows = random_rows(dimensions, 400, dimensions)
    query = a_query(7, dimensions)
    assert flat(walked(filled(rows), query)) == by_hand(rows, query)


def test_the_greatest_scores_are_exact() -> None:
    # the longest vectors that rounding can make: all coordinates half a step too long
    edge = (205,) * 384
    assert 15_900_000 < sum(x * x for x in edge) < 1 << 24
    rows = [
        placed("a", "0", pack_vector(edge)),
        placed("b", "0", pack_vector([-x for x in edge])),
    ]
    assert flat(walked(filled(rows), edge)) == [("a", 384 * 205**2), ("b", -384 * 205**2)]


@given(st.randoms(use_true_random=False), st.integers(1, 60))
def test_the_order_of_insertion_does_not_show(rng: random.Random, pieces: int) -> None:
    rows = random_rows(3, 60, 8)
    query = a_query(5, 8)
    expected = walked(filled(rows), query)
    rows = rng.sample(rows, len(rows))
    matrix = Matrix(ENCODER)
    for start in range(0, len(rows), pieces):
        matrix.add(rows[start : start + pieces])
    assert walked(matrix, query) == expected
    assert walked(matrix, query, exact_rows=0) == walked(
        filled(sorted(rows, key=lambda r: r.object_id)), query, exact_rows=0
    )


def test_the_order_of_coordinates_does_not_show() -> None:
    # the vector units add in another order after it: exact sums do not care
    rows, query = random_rows(1, 200, 384), a_query(2, 384)
    order = random.Random(4).sample(range(384), 384)
    moved = [replace(r, vec16=np.frombuffer(r.vec16, "<i2")[order].tobytes()) for r in rows]
    assert walked(filled(rows), query) == walked(filled(moved), [query[i] for i in order])


def test_ties_stand_in_order_of_object_id_and_are_never_parted() -> None:
    rows = [row(f"o{n:03}", "0", [1.0, 0.0]) for n in random.Random(1).sample(range(100), 100)]
    (chunk,) = walked(filled(rows), (4000, 0))
    assert [object_id for object_id, _ in chunk] == [f"o{n:03}" for n in range(100)]


def test_a_walk_comes_in_chunks_that_grow() -> None:
    rows = [row(f"o{n:03}", "0", [1.0, n / 50]) for n in range(200)]
    sizes = [len(chunk) for chunk in walked(filled(rows), (4000, 0))]
    assert sizes == [10, 40, 150]


def test_the_condition_is_scored_apart() -> None:
    matrix = filled(
        [
            row("a", "0", [1, 0]),
            row("a", "1", [0, 1]),
            row("a", "why", [3, 4]),
            row("b", "why", [1, 0]),
        ]
    )
    assert matrix.scores((4000, 0), ["b", "missing", "a"]) == (
        VectorScore("b", 0, 16_000_000),
        VectorScore("a", 16_000_000, 9_600_000),
    )
    assert flat(walked(matrix, (4000, 0))) == [("a", 16_000_000)]
    assert len(matrix) == 2


def test_an_empty_matrix_has_no_answers() -> None:
    assert flat(walked(Matrix(ENCODER), (1, 2, 3))) == []
    assert Matrix(ENCODER).scores((1, 2), ["a"]) == ()
    assert not Matrix(ENCODER).holds("a")


def test_a_matrix_grows_in_place_across_blocks() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(-2000, 2000, (BLOCK + 500, 4)).astype("<i2")
    rows = [placed(f"o{n:06}", "0", v.tobytes()) for n, v in enumerate(values)]
    matrix = filled(rows[:300])
    first = matrix._content.scan()
    matrix.add(rows[300:])
    assert matrix._content.scan().blocks[0] is first.blocks[0]
    assert first.count == 300
    query = (100, -200, 300, 400)
    assert flat(walked(matrix, query)) == by_hand(rows, query)


def test_a_new_vector_of_a_part_replaces_the_old_one() -> None:
    matrix = filled([row("a", "0", [1, 0]), row("a", "1", [0, 1]), row("a", "2", [-1, 0])])
    for part in ("0", "1", "2"):
        matrix.add([row("a", part, [0, -1])])
    assert flat(walked(matrix, (0, 4000))) == [("a", -16_000_000)]
    assert len(matrix) == 1


def test_of_two_vectors_of_a_part_in_one_load_the_last_one_counts() -> None:
    matrix = filled([row("a", "0", [1, 0]), row("a", "0", [0, 1])])
    assert flat(walked(matrix, (0, 4000))) == [("a", 16_000_000)]


def test_an_erased_object_is_dropped_and_overwritten() -> None:
    rows = random_rows(2, 50, 8)
    matrix = filled(rows)
    before = matrix._content.scan()
    matrix.drop(["o00007", "o00031", "never there"])
    left = [r for r in rows if r.object_id not in ("o00007", "o00031")]
    query = a_query(1, 8)
    assert flat(walked(matrix, query)) == by_hand(left, query)
    assert len(matrix) == 48
    assert not matrix.holds("o00007")
    number = matrix._numbers["o00007"]
    gone = np.flatnonzero(before.owner() == number)
    assert len(gone)
    assert not before.blocks[0][gone].any()
    assert not before.signs[0][gone].any()


def test_an_erased_object_may_come_back_under_its_id() -> None:
    matrix = filled([row("a", "0", [1, 0]), row("a", "why", [1, 0])])
    matrix.drop(["a"])
    matrix.drop(["a"])
    matrix.add([row("a", "0", [0, 1])])
    assert flat(walked(matrix, (0, 4000))) == [("a", 16_000_000)]
    assert matrix.scores((0, 4000), ["a"]) == (VectorScore("a", 16_000_000, 0),)
    assert len(matrix) == 1


def test_dead_rows_are_swept_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_STEP", 10)
    rows = random_rows(2, 40, 8)
    matrix = filled(rows)
    for _ in range(8):
        matrix.add(rows)
    assert matrix._content.dead <= len(matrix._content) + 10
    assert matrix._why.dead <= len(matrix._why) + 10
    query = a_query(1, 8)
    assert flat(walked(matrix, query)) == by_hand(rows, query)


def test_a_query_of_another_length_is_refused() -> None:
    matrix = filled([row("a", "0", [1, 0])])
    for ask in (
        lambda: matrix.walk((1, 2, 3), scopes=SCOPES, first=1, exact_rows=1),
        lambda: matrix.scores((1,), ["a"]),
    ):
        with refused(InvalidInput, "bad_vector"):
            ask()


@pytest.mark.parametrize(
    "bad",
    [
        placed("b", "0", b"\x01\x00"),
        placed("b", "0", b""),
        placed("b", "0", quantise([1, 0]), "another@2"),
        placed("b", "0", pack_vector([4000, 4000])),
    ],
)
def test_a_stored_vector_that_is_none_is_a_fault(bad: PlacedVector) -> None:
    for matrix in (filled([row("a", "0", [1, 0])]), Matrix(ENCODER)):
        if not matrix.dimensions and bad.vec16 == b"\x01\x00":
            continue
        with refused(Fault, "invariant_broken"):
            matrix.add([bad])


class Source:
    """A store's counters, vectors and erasures, as a reader hands them out."""

    def __init__(self) -> None:
        self.seq = 0
        self.rows: list[PlacedVector] = []
        self.erased: list[tuple[int, str]] = []
        self.reads = 0
        self.home = "here"

    def clock(self) -> Clock:
        return Clock(self.seq, 0, 0, len(self.rows))

    def vectors(self, encoder_id: str, after: int) -> tuple[int, tuple[PlacedVector, ...]]:
        self.reads += 1
        new = self.rows[after:]
        return len(self.rows), tuple(r for r in new if r.encoder_id == encoder_id)

    def erased_since(self, seq: int) -> tuple[str, ...]:
        return tuple(o for at, o in self.erased if at > seq)


def test_a_matrix_follows_the_store_by_its_counters() -> None:
    source, matrix = Source(), Matrix(ENCODER)
    source.rows += [row("a", "0", [1, 0]), placed("x", "0", quantise([1, 0, 0]), "another@2")]
    matrix.sync(source)
    assert flat(walked(matrix, (4000, 0))) == [("a", 16_000_000)]
    matrix.sync(source)
    assert source.reads == 1
    source.rows.append(row("b", "0", [0, 1]))
    source.seq = 1
    source.erased.append((1, "a"))
    matrix.sync(source)
    assert flat(walked(matrix, (4000, 0))) == [("b", 0)]
    older = Source()
    older.rows.append(row("a", "0", [1, 0]))
    matrix.sync(older)
    assert not matrix.holds("a")


def test_a_search_sees_one_state_while_others_write() -> None:
    rows = random_rows(9, 300, 16)
    steady, moving = rows[:200], rows[200:]
    matrix, query = filled(steady), a_query(3, 16)
    expected = by_hand(steady, query)
    known = {r.object_id for r in steady}
    steady_ids = known - {r.object_id for r in moving}
    expected = [(o, s) for o, s in expected if o in steady_ids]
    stop, wrong = threading.Event(), list[str]()

    def search() -> None:
        while not stop.is_set():
            found = [(o, s) for o, s in flat(walked(matrix, query)) if o in steady_ids]
            if found != expected:
                wrong.append("a search lost or changed a claim that nobody touched")
            matrix.scores(query, sorted(steady_ids))

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(60):
        matrix.add(moving)
        matrix.drop([r.object_id for r in moving if r.object_id not in steady_ids])
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("exact_rows", [EVERYTHING, 10])
@pytest.mark.parametrize("scopes", [("user=ann",), ("user=bob", "tenant"), ("user=eve",), ()])
def test_a_walk_meets_the_claims_of_some_scopes_as_if_there_were_no_others(
    scopes: tuple[str, ...], exact_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RING", 40)
    monkeypatch.setattr(module, "RING_SHARE", 1)
    rows, query = random_rows(12, 300, 32), a_query(4, 32)
    matrix = filled(rows)
    matrix.drop(["o00000", "o00001", "o00002"])
    others = {f"o{number:05}" for number in range(3)}
    known = [r for r in rows if r.scope_id in scopes and r.object_id not in others]
    hits = walked(matrix, query, scopes=scopes, exact_rows=exact_rows)
    assert hits == walked(filled(known), query, exact_rows=exact_rows)
    assert sorted(flat(hits)) == sorted(by_hand(known, query))


def test_how_many_claims_are_scored_is_counted_in_the_scopes_of_the_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "RING", 5)
    monkeypatch.setattr(module, "RING_SHARE", 1)
    rows, query = random_rows(13, 90, 32), a_query(5, 32)
    matrix = filled(rows)
    own = [r for r in rows if r.scope_id == "user=ann"]
    narrow = flat(walked(matrix, query, scopes=["user=ann"], exact_rows=30))
    assert narrow == by_hand(own, query)
    assert flat(walked(matrix, query, exact_rows=30)) != by_hand(rows, query)


def test_signs_are_packed_in_words() -> None:
    bits = sign_bits(np.array([[1, -1, 0] * 30], np.float32))
    assert bits.shape == (1, 2)
    assert int(np.bitwise_count(bits).sum()) == 30


def test_above_the_limit_the_nearest_signs_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RING", 40)
    monkeypatch.setattr(module, "RING_SHARE", 1)
    rows = random_rows(11, 400, 32)
    matrix, query = filled(rows), a_query(6, 32)
    exact = by_hand(rows, query)
    found = flat(walked(matrix, query, exact_rows=100))
    # every claim comes once, with the score of its best chunk, wherever that chunk stands
    assert sorted(found) == sorted(exact)
    assert found != exact
    falls = sum(after[1] > before[1] for before, after in itertools.pairwise(found))
    assert 1 <= falls <= 4, "the score rises only where a ring ends"
    assert flat(walked(matrix, query, exact_rows=len(matrix))) == exact


def test_the_prefilter_finds_nearly_all_of_the_best() -> None:
    rng = np.random.default_rng(1)
    # claims gather around topics, as texts do
    topics = rng.normal(size=(200, 384))
    values = topics[rng.integers(0, 200, 6_000)] + rng.normal(size=(6_000, 384))
    rows = [row(f"o{n:06}", "0", v.tolist()) for n, v in enumerate(values)]
    matrix, found = filled(rows), 0
    for number in range(20):
        query = to16((topics[number] + rng.normal(size=384)).tolist())
        best = set(flat(walked(matrix, query))[:10])
        found += len(best & set(flat(walked(matrix, query, exact_rows=0))[:10]))
    assert found >= 190


def test_rows_of_unknown_claims_are_none() -> None:
    rows = VectorRows(2)
    assert rows.of(5) == []
    rows.drop([5])
    rows.put([], [], np.empty((0, 2), np.float32))
    assert len(rows) == 0


def test_the_least_used_matrix_is_dropped() -> None:
    source = Source()
    source.rows += random_rows(1, 100, 16)
    one = Matrix(ENCODER)
    one.sync(source)
    held = Matrices(most_bytes=2 * one.nbytes)
    first = held.current("a", ENCODER, source)
    second = held.current("b", ENCODER, source)
    assert held.current("a", ENCODER, source) is first
    held.current("c", ENCODER, source)
    assert held.current("a", ENCODER, source) is first
    assert held.current("b", ENCODER, source) is not second


def test_a_tenant_that_moved_is_read_anew_where_it_lives() -> None:
    held, here, there = Matrices(), Source(), Source()
    here.rows += [row("a", "0", [1, 0]), row("b", "0", [0, 1])]
    there.rows.append(row("b", "0", [0, 1]))
    there.home = "there"
    assert len(held.current("t", ENCODER, here)) == 2
    moved = held.current("t", ENCODER, there)
    assert flat(walked(moved, (4000, 0))) == [("b", 0)]
    assert held.current("t", ENCODER, there) is moved


def test_the_matrix_in_use_stays_whatever_its_size() -> None:
    source = Source()
    source.rows += random_rows(1, 100, 16)
    held = Matrices(most_bytes=1)
    matrix = held.current("a", ENCODER, source)
    assert held.current("a", ENCODER, source) is matrix
    assert len(matrix) == 100


# ----

finite = st.floats(allow_nan=False, allow_infinity=False)
vectors = st.lists(finite, min_size=1, max_size=40).filter(any)


@given(vectors)
def test_a_quantised_vector_is_short_enough_for_exact_sums(vector: list[float]) -> None:
    numbers = to16(vector)
    assert max(map(abs, numbers)) <= SCALE
    assert sum(x * x for x in numbers) < SQUARE_LIMIT
    assert unpack_vector(quantise(vector)) == numbers


def test_the_longest_rounding_still_gives_exact_sums() -> None:
    assert (SCALE + math.sqrt(MOST_DIMENSIONS) / 2) ** 2 < SQUARE_LIMIT


@pytest.mark.parametrize("length", [1e-320, 1e-200, 1.0, 7.5, 1e200, 1e307])
def test_only_the_direction_counts(length: float) -> None:
    numbers = to16([3 * length, -4 * length])
    assert numbers == (2400, -3200)
    assert sum(x * x for x in numbers) == FULL


def test_halves_are_rounded_to_even() -> None:
    # a length of exactly 8,000 leaves each coordinate half of itself: 0.5, 1.5, 2.5
    numbers = to16([1, 3, 5, 7980, 562, 61])
    assert numbers[:3] == (0, 2, 2)


def test_stored_numbers_are_little_endian() -> None:
    assert pack_vector((1, -2, 4000)) == b"\x01\x00\xfe\xff\xa0\x0f"


@pytest.mark.parametrize(
    "vector", [[], [0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0], [1.0] * (MOST_DIMENSIONS + 1)]
)
def test_what_has_no_direction_is_refused(vector: list[float]) -> None:
    with refused(InvalidInput, "bad_vector"):
        quantise(vector)


def test_another_count_of_numbers_than_the_encoder_makes_is_refused() -> None:
    with refused(InvalidInput, "bad_vector", match="it has 2 numbers, the encoder makes 3"):
        to16([1.0, 2.0], dimensions=3)


def test_a_query_of_whole_numbers_must_be_normalised() -> None:
    assert check_vector((2400, 3200), dimensions=2) == (2400, 3200)
    with pytest.raises(InvalidInput, match="no normalised vector"):
        check_vector((4000, 4000))
    with pytest.raises(InvalidInput, match="never mixed"):
        check_vector((2400, 3200), dimensions=3)
