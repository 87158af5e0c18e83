"""Documents of a server: a file as the body of a request, and a folder that goes there."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

import tenure
from tenure.tests.faces.http.served import RunningServer, client, serving

NINE_MEGABYTES = 9 * 2**20
HEADERS = {"content-type": "application/octet-stream", "idempotency-key": "k1"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    with tenure.connect(str(tmp_path / "m.db")) as memory, serving(memory, tmp_path) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "handbook"
    (root / "hr").mkdir(parents=True)
    (root / "leave.md").write_text("# Leave\n\nParental leave is 14 weeks.\n")
    (root / "hr/pay.md").write_text("# Pay\n\nSalaries are paid on the 25th.\n")
    return root


def put_path(**fields: str) -> str:
    return f"/v1/documents/put?{urlencode(fields)}"


def test_the_bytes_of_a_file_are_the_body(server: RunningServer) -> None:
    body = "# Leave\n\nGültig ab 1. Juni 2026.\n".encode("cp1252")
    path = put_path(name="leave.md", source="hb", encoding="cp1252", check="false")
    with client(server, server.owner_key()) as http:
        report = http.post(path, content=body, headers=HEADERS).json()
        assert (report["outcome"], report["name"]) == ("new", "hb/leave.md")
        assert report["effective"].startswith("2026-06-01")
        again = http.post(path, content=body, headers=HEADERS)
        assert again.headers["idempotent-replayed"] == "true"
        other = http.post(path, content=b"other", headers=HEADERS)
        assert other.json()["code"] == "idempotency_mismatch"
        twice = http.post(f"{path}&name=b.md", content=body, headers={**HEADERS})
        assert twice.json()["code"] == "bad_request"


def test_a_large_body_is_taken_there_alone_and_of_a_caller_who_is_known(
    server: RunningServer,
) -> None:
    body = b"\x89PNG\r\n\x1a\n" + b"0" * NINE_MEGABYTES
    with client(server, server.owner_key()) as http:
        taken = http.post(put_path(name="a.png"), content=body, headers=HEADERS)
        assert taken.json()["code"] == "unknown_format"
        elsewhere = http.post("/v1/artifacts/put?name=a", content=body, headers=HEADERS)
        assert elsewhere.status_code == 413
    with client(server) as http:
        assert http.post(put_path(name="a.png"), content=body, headers=HEADERS).status_code == 401


def test_a_folder_is_sent_and_only_what_differs_later(server: RunningServer, folder: Path) -> None:
    rules = folder.parent / "documents.toml"
    rules.write_text('[source]\nname = "hb"\n[[rule]]\nmatch = "hr/**"\nallow_roles = ["owner"]\n')
    with tenure.connect(server.url, token=server.owner_key()) as memory:
        assert memory.documents.sync(folder, rules=rules).counts == {"new": 2}
        stamps = len(server.memory.log())
        for path in folder.rglob("*.md"):
            path.chmod(0)
        assert memory.documents.sync(folder, rules=rules).counts == {"same": 2}
        assert len(server.memory.log()) == stamps

        (folder / "leave.md").rename(folder / "time-off.md")
        rules.write_text('[source]\nname = "hb"\n')
        for path in folder.rglob("*.md"):
            path.chmod(0o600)
        report = memory.documents.sync(folder, rules=rules)
        assert report.counts == {"reclassified": 1, "renamed": 1}
        (folder / "time-off.md").unlink()
        assert memory.documents.sync(folder, rules=rules).counts == {"removed": 1, "same": 1}
        assert [view.name for view in memory.documents.list()] == ["hb/hr/pay.md"]
        os.mkfifo(folder / "pipe")
        assert memory.documents.sync(folder, rules=rules).refused == 1
