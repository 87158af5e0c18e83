"""Who may do, name and see what."""

import pytest

from tenure.schema import principal as p
from tenure.schema.errors import Forbidden, InvalidInput
from tenure.schema.principal import (
    OWNER,
    Principal,
    Privilege,
    Scope,
    Sight,
    own_identifier,
    visible_scopes,
)
from tenure.schema.vocabulary import Authority, Classification, ObjectType, StateLayer
from tenure.tests.support.refusals import refused

FACT = ObjectType.IDENTITY_FACT
ANN = Principal(user="ann", projects=frozenset({"nova"}), session="s1")


@pytest.mark.parametrize(
    ("scope", "text", "specificity"),
    [
        (Scope(), "tenant", 0),
        (Scope(user="ann"), "user=ann", 1),
        (Scope(project="nova"), "project=nova", 2),
        (Scope(project="nova", user="ann"), "project=nova,user=ann", 2),
        (Scope(session="s"), "session=s", 3),
        (Scope(session="s", project="nova", user="ann"), "project=nova,user=ann,session=s", 3),
    ],
)
def test_a_scope_has_one_canonical_text(scope: Scope, text: str, specificity: int) -> None:
    assert scope.scope_id == text
    assert Scope.parse(text) == scope
    assert scope.specificity == specificity


@pytest.mark.parametrize(
    "text",
    [
        "",
        "user",
        "user=",
        "team=a",
        "user=a,user=b",
        "user=a,project=b",
        "tenant,user=a",
        "user=a,",
    ],
)
def test_another_text_is_no_scope(text: str) -> None:
    with refused(InvalidInput, "bad_scope"):
        Scope.parse(text)


@pytest.mark.parametrize("value", ["", "a,b", "a=b", "a\nb"])
@pytest.mark.parametrize("name", ["user", "project", "session"])
def test_a_scope_id_cannot_forge_another(name: str, value: str) -> None:
    with pytest.raises(InvalidInput, match="must not be empty"):
        Scope(**{name: value})


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"tenant": ""}, "bad_tenant"),
        ({"tenant": "t" * 257}, "bad_tenant"),
        ({"user": "a,b"}, "bad_scope"),
        ({"session": ""}, "bad_scope"),
        ({"projects": {"a=b"}}, "bad_scope"),
        ({"tenant": 5}, "bad_tenant"),
        ({"tenant": "\ud800"}, "unstorable_text"),
        ({"user": 5}, "bad_field"),
        ({"user": "a\0b"}, "unstorable_text"),
        ({"session": "s" * 513}, "too_large"),
        ({"roles": 5}, "bad_principal"),
        ({"roles": [1]}, "bad_principal"),
        ({"origins": ["\ud800"]}, "unstorable_text"),
        ({"roles": ["r" * 513]}, "too_large"),
        ({"clearance": "secret"}, "unknown_vocabulary"),
        ({"authority_level": 9}, "unknown_vocabulary"),
    ],
)
def test_a_malformed_principal_has_no_constructor(given: dict[str, object], code: str) -> None:
    with refused(InvalidInput, code):
        Principal(**given)  # type: ignore[arg-type]


def test_a_principal_normalises_what_it_is_given() -> None:
    found = Principal(roles=["admin"], clearance="public", authority_level=3)  # type: ignore[arg-type]
    assert found.roles == frozenset({"admin"})
    assert found.clearance is Classification.PUBLIC
    assert found.authority_level is Authority.INFERRED_MEMORY
    assert hash(found) == hash(Principal(roles=frozenset({"admin"}), clearance=found.clearance,
                                         authority_level=Authority(3)))  # fmt: skip


_CALLS = {
    "define": p.DEFINE,
    "steward": p.STEWARD,
    "operate": p.OPERATE,
    "erase": p.ERASE,
    "audit": p.AUDIT,
}
_MAY = {
    "owner": "define steward operate erase audit",
    "admin": "define steward operate erase audit",
    "steward": "steward",
    "auditor": "audit",
    "agent": "",
    "viewer": "",
    "level 0": "define steward operate",
    "level 1": "define steward operate",
    "level 2": "",
}


@pytest.mark.parametrize("call", _CALLS)
@pytest.mark.parametrize("who", _MAY)
def test_the_table_of_privileges(who: str, call: str) -> None:
    word, _, level = who.partition(" ")
    caller = Principal(
        roles=frozenset() if level else frozenset({word}),
        authority_level=Authority(int(level or 2)),
    )
    if call in _MAY[who].split():
        caller.require(_CALLS[call])
        return
    with refused(Forbidden, "privilege_required") as caught:
        caller.require(_CALLS[call])
    assert caught.value.data == {"call": _CALLS[call].call}


def test_a_refusal_says_what_would_do() -> None:
    with pytest.raises(Forbidden, match="roles admin, owner or authority level <= 1"):
        ANN.require(p.DEFINE)
    with pytest.raises(Forbidden, match=r"roles admin, owner$"):
        ANN.require(p.ERASE)


def test_the_owner_of_an_embedded_store_may_do_everything() -> None:
    for privilege in _CALLS.values():
        OWNER.require(privilege)
    OWNER.require(Privilege("x", frozenset({"owner"})))
    assert (OWNER.tenant, OWNER.authority_level) == ("default", 0)
    assert {"platform", "system_of_record", "web"} <= OWNER.source_kinds


