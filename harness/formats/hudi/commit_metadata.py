"""The record of a completed instant on Hudi's timeline: JSON in layout 1, Avro in layout 2.

Clustering and `insert overwrite` write new file groups; the files of the old ones stay until they
are cleaned away, and only the record of the `replacecommit` names them. Source: Hudi technical
specification, "Timeline", versions 0.15 and 1.0; `HoodieReplaceCommitMetadata.avsc`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from harness.formats.api import FileFactError
from harness.formats.hudi import timeline

REPLACE: Final = "replacecommit"
AVRO: Final = b"Obj\x01"
"""What an Avro file begins with (Avro specification, "Object Container Files")."""
PROBLEMS: Final = (ValueError, TypeError, AttributeError, EOFError, IndexError, StopIteration)
"""What reading raises where the bytes are no such record."""


def read(data: bytes) -> Any:  # noqa: ANN401 - JSON or Avro
    """Return the record; raises one of `PROBLEMS` where it is none."""
    if not data.startswith(AVRO):
        return json.loads(data or b"{}")
    import fastavro  # noqa: PLC0415 - only reading needs it

    return next(iter(fastavro.reader(BytesIO(data))))


def extra_of(path: Path) -> Mapping[str, str]:
    """Return the extra metadata in the file of a write; nothing where it is no such record."""
    try:
        return read(path.read_bytes()).get("extraMetadata") or {}
    except PROBLEMS:
        return {}


def replaced_groups(folder: Path) -> frozenset[str]:
    """Return the file groups that completed instants of a table's timeline replaced."""
    home, groups = timeline.home(folder), frozenset[str]()
    for name in timeline.names(folder):
        if name.endswith(f".{REPLACE}"):
            groups |= replaced_by((home / name).read_bytes(), name)
    return groups


def replaced_by(record: bytes, name: str = f"a {REPLACE}") -> frozenset[str]:
    """Return the file groups that one completed instant replaced; `name`: what to call it."""
    try:
        groups = read(record).get("partitionToReplaceFileIds") or {}
        return frozenset(group for inside in groups.values() for group in inside or ())
    except PROBLEMS as problem:
        raise FileFactError(f"{name} cannot be understood: {problem}") from problem
