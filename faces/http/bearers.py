"""Bearer tokens of a server: its own keys and short tokens, and those of an OIDC issuer."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import HTTPConnection

from ...schema.errors import Forbidden, InvalidInput
from ...schema.principal import Principal
from .connections import CallPace
from .credential import ALL_PERMITS, Credential, SigningKeys
from .identity import SIGN_IN, bearer_token
from .keys import KeyRing

if TYPE_CHECKING:
    from ...service.settings import OidcIssuer

_ALGORITHMS: Final = ("RS256", "ES256")
"""A fixed list: the token never says how it is to be checked."""

_TENANT_HEADERS: Final = ("x-tenant", "x-tenant-id", "tenant")
_LEEWAY_SECONDS: Final = 30
_TYPES: Final = ("jwt", "at+jwt")
_SIGN_IN_CLAIMS: Final = frozenset({"nonce", "at_hash", "c_hash"})


class OidcVerifier:
    """Checks the tokens of one issuer."""

    def __init__(self, settings: OidcIssuer, keys: SigningKeys | None = None) -> None:
        self._settings = settings
        self._keys = keys or _fetched_keys(settings.jwks_url)

    def credential(self, token: str) -> Credential | None:
        """What an access token stands for, with its scopes as permits; None for any other text."""
        kind, claims = self._claims(token, self._settings.audience)
        words = {str(claims.get("typ", "")).lower(), str(claims.get("token_use", "")).lower()}
        # Without the type of RFC 9068 an id token is known by what only a sign-in has.
        is_id_token = kind == "jwt" and bool("id" in words or _SIGN_IN_CLAIMS & claims.keys())
        principal = None if is_id_token else self._principal(claims)
        return None if principal is None else Credential(principal, _permits(claims))

    def claims(self, id_token: str, *, client_id: str, nonce: str) -> dict[str, Any] | None:
        """What an id token says of its person, made for our client and for this one sign-in."""
        kind, claims = self._claims(id_token, client_id)
        is_for_sign_in = hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode())
        # A token for several audiences says for whom it was made.
        if kind != "jwt" or not is_for_sign_in or claims.get("azp", client_id) != client_id:
            return None
        settings = self._settings
        names = {settings.tenant_claim, settings.user_claim, settings.roles_claim, "scope"}
        return {name: claims[name] for name in names & claims.keys()}

    def reader(self, claims: Mapping[str, Any]) -> Credential | None:
        """What the claims of a person allow on pages; a scope of ours narrows it."""
        principal = self._principal(claims)
        permits = _permits(claims) or ALL_PERMITS
        return None if principal is None else Credential(principal, permits)

    def _claims(self, token: str, audience: str) -> tuple[str, dict[str, Any]]:
        """The type of a token and what it says; no type and nothing if it does not hold."""
        import jwt

        settings = self._settings
        try:
            parts = jwt.decode_complete(
                token,
                self._keys.get_signing_key_from_jwt(token).key,
                algorithms=list(_ALGORITHMS),
                audience=audience,
                issuer=settings.issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", settings.user_claim]},
            )
        # A stranger writes the header: a key of another kind, nested lists, numbers beyond any.
        except (jwt.PyJWTError, TypeError, ValueError, ArithmeticError, RecursionError):
            return "", {}
        kind = str(parts["header"].get("typ", "JWT")).lower().removeprefix("application/")
        return (kind, parts["payload"]) if kind in _TYPES else ("", {})

    def _principal(self, claims: Mapping[str, Any]) -> Principal | None:
        settings = self._settings
        tenant = settings.tenant or claims.get(settings.tenant_claim)
        user = claims.get(settings.user_claim)
        if not isinstance(tenant, str) or not isinstance(user, str):
            return None
        try:
            return Principal(tenant=tenant, user=user, roles=self._roles(claims))
        except InvalidInput:
            return None

    def _roles(self, claims: Mapping[str, Any]) -> frozenset[str]:
        words: Any = claims.get(self._settings.roles_claim, ())
        if not isinstance(words, list):
            return frozenset()

        roles: set[str] = set()
        for word in words:  # pyright: ignore[reportUnknownVariableType]
            if isinstance(word, str) and word in self._settings.roles:
                roles.add(self._settings.roles[word])
        return frozenset(roles)


def _permits(claims: Mapping[str, Any]) -> frozenset[str]:
    return ALL_PERMITS & frozenset(str(claims.get("scope", "")).split())


def _fetched_keys(url: str) -> SigningKeys:
    import jwt

    # The set is asked again at most every five minutes, whatever key ids tokens make up.
    return jwt.PyJWKClient(url, cache_jwk_set=True, lifespan=300, timeout=5)


class Bearers:
    """Every kind of bearer token that a server takes."""

    def __init__(
        self, ring: KeyRing, oidc: OidcVerifier | None = None, pace: CallPace | None = None
    ) -> None:
        self.ring = ring
        self._oidc = oidc
        self._pace = pace or CallPace(None)

    def credential(self, token: str) -> Credential | None:
        """What a token stands for, and allows."""
        if token.startswith(("tnr_", "tnt_")):
            return self.ring.credential(token)
        return self._oidc.credential(token) if self._oidc else None

    def of_request(self, request: HTTPConnection) -> Credential:
        """The credential of a request's header; cookies and parameters count for nothing.

        The request counts as one of its caller's.

        Raises:
            Forbidden: `sign_in_needed`, `tenant_mismatch`.
            Unavailable: `too_many_requests`.
        """
        token = bearer_token(request)
        credential = None if token is None else self.credential(token)
        if credential is None:
            raise Forbidden(
                "send a key that is known and has not ended: Authorization: Bearer tnr_…",
                code=SIGN_IN,
            )
        self._pace.count(credential.principal)
        # A request whose headers name a tenant must name that of the credential.
        tenant = credential.principal.tenant
        if any(request.headers.get(name, tenant) != tenant for name in _TENANT_HEADERS):
            raise tenant_mismatch()
        return credential


def tenant_mismatch() -> Forbidden:
    """Refuse a request that names the tenant of another credential."""
    return Forbidden(
        "the tenant comes from the credential, and this one is another's", code="tenant_mismatch"
    )