# Scopes


def test_a_caller_sees_its_own_scopes_and_the_tenants() -> None:
    assert visible_scopes(Principal()) == {"tenant"}
    assert visible_scopes(ANN) == {
        "tenant",
        "project=nova",
        "user=ann",
        "session=s1",
        "project=nova,user=ann",
        "project=nova,session=s1",
        "user=ann,session=s1",
        "project=nova,user=ann,session=s1",
    }


def test_a_project_limits_the_project_scopes() -> None:
    two = Principal(projects=frozenset({"nova", "orion"}))
    assert visible_scopes(two) == {"tenant", "project=nova", "project=orion"}
    assert visible_scopes(two, project="nova") == {"tenant", "project=nova"}


def test_a_foreign_project_is_refused_unless_the_caller_may_name_any() -> None:
    with refused(Forbidden, "scope_not_yours"):
        visible_scopes(ANN, project="orion")
    for caller in (OWNER, Principal(roles=frozenset({"admin"}))):
        assert visible_scopes(caller, project="orion") == {"tenant", "project=orion"}


@pytest.mark.parametrize("layer", StateLayer)
def test_a_stated_scope_wins_over_the_layer(layer: StateLayer) -> None:
    stated = Scope(project="nova")
    assert p.write_scope(ANN, layer, stated_scope=stated, object_type=FACT) == stated


@pytest.mark.parametrize(
    ("layer", "scope_id"),
    [
        ("session", "user=ann,session=s1"), ("task", "user=ann,session=s1"),
        ("project", "project=nova"),
        ("user", "user=ann"), ("tenant", "tenant"), ("corpus", "tenant"), ("tool", "tenant"),
        ("policy", "tenant"), ("belief", "tenant"),
    ],
)  # fmt: skip
def test_a_layer_takes_its_ids_from_the_caller(layer: str, scope_id: str) -> None:
    found = p.write_scope(ANN, StateLayer(layer), stated_scope=None, object_type=FACT)
    assert found.scope_id == scope_id


@pytest.mark.parametrize("layer", ["session", "task", "project"])
def test_a_layer_without_its_id_is_refused(layer: str) -> None:
    two = Principal(user="ann", projects=frozenset({"nova", "orion"}))
    for caller in (Principal(), two):
        with refused(InvalidInput, "scope_missing"):
            p.write_scope(caller, StateLayer(layer), stated_scope=None, object_type=FACT)


def test_a_user_layer_without_a_user_is_tenant_wide() -> None:
    found = p.write_scope(Principal(), StateLayer.USER, stated_scope=None, object_type=FACT)
    assert found == p.TENANT_SCOPE


@pytest.mark.parametrize(
    "scope", [Scope(user="bob"), Scope(project="orion"), Scope(session="s2", user="ann")]
)
def test_a_foreign_id_is_refused_unless_the_caller_may_name_any(scope: Scope) -> None:
    with refused(Forbidden, "scope_not_yours"):
        p.write_scope(ANN, StateLayer.TENANT, stated_scope=scope, object_type=FACT)
    for caller in (OWNER, Principal(authority_level=Authority.DEVELOPER)):
        assert (
            p.write_scope(caller, StateLayer.TENANT, stated_scope=scope, object_type=FACT) == scope
        )


def test_the_only_project_is_known() -> None:
    assert p.only_project(ANN) == "nova"
    assert p.only_project(Principal()) is None
    assert p.only_project(Principal(projects=frozenset({"a", "b"}))) is None


# Sight


def test_sight_is_sorted_and_holds_everyone() -> None:
    caller = Principal(roles=frozenset({"hr", "analyst"}), clearance=Classification.CONFIDENTIAL)
    assert caller.sight() == Sight(("tenant",), ("*", "analyst", "hr"), 2)
    assert caller.sight(["b", "a"]).scopes == ("a", "b")


@pytest.mark.parametrize(
    ("classification", "allow", "deny", "sees"),
    [
        (0, ("*",), (), True),
        (0, (), (), True),
        (1, ("hr",), (), True),
        (2, ("*",), (), False),
        (0, ("legal",), (), False),
        (0, ("hr", "legal"), ("hr",), False),
        (0, ("*",), ("hr",), False),
        (0, ("hr",), ("legal",), True),
        (0, ("*",), ("*",), False),
    ],
)
def test_deny_wins(
    classification: int, allow: tuple[str, ...], deny: tuple[str, ...], sees: bool
) -> None:
    sight = Sight(("tenant",), ("*", "hr"), 1)
    assert sight.may_see(classification=classification, allow=allow, deny=deny) is sees


def test_a_caller_is_his_user_or_the_owner_of_a_store_of_his_own() -> None:
    assert own_identifier(Principal(user="ann", roles=frozenset({"owner"}))) == ("user", "ann")
    assert own_identifier(OWNER) == ("owner", "self")
    assert own_identifier(Principal(session="s1", roles=frozenset({"owner"}))) is None
    assert own_identifier(Principal(roles=frozenset({"admin"}))) is None
