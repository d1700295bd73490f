"""What the kit last found of each reader on this machine: kept in the cache."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from harness.artifacts.cache import Cache
from harness.conformance.results import Conformance
from harness.core.atomic_write import atomic_write

FOLDER: Final = "conformance"
_RESULT: Final = TypeAdapter(Conformance)


def keep(found: Conformance, cache: Cache) -> None:
    """Keep a result in the place of the one before."""
    file = _file(found.reader, cache)
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as part:
        part.write_bytes(_RESULT.dump_json(found, indent=1))


def latest(reader: str, cache: Cache) -> Conformance | None:
    """Return the last result of a reader; None: it was not checked here, or it cannot be read."""
    try:
        return _RESULT.validate_json(_file(reader, cache).read_bytes())
    except (OSError, ValidationError):
        return None


def _file(reader: str, cache: Cache) -> Path:
    return cache.root / FOLDER / f"{hashlib.sha256(reader.encode()).hexdigest()[:16]}.json"
