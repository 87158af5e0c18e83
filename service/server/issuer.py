"""Where the keys come from that an OIDC issuer signs its tokens with."""

from __future__ import annotations

from typing import Any, Protocol


class SigningKeys(Protocol):
    """Where the public key of a token comes from: an issuer's set, capped in how often."""

    def get_signing_key_from_jwt(self, token: str | bytes) -> Any:
        """Return the key that the token names."""
        ...
