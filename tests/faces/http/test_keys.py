"""Keys, short tokens, and the tokens of an issuer."""

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from typer.testing import CliRunner

from tenure import Forbidden, InvalidInput, NotFound, Principal
from tenure.faces.cli.main import app
from tenure.faces.http.bearers import Bearers, OidcVerifier
from tenure.faces.http.control import ControlFile
from tenure.faces.http.keys import TOKEN_SECONDS, KeyRing
from tenure.service.calls.table import Permit
from tenure.service.settings import OidcIssuer
from tenure.tests.support.refusals import refused

READ, ISSUE = Permit.READ.value, Permit.ISSUE.value
ANN = Principal(tenant="acme", user="ann", roles={"member"}, projects={"nova"})
SERVICE = Principal(tenant="acme", roles={"member"}, projects={"nova"})


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ring(tmp_path: Path, clock: Clock) -> Iterator[KeyRing]:
    control = ControlFile(tmp_path / "control.db", clock=clock)
    yield KeyRing(control)
    control.close()


def key_id(text: str) -> str:
    return text.split("_")[1]


def test_a_key_opens_as_its_caller_and_is_kept_as_a_hash(ring: KeyRing, tmp_path: Path) -> None:
    text = ring.create(ANN, [READ], name="laptop")
    credential = ring.credential(text)
    assert credential is not None
    assert credential.principal == ANN
    assert credential.permits == {READ}
    assert text.startswith("tnr_")
    contents = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert text.split("_")[2].encode() not in contents

    (record,) = ring.records("acme")
    assert (record.key_id, record.name, record.user) == (key_id(text), "laptop", "ann")
    assert ring.records("other") == ()
    assert text.split("_")[2] not in repr(record)


NO_KEYS = ("", "tnr", "tnr_", "tnr_x_y", "tnt_", "tnt_a.b", "other_{id}_{secret}")


@pytest.mark.parametrize("text", NO_KEYS)
def test_what_is_no_key_opens_nothing(ring: KeyRing, text: str) -> None:
    _, known_id, secret = ring.create(ANN, [READ]).split("_")
    assert ring.credential(text.format(id=known_id, secret=secret)) is None
    assert ring.credential(f"tnr_{known_id}_{secret[:-1]}") is None
    assert ring.credential(f"tnr_{known_id}_") is None


def test_a_key_ends(ring: KeyRing, clock: Clock) -> None:
    text = ring.create(ANN, [READ], seconds=60)
    clock.now += 59
    assert ring.credential(text)
    clock.now += 1
    assert ring.credential(text) is None


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_a_key_that_has_ended_when_it_is_made_is_refused(ring: KeyRing, seconds: float) -> None:
    with refused(InvalidInput, "out_of_range"):
        ring.create(ANN, [READ], seconds=seconds)
    assert ring.records(ANN.tenant) == ()


def test_a_rotated_key_overlaps(ring: KeyRing, clock: Clock) -> None:
    old = ring.create(ANN, [READ])
    new = ring.rotate(key_id(old), overlap_seconds=100)
    assert ring.credential(old) == ring.credential(new)
    clock.now += 100
    assert ring.credential(old) is None
    assert ring.credential(new)


def test_a_revoked_key_is_gone_with_its_tokens(ring: KeyRing) -> None:
    text = ring.create(SERVICE, [READ, ISSUE])
    token, _ = ring.issue(ring.credential(text), {"user": "ann"})
    assert ring.credential(token)
    ring.revoke(key_id(text))
    assert ring.credential(text) is None
    assert ring.credential(token) is None
    for change in (ring.revoke, ring.rotate):
        with pytest.raises(NotFound):
            change(key_id(text))


