"""Times at the edge: what is refused is told in the reader's words."""

from __future__ import annotations

import pytest

from tenure.schema.errors import InvalidInput
from tenure.service.backend.times import instant


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("yesterday", ""),
        ("", ""),
        ("2026-01-01T00:00:00+99:00", ""),
        ("2026-02-30", " (day "),
        ("2026-13-01T00:00:00Z", " (month "),
    ],
)
def test_a_text_that_is_no_time_is_refused_without_the_words_of_python(
    text: str, reason: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        instant(text, field="valid_from")
    assert caught.value.code == "bad_time"
    message = str(caught.value)
    assert message.startswith(f"valid_from {text!r} is no ISO 8601 time{reason or ';'}")
    assert message.endswith("; write it like 2026-06-06T12:00:00Z")
    assert "isoformat" not in message
