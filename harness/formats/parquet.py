"""What a Parquet file says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.formats.api import FileFactError


@dataclass(frozen=True, slots=True)
class Footer:
    """Columns in the file's order with Arrow's words for their types, and one column's values."""

    columns: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]


def read(path: Path, key: str) -> Footer:
    """Read the footer, and the values of the column `key` as text.

    Raises:
        FileFactError: it is no Parquet file, or has no such column.

    """
    import pyarrow as pa  # noqa: PLC0415 - only reading needs it
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            if key not in schema.names:
                raise FileFactError(f"{path.name}: it has no column {key}")
            values = file.read(columns=[key]).column(key).to_pylist()
    except (pa.ArrowException, OSError) as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem
    columns = tuple((field.name, str(field.type)) for field in schema)
    return Footer(columns, tuple(str(value) for value in values))
