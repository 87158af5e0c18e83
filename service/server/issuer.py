"""An OIDC issuer whose tokens a server takes: who it is, and where its keys come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


class SigningKeys(Protocol):
    """Where the public key of a token comes from: an issuer's set, capped in how often."""

    def get_signing_key_from_jwt(self, token: str | bytes) -> Any:
        """Return the key that the token names."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcSettings:
    """Whom an issuer vouches for, and which of its claims say what."""

    issuer: str
    audience: str
    jwks_url: str
    tenant: str | None = None
    """The tenant of every caller; None: the claim of `tenant_claim` states it."""
    tenant_claim: str = "tenant"
    user_claim: str = "sub"
    roles_claim: str = ""
    """A claim with a list; empty: nobody has a role."""
    roles: Mapping[str, str] = field(default_factory=dict[str, str])
    """Our roles by the issuer's words; a word that is not here gives none."""
