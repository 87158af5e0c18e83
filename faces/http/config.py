"""What a server is started with: a value, so that tests and the command line build the same app."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ...schema.errors import InvalidInput
from ...schema.principal import Principal
from .credential import SigningKeys

if TYPE_CHECKING:
    from ...service.client.memory import Memory
    from ...service.settings import OidcIssuer
    from .control import ControlFile

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
"""Names under which a machine reaches only itself."""

MAX_BODY_BYTES: Final = 8_000_000
"""Size of a request's body; an import streams line by line within its own limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How one server is set up."""

    memory: Memory
    """The store, open; who asks is bound for every request."""
    control: ControlFile
    steward: Principal
    """Whom the one-time code signs in; never of level 0 or 1."""
    host: str = "127.0.0.1"
    port: int = 8765
    metrics_port: int | None = None
    """The port of loopback at which Prometheus reads figures; None: nowhere."""
    hosts: frozenset[str] = field(default=frozenset())
    """Names beside those of loopback under which clients may ask for it."""
    https: bool = False
    """Whether clients reach it by https, through a proxy: cookies are then sent by https alone."""
    is_demo: bool = False
    oidc: OidcIssuer | None = None
    """An issuer whose tokens are taken beside keys."""
    oidc_keys: SigningKeys | None = None
    """Where the issuer's keys come from; by default its own address."""
    calls_per_minute: int | None = None
    """What one caller may ask for in a minute, pages included; None: without a limit."""
    max_body_bytes: int = MAX_BODY_BYTES

    def __post_init__(self) -> None:
        require_person(self.steward)

    @property
    def names(self) -> frozenset[str]:
        """Every name that a request may state as its host, in lower case, without the port."""
        return LOOPBACK | frozenset(name.lower() for name in self.hosts)


def host_name(header: str) -> str:
    """The name of a Host header in lower case, without its port.

    >>> host_name("LocalHost:8765"), host_name("[::1]:8765")
    ('localhost', '::1')
    """
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


def require_person(principal: Principal) -> None:
    """Refuse to sign in whom a browser may not act for.

    Raises:
        InvalidInput: `bad_principal`.
    """
    if principal.authority_level <= 1:
        raise InvalidInput(
            "a browser session cannot have level 0 or 1; state --level 2 or weaker",
            code="bad_principal",
        )


def require_protection(
    host: str,
    control: ControlFile,
    *,
    https: bool,
    published_on_loopback: bool,
    has_issuer: bool = False,
) -> None:
    """Refuse to listen beyond loopback without https, and keys or an OIDC issuer.

    `published_on_loopback` is the word of whoever starts a container whose port is published on
    the loopback of its machine alone.

    Raises:
        InvalidInput: `insecure_listen`.
    """
    # Whoever reaches loopback has an account on this machine; beyond it anybody may be there.
    if host in LOOPBACK or published_on_loopback:
        return
    if https and (has_issuer or control.has_keys()):
        return

    raise InvalidInput(
        f"{host} is reached from other machines: create a key first (tenure keys create) or name "
        "an OIDC issuer under [server.oidc], put a proxy that speaks https before it and state "
        "--https; or listen on 127.0.0.1",
        code="insecure_listen",
    )
