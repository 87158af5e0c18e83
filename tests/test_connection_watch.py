"""A connection that a test leaves open is told, on every Python."""

import gc
import sqlite3
from contextlib import closing

import pytest


def open_connection() -> None:
    sqlite3.connect(":memory:").execute("SELECT 1")
    gc.collect()


def test_a_connection_that_nobody_closes_is_told() -> None:
    with pytest.warns(ResourceWarning, match="unclosed database"):
        open_connection()

    with closing(sqlite3.connect(":memory:")) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
