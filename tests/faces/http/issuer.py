"""A small OIDC issuer on loopback: it asks nobody for a password, and checks all that it is sent.

It speaks the authorisation code flow with PKCE as RFC 6749, RFC 7636 and OpenID Connect Core
state it: exact return address, one use of a code, the verifier of its challenge, the client's
secret where it has one.
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

CLIENT = "tenure-pages"
SECRET = "a secret: of / the client"
KEY_ID = "k1"


@dataclass
class Issuer:
    """What the issuer knows, and what a test lets it do wrong."""

    url: str = ""
    callbacks: set[str] = field(default_factory=set[str])
    key: Any = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    codes: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    claims: dict[str, Any] = field(default_factory=dict[str, Any])
    """Claims beside the usual ones, or instead of them."""
    exchanges: int = 0

    def key_set(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [public | {"kid": KEY_ID, "alg": "ES256", "use": "sig"}]}

    def authorize(self, query: dict[str, str]) -> str:
        """The address back, with a code."""
        assert query["response_type"] == "code"
        assert query["client_id"] == CLIENT
        assert query["redirect_uri"] in self.callbacks, query["redirect_uri"]
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def exchange(self, fields: dict[str, str], authorization: str) -> dict[str, str] | None:
        """The token of a code; None for what is refused."""
        self.exchanges += 1
        query = self.codes.pop(fields.get("code", ""), None)
        if query is None or fields["redirect_uri"] != query["redirect_uri"]:
            return None

        digest = hashlib.sha256(fields["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        pair = urlencode({CLIENT: SECRET}).replace("+", "%20").replace("=", ":")
        expected = "Basic " + base64.b64encode(pair.encode()).decode()
        if challenge != query["code_challenge"] or authorization != expected:
            return None

        now = int(time.time())
        usual = {"iss": self.url, "aud": CLIENT, "sub": "ann", "exp": now + 60, "iat": now}
        claims = usual | {"nonce": query["nonce"]} | self.claims
        token = jwt.encode(claims, self.key, algorithm="ES256", headers={"kid": KEY_ID})
        return {"id_token": token, "access_token": "unused", "token_type": "Bearer"}


@contextmanager
def running_issuer() -> Iterator[Issuer]:
    issuer = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def answer(self, status: int, body: object, **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def do_GET(self) -> None:
            address = urlsplit(self.path)
            if address.path == "/keys":
                return self.answer(200, issuer.key_set())
            query = {name: values[0] for name, values in parse_qs(address.query).items()}
            return self.answer(302, {}, Location=issuer.authorize(query))

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["content-length"])).decode()
            fields = {name: values[0] for name, values in parse_qs(text).items()}
            if self.path == "/elsewhere":
                return self.answer(307, {}, Location=f"{issuer.url}/token")
            token = issuer.exchange(fields, self.headers.get("authorization", ""))
            return self.answer(200 if token else 400, token or {"error": "invalid_grant"})

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
