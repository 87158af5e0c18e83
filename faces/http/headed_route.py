"""Reads that say their head alone, too: what a probe, a proxy or a checker of links asks for."""

from __future__ import annotations

from typing import Any

from fastapi.routing import APIRoute


class HeadedRoute(APIRoute):
    """A route that answers HEAD wherever it answers GET; the server leaves the body out."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        methods = self.methods or set()
        if "GET" in methods:
            self.methods = methods | {"HEAD"}
