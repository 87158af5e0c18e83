"""Figures for Prometheus: by route, and by nothing that names anybody."""

from __future__ import annotations

import re
import socket
from typing import Any

import httpx2
import pytest

import tenure
from tenure.service.server.metrics import RequestFigures, told_on
from tenure.tests.service.server.site import Site


def test_requests_are_counted_by_the_pattern_of_their_route(site: Site) -> None:
    path = site.browser.get("/find", params={"name": "Orchid Foods"}).headers["location"]
    site.browser.get(path)
    site.browser.get("/", params={"q": "canary"})
    site.browser.get("/canary")
    site.browser.post("/v1/write", json={"subject": "canary"})
    site.browser.get("/healthz", headers={"host": "canary.example"})
    served_app: Any = site.browser.app
    figures = served_app.state.tenure.figures

    with told_on(0, figures) as port:
        text = httpx2.get(f"http://127.0.0.1:{port}/metrics").text
    assert 'route="/entities/{entity_id}",status="200"' in text
    assert 'method="POST",route="/v1/write",status="401"' in text
    assert 'route="none",status="421"' in text
    assert "canary" not in text
    assert path.rpartition("/")[2] not in text
    assert "demo" not in text


def test_caches_are_told_with_their_bounds(site: Site) -> None:
    served_app: Any = site.browser.app
    with told_on(0, served_app.state.tenure.figures) as port:
        text = httpx2.get(f"http://127.0.0.1:{port}/metrics").text
    assert 'tenure_cache_bound_bytes{cache="claims"} 1.34217728e+08' in text
    (used,) = re.findall(r'tenure_cache_bytes\{cache="claims"\} (\S+)', text)
    assert 0 < float(used) <= 128 << 20


def test_without_a_port_nothing_is_told() -> None:
    with told_on(None, RequestFigures()) as port:
        assert port == 0


def test_a_port_that_is_taken_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with (
            pytest.raises(tenure.Unavailable, match="--metrics-port"),
            told_on(port, RequestFigures()),
        ):
            pass
