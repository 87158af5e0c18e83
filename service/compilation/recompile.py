"""Asking the request of a stored envelope again under other circumstances.

A replay gives the same bytes; here the store is searched again, so that what has changed, or
would change, can be seen. Nothing is kept. The text is made for the caller that the envelope
records, and shown only to who may read every object in it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple, TypedDict, cast

from ...compiler.envelope.compare import EnvelopeDiff, diff_envelopes
from ...compiler.envelope.envelope import Envelope
from ...compiler.request.parse import request_from_json
from ...compiler.trace.manifest import Manifest, principal_of
from ...schema.errors import Forbidden
from ...schema.records import short_repr
from ...schema.values import moment
from ...schema.write import Moment
from ...store.port.store import Point, Reader
from ..backend.caller import Caller, check_field_names, instant
from ..reading.view import View
from .compile import Compiler, may_read


class TextLine(NamedTuple):
    """A line of a difference of two texts."""

    sign: str
    """`=` in both, `-` in the first, `+` in the second alone."""
    text: str


class RequestTerms(TypedDict, total=False):
    """What a request is asked under; what is left out stays as the envelope records it."""

    budget_tokens: int
    roles: Sequence[str]
    valid: Moment
    tx: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """An envelope next to what its request gives under other circumstances."""

    __repr__ = short_repr

    lines: tuple[TextLine, ...]
    """The two texts, line by line."""
    tokens_before: int
    tokens_after: int
    same_tokens: int | None
    """Tokens before the first that differs: what a cache of the prefix keeps. None: equal texts."""
    added_ids: tuple[str, ...]
    """Object ids that only the second text holds, in its order."""
    removed_ids: tuple[str, ...]
    budget_tokens: int
    roles: tuple[str, ...]
    valid: datetime | None
    tx: datetime | None


@dataclass(frozen=True, slots=True)
class Recompiler(Caller):
    """Requests of stored envelopes asked again, for one caller to look at."""

    def what_if(self, envelope_id: str, terms: RequestTerms) -> WhatIf:
        """An envelope next to what its request gives under other circumstances.

        Raises:
            Forbidden: `privilege_required`, when one of the two holds what the caller may not
                read.
            InvalidInput: for a budget, role or time that is none.
            NotFound: `unknown_object`, `erased`.
        """
        check_field_names(RequestTerms, terms, "term of a request")
        first = Compiler(self._backend, self.principal).replay(envelope_id)
        with self._reading() as reader:
            point = _point(first.manifest, reader, terms)
            second = self._envelope(first.manifest, reader, point, terms)
            if not may_read(reader, second, self.principal, self._backend.policy):
                raise Forbidden(
                    "under these circumstances the text holds what you may not read",
                    code="privilege_required",
                )

        changes = diff_envelopes(first, second)
        return WhatIf(
            lines=tuple(text_lines(first.text, second.text)),
            tokens_before=first.tokens,
            tokens_after=second.tokens,
            same_tokens=tokens_before(changes, second),
            added_ids=changes.added,
            removed_ids=changes.removed,
            budget_tokens=int(second.trace.budget["budget_tokens"]),
            roles=tuple(sorted(principal_of(second.manifest).roles)),
            valid=moment(second.manifest.valid_us),
            tx=moment(second.manifest.tx_us),
        )

    def _envelope(
        self, manifest: Manifest, reader: Reader, point: Point, terms: RequestTerms
    ) -> Envelope:
        """What the request of a manifest gives over a reader at a point, for its own caller.

        Raises:
            InvalidInput: `bad_request`, for a budget that is none.
        """
        owner = principal_of(manifest)
        request = request_from_json(manifest.request)
        roles, budget_tokens = terms.get("roles"), terms.get("budget_tokens")
        if roles is not None:
            # The principal refuses a text, whose letters would be roles, and freezes the rest.
            owner = replace(owner, roles=cast("frozenset[str]", roles))
        if budget_tokens is not None:
            request = replace(request, budget_tokens=budget_tokens)

        view = View(self._backend, owner, point, self._backend.words(self._tenant, reader))
        # Who was meant, though not named, is no part of the request and stays who it was.
        return Compiler(self._backend, owner).envelope(reader, view, request, manifest.people)


def _point(manifest: Manifest, reader: Reader, terms: RequestTerms) -> Point:
    """The recorded point, but for what is stated otherwise."""
    valid, tx = terms.get("valid"), terms.get("tx")
    valid_us = manifest.valid_us if valid is None else instant(valid, field="valid")
    tx_us = manifest.tx_us if tx is None else instant(tx, field="tx")
    return Point(valid_us, min(tx_us, reader.clock().last_us))


def tokens_before(changes: EnvelopeDiff, second: Envelope) -> int | None:
    """What a cache could keep of a second text; None where all is equal."""
    if changes.first_change is None:
        return None
    # A cache keeps a prefix of tokens, so the place counts tokens of the second text.
    return second.plan.counter.count(second.text[: changes.first_change])


def text_lines(first: str, second: str) -> Iterator[TextLine]:
    r"""The lines of two texts with what each has alone.

    >>> [tuple(line) for line in text_lines("a\nb", "a\nc")]
    [('=', 'a'), ('-', 'b'), ('+', 'c')]
    """
    signs = {" ": "=", "-": "-", "+": "+"}
    for line in difflib.ndiff(first.splitlines(), second.splitlines()):
        if line[0] in signs:
            yield TextLine(signs[line[0]], line[2:])
