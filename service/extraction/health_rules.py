"""Rules of health: what somebody has for good, and what he takes.

Health is the field in which an invented claim does most harm, so a condition or a drug counts only
by its name, or where a doctor diagnosed or prescribed it. What passes, what is taken once and what
others have makes no claim.
"""

from __future__ import annotations

from typing import Final

from .german_phrases import ADVERB_FIRST, AT_TIMES, MEANWHILE, THING, WHEN_FIRST
from .german_phrases import RELATIVE as GERMAN_RELATIVE
from .health_words import (
    CONDITIONS,
    GERMAN_CONDITIONS,
    GERMAN_MEDICATIONS,
    MEDICATION,
    MEDICATIONS,
    PASSING,
)
from .phrases import DO_NOT, HAVE, I_AM, ITEM, RELATIVE, SURE
from .rule import former_rows, row

_SLOT = "health_condition"
_ADVERBS = (
    r"(?:(?:also|actually|really|now|currently|still|just|recently|unfortunately|sadly|daily) )*"
)
_I: Final = r"(?<!sure )(?<!sure that )\bI"
"""Who says that he is sure, or not, is not."""
_GRADE = r"(?:an? )?(?:(?:really |very |quite )?(?:mild|severe|bad|slight|serious) )?"
_CONDITION_END = (
    r"(?=[.,;!:)]|$| (?:and|but|so|since|for|because|too|which|that|as well|now|from birth|"
    r"these days|any ?more|after all|at all|(?:in|on) my (?:\w+ )?(?:teens|twenties|thirties|"
    r"forties|fifties|skin|hands|arms|legs|face|knees?|hips?|back|eyes))\b)"
)
_WHEN_TOLD = (
    r"(?=[.,;!:)]|$| (?:and|but|so|in|on|at|last|when|this|yesterday|today|two|three|a|after|"
    r"years?|recently|as)\b)"
)
_DOCTOR = (
    r"(?:doctor|GP|dentist|therapist|specialist|cardiologist|dermatologist|surgeon|psychiatrist|"
    r"neurologist|rheumatologist|gyna?ecologist)"
)
_DOSE = r"(?:(?:a low dose of|my|some|any|daily) )?(?:\d+ ?(?:mg|ml|mcg|g|units|IU) (?:of )?)?"
_MEDICATION_END = (
    r"(?: \d+ ?(?:mg|ml|mcg|g|units|IU)\b)?"
    r"(?=[.,;!:)]|$| (?:\d|once|twice|three|every|each|daily|nightly|weekly|regularly|in the|at|"
    r"before|after|with|for|and|but|because|since|as|now|again|tablets|pills|right now|these days|"
    r"any ?more|any longer|to (?:treat|control|manage|help|keep|lower|prevent|sleep)|"
    r"yesterday|today|last|this|on|in [A-Z]\w+)\b)"
)
_NO_DRUG = (
    r"(?!(?:glasses|contacts|exercises?|physio\w*|therapy|something|nothing|anything|medication|"
    r"medicine|tablets|pills|another|other|different|these|those|stronger|compression|orthotics|"
    r"insoles|crutches|massages?|rest)\b)"
)

