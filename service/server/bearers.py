"""Bearer tokens of a server: its own keys and short tokens, and those of an OIDC issuer."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import HTTPConnection, Request

from ...schema.errors import Forbidden, InvalidInput
from ...schema.principal import Principal
from ..calls.table import Permit
from .identity import SIGN_IN, bearer_token
from .issuer import SigningKeys
from .keys import Credential, KeyRing
from .pace import CallPace

if TYPE_CHECKING:
    from ..settings import OidcIssuer

_ALGORITHMS: Final = ("RS256", "ES256")
"""A fixed list: the token never says how it is to be checked."""

_TENANT_HEADERS: Final = ("x-tenant", "x-tenant-id", "tenant")
_LEEWAY_SECONDS: Final = 30
_COMMON_PERMITS: Final = frozenset({Permit.READ.value, Permit.WRITE.value, Permit.COMPILE.value})
_RETIRED_SCOPE: Final = "audit:read"
"""What a token may still be limited to that was made when it was a permit; no call asks for it."""


class OidcVerifier:
    """Checks the tokens of one issuer."""

    def __init__(self, settings: OidcIssuer, keys: SigningKeys | None = None) -> None:
        self._settings = settings
        self._keys = keys or _fetched_keys(settings.jwks_url)

    def credential(self, token: str) -> Credential | None:
        """What a token stands for; None for any that does not hold."""
        claims = self._claims(token, self._settings.audience)
        principal = None if claims is None else self._principal(claims)
        if claims is None or principal is None:
            return None

        scopes = frozenset(str(claims.get("scope", "")).split())
        permits = scopes & {permit.value for permit in Permit}
        if not permits and _RETIRED_SCOPE not in scopes:
            permits = _COMMON_PERMITS
        return Credential(principal, permits)

    def person(self, id_token: str, *, client_id: str, nonce: str) -> Principal | None:
        """Whom an id token names that was made for our client and for this one sign-in."""
        claims = self._claims(id_token, client_id)
        if claims is None or not hmac.compare_digest(str(claims.get("nonce", "")), nonce):
            return None
        # A token for several audiences says for whom it was made.
        if claims.get("azp", client_id) != client_id:
            return None
        return self._principal(claims)

    def _claims(self, token: str, audience: str) -> dict[str, Any] | None:
        import jwt

        settings = self._settings
        try:
            return jwt.decode(
                token,
                self._keys.get_signing_key_from_jwt(token).key,
                algorithms=list(_ALGORITHMS),
                audience=audience,
                issuer=settings.issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", settings.user_claim]},
            )
        except jwt.PyJWTError:
            return None

    def _principal(self, claims: Mapping[str, Any]) -> Principal | None:
        settings = self._settings
        tenant = settings.tenant or claims.get(settings.tenant_claim)
        user = claims[settings.user_claim]
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
            if word in self._settings.roles:
                roles.add(self._settings.roles[word])
        return frozenset(roles)


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

    def __call__(self, token: str) -> Principal | None:
        """Who a token stands for."""
        credential = self.credential(token)
        return credential.principal if credential else None

    def credential(self, token: str) -> Credential | None:
        """What a token stands for, and allows."""
        if token.startswith(("tnr_", "tnt_")):
            return self.ring.credential(token)
        return self._oidc.credential(token) if self._oidc else None

    def of_request(self, request: HTTPConnection) -> Credential:
        """The credential of a request's header; cookies and parameters count for nothing.

        The request counts as one of its caller's.

        Raises:
            Forbidden: `sign_in_needed`.
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
        return credential


def check_tenant(request: Request, arguments: dict[str, Any], credential: Credential) -> None:
    """Refuse a request that names a tenant which is not the credential's.

    Raises:
        Forbidden: `tenant_mismatch`.
    """
    tenants = [request.headers[name] for name in _TENANT_HEADERS if name in request.headers]
    if isinstance(arguments.get("tenant"), str):
        tenants.append(arguments.pop("tenant"))
    if any(tenant != credential.principal.tenant for tenant in tenants):
        raise Forbidden(
            "the tenant comes from the credential, and this one is another's",
            code="tenant_mismatch",
        )
