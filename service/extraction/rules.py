"""Extraction by rules that always say the same: a table of sentence patterns.

Precision comes before recall: what is asked, supposed, wished, quoted or said about somebody
else's words makes no claim, and a name ends where it ends ("Acme and I" names Acme). The raw text
is kept whatever is found, and every claim points at the words it came from. Times such as "last
week" are read against the moment of speaking.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Final

from ...resolution.text import sentence_spans
from .claims import LAST_HEARD, LAST_SAID, ExtractedClaim
from .dates import date_after, date_said
from .ellipsis import english_edits, german_edits
from .family_rules import FAMILY_RULES
from .german_dates import german_date_after, german_date_said
from .german_phrases import SLOT_OF_KIN as GERMAN_SLOT_OF_KIN
from .german_rules import (
    GERMAN_CORRECTION,
    GERMAN_HEDGE,
    GERMAN_REPLACED_VALUE,
    GERMAN_RULES,
    GERMAN_SPEECH,
)
from .health_rules import GERMAN_HEALTH_RULES, HEALTH_RULES
from .never_rules import AFTER_ALL, ENGLISH_NEVER, GERMAN_NEVER
from .person_rules import PERSON_RULES
from .phrases import (
    AIMS,
    ALLERGIC,
    BY_WHEN,
    CHORES,
    DIETS,
    DO_NOT,
    DOCTORS,
    HABITS,
    HAVE,
    I_AM,
    I_HAVE,
    INTOLERABLES,
    IS,
    ITEM,
    ITEMS,
    LASTING,
    MANNERS,
    MEETINGS,
    NO_FOOD,
    NO_TOPIC,
    PLACE,
    RECENT,
    SLOT_OF_KIN,
    STOP,
    SURE,
    UNITS,
    WE_ARE,
    WE_HAVE,
    WHOLLY,
)
from .rule import Rule, RuleSet, day_of, row
from .rule_values import is_whole, values_of
from .statement import is_statement, statement_of, without_quotations
from .taste_rules import OPPOSITES, TASTE_RULES
from .unnamed_rules import ENGLISH_UNNAMED, GERMAN_UNNAMED
from .vehicle_rules import GERMAN_VEHICLE_RULES, VEHICLE_RULES
from .withdrawal import withdrawal_of, withdrawn_claims
from .work_rules import WORK_RULES
from .written_out import WrittenOut, readings, written_out

_LONGEST_SENTENCE: Final = 400
"""Characters that are read; the patterns look ahead, so their time grows with the square."""

_MOST_CLAIMS: Final = 64
"""Claims of one text."""

_MARK: Final = re.compile(
    r"(?<=[!?])\s+(?=\S)|(?<=\w{3}\.)\s+(?=(?:i|my|we|our|and|but|so|ich|wir|mein\w*)\b)"
)
_CORRECTION: Final = re.compile(
    r"(?:(?:oh|no|sorry|wait|ok|okay|well),? )*(?:actually|correction|i meant|rather)\b",
    re.IGNORECASE,
)
_REPLACED_VALUE: Final = re.compile(r",? (?:and )?not (?=[A-Z])")


RULES: Final = (
    *PERSON_RULES,
    *WORK_RULES,
    # where
    row("home", r"\b(?:I|[Ww]e) (?:now |currently |still )?live "
        r"(?:(?:with (?:my|our) \w+|alone|together|up|down|over|out|back) )?in (?:an? (?:\w+ ){0,2}"
        rf"(?:flat|apartment|house|studio|cottage|loft) in )?(?P<value>{PLACE})"),
    row("home", rf"^(?:I|[Ww]e)\b[^.!?;]{{0,60}}? (?:but|and) (?:now |currently )?live in "
        rf"(?P<value>{PLACE})"),
    row("home", rf"{WE_ARE} (?:now |currently )?(?:based|living) in "
        rf"(?P<value>{PLACE})"),
    row("home", r"\b(?:I|[Ww]e) (?:share|rent) an? (?:\w+ )?(?:flat|apartment|house|room|studio) "
        rf"in (?P<value>{PLACE})"),
    row("home", rf"\b(?:I|[Ww]e)(?: will|['\u2019]ll) be moving (?:back )?to (?P<value>{PLACE})"
        r"(?! (?:office|team)\b)", is_dated=True),
    row("home", rf"\b(?:I|[Ww]e)(?: have|['\u2019]ve) (?:always )?(?:lived|been living) in "
        rf"(?P<value>{PLACE})(?= (?:all (?:my|our) li(?:fe|ves)|my (?:whole|entire) life)\b)"),
    row("home", rf"\b(?:I|[Ww]e)(?: have|['\u2019]ve) been in (?!Business\b|Sales\b|Marketing\b)"
        rf"(?P<value>{PLACE})(?= {LASTING})"),
    row("home", rf"\b(?:I|[Ww]e)(?: have|['\u2019]ve)? {RECENT}(?:ended up )?(?:settled|"
        rf"settling) (?:down )?in "
        rf"(?P<value>{PLACE})(?=[.,!;]|$| (?:last|in|for|since|now|after|with|and)\b)"),
    row("home", r"\b(?:[Mm]y|[Oo]ur) (?:new )?(?:flat|apartment|house|place|cottage|studio)"
        rf"{IS} (?:now )?"
        rf"in (?P<value>{PLACE})(?=[.,!;]|$| and\b| now\b| near\b)"),
    row("home", rf"\b(?:I|[Ww]e) (?:now )?call (?!(?:Mom|Mum|Dad|Mama|Papa|Grandma|"
        rf"Grandpa)\b)(?P<value>{PLACE}) "
        r"(?:my |our )?home(?=[.,!;]|$| now\b| these\b)"),
    row("home", rf"\b(?:I|[Ww]e) (?:no longer|{DO_NOT}) live in {PLACE}(?: any ?more| any "
        rf"longer)?[,;]? "
        rf"(?:and |but )?(?:I|we)(?:['\u2019]m| am|['\u2019]re| are) (?:now )?in (?P<value>{PLACE})"
        r"(?=[.,!;]|$| now\b| these\b)"),
    row("home", rf"\b[Ii]t(?: is|['\u2019]s) (?P<value>{PLACE}) (?:that |where )?(?:I|we) "
        r"live(?: in)?"
        r"(?=[.,!;]|$| now\b)"),
    row("home", rf"^[Hh]ome for me is (?:now )?(?P<value>{PLACE})(?=[.,!]|$)"),
    row("home", rf"\b(?:[Mm]y|[Oo]ur) home{IS} (?:now )?in (?P<value>{PLACE})"),
    row("home", rf"\b(?:I|[Ww]e)(?: have|['\u2019]ve) (?:lived|been living) in "
        rf"(?P<value>{PLACE})(?=[^.!?]*\b(?:since|for (?:\w+ ){{1,2}}(?:years?|months?))\b)"),
    row("home", rf"{WE_HAVE} {RECENT}"
        rf"(?:moved|relocated) (?:back )?(?:from {PLACE} )?to (?P<value>{PLACE})"
        r"(?! (?:office|team|plan|tier)\b)"),
    row("home", rf"{WE_ARE} (?:moving|relocating) (?:back )?to "
        rf"(?P<value>{PLACE})(?! (?:office|team)\b)"),
    row("home", r"\b(?:I|[Ww]e)(?: will|['\u2019]ll) (?:be living|live) in "
        rf"(?P<value>{PLACE})", is_dated=True),
    row("home", rf"{WE_HAVE} {RECENT}(?:left|moved "
        rf"(?:away from|out of)) (?![A-Z]\w+ for\b)(?P<value>{PLACE})", "deny", if_known=True),
    row("home", rf"\b(?:I|[Ww]e) (?:used to live|lived) in (?P<value>{PLACE})"
        r"(?![^.!?]*\bsince\b)", is_former=True),
    row("home", rf"\bI (?:no longer|{DO_NOT}) live in (?P<value>{PLACE})", "deny"),
    row("home", rf"\bI used to live in {PLACE},? (?:but |and )?now {I_AM} (?:living )?in "
        rf"(?!Love\b)(?P<value>{PLACE})(?=[.,;!]|$)"),
    *FAMILY_RULES,
    # body and taste
    row("allergy", rf"{ALLERGIC}(?P<value>{ITEMS})", is_list=True),
    row("allergy", rf"{ALLERGIC}{ITEM}(?:,|,? but) not (?:to )?(?P<value>{ITEM})(?=[.,!]|$)",
        "deny"),
    row("allergy", rf"{I_HAVE} an? (?:severe |mild |strong |bad |serious )?"
        r"(?!severe|mild|strong|bad|serious)(?P<value>\w+) allergy\b"),
    row("allergy", rf"{I_HAVE} an? (?:\w+ )?allergy to (?P<value>{ITEMS})", is_list=True),
    row("allergy", r"^(?!(?:That|This|It|He|She|They|Work|School|Stress|Mondays?|Everything|"
        r"Something|"
        r"Nothing|People|Politics)\b)"
        rf"(?P<value>{ITEM}) (?:always )?(?:gives?|brings?) me (?:an? )?(?:\w+ )?(?:hives|rash|"
        r"allergic reactions?)\b"),
    row("allergy", rf"{I_AM} (?P<value>lactose|gluten) intolerant\b"),
    row("allergy", rf"{I_AM} (?:not|no longer) allergic to (?!any)(?P<value>{ITEMS})", "deny",
        is_list=True),
    # Before a noun it is the noun's: "I am a vegan cook" says what is cooked.
    row("diet", rf"{I_AM} {SURE}(?:an? )?(?:strict )?"
        r"(?P<value>vegetarian|vegan|pescatarian)(?=[.,!;:)]|$| (?:and|but|or|so|because|since|for|"
        r"now|too|these|who|myself|person|anyway|though|as|by|if|please)\b)"),
    row("diet", r"\b[Ww]e(?: are|['\u2019]re) (?:all |both )?"
        r"(?P<value>vegetarian|vegan|pescatarian)s?(?=[.,!;]|$| (?:at home|and|now|since)\b)"),
    row("diet", rf"{I_AM} {SURE}(?P<value>gluten-free|dairy-free)(?=[.,!;]|$| and\b)"),
    row("diet", r"\bI(?: have|['\u2019]ve)? (?:just |recently )?(?:went|gone|became|become|turned) "
        r"(?:an? )?(?P<value>vegetarian|vegan|pescatarian)\b"),
    row("diet", rf"(?:{I_AM}|{HAVE} been) (?:eating|doing) (?P<value>{DIETS})\b"
        r"(?=[.,!;]|$| (?:since|for|now|again|these|and|but)\b)"),
    row("diet", rf"{I_AM} not (?:an? )?(?P<value>vegetarian|vegan|pescatarian) any ?more\b",
        "deny"),
    row("diet", rf"{I_AM} (?:not|no longer) (?:an? )?(?:vegetarian|vegan|pescatarian)(?: any "
        r"?more)?"
        r",? (?:(?:but|just|only|now) )+(?:an? )?(?P<value>vegetarian|vegan|pescatarian)"
        r"(?=[.,!;]|$| (?:now|again|and|these)\b)"),
    row("diet", rf"(?:{I_AM} on|\bI (?:now )?follow|\bI keep to) an? (?:strict )?"
        rf"(?P<value>(?:{DIETS}) diet)\b"),
    row("diet", r"\bI (?:keep|only eat|eat) (?P<value>kosher|halal)(?=[.,;!]|$| and\b| food\b)"),
    row("diet", rf"\bI (?:now )?(?:only )?eat (?P<value>{DIETS})"
        r"(?=[.,;!]|$| and\b| food\b| now\b)"),
    row("diet", r"\bI(?: have|['\u2019]ve) been (?:an? )?(?P<value>vegetarian|vegan|pescatarian) "
        r"(?=since\b|for\b)"),
    row("diet", rf"{I_AM} no longer (?:an? )?(?P<value>vegetarian|vegan|pescatarian)"
        r"(?=[.,!;]|$| (?:and|but|or|so|because|since|now|these)\b)", "deny"),
    row("avoids", r"\bI (?:can['\u2019]t|cannot|don['\u2019]t|do not|never|no longer) "
        rf"(?:eat|drink) (?:any )?{NO_FOOD}(?P<value>{ITEMS}){WHOLLY}", is_list=True),
    row("avoids", r"\bI (?:can['\u2019]t|cannot|must not|mustn['\u2019]t) have (?:any )?"
        rf"(?P<value>{INTOLERABLES}){WHOLLY}",
        is_list=True),
    row("avoids", rf"\bno (?P<value>{INTOLERABLES}) for me(?=[.,!;]|$| please| any ?more| thanks)",
        is_list=True),
    row("avoids", rf"(?:\bI(?: have|['\u2019]ve)? {RECENT}(?:gave up|given up|cut out|quit|sworn "
        rf"off|"
        rf"swore off|stay away from|steer clear of)|{I_AM} off) (?P<value>{INTOLERABLES})"
        r"(?=[.,!;]|$| (?:in|last|this|since|for good|completely|entirely|altogether|now|because|"
        r"years?|and)\b)",
        is_list=True),
    row("avoids", rf"\bI(?: have|['\u2019]ve)? {RECENT}(?:stopped|quit|gave up) "
        rf"(?:eating|drinking) {NO_FOOD}(?P<value>{ITEMS})", is_list=True),
    row("avoids", rf"\bI(?: have|['\u2019]ve)? {RECENT}started (?:eating|drinking) "
        rf"(?P<value>{ITEM}) again\b", "deny"),
    row("avoids", rf"\bI (?:now )?(?:eat|drink) (?P<value>{STOP}[\w'-]+) again\b", "deny"),
    *TASTE_RULES,
    # what is to come
    row("goal", r"\b[Mm]y (?:main |new )?goal is to (?P<value>[^.!?\n]{3,160})"),
    row("goal", rf"(?:{I_AM} (?:hoping|aiming|trying|determined)|\bI(?: really)? (?:want|aim|"
        rf"hope)) to (?P<value>(?:{AIMS}) (?!(?:this|that|it|your|here|there)\b)"
        rf"[^.!?\n]{{3,100}}? (?:by {BY_WHEN}|this (?:year|month|summer|autumn|winter|spring)))"
        r"(?=[.,!]|$)"),
    row("plan", rf"(?:{I_AM} planning|\bI plan|\bI intend) to "
        r"(?P<value>[a-z]+ [^.!?\n]{3,160})"),
    row("plan", rf"{I_AM} going to (?!the\b|an?\b|my\b|be\b)"
        r"(?P<value>[a-z][^.!?\n]{3,160})", is_dated=True),
    row("appointment", r"\bI(?: have|['\u2019]ve got) (?:an? |my )"
        r"(?P<value>[^.!?\n]{0,60}?\b(?:appointment|meeting|interview|"
        r"flight|exam|check-?up|surgery|call|date)\b[^.!?\n]{0,80})", is_dated=True),
    row("appointment", r"\b(?:I|[Ww]e) (?:have|need|['\u2019]ve got) to be (?P<value>at (?:the|"
        r"my|our) "
        r"[^.!?\n]{2,60})", is_dated=True),
    # A note to oneself: "dentist on Tuesday at 9".
    row("appointment", rf"^(?P<value>(?i:{DOCTORS}|{MEETINGS})(?:['\u2019]s)?(?: appointment)? "
        r"(?:on (?:the )?|tomorrow\b|tonight\b|next |this )"
        r"(?:(?! (?:is|are|was|were|will|has|had|sounds|went|got|goes)\b)[^.!?,;\n]){0,60})"
        r"(?=[.!?,;]|$)", is_dated=True),
    row("appointment", rf"{I_AM} seeing (?P<value>(?:the|my|an?) (?:{DOCTORS})\b[^.!?\n]{{0,60}})",
        is_dated=True),
    row("appointment", rf"\b(?:[Mm]y|[Oo]ur) (?P<value>(?:[\w'-]+ ){{0,3}}?(?:{MEETINGS})"
        r"(?: (?:with|to|at|in|for|from) [\w' -]{2,40}?)? (?:is|leaves|departs|starts|begins|"
        r"takes place|will be|has been moved to|was moved to|got moved to) [^.!?\n]{2,80})",
        is_dated=True),
    row("plan", rf"{WE_ARE} (?P<value>(?:(?:flying|travell?ing|driving|off|"
        r"heading|going) to (?!the\b|be\b)[A-Z]|training for\b|(?:visiting|"
        rf"meeting{NO_TOPIC}|attending|hosting|getting married)\b)"
        r"[^.!?\n]{0,120})", is_dated=True),
    row("todo", r"\bI (?:also |still |really |actually |just )*(?:need|have|['\u2019]ve got) to "
        r"(?!(?:call it|plan (?:better|ahead)|order my thoughts|return to (?:this|that|it)|"
        r"visit the (?:bathroom|toilet|restroom))\b)"
        rf"(?P<value>{CHORES} [^.!?;\n]{{3,80}}?)"
        r"(?: (?:soon|sometime|somehow)\b[^.!?\n]*)?(?=[.!;]|$)"),
    row("todo", r"(?<!\b[Ss]ometimes )\bI (?:also |still |really |just )*(?:(?:need|have|"
        r"['\u2019]ve got) to|must) remember to "
        r"(?P<value>[a-z][^.!?;\n]{3,80})"),
    # What has a day to be done by is a task, whatever it is.
    row("todo", r"\bI (?:also |still |really |just )*(?:must|(?:need|have|['\u2019]ve got) to) "
        rf"(?!(?:be|have|know|wait|go)\b)(?P<value>[a-z]+ [^.!?;,\n]{{3,80}}? by "
        rf"(?:tomorrow|tonight|{BY_WHEN}))(?=[.,!]|$)"),
    row("todo", r"^(?:[Pp]lease )?[Rr]emind me (?:(?:tomorrow|tonight|later|next week|"
        r"on [A-Z][a-z]+day) )?to (?P<value>[a-z][^.!?;\n]{3,80})"),
    row("todo", r"\b(?:[Dd]on['\u2019]t let me forget|I must(?:n['\u2019]t| not) forget) to "
        r"(?P<value>[a-z][^.!?;\n]{3,80})"),
    row("todo", r"\b[Aa]dd (?P<value>[^.!?;\n]{3,80}?) to my (?:\w+ )?"
        r"(?:to-?do|task|tasks)(?: list)?\b"),
    row("todo", r"\b[Pp]ut (?P<value>[^.!?;\n]{3,80}?) on my (?:\w+ )?"
        r"(?:to-?do|task|tasks)(?: list)?\b"),
    row("todo", rf"{HAVE} (?:just |finally |already |actually )*(?:finished|completed|done|did|"
        r"wrapped up|taken care of|checked off) (?:with )?(?P<value>[^.!?;\n]{3,80})",
        "deny", if_known=True),
    row("todo", r"\bI (?:no longer (?:need|have) to|don['\u2019]t (?:need|have) to)"
        r" (?:track )?(?P<value>[^.!?;\n]{3,80})", "deny", if_known=True),
    row("todo", r"\b(?:[Rr]emove|[Dd]elete|[Tt]ake|[Cc]ross) (?:off )?(?P<value>[^.!?;\n]{3,80}?) "
        r"(?:from|off) my (?:\w+ )?(?:to-?do|task|tasks)(?: list)?\b", "deny", if_known=True),
    # how answers should be
    row("response_length", r"\bI prefer (?P<value>short|brief|concise|long|detailed|thorough) "
        r"(?:answers|replies|responses|explanations|code examples|examples)\b"),
    row("response_length", r"\b[Kk]eep (?:your |the )?(?:answers|replies|responses) "
        r"(?P<value>short|brief|concise)\b"),
    row("response_length", r"^(?!(?:Mr|Ms|Mrs|Dr|Prof)\b)[^.!?\n]*?\b[Kk]eep "
        r"(?:it|things|everything) (?P<value>short|brief|concise)\b"
        r"(?=[.!,]|$| please| from now on| in general)"),
    row("response_length", r"^(?:[Pp]lease,? )?[Bb]e (?:more )?"
        r"(?P<value>brief|concise|detailed)\b(?=[.!,]|$| in your| please| from now on| when)"),
    row("answer_rule", r"^(?:[Pp]lease,? )?(?:[Ff]rom now on,? )?"
        rf"(?P<value>(?:[Dd]on['\u2019]t|[Dd]o not|[Ss]top|[Aa]void) "
        rf"(?:us(?:e|ing)|add(?:ing)?|includ(?:e|ing)) (?:any )?(?:{HABITS})\b"
        r"[^.!?\n]{0,80})"),
    # "When you write" makes a rule of what would else be asked of one answer.
    row("answer_rule", r"^(?:[Pp]lease,? )?(?P<value>(?:[Dd]on['\u2019]t|[Dd]o not|[Nn]ever) "
        rf"(?:us(?:e|ing)|add(?:ing)?) (?!(?:any )?(?:{HABITS})\b)"
        r"[^.!?\n]{2,50}? (?:when(?:ever)? you (?:write|answer|reply|respond|talk|text|"
        r"message|explain|draft|email)|in (?:your|the) "
        r"(?:answers|replies|responses|messages|texts))\b[^.!?\n]{0,60})"),
    row("answer_rule", rf"^(?:[Pp]lease,? )?(?:[Ff]rom now on,? )?(?P<value>[Uu]se (?:{UNITS})\b"
        r"[^.!?\n]{0,80})"),
    row("answer_rule", r"^(?:[Ff]rom now on|[Ii]n (?:the )?future|[Gg]oing forward),? (?:please )?"
        rf"(?P<value>(?!use (?:{UNITS}))"
        rf"{MANNERS}\b(?!(?: to me)? in [A-Z])[^.!?\n]{{3,160}})"),
    row("answer_rule", rf"^(?:[Pp]lease,? )?(?P<value>(?i:(?!use (?:{UNITS})){MANNERS})\b"
        r"(?!(?: to me)? in [A-Z])[^.!?\n]{3,120}?) from now on(?=[.,!]|$| please)"),
    row("preferred_language", r"^(?:Answer|Reply|Respond|Write|Speak)(?: to me)? in "
        r"(?P<value>[A-Z][a-z]+) from now on\b"),
    row("preferred_language", r"(?:\b[Pp]lease|\b[Aa]lways|^From now on,?)(?: always)? "
        r"(?:answer|reply|respond|write|speak)(?: to me)? in (?P<value>[A-Z][a-z]+)\b"),
    row("answer_rule", r"^(?:(?:[Cc]an|[Cc]ould|[Ww]ould) you )?(?:[Pp]lease,? )?"
        r"(?:[Ff]rom now on,? )?(?P<value>(?:[Aa]lways|[Nn]ever) "
        r"(?:use|include|add|avoid|address|call|cite|explain|show|start|end|give|ask|mention|suggest|"
        r"recommend|propose|"
        r"check|tell|put|list|state|quote|translate|format|round|(?:answer|reply|respond|write)"
        r"(?! (?:to me )?in [A-Z]))\b"
        r"[^.!?\n]{2,160})"),
)  # fmt: skip


ENGLISH: Final = RuleSet(
    (*RULES, *HEALTH_RULES, *VEHICLE_RULES, *ENGLISH_NEVER, *ENGLISH_UNNAMED),
    _CORRECTION,
    _REPLACED_VALUE,
    date_said,
    date_after,
    english_edits,
)
GERMAN: Final = RuleSet(
    (*GERMAN_RULES, *GERMAN_HEALTH_RULES, *GERMAN_VEHICLE_RULES, *GERMAN_NEVER, *GERMAN_UNNAMED),
    GERMAN_CORRECTION,
    GERMAN_REPLACED_VALUE,
    german_date_said,
    german_date_after,
    german_edits,
)


class RuleExtractor:
    """The default extractor: patterns in the first person, a claim a match."""

    def extract(self, text: str, *, at: datetime) -> tuple[ExtractedClaim, ...]:
        """Find the claims of a text in order of appearance; never fails on any text."""
        claims: list[ExtractedClaim] = []
        said_from = 0
        for start, end in _sentences(text):
            # Nobody says so much at once; a page without a full stop would only cost time.
            if end - start > _LONGEST_SENTENCE:
                continue
            is_first = not text[:start].strip()
            sentence_claims = _sentence_claims(text[start:end], moment=at, is_first=is_first)
            for claim in islice(sentence_claims, _MOST_CLAIMS - len(claims)):
                if claim.value in (LAST_SAID, LAST_HEARD) and not is_first:
                    # What was said in this very text is not said at all.
                    claims = [earlier for earlier in claims if earlier.start < said_from]
                    continue
                claims.append(replace(claim, start=start + claim.start, end=start + claim.end))
            said_from = start
            if len(claims) >= _MOST_CLAIMS:
                break
        return tuple(sorted(claims, key=lambda claim: (claim.start, claim.slot)))


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """The sentences of a text; who types small ends one by `!` and `?`, too."""
    for start, end in sentence_spans(text):
        for mark in _MARK.finditer(text, start, end):
            # "hey! i'm Nadia" is one sentence, of whom it greets and who does.
            if " " in text[start : mark.start()]:
                yield start, mark.start()
                start = mark.end()
        yield start, end


def _sentence_claims(
    sentence: str, *, moment: datetime, is_first: bool
) -> Iterator[ExtractedClaim]:
    """The claims of a sentence, or what it takes back."""
    withdrawal = None if _is_question(sentence) else withdrawal_of(without_quotations(sentence))
    if withdrawal is None:
        return _claims(sentence, moment=moment, is_first=is_first)
    read = partial(_claims, moment=moment, is_first=False)
    return withdrawn_claims(sentence, withdrawal, read)


def _is_question(sentence: str) -> bool:
    return sentence.rstrip(" \"')").endswith("?")


def _claims(sentence: str, *, moment: datetime, is_first: bool) -> Iterator[ExtractedClaim]:
    if _is_question(sentence):
        return

    unquoted = without_quotations(sentence)
    if not is_statement(unquoted):
        return

    for rule_set in (ENGLISH, GERMAN):
        for edits in readings(rule_set.edits(unquoted, is_first=is_first)):
            full_text = written_out(sentence, edits)
            certain_text = _certain_part(rule_set, written_out(unquoted, edits).text)
            for rule in rule_set.rules if certain_text else ():
                # Who was introduced for the second reading is all that it is about.
                if full_text.introduces and "subject" not in rule.pattern.groupindex:
                    continue
                for match in rule.pattern.finditer(certain_text):
                    if full_text.introduces and not full_text.is_introduced(match.start()):
                        continue
                    for claim in _of_match(rule_set, rule, match, full_text.text, moment):
                        yield _as_typed(claim, full_text)


def _as_typed(claim: ExtractedClaim, full_text: WrittenOut) -> ExtractedClaim:
    """A claim with the places and the names of the typed sentence."""
    value, subject = claim.value, claim.subject
    return replace(
        claim,
        value=full_text.typed_names(value) if isinstance(value, str) else value,
        subject=None if subject is None else full_text.typed_names(subject),
        start=full_text.typed_position(claim.start),
        end=full_text.typed_position(claim.end),
        if_subject_known=full_text.introduces,
    )


def _certain_part(rule_set: RuleSet, text: str) -> str:
    """The part of a sentence that a language takes as said; empty where it has no word of it."""
    if rule_set is ENGLISH:
        return statement_of(text)
    # The verb of a report may come last in German, so a hedge counts wherever it stands.
    return text if GERMAN_SPEECH.search(text) and not GERMAN_HEDGE.search(text) else ""


def _of_match(
    rule_set: RuleSet, rule: Rule, match: re.Match[str], sentence: str, moment: datetime
) -> Iterator[ExtractedClaim]:
    is_ahead = rule.slot in _DATED_BY_VALUE
    day = None
    if not rule.is_timeless:
        day = day_of(rule_set, match, sentence, moment, is_ahead=is_ahead)
    if rule.is_dated and day is None:
        return

    # "my wife Ruth" and "my dog Max" are one pattern, and the word of kin says which slot it fills.
    groups = match.groupdict()
    slot = _SLOT_OF_KIN[groups["kin"]] if rule.slot == "kin" else rule.slot
    op = "correct" if rule.op == "assert" and _is_correction(rule_set, rule, match) else rule.op

    # A day that is the speaker's own begins when he says so: what he said that morning was before.
    is_today = day is not None and day.date() == moment.astimezone(UTC).date()
    valid_from = None if is_ahead or is_today else day
    valid_until = None
    if rule.is_former:
        valid_until = rule_set.date_after(sentence, "until", moment) or moment
        valid_from = rule_set.date_after(sentence, "from", moment)

    tail = sentence[match.end() :]
    for value in values_of(rule, match, sentence):
        if not is_whole(rule, value, tail):
            continue
        if is_ahead and day is not None and (slot == "birthday" or not _is_past(day, moment)):
            value = f"{value} ({day.date().isoformat()})"
        claim = ExtractedClaim(
            slot=slot,
            value=value,
            start=match.start(),
            end=match.end(),
            subject=groups.get("subject"),
            valid_from=valid_from,
            valid_until=valid_until,
            op=op,
            planned=valid_from is not None and valid_from > moment,
            if_known=rule.if_known or op == "retract",
            is_unnamed=rule.is_unnamed,
        )
        # "I'm not allergic after all" says that it never was so, and is not.
        if op == "deny" and AFTER_ALL.match(sentence, match.end()):
            yield replace(claim, op="retract", if_known=True)
        yield claim
        # Nobody likes what he dislikes: the newer word ends the older one.
        if slot in OPPOSITES and op == "assert":
            yield replace(claim, slot=OPPOSITES[slot], op="deny", if_known=True)


def _is_past(day: datetime, moment: datetime) -> bool:
    """Whether a day is over: "this year" began before and names no day to come."""
    return day.date() < moment.astimezone(UTC).date()


def _is_correction(rule_set: RuleSet, rule: Rule, match: re.Match[str]) -> bool:
    """Whether a sentence takes an earlier word back; "actually" is a filler as often."""
    if rule.is_list:
        return False
    if rule_set.replaced_value.match(match.string, match.end()):
        return True

    opening = rule_set.correction.match(match.string)
    if opening is None:
        return False
    return match.start() - opening.end() <= len(", ")


_SLOT_OF_KIN: Final = {**SLOT_OF_KIN, **GERMAN_SLOT_OF_KIN}
_DATED_BY_VALUE: Final = frozenset({"plan", "goal", "appointment", "birthday"})
"""Slots whose words name the day of something to come, not when the claim began to hold."""