HEALTH_RULES: Final = (
    # what somebody has
    row(_SLOT, rf"{_I}(?: {_ADVERBS}(?:do )?have(?: got)?|['\u2019]ve {_ADVERBS}got) {_GRADE}"
        rf"(?P<value>{CONDITIONS}){_CONDITION_END}", is_list=True),
    # "I've had cancer" may be over: it holds where the sentence says since when.
    row(_SLOT, rf"\bI(?: have|['\u2019]ve) {_ADVERBS}had {_GRADE}(?P<value>{CONDITIONS})"
        r"(?= (?:since|ever since|all my life|for (?:\w+ ){1,3}?(?:years?|decades?|ages))\b)",
        is_list=True),
    row(_SLOT, rf"^[Ss]ince [^.,;!]{{3,30}} I(?: have|['\u2019]ve) had {_GRADE}"
        rf"(?P<value>{CONDITIONS}){_CONDITION_END}", is_list=True),
    row(_SLOT, rf"\bI(?: have|['\u2019]ve) {_ADVERBS}(?:suffered from|struggled with|lived with) "
        rf"{_GRADE}(?P<value>{CONDITIONS})(?= (?:since|all my life|for (?:\w+ ){{1,3}}?(?:years?|"
        r"decades?|ages))\b)", is_list=True),
    row(_SLOT, rf"(?:\bI {_ADVERBS}(?:suffer from|live with|get|struggle with)|{I_AM} {_ADVERBS}"
        rf"(?:suffering from|living with)) {_GRADE}(?P<value>{CONDITIONS}){_CONDITION_END}",
        is_list=True),
    # A diagnosis names what no list has, too.
    row(_SLOT, rf"(?:\bI(?: was| got|(?: have|['\u2019]ve) {_ADVERBS}been) {_ADVERBS}diagnosed "
        rf"(?:with|as having)|\b(?:[Mm]y|[Tt]he) (?:{_DOCTOR}|doctors)(?: has| have)? {_ADVERBS}"
        rf"diagnosed me with|\b[Tt]hey {_ADVERBS}diagnosed me with) {PASSING}{_GRADE}"
        rf"(?P<value>{CONDITIONS}|{ITEM}){_WHEN_TOLD}", is_list=True),
    # Before a noun it is the noun's: "I'm a diabetic nurse" says whom he nurses.
    row(_SLOT, rf"(?:{I_AM}|\bI(?: have|['\u2019]ve) been) {_ADVERBS}(?:an? )?"
        r"(?P<value>(?:type [12] )?diabetic|asthmatic|epileptic|"
        rf"autistic|dyslexic|an(?:a)?emic|HIV[ -]positive){_CONDITION_END}"),
    row(_SLOT, rf"{RELATIVE}{SURE}(?:has|suffers from|was diagnosed with) {_GRADE}"
        rf"(?P<value>{CONDITIONS}){_CONDITION_END}", is_list=True),
    # what is over, or never was
    row(_SLOT, rf"\bI {DO_NOT} {_ADVERBS}have (?:any )?{_GRADE}(?P<value>{CONDITIONS})"
        rf"{_CONDITION_END}", "deny", is_list=True, if_known=True),
    row(_SLOT, rf"{I_AM} (?:not|no longer) (?:an? )?(?P<value>diabetic|asthmatic|epileptic|"
        rf"an(?:a)?emic){_CONDITION_END}", "deny", if_known=True),
    row(_SLOT, rf"\bI no longer (?:have|suffer from|get) {_GRADE}(?P<value>{CONDITIONS})"
        rf"{_CONDITION_END}", "deny", is_list=True),
    row(_SLOT, rf"\b[Mm]y (?P<value>{CONDITIONS}) (?:is|are|has|have) (?:now |finally )*"
        r"(?:gone|cured|healed|cleared up|disappeared)\b", "deny", if_known=True),
    row(_SLOT, rf"\bI(?: have|['\u2019]ve)? {_ADVERBS}(?:beat|beaten|overcame|overcome|recovered "
        rf"from|got over) (?:my )?(?P<value>{CONDITIONS}){_CONDITION_END}", "deny", if_known=True),
    *former_rows(_SLOT, rf"\bI used to (?:have|suffer from|get) {_GRADE}(?P<value>{CONDITIONS})"
        rf"{_CONDITION_END}", is_list=True),
    row(_SLOT, rf"\bI had {_GRADE}(?P<value>{CONDITIONS})(?= as a (?:kid|child|teenager|baby)\b)",
        is_former=True, is_list=True),
    row(_SLOT, rf"\bI(?: have|['\u2019]ve)? never (?:actually |really )?had {_GRADE}"
        rf"(?P<value>{CONDITIONS}){_CONDITION_END}", "retract", is_list=True),
    # what is taken
    row("medication", rf"(?:\bI {_ADVERBS}(?:take|inject)|{I_AM} {_ADVERBS}(?:taking|on)|"
        rf"\bI(?: have|['\u2019]ve) {_ADVERBS}been (?:taking|on)|\bI(?: have|['\u2019]ve)? "
        rf"{_ADVERBS}started (?:taking|on)) {_DOSE}(?P<value>{MEDICATIONS}){_MEDICATION_END}",
        is_list=True),
    row("medication", rf"(?:\bI take|{I_AM} on) the (?P<value>(?:contraceptive |mini-?)?pill)"
        rf"(?=[.,;!]|$| (?:and|but|since|for|every|again)\b)"),
    # Behind "on" the pill is one alone, and needs its article.
    row("medication", rf"{I_AM} (?:no longer|not) on the (?P<value>(?:contraceptive |mini-?)?pill)"
        r"(?=[.,;!]|$| any ?more\b)", "deny", if_known=True),
    # Who has to take a thing often takes it; once, it is a task.
    row("medication", rf"\bI (?:have|need|['\u2019]ve got) to (?:take|inject) {_DOSE}"
        rf"(?P<value>{MEDICATIONS})(?= (?:\w+ )?(?:daily|every|once|twice|regularly|for life)\b)",
        is_list=True),
    row("medication", rf"(?:\bI(?: was| got|(?: have|['\u2019]ve) {_ADVERBS}been) {_ADVERBS}"
        r"prescribed|"
        rf"\b(?:[Mm]y|[Tt]he) {_DOCTOR}(?: has)? {_ADVERBS}prescribed(?: me)?) {_DOSE}"
        rf"(?P<value>{MEDICATIONS}|{_NO_DRUG}(?!{MEDICATION})[A-Za-z][\w-]{{4,}})"
        rf"{_MEDICATION_END}", is_list=True),
    row("medication", rf"\b(?:[Mm]y|[Tt]he) {_DOCTOR}(?: has)? {_ADVERBS}(?:took me off "
        rf"{MEDICATIONS} and )?(?:put|started) me on {_DOSE}(?P<value>{MEDICATIONS})"
        rf"{_MEDICATION_END}", is_list=True),
    row("medication", rf"{RELATIVE}{SURE}(?:takes|is on|is taking|was prescribed) {_DOSE}"
        rf"(?P<value>{MEDICATIONS}){_MEDICATION_END}", is_list=True),
    # what is over, or never was
    row("medication", rf"\bI {DO_NOT} {_ADVERBS}(?:take|need) {_DOSE}(?P<value>{MEDICATIONS})"
        rf"{_MEDICATION_END}", "deny", is_list=True, if_known=True),
    row("medication", rf"(?:\bI no longer (?:take|need)|\bI(?: have|['\u2019]ve)? {_ADVERBS}"
        r"(?:stopped|quit) (?:taking|using)|\bI(?: have|['\u2019]ve)? "
        rf"{_ADVERBS}(?:came|come|went|gone|got) off|{I_AM} {_ADVERBS}(?:off|no longer (?:on|"
        rf"taking)|not (?:on|taking)|done with)|\b(?:[Mm]y|[Tt]he) {_DOCTOR} {_ADVERBS}took me "
        rf"off) {_DOSE}(?P<value>{MEDICATIONS}){_MEDICATION_END}", "deny", is_list=True),
    row("medication", rf"{HAVE} {_ADVERBS}switched from {_DOSE}(?P<value>{MEDICATIONS}) to "
        rf"{MEDICATIONS}{_MEDICATION_END}", "deny"),
    row("medication", rf"{HAVE} {_ADVERBS}switched from {MEDICATIONS} to {_DOSE}"
        rf"(?P<value>{MEDICATIONS}){_MEDICATION_END}"),
    *former_rows("medication", rf"\bI used to (?:take|be on) {_DOSE}(?P<value>{MEDICATIONS})"
        rf"{_MEDICATION_END}", is_list=True),
    row("medication", r"\bI(?: have|['\u2019]ve)? never (?:actually |really )?(?:took|taken|been "
        rf"on) {_DOSE}(?P<value>{MEDICATIONS}){_MEDICATION_END}", "retract", is_list=True),
)  # fmt: skip

