"""Talk: the turns around those that were found.

What answers a question often shares no word with it: it stands a few turns after the turn that
does. Turns of one talk are written one after the other, so their rows have neighbouring numbers:
the rows around the best hits are read, the nearest first, until there are enough, and those of
the same talk join the candidates: a short talk as a whole, for when tokens are free. How many
there are does not depend on the budget, so that a larger budget ranks the same candidates.

Where others write at the same time, their rows stand between one's own, and are not told. Then rows
farther off are read, too, and how far two turns are apart is counted in turns, not in rows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, islice, pairwise
from typing import Final, NamedTuple

from ...schema.claim import Version
from ...schema.policy import CompilePolicy
from ...store.port.store import Ask
from ..ir.candidate import Candidate, is_talk, version_of
from ..ir.snapshot import Via
from ..text.relevance import COSINE_FULL
from .candidates import Candidates

_TALK_BIT: Final = int(Via.TALK)
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
"""Row numbers between two turns that still follow each other: a turn may bring claims."""

_CROWD_SPACING: Final = 4
"""Row numbers from a turn to the next from which on others are taken to write between them."""

_WAVES: Final = 3
"""How often rows around the hits are read where others write between, twice as many each time."""


class Run(NamedTuple):
    """Turns that follow each other in one talk."""

    numbers: list[int]
    """What names the turns, in their order."""
    spacing: int
    """Row numbers from one to the next: 1 where nobody else writes between."""

    def places(self, vids: Sequence[int]) -> list[int]:
        """Where each turn stands, counted in turns, by the row numbers of all."""
        if self.spacing == 1:
            return list(vids)

        places = [0]
        for before, vid in pairwise(vids):
            places.append(places[-1] + max(1, round((vid - before) / self.spacing)))
        return places


def add_talk(candidates: Candidates) -> None:
    """Add the visible turns of the same talk beside those that text or meaning found."""
    rules = candidates.context.rules
    hits: list[Version] = []
    for version, via, _ in candidates.rows.values():
        if via & (Via.TEXT | Via.VECTOR) and is_talk(version) and len(hits) < _HITS:
            hits.append(version)
    if not hits or not rules.talk_candidates:
        return

    known_vids = {vid for _, vid in candidates.rows}
    last_vid = candidates.reader.clock().next_vid - 1
    order = _vids_around(set(map(vid_of, hits)))
    around_vids: set[int] = set()
    neighbours: list[Version] = []
    for wave in range(_WAVES):
        vids = set(islice(order, rules.talk_candidates << wave))
        around_vids |= vids
        new_vids = sorted(vids - known_vids)
        candidates.reads += 1
        page = candidates.read(Ask(vids=tuple(new_vids)))
        neighbours += page.versions
        # Where most rows around are those of others, one's own turns stand farther off.
        is_crowded = 2 * len(page.versions) < bisect_right(new_vids, last_vid)
        if not is_crowded or len(neighbours) >= rules.talk_candidates:
            break

    # Turns that are here already count as well: what people say is also about themselves.
    for version, _, _ in candidates.rows.values():
        if version.row.vid in around_vids:
            neighbours.append(version)
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


def _vids_around(centres: AbstractSet[int]) -> Iterator[int]:
    """Row numbers around centres, each once, the nearest first, without those of the centres."""
    known_vids = set(centres)
    ordered_centres = sorted(centres)
    distance = 0
    while True:
        distance += 1
        for centre in ordered_centres:
            for vid in (centre - distance, centre + distance):
                if vid > 0 and vid not in known_vids:
                    known_vids.add(vid)
                    yield vid


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
        versions = map(version_of, map(candidates.__getitem__, run.numbers))
        places = run.places(list(map(vid_of, versions)))
        for position, lift in zip(
            run.numbers, _lifts(run.numbers, places, powers, rules), strict=True
        ):
            results[position] += lift

    highest = max(results[position] for position in turns)
    for position in turns:
        results[position] = results[position] * best // highest

    for run in runs:
        for position, distance in _distances(run.numbers, results):
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


def _runs(candidates: Sequence[Candidate]) -> list[Run]:
    """The positions of turns that follow each other in one talk, in their order."""
    turns: dict[int, Version] = {}
    neighbours: set[int] = set()
    for position, candidate in enumerate(candidates):
        version = candidate.version
        if version is not None and is_talk(version):
            turns[position] = version
            if candidate.via & _TALK_BIT:
                neighbours.add(position)
    return runs_of(turns, neighbours)


def runs_of(turns: Mapping[int, Version], neighbours: AbstractSet[int] = frozenset()) -> list[Run]:
    """Turns, by a number each, in runs that follow each other in one talk, in their order.

    Of `neighbours` is known that they were read because they stand around others. An answer
    belongs to the talk that was going on in its scope, the first one to the next.
    """
    order = sorted(turns, key=lambda number: turns[number].row.vid)
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

    runs: list[Run] = []
    for numbers in talks.values():
        vids = list(map(vid_of, map(turns.__getitem__, numbers)))
        # Turns that were found by words alone may stand anywhere, and tell nothing of the others.
        is_told = 2 * len(neighbours & set(numbers)) >= len(numbers)
        spacing = _spacing(vids) if is_told else 1
        # Turns that were not fetched lie between: what is beyond them is another passage.
        for place in runs_within(vids, _GAP * spacing):
            runs.append(Run(numbers[place], spacing))
    return runs


def vid_of(version: Version) -> int:
    """The number of a row."""
    return version.row.vid


def _spacing(vids: Sequence[int]) -> int:
    """Row numbers from one turn to the next: 1, but where others write between.

    >>> _spacing([1, 2, 4, 5]), _spacing([10, 20, 31, 40, 300])
    (1, 10)
    """
    gaps = sorted(vid - before for before, vid in pairwise(vids))
    spacing = gaps[len(gaps) // 4] if gaps else 1
    return spacing if spacing >= _CROWD_SPACING else 1


def runs_within(vids: Sequence[int], gap: int) -> Iterator[slice]:
    """Where runs of rising numbers stand, none of which has a wider gap in it.

    >>> list(runs_within([1, 2, 9], 3))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    start = 0
    for place in range(1, len(vids)):
        if vids[place] - vids[place - 1] > gap:
            yield slice(start, place)
            start = place
    yield slice(start, len(vids))
