"""What a compile says it will look up first: a server answers it with the opening of its reader."""

import pytest

from tenure.compiler.gathering.mentions import compile_names
from tenure.compiler.request.parse import parse_request
from tenure.schema.errors import Forbidden
from tenure.schema.policy import DEFAULT
from tenure.schema.principal import Principal
from tenure.tests.support.refusals import refused

SAM = Principal(user="sam", projects=frozenset({"atlas"}))


def test_names_of_the_request_and_of_the_caller_are_looked_up_together() -> None:
    request = parse_request("conversation", query="Where does Ann Lee sit?", entities=["Ben Ode"])
    lookup, scopes, _ = compile_names(request, SAM, DEFAULT.compile)

    assert {"ann lee", "ben ode"} <= set(lookup.norms)
    assert dict(lookup.identifiers) == {"project": "atlas", "tenant": "default", "user": "sam"}
    assert {"tenant", "project=atlas", "user=sam"} <= set(scopes)


def test_who_names_a_foreign_project_looks_up_nothing() -> None:
    request = parse_request("conversation", query="Where does Ann Lee sit?", project="borealis")
    with refused(Forbidden, "scope_not_yours", match="borealis"):
        compile_names(request, SAM, DEFAULT.compile)


@pytest.mark.parametrize(
    ("query", "is_looked_up"),
    [
        ("When did Will move?", True),
        ("When will Ann move?", False),
        ("Will Ann move?", False),
        ("Ann left. Will she come back?", False),
        ("Did I move?", False),
    ],
)
def test_a_common_word_that_is_written_as_a_name_may_be_one(query: str, is_looked_up: bool) -> None:
    lookup = compile_names(parse_request("conversation", query=query), SAM, DEFAULT.compile)[0]
    assert ({"will", "i"} & set(lookup.norms) != set()) is is_looked_up
