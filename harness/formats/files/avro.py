"""What an Avro object container file says of itself; see `FileReader`."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any, Final

from harness.formats.api import FileFactError, FileRows
from harness.formats.files import avro_types
from harness.formats.files.parquet import Footer
from harness.model.column_statistics import ColumnStatistics

MAGIC: Final = b"Obj\x01"
"""What such a file begins with (Avro specification, "Object Container Files")."""


def read(path: Path, key: str) -> Footer:
    """Read the columns, and the values of the column `key` as text; see `parquet.read`."""
    written, records = _records(path)
    columns = avro_types.columns(written)
    if key not in dict(columns):
        raise FileFactError(f"{path.name}: it has no column {key}")
    return Footer(columns, tuple(str(record[key]) for record in records))


def written_schema(path: Path) -> dict[str, Any]:
    return _records(path, most=0)[0]


def content(path: Path) -> FileRows:
    """Read everything in a file as canonical values."""
    written, records = _records(path)
    fields = written["fields"]
    rows = (tuple(avro_types.value(r[f["name"]], f["type"]) for f in fields) for r in records)
    return tuple(field["name"] for field in fields), tuple(rows)


def statistics(path: Path, relative: str) -> tuple[ColumnStatistics, ...]:  # noqa: ARG001
    return ()  # Avro has none


def _records(path: Path, most: int | None = None) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the schema of the writer, and the records; no more than `most`."""
    import fastavro  # noqa: PLC0415 - only reading needs it

    try:
        with path.open("rb") as file:
            reader = fastavro.reader(file)
            records: list[Any] = list(islice(reader, most))
            written: Any = reader.writer_schema
    except (ValueError, EOFError, IndexError, OSError) as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem
    return written, records
