"""The table of phrases that tend to mark an injected instruction.

Each rule has a code, the attack class it points to, a severity and the reason a reviewer reads.
Rules look at folded text (`views.fold`): lower case, no accents, single spaces. Gaps inside a
pattern are bounded, so matching stays linear. A severity of 60 and more quarantines alone on the
untrusted channels; lower ones only add up. A phrase is a signal and never a proof: about a third
of known payloads read as ordinary requests, and no rule can find those. Checklist C-163, C-164.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class AttackClass(StrEnum):
    """The five attack classes."""

    DIRECT = "direct"
    """The caller's own input tries to override the rules."""
    INDIRECT = "indirect"
    """Retrieved or tool text addresses the model."""
    DILUTION = "dilution"
    """Sheer length, to push the rules out of attention."""
    SMUGGLING = "smuggling"
    """Hidden, disguised or encoded text."""
    PROVENANCE_FORGERY = "provenance_forgery"
    """Text that claims to come from a stronger source."""


@dataclass(frozen=True, slots=True)
class PhraseRule:
    """One row of the table."""

    code: str
    """Stable code of the finding."""
    severity: int
    """0 to 100; findings of one text add up."""
    reason: str
    """What the phrase does, for the reviewer."""
    needs: tuple[str, ...]
    """Words of which every match holds one: the cheap test before the search."""
    pattern: re.Pattern[str]
    """Searched in folded text."""
    forges: bool = False
    """Whether the phrase claims a source; else the channel tells direct from indirect."""


_ORDERS: Final = r"(?:instructions?|prompts?|directions|directives?|guidelines?|commands|orders)"
_EARLIER: Final = r"(?:previous|prior|above|preceding|earlier|foregoing|existing|initial|original)"
# "Do not forget to read all instructions" is the everyday use of these verbs.
_NOT_DENIED: Final = r"(?<!not )(?<!n't )(?<!never )"


def _rule(
    head: tuple[str, int, str], needs: str, *patterns: str, forges: bool = False
) -> PhraseRule:
    return PhraseRule(*head, tuple(needs.split("|")), re.compile("|".join(patterns)), forges)


