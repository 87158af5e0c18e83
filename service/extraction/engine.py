"""Extraction by rules: one engine that reads clauses, and a table of patterns for each language.

A sentence is cut into clauses. The engine finds the subject of a clause, its verb, what negates it,
its time and the rest; a row of the table (`en.toml`, `de.toml`) says which verb with which rest
fills a slot. A row counts only if it accounts for the whole clause: the words behind the value must
be known to leave it whole. A clause that is asked, hedged, quoted, reported or bounded makes no
claim, and a value keeps the words that limit it. The text is kept whatever is found.

>>> at = datetime(2026, 6, 17, tzinfo=UTC)
>>> [(claim.slot, claim.value) for claim in RuleExtractor().extract("I live in Leeds.", at=at)]
[('home', 'Leeds')]
>>> RuleExtractor().extract("I live in Leeds on weekends.", at=at)
()
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, NamedTuple

from ...resolution.normalize import sentence_spans
from .claims import (
    ANY_SLOT,
    LANGUAGE_FILES,
    LAST_HEARD,
    LAST_SAID,
    ExtractedClaim,
)
from .dates import SaidDay, partial_date
from .language import PARTS, TITLE, Clause, ClauseFrame, Grammar, RowWording, SlotRow, Withdrawal

_LONGEST_SENTENCE: Final = 400
"""Characters that are read: nobody says so much at once."""
_MOST_CLAIMS: Final = 64
"""Of a text."""
_QUOTATION: Final = re.compile(
    '"[^"\n]*"|\u201c[^\u201d\n]*\u201d|\u201e[^\u201c\u201d\n]*[\u201c\u201d]'
    r"|\u00ab[^\u00bb\n]*\u00bb|\*[A-Z][^*\n]+\*|(?<!\w)'[A-Za-z][^'\n]*(?:'\w[^'\n]*)*'(?!\w)"
)
_MARK: Final = re.compile(
    r"(?<=[!?])\s+(?=\S)|(?<=\w{3}\.)\s+(?=(?:i|my|we|our|and|but|so|ich|wir|mein\w*)\b)"
)
_EXCEPTIONS: Final = {"FOODS": "no_food", "ALLERGENS": "no_allergy"}
_LISTED: Final = re.compile(r",? (?:and|or|und|oder) [A-Z]")
_GROUP: Final = re.compile(r"([A-Z_]+)_\d+")

_TIMELESS: Final = frozenset({"birthday", "birthplace", "full_name", "alias"})
"""Slots whose values hold for good."""
_OPPOSITES: Final = {"likes": "dislikes", "dislikes": "likes"}
_FORMER: Final = frozenset({"employer", "home", "title", "office", "manager", "team", "diet"})
"""Slots of which "was" says that it was so once, and not what happened."""
_SINGLE: Final = _FORMER | {"partner", "full_name", "timezone"}
_LACKED: Final = frozenset({"diet", "language", "health_condition", "medication", "vehicle"})
"""Slots that a plain negation ends only where something is known."""
_THING_SLOTS: Final = frozenset({"likes", "dislikes", "avoids", "allergy"})
_MANNERS: Final = frozenset({"preferred_language", "response_length", "response_style"})
_RULES: Final = frozenset({"answer_rule"})
_REQUESTED: Final = _MANNERS | _RULES | {"alias", "todo"}
"""Slots that a polite question to the assistant fills."""
_AHEAD: Final = frozenset({"plan", "goal", "appointment"})
"""Slots whose words name the day of something to come."""
_LISTS: Final = frozenset(
    {"NAMES", "LANGUAGES", "ILLNESSES", "DRUGS", "THINGS", "FOODS", "ALLERGENS"}
)
_NAMES: Final = frozenset({"NAME", "NAMES", "FULL_NAME"})
_THINGS: Final = frozenset({"THING", "THINGS", "FOODS", "ALLERGENS"})


class RowMatch(NamedTuple):
    """A row that matches a clause."""

    language: Grammar
    row: SlotRow
    match: re.Match[str]
    frame: ClauseFrame
    clause: Clause

    @property
    def said(self) -> str:
        """All that is said of the value, and the value."""
        return _joined(self.frame.lead, self.frame.chain, self.match.group())

    @property
    def around(self) -> str:
        """What is said around the value."""
        tail = self.match.groupdict().get("tail") or ""
        return _joined(self.frame.lead, self.frame.chain, tail)

    @property
    def op(self) -> str:
        """Whether an earlier word is corrected, or another value named that is not so."""
        tail = self.match.groupdict().get("tail") or ""
        if self.row.slot in _SINGLE and self.language.raw("replaced").match(tail):
            return "correct"
        return _op(self.language, self.row.slot, self.frame.lead)

    def stated(self, name: str) -> str | None:
        """The words of a part that is in one of several places, which are numbered."""
        for group, words in self.match.groupdict().items():
            if words is not None and group.rstrip("0123456789") == name:
                return words
        return None


class SlotOutcome(NamedTuple):
    """What a row says of a slot."""

    slot: str
    op: str = "assert"
    valid_from: SaidDay | None = None
    valid_until: datetime | None = None
    if_known: bool = False


class RuleExtractor:
    """The default extractor; never fails on any text."""

    def extract(self, text: str, *, at: datetime) -> tuple[ExtractedClaim, ...]:
        """Find the claims of a text in order of appearance."""
        claims: list[ExtractedClaim] = []
        said_from = 0
        person: str | None = None
        plain = text.replace("\u2019", "'").replace("\u2018", "'")
        for start, end in _sentences(plain):
            if end - start > _LONGEST_SENTENCE or len(claims) >= _MOST_CLAIMS:
                continue
            reading = SentenceReading(text[start:end], plain[start:end], at, person)
            for claim in reading.claims():
                if claim.value in (LAST_SAID, LAST_HEARD) and text[:start].strip():
                    # What was said in this very text is not said at all.
                    claims = [earlier for earlier in claims if earlier.start < said_from]
                    continue
                claims.append(replace(claim, start=start + claim.start, end=start + claim.end))
            said_from, person = start, reading.person
        return tuple(sorted(claims[:_MOST_CLAIMS], key=lambda claim: (claim.start, claim.slot)))


@cache
def _language(name: str) -> Grammar:
    return Grammar(name)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """The sentences of a text; who types small ends one by `!` and `?`, too."""
    for start, end in sentence_spans(text):
        for mark in _MARK.finditer(text, start, end):
            # "hey! i'm Nadia" is one sentence, of whom it greets and who does.
            if " " in text[start : mark.start()]:
                yield start, mark.start()
                start = mark.end()
        yield start, end


class SentenceReading:
    """One sentence as it is read, with the people whom it names."""

    def __init__(self, typed: str, plain: str, at: datetime, person: str | None) -> None:
        """Take a sentence as typed and with plain apostrophes; `person` was named before."""
        self.at = at
        self.person = person
        """Whom "she" and "he" mean next: the one person whom the sentence names."""
        if typed.islower():
            for name in LANGUAGE_FILES:
                typed, plain = map(_language(name).capitalised, (typed, plain))
        self._typed = typed
        self._text = _QUOTATION.sub(lambda match: TITLE * len(match.group()), plain)
        self._named: dict[str, None] = {}

    def claims(self) -> list[ExtractedClaim]:
        """The claims of the sentence, or what it takes back."""
        person, self.person = self.person, None
        is_question = self._text.rstrip(" \"')").endswith("?")
        found: dict[ExtractedClaim, None] = {}
        for name in LANGUAGE_FILES:
            language = _language(name)
            requested = list(self._requested(language))
            if requested:
                return requested
            if is_question or not language.is_spoken(self._text):
                continue
            taken_back = language.withdrawal(self._text)
            if taken_back is not None:
                return list(self._withdrawn(taken_back))
            for claim in self._said(language, person):
                found.setdefault(claim)

        if len(self._named) == 1:
            (self.person,) = self._named
        return list(found)

    def _requested(self, language: Grammar) -> Iterator[ExtractedClaim]:
        """What a polite question asks of the assistant, what it is asked to stop, or allowed."""
        for name, slots in (("polite", _REQUESTED), ("stops", _MANNERS), ("permits", _RULES)):
            for claim in self._read(language.request(name, self._text)):
                if claim.slot in slots and claim.op == "assert" and claim.subject is None:
                    claim = replace(claim, start=0, end=len(self._text))
                    yield claim if name == "polite" else replace(claim, op="deny", if_known=True)

    def _said(self, language: Grammar, person: str | None) -> Iterator[ExtractedClaim]:
        text = self._text
        for clause in language.clauses(text, language.certain_part(text)):
            yield from self._relatives(language, clause)
            for wording in language.phrases:
                yield from self._of_phrase(language, wording, clause)

            if self._named:
                person = next(iter(self._named)) if len(self._named) == 1 else None
            seen: set[SlotRow] = set()
            for frame in language.frames(clause, person):
                if frame.subject is not None and frame.is_known:
                    self._named[frame.subject] = None
                for wording in language.wordings(frame):
                    start = frame.start(wording.text)
                    match = language.row_pattern(wording).match(frame.text, start, frame.end)
                    if match is not None and wording.row not in seen:
                        seen.add(wording.row)
                        yield from self._of_row(
                            RowMatch(language, wording.row, match, frame, clause)
                        )

    def _relatives(self, language: Grammar, clause: Clause) -> Iterator[ExtractedClaim]:
        """Who is named behind a word of kin."""
        for match in language.raw("relative").finditer(self._text, clause.start, clause.end):
            slot = language.slot_of_kin(match["kin"])
            lead = self._text[clause.start : match.start()]
            tail = self._text[match.end("name") : clause.end].lstrip(" ,")
            if slot in _SINGLE and _is_limited(language, lead, tail):
                slot = ""
            names = PARTS.split(match["name"])
            is_plural = language.word("plural").fullmatch(match["kin"])
            for name in names if is_plural else names[:1]:
                if not language.is_name(name):
                    continue
                self._named[name] = None
                if slot:
                    is_over = language.raw("death").match(self._text, match.end("name"))
                    op = "deny" if is_over else _op(language, slot, lead)
                    yield self._claim(clause, slot, name, op=op)

    def _of_phrase(
        self, language: Grammar, wording: RowWording, clause: Clause
    ) -> Iterator[ExtractedClaim]:
        # Behind words such as "well" and "by the way" a clause begins, too.
        lead = language.raw("leads").match(clause.text, clause.start, clause.end)
        for start in sorted({clause.start, lead.end() if lead else clause.start}):
            match = language.row_pattern(wording).match(self._text, start, clause.end)
            if match is None:
                continue
            frame = ClauseFrame(text=self._text, rest=start, whole=start, end=clause.end)
            hit = RowMatch(language, wording.row, match, frame, clause)
            name = hit.stated("subj")
            if name is None:
                yield from self._of_row(hit)
            elif language.is_name(name):
                named_frame = replace(frame, subject=name, is_known=" " in name)
                yield from self._of_row(hit._replace(frame=named_frame))
            return

    def _of_row(self, hit: RowMatch) -> Iterator[ExtractedClaim]:
        """The claims of a row that matches a clause."""
        language, row, _, frame, _ = hit
        outcome = _outcome(hit, self.at)
        what = (hit.stated("what") or "").lower().split()
        if outcome is None or not language.words_of("vague").isdisjoint(what):
            return
        if not language.is_job(hit.stated("job") or ""):
            return
        slot = outcome.slot
        if slot == "role":
            yield from self._role(hit)
            return
        if slot == "KIN":
            slot = language.slot_of_kin(hit.stated("kin") or "")

        planned = outcome.valid_from is not None and outcome.valid_from > self.at
        for value in self._values(hit, outcome):
            if not value or not slot or value == frame.subject:
                continue
            claim = self._claim(
                hit.clause, slot, value, op=outcome.op, subject=frame.subject, planned=planned,
                valid_from=outcome.valid_from, valid_until=outcome.valid_until,
                precision=outcome.valid_from.precision if outcome.valid_from else "",
                if_known=outcome.if_known or row.known, if_subject_known=not frame.is_known,
                is_unnamed=row.unnamed,
            )  # fmt: skip
            # "I'm not allergic after all" says that it never was so, and is not.
            if claim.op == "deny" and language.word("after_all").search(hit.said):
                yield replace(claim, op="retract", if_known=True)
            yield claim
            level = hit.stated("experience_level")
            if level is not None and claim.op == "assert":
                yield replace(claim, slot="experience_level", value=level)
            if claim.valid_until is not None and claim.valid_until <= self.at:
                yield replace(claim, op="deny", valid_from=None, valid_until=None, if_known=True)
            # Nobody likes what he dislikes: the newer word ends the older one.
            if slot in _OPPOSITES and outcome.op == "assert":
                yield replace(claim, slot=_OPPOSITES[slot], op="deny", if_known=True)

    def _role(self, hit: RowMatch) -> Iterator[ExtractedClaim]:
        language, name, firm = hit.language, hit.stated("subj") or "", hit.stated("org")
        if not language.is_name(name) or (firm is not None and not language.is_name(firm)):
            return
        self._named[name] = None
        for slot, value in (("title", hit.stated("role")), ("employer", firm)):
            if value is not None:
                is_unsure = " " not in name
                yield self._claim(hit.clause, slot, value, subject=name, if_subject_known=is_unsure)

    def _claim(self, clause: Clause, slot: str, value: str, **members: Any) -> ExtractedClaim:
        # It points at its whole clause, which says the same to whoever reads it alone.
        return ExtractedClaim(slot=slot, value=value, start=clause.start, end=clause.end, **members)

    def _values(self, hit: RowMatch, outcome: SlotOutcome) -> Iterator[str]:
        """The values of a match that are of their kind."""
        language, row, match, frame, _ = hit
        is_typed = frame.text is self._text
        text = self._typed if is_typed else frame.text
        for group, words in match.groupdict().items():
            kind = _GROUP.fullmatch(group)
            if kind is None or words is None or (TITLE in words and not is_typed):
                continue
            start, end = match.span(group)
            value = text[start:end].strip(" .,")
            title = re.search(f"{TITLE}+", words)
            if title is not None and kind[1] in _THINGS:
                value = text[start + title.start() : start + title.end()]
                yield value.strip("\"*'\u2018\u2019\u201e\u201c\u201d\u00ab\u00bb .,")
                return
            if kind[1] == "REST" and not language.is_task(words):
                return
            if kind[1] == "DATE":
                yield partial_date(words)
            elif outcome.slot in _AHEAD or row.dated:
                yield self._with_day(hit, value)
            else:
                yield from _parts_of(language, kind[1], value, is_small=text.islower())

    def _with_day(self, hit: RowMatch, value: str) -> str:
        """What is to come, with its day behind it; nothing where the row wants a day."""
        day = hit.language.dates.said(hit.said, self.at, is_ahead=True)
        if day is None or day.date() < self.at.astimezone(UTC).date():
            return "" if hit.row.dated else value
        return f"{value} ({day.date().isoformat()})"

    # what a sentence takes back

    def _withdrawn(self, withdrawal: Withdrawal) -> Iterator[ExtractedClaim]:
        """The claims that are no more, and what is in their place."""
        end = len(self._typed)

        def withdrawn(slot: str, value: Any, subject: str | None = None) -> ExtractedClaim:
            return ExtractedClaim(
                slot=slot, value=value, subject=subject, start=0, end=end, op=withdrawal.op,
                if_known=True,
            )  # fmt: skip

        clause = self._read(withdrawal.clause)
        claims = [claim for claim in clause if claim.op in ("assert", "correct")]
        # "My sister Ruth works at Acme" says two things, and it is the second that is meant.
        about_others = [claim for claim in claims if claim.subject is not None]
        for claim in about_others or claims:
            yield withdrawn(claim.slot, claim.value, claim.subject)
        if withdrawal.topic:
            yield withdrawn(ANY_SLOT, withdrawal.topic)

        corrections = self._read(withdrawal.correction)
        if withdrawal.is_last:
            value = LAST_SAID if withdrawal.may_be_answered else LAST_HEARD
            slots = [] if corrections or withdrawal.is_same_slot else [ANY_SLOT]
            for claim in corrections:
                if claim.op != "deny" and claim.slot not in slots:
                    slots.append(claim.slot)
            for slot in slots:
                yield withdrawn(slot, value)

        shift = max(0, self._text.find(withdrawal.correction))
        for claim in corrections:
            # "That was wrong, I'm not allergic" says that it never was so.
            if claim.op == "deny" and withdrawal.is_last and withdrawal.op == "retract":
                yield withdrawn(claim.slot, claim.value, claim.subject)
            yield replace(claim, start=claim.start + shift, end=claim.end + shift)

    def _read(self, sentence: str) -> list[ExtractedClaim]:
        return SentenceReading(sentence, sentence, self.at, None).claims() if sentence else []


def _parts_of(language: Grammar, kind: str, value: str, *, is_small: bool) -> Iterator[str]:
    """The parts of an enumeration, up to one that is not of its kind."""
    # "reading about war and conflict" is one thing; "jazz and hiking" are two.
    is_one = "," not in value and language.word("linking").search(value) is not None
    for part in PARTS.split(value) if kind in _LISTS and not is_one else [value]:
        part = part.strip(" .,")
        if kind in _NAMES and not language.is_name(part):
            return
        if kind == "PLACE" and not language.is_place(part):
            return
        if kind == "JOB" and not language.is_job(part):
            return
        if kind in _THINGS and not language.is_thing(part, is_small=is_small):
            return
        if part.lower() in language.words_of(_EXCEPTIONS.get(kind, "vague")):
            return
        yield part


def _outcome(hit: RowMatch, at: datetime) -> SlotOutcome | None:
    """What a row says of its slot, by what negates it and when it holds; None for nothing."""
    language, row, match, frame, _ = hit
    if row.say:
        if row.slot in _SINGLE and _is_bounded(hit):
            return None
        if row.does == "ends":
            day = language.dates.said(hit.said, at)
            return SlotOutcome(row.slot, "deny", None if row.unnamed else _not_today(day, at))
        return SlotOutcome(row.slot, "deny" if row.unnamed else "assert")

    # "in Paris, London and Rome" names several, of which one slot holds one.
    if row.slot in _SINGLE and _LISTED.match(match.groupdict().get("tail") or ""):
        return None
    if row.slot in _TIMELESS:
        return None if frame.negation else SlotOutcome(row.slot, hit.op)
    if row.does == "ends":
        if frame.tense not in ("past", "perfect") or frame.negation:
            return None
        return SlotOutcome(row.slot, "deny", _not_today(language.dates.said(hit.said, at), at))
    if (frame.can and not row.can) or (row.can == "must" and not frame.can):
        return None
    is_over = language.word("over").search(f"{frame.chain} {match.group()}") is not None
    if frame.negation:
        return _negated(hit, is_over=is_over)
    if not row.slot or is_over:
        return None
    if row.slot in _AHEAD:
        return SlotOutcome(row.slot) if frame.tense == "present" else None
    return _begun(hit, at) if row.does == "begins" else _held(hit, at)


def _joined(*parts: str) -> str:
    """The parts of a clause in one line."""
    return " ".join(part.strip() for part in parts if part.strip())


def _not_today(day: SaidDay | None, at: datetime) -> SaidDay | None:
    """A day that is the speaker's own begins when he says so: what he said before was before."""
    return None if day is not None and day.date() == at.astimezone(UTC).date() else day


