"""The digest of the code and configuration that shape what an engine answers.

An answer is kept under it, so that a change of either has the engine asked again.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from harness.artifacts.distributions import digest_of
from harness.core import tolerances
from harness.runtime import template

SHARED: Final = (
    "harness.core.tolerances",
    "harness.engines.java_floats",
    "harness.engines.query_sql",
    "harness.model.canonical",
)
"""What the answers of every engine go through."""


def code_digest(engine: str, *modules: str) -> str:
    """Return the SHA-256 (hexadecimal) of all that shapes the answers of an engine.

    Args:
        engine: the name of its package in `harness.engines` and of its folder in `containers`.
        modules: what shapes its answers beside its package and `SHARED`.

    """
    names = (f"harness.engines.{engine}", *SHARED, *modules)
    sources = [pair for name in names for pair in _sources(name)]
    templates = [list(source) for source in template.sources(engine)]
    return digest_of([templates, sources, tolerances.facts()])


def _sources(name: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of a module, or of each module of a package, without running any.

    A client library that one of them imports may be absent.
    """
    found = find_spec(name)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(name)
    path = Path(found.origin)
    files = sorted(path.parent.glob("*.py")) if found.submodule_search_locations else [path]
    for file in files:
        yield f"{name}/{file.name}", file.read_text(encoding="utf-8")
