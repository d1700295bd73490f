"""What a Parquet file says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.formats.api import FileFactError

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile


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
    with _opened(path) as file:
        columns = tuple((field.name, str(field.type)) for field in file.schema_arrow)
        (values,) = _columns(file, path, (key,))
    return Footer(columns, tuple(str(value) for value in values))


def rows(path: Path, columns: Sequence[str]) -> tuple[tuple[Any, ...], ...]:
    """Read the values of some columns, row by row.

    Raises:
        FileFactError: it is no Parquet file, or has no such columns.

    """
    with _opened(path) as file:
        return tuple(zip(*_columns(file, path, columns), strict=True))


@contextmanager
def _opened(path: Path) -> Iterator[ParquetFile]:
    import pyarrow as pa  # noqa: PLC0415 - only reading needs it
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, OSError) as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem


def _columns(file: ParquetFile, path: Path, names: Sequence[str]) -> tuple[list[Any], ...]:
    if absent := [name for name in names if name not in file.schema_arrow.names]:
        raise FileFactError(f"{path.name}: it has no column {', '.join(absent)}")
    found = file.read(columns=list(names))
    return tuple(found.column(name).to_pylist() for name in names)
