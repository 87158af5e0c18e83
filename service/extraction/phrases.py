"""Phrases that the sentence patterns of the rules are put together from.

Each is a piece of a regular expression: how a name, a place, a thing, a role or a day is said, and
what may stand between "I" and the verb. A piece takes no more than the words of its own kind, so
that a pattern ends where the name ends.
"""

from __future__ import annotations

from typing import Final

IS: Final = r"(?: is|['\u2019]s)"
"""The copula behind a noun, which people write short."""
WORD: Final = r"(?:(?:St|Mt|Ft)\.? )?(?!(?:St|Mt|Ft)\b)[A-Z][\w&'\u2019-]*+(?:\.(?=\w)[\w&'-]*+)*+"
NO_NAME: Final = (
    r"(?!(?:I|The|A|An|My|Our|You|It|And|But|If|Christmas|Easter|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)(?:days?)?)\b"
    r"|(?:Nights?|Noon|Midnight|Home|Weekends?|Sea|Train|Bus|Bike|Car|Plane|Foot)(?=[.,;!]|$))"
)
JOINT: Final = r"(?:of|the|for|de|van|von|der|&)(?: the)?"
NAME: Final = (
    rf"{NO_NAME}{WORD}(?: (?:{JOINT} )?{NO_NAME}{WORD}| and (?:Sons|Co|Company|Partners)\b)*"
)
NO_PLACE: Final = (
    r"(?!Plan [A-Z]\b)"
    r"(?!(?:Slack|Teams|Zoom|Discord|Jira|Notion|Excel|Word|Outlook|Gmail|Linux|Windows|Mac|macOS|"
    r"Git|GitHub|GitLab|Python|Rust|Java|JavaScript|TypeScript|Go|Chrome|Firefox|Android|iOS|AWS|"
    r"Azure|Spotify|Netflix|Signal|Telegram|WhatsApp|Instagram|Facebook|Twitter|LinkedIn|Reddit|"
    r"TikTok|Mastodon|Bluesky|Postgres|Kubernetes|Docker|Marketing|Sales|Engineering|Finance|HR|"
    r"Legal|Support|Product|Design|Operations|Research)(?=[.,;!]|$| [a-z]))"
)
"""Tools and departments that one moves to without moving house."""
SERVICES: Final = (
    r"(?:Slack|Teams|Zoom|Discord|Netflix|Spotify|Facebook|Instagram|Twitter|LinkedIn|Reddit|TikTok|"
    r"WhatsApp|Telegram|Signal|Mastodon|Bluesky|Tinder|Patreon|Duolingo)\b"
)
"""What one joins as a user."""
PLACE: Final = rf"{NO_PLACE}{NAME}(?:, {NAME})?"
# Words that no thing begins with: behind them something else is said.
STOP: Final = (
    r"(?!(?:and|or|not|but|because|since|so|when|while|if|as|that|which|who|though|although|than|"
    r"too|"
    r"very|just|where|why|anymore|any|now|these|lately|at|in|on|for|with|from|until|till|after|"
    r"before|during|around|near|all|it|us|everyone|everybody|nobody|right|completely|entirely|totally|altogether|btw|tbh|atm|rn|imo|imho|ngl|"
    r"the way|either|neither|how|what|this|those|you|your|him|her|them|me|my|to|being|having|"
    r"is|are|was|lot|more|most|about|over|rather|again|yesterday|today|"
    r"last (?:week|month|year|night|time)|(?:\w+ )(?:days?|weeks?|months?|years?) ago)\b)"
)
DAY: Final = (
    r"(?:(?:the )?\d{1,2}(?:st|nd|rd|th)? (?:of )?[A-Z][a-z]+|[A-Z][a-z]+ (?:the )?\d{1,2}"
    r"(?:st|nd|rd|th)?\b)(?:,? \d{4})?|\d{4}-\d\d-\d\d"
)
PROPER: Final = (
    r"(?:the (?=[A-Z][\w'-]* (?:of )?[A-Z]))?"  # "the Red Cross", but not "the University"
)
ERA: Final = r"(?: (?:from|of|in) the (?:early |late )?\d{2,4}s)?"
LINK: Final = r"(?:(?:of|about|with|by|like) )?"
TITLE: Final = "\ue000"
"""Stands for each character of a quotation: what is quoted is no sentence, but may be a title."""
# A title in quotation marks, or up to four words that say what it is.
ITEM: Final = (
    rf"(?:(?:(?:the )?(?:movie|film|book|novel|song|album|show|series|musical|play) )?{TITLE}+|"
    rf"(?:the )?{STOP}[\w'\u2019#+&$-]+(?: {LINK}{STOP}[\w'\u2019#+&$-]+){{0,3}}{ERA})"
)
NO_OTHER: Final = (
    rf"(?!{WORD}(?: {WORD})? (?:(?:(?:really|just|always|never|only|also) )?(?:likes|loves|hates|"
    r"prefers|thinks|says|eats|wants|needs|has|is|was|does|goes|comes|finds|makes|gets|knows|joins|"
    r"speaks|lives|takes|keeps|can|will|would|had|said|told|thought|did|went|got|"
    r"(?:drinks|plays|works|drives|cooks|runs) (?!(?:from|of|by)\b)(?=\w))|"
    r"(?:is|does|ca|wo)n['\u2019]t)\b)"
)
"""What no thing or name of an enumeration is: somebody else who does something."""
# Behind a comma somebody may go on: "jazz, and saw them live" names one thing.
NO_CLAUSE: Final = (
    NO_OTHER
    + r"(?!(?:I|we|he|she|they|am|was|went|had|have|has|did|do|can|will|got|made|took|saw|ate|"
    r"would|could|should|find|found|then|just|also|never|do not|cannot|drink|eat|live|work|"
    r"(?:do|does|did|ca|wo)n['\u2019]t|\w+ed)\b)"
)
ITEMS: Final = (
    rf"{ITEM}(?:, {NO_CLAUSE}{ITEM}(?=,| and\b| or\b))*(?:,? (?:and|or) {NO_CLAUSE}{ITEM})?"
)
I_AM: Final = r"\bI(?: am|['\u2019]m)"
I_WILL: Final = r"\bI(?: will|['\u2019]ll)(?: be)? (?:then |soon )?"
I_SOON: Final = (
    r"\bI(?:(?: will|['\u2019]ll)(?: be)?| am|['\u2019]m)?(?: going to)? "
    r"(?:finally |then |soon |officially )?"
)
"""Before what begins on a day: "I", "I'm", "I'll", "I will be"."""
I_HAVE: Final = r"\bI(?: have(?: got)?|['\u2019]ve got)"
HAVE: Final = r"\bI(?: have|['\u2019]ve)?"
WE_ARE: Final = rf"(?:{I_AM}|\b[Ww]e(?: are|['\u2019]re))"
WE_HAVE: Final = rf"(?:{HAVE}|\b[Ww]e(?: have|['\u2019]ve)?)"
RECENT: Final = r"(?:just |recently |finally )?"
DO_NOT: Final = r"(?:do not|don['\u2019]t|did not|didn['\u2019]t)"
SURE: Final = r"(?:(?:really|absolutely|just|truly|do|actually|also|especially|still|always) )*"
# How far somebody has come is no title: a "senior" is one of something.
LEVELS: Final = r"junior|mid-level|senior|staff|principal|lead"
TRADES: Final = (
    "engineer|developer|designer|manager|analyst|scientist|architect|researcher|writer|nurse|"
    "teacher|doctor|lawyer|chef|student|accountant|consultant|professor|journalist|editor|"
    "photographer|musician|therapist|pharmacist|electrician|plumber|pilot|translator|librarian|"
    "hygienist|barista|bartender|waiter|waitress|paramedic|midwife|physiotherapist|carpenter|"
    "mechanic|dentist|veterinarian|psychologist|biologist|chemist|physicist|economist|"
    "statistician|firefighter|receptionist|cashier|hairdresser|solicitor|barrister|surgeon|"
    "paralegal|actuary|radiographer|welder|roofer|baker|butcher|farmer|gardener|bricklayer|joiner|"
    "stonemason|locksmith|optician|illustrator|animator|programmer|sysadmin|administrator|secretary|"
    "assistant|clerk|banker|broker|auditor|recruiter|notary|(?:police|customs|probation) officer|"
    "flight attendant|beautician|florist|jeweller|tailor|seamstress|plasterer|surveyor|geologist|"
    "astronomer|mathematician|historian|archaeologist|linguist|sociologist|social worker|carer|"
    "childminder|nanny|tutor|lecturer|actor|actress|composer|sculptor|copywriter|reporter|"
    "interpreter|courier|(?:bus|truck|tram|train|taxi|lorry|van|delivery) driver|miner|forester|"
    "beekeeper|winemaker|brewer|sommelier|technician|radiologist|oncologist|cardiologist|"
    "dermatologist|pa?ediatrician|psychiatrist|nutritionist|dietitian|optometrist|osteopath|"
    "priest|pastor|vicar|vet"
)
PRAISE: Final = (
    r"(?:very |really |pretty |quite )?(?:good|bad|great|terrible|awful|decent|keen|amateur|hobby|"
    r"lousy|horrible|wannabe|aspiring|would-be|armchair|frustrated|former|ex-?|part of|fan of|"
    r"(?:bit|kind|sort|hell) of|retired)"
)
"""What says how somebody does a thing, and not that he lives by it."""
ROLE: Final = (
    rf"(?:(?:head|director|VP|vice president) of [a-z]+"
    r"(?: (?!(?:and|at|for|in|on|last|this|next|since|now|again|today|yesterday)\b)[a-z]+)?"
    rf"|chief [a-z]+ officer|C[EFIMOPT]O|team lead|(?!{PRAISE}\b)(?:[a-z][a-z-]* "
    rf"){{0,3}}?(?:{TRADES}))\b"
)
OFFICE: Final = (
    r"(?:Head|Director|VP|Vice President) of (?!(?:State|Government|School)\b)"
    r"[A-Z][a-z]+(?: (?:and |& )?[A-Z][a-z]+)?"
)
"""A title in capitals, as a badge has it."""
CHIEF: Final = r"C[EFIMOPT]O|chief [a-z]+ officer|managing director"
ORIGINS: Final = (
    "African|American|Arab|Argentinian|Asian|Australian|Austrian|Bavarian|Belgian|"
    "Bengali|Brazilian|British|Buddhist|Bulgarian|Canadian|Catholic|Chilean|Chinese|"
    "Colombian|Croatian|Cuban|Czech|Danish|Dutch|Egyptian|English|Ethiopian|European|"
    "Filipino|Finnish|French|German|Ghanaian|Greek|Hindu|Hungarian|Indian|Indonesian|"
    "Iranian|Iraqi|Irish|Israeli|Italian|Jamaican|Japanese|Jewish|Kenyan|Korean|"
    "Latin|Lebanese|Mexican|Moroccan|Muslim|Native|New|Nigerian|North|Norwegian|"
    "Pakistani|Palestinian|Persian|Peruvian|Polish|Portuguese|Protestant|Roman|"
    "Romanian|Russian|Scottish|Serbian|Sikh|Slovak|Slovenian|Somali|South|Spanish|"
    "Swedish|Swiss|Syrian|Taiwanese|Thai|Tunisian|Turkish|Ukrainian|Vietnamese|Welsh|"
    "West"
)
TOOLS: Final = (
    r"Python|JavaScript|Java|TypeScript|Rust|Golang|Go|C\+\+|C#|Kotlin|Swift|Scala|Ruby|Perl|PHP|"
    r"Haskell|Elixir|Clojure|Julia|MATLAB|R|SQL|Postgres|HTML|CSS|React|Vue|Angular|Node|Django|"
    r"Docker|Kubernetes|Terraform|Ansible|Linux|Git|Excel|Photoshop|Blender|LaTeX|AWS|Azure"
)
BREEDS: Final = (
    "Beagle|Bengal|Chihuahua|Collie|Dalmatian|Golden Retriever|Husky|Labrador|Maine Coon|Persian|"
    "Poodle|Pug|Rottweiler|Siamese|Terrier"
)
KIN: Final = {
    "wife": "partner", "husband": "partner", "partner": "partner", "girlfriend": "partner",
    "boyfriend": "partner", "son": "child", "daughter": "child", "mother": "parent",
    "mom": "parent", "mum": "parent", "father": "parent", "dad": "parent",
    "brother": "sibling", "sister": "sibling", "friend": "friend", "dog": "pet", "cat": "pet",
    "puppy": "pet", "kitten": "pet", "rabbit": "pet", "horse": "pet", "pony": "pet",
    "hamster": "pet", "guinea pig": "pet", "parrot": "pet", "budgie": "pet", "tortoise": "pet",
    "turtle": "pet", "ferret": "pet", "goldfish": "pet", "spouse": "partner", "hubby": "partner",
    "fiancé": "partner", "fiancée": "partner", "fiance": "partner", "fiancee": "partner",
    "baby boy": "child", "baby girl": "child", "little boy": "child", "little girl": "child",
    "stepson": "child", "stepdaughter": "child", "half-brother": "sibling",
    "half-sister": "sibling", "twin brother": "sibling", "twin sister": "sibling", "kitty": "pet",
    "pup": "pet", "gf": "partner", "bf": "partner", "bestie": "friend",
}  # fmt: skip
KINS: Final = "|".join(KIN)
PLURAL_KIN: Final = {
    "parents": "parent",
    "sons": "child", "daughters": "child", "kids": "child", "children": "child",
    "boys": "child", "girls": "child", "brothers": "sibling", "sisters": "sibling",
    "dogs": "pet", "cats": "pet", "puppies": "pet", "kittens": "pet", "rabbits": "pet",
    "horses": "pet", "hamsters": "pet", "guinea pigs": "pet", "parrots": "pet",
}  # fmt: skip
PLURAL_KINS: Final = "|".join(PLURAL_KIN)
SLOT_OF_KIN: Final = {**KIN, **PLURAL_KIN}
PETS: Final = "|".join(word for word, slot in KIN.items() if slot == "pet")
AGES: Final = "best|older|younger|little|big|old|elder|eldest|oldest|youngest|middle|twin|baby|new"
MY_KIN: Final = rf"\b(?:[Mm]y|[Oo]ur) (?:(?:{AGES}) )?(?P<kin>{KINS})"
DEATH: Final = (
    r"(?:(?:just|sadly|recently|suddenly) )*(?:died|passed away|is no longer with us|was put "
    r"(?:down|"
    r"to sleep)|had to be put (?:down|to sleep))\b"
)
AND_I: Final = (
    rf"^(?=[Mm]e and {NAME} |{NAME} and (?:I|me) )(?:[Mm]e and )?(?P<value>{NAME})"
    r"(?: and (?:I|me))? "
)
"""Two as one subject, in any order."""
ACQUAINTANCES: Final = (
    "mate|buddy|pal|colleague|coworker|co-worker|roommate|flatmate|neighbou?r|cousin|aunt|uncle|"
    "boss|manager"
)
_HERS = (
    rf"(?:[Mm]y|[Oo]ur) (?:(?:{AGES}) )?"
    rf"(?:{KINS}|{ACQUAINTANCES}|eldest|oldest|youngest|toddler|baby|little one)"
)
RELATIVE: Final = (
    rf"(?:\b{_HERS}(?:,? |{IS} called |['\u2019]s name{IS} )|^(?={NAME}, (?![Mm]y (?:friend|"
    r"mate|buddy|"
    rf"pal)\b){_HERS},))(?P<subject>{NAME})(?:, {_HERS})?,? (?:who |(?:and )?(?:she|he) )?"
)
CHILD: Final = (
    r"(?:[Mm]y|[Oo]ur) (?:eldest|oldest|youngest|firstborn|toddler|baby|little one|newborn)"
)
LASTING: Final = (
    r"(?:(?:all|most of) (?:my|our) li(?:fe|ves)|since (?:[A-Z][a-z]+ )?\d{4}|"
    r"for (?:about |over |almost |nearly )?(?:\w+ ){1,2}?(?:years?|decades?|ages|months))"
)
"""How long one lives somewhere, and no guest stays."""
_FIRM = (
    "Ltd|Inc|LLC|Corp|Company|Group|Partners|Holdings|Labs|Systems|Software|Technologies|Bank|Foods|"
    "Freight|Rail|Airlines|Airways|Logistics|Energy|Media|Insurance|Motors|Studios?|Consulting|"
    "Pharma|Hospital|Clinic|School|University|College|Council|Industries|Solutions|Hotels?|Books"
)
FIRM: Final = rf"(?=(?:{WORD} ){{1,3}}(?:{_FIRM})\b){NAME}"
"""A name that only an employer has, where a town or a friend could stand as well."""
NUMBER: Final = (
    r"(?:\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-[a-z]+)?|"
    r"(?:six|seven|eight|nine)teen)"
)
NO_ALLERGY: Final = (
    r"(?!(?:nonsense|bullshit|stupidity|drama|lies|small talk|work|exercise|mornings?|[Mm]ondays?|"
    r"people|cheap|bad|early|failure|meetings|commitment|hard work|change)\b)"
)
"""What people say that they are allergic to, and mean that they dislike it."""
ALLERGIC: Final = (
    rf"{I_AM} (?:(?!\b(?:not|no longer|who|whose|with|someone|somebody|people|my|his|her|their|"
    rf"sure|sorry|glad|afraid)\b|n['\u2019]t)[^.!?]){{0,40}}?\ballergic to {NO_ALLERGY}"
)
NO_FOOD: Final = (
    r"(?!(?:out|much|enough|well|right|all|breakfast|lunch|dinner|here|there|late|early|often|anything|"
    r"everything|tonight|tomorrow|and|alone|properly|healthy|healthily|today|yet|another|one|both)\b)"
)
WHOLLY: Final = (
    r"(?=[.!,;]|$| (?:any ?more|either|too|and|or|but|because|since|at all|so|these days|right now|"
    r"now|for (?:medical|health|religious|ethical) reasons)\b)"
)
NO_TOPIC: Final = (
    r"(?! (?:expectations|deadlines|targets|goals|requirements|needs|standards|halfway|"
    r"the (?:deadline|target|goal|bar|requirements)))"
)
"""What is met but no appointment."""
DOCTORS: Final = (
    "doctor|dentist|GP|therapist|physio|physiotherapist|optician|cardiologist|dermatologist|"
    "specialist|vet|lawyer|accountant|midwife|orthodontist|surgeon"
)
DIETS: Final = (
    "low-carb|low-fat|low-salt|low-sodium|low-FODMAP|sugar-free|gluten-free|dairy-free|"
    "plant-based|keto|ketogenic|paleo|[Mm]editerranean|vegan|vegetarian|diabetic"
)
AIMS: Final = (
    "get|learn|finish|save|run|lose|pass|write|read|buy|build|become|reach|complete|publish|"
    "launch|open|quit|sell|earn|master"
)
BY_WHEN: Final = (
    r"(?:(?:the )?(?:end of )?(?:next |this |the )?(?:year|month|week|summer|autumn|winter|spring|"
    r"Christmas|Easter|\d{4}|(?:Jan|Febr)uary|March|April|May|June|July|August|"
    r"(?:Septem|Octo|Novem|Decem)ber|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)"
    r"(?: \d{1,4})?(?:st|nd|rd|th)?)"
)
ZONES: Final = (
    "Pacific|Mountain|Central|Eastern|Central European|Eastern European|Western European|GMT|UTC|"
    "CET|CEST|EST|PST|IST|JST|BST"
)
NO_DATE: Final = r"(?!\d{1,4}[/-]\d{1,2}[/-]\d{1,4}\b)"
MANNERS: Final = (
    r"(?:keep (?:your|the|all|every) (?!(?:answers|replies|responses) (?:short|brief|concise))|"
    r"answer|reply|respond|write|speak|talk|explain|format|address|stick|skip|avoid|start|end|"
    r"put|treat|assume|round|cite|give|show|include|list|refer|stop|use)"
)
"""What one asks for in all answers to come."""
MEETINGS: Final = (
    "appointment|meeting|interview|flight|exam|check-?up|surgery|wedding|operation|train|"
    "presentation|deadline|driving test|blood test|hearing|graduation|rehearsal"
)
HABITS: Final = (
    r"emojis?|exclamation marks?|exclamation points?|bullet points?|bullets|tables|markdown|"
    r"headings|headers|jargon|slang|abbreviations|acronyms|small talk|filler|apologies"
)
INTOLERABLE: Final = (
    "gluten|dairy|lactose|nuts|peanuts|shellfish|seafood|eggs|milk|wheat|soy|alcohol|caffeine|"
    "sugar|meat|pork|beef|fish"
)
"""What who "can't have" it does not eat or drink; a day off or a dog he may not have is no diet."""
INTOLERABLES: Final = rf"(?:{INTOLERABLE})(?:(?:, | and | or )(?:{INTOLERABLE}))*"
UNITS: Final = (
    r"(?:metric|imperial|SI) units|[Cc]elsius|[Ff]ahrenheit|kilomet(?:er|re)s|miles|bullet points|"
    r"markdown|plain text|(?:British|American) (?:English|spelling)|"
    r"(?:24|12)[- ]hour (?:time|format|clock)|ISO dates|plain language|simple (?:words|language)"
)
CHORES: Final = (
    r"(?:plan|schedule|book|buy|call|email|send|finish|prepare|organi[sz]e|review|submit|pay|"
    r"renew|pick up|visit|order|fix|clean|coordinate|connect|complete|return|register|sign up|"
    r"apply|cancel|draft|arrange|set up|follow up|file|collect|drop off|back up|practi[cs]e|"
    r"repair)\b"
)
"""What stands on a list of things to do; "I need to understand" does not."""
