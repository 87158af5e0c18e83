"""Settings: how a process of tenure is set up, and where each value came from.

Later sources win: defaults, `tenure.toml` (in the current folder, or at `TENURE_CONFIG`),
environment variables `TENURE_…` with `__` between the levels, and the flags of the command line. An
unknown key is an error, because a misspelt limit is no limit. All errors are reported at once.
Secrets are never printed. The core reads no settings: it receives a `Policy` and a `Principal`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, cast
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    create_model,
    field_validator,
)

from ..schema.artifact import MAX_BYTES
from ..schema.errors import InvalidInput, NotFound, did_you_mean
from ..schema.limits import toml_of, utf8_of
from ..schema.policy import Policy
from ..store.search.caches import DEFAULT_BOUNDS

PREFIX: Final = "TENURE_"
FILE: Final = "tenure.toml"
_FOREIGN_PREFIXES: Final = (
    *("TENURE_CONFIG", "TENURE_SHARED", "TENURE_EXPLORE"),
    *("TENURE_CI_STARTED", "TENURE_REQUIRE_", "TENURE_PICTURES", "TENURE_NEO4J_"),
)
"""Variables that the tests and the settings' own location use."""
_NEW_NAMES: Final[Mapping[str, str]] = {
    "policy.compile.mask_personal_for": "it is policy.compile.show_personal_to now, and names the "
    "roles that see personal data instead of those that do not",
}
"""What to write instead of a setting that is gone; a mere new spelling needs no line here."""
_LOCAL_KEY: Final = re.compile(
    r"zone|log\.(?:level|format)|caches\.\w+|policy\.window\.\w+"
    r"|policy\.compile\.(?:reserve_\w+|section_(?:tokens|shares|items)|small_window|\w+_candidates)"
)
"""What a file of the current folder may set to any value: display and budgets. It is a list of
what is allowed, so that a new setting is not."""
_NARROWING: Final = frozenset(
    (
        *("artifacts.max_bytes", "policy.write.max_batch", "policy.write.max_text_chars"),
        *("policy.write.long_text_chars", "policy.write.max_sources"),
        *("policy.compile.weakest_level", "policy.compile.safety_critical"),
        "policy.resolution.second_steward",
    )
)
"""What such a file may only lower, or switch on."""
_CELL_KEY: Final = re.compile(r"cells\.\w+\.(store|tenants|database|auth\.(user|password|file))")
"""A cell has the name that its owner gives it."""

_Entry = tuple[str, Any, str]
"""Dotted key, value, origin."""


class _Group(BaseModel):
    """Settings that belong together: known names alone, and none changes later."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            yield name, _shown(value)


class Auth(_Group):
    """How to sign in to a server; from the environment, never from a flag."""

    user: str | None = None
    password: SecretStr | None = None
    file: str | None = None
    """A file that holds `user/password`, as a container's secret does; instead of the two above."""


class CellSettings(_Group):
    """A server of its own for some tenants: a cell."""

    store: str
    """The address of its server."""
    tenants: tuple[str, ...] = Field(min_length=1)
    database: str | None = None
    """None: the setting `database`."""
    auth: Auth = Auth()
    """Without a password: the setting `auth`."""


class CallerSettings(_Group):
    """Who asks. Without roles it is the owner of the store."""

    user: str | None = None
    roles: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    session: str | None = None
    clearance: str | None = None
    """None: all for the owner, `restricted` for a caller with roles."""
    authority_level: int | None = None
    """The ceiling; None: 0 for the owner, 2 for a caller with roles."""


class ArtifactSettings(_Group):
    """Where originals are kept."""

    url: str | None = None
    """A folder, or a URL of fsspec; by default a folder next to an embedded store."""
    max_bytes: int = Field(default=MAX_BYTES, ge=1)
    """Size of one artifact."""


class LogSettings(_Group):
    """What is logged, and how."""

    level: Literal["debug", "info", "warning", "error"] = "warning"
    format: Literal["auto", "console", "json"] = "auto"
    """`auto`: JSON in a service, lines for people in the command line."""


class TelemetrySettings(_Group):
    """Where spans of what is done are sent."""

    otlp: str | None = None
    """The address of a collector that speaks OTLP over HTTP; None: nobody traces."""
    content: bool = False
    """Whether a span holds what was asked."""


