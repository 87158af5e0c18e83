"""What the rules of extraction take from German, and what they leave."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tenure.service.extraction.rules import RuleExtractor

NOW = datetime(2026, 6, 17, 9, 30, tzinfo=UTC)

SAID = {
    "Ich heiße Jonas und wohne in Kassel.": ["full_name=Jonas", "home=Kassel"],
    "Nenn mich bitte Kathi.": ["full_name=Kathi"],
    "Ich spreche Türkisch und Deutsch.": ["language=Türkisch", "language=Deutsch"],
    "Meine Muttersprache ist Kroatisch.": ["language=Kroatisch"],
    "Meine Nummer ist 0151 2345678.": ["phone=0151 2345678"],
    "Ich arbeite seit 2020 bei Bosch.": ["employer=Bosch"],
    "Jetzt arbeite ich bei SAP.": ["employer=SAP"],
    "Ich bin Softwareentwicklerin bei Zalando.": ["employer=Zalando", "title=Softwareentwicklerin"],
    "Ich arbeite nicht mehr bei Bosch.": ["deny employer=Bosch"],
    "Ich habe bei Siemens gekündigt.": ["deny employer=Siemens"],
    "Ich habe früher bei Bosch gearbeitet.": ["employer=Bosch until 2026-06-17"],
    "Mein Chef ist Herr Özdemir.": ["manager=Özdemir"],
    "Ich wohne nicht mehr in Kassel, sondern in Bonn.": ["home=Bonn", "deny home=Kassel"],
    "Ich lebe in der Schweiz.": ["home=Schweiz"],
    "Seit 2019 wohne ich in Trier.": ["home=Trier"],
    "Ich bin nach Zürich gezogen.": ["home=Zürich"],
    "Früher habe ich in Ulm gewohnt.": ["home=Ulm until 2026-06-17"],
    "Meine Frau heißt Sabine.": ["partner=Sabine"],
    "Mein Hund Bello ist krank.": ["pet=Bello"],
    "Ich bin allergisch gegen Nüsse und Pollen.": ["allergy=Nüsse", "allergy=Pollen"],
    "Ich habe eine Nussallergie.": ["allergy=Nuss"],
    "Ich bin nicht mehr allergisch gegen Pollen.": ["deny allergy=Pollen"],
    "Ich ernähre mich vegan.": ["diet=vegan"],
    "Ich esse kein Fleisch.": ["avoids=Fleisch"],
    "Ich liebe Jazz, Blues und alte Filme.": ["likes=Jazz", "likes=Blues", "likes=alte Filme"],
    "Ich mag keinen Koriander.": ["dislikes=Koriander"],
    "Ich trinke am liebsten Tee.": ["likes=Tee"],
    "Bitte antworte immer auf Deutsch.": ["preferred_language=Deutsch"],
}

UNSAID = (
    "Ich arbeite gerade an einem Bericht.",
    "Ich arbeite bei Regen nicht gern.",
    "Ich arbeite bei Kaffee und Kuchen am besten.",
    "Ich arbeite für Geld.",
    "Ich bin müde.",
    "Ich bin kein Arzt.",
    "Ich mag dich.",
    "Ich mag meine Arbeit.",
    "Ich wohne in Angst.",
    "Ich wohne in einer WG in Leipzig.",
    "Im Sommer wohne ich in Rom.",
    "Wenn ich in Rom wohne, esse ich Pasta.",
    "Ich würde gern in Wien wohnen.",
    "Stimmt es, dass ich in Köln wohne?",
    "Paul sagt, ich wohne in Hamburg.",
    "Er wohnt in Hamburg.",
    '"Ich wohne in Paris" ist ein Lied.',
    "Übersetze: Ich wohne in Köln.",
    "Wir ziehen im August nach Graz.",
    "Ich bin nach Hause gezogen.",
    "Ich heiße euch willkommen.",
    "Mein Name ist Hase, ich weiß von nichts.",
    "Mein Mann ist Koch.",
    "Mein Chef ist im Urlaub.",
    "Meine Mutter Gottes!",
    "Nenn mich nicht Schatz.",
    "Ich spreche Klartext.",
    "Ich esse heute kein Fleisch.",
    "Ich hasse es, zu spät zu kommen.",
    "Antworte auf Deutsch.",
    # English of the same kind
    "I prefer not to say.",
    "My favourite of the two is the second.",
    "I'm allergic to nonsense.",
    "I'm allergic to Mondays.",
)


def claims_of(sentence: str) -> list[str]:
    claims: list[str] = []
    for claim in RuleExtractor().extract(sentence, at=NOW):
        # What only takes back an opposite stands with every taste.
        if claim.op == "deny" and claim.if_known:
            continue
        op = "" if claim.op == "assert" else f"{claim.op} "
        end = f" until {claim.valid_until:%Y-%m-%d}" if claim.valid_until else ""
        claims.append(f"{op}{claim.slot}={claim.value}{end}")
    return sorted(claims)


@pytest.mark.parametrize("sentence", SAID)
def test_what_is_said_is_found(sentence: str) -> None:
    assert claims_of(sentence) == sorted(SAID[sentence])


@pytest.mark.parametrize("sentence", UNSAID)
def test_what_is_not_said_is_not_found(sentence: str) -> None:
    assert claims_of(sentence) == []