_GERMAN_GRADE = r"(?:eine?n? )?(?:(?:leicht|schwer|stark)e[nrs]? )?"
_SINCE_WHEN = (
    r"(?=[.,;!]|$| (?:und|aber|seit|von Geburt|weil|deshalb|daher|sowie|als|leider|auch)\b)"
)
_FREQUENCY = (
    r"(?:(?:täglich|regelmäßig|dauerhaft|morgens|abends|mittags|nachts|jeden (?:Morgen|Abend|Tag|"
    r"Mittag)|jede Nacht|(?:ein|zwei|drei)mal (?:täglich|am Tag|pro Woche|die Woche)) )"
)
_AMOUNT = r"(?:\d+ ?(?:mg|ml|g) )?"
_INTAKE_END = (
    r"(?: \d+ ?(?:mg|ml|g)\b)?(?=[.,;!]|$| (?:ein|gegen|wegen|für|täglich|regelmäßig|"
    r"morgens|abends|mittags|nachts|jeden|jede|einmal|zweimal|dreimal|seit|und|aber|weil|vor|nach|zum|zur)\b)"
)
_GERMAN_DOCTOR = r"(?:[A-ZÄÖÜ][a-zäöü]*(?:arzt|ärztin)|Arzt|Ärztin|Neurologe|Neurologin|Psychiater)"

