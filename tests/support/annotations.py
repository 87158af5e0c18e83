"""Annotations of the client that no table of arguments checks."""

from typing import Final

READ_BY_THE_CALL: Final = frozenset(
    {
        "Any",
        "FidelityJudge",
        "Mapping[str, Probe]",
        "Moment",
        "Originals",
        "Principal",
        "Progress",
        "Scope | Mapping[str, str]",
        "Subsystems",
        "Summariser",
        "Unpack[IngestFields]",
        "Unpack[RequestFields]",
        "Unpack[RequestTerms]",
        "Unpack[SessionTerms]",
        "Unpack[SlotFields]",
        "Unpack[WriteFields]",
        "SyncWatch",
        "Watch",
        "WindowPolicy | str | Path",
    }
)
"""Annotations whose values the call reads itself, with a refusal of its own."""
