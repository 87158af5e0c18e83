"""What a credential says: who asks, and which permits it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

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
