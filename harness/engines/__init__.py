"""One file per engine: how it is started, asked and understood."""

from __future__ import annotations

import importlib

from harness.engines.api import Engine


def load(name: str) -> Engine:
    """Return the engine of a file in this folder; `name` is what distributions call it."""
    found: Engine = importlib.import_module(f"{__name__}.{name}.engine").ENGINE
    return found