def test_a_token_is_short_and_holds_no_more_than_its_key(ring: KeyRing, clock: Clock) -> None:
    credential = ring.credential(ring.create(SERVICE, [READ, ISSUE]))
    token, ends_s = ring.issue(credential, {"user": "ann", "session": "s1", "roles": []})
    token_credential = ring.credential(token)
    assert token_credential.principal == Principal(
        tenant="acme", user="ann", session="s1", projects={"nova"}
    )
    assert token_credential.permits == {READ}
    assert ends_s == clock.now + TOKEN_SECONDS
    with pytest.raises(Forbidden):
        ring.issue(token_credential, {"user": "lee"})

    body, _, mark = token.partition(".")
    assert ring.credential(f"{body}x.{mark}") is None
    assert ring.credential(f"{body}.{'0' * len(mark)}") is None
    clock.now += TOKEN_SECONDS
    assert ring.credential(token) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"roles": ["owner"]},
        {"projects": ["other"]},
        {"clearance": "highly_restricted"},
        {"authority_level": 1},
    ],
)
def test_a_token_beyond_its_key_is_refused(ring: KeyRing, fields: dict[str, Any]) -> None:
    credential = ring.credential(ring.create(SERVICE, [READ, ISSUE]))
    with refused(Forbidden, "above_key_permission"):
        ring.issue(credential, fields)


def test_a_key_of_one_user_speaks_for_nobody_else(ring: KeyRing) -> None:
    credential = ring.credential(ring.create(ANN, [ISSUE]))
    with pytest.raises(Forbidden):
        ring.issue(credential, {"user": "lee"})
    with pytest.raises(InvalidInput):
        ring.issue(credential, {"tenant": "other"})
    with pytest.raises(Forbidden):
        ring.issue(ring.credential(ring.create(ANN, [READ])), {})


def test_no_key_speaks_for_the_platform(ring: KeyRing) -> None:
    with pytest.raises(InvalidInput, match="level 2"):
        ring.create(Principal(authority_level=1), [READ])
    with pytest.raises(InvalidInput, match="unknown permit"):
        ring.create(ANN, ["memory:everything"])
    with pytest.raises(InvalidInput, match="unknown permit"):
        ring.create(ANN, ["audit:read"])


def test_permits_are_asked_for(ring: KeyRing) -> None:
    credential = ring.credential(ring.create(ANN, [READ]))
    credential.require(Permit.READ)
    with refused(Forbidden, "permission_required"):
        credential.require(Permit.WRITE)
    ring.credential(ring.create(ANN, [Permit.ADMIN])).require(Permit.ERASE)


def test_the_command_makes_lists_rotates_and_revokes(tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "team.db"), "--user", "ann", "--role", "member", "--json")

    def answer(*words: str) -> Any:
        result = CliRunner().invoke(app, [*store, "keys", *words])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    text = answer("create", "--allow", READ, "--name", "laptop", "--days", "30")["key"]
    (record,) = answer("list")
    assert record["permits"] == [READ]
    assert record["user"] == "ann"
    assert answer("rotate", record["key_id"])["key"] != text
    assert answer("revoke", record["key_id"]) == {"revoked": record["key_id"]}
    assert answer("list") == []


# ---- an issuer


class KeyOfSet(NamedTuple):
    key: Any


class Issuer:
    """An issuer of this machine: its private key, and the set that a verifier asks."""

    def __init__(self, algorithm: str) -> None:
        self.algorithm = algorithm
        self.private: Any = ec.generate_private_key(ec.SECP256R1())
        if algorithm == "RS256":
            self.private = rsa.generate_private_key(65537, 2048)

    def get_signing_key_from_jwt(self, token: str | bytes) -> KeyOfSet:
        return KeyOfSet(self.private.public_key())

    def token(self, headers: dict[str, str] | None = None, **claims: Any) -> str:
        now = int(time.time())
        all_claims = {
            "iss": "https://id.acme",
            "aud": "tenure",
            "exp": now + 60,
            "sub": "ann",
        } | claims
        present_claims = {name: value for name, value in all_claims.items() if value is not None}
        return jwt.encode(present_claims, self.private, algorithm=self.algorithm, headers=headers)


class KeysByJwk(NamedTuple):
    """The keys of an issuer for whoever can read the header of a token, as its own client does."""

    issuer: Issuer

    def get_signing_key_from_jwt(self, token: str | bytes) -> KeyOfSet:
        jwt.get_unverified_header(token)
        return self.issuer.get_signing_key_from_jwt(token)


