"""What an Avro object container file says of itself."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any, Final

from harness.formats.api import FileFactError, FileRows
from harness.formats.files import avro_types
from harness.formats.files.parquet import Footer

MAGIC: Final = b"Obj\x01"
"""What such a file begins with (Avro specification, "Object Container Files")."""


def is_avro(path: Path) -> bool:
    """Return whether a file is one of Avro; its name need not say so.

    Raises:
        OSError: it cannot be read.

    """
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read(path: Path, key: str) -> Footer:
    """Read the columns, and the values of the column `key` as text; see `parquet.read`.

    Raises:
        FileFactError: it is no Avro file, or has no such column.

    """
    written, records = _records(path)
    columns = avro_types.columns(written)
    if key not in dict(columns):
        raise FileFactError(f"{path.name}: it has no column {key}")
    return Footer(columns, tuple(str(record[key]) for record in records))


def schema(path: Path) -> dict[str, Any]:
    """Return the schema of the writer.

    Raises:
        FileFactError: it is no Avro file.

    """
    return _records(path, most=0)[0]


def content(path: Path) -> FileRows:
    """Read everything in a file as canonical values.

    Raises:
        FileFactError: it is no Avro file, or holds a value that has no canonical form.

    """
    written, records = _records(path)
    fields = written["fields"]
    rows = (tuple(avro_types.value(r[f["name"]], f["type"]) for f in fields) for r in records)
    return tuple(field["name"] for field in fields), tuple(rows)


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
