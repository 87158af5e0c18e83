"""The compile use-case: one snapshot, one envelope, and its manifest kept.

The compiler is handed everything it depends on; what belongs to the run alone (run id, wall
time, latency) is laid beside the envelope afterwards. The manifest is stored through the
backend's worker after the call returns; closing the store waits for it.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypedDict

from ...compiler.compile import compile as compile_envelope
from ...compiler.envelope.envelope import Envelope
from ...compiler.gathering.forecast import opening_names
from ...compiler.gathering.mentions import ExactBinder, compile_names
from ...compiler.gathering.nearest import vectors_wanted
from ...compiler.ir.context import project_of, scopes_of
from ...compiler.replay import replay
from ...compiler.request.parse import parse_request
from ...compiler.request.request import CompileRequest, WindowPin
from ...compiler.trace.manifest import Manifest, manifest_from_json, stored_ids
from ...resolution.known import Lookup
from ...resolution.names import with_visible_identifiers
from ...resolution.register import Register
from ...schema.artifact import is_address
from ...schema.errors import Forbidden, InvalidInput
from ...schema.limits import LENGTHS, check_text
from ...schema.policy import Policy
from ...schema.principal import AUDIT, TENANT_SCOPE, Sight
from ...schema.record_json import from_plain, to_plain
from ...schema.slots import Vocabulary
from ...schema.values import moment
from ...schema.vocabulary import SlotKind
from ...schema.window_policy import DEFAULT_WINDOW
from ...schema.write import Moment
from ...store.port.collector import collector_paused
from ...store.port.records import Names, StandingSubjects, SubjectSpan
from ...store.port.store import Point, Reader
from ..artifacts.artifacts import ArtifactKeeper, Artifacts
from ..artifacts.openings import Openings
from ..backend.caller import Caller, instant
from ..backend.spans import COMPILE
from ..reading.envelopes import StoredEnvelope, manifest_of, unknown_envelope
from ..reading.signatures import may_open, sign_manifest, verify
from ..reading.view import View, pinned, point_of, words_of
from .originals import LISTS, with_originals
from .readable import check_personal_data

if TYPE_CHECKING:
    from ..reading.nearest import VisibleVectors

_LOG = logging.getLogger("tenure.compile")


def policy_from_json(text: str) -> Policy:
    """The policy pack of canonical JSON, for replays under an older policy.

    Raises:
        InvalidInput: `bad_policy` for a pack that this version does not know.
    """
    try:
        groups = json.loads(text)
        # The pack is stored without the window's group, which no envelope of it depends on.
        policy: Policy = from_plain(Policy, {**groups, "window": to_plain(DEFAULT_WINDOW)})
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"the stored policy cannot be read: {error}", code="bad_policy"
        ) from error
    return policy


Replayable = Manifest | Envelope | StoredEnvelope | Mapping[str, Any] | str
"""What names an envelope to replay."""


_LISTED_PEOPLE: Final = 8
"""How many of those with wishes a manifest lists at most: two tell that nobody is meant."""


class RequestFields(TypedDict, total=False):
    """What `Memory.compile` takes beside the task and the query."""

    user_request: str
    hypothesis: str
    goal: str | None
    step: str | None
    acceptance: Sequence[Any]
    constraints: Sequence[Any]
    entities: Sequence[str]
    user: str | None
    """Whom the request is for, by the id that principals bear; None: the caller's own user."""
    tools: Sequence[Any]
    history: Sequence[Any]
    evidence: Sequence[Any]
    skills: Sequence[Any]
    pinned: Sequence[Any]
    progress: Sequence[Any]
    errors: Sequence[Any]
    project: str | None
    query_vector: Sequence[float] | None
    budget_tokens: int
    reserve_tokens: int | None
    model: str
    profile: str
    signals: Mapping[str, float | str] | None
    valid: Moment
    tx: Moment


