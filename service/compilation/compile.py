"""The compile use-case: one snapshot, one envelope, and its manifest kept.

The compiler receives everything it depends on. What belongs to the run alone (run id, wall time,
latency) is added to the envelope afterwards. The backend's worker stores the manifest after the
call returns; closing the store waits for it.

A replay makes the text of a stored envelope again for the caller that it records. A reader must be
allowed to read every object in it today, and may see whole all personal data that it shows whole: a
replay returns the same bytes, so nothing in it can be masked afterwards.
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
from ...compiler.compile import replay
from ...compiler.envelope.envelope import Envelope
from ...compiler.gathering.mentions import ExactBinder, compile_names
from ...compiler.gathering.nearest import vectors_wanted
from ...compiler.ir.context import Circumstances, project_of, scopes_of
from ...compiler.request.parse import parse_request
from ...compiler.request.request import CompileRequest, WindowPin
from ...compiler.trace.manifest import Manifest, manifest_from_json, principal_of, stored_ids
from ...resolution.known import Lookup
from ...resolution.names import with_visible_identifiers
from ...resolution.register import Register
from ...schema.artifact import is_address
from ...schema.claim import Version, is_personal
from ...schema.errors import Forbidden, InvalidInput
from ...schema.limits import LENGTHS, check_text
from ...schema.policy import Policy
from ...schema.principal import AUDIT, TENANT_SCOPE, Principal, Sight
from ...schema.record_json import from_plain, to_plain
from ...schema.slots import Vocabulary
from ...schema.values import moment
from ...schema.vocabulary import SlotKind
from ...schema.window_policy import DEFAULT_WINDOW
from ...schema.write import Moment
from ...store.port.records import SubjectSpan
from ...store.port.store import Ask, Point, Reader
from ..artifacts.artifacts import ArtifactKeeper, Artifacts
from ..artifacts.media import Openings
from ..backend.backend import COMPILE
from ..backend.caller import Caller, instant
from ..documents.citing import Citer
from ..extraction.shipped_language import shipped_language
from ..reading.envelopes import (
    StoredEnvelope,
    manifest_of,
    may_open,
    sign_manifest,
    unknown_envelope,
    verify,
)
from ..reading.objects import Mask, own_entities
from ..reading.view import View, pinned, point_of, words_of
from .originals import LISTS, with_originals

if TYPE_CHECKING:
    from ..reading.search import VisibleVectors

_LOG = logging.getLogger("tenure.compile")

Replayable = Manifest | Envelope | StoredEnvelope | Mapping[str, Any] | str
"""What names an envelope to replay."""

_LISTED_PEOPLE: Final = 8
"""How many of those with wishes a manifest lists at most: two tell that nobody is meant."""


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


class RequestFields(TypedDict, total=False):
    """What `Memory.compile` takes in addition to the task and the query."""

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

        `window` is the history that stands next to it, where a session keeps that.
        """
        began = time.perf_counter()
        with self._backend.span_of(COMPILE, self._tenant) as span:
            request, user = self._request(task, parameters, window), _stated_user(parameters)
            now_us = self._backend.now_us()
            rules = self._backend.policy.compile
            names = partial(compile_names, request, self.principal, rules, user)
            with self._reading(names) as reader:
                valid, tx = parameters.get("valid"), parameters.get("tx")
                if valid is None:
                    valid = moment(max(now_us, reader.clock().last_us))
                view = pinned(self._backend, self.principal, reader, valid, tx)
                if user is not None:
                    sight = self.principal.sight()
                    named_id = _person(user, reader, sight, point_of(view))
                    request = replace(request, entities=(*request.entities, named_id))
                people: tuple[str, ...] = ()
                if not (self.principal.user or request.entities):
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
        reranker, scopes = self._backend.reranker, frozenset(self.principal.sight().scopes)
        circumstances = Circumstances(
            principal=self.principal,
            vocabulary=words_of(view),
            policy=self._backend.policy,
            point=point_of(view),
            keys=tuple(keys),
            encoder_id=embedding.encoder.id if embedding else None,
            reranker_id=reranker.id if reranker is not None else None,
            people=people,
            language=shipped_language(),
        )
        envelope = compile_envelope(
            request,
            circumstances,
            reader=reader,
            resolve_mentions=ExactBinder(reader, scopes, point_of(view).tx_us),
            index=self._vectors(reader, view, request),
            reranker=reranker,
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
                language=shipped_language(),
            )
            check_personal_data(reader, envelope, self.principal, self._backend.policy)
            envelope = replace(envelope, manifest=sign_manifest(envelope.manifest, keys))

        return self._with_run_facts(envelope, began)

    def _check_owner(self, manifest: Manifest) -> None:
        if not may_open(self.principal, manifest):
            raise Forbidden(
                "the envelope was compiled for another caller; replaying it needs one of the roles "
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
        if self._backend.embedding is None or request.query_vector is None:
            return None

        from ..reading.search import KNOWN, visible_vectors

        scopes = scopes_of(self.principal, project_of(request, self.principal))
        sight, point = self.principal.sight(scopes), point_of(view)
        vectors = visible_vectors(self._backend, self._tenant, reader, sight, point, KNOWN)
        if vectors is not None:
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
        envelope = envelope.with_words(Openings(self._backend, self.principal).words)
        return envelope.with_citations(Citer(self._backend, self.principal).citations)


def _log_alerts(envelope: Envelope) -> None:
    """Log which quality metrics are outside their targets; they are only worked out for a log."""
    if not _LOG.isEnabledFor(logging.INFO):
        return

    quality = envelope.quality
    if quality.alerts:
        values = {name: quality.metrics[name] for name in quality.alerts}
        fields = {"envelope_id": envelope.envelope_id, "alerts": values, "failed": quality.failed}
        _LOG.info("an envelope misses %s", ", ".join(quality.alerts), extra=fields)


def _wishes_after(subject_id: str, words: Vocabulary) -> tuple[tuple[str, ...], SubjectSpan]:
    """The question for the next people of whom the whole tenant knows wishes."""
    slots = words.slots.items()
    names = sorted(name for name, slot in slots if slot.kind is SlotKind.PREFERENCE)
    span = SubjectSpan(TENANT_SCOPE.scope_id, after=subject_id, limit=_LISTED_PEOPLE)
    return tuple(names), span


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
    for raw in register.owners([pair]):
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


def may_read(reader: Reader, envelope: Envelope, principal: Principal, policy: Policy) -> bool:
    """Whether a caller may read every stored object of an envelope, as whole as it is there."""
    object_ids = stored_ids(envelope.manifest)
    versions = _visible_versions(reader, envelope.manifest, object_ids, principal)
    if not {version.row.claim.object_id for version in versions}.issuperset(object_ids):
        return False

    return not _shows_masked(reader, envelope.manifest, versions, Mask(principal, policy))


def check_personal_data(
    reader: Reader, envelope: Envelope, principal: Principal, policy: Policy
) -> None:
    """Check that a replay shows no personal data that the caller reads as masked elsewhere.

    Raises:
        Forbidden: `personal_data`.
    """
    object_ids = stored_ids(envelope.manifest)
    versions = _visible_versions(reader, envelope.manifest, object_ids, principal)
    if _shows_masked(reader, envelope.manifest, versions, Mask(principal, policy)):
        raise Forbidden(
            "the text holds personal data that is masked for you; the person it is about may "
            "replay it, or a role of policy.compile.show_personal_to",
            code="personal_data",
        )


def _visible_versions(
    reader: Reader, manifest: Manifest, object_ids: tuple[str, ...], principal: Principal
) -> list[Version]:
    if not object_ids:
        return []

    ask = Ask(objects=object_ids, heads=False, at_valid=False, at_tx=False)
    point = Point(manifest.valid_us, reader.clock().last_us)
    page = reader.versions(ask, sight=principal.sight(), point=point)
    # One object has several rows; its permissions are the same for all of them.
    return [version for version in page.versions if version.visible]


def _shows_masked(
    reader: Reader, manifest: Manifest, versions: list[Version], caller_mask: Mask
) -> bool:
    """Whether something is whole for the caller of the manifest and masked for who looks."""
    personal_versions = [version for version in versions if is_personal(version.details)]
    masked_versions = [row for row in personal_versions if caller_mask.hides(reader, row)]
    if not masked_versions:
        return False

    owner_mask = Mask(principal_of(manifest), caller_mask.policy)
    # Who the owner is may have been judged otherwise since: either answer makes it whole.
    own_ids_then = own_entities(reader, owner_mask.principal, tx_us=manifest.tx_us)
    for version in masked_versions:
        is_own_then = own_ids_then.covers(version.details, owner_mask.principal)
        if is_own_then or not owner_mask.hides(reader, version):
            return True

    return False
