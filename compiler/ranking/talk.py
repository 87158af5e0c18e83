"""The order of the turns of talk: by windows, so that a turn counts with those around it.

What answers a question often shares no word with it: it is said a turn after the turn that does.
So each turn is scored by itself and with its window, by words and by nearness, each on the scale
of all turns, and the mean of the four orders them. A good neighbour, the speaker whom the
question names and the best turn of the session add a little. Long messages say everything
themselves: there a turn counts alone, and an answer takes a share of the question before it.

Sums run in the order of the turns and results are whole millionths, so both stores and all
machines agree. `bench/bench_talk.py` and `bench/bench_chats.py` measure it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate
from operator import sub
from statistics import median
from typing import Final, NamedTuple

from ...schema.claim import Version
from ..text.relevance import COSINE_FULL, FULL, Background, bm25

K1: Final = 1.2
B: Final = 0.3
"""How much the length of a turn counts: who says more about a thing is no less about it, and short
turns often answer nothing (`bench/bench_chats.py`: 1 to 3 points at 500 tokens over 0.75)."""


class Reach(NamedTuple):
    """How far turns count for each other: the shorter they are, the farther."""

    window: int
    """Turns on each side that are scored with one."""
    near: int
    near_weight: float
    far: int
    far_weight: float
    """Weights of a turn's score for those up to so many turns away, falling to nothing."""
    close: float = 0.0
    """For a turn that is a hit, and less the farther from one: so the rest of a talk is ordered."""
    echo: float = 0.0
    """What a turn takes of the best one's score for a rare word that both say: "the tortoise is
    called Biscuit" leads to "Biscuit died". Of more turns than the best one, and in meetings, such
    words bring noise (`bench/bench_chats.py`: 5 points less at 500 tokens)."""
    focus: int = 1
    """The power to which a score is raised. Without it, a common word that is in many short
    turns adds up to more than the one turn that answers (`bench/bench_talk.py`: 2 points at 1k, 3
    at 2k)."""


REACH: Final = Reach(
    window=1, near=1, near_weight=0.3, far=24, far_weight=0.03, close=0.02, echo=0.4
)
SHORT_REACH: Final = Reach(window=2, near=4, near_weight=0.3, far=24, far_weight=0.24, focus=3)
LONG_REACH: Final = Reach(window=0, near=0, near_weight=0.0, far=0, far_weight=0.0)
"""Set on every second meeting of `talk/meetings` and checked on the others and on the chats: in
meetings of six words a turn an answer is a run of turns, among messages each stands alone."""
SPEAKER: Final = 0.07
"""For the words of the one speaker whom the question names."""
SESSION: Final = 0.10
"""Share of the best score of its session."""
ANSWER: Final = 0.3
"""What a long answer takes of the score of the question before it."""
SHORT: Final = 9
"""Terms that the median turn holds of its own, below which turns count as short."""
LONG: Final = 60
"""The same from which messages count as long."""
FEW: Final = 20
"""Turns below which most words are rare, those that say nothing too."""
NEAR: Final = COSINE_FULL // 4
"""The cosine below which nearness alone finds no turn."""
_ANSWERING: Final = ("agent://", "tool://")
"""The speakers whose turns count as answers to another speaker."""
OF_ANSWERS: Final = ""
"""Stands for the origin of an answer, of which no talk has a name."""
_GAP: Final = 8
"""How far two turns of a scope may be apart that still follow each other in one talk."""


class SpokenTurn(NamedTuple):
    """A turn as far as its place in the order depends on it."""

    counts: Mapping[str, int]
    """How often it, or who says it, holds each term of the question."""
    size: int
    """Its terms."""
    cosine: int | None = None
    """Nearness to the question, as a whole number."""
    is_question: bool = False
    by_named: bool = False
    """Whether the one speaker says it whom the question names."""
    words: AbstractSet[str] = frozenset()
    """All its terms."""


