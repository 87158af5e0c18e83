"""The committed description, held to a real server by schemathesis.

What it makes up is sent as the owner of a store: requests that follow the description, and such
as break it. It runs in an environment of its own, so that its parts weigh on no other test.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tenure
from tenure.faces.http.metrics import LiteralRoutes
from tenure.faces.http.openapi import description
from tenure.faces.http.paging import LARGEST_PAGE
from tenure.schema.principal import OWNER
from tenure.service.calls.columns import field_words
from tenure.service.encoders.encoder import Progress
from tenure.tests.adapter_env import environment_of
from tenure.tests.faces.http.served import RunningServer, serving
from tenure.tests.faces.http.site import Site
from tenure.tests.fetched import FetchFailed
from tenure.tests.source_tree import ROOT

PACKAGES = ["schemathesis>=4.32,<4.33"]
DESCRIPTION = ROOT / "docs" / "openapi.json"
SETTINGS = ROOT / "tests" / "data" / "schemathesis.toml"
HOOKS = Path(__file__).with_name("schemathesis_hooks.py")
FEW, MANY = 1, 10
RUN_TIMEOUT_S = 900.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    with (
        tenure.connect(str(tmp_path / "store.db"), principal=OWNER) as memory,
        serving(memory, tmp_path) as server,
    ):
        memory.write("Sam Rivera", "office", "Chicago")
        memory.artifacts.put(b"a picture", media_type="image/png")
        memory.observe("I moved to the Chicago office.", speaker="Sam Rivera")
        memory.compile("conversation", query="Where does Sam Rivera work?")
        yield server


def run_against(server: RunningServer, examples: int, folder: Path, *options: str) -> str:
    """Try every operation, and return what schemathesis prints."""
    try:
        python = environment_of("schemathesis", PACKAGES)
    except FetchFailed as error:
        pytest.skip(f"schemathesis cannot be had: {error}")

    command = [str(python), "-P", "-m", "schemathesis.cli", "--config-file", str(SETTINGS)]
    command += ["run", str(DESCRIPTION)]
    command += ["--url", server.url, "--header", f"Authorization: Bearer {server.owner_key()}"]
    command += ["--max-examples", str(examples), "--no-color", *options]
    known = {"SCHEMATHESIS_HOOKS": str(HOOKS), "TENURE_KNOWN": json.dumps(known_names(server))}
    run = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **known},
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_S,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-20_000:] + run.stderr
    return run.stdout


def known_names(server: RunningServer) -> dict[str, list[str]]:
    """What is stored, by the fields that ask for it."""
    memory = server.memory
    sam = memory.as_of().entity("Sam Rivera").entity_id
    (first, *_) = memory.history("Sam Rivera", "office")
    (envelope, *_) = memory.envelopes.list()
    (artifact, *_) = memory.artifacts.list()
    names = ["Sam Rivera", sam]
    moments = ["2026-01-01T00:00:00Z", "2027-01-01T00:00:00+01:00"]
    return {
        **dict.fromkeys(("entity", "a", "b", "subject", "name"), names),
        **dict.fromkeys(("valid", "tx", "tx1", "tx2", "valid_from"), moments),
        "slot": ["office"],
        "value": ["Chicago", "Rome"],
        "object_id": [first.object_id],
        "pointer": [first.object_id, artifact.address],
        "address": [artifact.address],
        "envelope": [envelope.envelope_id],
        "envelope_id": [envelope.envelope_id],
        "manifest": [envelope.envelope_id],
        "what": ["entity_type", "role"],
        "task": ["conversation"],
    }


def operations_tried(output: str) -> int:
    match = re.search(r"Tested: (\d+)", output)
    assert match is not None, output
    return int(match.group(1))


def operations() -> list[dict[str, Any]]:
    return [operation for path in description()["paths"].values() for operation in path.values()]


def test_the_server_keeps_what_the_description_says(server: RunningServer, tmp_path: Path) -> None:
    output = run_against(server, FEW, tmp_path, "--phases", "fuzzing")
    assert operations_tried(output) == len(operations())


@pytest.mark.slow
def test_the_server_keeps_it_at_every_edge(server: RunningServer, tmp_path: Path) -> None:
    output = run_against(server, MANY, tmp_path, "--phases", "coverage,fuzzing")
    assert operations_tried(output) == len(operations())


def test_every_route_for_programs_is_described(site: Site) -> None:
    described: set[tuple[str, str]] = set()
    for path, operations_of_path in description()["paths"].items():
        described |= {(path, method.upper()) for method in operations_of_path}

    app: Any = site.browser.app
    served: set[tuple[str, str]] = set()
    for routes in app.routes:
        for route in routes.routes.values() if isinstance(routes, LiteralRoutes) else ():
            methods = set(route.methods or ()) - {"HEAD"}
            served |= {(route.path, method) for method in methods}
    assert served == described


def test_a_part_of_a_path_is_bounded(site: Site) -> None:
    document = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
    free_parts = [
        (path, parameter["name"])
        for path, operations_of_path in document["paths"].items()
        for operation in operations_of_path.values()
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "path"
        and not {"enum", "pattern"} & parameter["schema"].keys()
        and parameter["schema"].get("format") != "uuid"
    ]
    assert free_parts == []
    assert [path for path in document["paths"] if "{" in path] == []


def test_what_is_not_done_this_way_says_how(site: Site) -> None:
    answer = site.browser.delete("/v1/view/slot")
    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}


def test_every_operation_has_a_tag_and_a_summary_in_words() -> None:
    for path, operations in description()["paths"].items():
        for operation in operations.values():
            assert len(operation["tags"]) == 1, path
            assert len(operation["summary"].split()) > 1, path
            assert not operation["summary"].startswith("memory."), path


def test_fields_of_requests_and_answers_are_described_in_words() -> None:
    schemas = description()["components"]["schemas"]
    fields = [
        (name, field, schema.get("description", ""))
        for name, record in schemas.items()
        for field, schema in record.get("properties", {}).items()
    ]
    silent = [f"{name}.{field}" for name, field, words in fields if not words]
    assert [place for place in silent if "Request." in place] == []
    assert len(silent) < 0.21 * len(fields), silent
    stated = {name: words for record, name, words in fields if record == "WriteRequest"}
    assert stated["valid_from"] == field_words()["valid_from"]
    docstrings = {name: words for record, name, words in fields if record == "SlotStateAnswer"}
    assert len([words for words in docstrings.values() if words]) > 5


def test_the_fixed_parts_agree_with_the_code() -> None:
    paths = description()["paths"]
    parameters = {entry["name"]: entry for entry in paths["/v1/log"]["post"]["parameters"]}
    assert parameters["page_size"]["schema"]["maximum"] == LARGEST_PAGE

    answer = paths["/v1/re_embed"]["post"]["responses"]["200"]["content"]["application/json"]
    assert tuple(answer["schema"]["properties"]) == Progress._fields
