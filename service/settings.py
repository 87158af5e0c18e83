"""Settings: how a process of tenure is set up, and where each value came from.

Later sources win: defaults, `tenure.toml` (in the current folder, or where `TENURE_CONFIG`
points), environment variables `TENURE_…` with `__` between the levels, and the flags of the
command line. A key that nobody knows is an error, because a misspelt limit is no limit; all
errors are told at once. Secrets are never printed. The core reads none of this: it is handed
a `Policy` and a `Principal`.
Sources: ecosystem 7; API "Command line".
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from ..schema.artifact import MAX_BYTES
from ..schema.errors import InvalidInput, NotFound, did_you_mean
from ..schema.policy import Policy

PREFIX: Final = "TENURE_"
FILE: Final = "tenure.toml"
_ELSEWHERE: Final = (
    *("TENURE_CONFIG", "TENURE_SHARED", "TENURE_EXPLORE"),
    *("TENURE_CI_STARTED", "TENURE_REQUIRE_NEO4J", "TENURE_NEO4J_"),
)
"""Variables that the tests and the settings' own location use."""
_CELL_KEY: Final = re.compile(r"cells\.\w+\.(store|tenants|database|auth\.(user|password|file))")
"""A cell has the name that its owner gives it."""


class Auth(BaseModel):
    """How to sign in to a server; from the environment, never from a flag."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user: str | None = None
    password: SecretStr | None = None
    file: str | None = None
    """A file that holds `user/password`, as a container's secret does; instead of the two above."""


class CellOf(BaseModel):
    """A server of its own for some tenants: a cell."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    store: str
    """The address of its server."""
    tenants: tuple[str, ...] = Field(min_length=1)
    database: str | None = None
    """None: the setting `database`."""
    auth: Auth = Auth()
    """Without a password: the setting `auth`."""


class Caller(BaseModel):
    """Who asks. Without roles it is the owner of the store."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user: str | None = None
    roles: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    session: str | None = None
    clearance: str = "highly_restricted"
    authority_level: int | None = None
    """The ceiling; None: 0 for the owner, 2 for a caller with roles."""


class Artifacts(BaseModel):
    """Where originals are kept."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str | None = None
    """A folder, or a URL of fsspec; by default a folder beside an embedded store."""
    max_bytes: int = Field(default=MAX_BYTES, ge=1)
    """Size of one artifact."""


class Log(BaseModel):
    """What is logged, and how."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    level: Literal["debug", "info", "warning", "error"] = "warning"
    format: Literal["auto", "console", "json"] = "auto"
    """`auto`: JSON in a service, lines for people in the command line."""


class Settings(BaseSettings):
    """Everything that can be set."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        env_ignore_empty=True,
    )

    store: str = "memory.db"
    """A file, a folder, `:memory:`, or the address of a server."""
    tenant: str = "default"
    database: str = "neo4j"
    """Of a server."""
    cells: dict[str, CellOf] = {}
    """Servers for some tenants, by a name of one's own: `[cells.west]` in the file. All other
    tenants live at `store`. A `--store` on the command line is that server itself: no cell is
    asked."""
    vector_index: bool = False
    """Let the server's own vector index propose what is near; see the page on scaling."""
    encoder: str | None = None
    """`onnx`, or `sentence-transformers:` and a folder; without one search is lexical."""
    mentions: str | None = None
    """`spacy:` and an installed model: finds names beside known ones and rules."""
    artifacts: Artifacts = Artifacts()
    auth: Auth = Auth()
    caller: Caller = Caller()
    log: Log = Log()
    policy: Policy = Policy()
    """The policy pack; `TENURE_POLICY__WRITE__MAX_BATCH=500` sets one number of it."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Leave every source out but the one that `load` has merged already."""
        return (init_settings,)


