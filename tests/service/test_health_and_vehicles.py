"""Conditions, medication and vehicles: what is taken from a sentence, and what is not."""

from __future__ import annotations

from typing import Any

import pytest

import tenure
from tenure.service.extraction.rules import RuleExtractor
from tenure.tests.service.daily_talk import START, Talk
from tenure.tests.service.rule_claims import claims_of

SAID: dict[str, list[str]] = {
    "I have asthma.": ["health_condition=asthma"],
    "I was diagnosed with type 2 diabetes last year.": [
        "health_condition=type 2 diabetes from 2025-01-01"
    ],
    "My doctor diagnosed me with high blood pressure.": ["health_condition=high blood pressure"],
    "I've got ADHD and anxiety.": ["health_condition=ADHD", "health_condition=anxiety"],
    "I suffer from migraines.": ["health_condition=migraines"],
    "I've had epilepsy since I was a kid.": ["health_condition=epilepsy"],
    "My son Leo has asthma.": ["Leo: health_condition=asthma", "child=Leo"],
    "I no longer have asthma.": ["deny health_condition=asthma"],
    "I take metformin twice a day.": ["medication=metformin"],
    "I'm on blood thinners.": ["medication=blood thinners"],
    "My doctor put me on lisinopril.": ["medication=lisinopril"],
    "I've been taking sertraline and ibuprofen for my back.": [
        "medication=ibuprofen",
        "medication=sertraline",
    ],
    "I was prescribed amoxicillin yesterday.": ["medication=amoxicillin from 2026-06-16"],
    "I no longer take metformin.": ["deny medication=metformin"],
    "I drive a Skoda Octavia.": ["vehicle=Skoda Octavia"],
    "We bought a Volvo last week.": ["vehicle=Volvo from 2026-06-08"],
    "My car is a blue Honda Civic.": ["vehicle=Honda Civic"],
    "I just got a new Tesla Model 3.": ["vehicle=Tesla Model 3"],
    "Ich habe Diabetes.": ["health_condition=Diabetes"],
    "Ich leide an Asthma.": ["health_condition=Asthma"],
    "Bei mir wurde Multiple Sklerose diagnostiziert.": ["health_condition=Multiple Sklerose"],
    "Ich habe seit Jahren Bluthochdruck.": ["health_condition=Bluthochdruck"],
    "Ich bin Diabetiker.": ["health_condition=Diabetiker"],
    "Ich hab Migräne und Heuschnupfen.": [
        "health_condition=Heuschnupfen",
        "health_condition=Migräne",
    ],
    "Meine Tochter Eva hat Neurodermitis.": ["Eva: health_condition=Neurodermitis", "child=Eva"],
    "Ich habe kein Asthma mehr.": ["deny health_condition=Asthma"],
    "Ich nehme Ibuprofen.": ["medication=Ibuprofen"],
    "Ich nehme jeden Morgen Metformin und Ramipril.": [
        "medication=Metformin",
        "medication=Ramipril",
    ],
    "Mein Arzt hat mir Cortison verschrieben.": ["medication=Cortison"],
    "Ich muss täglich Blutverdünner nehmen.": ["medication=Blutverdünner"],
    "Ich nehme kein Metformin mehr.": ["deny medication=Metformin"],
    "Ich habe Ramipril abgesetzt.": ["deny medication=Ramipril"],
    "Ich fahre einen Skoda Octavia.": ["vehicle=Skoda Octavia"],
    "Mein Auto ist ein VW Golf.": ["vehicle=VW Golf"],
    "Wir haben uns einen Volvo gekauft.": ["vehicle=Volvo"],
    "Ich habe einen alten Opel Corsa.": ["vehicle=Opel Corsa"],
    "I've been diabetic since I was twelve": ["health_condition=diabetic"],
    "im on sertraline and i have adhd": ["health_condition=adhd", "medication=sertraline"],
    "I have asthma, so smoky bars are out.": ["health_condition=asthma"],
    "I have a heart condition and take beta blockers.": [
        "health_condition=heart condition",
        "medication=beta blockers",
    ],
    "I've just been diagnosed with coeliac disease.": ["health_condition=coeliac disease"],
    "We drive an old VW Passat and a Fiat 500.": ["vehicle=Fiat 500", "vehicle=VW Passat"],
    "We finally sold our Volvo XC60 and bought a Kia EV6.": ["vehicle=Kia EV6"],
    "I traded in my Honda Civic for a Tesla Model Y.": ["vehicle=Tesla Model Y"],
    "I stopped taking Ozempic.": ["deny medication=Ozempic"],
    "My husband Tom takes warfarin.": ["Tom: medication=warfarin", "partner=Tom"],
    "My daughter Mia was diagnosed with type 1 diabetes.": [
        "Mia: health_condition=type 1 diabetes",
        "child=Mia",
    ],
    "My son Leo drives a Mini Cooper.": ["Leo: vehicle=Mini Cooper", "child=Leo"],
    "I have hay fever.": ["health_condition=hay fever"],
    "I've been taking vitamin D every day.": ["medication=vitamin D"],
    "I take 500 mg of metformin daily.": ["medication=metformin"],
    "I have rheumatoid arthritis.": ["health_condition=rheumatoid arthritis"],
    "Actually, I drive a Skoda, not a Seat.": ["correct vehicle=Skoda"],
    "Ich habe Typ-1-Diabetes": ["health_condition=Typ-1-Diabetes"],
    "ich hab asthma": ["health_condition=asthma"],
    "Ich nehme seit zwei Jahren Sertralin.": ["medication=Sertralin from 2024-06-17"],
    "Ich nehme Metformin nicht mehr.": ["deny medication=Metformin"],
    "Ich habe eine Schilddrüsenunterfunktion und nehme L-Thyroxin.": [
        "health_condition=Schilddrüsenunterfunktion",
        "medication=L-Thyroxin",
    ],
    "Wir fahren einen alten VW Passat.": ["vehicle=VW Passat"],
    "Unser Auto ist ein Dacia Duster.": ["vehicle=Dacia Duster"],
    "Mein Sohn Theo hat Asthma.": ["Theo: health_condition=Asthma", "child=Theo"],
    "Ich leide unter chronischen Rückenschmerzen.": [
        "health_condition=chronischen Rückenschmerzen"
    ],
    "Letzte Woche habe ich mir einen Kia gekauft.": ["vehicle=Kia from 2026-06-08"],
    "Ich hatte als Kind Asthma.": ["health_condition=Asthma until 2026-06-17"],
}