PHRASE_RULES: Final = (
    _rule(
        ("override_instructions", 80, "tells the model to drop what it was told"),
        "ignore|disregard|forget|override|bypass|neglect|supersede|follow|obey",
        rf"\b{_NOT_DENIED}(?:ignore|disregard)\b[^.!?]{{0,30}}"
        rf"\b(?:{_EARLIER}|all|any|your|every|these)\b[^.!?]{{0,20}}\b{_ORDERS}\b",
        rf"\b{_NOT_DENIED}(?:forget|override|bypass|neglect)"
        rf" (?:about )?(?:all |any |every )?(?:of )?(?:your|the|{_EARLIER})\b[^.!?]{{0,20}}"
        r"\b(?:instructions|programming|directives|safety rules)\b",
        rf"\b{_NOT_DENIED}(?:forget|override|bypass) (?:all|any|every) (?:\w+ )?"
        rf"(?:instructions|{_EARLIER})\b",
        r"\b(?:ignore|disregard|bypass)\b[^.!?]{0,12}\b(?:all|any|your) (?:safety|ethical|content)"
        r" (?:rules|guidelines|polic(?:y|ies)|restrictions)\b",
        rf"\bsupersedes? (?:all|any|the|every) (?:\w+ )?{_EARLIER} (?:ones|instructions"
        r"|directives|rules)\b",
        r"\bdisregard (?:all|any|every)\b[^.!?]{0,20}\b(?:except|but|other than)\b",
        rf"\b(?:do not|don't|stop) (?:follow|obey)(?:ing)?\b[^.!?]{{0,20}}\b(?:{_EARLIER}|your)\b"
        r"[^.!?]{0,12}\b(?:instructions|guidelines|directives)\b",
    ),
    _rule(
        (
            "override_instructions_translated",
            80,
            "tells the model, in another language, to drop what it was told",
        ),
        "ignor|vergiss|vergessen sie|missacht|oubli|suis plus|suivez plus|olvid|dimentica|esquec|"
        "negeer|vergeet|zapomnij|игнорируи|забудь",
        r"\b(?:ignorier\w*|missachte\w*|vergiss(?! nicht)|vergessen sie(?! nicht))\b[^.!?]{0,40}"
        r"\b(?:anweisungen|instruktionen|vorgaben|befehle)\b",
        r"\b(?:ignore[rzs]?|oublie[rzs]?|ne (?:suis|suivez) plus) (?:toutes |tous )?"
        r"(?:les|tes|vos|mes|ces|aux|des)\b[^.!?]{0,20}\b(?:instructions|consignes|directives"
        r"|regles|ordres)\b",
        r"\b(?<!no )(?:ignor[ae]|olvid[ae]) (?:todas |todos )?(?:las|tus|sus|los)\b[^.!?]{0,20}"
        r"\b(?:instrucciones|indicaciones|ordenes|reglas|directrices)\b",
        r"\b(?<!non )(?:ignora|ignorate|dimentica|dimenticate) (?:tutte |tutti )?"
        r"(?:le|tue|i|queste)\b[^.!?]{0,20}\b(?:istruzioni|regole|indicazioni|direttive)\b",
        r"\b(?<!nao )(?:ignor[ea]|esqueca) (?:todas |todos )?(?:as|suas|os|tuas)\b[^.!?]{0,20}"
        r"\b(?:instrucoes|regras|ordens|diretrizes)\b",
        r"\b(?:negeer|vergeet) (?:alle|je|de|al)\b[^.!?]{0,30}\b(?:instructies|opdrachten)\b",
        r"\b(?:zignoruj|zapomnij)\b[^.!?]{0,40}\b(?:instrukcj\w*|polecen\w*)\b",
        r"\b(?:игнорируи\w*|забудь\w*)\b[^.!?]{0,40}\b(?:инструкци\w*|указани\w*)",
    ),
    _rule(
        (
            "override_instructions_cjk",
            80,
            "tells the model, in Chinese, Japanese or Korean, the same",
        ),
        "忽略|无视|無視|忘|무시|잊",
        # Folding takes voicing marks off: puronputo is written without them here.
        r"(?:忽略|无视|無視|忘记|忘記)[^。!?]{0,15}(?:指令|指示|提示|规则|規則|命令)"
        r"|(?:指示|命令|フロンフト|ルール)[^。!?]{0,10}(?:無視|忘れ)"
        r"|(?:지시|명령|지침)[^.!?]{0,10}(?:무시|잊)",
    ),
    _rule(
        ("new_instructions", 60, "announces instructions that replace the real ones"),
        "your new|your updated|your real|your actual|your true|new instruction|new directive|"
        "updated instruction|updated directive|new system|updated system|"
        "the following instruction|the following order|your rules|your instructions|"
        "your guidelines",
        r"\byour (?:new|updated) (?:instructions?|directives?|system prompt)\b",
        r"\byour (?:real|actual|true) (?:task|instructions?|directives?|goal|mission|purpose)\b",
        r"\b(?:new|updated) (?:instructions?|directives?|system prompt) ?:",
        r"\b(?:adhere to|follow|obey) (?:only )?the following (?:instruction|order)s?\b ?:",
        r"\byour (?:rules|instructions|guidelines) have (?:been |now )?"
        r"(?:changed|replaced|updated)\b",
    ),
    _rule(
        ("reveal_prompt", 60, "asks for the hidden instructions"),
        "prompt|instruction|configuration|message|rules|were you told|initiali|istruzioni|"
        "instruccion|anweisungen|consignes",
        r"\b(?:reveal|show me|print|output|display|repeat|leak|disclose|recite|translate|tell me"
        r"|what (?:are|is|were|was))\b[^.!?]{0,30}\byour (?:\w+ )?"
        r"(?:(?:system|initial|original|starting|hidden|secret|internal) "
        r"(?:prompt|instructions?|message|rules|configuration)|system prompt)\b",
        r"\bshow me the (?:system prompt|(?:hidden|internal|initial) (?:instructions|prompt))\b",
        r"\b(?:print|repeat|spell check|output) the (?:previous|above|preceding) "
        r"(?:instructions|prompt)\b",
        r"\b(?:what were|repeat|recite) (?:those|your) (?:previous )?instructions\b",
        r"\bwhat were you told (?:before|at the)\b",
        r"^output initiali[sz]ation (?:string|prompt)\b",
        r"\b(?:rivela|mostra\w*|revela|muestra\w*|revele\w*|montre\w*|zeig\w*|verrate\w*)\b"
        r"[^.!?]{0,20}\b(?:tuo|tuoi|tue|tu|tus|tes|ton|votre|vos|deine\w*|ihre\w*) "
        r"[^.!?]{0,20}\b(?:istruzioni|instrucciones|instructions|anweisungen|prompt|consignes)\b",
    ),
    _rule(
        ("mentions_prompt_leak", 40, "speaks of getting at the hidden instructions"),
        "prompt|configuration",
        r"\b(?:reveal|leak|dump|disclose|expose)\b[^.!?]{0,15}\b(?:system prompt"
        r"|internal configuration)\b",
        r"\byour (?:initial|original) prompt\b|\b(?:print|log)\(? ?system_?prompt\b",
    ),
    _rule(
        ("unrestricted_persona", 60, "gives the model a role without rules"),
        "now dan|now an|now a|do anything now|restriction|filter|limit|guideline|rules|"
        "content policy|developer mode|desarrollador|exempt from",
        r"\byou are now (?:dan|an? (?:unrestricted|unfiltered|evil|jailbroken))\b",
        r"\bdo anything now\b",
        r"\b(?:pretend|act|respond|behave|roleplay|answer|imagine)\b[^.!?]{0,40}"
        r"\b(?:no|without(?: any)?) (?:\w+ )?(?:restrictions|content policy|filters?|limits"
        r"|guidelines|rules|limitations)\b",
        r"\byou (?:are|have)\b[^.!?]{0,15}\b(?:no|without(?: any)?) content polic(?:y|ies)\b",
        r"\bdeveloper mode\b[^.!?]{0,30}\b(?:ignore|bypass)\b|\bmodo desarrollador sin\b",
        r"\bexempt from (?:the |all )?(?:usual|normal|your) "
        r"(?:restrictions|rules|polic(?:y|ies))\b",
    ),
    _rule(
        ("no_restrictions", 40, "says that nothing restricts the model"),
        "restri|filter|filtro|filtri|no rules|einschr|comply with",
        r"\byou have no (?:restrictions|rules|filters)\b",
        r"\bmust comply with (?:every|any|all) requests?\b",
        r"\b(?:sin|senza|sans|ohne|sem) (?:restricciones|restrizioni|restrictions|filtros|filtri"
        r"|einschraenkungen|einschrankungen|restricoes)\b",
    ),
    _rule(
        ("safety_disabled", 40, "claims that safety rules are off"),
        "safety|security|content|sicherheitsr|reglas|regole",
        r"\b(?:safety|security|content) (?:protocols?|filters?|polic(?:y|ies)|guidelines|rules) "
        r"(?:(?:are|have been) (?:now )?)?(?:disabled|suspended|lifted)\b",
        r"\byou now allow (?:all|any) content\b",
        r"\b(?:sicherheitsrichtlinien|reglas de seguridad|regole di sicurezza)\b[^.!?]{0,20}"
        r"\b(?:nicht gelten|no aplican|non si applicano)\b",
    ),
    _rule(
        ("poses_as_system", 60, "poses as the system or an administrator"),
        "system_message|override",
        r"\(system_message\)|#system_message\b",
        r"\b(?:administrator|admin|root|system) override ?:",
        forges=True,
    ),
    _rule(
        ("claims_system", 40, "claims to be a message of the system"),
        "system update|system message|system notice|system alert|systemhinweis|nota d|note d|"
        "system>|system chain",
        r"\b(?:important|urgent|critical) system (?:update|message|notice|alert)\b",
        r"\bsystemhinweis ?:|\bnota (?:del|di) sistema ?:|\bnote (?:du|de) systeme ?:",
        r"\bsystem> ?\w[^<]{0,200}</system>",
        r"\bsystem chain of thought\b",
        forges=True,
    ),
    _rule(
        ("addresses_model", 60, "speaks to the model from inside a document"),
        "assistant|bot|llm|language model|ai agent|ai model|ai system|an ai|before you can|"
        "user asks|automated",
        r"\bto you, (?:the )?(?:ai )?(?:assistant|bot|chatbot|language model|llm)\b",
        r"(?:^|[.!?] )(?:note|attention|memo|notice|message|instructions?) (?:to|for) "
        r"(?:the |all |any )?(?:ai |llm )?(?:ai|llm|bot|chatbot|assistant|language model|agent"
        r"|model)s?\b[^.!?]{0,20}:",
        r"\b(?:ai|llm) (?:agents?|assistants?|models?|systems)\b[^.!?]{0,40}\b(?:should first"
        r"|must first|must now|should now)\b",
        r"\bif you (?:are|'re) an? (?:ai|llm|language model)\b",
        r"\bbefore you can (?:solve|complete|do)\b[^.!?]{0,30}\b(?:task|request)\b[^.!?]{0,60}"
        r"\bfirst\b",
        r"\bif (?:the )?user asks for\b[^.!?]{0,40}\b(?:reply|respond|answer|say|print) (?:with )?"
        r"(?:only|nothing)",
        r"\bhidden\b[^.!?]{0,30}\b(?:profile|metadata)\b[^.!?]{0,20}\bautomated\b",
    ),
    _rule(
        ("exfiltration", 60, "asks to collect secrets and send them away"),
        "api key|password|credential|passport|bank account|bank_account|secrets",
        r"\b(?:collect|gather|get|find|read)\b[^.!?]{0,80}\b(?:api keys?|passwords?|credentials"
        r"|passport[ _]number|bank[ _]account[ _]number)\b[^.!?]{0,60}\b(?:send|forward|email"
        r"|post|upload)\b[^.!?]{0,40}\bto\b",
        r"\breveal any (?:credentials|secrets|passwords)\b",
    ),
    _rule(
        ("sends_secrets", 40, "speaks of sending or leaking secrets"),
        "api key|password|credential|secret|customer|passport|security code|id_number",
        r"\b(?:leak|exfiltrate|steal)\b[^.!?]{0,20}"
        r"\b(?:api keys?|passwords?|credentials|secrets)\b",
        r"\b(?:send|forward|email|post|upload|transmit)\b[^.!?]{0,60}\b(?:api keys?|passwords"
        r"|credentials|customer (?:list|emails|data)|passport number|security code|id_number)\b",
    ),
    _rule(
        ("image_exfiltration", 60, "an image address with a slot for private data"),
        "![",
        r"!\[[^\]]{0,40}\]\(https?://[^)\s]{0,200}[?&][\w-]{1,20}=(?:\{|\[|<|%7b)",
    ),
    _rule(
        ("persistence", 60, "wants to outlive this task"),
        "future|subsequent|reply you|replies you|response you|report you|answer you|"
        "from now on|your memory|jeder|cualquier|chaque|ogni",
        r"\b(?:remember|apply|keep|repeat)\b[^.!?]{0,40}\b(?:all|every|any) (?:future|subsequent) "
        r"(?:tasks?|repl(?:y|ies)|responses?|sessions?|conversations?|answers?)\b",
        r"\bin every (?:report|reply|response|answer) (?:you (?:generate|write|produce|send)"
        r"|from now on)\b",
        r"\bsave this (?:note |text |instruction )?(?:to|in) your memory\b",
        r"\b(?:muss|debe|doit|deve)\b[^.!?]{0,30}\b(?:ende|final|fin|fine)\b[^.!?]{0,12}\b"
        r"(?:jeder|cualquier|chaque|ogni) (?:antwort|respuesta|reponse|risposta)\b",
    ),
    _rule(
        ("conceal", 40, "wants something kept from the user"),
        "do not|don't|never|without",
        r"\b(?:do not|don't|never|without) (?:tell|mention|inform|notify|alert|informing|telling"
        r"|notifying)\w*\b[^.!?]{0,20}\b(?:the )?(?:user|human|operator)\b",
    ),
    _rule(
        ("decode_and_follow", 60, "hides the instruction in an encoding"),
        "decode|decrypt|unscramble|translate",
        r"\b(?:decode|decrypt|unscramble|translate) (?:this|the following|it)\b[^.!?]{0,50}"
        r"\b(?:and|then) (?:then )?(?:execute|run|follow|obey) (?:it|them|what)\b",
    ),
    _rule(
        ("changes_behaviour", 40, "sets a lasting rule for the model"),
        "from now on",
        r"\bfrom now on,? (?:you|respond|answer|always|every)\b",
    ),
)
"""All phrase rules, in the order of their findings."""

PHRASE_WORDS: Final = frozenset(itertools.chain.from_iterable(rule.needs for rule in PHRASE_RULES))
"""The words of all rules: folded text without one of them has none of the phrases."""


def likely_rules(folded_text: str) -> frozenset[str]:
    """The codes of the rules whose phrase may be in folded text: a word that it needs does.

    Every write asks this of its text, so it is two plain loops and no call a rule.
    """
    codes: list[str] = []
    for rule in PHRASE_RULES:
        for word in rule.needs:
            if word in folded_text:
                codes.append(rule.code)
                break

    return frozenset(codes)
