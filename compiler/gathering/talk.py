"""Talk: the turns around those that were found.

What answers a question often shares no word with it: it stands a few turns after the turn that
does. The turns of a scope are numbered as they are written: those around the best hits are read,
the nearest first, until there are enough, and those of the same talk join the candidates: a short
talk as a whole, for when tokens are free. How many there are does not depend on the budget, so that
a larger budget ranks the same candidates. What others write elsewhere meanwhile changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, islice
from typing import Final

from ...schema.claim import Version
from ...schema.policy import CompilePolicy
from ...store.port.records import ScopeTurns
from ...store.port.store import Ask
from ..ir.candidate import Candidate, is_talk, version_of
from ..ir.snapshot import Via
from ..text.relevance import COSINE_FULL
from .candidates import Candidates

_HITS: Final = 112
"""Found turns whose neighbours are read: the best by words, then by meaning. Looking a few turns
around many brings more of an answer than looking far around few (`bench/bench_talk.py`)."""

FAINT: Final = 0.3
"""Weight of the wide window beside that of the near one."""

FARTHEST: Final = 1_000
"""Turns from which on it no longer matters how far one is; millionths of relevance of the rest."""

_SAMPLE: Final = 32
"""Turns from which on a share of them tells how near talk is to any question."""

_NEAREST: Final = 128
"""Turns whose nearness counts at most, however many are looked at."""

_ANSWERING: Final = ("agent://", "tool://")
"""Whose turns are answers in the talk of somebody else."""

_ANSWER: Final = ""
"""Stands for the origin of an answer, of which no talk has a name."""

_GAP: Final = 8
"""How far two turns of a scope may be apart that still follow each other in one talk."""

TurnPlace = tuple[str, int]
"""Where a turn stands: its scope, and its number there."""


def add_talk(candidates: Candidates) -> None:
    """Add the visible turns of the same talk beside those that text or meaning found."""
    rules = candidates.context.rules
    hits: list[Version] = []
    for version, via, _ in candidates.rows.values():
        if via & (Via.TEXT | Via.VECTOR) and is_talk(version) and len(hits) < _HITS:
            hits.append(version)
    if not hits or not rules.talk_candidates:
        return

    places = set(islice(_places_around(set(map(place_of, hits))), rules.talk_candidates))
    # Turns that are here already count as well: what people say is also about themselves.
    neighbours: list[Version] = []
    for version, _, _ in candidates.rows.values():
        if place_of(version) in places:
            neighbours.append(version)

    new_places = places.difference(map(place_of, neighbours))
    if new_places:
        candidates.reads += 1
        neighbours += candidates.read(Ask(turns=turns_at(new_places))).versions
    talks = set(map(talk_of, hits))
    turns = [version for version in neighbours if is_turn_of(version, talks)]
    candidates.add(turns, Via.TALK)


def is_turn_of(version: Version, talks: AbstractSet[tuple[str, str]]) -> bool:
    """Whether a row is a visible turn of one of some talks: numbers run through the store."""
    if not (version.visible and is_talk(version)):
        return False
    origin, scope_id = talk_of(version)
    if (origin, scope_id) in talks or (_ANSWER, scope_id) in talks:
        return True
    return origin == _ANSWER and any(scope_id == scope for _, scope in talks)


def _places_around(centres: AbstractSet[TurnPlace]) -> Iterator[TurnPlace]:
    """Places around centres, each once, the nearest first, without those of the centres."""
    known_places = set(centres)
    ordered_centres = sorted(centres)
    distance = 0
    while True:
        distance += 1
        for scope_id, centre in ordered_centres:
            for number in (centre - distance, centre + distance):
                place = scope_id, number
                if number > 0 and place not in known_places:
                    known_places.add(place)
                    yield place


def turns_at(places: Iterable[TurnPlace]) -> tuple[ScopeTurns, ...]:
    """Places as an ask names them, in their order.

    >>> turns_at({("tenant", 3), ("tenant", 2)})
    (ScopeTurns(scope_id='tenant', numbers=(2, 3)),)
    """
    numbers: dict[str, list[int]] = {}
    for scope_id, number in sorted(places):
        numbers.setdefault(scope_id, []).append(number)
    return tuple(ScopeTurns(scope_id, tuple(turns)) for scope_id, turns in numbers.items())


def talk_of(version: Version) -> tuple[str, str]:
    """What turns of one talk have in common: origin and scope.

    An answer comes from an agent or a tool, whatever the talk, and has the origin of none.
    """
    details = version.details
    origin = details.source_origin
    is_answer = origin.startswith(_ANSWERING)
    return _ANSWER if is_answer else origin, details.scope.scope_id


def selective_cosines(
    candidates: Sequence[Candidate], cosines: Sequence[int | None], rules: CompilePolicy
) -> list[int | None]:
    """Return cosines of which those of turns count from what most turns reach.

    Sentences of everyday talk are all a little near to every question, and the windows of
    `lifted_scores` would add that up over a stretch of talk until it weighs more than the turn
    that answers. Other texts keep theirs: what is found by meaning alone must not lose it.
    """
    levels: list[int] = []
    for candidate, cosine in zip(candidates, cosines, strict=True):
        if cosine is not None and candidate.is_turn:
            levels.append(cosine)
    if len(levels) < _SAMPLE or not rules.talk_background:
        return list(cosines)

    levels.sort()
    place = (len(levels) - 1) * round(1000 * rules.talk_background) // 1000
    # Of thousands the same few are near: looking at more of the others must not let more in.
    background = max(0, levels[max(place, len(levels) - 1 - _NEAREST)])
    span = max(1, COSINE_FULL - background)
    results: list[int | None] = []
    for candidate, cosine in zip(candidates, cosines, strict=True):
        if cosine is None or not candidate.is_turn:
            results.append(cosine)
        else:
            results.append(max(0, cosine - background) * COSINE_FULL // span)
    return results


def lifted_scores(
    candidates: Sequence[Candidate], relevances: Sequence[int], rules: CompilePolicy
) -> list[int]:
    """Return relevances in which the turns of one talk lift their neighbours.

    Each turn has its own relevance and that of the turns around it, under a triangular window.
    A wide and faint one beside it orders what is around by how far it is, for when tokens are
    free, and what lies beyond comes last, the nearest first. The best turn keeps its
    relevance, so that talk does not outgrow the rest.
    """
    turns: list[int] = []
    for position, candidate in enumerate(candidates):
        if candidate.is_turn:
            turns.append(position)
    best = max((relevances[position] for position in turns), default=0)
    if not best:
        return list(relevances)

    results = list(relevances)
    for position in turns:
        results[position] = _focus_power(relevances[position], best, rules.talk_focus)

    powers = list(results)
    runs = _runs(candidates)
    for run in runs:
        versions = map(version_of, map(candidates.__getitem__, run))
        places = [version.turn for version in versions]
        for position, lift in zip(run, _lifts(run, places, powers, rules), strict=True):
            results[position] += lift

    highest = max(results[position] for position in turns)
    for position in turns:
        results[position] = results[position] * best // highest

    for run in runs:
        for position, distance in _distances(run, results):
            results[position] = max(results[position], FARTHEST - distance, 1)
    return results


def _focus_power(relevance: int, best: int, focus: int) -> int:
    """A turn's relevance as a power of its share of the best.

    A common word of the question stands in many turns. Each bears on it a little, and under the
    windows they would add up to more than the turn that answers.

    >>> _focus_power(500_000, 1_000_000, 3), _focus_power(9_000, 1_000_000, 3)
    (125000, 1000)
    """
    if not relevance:
        return 0
    power = best
    for _ in range(focus):
        power = power * relevance // best
    # However faint, a shared word is more than to stand near one.
    return max(power, min(relevance, FARTHEST))


def _lifts(
    run: Sequence[int], places: Sequence[int], relevances: Sequence[int], rules: CompilePolicy
) -> list[int]:
    """What the turns of a run get from those around them, in the order of the run.

    How far two are apart is told by their places, so that turns which were not read keep theirs.
    """
    first = places[0]
    strengths: dict[int, int] = {}
    for position, place in zip(run, places, strict=True):
        if relevances[position]:
            strengths[place - first] = relevances[position]

    lifts = lifts_of(strengths, places[-1] - first + 1, rules)
    return [lifts[place - first] for place in places]


def lifts_of(strengths: Mapping[int, int], length: int, rules: CompilePolicy) -> list[int]:
    """What each of so many places gets from the turns around it; `strengths` says of which.

    Each turn lends under two triangles, a high one and a wide and faint one, and nothing to
    itself. A triangle bends in three places alone, so the bends of all are added up twice, which
    takes as long for a wide window as for a narrow one.

    >>> lifts_of({2: 100}, 5, CompilePolicy(talk_window=1, talk_reach=0, talk_lift=0.5))
    [0, 25, 0, 25, 0]
    """
    # The first places of the bends are for triangles that begin before the first place.
    margin = max(rules.talk_window, rules.talk_reach) + 1
    bends = [0] * (length + 2 * margin)
    peaks = dict.fromkeys(strengths, 0)
    for window, weight in ((rules.talk_window, 1.0), (rules.talk_reach, FAINT)):
        width = window + 1
        for place, strength in strengths.items():
            share = round(strength * rules.talk_lift * weight / width)
            bends[margin + place - width] += share
            bends[margin + place] -= 2 * share
            bends[margin + place + width] += share
            peaks[place] += share * width

    lifts = list(accumulate(accumulate(bends)))[margin - 1 : margin - 1 + length]
    for place, height in peaks.items():
        lifts[place] -= height
    return lifts


def _distances(run: Sequence[int], relevances: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the turns of no relevance and how many turns away the nearest other one is."""
    before = after = FARTHEST
    back: list[int] = []
    for position in reversed(run):
        after = 0 if relevances[position] else after + 1
        back.append(after)

    for position, distance in zip(run, reversed(back), strict=True):
        before = 0 if relevances[position] else before + 1
        if before:
            yield position, min(before, distance)