UNSAID = [
    "My brother has asthma.",
    "If I had diabetes, I would eat less sugar.",
    "My doctor thinks I might have gout.",
    "Do I have high blood pressure?",
    "I have a headache today.",
    "I take the bus to work.",
    "Should I take ibuprofen?",
    "I'd love to drive a Porsche.",
    "My neighbour drives a BMW.",
    "Mein Bruder hat Asthma.",
    "Wenn ich Diabetes hätte, würde ich weniger Zucker essen.",
    "Der Arzt vermutet, dass ich Gicht habe.",
    "Habe ich Bluthochdruck?",
    "Ich habe heute Kopfschmerzen.",
    "Ich nehme den Bus zur Arbeit.",
    "Soll ich Ibuprofen nehmen?",
    "Ich würde gern einen Porsche fahren.",
    "Meine Nachbarin fährt einen BMW.",
    "I have a meeting about diabetes.",
    "I have diabetes research to read.",
    "I have asthma patients all day.",
    "I have a cancer charity run on Sunday.",
    "My mother has diabetes and I have her recipes.",
    "I have a friend with epilepsy.",
    "I was diagnosed with a broken arm.",
    "I was diagnosed as a fraud.",
    "I write about depression.",
    "I have depression memes for days.",
    "I'm so OCD about my desk.",
    "I have OCD about my desk.",
    "My dog has arthritis.",
    "I read that I have a higher risk of asthma.",
    "The test says I have diabetes.",
    "In my novel, I have epilepsy.",
    "I take my car to work.",
    "I take aspirin's price as a joke.",
    "I take statins seriously.",
    "I took ibuprofen this morning.",
    "I'm on holiday.",
    "I'm on April time.",
    "I'm on it.",
    "I started taking yoga.",
    "I take vitamin classes.",
    "I'm taking insulin to my grandmother.",
    "My doctor put me on hold.",
    "My doctor prescribed rest.",
    "I was prescribed glasses.",
    "My vet prescribed antibiotics for the dog.",
    "I drive a hard bargain.",
    "I drive a rented Ford this week.",
    "I drive a Volvo for a living at work.",
    "I drive a truck for DHL.",
    "I have a Honda generator.",
    "I have a Ford Foundation grant.",
    "I have a Volvo engineer as a neighbour.",
    "We got a Tesla as a taxi.",
    "We bought a Fiat toy car.",
    "I want a Volvo.",
    "I'm going to buy a Volvo.",
    "My dream car is a Porsche.",
    "My car is a mess.",
    "My car is a Wreck.",
    "My other car is a Porsche.",
    "I sold the idea.",
    "I test-drove a Kia.",
    "My boss drives a Tesla.",
    "I almost bought a Volvo.",
    "I would never drive a Fiat.",
    "I had a Volvo in Forza Horizon.",
    "I have a Jaguar.",
    "I have a seat.",
    "I have a smart watch.",
    "I have a ford to cross.",
    "Someone stole a BMW.",
    "We rented a Renault Clio in Rome.",
    "He said I have asthma.",
    "Maybe I have asthma.",
    "I hope I don't have asthma.",
    "I thought I had diabetes.",
    "Do I take metformin?",
    "Should I stop taking metformin?",
    "I have to take ibuprofen later.",
    "I have Crohn on my mailing list.",
    "Ich habe Angst.",
    "Ich habe Krebs gegessen.",
    "Ich habe Grippe.",
    "Ich habe einen Termin wegen Asthma.",
    "Ich habe Diabetes im Studium behandelt.",
    "Meine Mutter hat Diabetes und ich habe Angst davor.",
    "Ich habe heute Migräneartige Schmerzen.",
    "Ich bin Arzt für Diabetiker.",
    "Ich nehme Platz.",
    "Ich nehme ein Taxi.",
    "Ich nehme Ibuprofen nicht.",
    "Ich nehme Ibuprofen mit nach Hause.",
    "Ich nehme an, dass ich Asthma habe.",
    "Ich nehme heute mal Aspirin.",
    "Ich nahm gestern Ibuprofen.",
    "Soll ich Metformin absetzen?",
    "Ich fahre einen Umweg.",
    "Ich fahre einen geliehenen Golf.",
    "Ich fahre einen Golf zur Werkstatt.",
    "Ich habe einen Golf Kurs gebucht.",
    "Ich habe einen Polo an.",
    "Ich habe einen Volvo gesehen.",
    "Ich habe einen Volvo gemietet.",
    "Ich hätte gern einen Volvo.",
    "Ich habe das Auto verkauft.",
    "Mein Nachbar hat seinen Golf verkauft.",
    "Der Arzt sagt, ich habe Diabetes.",
    "Vielleicht habe ich Asthma.",
    "Mein Traumauto ist ein Porsche.",
    "Mein Auto ist ein Schrotthaufen.",
    "Ich muss noch Ibuprofen nehmen.",
    "Ich habe die Krankheit besiegt.",
    "Ich habe eine Störung im Netz.",
    "Ich habe eine Betriebsstörung.",
    "Ich habe Schlafstörung im Chor gesungen.",
    "Ich war mit Kinderkrankheiten beschäftigt.",
    "Ich habe eine Leidenschaft für Autos wie den VW Golf.",
    "Ich habe Spinnenkrankheiten studiert.",
    "Mir wurde Ruhe verschrieben.",
    "Hast du Asthma?",
    '"I have asthma" is what the form says.',
    "My form says: I have asthma.",
    "I have type O blood.",
    "I have high hopes.",
    "I have a reading disorder book.",
    "I have a Tesla share.",
    "I sold Tesla stock.",
    "I have a sleeping disorder, haha.",
    "I have Netflix syndrome.",
    "I have Stockholm syndrome.",
    "I have a love disorder.",
    "Imagine I have diabetes.",
    "Pretend I drive a Ferrari.",
    "I used to think I have ADHD.",
    "I'm not sure I have asthma.",
    "I have no asthma.",
    "I drive a Ferrari in my dreams.",
    "Every time I take ibuprofen I feel sick.",
    "I get migraines when I read.",
    "I can't take ibuprofen.",
    "I take two ibuprofen when my head hurts.",
]