def _op(language: Grammar, slot: str, lead: str) -> str:
    """Whether an earlier word is corrected; "actually" is a filler as often."""
    is_correction = language.word("correction").search(lead) and slot in _SINGLE
    return "correct" if is_correction else "assert"


def _negated(hit: RowMatch, *, is_over: bool) -> SlotOutcome | None:
    language, row, _, frame, _ = hit
    if (row.does == "begins" and row.slot != "diet") or row.slot in _AHEAD:
        return None
    if frame.tense in ("past", "perfect", "used"):
        # "I never lived in Ulm" says that it never was so; "I didn't like it" tells of once.
        is_never = language.word("never").search(frame.negation) is not None
        return SlotOutcome(row.slot, "retract", if_known=True) if is_never and row.slot else None
    if row.negated and not (is_over and row.slot):
        return SlotOutcome(row.negated)
    # "I'm not a doctor" opens an opinion.
    if not row.slot or (row.slot in (*_OPPOSITES, "title") and not is_over):
        return None
    # What somebody lacks need not be said of what he had.
    return SlotOutcome(row.slot, "deny", if_known=row.slot in _LACKED and not is_over)


def _begun(hit: RowMatch, at: datetime) -> SlotOutcome | None:
    """Of what began, on the day that is said, or is to begin on it."""
    language, row, _, frame, _ = hit
    is_behind = frame.tense in ("past", "perfect")
    day = language.dates.said(hit.said, at, is_ahead=not is_behind)
    if is_behind or (frame.tense == "present" and not frame.verb):
        return SlotOutcome(row.slot, hit.op, _not_today(day, at))
    # "I'm starting at Acme" has begun; who is moving may not have.
    if day is None and frame.tense == "progressive" and row.slot == "employer":
        return SlotOutcome(row.slot)
    return SlotOutcome(row.slot, "assert", day) if day is not None and day > at else None


