"""LangChain: a memory as a retriever of documents.

    retriever = langchain_retriever(memory, limit=5)
    documents = retriever.invoke("Where is Sam's office?")

What comes back is what the caller of the memory may see, true now, or at the times that were asked
for. Each document names its object, so that `memory.explain` tells where it comes from.
langchain-core 1.7.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...schema.answers import SearchHit
from ...schema.write import Moment

if TYPE_CHECKING:
    from ..client.memory import Memory


def langchain_retriever(
    memory: Memory, *, limit: int = 10, valid: Moment = None, tx: Moment = None
) -> Any:
    """Return a LangChain `BaseRetriever` over a memory.

    `limit` is the number of documents at most; `valid` and `tx` are the times of `as_of`, now
    by default, at each call anew.

    Raises:
        ModuleNotFoundError: without the extra `[langchain]`.
    """
    retrievers: Any = import_module("langchain_core.retrievers")
    documents: Any = import_module("langchain_core.documents")

    class TenureRetriever(retrievers.BaseRetriever):  # type: ignore[misc]
        """A memory's search as LangChain calls it."""

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Any]:
            hits = memory.as_of(valid, tx).search(query, limit).hits
            texts: list[Any] = []
            for hit in hits:
                name, text = hit.object.object_id, hit.object.content
                texts.append(documents.Document(id=name, page_content=text, metadata=_fields(hit)))
            return texts

    return TenureRetriever()


def _fields(hit: SearchHit) -> dict[str, Any]:
    """What a document says of itself beside its text."""
    source = hit.object
    return {
        "object_id": source.object_id,
        "score": hit.score,
        "source": source.source_origin,
        "authority_level": int(source.authority_level),
        "status": source.contradiction_status.value,
        "valid_from": None if source.valid_from is None else source.valid_from.isoformat(),
        "valid_until": None if source.valid_until is None else source.valid_until.isoformat(),
    }
