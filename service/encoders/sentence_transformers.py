"""The encoder of the extra `[sentence-transformers]`: any model folder on this machine.

The folder is read as it stands and never looked up elsewhere: a path that is no folder is
refused before the library sees it, and the library is told to stay on local files. The id
holds a hash of the weights, so that a model that was trained further is another encoder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from .encoder import bad_encoder

_WEIGHTS: Final = (".safetensors", ".bin", ".pt", ".json")
_PIECE: Final = 1 << 20


class SentenceTransformersEncoder:
    """A model of sentence-transformers, run on the CPU."""

    def __init__(self, model: Any, encoder_id: str) -> None:
        """Take a loaded model and the id its vectors get."""
        self._model = model
        self.id = encoder_id
        self.dimensions = int(model.get_embedding_dimension())
        self.max_tokens = int(model.max_seq_length)

    @classmethod
    def load(cls, folder: Path) -> SentenceTransformersEncoder:
        """Open the encoder of a model folder.

        Raises:
            InvalidInput: `bad_encoder` for a path that is no model folder.
            ModuleNotFoundError: when the extra is not installed.
        """
        if not (folder / "modules.json").is_file():
            raise bad_encoder(f"{str(folder)!r} is no folder of a sentence-transformers model")
        library: Any = import_module("sentence_transformers")
        model = library.SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        return cls(model, f"{folder.resolve().name}@{_weights_hash(folder)[:16]}")

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, those around it included."""
        return len(self._model.tokenizer(text, verbose=False)["input_ids"])

    def encode(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Make a vector of length 1 for each text."""
        matrix = self._model.encode(
            list(texts), batch_size=32, normalize_embeddings=True, show_progress_bar=False
        )
        vectors: list[list[float]] = matrix.tolist()
        return vectors


def _weights_hash(folder: Path) -> str:
    """One hash over the names and contents of everything that makes the vectors."""
    files: dict[str, Path] = {}
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix in _WEIGHTS:
            files[path.relative_to(folder).as_posix()] = path

    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        digest.update(name.encode() + b"\0")
        with path.open("rb") as stream:
            while piece := stream.read(_PIECE):
                digest.update(piece)
    return digest.hexdigest()
