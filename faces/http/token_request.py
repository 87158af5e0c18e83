"""Asking an issuer for the token that its code stands for."""

from __future__ import annotations

import base64
from http.client import HTTPException
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple
from urllib.error import URLError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

from pydantic import BaseModel

from ...schema.errors import Unavailable

if TYPE_CHECKING:
    from email.message import Message

    from ...service.settings import IssuerSignIn

_TIMEOUT_S: Final = 10
_MOST_BYTES: Final = 200_000


class CodeExchange(NamedTuple):
    """What is sent for a token."""

    client: IssuerSignIn
    code: str
    verifier: str
    callback_address: str


class _TokenAnswer(BaseModel):
    """What is read of an issuer's answer."""

    id_token: str = ""


class _NoRedirect(HTTPRedirectHandler):
    """A code and a secret go to the address of the settings and nowhere else."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        """Follow nothing."""


def id_token(exchange: CodeExchange) -> str:
    """The id token that an issuer gives for a code; empty where it gives none.

    Raises:
        Unavailable: `issuer_unavailable`.
    """
    client = exchange.client
    fields = {
        "grant_type": "authorization_code",
        "code": exchange.code,
        "redirect_uri": exchange.callback_address,
        "client_id": client.client_id,
        "code_verifier": exchange.verifier,
    }
    headers = {"accept": "application/json"}

    try:
        if client.client_secret_file is not None:
            secret = Path(client.client_secret_file).read_text(encoding="utf-8").strip()
            # RFC 6749 encodes both as form fields before they are joined.
            pair = f"{quote(client.client_id, safe='')}:{quote(secret, safe='')}"
            headers["authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()

        request = Request(client.token_url, urlencode(fields).encode(), headers)
        # The proxy of the environment is used, a redirect never.
        with build_opener(_NoRedirect).open(request, timeout=_TIMEOUT_S) as response:
            return _TokenAnswer.model_validate_json(response.read(_MOST_BYTES)).id_token
    except (OSError, URLError, HTTPException, ValueError) as error:
        # The issuer's own words are not shown: they may repeat the code.
        raise Unavailable(
            "the issuer gave no token for this sign-in; begin again, or look at its log",
            code="issuer_unavailable",
        ) from error
