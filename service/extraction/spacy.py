"""Names by a spaCy pipeline: the extra `[spacy]`, in addition to known names and rules.

A pipeline is a guess of what reads like a name, so it comes last: what the caller states, what
is known and what the rules see win every overlap, its type counts for nothing, and what it alone
finds links to somebody known or waits, and never makes anybody.

Nothing is ever downloaded. The pipeline is one that you have installed (a package or a folder),
or one that you have built, such as a blank one with an `EntityRuler` over your own patterns.
Checklist: C-046.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from ...resolution.extract import Mention, MentionSource
from ...schema.errors import InvalidInput, Unavailable
from ...schema.principal import Scope
from ...schema.slots import ENTITY_TYPES, UNKNOWN_TYPE
from .providers import extractor_library

CONFIDENCE: Final = 0.5
"""A pipeline states none of its own; half says: a guess."""

LABELS: Final[Mapping[str, str]] = {
    "PERSON": "person",
    "PER": "person",
    "ORG": "organization",
    "NORP": UNKNOWN_TYPE,
    "GPE": "location",
    "LOC": "location",
    "FAC": "location",
    "PRODUCT": "product",
    "WORK_OF_ART": "document",
    "LAW": "document",
    "EVENT": "event",
    "MISC": UNKNOWN_TYPE,
}
"""Entity type by spaCy's label; dates, numbers and amounts of money are no names."""


class Pipeline(Protocol):
    """What is used of a spaCy pipeline."""

    max_length: int
    """Characters of one text."""

    @property
    def meta(self) -> Mapping[str, Any]:
        """Return what the pipeline says of itself: language, name, version."""
        ...

    def __call__(self, text: str) -> Any:
        """Return the text with its entities, as spaCy's `Doc`."""
        ...


class SpacyMentions:
    """Finds names with a spaCy pipeline that is already here."""

    name = "spacy"

    def __init__(self, pipeline: Pipeline, labels: Mapping[str, str] = LABELS) -> None:
        """Take a loaded pipeline; a label that is an entity type in capitals needs no entry."""
        self._pipeline = pipeline
        self._labels = {kind.upper(): kind for kind in ENTITY_TYPES} | dict(labels)
        meta = pipeline.meta
        self.version = "_".join(str(meta.get(part, "")) for part in ("lang", "name", "version"))

    @classmethod
    def load(cls, model: str) -> SpacyMentions:
        """The finder of an installed model, by package name or folder.

        Raises:
            Unavailable: `extractor_unavailable` when the extra or the model is not installed.
        """
        library = extractor_library("spacy")
        try:
            return cls(library.load(model))
        except OSError as error:
            raise Unavailable(
                f"the spaCy model {model!r} is not installed, and tenure downloads none; install "
                f"its package (python -m spacy download {model}), or give the folder of a model",
                code="extractor_unavailable",
                model=model,
            ) from error

    def extract(
        self, text: str, *, scope: Scope | None = None, as_of: int = 0
    ) -> tuple[Mention, ...]:
        """The names that the pipeline sees, in order; text beyond its limit is not read."""
        spans = self._pipeline(text[: self._pipeline.max_length]).ents
        return tuple(
            Mention(
                start=span.start_char,
                end=span.end_char,
                surface=span.text,
                type_hint=self._labels[span.label_],
                source=MentionSource.MODEL,
                alias_id=None,
                confidence=CONFIDENCE,
            )
            for span in sorted(spans, key=lambda span: span.start_char)
            if span.label_ in self._labels
        )


def mentions_of(choice: str) -> SpacyMentions:
    """The finder that a setting names: `spacy:MODEL`.

    Raises:
        InvalidInput: `bad_extractor`.
        Unavailable: `extractor_unavailable`.
    """
    kind, _, model = choice.partition(":")
    if kind != "spacy" or not model:
        raise InvalidInput(
            f"mentions={choice!r}: give spacy:MODEL, such as spacy:en_core_web_sm, or an object "
            "with extract()",
            code="bad_extractor",
        )
    return SpacyMentions.load(model)