@dataclass(frozen=True, slots=True)
class Setting:
    """One value with its origin."""

    key: str
    value: object
    origin: str
    """`default`, the path of the file, the name of the variable, or the flag."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force."""

    settings: Settings
    origins: Mapping[str, str]
    """Origin by dotted key, of what is not a default."""

    def listed(self) -> tuple[Setting, ...]:
        """Return every value with its origin, in the order of the keys."""
        held = self.settings.model_dump(mode="json")
        flat = dict(_leaves(held))
        return tuple(
            Setting(key, flat[key], self.origins.get(key, "default")) for key in sorted(flat)
        )


def load(
    flags: Mapping[str, object] | None = None,
    *,
    env: Mapping[str, str] | None = None,
    path: Path | None = None,
) -> Loaded:
    """Return the settings: defaults < file < environment < flags.

    `flags` are dotted keys; those of value None were not given. `env` is the environment of
    the process by default, `path` the file to read instead of `tenure.toml`.

    Raises:
        InvalidInput: `bad_settings`, with every error.
        NotFound: `unknown_file` for a file that is named and not there.
    """
    found = os.environ if env is None else env
    stated = path or (Path(found["TENURE_CONFIG"]) if found.get("TENURE_CONFIG") else None)
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    errors: list[str] = []
    for values in (
        _of_file(stated, errors),
        _of_env(found, errors),
        [(k, v, "--" + k.rpartition(".")[2].replace("_", "-")) for k, v in (flags or {}).items()],
    ):
        for key, value, origin in values:
            if value is not None:
                _put(merged, key, value)
                origins[key] = origin
    if (flags or {}).get("store") is not None:
        merged.pop("cells", None)
    settings = _validated(merged, origins, errors)
    if errors or settings is None:
        raise InvalidInput("the settings are wrong: " + "; ".join(errors), code="bad_settings")
    return Loaded(settings, origins)


def _of_file(stated: Path | None, errors: list[str]) -> list[tuple[str, Any, str]]:
    path = stated or Path(FILE)
    try:
        held = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        if stated is None:
            return []
        raise NotFound(f"there is no settings file {path}", code="unknown_file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        errors.append(f"{path}: {error}")
        return []
    return [(key, value, str(path)) for key, value in _leaves(held)]


def _of_env(env: Mapping[str, str], errors: list[str]) -> list[tuple[str, Any, str]]:
    known = dict(_leaves(Settings().model_dump()))
    values: list[tuple[str, Any, str]] = []
    for name in sorted(env):
        if not name.startswith(PREFIX) or name.startswith(_ELSEWHERE) or not env[name]:
            continue
        key = name.removeprefix(PREFIX).lower().replace("__", ".")
        if key not in known and not _CELL_KEY.fullmatch(key):
            errors.append(
                f"there is no setting {name}: {did_you_mean(name, map(_variable, known))}"
            )
            continue
        listed = isinstance(known.get(key), tuple) or key.endswith(".tenants")
        values.append((key, _listed(env[name]) if listed else env[name], name))
    return values


def _variable(key: str) -> str:
    return PREFIX + key.replace(".", "__").upper()


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _leaves(held: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in held.items():
        if isinstance(value, dict):
            yield from _leaves(cast("dict[str, Any]", value), f"{before}{name}.")
        else:
            yield before + name, value


def _put(held: dict[str, Any], key: str, value: Any) -> None:
    *above, name = key.split(".")
    for part in above:
        held = held.setdefault(part, {})
    held[name] = value


def _validated(
    merged: dict[str, Any], origins: Mapping[str, str], errors: list[str]
) -> Settings | None:
    known = [key for key, _ in _leaves(Settings().model_dump())]
    try:
        return Settings(**merged)
    except ValidationError as error:
        for problem in error.errors():
            key = ".".join(str(part) for part in problem["loc"] if isinstance(part, str))
            where = origins.get(key, "the settings")
            if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
                errors.append(f"{where}: there is no setting {key!r}: {did_you_mean(key, known)}")
            else:
                errors.append(f"{where}: {key}: {problem['msg']}")
    except InvalidInput as error:
        errors.append(str(error))
    return None
