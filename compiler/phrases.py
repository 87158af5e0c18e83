"""The table of phrases that tend to mark an injected instruction.

Each rule has a code, the attack class it points to, a severity and the reason a reviewer reads.
Rules look at folded text (`views.fold`): lower case, no accents, single spaces. Gaps inside a
pattern are bounded, so matching stays linear. A severity of 60 and more quarantines alone on the
untrusted channels; lower ones only add up. A phrase is a signal and never a proof: about a third
of known payloads read as ordinary requests, and no rule can find those. Checklist C-163, C-164.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class AttackClass(StrEnum):
    """The five attack classes (vocabulary 5.2)."""

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

    def search(self, folded: str) -> re.Match[str] | None:
        """Return the first match in folded text."""
        if any(word in folded for word in self.needs):
            return self.pattern.search(folded)
        return None


_ORDERS: Final = (
    r"(?:instructions?|prompts?|directions?|directives?|guidelines?|commands?|orders|constraints?"
    r"|polic(?:y|ies)|programming|training)"
)
_EARLIER: Final = r"(?:previous|prior|above|preceding|earlier|foregoing|existing|initial|original)"


def _rule(
    head: tuple[str, int, str], needs: str, *patterns: str, forges: bool = False
) -> PhraseRule:
    return PhraseRule(*head, tuple(needs.split("|")), re.compile("|".join(patterns)), forges)


PHRASE_RULES: Final = (
    _rule(
        ("override_instructions", 80, "tells the model to drop what it was told"),
        "ignore|disregard|forget|override|bypass|neglect|supersede|follow|obey",
        rf"\b(?:ignore|disregard|forget|override|bypass|neglect)\b[^.!?]{{0,30}}"
        rf"\b(?:{_EARLIER}|all|any|your|every|these)\b[^.!?]{{0,20}}\b{_ORDERS}\b",
        rf"\b(?:ignore|disregard|forget|override|bypass)\b[^.!?]{{0,20}}\b{_EARLIER}\b"
        r"[^.!?]{0,12}\b(?:rules|text|context|messages?|information|input)\b",
        r"\b(?:ignore|disregard|bypass)\b[^.!?]{0,12}\b(?:all|any|your) (?:\w+ )?"
        r"(?:rules|safety)\b",
        rf"\bsupersedes? (?:all|any|the|every) (?:\w+ )?{_EARLIER}\b",
        r"\bdisregard (?:all|any|every)\b[^.!?]{0,20}\b(?:except|but|other than)\b",
        r"\b(?:do not|don'?t|stop) (?:follow|obey)(?:ing)?\b[^.!?]{0,20}\b"
        rf"(?:{_EARLIER}|your)\b[^.!?]{{0,12}}\b{_ORDERS}\b",
    ),
    _rule(
        (
            "override_instructions_translated",
            80,
            "tells the model, in another language, to drop what it was told",
        ),
        "ignorier|vergiss|vergessen sie|missacht|ignore|oubli|suis pas|suis plus|"
        "suivez|ignor|olvid|dimentic|esquec|negeer|vergeet|zapomnij|игнорируи|забудь",
        r"\b(?:ignorier\w*|vergiss|vergessen sie|missachte\w*)\b[^.!?]{0,40}"
        r"\b(?:anweisung\w*|instruktion\w*|vorgaben|befehle|regeln)\b",
        r"\b(?:ignore[rzs]?|oublie[rzs]?|ne (?:suis|suivez) (?:pas|plus))\b[^.!?]{0,20}"
        r"\b(?:les|tes|vos|mes|ces|aux|des)\b[^.!?]{0,20}\b(?:instructions|consignes|directives|regles|ordres)\b",
        r"\b(?:ignor[ae]\w*|olvid[ae]\w*)\b[^.!?]{0,40}"
        r"\b(?:instrucciones|indicaciones|ordenes|reglas|directrices)\b",
        r"\b(?:ignora\w*|dimentica\w*)\b[^.!?]{0,40}\b(?:istruzioni|regole|indicazioni|direttive)\b",
        r"\b(?:ignor[ea]\w*|esquec[ae]\w*)\b[^.!?]{0,40}\b(?:instrucoes|regras|ordens|diretrizes)\b",
        r"\b(?:negeer|vergeet)\b[^.!?]{0,40}\b(?:instructies|regels|opdrachten)\b",
        r"\b(?:zignoruj|zapomnij)\b[^.!?]{0,40}\b(?:instrukcj\w*|polecen\w*|zasad\w*)\b",
        r"\b(?:игнорируи\w*|забудь\w*)\b[^.!?]{0,40}\b(?:инструкци\w*|указани\w*|правил\w*)",
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
        "your new|your real|your actual|your true|your only|your updated|new instruction|"
        "new directive|new system|new policy|updated instruction|updated directive|"
        "updated system|updated policy|the following instruction|the following order|"
        "your rules|your instructions|your guidelines|your policies",
        r"\byour (?:new|real|actual|true|only|updated) (?:instructions?|task|directives?|goal"
        r"|objective|mission|purpose|orders|job)\b",
        r"\b(?:new|updated) (?:instructions?|directives?|system prompt|policy) ?:",
        r"\b(?:adhere to|follow|obey) (?:only )?the following (?:instruction|order)s?\b ?:",
        r"\byour (?:rules|instructions|guidelines|policies) (?:have|has) (?:been |now )?"
        r"(?:changed|replaced|updated)\b",
    ),
    _rule(
        ("reveal_prompt", 60, "asks for the hidden instructions"),
        "prompt|instruction|configuration|message|your initial|your original|"
        "your starting|your hidden|your secret|your internal|rules|were you told|"
        "initiali|istruzion|instruccion|anweisung|consigne",
        r"\b(?:reveal|show|print|output|display|repeat|leak|dump|disclose|recite|translate|expose"
        r"|give|tell|share|what (?:are|is|were|was))\b[^.!?]{0,30}\byour (?:\w+ )?"
        r"(?:(?:system|initial|original|starting|hidden|secret|internal) "
        r"(?:prompt|instructions?|message|rules|configuration)|system prompt)\b",
        r"\b(?:reveal|show me|leak|dump|disclose|expose)\b[^.!?]{0,15}\b(?:system prompt"
        r"|(?:hidden|internal|initial) (?:instructions|prompt|configuration))",
        r"\b(?:print|repeat|spell check|output) the (?:previous|above|preceding|initial) "
        r"(?:instructions|prompt)\b",
        r"\b(?:what were|repeat|recite) (?:those|these|the|your) (?:previous )?instructions\b",
        r"\bwhat were you told (?:before|at the)\b",
        r"\boutput initiali[sz]ation\b|\b(?:print|log)\(? ?system_?prompt\b",
        r"\byour (?:initial|original) prompt\b",
        r"\b(?:rivela|mostra\w*|revela|muestra\w*|revele\w*|montre\w*|zeig\w*|verrate\w*)\b"
        r"[^.!?]{0,40}\b(?:istruzioni|instrucciones|instructions|anweisungen|prompt|consignes)\b",
    ),
    _rule(
        ("unrestricted_persona", 60, "gives the model a role without rules"),
        "now dan|now a|do anything|restri|filt|limit|guideline|rules|content policy|"
        "developer mode|exempt|comply|einschr",
        r"\byou are now (?:dan|an? (?:unrestricted|unfiltered|evil|jailbroken))\b",
        r"\bdo anything now\b",
        r"\b(?:pretend|act|respond|behave|roleplay|answer|you (?:are|have)|imagine)\b[^.!?]{0,40}"
        r"\b(?:no|without(?: any)?) (?:\w+ )?(?:restrictions|content policy|filters?|limits"
        r"|guidelines|rules|limitations)\b",
        r"\b(?:enable|enter|activate|in|switch to) developer mode\b[^.!?]{0,60}\b(?:ignore|bypass"
        r"|rules|filters|anything)\b",
        r"\benable developer mode\b",
        r"\bexempt from (?:the )?(?:usual |normal )?(?:restrictions|rules|polic(?:y|ies))\b",
        r"\bcomply with (?:every|any|all) requests?\b",
        r"\b(?:sin|senza|sans|ohne|sem) (?:restricciones|filtros?|restrizioni|filtri|restrictions"
        r"|filtres?|einschraenkungen|einschrankungen|restricoes)\b",
    ),
    _rule(
        ("safety_disabled", 60, "claims that safety rules are off"),
        "safety|security|content|sicherheit|reglas|regole",
        r"\b(?:safety|security|content) (?:protocols?|filters?|polic(?:y|ies)|guidelines|checks?"
        r"|rules) (?:(?:are|is|have been|has been|do(?:es)? not) (?:now )?)?(?:disabled|off"
        r"|suspended|lifted|apply here)\b",
        r"\b(?:you )?now allow (?:all|any) content\b",
        r"\b(?:sicherheitsrichtlinien|reglas de seguridad|regole di sicurezza)\b[^.!?]{0,20}"
        r"\b(?:nicht gelten|no aplican|non si applicano)\b",
    ),
    _rule(
        ("claims_system", 60, "claims to be the system or an administrator"),
        "system_message|system update|system message|system notice|system alert|override|"
        "systemhinweis|nota d|note d|system>|system chain",
        r"\bsystem_message\b",
        r"\b(?:important|urgent|critical) system (?:update|message|notice|override|alert)\b",
        r"\b(?:administrator|admin|root) override\b|\bsystem override\b",
        r"\bsystemhinweis ?:|\bnota del (?:sistema|sistem) ?:|\bnote (?:du|de) systeme ?:"
        r"|\bnota di sistema ?:",
        r"\bsystem> ?\w[^<]{0,200}</system>",
        r"\bsystem chain of thought\b",
        forges=True,
    ),
    _rule(
        ("addresses_model", 60, "speaks to the model from inside a document"),
        "assistant|bot|llm|language model|ai agent|ai model|ai system|an ai|before you|"
        "user asks|hidden|white-text|invisible",
        r"\b(?:message|note|instructions?|attention|notice|memo)\b[^.!?]{0,40}"
        r"\b(?:to|for|from me)\b"
        r"[^.!?]{0,25}\b(?:the (?:ai )?(?:assistant|bot|chatbot|llm|language model)"
        r"|(?:all )?ai (?:agents?|assistants?|models?))\b",
        r"\b(?:ai|llm) (?:agents?|assistants?|models?|systems)\b[^.!?]{0,40}\b(?:should first"
        r"|must first|must now|should now)\b",
        r"\bif (?:you are|you're) an? (?:ai|llm|language model|assistant)\b",
        r"\bbefore you (?:can )?(?:solve|complete|do|continue|finish)\b[^.!?]{0,40}"
        r"\b(?:task|request)\b[^.!?]{0,60}\bfirst\b",
        r"\bif (?:the )?user asks for\b[^.!?]{0,40}\b(?:reply|respond|answer|say|print) (?:with )?"
        r"(?:only|nothing)",
        r"\b(?:hidden|white-text|invisible)\b[^.!?]{0,30}\b(?:profile|metadata|instructions?|text)\b"
        r"[^.!?]{0,40}\b(?:automated|llm|screening|ai|scan)\b",
    ),
    _rule(
        ("exfiltration", 60, "asks to send secrets or private data away"),
        "api key|password|credential|secret|token|internal configuration|database|"
        "customer|passport|security code|bank account|id_number|collect|gather|get all|"
        "get the",
        r"\b(?:leak|exfiltrate|steal|dump)\b[^.!?]{0,30}\b(?:api keys?|passwords?|credentials"
        r"|secrets?|tokens?|internal configuration|database)\b",
        r"\b(?:send|forward|email|post|upload|transmit)\b[^.!?]{0,60}\b(?:api keys?|passwords"
        r"|credentials|customer (?:list|emails|data)|passport number|security code"
        r"|bank account number|id_number)\b",
        r"\b(?:collect|gather|get) (?:all|the)\b[^.!?]{0,60}\b(?:and|then) (?:send|forward|email"
        r"|post)\b[^.!?]{0,20}\bto\b",
        r"\breveal any (?:credentials|secrets|passwords)\b",
    ),
    _rule(
        ("image_exfiltration", 60, "an image address with a slot for private data"),
        "![",
        r"!\[[^\]]{0,40}\]\(https?://[^)\s]{0,200}[?&][\w-]{1,20}=(?:\{|\[|<|%7b)",
    ),
    _rule(
        ("persistence", 60, "wants to outlive this task"),
        "future|subsequent|report|reply|replies|response|answer|your memory|jeder|"
        "cualquier|chaque|ogni",
        r"\b(?:remember|apply|keep|repeat)\b[^.!?]{0,40}\b(?:all|every|any) (?:future|subsequent) "
        r"(?:tasks?|repl(?:y|ies)|responses?|sessions?|conversations?|answers?)\b",
        r"\b(?:every|any|all) (?:report|reply|response|answer)s? (?:you|from now)\b[^.!?]{0,40}",
        r"\bsave this (?:note |text |instruction )?(?:to|in) your memory\b",
        r"\b(?:muss|debe|doit|deve)\b[^.!?]{0,30}\b(?:ende|final|fin|fine)\b[^.!?]{0,12}\b"
        r"(?:jeder|cualquier|chaque|ogni)\b",
    ),
    _rule(
        ("conceal", 60, "wants something kept from the user"),
        "do not|don't|dont|never|without",
        r"\b(?:do not|don'?t|never|without) (?:tell|mention|inform|notify|alert|informing|telling"
        r"|notifying)\w*\b[^.!?]{0,20}\b(?:the )?(?:user|human|operator)\b",
    ),
    _rule(
        ("decode_and_follow", 60, "hides the instruction in an encoding"),
        "decode|decrypt|unscramble|translate",
        r"\b(?:decode|decrypt|unscramble|translate)\b[^.!?]{0,60}\b(?:and|then)\b[^.!?]{0,15}"
        r"\b(?:execute|run|follow|obey|do) (?:it|them|what)\b",
    ),
    _rule(
        ("changes_behaviour", 40, "sets a lasting rule for the model"),
        "now on",
        r"\bfrom now on\b[^.!?]{0,20}\b(?:you|respond|answer|always|every)\b",
        r"\bnow on you (?:must|will|have)\b",
    ),
)
"""All phrase rules, in the order of their findings."""
