"""Settings: who wins, what is refused, and that a secret stays one."""

from pathlib import Path

import pytest

from tenure.schema.errors import InvalidInput, NotFound, TenureError, Unavailable
from tenure.schema.policy import DEFAULT
from tenure.service.client.opening import caller, place_of
from tenure.service.settings import load
from tenure.tests.support.refusals import refused


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_defaults_are_those_of_the_product() -> None:
    settings = load(env={}).settings
    assert (settings.store, settings.tenant) == ("memory.db", "default")
    assert settings.policy.digest == DEFAULT.digest


def test_later_sources_win() -> None:
    Path("tenure.toml").write_text('store = "file.db"\ntenant = "file"\ndatabase = "file"\n')
    env = {
        "TENURE_CONFIG": "tenure.toml",
        "TENURE_STORE": "env.db",
        "TENURE_TENANT": "env",
        "TENURE_DATABASE": "",
    }
    loaded = load({"store": "flag.db", "tenant": None}, env=env)
    assert (loaded.settings.store, loaded.settings.tenant) == ("flag.db", "env")
    assert loaded.settings.database == "file"
    origins = {s.key: s.origin for s in loaded.listed()}
    assert [origins[k] for k in ("store", "tenant", "database", "log.level")] == [
        "--store",
        "TENURE_TENANT",
        "tenure.toml",
        "default",
    ]


def test_one_number_of_the_policy_can_be_set() -> None:
    settings = load(env={"TENURE_POLICY__WRITE__MAX_BATCH": "7"}).settings
    assert settings.policy.write.max_batch == 7
    assert settings.policy.digest != DEFAULT.digest


def test_a_secret_is_never_listed() -> None:
    loaded = load(env={"TENURE_AUTH__PASSWORD": "hush-hush"})
    assert "hush" not in repr(loaded.listed()) + repr(loaded)
    password = loaded.settings.auth.password
    assert password is not None
    assert password.get_secret_value() == "hush-hush"


def test_a_password_may_come_from_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("ann/hush/hush\n")
    env = {"TENURE_AUTH__FILE": str(secret)}
    loaded = load(env=env)
    assert place_of(loaded.settings).auth == ("ann", "hush/hush")
    assert "hush" not in repr(loaded.listed()) + repr(loaded)
    secret.write_text("hush-hush")
    with pytest.raises(InvalidInput, match="user/password") as bad:
        place_of(loaded.settings)
    assert (bad.value.code, "hush" in str(bad.value)) == ("bad_settings", False)
    secret.unlink()
    with refused(Unavailable, "file_unreadable", match="check its path"):
        place_of(loaded.settings)


@pytest.mark.parametrize(
    ("env", "says"),
    [
        ({"TENURE_STOR": "x"}, "did you mean 'TENURE_STORE'"),
        ({"TENURE_LOG__LEVLE": "info"}, "TENURE_LOG__LEVEL"),
        ({"TENURE_LOG__LEVEL": "loud"}, "TENURE_LOG__LEVEL: log.level: "),
        ({"TENURE_POLICY__WRITE__MAX_BATCH": "many"}, "policy.write.max_batch"),
        ({"TENURE_POLICY__RESOLUTION__BIND_AT": "0.1"}, "bands must rise"),
    ],
)
def test_a_wrong_variable_is_an_error(env: dict[str, str], says: str) -> None:
    with refused(InvalidInput, "bad_settings") as caught:
        load(env=env)
    assert says in str(caught.value)


@pytest.mark.parametrize("text", ["stor = 1\n", "[policy.write]\nmax_bath = 1\n", "no toml ["])
def test_a_wrong_file_is_an_error(text: str) -> None:
    Path("tenure.toml").write_text(text)
    with refused(InvalidInput, "bad_settings", match=r"tenure\.toml"):
        load(env={})


def test_a_named_file_must_be_there() -> None:
    Path("other.toml").write_text('tenant = "acme"\n')
    assert load(env={"TENURE_CONFIG": "other.toml"}).settings.tenant == "acme"
    assert load(env={}, path=Path("other.toml")).settings.tenant == "acme"
    with pytest.raises(NotFound, match=r"none\.toml"):
        load(env={}, path=Path("none.toml"))


def test_variables_of_the_tests_are_no_settings() -> None:
    assert load(env={"TENURE_SHARED": "x", "TENURE_NEO4J_VERSION": "5"}).origins == {}


def test_without_roles_the_caller_is_the_owner() -> None:
    owner = caller(load({"caller.user": "sam"}, env={}).settings)
    assert (owner.privileged, owner.user, owner.authority_level) == (True, "sam", 0)
    other = caller(load({"caller.roles": ("viewer",)}, env={}).settings)
    assert (other.privileged, other.authority_level, other.source_kinds) == (False, 2, frozenset())
    strong = caller(
        load({"caller.roles": ("agent",), "caller.authority_level": 1}, env={}).settings
    )
    assert strong.authority_level == 1


