"""A language as the extraction engine reads it: the words and rows of its table, made ready.

The table (`en.toml`, `de.toml`) holds every word. Here are the parts that grammar needs: the forms
of a verb, the order of a clause, and how a kind of value is spelled. A pattern is made when a
clause first asks for it, as most texts need few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final, NamedTuple

from .claims import language_tables
from .dates import DATE_READERS

TITLE: Final = "\ue000"
"""Stands for each character of a quotation: it is no sentence, but it may be a title."""
PARTS: Final = re.compile(r",? (?:and|or|und|oder|sowie) |, ")
_ANY_DAY: Final = datetime(2000, 1, 1, tzinfo=UTC)
_LONGEST_THING: Final = 8
"""Words; what is longer is a story about a thing."""
_UPPER: Final = "A-Z\u00c0-\u00d6\u00d8-\u00de\u0106\u010c\u0141\u015a\u0160\u017b\u017d\u0130"
_WORD: Final = (
    rf"(?:(?:St|Mt|Ft)\. )?(?!I'|(?:St|Mt|Ft)(?:\.|$))"
    rf"[{_UPPER}](?:[\w&-]|'(?!s\b)(?=\w)|'s(?= [{_UPPER}])|\.(?=\w))*"
)
"""A word of a name. An owner's 's is a part of it before another capital: "King's Cross"."""
_TITLE: Final = r"(?:(?:(?:Dr|Prof|Rev|Mrs?|Ms|Mx)\b\.? )*)"
_PLACEHOLDER: Final = re.compile(r"\{([A-Z_]+)\}")
_LIST: Final = re.compile(r"<<(\w+)>>")
_BARE: Final = re.compile(
    r"(?<![<\w{])(KINWORD|NAMES?|PLACE|JOB|ROLE|POST|CHORE|AIM|FOOD|OCCASION|MONTH)(?![\w>}])"
)


@dataclass(frozen=True, kw_only=True)
class SlotRow:
    """A row of the table: in which words something fills a slot."""

    slot: str
    say: str = ""
    """A phrase as it stands; else `verb` or `be` follows a subject."""
    verb: str = ""
    """Base forms, whose other forms grammar makes."""
    be: str = ""
    """What follows a form of "be"; `then` follows it unless it holds the value itself."""
    then: str = ""
    """What follows the verb."""
    does: str = "holds"
    """`begins` and `ends` tell of a change, on its day."""
    negated: str = ""
    """The slot that a negation fills."""
    can: str = ""
    """Whether "can" `may` or `must` come before the verb."""
    dated: bool = False
    known: bool = False
    """Whether it ends only what is known."""
    lasting: bool = False
    """Whether it counts only with a time that says for how long."""
    unnamed: bool = False
    """Whether it ends the only thing of a kind, and the value is the kind."""

    @property
    def being(self) -> str:
        """What is read behind a form of "be"."""
        return self.be if "{" in self.be else f"(?:{self.be}) {self.then}"


class RowWording(NamedTuple):
    """One way to say what a row says."""

    row: SlotRow
    text: str


class Clause(NamedTuple):
    """A part of a sentence that says one thing."""

    text: str
    """The sentence, in which the places count."""
    start: int
    end: int
    is_heir: bool = False
    """Whether its subject is that of the clause before."""
    subject: str | None = None
    """That subject, if it is not the speaker."""


@dataclass(frozen=True, kw_only=True)
class ClauseFrame:
    """A clause, taken apart as far as the rows need it."""

    subject: str | None = None
    """A name; None is the speaker."""
    is_known: bool = True
    """Whether the speaker is it, or the text says who it is."""
    verb: str = ""
    """As it stands; empty where a form of "be" is all there is."""
    tense: str = "present"
    """`present`, `progressive`, `past`, `perfect`, `future` or `used`."""
    negation: str = ""
    can: bool = False
    chain: str = ""
    """What is between the subject and the rest."""
    lead: str = ""
    """What comes before the subject."""
    text: str
    """What the rows read: the sentence, or a German clause with its first words last."""
    rest: int
    """Where that begins which most rows read."""
    whole: int
    """The same with the adverbs and times before it, for rows that keep them."""
    end: int

    def start(self, text: str) -> int:
        """Where a row begins to read."""
        return self.whole if "REST" in text or "DATE" in text else self.rest


class Withdrawal(NamedTuple):
    """What a sentence takes back."""

    op: str = "retract"
    clause: str = ""
    """A main clause that is so no more."""
    topic: str = ""
    """What all that is taken back is about."""
    is_last: bool = False
    """Whether it is what was said last."""
    may_be_answered: bool = True
    """Whether it is the speaker's own word whoever spoke since: "that is not so" may mean the
    answer."""
    correction: str = ""
    """What the sentence goes on with."""
    is_same_slot: bool = False
    """Whether only what the correction has another value for is taken back."""


class Grammar:
    """One table, and what grammar makes of it."""

    def __init__(self, name: str) -> None:
        """Read the table of a language."""
        tables = language_tables(name)
        self.name = name
        self.dates = DATE_READERS[name]
        self._words: Mapping[str, Any] = tables["clause"]
        self._kinds: Mapping[str, str] = tables["kinds"]
        self._kin: Mapping[str, str] = tables["kin"]
        self._back: Mapping[str, Any] = tables["withdrawal"]
        self._words_by_class: Mapping[str, str] = tables["classes"]
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._classes: dict[str, frozenset[str]] = {}
        self.phrases: list[RowWording] = []
        self._bes: list[RowWording] = []
        self._verbs: dict[str, list[tuple[RowWording, str]]] = {}
        forms = _german_forms if self._words["verb_second"] else _english_forms
        verbs: list[str] = tables["irregular"]["forms"].split(",")
        irregular = dict(verb.strip().split(" ", 1) for verb in verbs)
        for members in tables["table"]["fact"]:
            row = SlotRow(**members)
            if row.say:
                self.phrases.append(RowWording(row, row.say))
                # A phrase is whole; a verb and a form of "be" are read with their clause.
                row = replace(row, say="")
            if row.be:
                self._bes.append(RowWording(row, row.being))
            for base in filter(None, row.verb.split("|")):
                for form, tense in forms(base, irregular.get(base, "")):
                    self._verbs.setdefault(form, []).append((RowWording(row, row.then), tense))

    # words and patterns

    def pattern(self, text: str, tail: str = "") -> re.Pattern[str]:
        """A text of the table as a pattern."""
        key = f"{text}\n{tail}"
        if key not in self._patterns:
            self._patterns[key] = re.compile(self._filled(f"(?:{text}){tail}"), re.IGNORECASE)
        return self._patterns[key]

    def word(self, name: str) -> re.Pattern[str]:
        """The words of a list as a pattern."""
        return self.pattern(rf"(?<!\w)(?:{self._words[name]})(?!\w)")

    def raw(self, name: str) -> re.Pattern[str]:
        """A pattern of the table as it stands."""
        return self.pattern(self._words[name])

    def row_pattern(self, wording: RowWording) -> re.Pattern[str]:
        """A row with what may come after its value."""
        row, text = wording
        kinds = set(_PLACEHOLDER.findall(text))
        if kinds & {"THING", "THINGS", "FOODS", "ALLERGENS"}:
            tail = "begun" if row.does == "begins" else "thing"
        else:
            tail = "gone" if row.unnamed else "rest" if "REST" in text else "name"
        return self.pattern(text, self._tails[tail])

    @cached_property
    def _tails(self) -> Mapping[str, str]:
        after, thing = self._words["after"], self._words["after_thing"]
        courtesy, begun = self._words["courtesy"], self._words["after_begun"]
        return {
            "name": rf"(?P<tail>(?:,? (?:{after})(?!\w)|[,;:!.)(\u2013\u2014]| - ).*)?$",
            "thing": rf"(?P<tail>(?:,? (?:{thing})(?!\w)|[;:!.)(\u2013\u2014]| - ).*)?$",
            "begun": rf"(?P<tail>(?:,? (?:{thing}|{begun})(?!\w)|[;:!.)(\u2013\u2014]| - ).*)?$",
            "gone": rf"(?P<tail>(?:,? (?:{self._words['after_gone']})(?!\w)|[,;:!.)]).*)?$",
            "rest": rf"(?P<tail>(?:,? (?:{courtesy})(?!\w))*[ .!]*(?:;.*)?)$",
        }

    @cached_property
    def _values(self) -> Mapping[str, str]:
        """How each kind of value is spelled."""
        kinds = self._kinds
        name = rf"{_TITLE}{_WORD}(?: (?:(?:{kinds['joint']}) )?{_WORD})*(?: (?:{kinds['firm']})\b)?"
        one, many = f"(?-i:{name})", f"(?-i:{name}(?:(?:,? (?:and|und|or|oder) |, ){name})*)"
        values = {
            **{kind.upper(): text for kind, text in kinds.items()},
            "NAME": one,
            "NAMES": many,
            "FULL_NAME": rf"(?-i:{_WORD}(?: (?:(?:{kinds['particle']}) )?{_WORD})+)",
            "PLACE": rf"(?-i:{name}(?:, {name})?)",
            "KINWORD": "|".join(self._kin.values()),
            "EMAIL": r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
            "PHONE": r"\+?\d[\d ()-]{5,}\d",
            "DATE": kinds["date"].replace("MONTH", kinds["month"]),
        }
        for kind in ("ILLNESS", "DRUG", "LANGUAGE"):
            value = f"(?:{kinds[kind.lower()]})"
            values[kind] = value
            values[kind + ("ES" if kind.endswith("S") else "S")] = (
                rf"{value}(?:(?:,? (?:and|or|und|oder) |, ){value})*"
            )
        values.update(dict.fromkeys(("THING", "THINGS", "FOODS", "ALLERGENS", "REST"), r"\S.*?"))
        return values

    def _filled(self, text: str) -> str:
        """A text of the table with its values as groups, each named by its kind."""
        numbers = iter(range(1, 100))

        def group(match: re.Match[str]) -> str:
            kind, number = match[1], next(numbers)
            if kind == "MY":
                owner = rf"|(?P<subj>{self._values['NAME']})'s" if number == 1 else ""
                return f"(?:{self._words['my']}{owner})"
            article = f"(?:{self._kinds['article']})?" if kind == "PLACE" else ""
            return f"{article}(?P<{kind}_{number}>{self._values[kind]})"

        while "<<" in text:
            text = _LIST.sub(lambda match: f"(?:{self._words[match[1]]})", text)
        text = _PLACEHOLDER.sub(group, text)
        return _BARE.sub(lambda match: f"(?:{self._values[match[1]]})", text)

    def words_of(self, name: str) -> frozenset[str]:
        """A closed class of the table."""
        if name not in self._classes:
            self._classes[name] = frozenset(self._words_by_class[name].lower().split())
        return self._classes[name]

    # values

    def is_name(self, value: str) -> bool:
        """Whether capitals make a name, and not a word that has one for another reason."""
        words = value.lower().split()
        if not words or words[0] in self.words_of("function_names"):
            return False
        return not self.words_of("stop_names").issuperset(words)

    def is_place(self, value: str) -> bool:
        """Whether a name may be a place: "I moved in May" names none."""
        month = self.pattern(self._kinds["month"], r"(?: \d+)?$").match(value)
        return month is None and self.is_name(value)

    def capitalised(self, sentence: str) -> str:
        """A sentence that is typed small, with capitals on what it says is a name."""

        def typed_name(match: re.Match[str]) -> str:
            words = match["name"].split()
            is_open = not (self.words_of("no_thing") | self.words_of("vague")).isdisjoint(words)
            if is_open or not self.is_name(match["name"]):
                return match.group()
            return match["naming"] + match["name"].title()

        return self.raw("small_name").sub(typed_name, sentence)

    def is_job(self, value: str) -> bool:
        """Whether it says what somebody lives by, and not how he does something."""
        return self.words_of("no_jobs").isdisjoint(value.lower().split())

    def is_thing(self, value: str, *, is_small: bool = False) -> bool:
        """Whether a phrase, all in small letters or not, says a thing without the words around."""
        words = value.lower().split()
        if not words or len(words) > _LONGEST_THING or not value[0].isalnum():
            return False
        if words[0] in self.words_of("no_thing") or words[-1] in self.words_of("no_end"):
            return False
        if not self.words_of("no_word").isdisjoint(words) or words[-1] in self.words_of("vague"):
            return False
        if any(tense == "past" for _, tense in self._verbs.get(words[0], ())):
            return False
        if self._words["verb_second"]:
            return is_small or any(word[0].isupper() for word in value.split())
        return words[0] != "the" or self.pattern(self._kinds["the_named"]).match(value) is not None

    def is_task(self, value: str) -> bool:
        """Whether what is to be done says the same without the words around it."""
        words = self.word("span").sub("", value).lower().split()
        return self.words_of("no_task").isdisjoint(words)

    def slot_of_kin(self, word: str) -> str:
        """The slot that the name behind a word of kin fills; empty for one that fills none."""
        for slot, words in self._kin.items():
            if self.pattern(f"(?:{words})$").match(word):
                return "" if slot == "other" else slot
        return ""

    # clauses

    def request(self, name: str, sentence: str) -> str:
        """A request as one that is said plainly; empty for a sentence that is none."""
        match = self.raw(name).fullmatch(sentence)
        if match is None:
            return ""
        courtesy = self._words["courtesy"].partition("|")[0]
        return " ".join(filter(None, (courtesy, match.groupdict().get("verb"), match["clause"])))

    def is_time(self, phrase: str) -> bool:
        """Whether a phrase says when."""
        if self.word("time").search(phrase):
            return True
        return self.dates.said(phrase, _ANY_DAY) is not None

    def is_spoken(self, sentence: str) -> bool:
        """Whether a sentence has a word that every clause of the language needs one of."""
        if self.word("speech").search(sentence):
            return True
        return any(word in self._verbs for word in _WORDS.findall(sentence.lower()))

    def certain_part(self, sentence: str) -> int:
        """How far a sentence states something: up to what supposes or reports it."""
        hedge = self.raw("hedge").search(sentence)
        if self.raw("afterthought").search(sentence) or self.raw("work").search(sentence):
            return 0
        if self._words["verb_second"]:
            # The verb of a report may come last in German, so it counts wherever it stands.
            return len(sentence) if hedge is None else 0

        # Of a clause that is doubted anywhere nothing is certain; what comes before it is.
        doubts = [match.start() for match in (hedge, self.raw("frames").search(sentence)) if match]
        if not doubts:
            return len(sentence)
        # "I'm a vegetarian, if that matters" stays one; "I'm moving if they pay" is open.
        is_condition = hedge is not None and self.word("condition").fullmatch(hedge.group())
        if is_condition and sentence[: min(doubts)].rstrip().endswith((",", ";", ":")):
            return min(doubts)
        return max((start for _, start, *_ in self._boundaries(sentence, min(doubts))), default=0)

    def clauses(self, sentence: str, end: int) -> Iterator[Clause]:
        """The clauses of the part of a sentence that states something."""
        start, is_heir = 0, False
        subject: str | None = None
        for head, tail, heir, owner in [*self._boundaries(sentence, end), (end, end, False, None)]:
            yield Clause(sentence, start, _stripped(sentence, start, head), is_heir, subject)
            start, is_heir, subject = tail, heir, owner

    def _boundaries(self, sentence: str, end: int) -> Iterator[tuple[int, int, bool, str | None]]:
        """Where a clause ends and the next begins; whether that one has no subject, and which."""
        start, subject = 0, None
        for joint in self.raw("joint").finditer(sentence, 0, end):
            # "In March I left Barclays and joined Monzo": a phrase with a subject is a clause.
            frame = self.raw("frame").match(sentence, start, joint.start())
            has_subject = frame is not None and frame["me"] is not None
            if not has_subject and self.raw("lead_alone").fullmatch(sentence, start, joint.start()):
                continue
            is_open = self.raw("opens").match(sentence, joint.end(), end) is not None
            # "bodies, like the council" likes nothing.
            is_bare = not any(char.isalpha() for char in joint.group())
            if is_bare and self.word("preposed").match(sentence, joint.end()):
                continue
            subject = self._subject(Clause(sentence, start, joint.start(), False, subject))
            if is_open or self._goes_on(Clause(sentence, joint.end(), end, True, subject)):
                yield joint.start(), joint.end(), not is_open, subject
                start = joint.end()

    def _goes_on(self, clause: Clause) -> bool:
        """Whether a verb follows that fills a slot: "and love naps" goes on with "I"."""
        for frame in self.frames(clause, None):
            for wording in self.wordings(frame):
                start = frame.start(wording.text)
                if self.row_pattern(wording).match(frame.text, start, frame.end):
                    return True
        return False

    def _subject(self, clause: Clause) -> str | None:
        match = self.raw("frame").match(clause.text, clause.start, clause.end)
        if match is None:
            return clause.subject
        return match["kname"] or match["name"]

    def wordings(self, frame: ClauseFrame) -> Iterator[RowWording]:
        """The rows that begin with the verb of a clause."""
        if not frame.verb:
            yield from self._bes
        for wording, _ in self._verbs.get(frame.verb, ()):
            yield wording

    def frames(self, clause: Clause, person: str | None) -> Iterator[ClauseFrame]:
        """The ways to take a clause apart; `person` is whom "she" and "he" mean."""
        if self._words["verb_second"]:
            yield from self._german_frames(clause, person)
        else:
            yield from self._english_frames(clause, person)

    def _english_frames(self, clause: Clause, person: str | None) -> Iterator[ClauseFrame]:
        text, end = clause.text, clause.end
        match = self.raw("frame").match(text, clause.start, end)
        subject, is_known = clause.subject, True
        if match is None or clause.is_heir:
            match = self.raw("dropped" if clause.start == 0 else "heir").match(
                text, clause.start, end
            )
            if match is None or not (clause.is_heir or clause.start == 0):
                return
        else:
            subject = match["kname"] or match["name"]
            if match["third"]:
                subject = person
                if subject is None:
                    return
            is_known = match["name"] is None or " " in subject
            if subject is not None and not self.is_name(subject):
                return

        groups = match.groupdict()
        phrase = groups.get("phrase")
        # "In Minecraft I live in a cave": what is no time frames the clause.
        if phrase and not self.is_time(phrase):
            return
        chain = (groups.get("chain") or "").lower()
        if self.word("modal").search(chain):
            return

        def frame(verb: str, tense: str, rest: int) -> ClauseFrame:
            return ClauseFrame(
                subject=subject, is_known=is_known, verb=verb, tense=tense,
                negation=" ".join(found.group() for found in self.word("negation").finditer(chain)),
                can=self.word("can").search(chain) is not None, chain=chain,
                lead=groups.get("lead") or "", text=text, rest=rest, whole=rest,
                end=end,
            )  # fmt: skip

        start = match.end()
        rest = start + (text[start : start + 1] == " ")
        if self.word("be").search(chain) or groups.get("predicate") is not None:
            yield frame("", self._english_tense(chain, set()), rest)
        head = _HEAD.match(text, start, end)
        if head is not None:
            verb = head[1].lower()
            tense = self._tense(verb, chain, is_other=subject is not None)
            manners, rest_of_verb = self._run("manners", text, head.end(), end)
            chain += manners
            if tense:
                yield frame(verb, tense, rest_of_verb)
        # "I have a dog" has no other verb; "I've got a dog" is said of what one has.
        if _HAS_GOT.search(chain):
            yield frame("have", "present", rest)
        link = self.raw("main").search(chain)
        if link is not None:
            tense = self._tense(link[1], chain[: link.start(1)], is_other=subject is not None)
            if tense:
                yield frame(link[1], tense, rest)

    def _run(self, name: str, text: str, start: int, end: int) -> tuple[str, int]:
        """The words of a list that follow one another from a place on, and where they end."""
        match = self.raw(name).match(text, start, end)
        return ("", start) if match is None else (match.group(), match.end())

    def _tense(self, verb: str, chain: str, *, is_other: bool) -> str:
        """The tense of a verb behind its auxiliaries; empty where the two do not go together."""
        tags = {tense for _, tense in self._verbs.get(verb, ())}
        if not tags:
            return ""
        if self.word("begun").search(chain):
            return "present" if "base" in tags else ""
        if self.word("be").search(chain):
            return self._english_tense(chain, tags) if "ger" in tags else ""
        if self.word("have").search(chain) or (is_other and "'s" in chain):
            return "perfect" if "part" in tags else ""
        for kind in ("do", "can", "used", "will"):
            if self.word(kind).search(chain):
                return self._english_tense(chain, tags) if "base" in tags else ""
        # "I quit" tells of once, though it may be now.
        if "past" in tags:
            return "past"
        return "present" if ("s" if is_other else "base") in tags else ""

    def _english_tense(self, chain: str, tags: set[str]) -> str:
        for name, tense in (("used", "used"), ("will", "future"), ("have", "perfect")):
            if self.word(name).search(chain):
                return tense
        if self.word("was").search(chain):
            return "past"
        return "progressive" if "ger" in tags else "present"

    def _german_frames(self, clause: Clause, person: str | None) -> Iterator[ClauseFrame]:
        text, end = clause.text, clause.end
        subject, is_known = clause.subject, True
        for name in ("heir",) if clause.is_heir else ("inverted", "frame", "dropped"):
            match = self.raw(name).match(text, clause.start, end)
            if match is None:
                continue
            groups = match.groupdict()
            named = groups.get("kname") or groups.get("name")
            finite = match["finite"].lower()
            last = _LAST_WORD.search(text, match.end(), end)
            parted = f"{last[1]}{finite}".lower() if last is not None else ""
            is_verb = finite in self._verbs or finite in self._words["auxiliary"]
            if not is_verb and parted not in self._verbs:
                continue
            if named is None or (self.is_name(named) and self._agrees(finite)):
                break
        else:
            return
        if "name" in groups:
            subject = person if groups["third"] else named
            is_known = groups["name"] is None or " " in groups["name"]
            if subject is None and not groups["me"]:
                return
        elif "me" not in groups and not clause.is_heir and clause.start:
            return

        lead = (groups.get("lead") or "").strip()
        auxiliary = self._words["auxiliary"].get(finite, "")
        kind = auxiliary.partition(" ")[0]
        start, verb, tense = match.end(), finite, ""
        if kind:
            tags: set[str] = set()
            if last is not None:
                tags = {tag for _, tag in self._verbs.get(last[1].lower(), ())}
            # "Ich habe in Ulm gewohnt": the verb comes last, behind what the rows read.
            if last is not None and tags & _BEHIND[kind]:
                verb, end = last[1].lower(), _stripped(text, start, last.start(1))
                tense = _TENSE_BEHIND.get(auxiliary, "future")
            elif kind == "have" and self.raw("participle").search(text, start, end):
                return  # it is said of another verb, which no row begins with
            elif kind == "be":
                verb, tense = "", "past" if auxiliary == "be past" else "present"
        elif last is not None and parted in self._verbs:
            verb, end = parted, _stripped(text, start, last.start(1))
        if kind == "will" or (kind == "can" and not tense):
            return
        tense = tense or self._german_tense(verb, is_other=subject is not None)
        if not tense:
            return

        words, rest = self._run("chain", text, start, end)
        behind = self.raw("negated_end").search(text, rest, end)
        if behind is not None:
            words += behind.group()
            end = _stripped(text, rest, behind.start())
        rest += text[rest : rest + 1] == " "
        negation = " ".join(found.group() for found in self.word("negation").finditer(words))
        frame = ClauseFrame(
            subject=subject, is_known=is_known, verb=verb, tense=tense, negation=negation.lower(),
            can=kind == "can", chain=words, lead=lead, text=text, rest=rest,
            whole=match.end() + (text[match.end() : match.end() + 1] == " "), end=end,
        )  # fmt: skip
        lead_words = self.raw("leads").fullmatch(f"{lead} " if lead else "")
        if lead_words is not None or self.is_time(lead):
            yield frame
        if lead_words is None:
            # "Krimis lese ich gern": what the clause is about comes first.
            for middle in (f"{text[rest:end]} {lead}", f"{lead} {text[rest:end]}"):
                text = middle.strip()
                yield replace(frame, lead="", text=text, rest=0, whole=0, end=len(text))

    def _agrees(self, finite: str) -> bool:
        """Whether a German verb is one of others, and not of the speaker."""
        tags = {tag for _, tag in self._verbs.get(finite, ())}
        return finite in self._words["auxiliary"] or bool(tags & {"3sg", "past"})

    def _german_tense(self, verb: str, *, is_other: bool) -> str:
        if not verb:
            return "present"
        tags = {tag for _, tag in self._verbs.get(verb, ())}
        if tags & ({"3sg"} if is_other else {"1sg", "base"}):
            return "present"
        return "past" if "past" in tags else ""

    # what is taken back

    def withdrawal(self, sentence: str) -> Withdrawal | None:
        """What a sentence takes back; None for one that takes nothing back."""
        back = self._back
        has_cue = self.pattern(rf"\b(?:{back['cue']})\b").search(sentence) is not None
        if not has_cue or self.pattern(back["passing"]).search(sentence):
            return None

        def pattern(text: str) -> re.Pattern[str]:
            ending = f"(?:{back['ending']})"
            return self.pattern(text.replace("WRONG", back["wrong"]).replace("ENDING", ending))

        def head(text: str) -> re.Match[str] | None:
            return pattern(f"{back['lead']}(?:{text})").match(sentence)

        trailer = pattern(back["trailer"])

        def op(text: str) -> str:
            return "deny" if pattern(r"\bENDING\b").search(text) else "retract"

        reminder = head(back["reminder"])
        if reminder is not None:
            return Withdrawal(correction=self._main_clause(reminder["clause"].strip(" .,;!")))
        topic = head(back["topic"])
        if topic is not None:
            return Withdrawal(op(sentence), topic=topic["topic"])
        for text in (*back["clause"], back["admission"]):
            match = head(text)
            # "I said that I live in Ulm" takes nothing back without a verdict on it.
            if match is None or (text == back["admission"] and not trailer.search(sentence)):
                continue
            clause = match["clause"]
            for _ in range(2):
                clause = trailer.sub("", clause)
            clause = clause.strip(" .,;!")
            # "I no longer …" inside the clause is part of what was said.
            return Withdrawal(op(sentence.replace(clause, "", 1)), self._main_clause(clause))
        same = head(back["same"])
        if same is not None:
            return Withdrawal(
                op(sentence), is_last=True, correction=same["rest"], is_same_slot=True
            )
        for name in ("unsaying", "last"):
            last = head(back[name])
            if last is not None:
                return Withdrawal(
                    op(sentence),
                    is_last=True,
                    may_be_answered=name == "unsaying",
                    correction=sentence[last.end() :].strip(" ,;.:!"),
                )
        return None

    def _main_clause(self, clause: str) -> str:
        """A German subordinate clause with its verb in the second place; any other as it is."""
        if not self._words["verb_second"]:
            return clause
        match = _SUBORDINATE.fullmatch(clause)
        return clause if match is None else f"{match[1]} {match[3]} {match[2]}"


_BEHIND: Final[Mapping[str, frozenset[str]]] = {
    "have": frozenset({"part"}),
    "be": frozenset({"part"}),
    "become": frozenset({"part", "base"}),
    "can": frozenset({"base"}),
    "will": frozenset({"base"}),
}
"""Which form of a verb comes after an auxiliary."""
_TENSE_BEHIND: Final = {
    "have": "past", "be": "past", "be past": "past", "become past": "past", "can": "present",
}  # fmt: skip
_LAST_SIGNS: Final = f"\"'%+#\u20ac$\u00b0{TITLE}"
"""Signs that belong to the word before them."""
_WORDS: Final = re.compile(r"\w+")
_HEAD: Final = re.compile(r"[ ,]*([\w-]+)(?: |(?=[,.;:!)])|$)")
_HAS_GOT: Final = re.compile(r"(?:ve|have|has|'s) got$")
_LAST_WORD: Final = re.compile(r"(?:^| |')([\w'-]+)[ .!,]*$")
_SUBORDINATE: Final = re.compile(
    r"((?i:ich|wir)|(?:[Mm]ein|[Uu]nser)e? (?:[a-zäöüß]+ )?[A-ZÄÖÜ][\wäöüß-]+) (.+) ([a-zäöüß]+)"
)


def _stripped(text: str, start: int, end: int) -> int:
    """An end before the points and spaces that end a clause."""
    while end > start and not (text[end - 1].isalnum() or text[end - 1] in _LAST_SIGNS):
        end -= 1
    return end


def _english_forms(base: str, irregular: str) -> set[tuple[str, str]]:
    """The forms of a verb, each with its tense."""
    sibilant = base.endswith(("s", "x", "z", "ch", "sh", "o"))
    to_y = base.endswith("y") and base[-2] not in "aeiou"
    doubled = base + base[-1] if re.fullmatch(r"[^aeiou]*u?[aeiou][^aeiouwxy]", base) else base
    past = f"{base}d" if base.endswith("e") else f"{base[:-1]}ied" if to_y else f"{doubled}ed"
    gerund = base[:-1] if base.endswith("e") and not base.endswith("ee") else doubled
    third = (
        "has"
        if base == "have"
        else f"{base[:-1]}ies"
        if to_y
        else base + ("es" if sibilant else "s")
    )
    before, participle = irregular.split() if irregular else (past, past)
    return {
        (base, "base"),
        (third, "s"),
        (f"{gerund}ing", "ger"),
        (before, "past"),
        (participle, "part"),
    }


def _german_forms(base: str, irregular: str) -> set[tuple[str, str]]:
    """The forms of a verb, each with its person or its tense."""
    stem = base[:-2] if base.endswith("en") else base[:-1]
    first = f"{stem[:-2]}le" if stem.endswith("el") else f"{stem}e"
    joint = "e" if stem.endswith(("t", "d")) else ""
    third, before, participle = f"{stem}{joint}t", f"{stem}{joint}te", f"ge{stem}{joint}t"
    if re.match(r"(?:be|ver|er|ent|zer|ge)[^aeiou]", base) or base.endswith("ieren"):
        participle = f"{stem}{joint}t"
    if irregular:
        third, before, participle = irregular.split()
    plural = before + ("n" if before.endswith("e") else "en")
    return {
        (stem, "1sg"),
        (first, "1sg"),
        (base, "base"),
        (third, "3sg"),
        (third, "3sg" if third.endswith("t") else "1sg"),
        (before, "past"),
        (plural, "past"),
        (participle, "part"),
    }
