"""Re-embedding: vectors for every claim that has none of an encoder.

It is how a store gets its first encoder, changes to another, and makes up for vectors that a
crash or a failing encoder left out. It asks the store what is missing and makes exactly that,
batch by batch, so it can be stopped at any time and run again. Vectors of other encoders stay.
"""

from __future__ import annotations

from ...schema.errors import InvalidInput
from ...schema.principal import OPERATE, Principal
from ..backend.backend import Backend
from ..encoders.encoder import Encoder
from ..encoders.progress import Progress, ShowProgress


def re_embed(
    backend: Backend,
    principal: Principal,
    encoder: Encoder | None = None,
    *,
    progress: ShowProgress | None = None,
) -> Progress:
    """Make the vectors that the caller's tenant lacks; the store's own encoder by default.

    `progress` is called after each batch.

    Raises:
        Forbidden: `privilege_required`.
        InvalidInput: `bad_encoder` when there is none, `bad_vector` when it fails.
    """
    from ..encoders.embedding import Embedding  # it needs numpy, which a server need not have

    principal.require(OPERATE)
    backend.open(principal.tenant)
    embedding = backend.embedding
    if encoder is None or (embedding is not None and encoder is embedding.encoder):
        if embedding is None:
            raise InvalidInput(
                "this store was opened without an encoder; connect(encoder='onnx'), or give one",
                code="bad_encoder",
            )
        embedding.flush()
        return embedding.catch_up(principal.tenant, progress)

    return Embedding(backend.store, encoder).catch_up(principal.tenant, progress)