def _runs(candidates: Sequence[Candidate]) -> list[list[int]]:
    """The positions of turns that follow each other in one talk, in their order."""
    turns: dict[int, Version] = {}
    for position, candidate in enumerate(candidates):
        version = candidate.version
        if version is not None and is_talk(version):
            turns[position] = version
    return runs_of(turns)


def runs_of(turns: Mapping[int, Version]) -> list[list[int]]:
    """Turns, by a number each, in runs that follow each other in one talk, in their order.

    An answer belongs to the talk that was going on in its scope, the first one to the next.
    """
    order = sorted(turns, key=lambda number: turns[number].turn)
    keys = list(map(talk_of, map(turns.__getitem__, order)))
    origins: dict[str, str] = {}
    for origin, scope_id in reversed(keys):
        if origin != _ANSWER:
            origins[scope_id] = origin

    talks: dict[tuple[str, str], list[int]] = {}
    for number, (origin, scope_id) in zip(order, keys, strict=True):
        if origin != _ANSWER:
            origins[scope_id] = origin
        talks.setdefault((origins.get(scope_id, _ANSWER), scope_id), []).append(number)

    runs: list[list[int]] = []
    for numbers in talks.values():
        places = [turns[number].turn for number in numbers]
        # Turns that were not fetched lie between: what is beyond them is another passage.
        for run in runs_within(places, _GAP):
            runs.append(numbers[run])
    return runs


def place_of(version: Version) -> TurnPlace:
    """Where a row stands; what is no turn has the number 0, which no turn has."""
    return version.details.scope.scope_id, version.turn


def runs_within(places: Sequence[int], gap: int) -> Iterator[slice]:
    """Where runs of rising numbers stand, none of which has a wider gap in it.

    >>> list(runs_within([1, 2, 9], 3))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    start = 0
    for position in range(1, len(places)):
        if places[position] - places[position - 1] > gap:
            yield slice(start, position)
            start = position
    yield slice(start, len(places))