class IssuerSignIn(_Group):
    """The client as which the pages send people to an issuer (authorisation code with PKCE)."""

    client_id: str = Field(min_length=1)
    authorization_url: str
    token_url: str
    client_secret_file: str | None = None
    """A file that holds the client's secret, as a container's secret does; None: it has none."""
    scope: str = "openid"

    @field_validator("authorization_url", "token_url")
    @classmethod
    def _is_private(cls, url: str) -> str:
        # An issuer that is tried out runs on this machine, without a certificate.
        address = urlsplit(url)
        is_local = address.scheme == "http" and address.hostname in ("127.0.0.1", "localhost")
        if not is_local and (address.scheme != "https" or not address.hostname):
            raise ValueError("state an https address; codes and tokens go there")
        return url


class OidcIssuer(_Group):
    """An OIDC issuer whose tokens `tenure serve` takes in addition to its own keys."""

    issuer: str
    audience: str
    jwks_url: str
    """Where its public keys are."""
    tenant: str | None = None
    """The tenant of every caller; None: the claim named by `tenant_claim` states it."""
    tenant_claim: str = "tenant"
    user_claim: str = "sub"
    roles_claim: str = ""
    """A claim with a list of the issuer's words; empty: nobody has a role."""
    roles: dict[str, str] = {}
    """Our roles by the issuer's words; a word that is not here gives none."""
    sign_in: IssuerSignIn | None = None
    """How people sign in to the pages there; None: by the code of the terminal alone."""


class ServeSettings(_Group):
    """How `tenure serve` listens."""

    host: str = "127.0.0.1"
    """The address that it listens on; beyond loopback it needs https, and keys or an issuer."""
    port: int = Field(default=8765, ge=0, le=65535)
    """0: any that is free."""
    hosts: tuple[str, ...] = ()
    """Names in addition to those of loopback under which clients may ask for it."""
    https: bool = False
    """Whether a proxy before it speaks https."""
    published_on_loopback: bool = False
    """Whether it listens inside a container whose port is published on loopback alone."""
    control: str | None = None
    """The file of its keys and sessions; by default next to an embedded store."""
    metrics_port: int | None = Field(default=None, ge=0, le=65535)
    """Where figures for Prometheus are told; None: nowhere."""
    oidc: OidcIssuer | None = None
    """Whose tokens are taken in addition to keys."""
    calls_per_minute: int | None = Field(default=None, ge=1)
    """What one caller may ask for in a minute, pages included; None: without a limit."""


class _CheckedApart:
    """A type whose values `load` checks itself, and only where some are stated.

    The checks of the policy pack are half of what the settings cost a command to build.
    """

    @staticmethod
    def __get_pydantic_core_schema__(_source: Any, handler: Any) -> Any:
        return handler(Any)


class CacheSettings(_Group):
    """The most memory of each cache of a process, in mebibytes; the page on scaling says what for.

    Whoever gives less reads or works out more, and gets the same answers.
    """

    claims_mib: int = Field(default=DEFAULT_BOUNDS.claims_mib, ge=1)
    """Decoded claims of a file or database."""
    permissions_mib: int = Field(default=DEFAULT_BOUNDS.permissions_mib, ge=1)
    """Permission sets of a file."""
    lookups_mib: int = Field(default=DEFAULT_BOUNDS.lookups_mib, ge=1)
    """What writers of a file found out about names."""
    names_mib: int = Field(default=DEFAULT_BOUNDS.names_mib, ge=1)
    """What is worked out of names."""
    vectors_mib: int = Field(default=DEFAULT_BOUNDS.vectors_mib, ge=1)
    """Vectors of all tenants; those of the tenant that is asked stay beyond it."""
    writer_pages_mib: int = Field(default=DEFAULT_BOUNDS.writer_pages_mib, ge=1)
    """Pages of a file for its writer."""
    reader_pages_mib: int = Field(default=DEFAULT_BOUNDS.reader_pages_mib, ge=1)
    """Pages of a file for each of its readers, of which sixteen stay."""


