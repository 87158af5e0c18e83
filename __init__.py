"""A bitemporal knowledge store for agents, with a context compiler."""

import importlib as _importlib
import pathlib as _pathlib
import re as _re

# The names stand once, in the stub that type checkers read; importing them all would take a
# second, so each is imported when it is first used (as in SPEC 1 of Scientific Python).
_STUB = _pathlib.Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_MODULES = {
    name: module
    for module, name in _re.findall(r"^from (\S+) import (\w+) as \2$", _STUB, flags=_re.MULTILINE)
}

__all__ = [*sorted(_MODULES)]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: `import tenure` costs nothing."""
    if name == "__version__":
        value = _importlib.import_module("tenure.schema.version").VERSION
    elif name in _MODULES:
        value = getattr(_importlib.import_module(_MODULES[name]), name)
    else:
        raise AttributeError(f"module 'tenure' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