def order_turns(
    turns: Sequence[SpokenTurn],
    runs: Sequence[Sequence[int]],
    *,
    background: Background | None = None,
) -> list[int]:
    """The scores of turns in millionths of the best; 0 for all where nothing speaks for any.

    `runs` are the places of turns that follow each other, one run a session.
    """
    nearest = max((turn.cosine or 0 for turn in turns), default=0)
    if nearest < NEAR and not any(turn.counts for turn in turns):
        return [0] * len(turns)

    reach = reach_of([turn.size for turn in turns])
    windows = list(turns)
    for run in runs:
        for position, place in enumerate(run):
            first = max(0, position - reach.window)
            members = run[first : position + reach.window + 1]
            windows[place] = _joined([turns[member] for member in members])

    parts = [_by_words(turns, background)]
    if reach.window:
        parts.append(_by_words(windows, background))
    if nearest:
        parts.append(_on_scale([turn.cosine for turn in turns]))
        if reach.window:
            parts.append(_on_scale([window.cosine for window in windows]))

    own = [(sum(scores) / len(parts)) ** reach.focus for scores in zip(*parts, strict=True)]
    if reach.echo and len(turns) >= FEW:
        _add_echoes(own, turns, reach.echo)
    totals = [0.0] * len(turns)
    for run in runs:
        scores = [own[place] for place in run]
        best, lifts = max(scores), _lifts(scores, reach)
        distances = _distances(scores)
        for position, place in enumerate(run):
            total = scores[position] + SPEAKER * turns[place].by_named + SESSION * best
            if reach.window:
                total += lifts[position] + reach.close / (1 + distances[position])
            elif position and turns[run[position - 1]].is_question:
                total += ANSWER * scores[position - 1]
            totals[place] = total

    highest = max(totals) or 1.0
    return [max(1, round(FULL * total / highest)) for total in totals]


def _add_echoes(scores: list[float], turns: Sequence[SpokenTurn], share: float) -> None:
    """Raise each turn that says a word of the best one, which no other and no question has."""
    best = scores.index(max(scores))
    asked = frozenset[str]().union(*(turn.counts for turn in turns))
    holders: dict[str, list[int]] = {}
    for place, turn in enumerate(turns):
        for word in (turn.words & turns[best].words) - asked:
            holders.setdefault(word, []).append(place)

    # A set, since two such words say no more than one.
    echoes: set[int] = set()
    for places in holders.values():
        if len(places) == 2:
            echoes.add(sum(places) - best)
    for place in echoes:
        scores[place] += share * scores[best]


def reach_of(sizes: Sequence[int]) -> Reach:
    """How far turns of these sizes count for each other."""
    size = median(sizes)
    if size > LONG:
        return LONG_REACH
    return SHORT_REACH if size < SHORT else REACH


def _lifts(scores: Sequence[float], reach: Reach) -> list[float]:
    """What each turn of a run gets from those around it.

    >>> _lifts([0.0, 1.0, 0.0], Reach(1, 1, 0.5, 0, 0.0))
    [0.25, 0.0, 0.25]
    """
    lifts = [0.0] * len(scores)
    for most, weight in ((reach.near, reach.near_weight), (reach.far, reach.far_weight)):
        edge = [0.0] * most
        # A weight that falls evenly on both sides is the mean of a mean: two running sums.
        falling = _running_sums(_running_sums([*edge, *scores, *edge], most + 1), most + 1)
        for place, total in enumerate(falling):
            lifts[place] += weight * (total / (most + 1) - scores[place])
    return lifts


def _running_sums(values: Sequence[float], count: int) -> list[float]:
    """The sums of so many values that follow each other.

    >>> _running_sums([1.0, 2.0, 4.0], 2)
    [3.0, 6.0]
    """
    sums = list(accumulate(values, initial=0.0))
    return list(map(sub, sums[count:], sums))


def _distances(scores: Sequence[float]) -> list[int]:
    """How many turns away the nearest one with a score is.

    >>> _distances([0.0, 0.5, 0.0, 0.0])
    [1, 0, 1, 2]
    """
    distances = [len(scores)] * len(scores)
    for places in (range(len(scores)), reversed(range(len(scores)))):
        distance = len(scores)
        for place in places:
            distance = 0 if scores[place] else distance + 1
            distances[place] = min(distances[place], distance)
    return distances


