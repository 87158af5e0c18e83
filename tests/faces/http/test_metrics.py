"""Figures for Prometheus: by route, and by nothing that names anybody."""

import re
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import tenure
from tenure.faces.http.command import listening_socket
from tenure.schema.principal import OWNER
from tenure.tests.faces.http.site import Site, site_over

METRICS_PORT = 9_464


@pytest.fixture(scope="module")
def site(demo_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    store = folder / "store.db"
    store.write_bytes(demo_file.read_bytes())
    with tenure.connect(str(store), principal=replace(OWNER, tenant="demo")) as memory:
        yield site_over(memory, folder, metrics_port=METRICS_PORT)


def read_figures(site: Site, **headers: str) -> Any:
    reader = TestClient(site.browser.app, base_url=f"http://127.0.0.1:{METRICS_PORT}")
    return reader.get("/metrics", headers=headers)


def test_requests_are_counted_by_the_pattern_of_their_route(site: Site) -> None:
    path = site.browser.get("/find", params={"name": "Orchid Foods"}).headers["location"]
    site.browser.get(path)
    site.browser.get("/", params={"q": "canary"})
    site.browser.get("/canary")
    site.browser.post("/v1/write", json={"subject": "canary"})
    site.browser.get("/healthz", headers={"host": "canary.example"})

    text = read_figures(site).text
    assert 'route="/entities/{entity_id}",status="200"' in text
    assert 'method="POST",route="/v1/write",status="401"' in text
    assert 'route="none",status="421"' in text
    assert "canary" not in text
    assert path.rpartition("/")[2] not in text
    assert "demo" not in text


def test_made_up_methods_are_counted_as_one(site: Site) -> None:
    rows = len(read_figures(site).text.splitlines())
    for number in range(50):
        for path in ("/healthz", "/v1/write", "/nowhere"):
            site.browser.request(f"QX{number}", path)
    text = read_figures(site).text
    assert 'method="other",route="/healthz",status="405"' in text
    assert "QX" not in text
    assert len(text.splitlines()) < rows + 60


def test_figures_answer_loopback_hosts_and_one_path_alone(site: Site) -> None:
    assert read_figures(site).headers["content-type"].startswith("text/plain; version=")
    assert read_figures(site, host=f"localhost:{METRICS_PORT}").status_code == 200
    refused = read_figures(site, host="rebound.example")
    assert (refused.status_code, "tenure_" in refused.text) == (421, False)

    reader = TestClient(site.browser.app, base_url=f"http://127.0.0.1:{METRICS_PORT}")
    assert reader.get("/healthz").status_code == 404
    assert site.browser.get("/metrics").status_code == 404


def test_caches_are_told_with_their_bounds(site: Site) -> None:
    text = read_figures(site).text
    assert 'tenure_cache_bound_bytes{cache="claims"} 1.34217728e+08' in text
    (used,) = re.findall(r'tenure_cache_bytes\{cache="claims"\} (\S+)', text)
    assert 0 < float(used) <= 128 << 20


def test_a_port_that_is_taken_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(tenure.Unavailable, match="--metrics-port"):
            listening_socket("127.0.0.1", port, "--metrics-port")
