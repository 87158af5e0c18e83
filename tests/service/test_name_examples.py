"""Names as people write them: what becomes one, what a person is asked, what stays two.

Each pair goes the whole way: the first is written, then it is asked whom the second means.
"""

import pytest

from tenure import EntityRef, connect

ORG, PERSON, SYSTEM = "organization", "person", "system"
BIND, REVIEW, SUGGEST, NEW = "bind", "review", "suggest", "new"


def outcome(known: EntityRef, name: str) -> tuple[str, frozenset[str]]:
    """What becomes of a name, and the vetoes and lines of evidence of its first candidate."""
    with connect(":memory:") as memory:
        memory.vocabulary.define_slot("noted", description="what was noted")
        memory.write(known, slot="noted", value="x")
        resolution = memory.entities.resolve(EntityRef(name=name, type=known.type))

    reasons: set[str] = set()
    for candidate in resolution.candidates[:1]:
        reasons.update(candidate.vetoes)
        reasons.update(feature.name for feature in candidate.features)

    is_suggested = resolution.reason == "possible_same_as"
    return SUGGEST if is_suggested else resolution.decision.value, frozenset(reasons)


@pytest.mark.parametrize(
    ("kind", "known", "name", "decision", "reason"),
    [
        # ordinals and number words
        (ORG, "First National Bank", "1st National Bank", BIND, ""),
        (ORG, "Three Rivers Trust", "3 Rivers Trust", BIND, ""),
        (ORG, "Twentieth Century Fox", "20th Century Fox", SUGGEST, "number_conflict"),
        # scripts, with as many words
        (PERSON, "Владимир Путин", "Vladimir Putin", BIND, ""),
        (PERSON, "محمد علي", "Muhammad Ali", SUGGEST, "rendering"),
        (PERSON, "김 민수", "Kim Minsu", SUGGEST, "rendering"),
        (PERSON, "Pyotr Chaikovsky", "Пётр Чайковский", SUGGEST, "rendering"),
        # nicknames, in one language and across
        (PERSON, "Robert Smith", "Bob Smith", REVIEW, "nickname_only"),
        (PERSON, "Bill Meyer", "Wilhelm Meyer", SUGGEST, "rendering"),
        (PERSON, "José García", "Pepe García", SUGGEST, "rendering"),
        # initials
        (PERSON, "Sam Rivera", "S. Rivera", REVIEW, "nickname_only"),
        (PERSON, "John F. Kennedy", "J. F. Kennedy", REVIEW, "nickname_only"),
        # short forms that everybody knows
        (SYSTEM, "Kubernetes", "K8s", BIND, ""),
        (ORG, "The Hague Institute", "Hague Institute", BIND, ""),
        # departments
        (ORG, "Department of Energy", "Dept. of Energy", BIND, ""),
        (ORG, "University of York", "Univ. of York", BIND, ""),
        (ORG, "Ministry of Finance", "Min. of Finance", SUGGEST, "short_name"),
        (ORG, "HR Department", "Human Resources", SUGGEST, "short_name"),
        (ORG, "Human Resources Department", "HR Department", SUGGEST, "short_name"),
        (ORG, "R&D Department", "Research and Development", SUGGEST, "short_name"),
        (ORG, "Human Resources", "HR", REVIEW, "acronym_only"),
        # paths
        (SYSTEM, "src/app/main.py", "app/main.py", REVIEW, "extra_tokens"),
        (SYSTEM, "lib/main.py", "app/main.py", NEW, ""),
        # suffixes, numerals, negations and words that make another one
        (PERSON, "John Rockefeller", "John Rockefeller Jr.", REVIEW, "extra_tokens"),
        (PERSON, "Sam Rivera", "Sam Rivera Sr.", REVIEW, "extra_tokens"),
        (SYSTEM, "Phase II", "Phase III", NEW, "number_conflict"),
        (ORG, "Acme UK", "Acme", REVIEW, "distinction"),
        (ORG, "North Bank", "South Bank", NEW, "distinction"),
        (ORG, "Non-Violence Group", "Violence Group", REVIEW, "distinction"),
        (ORG, "anti-spam team", "spam team", REVIEW, "distinction"),
        (SYSTEM, "order-service-test", "order-service", REVIEW, "distinction"),
        (SYSTEM, "order-service-old", "order-service-dev", SUGGEST, "distinction"),
        # near names of two people
        (PERSON, "Anna Schmidt", "Anna Schmitt", REVIEW, ""),
        (PERSON, "Wei Zhang", "Wei Zheng", REVIEW, ""),
        # names that are drawn alike
        (ORG, "Paypal", "P\u0430ypal", REVIEW, "transliterated"),
        (ORG, "Modern Labs", "Modem Labs", SUGGEST, "look_alike"),
    ],
)
def test_what_becomes_of_a_name(
    kind: str, known: str, name: str, decision: str, reason: str
) -> None:
    result, reasons = outcome(EntityRef(name=known, type=kind), name)
    assert (result, not reason or reason in reasons) == (decision, True), sorted(reasons)


@pytest.mark.parametrize(
    ("known", "alias", "name", "decision"),
    [
        ("Kubernetes", "KB", "KB", BIND),
        ("PostgreSQL Cluster", "PG cluster", "PG Cluster", BIND),
    ],
)
def test_what_a_learned_alias_means(known: str, alias: str, name: str, decision: str) -> None:
    result, _ = outcome(EntityRef(name=known, type=SYSTEM, aliases=(alias,)), name)
    assert result == decision