def test_a_file_that_nobody_named_gets_no_password_of_the_environment() -> None:
    Path("tenure.toml").write_text('store = "neo4j://elsewhere:7687"\n')
    env = {"TENURE_AUTH__PASSWORD": "hush-hush"}
    with pytest.raises(InvalidInput, match="TENURE_CONFIG") as caught:
        load(env=env)
    assert (caught.value.code, "hush" in str(caught.value)) == ("bad_settings", False)
    assert load({"store": "neo4j://own:7687"}, env=env).settings.store == "neo4j://own:7687"
    named = load(env={**env, "TENURE_CONFIG": "tenure.toml"}).settings
    assert named.store == "neo4j://elsewhere:7687"


FOREIGN = "https://foreign.example"


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("policy.compile.show_personal_to", '[policy.compile]\nshow_personal_to = ["member"]'),
        ("policy.compile.personal", '[policy.compile]\npersonal = "show"'),
        ("policy.write.directive_roles", '[policy.write]\ndirective_roles = ["viewer"]'),
        ("policy.write.injection", '[policy.write]\ninjection = "off"'),
        ("policy.write.max_batch", "[policy.write]\nmax_batch = 1000000"),
        ("policy.write.max_batch", "[policy.write]\nmax_batch = true"),
        ("artifacts.url", f'[artifacts]\nurl = "{FOREIGN}"'),
        ("server.oidc.issuer", f'[server.oidc]\nissuer = "{FOREIGN}"'),
        ("server.host", '[server]\nhost = "0.0.0.0"'),
        ("server.control", '[server]\ncontrol = "own.control"'),
        ("telemetry.otlp", f'[telemetry]\notlp = "{FOREIGN}"'),
        ("encoder", 'encoder = "sentence-transformers:model"'),
        ("extractor", f'extractor = "openai:m@{FOREIGN}"'),
        ("answers", 'answers = "answers.db"'),
        ("caller.roles", '[caller]\nroles = ["owner"]'),
        ("auth.file", '[auth]\nfile = "secret"'),
        ("cells.west.store", '[cells.west]\nstore = "neo4j://west"\ntenants = ["a"]'),
        ("tenant", 'tenant = "other"'),
        ("store", 'store = "../other.db"'),
        ("store", 'store = "/tmp/other.db"'),
        ("store", 'store = "~/other.db"'),
        ("store", 'store = "link/other.db"'),
        ("store", 'store = "neo4j://foreign.example"'),
        ("auth.password", '[auth]\npassword = "Lark88"'),
    ],
)
def test_a_file_that_nobody_named_decides_no_address_and_no_reader(
    key: str, text: str, tmp_path: Path
) -> None:
    Path("link").symlink_to(tmp_path.parent)
    Path("tenure.toml").write_text(text)
    with refused(InvalidInput, "bad_settings", match="of this folder may not set") as caught:
        load(env={})
    assert key in str(caught.value)
    assert "Lark88" not in str(caught.value)


def test_a_file_that_nobody_named_chooses_display_budgets_and_lower_limits() -> None:
    Path("tenure.toml").write_text(
        'store = "team/memory.db"\n[log]\nlevel = "info"\n[caches]\nclaims_mib = 3\n'
        "[policy.write]\nmax_batch = 7\n[policy.resolution]\nsecond_steward = true\n"
        "[policy.window]\nmemory_share = 100\n"
    )
    settings = load(env={}).settings
    assert (settings.store, settings.log.level) == ("team/memory.db", "info")
    assert settings.policy.write.max_batch == 7
    assert settings.policy.resolution.second_steward


def test_what_a_flag_or_a_variable_overrides_is_not_asked_of_the_file() -> None:
    Path("tenure.toml").write_text('store = "/tmp/other.db"\ntenant = "other"\n')
    loaded = load({"store": "own.db"}, env={"TENURE_TENANT": "own"})
    assert (loaded.settings.store, loaded.settings.tenant) == ("own.db", "own")


@pytest.mark.parametrize(
    "address",
    ["neo4j://reader:Lark88@db.example", "neo4j+s://reader:Lark88@db.example:7687/a?b=c"],
)
def test_no_listing_and_no_refusal_prints_the_password_of_an_address(address: str) -> None:
    loaded = load(env={"TENURE_STORE": address, "TENURE_ARTIFACTS__URL": address})
    assert "Lark88" not in repr(loaded.listed()) + repr(loaded)
    with pytest.raises(TenureError) as refused:
        place_of(loaded.settings).open()
    assert "Lark88" not in str(refused.value)
    assert "reader:*" in repr(loaded.listed())
    Path("tenure.toml").write_text(f'store = "{address}"\n')
    with pytest.raises(InvalidInput) as caught:
        load(env={})
    assert "Lark88" not in str(caught.value)


def test_a_table_and_a_value_of_one_name_are_told_and_not_crashed_on() -> None:
    Path("tenure.toml").write_text('log = "debug"\n')
    with pytest.raises(InvalidInput, match="log"):
        load(env={"TENURE_LOG__LEVEL": "info"})


def test_a_setting_that_was_renamed_says_its_new_name() -> None:
    Path("tenure.toml").write_text('[policy.compile]\nmask_personal_for = ["viewer"]\n')
    with pytest.raises(InvalidInput, match=r"it is policy\.compile\.show_personal_to now"):
        load(env={})