@dataclass(frozen=True, slots=True)
class Compiler(Caller):
    """The compile use-case of one caller."""

    def compile(
        self, task: str, parameters: Mapping[str, Any], window: WindowPin | None = None
    ) -> Envelope:
        """Return the envelope of a task at its valid and tx, and store its manifest.

        `window` is the history that stands beside it, where a session keeps that.
        """
        began = time.perf_counter()
        with collector_paused(), self._backend.span_of(COMPILE, self._tenant) as span:
            request, user = self._request(task, parameters, window), _stated_user(parameters)
            # Read before the store is: a server is told at once for when it will be asked.
            now_us = self._backend.now_us()
            with self._reading(partial(self._names, request, user, parameters, now_us)) as reader:
                valid, tx = parameters.get("valid"), parameters.get("tx")
                if valid is None:
                    valid = moment(max(now_us, reader.clock().last_us))
                view = pinned(self._backend, self.principal, reader, valid, tx)
                if user is not None:
                    sight = self.principal.sight()
                    named_id = _person(user, reader, sight, point_of(view))
                    request = replace(request, entities=(*request.entities, named_id))
                people: tuple[str, ...] = ()
                if self._is_for_nobody(request):
                    people = self._people_with_wishes(reader, view)
                envelope = self.envelope(reader, view, request, people)

            if span is not None:
                span.query(request.query)
                objects = envelope.trace.compiled_objects
                span.figures(tokens=envelope.tokens, objects=len(objects))

        envelope = self._with_run_facts(envelope, began)
        # Last: its thread would share the interpreter with what follows.
        self._keep(envelope, window.session if window else None)

        return envelope

    def _request(
        self, task: str, parameters: Mapping[str, Any], window: WindowPin | None
    ) -> CompileRequest:
        """The request of a call, with the vector of its question."""
        self._backend.open(self._tenant)
        fields = {name: value for name, value in parameters.items() if name != "user"}
        fields = _moments(fields)
        if any(map(fields.get, LISTS)):
            fields = with_originals(fields, Artifacts(self._backend, self.principal))
        request = parse_request(task, **fields)
        request = replace(request, window=window)
        embedding = self._backend.embedding
        question = request.query or request.wish or request.goal
        if self._backend.policy.compile.hyde and request.hypothesis:
            question = f"{question}\n{request.hypothesis}"
        if embedding is None and request.query_vector is not None:
            raise InvalidInput(
                "query_vector is compared with vectors, and this store was opened without an "
                "encoder; leave it out, or open the store with connect(encoder=…), "
                "which needs: pip install 'tenure[vectors]'",
                code="bad_encoder",
            )
        if embedding is not None and request.query_vector is None and question.strip():
            request = replace(request, query_vector=embedding.query(question))
        return request

    def _names(
        self,
        request: CompileRequest,
        user: str | None,
        parameters: Mapping[str, Any],
        now_us: int,
    ) -> Names:
        """What the reader of a compile is opened for."""
        policy = self._backend.policy
        is_hybrid = self._backend.embedding is not None and request.query_vector is not None
        # The past has a reading of its own, and what lies near a vector is known later.
        if is_hybrid or parameters.get("tx") is not None:
            return compile_names(request, self.principal, policy.compile, user)

        valid = parameters.get("valid")
        valid_us = now_us if valid is None else instant(valid, field="valid")
        names = opening_names(request, self.principal, policy, valid_us, user)
        if names.reads is None or user or not self._is_for_nobody(request):
            return names

        # By the words that this process knows: what was defined since is asked for anew.
        wishes = _wishes_after("", self._backend.known_words(self._tenant))
        return names._replace(reads=names.reads._replace(wishes=wishes))

    def _is_for_nobody(self, request: CompileRequest) -> bool:
        """Whether neither the caller nor the request says whom it is for."""
        return not (self.principal.user or request.entities)

    def _people_with_wishes(self, reader: Reader, view: View) -> tuple[str, ...]:
        """Whom a question may be asked for when nobody says so: those whose wishes are known.

        An only one is meant. Of several none is, and the first few tell that there are several.
        """
        # Looked for by callers without a user alone: whoever has one asks for that one, and a
        # tenant of many people keeps their wishes in the scopes of these.
        people: set[str] = set()
        last = ""
        while len(people) < _LISTED_PEOPLE:
            slots, span = _wishes_after(last, words_of(view))
            subjects = reader.standing_subjects(
                slots, sight=self.principal.sight(), point=point_of(view), span=span
            )
            if not subjects:
                break

            # One person may be written of under many ids, so several ids are not several people.
            known = reader.known(Lookup(entity_ids=subjects), scopes=(), tx_us=point_of(view).tx_us)
            people.update(known.canonical.get(raw, raw) for raw in subjects)
            if len(subjects) < _LISTED_PEOPLE:
                break  # these were the last
            last = subjects[-1]

        return tuple(sorted(people)[:_LISTED_PEOPLE])

    def envelope(
        self, reader: Reader, view: View, request: CompileRequest, people: tuple[str, ...] = ()
    ) -> Envelope:
        """The envelope of a request over a reader, signed; it is not kept.

        `people` are those whose wishes may apply although the request does not name them.
        """
        keys, embedding = reader.keys(), self._backend.embedding
        envelope = compile_envelope(
            request,
            reader=reader,
            principal=self.principal,
            vocabulary=words_of(view),
            policy=self._backend.policy,
            point=point_of(view),
            keys=keys,
            resolve_mentions=ExactBinder(
                reader, frozenset(self.principal.sight().scopes), point_of(view).tx_us
            ),
            encoder_id=embedding.encoder.id if embedding else None,
            index=self._vectors(reader, view, request),
            reranker=self._backend.reranker,
            people=people,
            watch=self._backend.step_of,
        )
        return replace(envelope, manifest=sign_manifest(envelope.manifest, keys))

    def replay(self, manifest: Replayable) -> Envelope:
        """Return the same bytes again from a manifest, an envelope, or an envelope id.

        Raises:
            NotFound: `unknown_object` for an envelope id that is not stored; `erased`.
            InvalidInput: `bad_manifest`, also for one whose signature does not verify.
            Forbidden: `privilege_required`, for an envelope of another user, or when the caller
                may not read today all that it holds; `personal_data`, when it holds whole what
                the caller reads as masked.
        """
        began = time.perf_counter()
        with self._reading() as reader:
            keys = reader.keys()
            pinned_manifest = self._manifest(reader, manifest)
            verify(pinned_manifest, keys)
            self._check_owner(pinned_manifest)
            keeper = ArtifactKeeper(self._backend, self.principal)
            keeper.refuse_erased(pinned_manifest.artifact_uris)
            envelope = replay(
                pinned_manifest,
                reader=reader,
                caller=self.principal,
                vocabulary=self._backend.vocabulary_at(
                    self._tenant, pinned_manifest.vocabulary_version
                ),
                policy=self._policy(reader, pinned_manifest.policy_hash),
                keys=keys,
            )
            check_personal_data(reader, envelope, self.principal, self._backend.policy)
            envelope = replace(envelope, manifest=sign_manifest(envelope.manifest, keys))

        return self._with_run_facts(envelope, began)

    def _check_owner(self, manifest: Manifest) -> None:
        if not may_open(self.principal, manifest):
            raise Forbidden(
                "the envelope was compiled for somebody else; replaying it needs one of the roles "
                + ", ".join(sorted(AUDIT.roles)),
                code="privilege_required",
            )

    def _manifest(self, reader: Reader, reference: Replayable) -> Manifest:
        if isinstance(reference, Manifest):
            return reference
        if isinstance(reference, StoredEnvelope):
            return reference.manifest or manifest_of(reference.envelope_id, "")
        if isinstance(reference, Envelope):
            return reference.manifest
        if isinstance(reference, Mapping):
            return manifest_from_json(_json_of(reference))
        if reference.lstrip().startswith("{"):
            return manifest_from_json(reference)

        text = reader.manifest(reference)
        if text is None:
            raise unknown_envelope(reference)

        return manifest_of(reference, text)

    def _policy(self, reader: Reader, digest: str) -> Policy:
        if digest == self._backend.policy.digest:
            return self._backend.policy

        pack = reader.policy_pack(digest)
        if pack is None:
            raise InvalidInput(
                f"the manifest pins policy {digest[:12]}, which this store does not hold; "
                "connect with that policy",
                code="bad_manifest",
            )

        return policy_from_json(pack)

    def _vectors(
        self, reader: Reader, view: View, request: CompileRequest
    ) -> VisibleVectors | None:
        """Return the vectors that a compile may see, over the scopes it reads, search begun."""
        embedding, tenant = self._backend.embedding, self._tenant
        if embedding is None or request.query_vector is None:
            return None

        from ..reading.nearest import KNOWN, VectorView, VisibleVectors

        scopes = scopes_of(self.principal, project_of(request, self.principal))
        vectors = VisibleVectors(
            VectorView(
                vectors=embedding.vectors(tenant, reader),
                reader=reader,
                sight=self.principal.sight(scopes),
                point=point_of(view),
                exact_rows=self._backend.policy.read.vector_exact_rows,
                ask=KNOWN,
            )
        )
        vectors.begin(request.query_vector, limit=vectors_wanted(self._backend.policy))

        return vectors

    def _keep(self, envelope: Envelope, session: str | None) -> None:
        """Store the manifest and the use of its objects, after the call.

        An erasure of what it holds empties it: objects, artifacts, and the words of a session.
        """
        store, tenant, now = self._backend.store, self._tenant, self._backend.now_us()
        used_ids = stored_ids(envelope.manifest)
        artifacts = filter(is_address, envelope.manifest.artifact_uris)
        sources = [*used_ids, *artifacts, *([session] if session else ())]

        def keep() -> None:
            store.put_manifest(
                tenant,
                envelope_id=envelope.envelope_id,
                manifest=envelope.manifest.to_stored(),
                objects=sources,
                pack=self._backend.policy.to_json(),
            )
            store.log_usage(tenant, used_ids, at_us=now)
            _log_alerts(envelope)

        self._backend.later(keep)

    def _with_run_facts(self, envelope: Envelope, began: float) -> Envelope:
        envelope = envelope.with_sidecar(
            run_id=self._backend.ids(),
            at=moment(self._backend.now_us()),
            compilation_latency_ms=round((time.perf_counter() - began) * 1000, 3),
        )
        return envelope.with_words(Openings(self._backend, self.principal).words)


