"""What a write teaches of an entity: identifiers that it lacks for the readers of the write."""

from tenure.resolution.identifiers import Lesson, fresh_identifiers
from tenure.resolution.known import Known
from tenure.resolution.register import Register, Rules
from tenure.schema.claim import Permissions
from tenure.schema.entity import EntityRef, Identifier
from tenure.schema.principal import TENANT_SCOPE, Scope
from tenure.tests.support.entities import entity

OWN = Scope(user="ann")
RULES = Rules(frozenset({TENANT_SCOPE.scope_id, OWN.scope_id}), OWN.scope_id)


def register(*identifiers: Identifier) -> Register:
    return Register(Known(entities={"sam": entity("sam", "Sam")}, identifiers=identifiers))


def stated(scheme: str, value: str, scope: Scope = TENANT_SCOPE) -> Identifier:
    return Identifier(
        entity_id="sam", scheme=scheme, value=value, tx_start=1, scope_id=scope.scope_id
    )


def taught(scope: Scope, known: Register, **external_ids: str) -> list[tuple[str, str, str]]:
    lesson = Lesson("w2", scope, Permissions(), 2)
    ref = EntityRef(name="Sam", type="person", external_ids=external_ids)
    identifiers = fresh_identifiers(ref, "sam", lesson, known, RULES)
    return [(row.scheme, row.value, row.scope_id) for row in identifiers]


def test_a_scheme_of_one_value_keeps_its_first_and_an_address_is_added() -> None:
    known = register(stated("tax", "1"), stated("email", "a@x.example"))
    assert taught(TENANT_SCOPE, known, tax="2", email="b@x.example") == [
        ("email", "b@x.example", "tenant")
    ]


def test_a_wider_write_teaches_again_what_a_narrow_one_did() -> None:
    known = register(stated("tax", "1", OWN))
    assert taught(OWN, known, tax="1") == []
    assert taught(TENANT_SCOPE, known, tax="1") == [("tax", "1", "tenant")]
