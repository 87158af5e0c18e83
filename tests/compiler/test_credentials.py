import base64
import json
import os
import time
from pathlib import Path

import pytest

from tenure.compiler.safety.credentials import find_credentials

SHARED = Path(os.environ.get("TENURE_SHARED", Path(__file__).parents[2].parent / "shared"))
DATA = SHARED / "data/injection"


def encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


PAYLOAD = encoded(b'{"sub":"42","name":"Sam"}')
JWT = ".".join((encoded(b'{"alg":"HS256"}'), PAYLOAD, encoded(b"s" * 32)))
# Put together here, so that no scanner takes the test for a leak.
SECRETS = [
    ("aws_access_key", "AKIA" + "IOSFODNN7REALKEY"),
    ("aws_secret_key", "aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzQ8vLp3Tq2"),
    ("aws_access_key", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("github_token", "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"),
    ("tenure_key", "tnr_" + "0123456789abcdef0123456789abcdef"),
    ("model_provider_key", "sk-" + "abcdefghijklmnop1234567890abcdefghij"),
    ("github_token", "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2),
    ("github_token", "github_pat_" + "a1B2c3D4e5F6g7H8i9J0" * 3),
    ("gitlab_token", "glpat-" + "x8Kd92mNq7Rt5Wz3Yb1c"),
    ("slack_token", "xoxb-" + "2389478923-kjsdhf8923hfkjsd"),
    ("stripe_key", "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"),
    ("google_key", "AIza" + "SyD3v1-4kfPq8rT2uW6xY0zB5cE7gH9jK1m"),
    ("model_provider_key", "sk-proj-" + "aB3dE5gH7jK9mN1pQ3sT5vW7"),
    ("hugging_face_token", "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"),
    ("package_token", "npm_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
    ("tenure_key", "tnr_" + "8fK2mQ9vXw3LpT7zRb1N"),
    ("private_key", "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA75dd"),
    ("private_key", "-----BEGIN PRIVATE KEY-----" + "\\nMIIEvQ"),
    ("jwt", JWT),
    ("jwt", f"Authorization: Bearer {JWT}"),
    ("url_password", "postgres://admin:" + "S3cr3tPw9@db/x"),
    ("assigned_secret", "password=" + "Tr0ub4dor&3x"),
    ("assigned_secret", "my password is " + "hunter2Xq9!"),
    ("assigned_secret", "DB_PASSWORD: '" + "s3cr3t-P4ssw0rd!'"),
    ("assigned_secret", '"client_secret": "' + 'Zx9-qL2_vB7kR4tY"'),
    ("assigned_secret", "api_key: " + "7f3a9c2e5b8d1f4a6c9e2b5d8f1a4c7e"),
    ("basic_login", "Authorization: Basic " + "ZGVwbG95OlpyOGtQcTQxdlQ="),
    ("basic_login", '{"authorization": "basic ' + 'ZGVwbG95OlpyOGtQcTQxdlQ="}'),
    ("bearer_token", "Authorization: Bearer " + "Zr8kPq41vTxW92mN"),
    ("bearer_token", "-H 'authorization: token " + "Zr8kPq41vTxW92mN'"),
    ("login_argument", "curl -u deploy:" + "Zr8kPq41vT https://ci.example/run"),
    ("login_argument", "curl --user=deploy:" + "Zr8kPq41vT"),
    ("login_argument", "wget --proxy-user 'deploy:" + "Zr8kPq41vT'"),
    ("cookie", "Cookie: lang=en; sid=" + "Zr8kPq41vTxW92mN"),
    ("cookie", "Set-Cookie: session=" + "Zr8kPq41vTxW92mN; Path=/; HttpOnly"),
]

HARMLESS = [
    "",
    "password: <your password>",
    "password=changeme123",
    "The password is required",
    "reset your password: click here",
    "api_key=YOUR_API_KEY",
    "password = os.environ['DB_PASSWORD_1']",
    "token: str = get_token(user1)",
    "secret_key=${SECRET_KEY1}",
    "The access token is valid for 3600 seconds",
    "https://example.com:8080/a@b",
    "postgres://user:password@localhost/db",
    "task-force sk-learn-contrib-version-1.2.3-documentation",
    "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "uuid 3f2b8a10-1111-4222-8333-944455556666",
    "password: string(8..200)",
    "secret: kubernetes.io/tls2",
    "password: config.db.password1",
    "api_key = settings.API_KEY_2",
    "password: 11112222",
    "password: aaaaaaa1",
    "-----BEGIN PUBLIC KEY-----\nMIIEpAIBAAKCAQEA75dd",
    "-----BEGIN PRIVATE KEY----- then the key follows",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "AKIA" + "XXXXXXXXXXXXXXXX",
    "ghp_" + "x" * 36,
    "eyJhbGciOiJub25l.eyJzdWIiOiI0MiJ9.c2lnbmF0dXJl",
    encoded(b'{"typ":"JWT"}') + f".{PAYLOAD}.c2lnbmF0dXJl",
    "eyJ" + encoded(b"no json at all") + ".eyJzdWIiOiI0MiJ9.c2lnbmF0dXJl",
    "tnr_short",
    "sk-" + "a" * 30,
    "sk-this-is-only-a-name-of-a-package",
    "sk-your-own-key-stands-here-1234",
    "password = utf8_to_utf16_dup(v);",
    "a basic understanding of the matter",
    "Basic aW50cm9kdWN0aW9u",
    "Authorization: Bearer <your token>",
    "docker run -u 1000:1000 image",
    "sudo -u postgres psql; chown -u user:$GROUP_ID1",
    "Cookie: lang=en; theme=dark-blue-2",
    "the cookie is set by the server",
]


@pytest.mark.parametrize(("code", "text"), SECRETS)
def test_a_secret_is_found_once_and_not_repeated(code: str, text: str) -> None:
    (finding,) = find_credentials(f"note: {text} end")
    assert finding.code == code
    assert finding.severity == 100
    assert not set(finding.detail.split()) & set(text.split())


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert find_credentials(text) == ()


def test_secrets_are_reported_by_place() -> None:
    text = "password=" + "Tr0ub4dor&3x and AKIA" + "IOSFODNN7REALKEY"
    assert [(each.code, each.detail) for each in find_credentials(text)] == [
        ("assigned_secret", "12 characters at 9"),
        ("aws_access_key", "20 characters at 26"),
    ]


def test_hidden_characters_do_not_hide_a_secret() -> None:
    assert find_credentials("AKIA" + "IOSF\u200bODNN7REALKEY")[0].code == "aws_access_key"


@pytest.mark.parametrize(
    "unit", ["eyJ-", "aws secret ", "password: ", "sk-a", "a://", "-----BEGIN "]
)
def test_a_hostile_text_takes_linear_time(unit: str) -> None:
    started = time.process_time()
    find_credentials(unit * (100_000 // len(unit)))
    assert time.process_time() - started < 2


@pytest.mark.skipif(not DATA.exists(), reason=f"the shared injection data is not at {DATA}")
def test_no_benign_document_is_refused() -> None:
    lines = (DATA / "benign.dev.jsonl").read_text(encoding="utf-8").splitlines()
    refused = [row["id"] for row in map(json.loads, lines) if find_credentials(row["text"])]
    assert len(lines) > 100
    assert refused == []
