"""Comparing envelopes over a store: what a compile is worth without some of its objects.

The snapshot is read once and compiled again for every question, so all envelopes of one
ablation see the same state. Checklist: C-178.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...compiler.compile import Circumstances, compile_snapshot, context_of
from ...compiler.envelope import compare as ablation
from ...compiler.envelope.compare import Ablation
from ...compiler.envelope.envelope import Envelope
from ...compiler.gathering.gather import gather
from ...compiler.gathering.mentions import ExactBinder
from ...compiler.request.parse import parse_request
from ...compiler.trace.manifest import stored_ids
from ..backend.caller import backend_of
from ..reading.view import point_of, words_of
from .memory import Memory


def ablate(
    memory: Memory,
    request: Mapping[str, Any],
    *,
    utility: Callable[[Envelope], float],
    objects: Sequence[str] | None = None,
    pairs: bool = False,
) -> Ablation:
    """Return how the utility of a compile changes without each object, and without each pair.

    `request` holds the parameters of `Memory.compile`, `task` among them. `objects` are the ids
    to leave out, or names of sections; by default every stored object that the whole envelope
    holds. With `pairs` every two are left out too: `.synergies` need each other, of
    `.redundancies` one would do.

    Raises:
        InvalidInput: for what `compile` would refuse.
    """
    parameters = dict(request)
    view = memory.as_of(parameters.pop("valid", None), parameters.pop("tx", None))
    compile_request = parse_request(parameters.pop("task", ""), **parameters)
    # One snapshot for every question: a write beside it would look like an effect of leaving out.
    with backend_of(memory).store.reading(memory.principal.tenant) as reader:
        circumstances = Circumstances(
            principal=memory.principal,
            vocabulary=words_of(view),
            policy=memory.policy,
            point=point_of(view),
            keys=reader.keys(),
        )
        context = context_of(compile_request, circumstances)
        binder = ExactBinder(reader, context.scopes, point_of(view).tx_us)
        snapshot = gather(context, reader, bind=binder)

    def worth(omitted_ids: frozenset[str]) -> float:
        return utility(compile_snapshot(snapshot, replace(context, ablation=omitted_ids)))

    if objects is None:
        envelope = compile_snapshot(snapshot, context)
        # Items of the request are the question itself, and no answer is worth less without them.
        objects = stored_ids(envelope.manifest)
    return ablation.ablate(objects, worth, pairs=pairs)