def _joined(turns: Sequence[SpokenTurn]) -> SpokenTurn:
    """The turns of a window as one: its words, and its mean nearness."""
    counts: dict[str, int] = {}
    for turn in turns:
        for term, count in turn.counts.items():
            counts[term] = counts.get(term, 0) + count
    known = [turn.cosine for turn in turns if turn.cosine is not None]
    cosine = sum(known) // len(known) if known else None
    return SpokenTurn(counts, sum(turn.size for turn in turns), cosine)


def _by_words(turns: Sequence[SpokenTurn], background: Background | None) -> list[float]:
    """BM25 of each turn on the scale of all."""
    return _on_scale(bm25([(turn.counts, turn.size) for turn in turns], K1, B, background))


def _on_scale(scores: Sequence[float | None]) -> list[float]:
    """Scores between the least and the greatest of them; an unknown one is the least."""
    known = [score for score in scores if score is not None]
    least, span = min(known, default=0), max(known, default=0) - min(known, default=0)
    if not span:
        # Alone, or all alike: what speaks for one speaks for all.
        return [float(bool(score)) for score in scores]
    return [0.0 if score is None else (score - least) / span for score in scores]


def named_speaker(question: str, names: Iterable[str]) -> str:
    """The one of some speakers whom a question names; empty where it names none or several.

    By the full name, or by a first name that is capitalised and does not begin the sentence.

    >>> names = ["Ann Lee", "Will Ek"]
    >>> named_speaker("What did Ann say?", names), named_speaker("Will it rain?", names)
    ('Ann Lee', '')
    """
    found: set[str] = set()
    for name in sorted(set(names)):
        first = name.partition(" ")[0]
        full = rf"(?<!\w){re.escape(name)}(?!\w)" if " " in name else r"(?!)"
        inner = rf"(?<![.?!:\n] )(?<!^)(?<!\w){re.escape(first)}(?!\w)"
        if re.search(full, question, re.IGNORECASE) or (
            first.istitle() and re.search(inner, question)
        ):
            found.add(name)
    return found.pop() if len(found) == 1 else ""


def talk_of(version: Version) -> tuple[str, str]:
    """What turns of one talk have in common: origin and scope.

    An answer comes from an agent or a tool, whatever the talk, and has the origin of none.
    """
    details = version.details
    origin = details.source_origin
    is_answer = origin.startswith(_ANSWERING)
    return OF_ANSWERS if is_answer else origin, details.scope.scope_id


def runs_of(turns: Mapping[int, Version]) -> list[list[int]]:
    """Turns, by a number each, in runs that follow each other in one talk, in their order.

    An answer belongs to the talk that was going on in its scope, the first one to the next.
    """
    order = sorted(turns, key=lambda number: turns[number].turn)
    keys = list(map(talk_of, map(turns.__getitem__, order)))
    origins: dict[str, str] = {}
    for origin, scope_id in reversed(keys):
        if origin != OF_ANSWERS:
            origins[scope_id] = origin

    talks: dict[tuple[str, str], list[int]] = {}
    for number, (origin, scope_id) in zip(order, keys, strict=True):
        if origin != OF_ANSWERS:
            origins[scope_id] = origin
        talks.setdefault((origins.get(scope_id, OF_ANSWERS), scope_id), []).append(number)

    runs: list[list[int]] = []
    for numbers in talks.values():
        places = [turns[number].turn for number in numbers]
        # Turns that were not fetched lie between: what is beyond them is another passage.
        for run in _runs_within(places, _GAP):
            runs.append(numbers[run])
    return runs


def _runs_within(places: Sequence[int], gap: int) -> Iterator[slice]:
    """Where runs of rising numbers stand, none of which has a wider gap in it.

    >>> list(_runs_within([1, 2, 9], 3))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    start = 0
    for position in range(1, len(places)):
        if places[position] - places[position - 1] > gap:
            yield slice(start, position)
            start = position
    yield slice(start, len(places))
