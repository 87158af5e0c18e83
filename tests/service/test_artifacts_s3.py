"""Originals in a bucket: the client of `s3://` against a server that speaks its protocol.

Nothing here leaves the machine. What holds on a disk holds in a bucket: whole files, permissions,
an erasure that stays, several processes at once; and what is wrong is said in a sentence.
"""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import boto3
import fsspec
import pytest
from moto.server import ThreadedMotoServer

from tenure import Memory, NotFound, Principal, connect
from tenure.schema.artifact import Artifact, address_of
from tenure.schema.claim import Permissions
from tenure.schema.errors import Conflict, Unavailable
from tenure.schema.principal import Scope
from tenure.schema.values import stamp_time
from tenure.store.transfer.artifact_files import ArtifactFiles
from tenure.tests.support.refusals import refused

TEXT = "The nightly deploy of nova ended at 02:10."
ANN = Principal(user="ann", roles=frozenset({"engineer"}))
BOB = Principal(user="bob", roles=frozenset({"analyst"}))
BUCKET = "team-originals"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """Name the server and its credentials as every S3 client finds them, and make a bucket."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ann")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    forgotten()
    client = boto3.client("s3")
    client.create_bucket(Bucket=BUCKET)
    yield client
    for key in keys(client):
        client.delete_object(Bucket=BUCKET, Key=key)
    client.delete_bucket(Bucket=BUCKET)
    client.close()
    forgotten()


def forgotten() -> None:
    """Drop the clients that fsspec keeps: each reads the environment once."""
    if "s3fs" in sys.modules:
        fsspec.get_filesystem_class("s3").clear_instance_cache()


def keys(client: Any) -> list[str]:
    listed = client.list_objects_v2(Bucket=BUCKET).get("Contents", ())
    return [one["Key"] for one in listed]


@pytest.fixture
def memory(bucket: Any) -> Iterator[Memory]:
    with connect(":memory:", artifacts=f"s3://{BUCKET}/tenure/originals") as opened:
        yield opened


def elsewhere() -> ArtifactFiles:
    """Return the same place as another process sees it: with a client of its own."""
    url = f"s3://{BUCKET}/tenure/originals"
    return ArtifactFiles(url, skip_instance_cache=True)


def test_a_bucket_keeps_lists_and_returns_what_was_put(memory: Memory, bucket: Any) -> None:
    kept = memory.artifacts.put(TEXT, name="deploy.log", origin="tool://ci")
    assert memory.artifacts.text(kept.address) == TEXT
    assert memory.artifacts.info(kept.address) == kept
    picture = memory.artifacts.put(b"\x89PNG\xff" * 40_000, name="a.png")
    assert memory.artifacts.get(picture.address) == b"\x89PNG\xff" * 40_000
    assert [a.name for a in memory.artifacts.list()] == ["a.png", "deploy.log"]
    assert not memory.artifacts.exists(address_of(b"other"))
    assert all(key.startswith("tenure/originals/") for key in keys(bucket))
    assert (
        kept.address
        in memory.compile(
            "code_generation", "deploy", evidence=[{"artifact": kept.address}]
        ).manifest.artifact_uris
    )


def test_who_may_not_read_it_is_told_that_there_is_none(memory: Memory) -> None:
    ann, bob = memory.bind(ANN), memory.bind(BOB)
    address = ann.artifacts.put(TEXT).address
    assert ann.artifacts.text(address) == TEXT
    assert not bob.artifacts.exists(address)
    assert bob.artifacts.list() == ()
    with pytest.raises(NotFound, match="there is no artifact"):
        bob.artifacts.get(address)


def test_an_erasure_empties_the_bucket_and_other_processes_see_it(
    memory: Memory, bucket: Any
) -> None:
    said = memory.write(subject="Sam", content="Sam is ill.", object_type="retrieved_passage")
    kept = memory.artifacts.put(TEXT, name="private.log", object_ids=[said.object_id])
    other = elsewhere()
    tenant = memory.principal.tenant
    assert other.grants(tenant, kept.digest) == (kept,)
    assert other.tombstone(tenant, kept.digest) is None
    assert memory.erase(said.object_id, reason="case 17").artifacts == (kept.address,)
    with pytest.raises(NotFound, match="case 17"):
        memory.artifacts.get(kept.address)
    assert other.grants(tenant, kept.digest) == ()
    with pytest.raises(Conflict, match="erased"):
        other.put(tenant, kept, TEXT.encode())
    left = [bucket.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in keys(bucket)]
    assert not any(b"nova" in data or b"private.log" in data for data in left)
    assert any(b"case 17" in data for data in left)


def grant(name: str, data: bytes) -> Artifact:
    return Artifact(
        address=address_of(data), size=len(data), media_type="text/plain", name=name, origin="",
        scope=Scope(), permissions=Permissions(), actor="ann", at=stamp_time(1), object_ids=(),
    )  # fmt: skip


def test_two_writers_of_the_same_bytes_both_keep_their_grant(bucket: Any) -> None:
    places, data, start = [elsewhere() for _ in range(4)], TEXT.encode() * 100, Barrier(4)

    def put(number: int) -> None:
        start.wait()
        places[number].put("default", grant(f"copy {number}", data), data)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(put, range(4)))
    digest = grant("", data).digest
    for place in places:
        assert place.read("default", digest) == data
        names = {one.name for one in place.grants("default", digest)}
        assert names == {f"copy {number}" for number in range(4)}


def test_a_listing_that_the_program_keeps_hides_nothing(memory: Memory, bucket: Any) -> None:
    kept = memory.artifacts.put(TEXT)
    folder = next(key for key in keys(bucket) if key.endswith("/data")).rpartition("/")[0]
    fsspec.filesystem("s3").ls(f"{BUCKET}/{folder}")
    gone = {"at": "today", "actor": "bob", "reason": "case 9", "grants": [kept.to_json()]}
    elsewhere().erase(memory.principal.tenant, kept.digest, json.dumps(gone).encode())
    with pytest.raises(NotFound, match="case 9"):
        memory.artifacts.get(kept.address)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("s3://nobody-made-this/x", "there is no bucket 'nobody-made-this'; make it"),
        ("s3://", "names no bucket; state one, as in s3://bucket/path"),
    ],
)
def test_a_bucket_that_is_not_there_is_named_and_never_made(
    bucket: Any, url: str, said: str
) -> None:
    with connect(":memory:", artifacts=url) as memory:
        with refused(Unavailable, "artifacts_unreachable", match=said):
            memory.artifacts.put(TEXT)
        with pytest.raises((Unavailable, NotFound)):
            memory.artifacts.get(address_of(b"x"))
    assert [one["Name"] for one in bucket.list_buckets()["Buckets"]] == [BUCKET]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("AWS_ACCESS_KEY_ID", None, "credentials"),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:9", "Could not connect"),
    ],
)
def test_what_a_client_lacks_is_said_in_a_sentence(
    bucket: Any, monkeypatch: pytest.MonkeyPatch, name: str, value: str | None, said: str
) -> None:
    if value is None:
        monkeypatch.delenv(name)
    else:
        monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with connect(":memory:", artifacts=f"s3://{BUCKET}") as memory:
        forgotten()
        with pytest.raises(Unavailable, match=said) as caught:
            memory.artifacts.put(TEXT)
    assert caught.value.code == "artifacts_unreachable"
    assert f"s3://{BUCKET}" in str(caught.value)


def test_without_its_client_the_extra_is_named() -> None:
    # In a process of its own: fsspec remembers a file system once it was found.
    script = """
import sys
sys.modules["s3fs"] = None
from tenure import connect
from tenure.schema.errors import Unavailable
with connect(":memory:", artifacts="s3://team/path") as memory:
    try:
        memory.artifacts.put("text")
    except Unavailable as error:
        print(error)
"""
    ran = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True
    )
    assert "pip install 'tenure[s3]'" in ran.stdout
