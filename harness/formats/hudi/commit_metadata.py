"""What a completed instant of Hudi's timeline tells of itself: JSON in layout 1, Avro in layout 2.

Source: Hudi technical specification, "Timeline", versions 0.15 and 1.0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Final

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
