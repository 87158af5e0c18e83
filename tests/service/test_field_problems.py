"""What pydantic finds wrong with a request is told in words of our own."""

from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from tenure.service.calls.run import field_problem


class Request(BaseModel):
    model_config = ConfigDict(extra="forbid")

    count: int = Field(1, ge=1, le=9)
    text: str = ""
    flag: bool = False
    words: list[str] = []
    state: Literal["open", "closed"] = "open"

    @field_validator("text")
    @classmethod
    def _is_short(cls, text: str) -> str:
        if len(text) > 3:
            raise ValueError("three letters are enough")
        return text


PROBLEMS: list[tuple[dict[str, Any], str]] = [
    ({"count": "x"}, "must be a whole number"),
    ({"count": 1.5}, "must be a whole number"),
    ({"count": 0}, "must be at least 1"),
    ({"count": 10}, "must be at most 9"),
    ({"text": 5}, "must be a text"),
    ({"text": "long"}, "three letters are enough"),
    ({"flag": "perhaps"}, "must be true or false"),
    ({"words": "a"}, "must be a list"),
    ({"state": "ajar"}, "must be 'open' or 'closed'"),
    ({"txt": ""}, "is no field here; did you mean 'text'?"),
]


@pytest.mark.parametrize(("fields", "sentence"), PROBLEMS)
def test_a_problem_of_a_field_has_a_sentence_of_ours(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Request.model_validate(fields)
    (problem,) = caught.value.errors()
    assert field_problem(problem, Request.model_fields) == sentence


def test_a_problem_that_nobody_foresaw_keeps_its_words() -> None:
    assert field_problem({"type": "odd", "loc": ("a",), "msg": "Odd"}) == "Odd"