ENDS = [
    ("I have asthma.", "I don't have asthma."),
    ("I have asthma.", "My asthma is gone."),
    ("I have asthma.", "I used to have asthma."),
    ("I have asthma.", "That's not true anymore."),
    ("I have asthma.", "Forget that I have asthma, that was wrong."),
    ("I have asthma.", "I never had asthma."),
    ("I have cancer.", "I beat cancer."),
    ("I'm diabetic.", "I'm not diabetic after all."),
    ("I take metformin.", "I'm off metformin."),
    ("I take metformin.", "I don't take metformin anymore."),
    ("I take metformin.", "Scratch that."),
    ("I take metformin.", "I've never taken metformin."),
    ("I drive a Skoda Octavia.", "I sold the Skoda."),
    ("I take metformin.", "I used to take metformin."),
    ("I drive a Skoda Octavia.", "We used to have a Skoda Octavia."),
    ("I drive a Skoda Octavia.", "My Skoda was stolen."),
    ("I drive a Skoda Octavia.", "We no longer have the Skoda."),
    ("I drive a Skoda Octavia.", "I've never owned a Skoda Octavia."),
    ("Ich habe Diabetes.", "Ich habe kein Diabetes."),
    ("Ich habe Asthma.", "Mein Asthma ist weg."),
    ("Ich habe Asthma.", "Ich hatte nie Asthma."),
    ("Ich habe Asthma.", "Vergiss, dass ich Asthma habe, das war falsch."),
    ("Ich nehme Ibuprofen.", "Ich nehme kein Ibuprofen."),
    ("Ich nehme Ibuprofen.", "Ibuprofen nehme ich nicht mehr."),
    ("Ich nehme Ibuprofen.", "Früher habe ich Ibuprofen genommen."),
    ("Ich fahre einen VW Golf.", "Früher hatte ich einen VW Golf."),
    ("Ich fahre einen VW Golf.", "Ich habe den Golf verkauft."),
    ("Ich fahre einen VW Golf.", "Ich fahre keinen VW Golf mehr."),
    ("Ich fahre einen VW Golf.", "Ich fahre den Golf nicht mehr."),
]
SLOTS = ("health_condition", "medication", "vehicle")


