"""Which file groups of a Hudi table are live no longer: completed `replacecommit`s name them.

Clustering and `insert overwrite` write new file groups; the files of the old ones stay until they
are cleaned away. The record of such an instant is JSON in layout 1 of the timeline, Avro in
layout 2. Source: Hudi technical specification, "Timeline"; `HoodieReplaceCommitMetadata.avsc`.
"""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from harness.formats import timeline
from harness.formats.api import FileFactError

ACTION: Final = "replacecommit"
AVRO: Final = b"Obj\x01"
"""What an Avro file begins with (Avro specification, "Object Container Files")."""


def of_table(folder: Path) -> frozenset[str]:
    """Return the file groups that completed instants of a table's timeline replaced.

    Raises:
        FileFactError: one of the records cannot be understood.

    """
    home, groups = timeline.home(folder), frozenset[str]()
    for name in timeline.names(folder):
        if name.endswith(f".{ACTION}"):
            groups |= of_record((home / name).read_bytes(), name)
    return groups


def of_record(data: bytes, name: str = f"a {ACTION}") -> frozenset[str]:
    """Return the file groups that one completed instant replaced; `name`: what to call it.

    Raises:
        FileFactError: it cannot be understood.

    """
    try:
        told = _record(data).get("partitionToReplaceFileIds") or {}
        return frozenset(each for groups in told.values() for each in groups or ())
    except (ValueError, TypeError, AttributeError, EOFError, IndexError, StopIteration) as problem:
        raise FileFactError(f"{name} cannot be understood: {problem}") from problem


def _record(data: bytes) -> Any:  # noqa: ANN401 - JSON or Avro
    if not data.startswith(AVRO):
        return json.loads(data or b"{}")
    import fastavro  # noqa: PLC0415 - only reading needs it

    return next(iter(fastavro.reader(BytesIO(data))))