OIDC = OidcIssuer(
    issuer="https://id.acme",
    audience="tenure",
    jwks_url="https://id.acme/keys",
    roles_claim="groups",
    roles={"stewards": "steward"},
)


@pytest.fixture(scope="module", params=["RS256", "ES256"])
def issuer(request: pytest.FixtureRequest) -> Issuer:
    return Issuer(request.param)


def test_a_token_of_the_issuer_opens_as_its_claims_say(issuer: Issuer, ring: KeyRing) -> None:
    bearers = Bearers(ring, OidcVerifier(OIDC, issuer))
    token = issuer.token(tenant="acme", groups=["stewards", "owner"], scope="memory:read openid")
    credential = bearers.credential(token)
    assert credential.principal == Principal(tenant="acme", user="ann", roles={"steward"})
    assert credential.permits == {READ}
    for groups in ("stewards", [["stewards"]]):
        odd = bearers.credential(issuer.token(tenant="acme", groups=groups))
        assert odd.principal.roles == frozenset()
    for scope in (None, "", "audit:read openid", ["memory:read"]):
        limited = bearers.credential(issuer.token(tenant="acme", scope=scope))
        assert limited.permits == frozenset()


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://other"},
        {"aud": "other"},
        {"exp": 1},
        {"exp": None},
        {"sub": None},
        {"tenant": None},
        {"tenant": ["acme"]},
        {"sub": "a,b"},
        {"exp": float("inf")},
        {"nonce": "n"},
        {"typ": "ID"},
        {"token_use": "id"},
    ],
)
def test_a_token_that_does_not_hold_opens_nothing(issuer: Issuer, claims: dict[str, Any]) -> None:
    verifier = OidcVerifier(OIDC, issuer)
    assert verifier.credential(issuer.token(**{"tenant": "acme", **claims})) is None


def test_another_algorithm_or_signer_opens_nothing(issuer: Issuer, ring: KeyRing) -> None:
    verifier = OidcVerifier(OIDC, issuer)
    assert verifier.credential(Issuer(issuer.algorithm).token(tenant="acme")) is None
    token = jwt.encode({"iss": "https://id.acme", "sub": "ann"}, None, algorithm="none")
    assert verifier.credential(token) is None
    assert Bearers(ring).credential(issuer.token(tenant="acme")) is None


@pytest.mark.parametrize(
    ("kind", "opens"), [("at+jwt", True), ("JWT", True), ("logout+jwt", False)]
)
def test_the_type_of_a_token_is_checked(issuer: Issuer, kind: str, opens: bool) -> None:
    token = issuer.token(tenant="acme", headers={"typ": kind})
    assert (OidcVerifier(OIDC, issuer).credential(token) is not None) == opens


def test_an_access_token_signs_nobody_in(issuer: Issuer) -> None:
    verifier = OidcVerifier(OIDC, issuer)
    for kind, is_person in (("JWT", True), ("at+jwt", False)):
        token = issuer.token(tenant="acme", nonce="n", headers={"typ": kind})
        claims = verifier.claims(token, client_id="tenure", nonce="n")
        assert (claims is not None) == is_person


def _segment(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "header",
    [
        '{"alg": "ES256", "kid": "k"}',
        '{"alg": "RS256", "kid": "k"}',
        '{"alg": ["RS256"]}',
        '{"alg": "RS256", "kid": {"k": 1}}',
        '{"alg": "RS256", "crit": [[]]}',
        '{"alg": "RS256", "x": ' + "[" * 20_000 + "]" * 20_000 + "}",
        '{"alg": "RS256", "x": ' + "9" * 5_000 + "}",
        "[]",
        "null",
        "\ud83d",
    ],
    ids=lambda header: header[:24],
)
def test_a_header_that_a_stranger_made_up_opens_nothing(issuer: Issuer, header: str) -> None:
    head = _segment(header.encode("utf-8", "replace").decode())
    for body in (_segment('{"sub": "ann"}'), "", "*"):
        verifier = OidcVerifier(OIDC, KeysByJwk(issuer))
        assert verifier.credential(f"{head}.{body}.{_segment('x' * 64)}") is None