@pytest.fixture
def talk() -> Any:
    """An empty store to talk to."""
    talk = Talk()
    with talk.store:
        yield talk


@pytest.mark.parametrize("sentence", SAID)
def test_what_is_said_is_found(sentence: str) -> None:
    assert claims_of(sentence) == SAID[sentence]


@pytest.mark.parametrize("sentence", UNSAID)
def test_what_only_looks_like_it_is_left(sentence: str) -> None:
    slots = {claim.slot for claim in RuleExtractor().extract(sentence, at=START)}
    assert slots.isdisjoint(SLOTS)


@pytest.mark.parametrize(("statement", "end"), ENDS)
def test_what_is_over_or_taken_back_goes(talk: Talk, statement: str, end: str) -> None:
    talk.say(statement)
    assert [talk.values(slot) for slot in SLOTS].count([]) == 2
    talk.say(end)
    assert [talk.values(slot) for slot in SLOTS] == [[], [], []]


@pytest.mark.parametrize(
    ("statement", "question", "value"),
    [
        ("I have asthma.", "Which illnesses do I have?", "health condition: asthma"),
        ("I take metformin.", "What medication do I take?", "medication: metformin"),
        ("I drive a Skoda Octavia.", "Which car do I have?", "vehicle: Skoda Octavia"),
        ("Ich habe Diabetes.", "Welche Krankheiten habe ich?", "health condition: Diabetes"),
        ("Ich nehme Ibuprofen.", "Welche Medikamente nehme ich?", "medication: Ibuprofen"),
        ("Ich fahre einen Golf.", "Welches Auto fahre ich?", "vehicle: Golf"),
        ("I have high blood pressure.", "Is a sauna safe for me?", "high blood pressure"),
    ],
)
def test_it_is_shown_to_whom_asks(talk: Talk, statement: str, question: str, value: str) -> None:
    talk.say(statement, *(f"I like song{number}." for number in range(20)))
    assert value in talk.context(question)


def test_nobody_else_is_shown_or_takes_back_somebody_s_health(talk: Talk) -> None:
    talk.say("I have asthma and take metformin.")
    envelope = talk.memory("bob").compile("conversation", "Which illnesses does ann have?")
    assert "asthma" not in envelope.text

    talk.say("Forget that I have asthma.", "I no longer take metformin.", user="bob")
    assert [talk.values(slot) for slot in SLOTS] == [["asthma"], ["metformin"], []]
    assert talk.values("health_condition", user="bob") == []


def test_a_tenant_may_label_health_as_personal(talk: Talk) -> None:
    talk.store.vocabulary.define_slot("health_condition", sensitivity=("personal",))
    talk.say("I have asthma.")
    assert "health condition: asthma" in talk.context("Which illnesses do I have?")


HEALTH = ("allergy", "diet", "health_condition", "medication")


@pytest.mark.parametrize(
    ("labels", "own", "others"),
    [
        ((), ("nuts",), ("nuts",)),
        (("personal",), ("nuts",), ("[masked]",)),
        (("special_personal",), (), ()),
    ],
)
def test_health_is_masked_where_a_tenant_labels_it_and_by_default_known_to_ones_own_agent(
    labels: tuple[str, ...], own: tuple[str, ...], others: tuple[str, ...]
) -> None:
    ann = {"name": "Ann", "type": "person", "external_ids": {"user": "ann"}}
    with tenure.connect(":memory:") as memory:
        assert all(not memory.vocabulary.slots()[slot].sensitivity for slot in HEALTH)
        if labels:
            memory.vocabulary.define_slot("allergy", sensitivity=labels)
        agent = memory.bind(tenure.Principal(user="ann"))
        entity = agent.write(ann, "allergy", "nuts", scope={}).entity
        assert entity is not None
        for user, values in (("ann", own), ("bob", others)):
            reader = memory.bind(tenure.Principal(user=user))
            assert reader.as_of().slot(entity, "allergy").values == values