class Settings(_Group):
    """Everything that can be set."""

    store: str = "memory.db"
    """A file, a folder, `:memory:`, or the address of a server."""
    tenant: str = "default"
    database: str = "neo4j"
    """Of a server."""
    cells: dict[str, CellSettings] = {}
    """Servers for some tenants, by a name of one's own: `[cells.west]` in the file. All other
    tenants live at `store`. A `--store` on the command line is that server itself: no cell is
    asked."""
    zone: str = "UTC"
    """The time zone in which commands show times and read the dates that they ask, such as
    Europe/Berlin. JSON stays in UTC."""
    vector_index: bool = False
    """Let the server's own vector index propose what is near; see the page on scaling."""
    durability: Literal["full", "normal"] = "full"
    """Of an embedded store: `normal` is faster and never breaks the file, but a power failure may
    take the writes of the last moments."""
    encoder: str | None = None
    """`onnx`, or `sentence-transformers:` and a folder; without one search is lexical."""
    extractor: str | None = None
    """`openai:` or `anthropic:` and a model, with `@` and an address where it is your own: finds
    the claims of what is observed; without one, rules do."""
    answers: str | None = None
    """The file where a model's answers are kept; by default next to an embedded store, and in
    memory for a server."""
    mentions: str | None = None
    """`spacy:` and an installed model: finds names in addition to known ones and rules."""
    artifacts: ArtifactSettings = ArtifactSettings()
    auth: Auth = Auth()
    caches: CacheSettings = CacheSettings()
    caller: CallerSettings = CallerSettings()
    log: LogSettings = LogSettings()
    server: ServeSettings = ServeSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    policy: Annotated[Policy, _CheckedApart] = Policy()
    """The policy pack; `TENURE_POLICY__WRITE__MAX_BATCH=500` sets one number of it."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One value with its origin."""

    key: str
    value: object
    origin: str
    """`default`, the path of the file, the name of the variable, or the flag."""


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings in force."""

    settings: Settings
    origins: Mapping[str, str]
    """Origin by dotted key, of what is not a default."""

    def listed(self) -> tuple[Setting, ...]:
        """Every value with its origin, in the order of the keys."""
        values = dict(_leaves(self.settings.model_dump(mode="json")))
        return tuple(
            Setting(key, _shown(values[key]), self.origins.get(key, "default"))
            for key in sorted(values)
        )


def load(
    flags: Mapping[str, object] | None = None,
    *,
    env: Mapping[str, str] | None = None,
    path: Path | None = None,
) -> LoadedSettings:
    """The settings in force: defaults < file < environment < flags.

    `flags` are dotted keys; those of value None were not given. `env` is the environment of
    the process by default, `path` the file to read instead of `tenure.toml`.

    Raises:
        InvalidInput: `bad_settings`, with every error.
        NotFound: `unknown_file` for a file that is named and not there.
    """
    variables = os.environ if env is None else env
    flags = {key: value for key, value in (flags or {}).items() if value is not None}
    if path is None and variables.get("TENURE_CONFIG"):
        path = Path(variables["TENURE_CONFIG"])

    errors: list[str] = []
    values = [*_of_file(path, errors), *_of_env(variables, errors), *_of_flags(flags)]
    tree: dict[str, Any] = {}
    for key, value, _ in values:
        _put(tree, key, value)
    origins = {key: origin for key, _, origin in values}
    if "store" in flags:
        # That server itself is meant: no cell is asked.
        tree.pop("cells", None)

    settings = _settings_of(tree, origins, errors)
    if path is None:
        errors.extend(_check_local(origins, {key: value for key, value, _ in values}))
    if errors or settings is None:
        raise InvalidInput("the settings are wrong: " + "; ".join(errors), code="bad_settings")
    return LoadedSettings(settings, origins)


_URL_PASSWORD: Final = re.compile(r"(://[^/@:\s]*):[^@/\s]+(?=@)")


def _shown(value: Any) -> Any:
    """A value without the passwords of its addresses."""
    return _URL_PASSWORD.sub(r"\1:**********", value) if isinstance(value, str) else value


def _of_flags(flags: Mapping[str, object]) -> Iterator[_Entry]:
    for key, value in flags.items():
        yield key, value, "--" + key.rpartition(".")[2].replace("_", "-")


def _of_file(named_file: Path | None, errors: list[str]) -> list[_Entry]:
    path = named_file or Path(FILE)
    try:
        text = utf8_of(path.read_bytes(), str(path), code="bad_settings")
        tables = toml_of(text, str(path), code="bad_settings")
    except FileNotFoundError as error:
        if named_file is None:
            return []
        raise NotFound(f"there is no settings file {path}", code="unknown_file") from error
    except OSError as error:
        errors.append(f"{path} cannot be read: {error.strerror or error}")
        return []
    except InvalidInput as error:
        errors.append(str(error))
        return []
    return [(key, value, str(path)) for key, value in _leaves(tables)]


def _of_env(env: Mapping[str, str], errors: list[str]) -> Iterator[_Entry]:
    defaults = dict(_leaves(Settings().model_dump()))
    for name in sorted(env):
        if not name.startswith(PREFIX) or name.startswith(_FOREIGN_PREFIXES) or not env[name]:
            continue
        key = name.removeprefix(PREFIX).lower().replace("__", ".")
        if key not in defaults and not _CELL_KEY.fullmatch(key):
            nearest = did_you_mean(name, map(_variable, defaults))
            errors.append(f"there is no setting {name}: {nearest}")
            continue

        value: Any = env[name]
        if isinstance(defaults.get(key), tuple) or key.endswith(".tenants"):
            value = tuple(part.strip() for part in value.split(",") if part.strip())
        yield key, value, name


def _check_local(origins: Mapping[str, str], values: Mapping[str, Any]) -> Iterator[str]:
    """Refuse what a file of the current folder that nobody named may not decide.

    Anybody who can put a `tenure.toml` into a folder would else choose the store, the issuer or
    the readers of everybody who works there.
    """
    defaults = dict(_leaves(Settings().model_dump(mode="json")))
    for key, origin in origins.items():
        if origin != FILE or _LOCAL_KEY.fullmatch(key):
            continue
        value, default = values[key], defaults.get(key)
        if key == "store" and _is_below_here(value):
            continue
        if key in _NARROWING and type(value) is type(default) and _narrows(value, default):
            continue
        yield (
            f"{FILE} of this folder may not set {key}: it may choose a store "
            "below this folder, what is displayed and budgets, and lower limits; name the file "
            "with --config or TENURE_CONFIG if that is meant"
        )


def _is_below_here(store: object) -> bool:
    """Whether a store is a path below the current folder, where links lead too."""
    if not isinstance(store, str) or "://" in store or store.startswith("~"):
        return False
    here = Path.cwd()
    return not Path(store).is_absolute() and (here / store).resolve().is_relative_to(here)


def _narrows(value: Any, default: Any) -> bool:
    return value is True if isinstance(default, bool) else 0 < value <= default


def _variable(key: str) -> str:
    return PREFIX + key.replace(".", "__").upper()


def _leaves(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(cast("dict[str, Any]", value), f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _put(table: dict[str, Any], key: str, value: Any) -> None:
    *parents, name = key.split(".")
    for part in parents:
        subtable = table.setdefault(part, {})
        if not isinstance(subtable, dict):
            # A file may give a value where there are settings below: the check tells it.
            return
        table = cast("dict[str, Any]", subtable)
    table[name] = value


def _settings_of(
    values: dict[str, Any], origins: Mapping[str, str], errors: list[str]
) -> Settings | None:
    own_values = {name: value for name, value in values.items() if name != "policy"}
    try:
        if "policy" in values:
            model: Any = create_model("PolicySettings", __base__=_Group, policy=(Policy, ...))
            own_values["policy"] = model(policy=values["policy"]).policy
    except ValidationError as error:
        errors.extend(_sentences_of(error, origins))
    except InvalidInput as error:
        errors.append(str(error))

    try:
        return Settings(**own_values)
    except ValidationError as error:
        errors.extend(_sentences_of(error, origins))
    return None


def _sentences_of(error: ValidationError, origins: Mapping[str, str]) -> Iterator[str]:
    known = [key for key, _ in _leaves(Settings().model_dump())]
    for problem in error.errors():
        key = ".".join(part for part in problem["loc"] if isinstance(part, str))
        origin = origins.get(key, "the settings")
        if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            hint = _NEW_NAMES.get(key) or did_you_mean(key, known)
            yield f"{origin}: there is no setting {key!r}: {hint}"
        else:
            yield f"{origin}: {key}: {problem['msg']}"