GERMAN_HEALTH_RULES: Final = (
    # what somebody has
    row(_SLOT, rf"\b[Ii]ch habe {MEANWHILE}{_GERMAN_GRADE}(?P<value>{GERMAN_CONDITIONS})"
        rf"{_SINCE_WHEN}", is_list=True),
    row(_SLOT, rf"{ADVERB_FIRST}habe ich {_GERMAN_GRADE}(?P<value>{GERMAN_CONDITIONS})"
        rf"{_SINCE_WHEN}", is_list=True),
    row(_SLOT, rf"\b[Ii]ch leide {MEANWHILE}(?:an|unter) (?:einer? )?(?:chronischer |starker )?"
        rf"(?P<value>{GERMAN_CONDITIONS}){_SINCE_WHEN}", is_list=True),
    row(_SLOT, rf"(?:\b[Bb]ei mir (?:wurde|wurden) {AT_TIMES}|\b(?:hat|haben) (?:man )?bei mir "
        rf"{AT_TIMES})(?:eine?n? )?(?!\w*(?:bruch|grippe|entzündung|infekt\w*|Covid|Corona)\b)"
        rf"(?P<value>{GERMAN_CONDITIONS}|{THING}) (?:diagnostiziert|festgestellt)\b", is_list=True),
    row(_SLOT, rf"{WHEN_FIRST}(?:wurde|wurden) bei mir (?P<value>{GERMAN_CONDITIONS}|{THING}) "
        r"(?:diagnostiziert|festgestellt)\b", is_list=True),
    row(_SLOT, rf"\b[Ii]ch wurde {AT_TIMES}mit (?:einer? )?(?P<value>{GERMAN_CONDITIONS}|{THING}) "
        r"diagnostiziert\b", is_list=True),
    row(_SLOT, rf"\b[Ii]ch bin {MEANWHILE}(?P<value>(?:Typ-[12]-)?Diabetiker(?:in)?|"
        r"Asthmatiker(?:in)?|Epileptiker(?:in)?|Legastheniker(?:in)?|Autist(?:in)?|HIV-positiv|"
        r"zuckerkrank|herzkrank)(?=[.,;!]|$| und\b)"),
    row(_SLOT, rf"{GERMAN_RELATIVE}(?:hat|leidet (?:an|unter)) {MEANWHILE}{_GERMAN_GRADE}"
        rf"(?P<value>{GERMAN_CONDITIONS}){_SINCE_WHEN}", is_list=True),
    # what is over, or never was
    row(_SLOT, rf"\b[Ii]ch habe {MEANWHILE}keine?n? (?P<value>{GERMAN_CONDITIONS}) mehr\b", "deny",
        is_list=True),
    row(_SLOT, rf"\b[Ii]ch habe (?P<value>{GERMAN_CONDITIONS}) nicht mehr\b", "deny", is_list=True),
    row(_SLOT, rf"\b[Ii]ch habe keine?n? (?P<value>{GERMAN_CONDITIONS})(?=[.,;!]|$)", "deny",
        is_list=True, if_known=True),
    row(_SLOT, rf"\b[Mm]eine? (?P<value>{GERMAN_CONDITIONS}) ist (?:\w+ )?(?:weg|geheilt|"
        r"verschwunden|ausgeheilt)\b", "deny", if_known=True),
    *former_rows(_SLOT, r"(?:\b[Ii]ch hatte (?:früher|als Kind)|^(?:Früher|Als Kind) hatte ich) "
        rf"{_GERMAN_GRADE}(?P<value>{GERMAN_CONDITIONS}){_SINCE_WHEN}", is_list=True),
    row(_SLOT, rf"\b[Ii]ch (?:hatte (?:noch )?(?:nie|niemals)|habe (?:(?:doch|gar|eigentlich) )+"
        rf"keine?n?) (?P<value>{GERMAN_CONDITIONS})(?=[.,;!]|$)", "retract", is_list=True),
    # what is taken
    row("medication", rf"\b[Ii]ch nehme {MEANWHILE}{_FREQUENCY}*{_AMOUNT}"
        rf"(?P<value>{GERMAN_MEDICATIONS}){_INTAKE_END}", is_list=True),
    row("medication", rf"(?:{ADVERB_FIRST}|^(?i:{_FREQUENCY})+|^[Ww]egen mein\w* \w+ )nehme ich "
        rf"{_FREQUENCY}*{_AMOUNT}(?P<value>{GERMAN_MEDICATIONS}){_INTAKE_END}", is_list=True),
    row("medication", rf"\b[Ii]ch nehme {MEANWHILE}die (?P<value>(?:Anti-Baby-)?Pille)"
        r"(?=[.,;!]|$| (?:und|seit|aber)\b)"),
    row("medication", rf"\b[Ii]ch muss {MEANWHILE}{_FREQUENCY}+{_AMOUNT}"
        rf"(?P<value>{GERMAN_MEDICATIONS}) (?:ein)?nehmen\b", is_list=True),
    row("medication", r"\b[Ii]ch spritze (?:mir )?(?:\w+ ){0,2}?(?P<value>Insulin|Heparin)"
        r"(?=[.,;!]|$)"),
    row("medication", rf"(?:\b[Mm]eine? {_GERMAN_DOCTOR} hat mir|\b[Ii]ch habe) {AT_TIMES}"
        rf"{_AMOUNT}(?P<value>{GERMAN_MEDICATIONS}) verschrieben\b", is_list=True),
    row("medication", rf"{GERMAN_RELATIVE}nimmt {MEANWHILE}{_FREQUENCY}*{_AMOUNT}"
        rf"(?P<value>{GERMAN_MEDICATIONS}){_INTAKE_END}", is_list=True),
    # what is over, or never was
    row("medication", rf"\b[Ii]ch nehme {MEANWHILE}keine?n? "
        rf"(?P<value>{GERMAN_MEDICATIONS}) mehr\b", "deny", is_list=True),
    row("medication", rf"\b[Ii]ch nehme {MEANWHILE}(?:das |die )?(?P<value>{GERMAN_MEDICATIONS}) "
        r"(?:jetzt )?nicht mehr\b", "deny", is_list=True),
    row("medication", rf"\b[Ii]ch nehme keine?n? (?P<value>{GERMAN_MEDICATIONS})(?=[.,;!]|$)",
        "deny", is_list=True, if_known=True),
    row("medication", rf"(?:\b[Ii]ch habe {AT_TIMES}(?:das |die |mein )?(?P<value>"
        rf"{GERMAN_MEDICATIONS}) (?:\w+ )?abgesetzt)\b", "deny", is_list=True),
    row("medication", rf"\b(?:[Mm]eine?|[Dd]er|[Dd]ie) {_GERMAN_DOCTOR} hat (?:mir )?"
        rf"(?:das |die |mein )?(?P<value>{GERMAN_MEDICATIONS}) (?:\w+ )?abgesetzt\b", "deny",
        is_list=True),
    row("medication", rf", (?:und )?(?:jetzt|stattdessen|dafür) nehme ich {_FREQUENCY}*{_AMOUNT}"
        rf"(?P<value>{GERMAN_MEDICATIONS}){_INTAKE_END}", is_list=True),
    row("medication", rf"^(?:(?:Das|Die|Den|Mein\w*) )?(?P<value>{GERMAN_MEDICATIONS}) "
        r"(?:habe ich (?:\w+ )?abgesetzt|nehme ich (?:\w+ )?nicht mehr)\b", "deny", is_list=True),
    *former_rows("medication", r"(?:\b[Ii]ch habe früher|^Früher habe ich) "
        rf"(?P<value>{GERMAN_MEDICATIONS}) genommen\b", is_list=True),
    row("medication", rf"\b[Ii]ch habe (?:noch )?(?:nie|niemals) (?P<value>{GERMAN_MEDICATIONS}) "
        r"genommen\b", "retract", is_list=True),
)  # fmt: skip
