"""What a credential says: who asks, and which permits it gives.

What a server needs of an OIDC issuer is its keys, and who reads what it signs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ...schema.errors import Forbidden
from ...schema.principal import Principal
from ...service.calls.table import Permit

ALL_PERMITS: Final = frozenset(permit.value for permit in Permit)
"""What a person who entered a code may do as far as the person's roles allow it."""


@dataclass(frozen=True, slots=True)
class Credential:
    """Who asks, and what the credential allows."""

    principal: Principal
    permits: frozenset[str]
    key_id: str = ""

    def require(self, permit: Permit) -> None:
        """Refuse a call that the credential does not allow.

        Raises:
            Forbidden: `permission_required`.
        """
        if permit not in self.permits and Permit.ADMIN not in self.permits:
            raise Forbidden(
                f"this credential does not allow {permit}; use one that does",
                code="permission_required",
                permit=permit.value,
            )


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