def _log_alerts(envelope: Envelope) -> None:
    """Log which quality metrics are outside their targets; they are only worked out for a log."""
    if not _LOG.isEnabledFor(logging.INFO):
        return

    quality = envelope.quality
    if quality.alerts:
        values = {name: quality.metrics[name] for name in quality.alerts}
        fields = {"envelope_id": envelope.envelope_id, "alerts": values, "failed": quality.failed}
        _LOG.info("an envelope misses %s", ", ".join(quality.alerts), extra=fields)


def _wishes_after(subject_id: str, words: Vocabulary) -> StandingSubjects:
    """The question for the next people of whom the whole tenant knows wishes."""
    slots = words.slots.items()
    names = sorted(name for name, slot in slots if slot.kind is SlotKind.PREFERENCE)
    span = SubjectSpan(TENANT_SCOPE.scope_id, after=subject_id, limit=_LISTED_PEOPLE)
    return StandingSubjects(tuple(names), span)


def _stated_user(parameters: Mapping[str, Any]) -> str | None:
    """For whom a compile says that it is.

    Raises:
        InvalidInput: `bad_request`, for what is no text.
    """
    user: object = parameters.get("user")
    if user is None:
        return None
    if not isinstance(user, str) or not user.strip():
        raise InvalidInput("user: give the id of a user", code="bad_request", field="user")
    check_text(user, "user", most=LENGTHS["scope"])
    return user


def _person(user: str, reader: Reader, sight: Sight, point: Point) -> str:
    """The entity that bears a user's id, else the id itself, which then is a name or a gap."""
    pair = "user", user
    known = reader.known(Lookup(identifiers=(pair,)), scopes=sight.scopes, tx_us=point.tx_us)
    register = Register(with_visible_identifiers(known, sight))
    for raw in register.owners(*pair):
        return register.root(raw)
    return user


def _json_of(manifest: Mapping[str, Any]) -> str:
    try:
        return json.dumps(manifest)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"the manifest is no JSON: {error}", code="bad_manifest") from error


def _moments(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters with valid and tx as datetimes, as the compiler takes them."""
    instants = dict(parameters)
    for name in ("valid", "tx"):
        if instants.get(name) is not None:
            instants[name] = moment(instant(instants[name], field=name))

    return instants