def _held(hit: RowMatch, at: datetime) -> SlotOutcome | None:
    """Of what holds for a time: since when, until when, or nothing where it holds at times."""
    language, row, _, frame, _ = hit
    slot, dates, around = row.slot, language.dates, hit.around
    since, until = dates.behind(around, "from", at), dates.behind(around, "until", at)
    is_used = frame.tense == "past" and language.word("used").search(around) is not None
    if (frame.tense == "used" or is_used) and slot not in _FORMER:
        return SlotOutcome(slot, "deny", if_known=slot not in _OPPOSITES)
    if frame.tense in ("past", "used"):
        if slot not in _FORMER:
            return None
        end = until if until is not None and until < at else at
        return SlotOutcome(slot, "assert", since if since is None or since < end else None, end)

    is_lasting = language.word("long").search(around) is not None
    if row.lasting and not is_lasting and until is None:
        return None
    if frame.tense == "perfect" and slot in _FORMER and not is_lasting:
        return None
    op = hit.op
    if until is not None:
        return SlotOutcome(slot, op, since, until) if until > at else None
    if _is_bounded(hit):
        return None
    day = dates.said(around, at, is_ahead=frame.tense == "future")
    if frame.tense == "future":
        return SlotOutcome(slot, op, day) if day is not None and day > at else None
    start = since if since is not None else _not_today(day, at)
    # "I live in Rome in March" names no start.
    if since is None and start is not None and start <= at and not is_lasting:
        return None if slot in _SINGLE else SlotOutcome(slot, op)
    return SlotOutcome(slot, op, start)


def _is_bounded(hit: RowMatch) -> bool:
    """Whether a clause holds at times, for a while, in part, or in addition to something."""
    language, row, match, frame, _ = hit
    # A thing may hold such words itself; what is said of a name may hold them anywhere.
    said = hit.around if row.slot in _THING_SLOTS else f"{hit.around} {match.group()}"
    bound = language.word("bound").search(said)
    if bound is not None and not (frame.tense == "perfect" and bound.group().startswith("for")):
        return True
    if language.word("until").search(hit.around):
        return True
    limits = ("added", "purpose") if row.slot in _SINGLE else ()
    return any(language.word(name).search(hit.around) for name in limits)


def _is_limited(language: Grammar, lead: str, tail: str) -> bool:
    """Whether what stands before or directly behind a name limits what the name is for."""
    limits = map(language.word, ("bound", "until", "added", "purpose"))
    is_bound = any(limit.search(lead) or limit.match(tail) for limit in limits)
    return is_bound or language.word("gone").match(tail) is not None
