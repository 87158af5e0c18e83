"""Areas: the everyday fields that questions and slots speak of in different words.

"Can you suggest a movie?" shares no word with a slot `liked_actors`, yet both are about film. A
text belongs to the areas whose words it holds; an encoder finds what no list foresees.

>>> sorted(areas_of("Can you suggest a movie?"))
['film']
>>> sorted(areas_of("climates that the user likes"))
['travel']
"""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import Final

from .relevance import terms_of

_WORDS: Final = MappingProxyType(
    {
        "film": "film movie cinema actor actress director series show episode watch watched "
        "streaming documentary screen television tv",
        "music": "music song songs album artist band singer concert playlist listen listened "
        "genre track melody composer",
        "books": "book books novel author reading read literature library writer poem poetry "
        "bestseller story",
        "food": "food meal eat eating cook cooking recipe dish restaurant dinner lunch breakfast "
        "cuisine snack ingredient drink coffee tea vegetarian vegan allergy diet",
        "travel": "travel trip vacation holiday destination visit visited place region climate "
        "country city flight hotel tour beach journey sightseeing",
        "sport": "sport workout exercise gym run running training fitness team match steps hike "
        "hiking yoga swim",
        "health": "health doctor medicine medication allergy symptom sleep therapy illness",
        "shopping": "shop shopping buy purchase price brand gift store budget",
        "home": "home house apartment garden furniture kitchen room decoration",
        "style": "clothes clothing fashion wear outfit shoes style colour color dress",
        "games": "game games play player puzzle console board",
        "work": "work job office meeting colleague project career deadline",
        "learning": "learn learning course study lesson language school university teach",
        "technology": "computer phone software app device laptop programming code tool editor",
        "money": "money expense spending savings bank invoice cost budget salary",
    }
)


@lru_cache(maxsize=1)
def _area_of_term() -> dict[str, frozenset[str]]:
    areas: dict[str, set[str]] = {}
    for area, words in _WORDS.items():
        for term in terms_of(words):
            areas.setdefault(term, set()).add(area)
    return {term: frozenset(members) for term, members in areas.items()}


@lru_cache(maxsize=4096)
def areas_of(text: str) -> frozenset[str]:
    """The areas that the words of a text belong to."""
    known = _area_of_term()
    areas: set[str] = set()
    for term in terms_of(text):
        areas |= known.get(term, frozenset())
    return frozenset(areas)
