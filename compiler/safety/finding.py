"""What a detector reports: a code, how grave it is, and a detail that never repeats a secret."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One signal."""

    code: str
    """Stable code, for the trace."""
    severity: int
    """0 to 100."""
    detail: str
    """What was seen, for a reviewer; counts and short excerpts, never a secret."""
    attack: str
    """An `AttackClass`, or empty when it is no attack."""
