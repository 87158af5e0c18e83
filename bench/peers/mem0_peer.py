"""mem0 without a model: texts as they are, a hash embedder, an index of faiss in a file."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

from peer import DIMENSIONS, Fact, Peer, hash_vector

os.environ.update(MEM0_TELEMETRY="False", OPENAI_API_KEY="none")

from mem0 import Memory
from mem0.embeddings.base import EmbeddingBase
from mem0.utils.factory import EmbedderFactory


class HashEmbedding(EmbeddingBase):
    """The vectors that every peer gets which needs some."""

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return hash_vector(text)


class Mem0Peer(Peer):
    """`infer=False`: no model reads the text, so nothing is compared or replaced."""

    def __init__(self, folder: Path, slots: Sequence[str]) -> None:
        os.environ["MEM0_DIR"] = str(folder)
        # Its embedders are models; the class of one name is replaced by the hash.
        EmbedderFactory.provider_to_class["huggingface"] = f"{__name__}.HashEmbedding"
        index = {
            "collection_name": "facts",
            "path": str(folder / "faiss"),
            "embedding_model_dims": DIMENSIONS,
        }
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "faiss", "config": index},
                "embedder": {"provider": "huggingface", "config": {"embedding_dims": DIMENSIONS}},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._lock = threading.Lock()

    def write(self, fact: Fact) -> None:
        with self._lock:
            self._memory.add(fact.text, user_id="writer", infer=False)

    def search(self, question: str, limit: int) -> list[str]:
        answer = self._memory.search(question, top_k=limit, filters={"user_id": "writer"})
        return [hit["memory"] for hit in answer["results"]]

    def close(self) -> None:
        self._memory.db.close()


PEER = Mem0Peer
