"""Names in small letters, written with a capital for the sentence patterns.

A name stands behind a word for somebody, "my brother", and so does what he does ("my dog hates"),
how ("my mom never") and what he has ("my dad funeral was hard"). So any word is a name only where
no other can stand: behind "called" or "heißt", in commas, and before what only somebody does ("my
gf maya works at"). Elsewhere ("my brother tom is here", "with my sister lena") it must be a first
name, or one of a pet, and so where German goes on with any noun ("mit meinem bruder fußball"). The
claim keeps the letters that were typed.

>>> [edit.start for edit in english_names("my gf maya works at Stripe, my dog hates it")]
[6]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from . import german_phrases, phrases
from .first_names import FIRST_NAMES, PET_NAMES
from .written_out import Edit

_ADVERBS: Final = (
    "a about mr mrs ms dr abroad across actually after again ago ahead alike alive alone already "
    "also "
    "although always an and another any anymore anyway apparently around as asap asleep "
    "aside at atm away awake back bad badly barely because before behind being best better "
    "between big both btw but by calm can cannot clean clearly close closer crazy daily "
    "dead dear did do does done down downstairs drunk due during each early either else "
    "elsewhere enough even eventually ever every everyday everywhere except fast few fine "
    "finally first for forever free friday from full fully further gone good great had half "
    "happy haha hard hardly has have having he healthy hence her here herself him himself "
    "his home honestly how however hungry i if ill imo in indoors inside instead into is it "
    "its itself just kinda last late lately later least less like literally lol long mad "
    "many may maybe me might mine mom monday more most mostly much must my myself near "
    "nearby nearly never next nice nights no nobody none nor not nothing now nuts of off "
    "often ok okay old on once one online only or other others our ours out outdoors "
    "outside over overnight own past perhaps please pls plus poor pregnant pretty probably "
    "proud quite rarely rather ready really recently regularly right rn sad safe same "
    "saturday seldom seriously shall she should sick simply since single slightly so some "
    "somehow someone something sometimes somewhere soon sorry still stressed such sunday "
    "super sure tbh than that thank thanks the their them then there therefore these they "
    "this tho those though through throughout thursday thus till tired to today together "
    "tomorrow tonight too totally tuesday twice two three four five under unless until up "
    "upon upset upstairs us usually very was way we wednesday weekly well were what "
    "whatever when whenever where whether which while who whom whose why will with within "
    "without wont worse worst would wow yeah yes yesterday yet you young younger your yours "
    "dont cant doesnt didnt isnt wasnt wouldnt couldnt shouldnt hasnt hadnt aint gonna "
    "wanna gotta via per christmas easter breakfast lunch dinner january february march "
    "april may june july august september october november december spring summer autumn "
    "winter"
)
_PAST_VERBS: Final = (
    "ate became began bent bet bit blew bought broke brought built burnt came caught chose "
    "clung cost crept cried cut dealt died drank drew dreamt drove dug fed fell felt fled "
    "flew fought forgot forgave found froze gave got grew heard held hid hit hung hurt kept "
    "knew laid lay lied leant leapt learnt led left lent let lit lost made meant met misses "
    "paid put quit ran rang read rode rose said sang sank sat saw sent set shit shook shot "
    "showed shrank shut slept slid smelt snuck sold sought spat spent spilt split spoke "
    "spread sprang stank stole stood struck stuck stung swam swept swore swung taught "
    "thought threw told took tore tried understood went woke won wore wrote bled bred burst "
    "cast ground spun spoilt spelt"
)
_THINGS: Final = (
    "age agreement allergies allergy app area attitude bag ball barn bed bill birthday board body "
    "boss bowl box boy breed bump cage calendar car care career carrier case channel circle class "
    "club coat collar community company country couple crate crew culture day daycare diet doctor "
    "door emergency energy event face family fight figure flap food friend friends fur game gear "
    "genes gift girl groomer group guy guys hair harness hood house hub insurance issue issues job "
    "jokes kid kids lady land laser law lead leash life list litter lover mama man material meds "
    "medicine meme memes meeting moment monitor name names network news onesie owner page park "
    "parties party people person pet phone photo photos pic pics picture pictures pills place "
    "poop present problem problems program project registry rescue request requests ride role room "
    "saddle scan school scratcher season service shampoo shelter ship shirt shower side sitter "
    "situation society squad stable stall status store story stroller stuff suit sweater tank "
    "team teeth thing things time toddler tongue toy toys trailer trainer training treat treats "
    "tree trip type vest vet vibes video videos visa visit walk walker watch wedding whisperer "
    "window woman work year years zone in-law inlaw step half ex"
)
_KIN_WORDS: Final = frozenset(
    word for kin in phrases.SLOT_OF_KIN for word in kin.split() if word not in ("baby", "little")
)
_NO_NAMES: Final = _KIN_WORDS.union(
    f"{_ADVERBS} {_PAST_VERBS} {_THINGS}".split(),
    phrases.ACQUAINTANCES.split("|"),
    phrases.TRADES.split("|"),
)
"""English words behind "my dog" that name nobody."""
_VERBAL: Final = re.compile(r"(?:ly|ing|ed|s|n['\u2019]?t)$")
"""How verbs and adverbs end; a name that does so is a first name."""

_SMALL: Final = r"(?P<name>[a-zà-öø-ÿ][a-zà-öø-ÿ]++(?:-[a-zà-öø-ÿ]++)?+)"
_PERSON: Final = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur) (?:(?:{phrases.AGES}) )?(?P<kin>{phrases.KINS}|{phrases.ACQUAINTANCES}|"
    rf"eldest|oldest|youngest|toddler|baby|little one)(?P<comma>,?) {_SMALL}"
)
_FINITE: Final = re.compile(
    r"['\u2019](?:s|ll|d)\b| (?:is|was|has|had|will|can|could|does|did|(?:is|was|has|had|ca|wo|"
    r"could|does|did)n['\u2019]?t|cannot|needs|moved|moves|got|gets|went|goes|came|comes|started|"
    r"starts|took|takes|makes|made|keeps|kept|died|passed|drives|runs|left|lost|found|bought|threw|"
    r"woke|fell|broke|bit|turns|turned|helps|helped|works|worked|plays|quit|just|also|always|never|"
    r"still|recently|really|(?:and|&) (?:i|I|me))\b"
)
"""What goes on with somebody, and with a thing of his as well."""
_ANIMATE: Final = re.compile(
    r" (?:wants|loves|likes|hates|prefers|(?:works|worked) (?:at|for|as)|lives|lived|eats|ate|"
    r"drinks|sleeps|slept|teaches|studies|speaks|cooks|bakes|sings|married|knows|barks|joined|"
    r"visits|visited|who|(?:is|turns|turned) \d{1,2}(?=[.,!;]|$| (?:now|and|years?|months?|weeks?|"
    r"today|tomorrow|on|in)\b)"
    r"|is (?:an? )?(?:vegan|vegetarian|pescatarian|allergic|pregnant|diabetic))\b"
)
"""What only somebody does or is, no thing of his."""
_END: Final = re.compile(
    r"\s*(?:[.,;!:)(]|$)|['\u2019]s\b| (?:on|in|at|to|for|from|and|or|because|who|so|but|when|"
    r"while|yesterday|today|tonight|tomorrow|this|last|next|every|too|again|btw|since|over|as|is|"
    r"was|are|were|about|right now|lol|haha)\b"
)
_BEFORE_SOMEBODY: Final = frozenset(
    "with without from by about for to of at visit visited visiting met meet meeting saw see "
    "seeing miss missed adopted is it's its here's heres and than like so & take took taking bring "
    "brought drove walk walked walking love loved".split()
)
"""Words behind which somebody ends a clause: "with my sister lena"."""
_NAME_CLAUSE: Final = re.compile(
    r"\b(?P<kin>[a-zé]+)(?P<of>['\u2019]?s)?(?:,| is|['\u2019]s)? "
    rf"(?:called|named|(?P<noun>name(?: is|['\u2019]?s))) {_SMALL}(?![\w'\u2019-])"
)
"""Where somebody says that it is a name."""
_KIN_NOUNS: Final = frozenset(
    [word for kin in phrases.KIN for word in kin.split()]
    + [*phrases.ACQUAINTANCES.split("|"), "her", "his", "its"]
)
_NAME_LIST: Final = re.compile(
    r"\b(?:[Mm]y|[Oo]ur|two|three|four) (?P<kin>[a-z]+(?: pigs)?),? (?:are )?"
    r"(?P<verb>called |named )?"
    r"(?P<names>[a-zà-öø-ÿ]{2,}+(?:, [a-zà-öø-ÿ]{2,}+)*+,? and [a-zà-öø-ÿ]{2,}+)(?![\w'\u2019-])"
)
_PART: Final = re.compile(r"\b(?!and\b)(?P<name>[a-zà-öø-ÿ]+)")


def english_names(sentence: str) -> Iterator[Edit]:
    """Capitals for the names that an English sentence writes small."""
    for match in _NAME_CLAUSE.finditer(sentence):
        if match["name"] in _NO_NAMES:
            continue
        if match["kin"] in _KIN_NOUNS:
            yield _capital(match)
        elif match["noun"] and match["kin"][:-1] in _KIN_NOUNS:
            # "My dogs name is Biscuit": an apostrophe is left off.
            yield Edit(match.end("kin") - 1, 0, "'")
            yield _capital(match)
    for match in _NAME_LIST.finditer(sentence):
        for name in _PART.finditer(sentence, match.start("names"), match.end("names")):
            if match["kin"] in phrases.PLURAL_KIN and _is_listed_name(match, name["name"]):
                yield _capital(name)
    for match in _PERSON.finditer(sentence):
        if _is_name(match):
            yield _capital(match)


def _is_name(match: re.Match[str]) -> bool:
    """Whether a word behind somebody is his name, and not what he does or has."""
    sentence, end, word = match.string, match.end(), match["name"]
    is_apposition = bool(match["comma"])
    if is_apposition and not (sentence[end : end + 1] == "," and _goes_on(sentence, end + 1)):
        return False

    is_pet = phrases.KIN.get(match["kin"]) == "pet"
    if word in FIRST_NAMES or (is_pet and word in PET_NAMES):
        return is_apposition or _goes_on(sentence, end) or _ends_there(match)
    is_sure = is_apposition or _ANIMATE.match(sentence, end) is not None
    return is_sure and word not in _NO_NAMES and _VERBAL.search(word) is None


def _ends_there(match: re.Match[str]) -> bool:
    """Whether a clause ends or goes on behind whom somebody is with."""
    last_word = match.string[: match.start()].rstrip(" ").rpartition(" ")[2].casefold()
    return last_word in _BEFORE_SOMEBODY and _END.match(match.string, match.end()) is not None


def _goes_on(sentence: str, position: int) -> bool:
    if sentence.startswith((" my ", " our "), position):
        return True
    return bool(_FINITE.match(sentence, position) or _ANIMATE.match(sentence, position))


def _is_listed_name(match: re.Match[str], word: str) -> bool:
    return word in FIRST_NAMES or (match["verb"] is not None and word not in _NO_NAMES)


def _capital(match: re.Match[str]) -> Edit:
    start = match.start("name")
    return Edit(start, 1, match["name"][0].upper(), match["name"])


_GERMAN_NO_NAMES: Final = frozenset(
    (
        "aber alle allein alleine als also am an anders auch auf aus bald bei beide beim bis "
        "bitte  da dabei dafür damit dann daran das dass dazu dem den denn der des deshalb die "
        "dies diese  dieser dieses doch dort durch eben eher eigentlich ein eine einem einen "
        "einer einfach  endlich er erst es etwa etwas fast früher für ganz gar gegen genau "
        "gerade gern gerne  gestern halt hatte hat heute hier hin hinter ich ihm ihn ihr ihre "
        "im immer in inzwischen  ist ja jeden jetzt kam kann kaum kein keine keinen krank kurz "
        "leider letzte lieber mal man  manchmal mehr mein meine meist meistens mich mir mit "
        "morgen nach nachts nämlich neben nein  neu nicht nichts nie niemals noch nun nur ob "
        "obwohl oder oft ohne plötzlich schon sehr sein  seine seit selber selbst selten sich "
        "sie so sogar sollte sonst tot trotzdem total über  überhaupt um und uns unser unsere "
        "unter viel vielleicht vom von vor wann war warum was weg  weil wenig wenn wer wie "
        "wieder wird wirklich wo wohl wurde zu zuletzt zum zur zusammen  zwar zwei drei vier "
        "übrigens ziemlich echt so wirklich"
    ).split()
)
_GERMAN_PERSON: Final = re.compile(
    r"\b(?P<owner>(?i:mein|unser|eine?)(?:e[rmn]|e)?|eine?n?) "
    r"(?:(?:ältere|jüngere|große|kleine|älteste|jüngste|beste)[rsnm]? )?"
    rf"(?P<kin>(?i:{'|'.join(german_phrases.SLOT_OF_KIN)}|{german_phrases.ACQUAINTANCES}))"
    rf"(?P<verb> (?:heißt|heisst|namens))? {_SMALL}(?![\w-])"
)
_GERMAN_FINITE: Final = re.compile(
    r" (?:ist|hat|geht|kommt|war|wird|feiert|heiratet|schläft|kann|mag|liebt|arbeitet|wohnt|lebt|"
    r"studiert|spielt|kocht|isst|trinkt|zieht|fährt|hasst|heißt|will|muss|macht|lernt|"
    r"und (?:ich|wir))\b"
)
_OBLIQUE: Final = ("er", "em", "en")
"""Endings of "mein" behind a preposition, and as an object."""
_SUBORDINATE: Final = re.compile(
    r"\b(?:weil|dass|wenn|ob|da|obwohl|als|damit|bis|nachdem|bevor|während|falls|sodass|wie|wo|"
    r"warum|wann)\b[^.,;]*$",
    re.IGNORECASE,
)
"""Before it the verb comes last, and a noun may stand before it: "weil mein sohn fieber hat"."""


def german_names(sentence: str) -> Iterator[Edit]:
    """Capitals for the names that a German sentence writes small, and for the nouns before them."""
    for match in _GERMAN_PERSON.finditer(sentence):
        if not _is_german_name(match):
            continue
        start = match.start("kin")
        if sentence[start].islower():
            yield Edit(start, 1, sentence[start].upper())
        yield _capital(match)


def _is_german_name(match: re.Match[str]) -> bool:
    word = match["name"]
    if match["verb"]:
        return word not in _GERMAN_NO_NAMES
    if word in FIRST_NAMES:
        return True

    # "Mit meinem bruder fußball" and "mein mann kocht und ich" go on with anything.
    is_subject = not match["owner"].endswith(_OBLIQUE) or match["owner"].lower() == "unser"
    goes_on = _GERMAN_FINITE.match(match.string, match.end()) is not None
    is_verbal = word.endswith(("t", "en")) or word in _GERMAN_NO_NAMES
    opening = match.string[: match.start()]
    return is_subject and goes_on and not is_verbal and not _SUBORDINATE.search(opening)
