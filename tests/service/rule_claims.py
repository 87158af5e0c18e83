"""The claims that the rules take from a sentence, written on one line each."""

from __future__ import annotations

from datetime import UTC, datetime

from tenure.service.extraction.rules import RuleExtractor

NOW = datetime(2026, 6, 17, 9, 30, tzinfo=UTC)  # a Wednesday


def claims_of(sentence: str) -> list[str]:
    """As `[subject: ][operation ]slot=value[ from day][ until day][, planned]`, sorted."""
    claims: list[str] = []
    for claim in RuleExtractor().extract(sentence, at=NOW):
        # What ends or takes back only what is known stands with every taste.
        if claim.op in ("deny", "retract") and claim.if_known:
            continue
        subject = f"{claim.subject}: " if claim.subject else ""
        op = "" if claim.op == "assert" else f"{claim.op} "
        start = f" from {claim.valid_from:%Y-%m-%d}" if claim.valid_from else ""
        end = f" until {claim.valid_until:%Y-%m-%d}" if claim.valid_until else ""
        planned = ", planned" if claim.planned else ""
        claims.append(f"{subject}{op}{claim.slot}={claim.value}{start}{end}{planned}")
    return sorted(claims)
