"""What a server needs of an OIDC issuer: its keys, and who reads what it signs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .credential import Credential


class SigningKeys(Protocol):
    """Where the public key of a token comes from: an issuer's set, capped in how often."""

    def get_signing_key_from_jwt(self, token: str | bytes) -> Any:
        """Return the key that the token names."""
        ...


class IdTokens(Protocol):
    """Who reads the id token that an issuer gives at a sign-in."""

    def claims(self, id_token: str, *, client_id: str, nonce: str) -> dict[str, Any] | None:
        """Return what it says of its person; None if it does not hold for this sign-in."""
        ...

    def reader(self, claims: Mapping[str, Any]) -> Credential | None:
        """Return what the claims allow by the settings of today."""
        ...
