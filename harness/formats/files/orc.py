"""What an ORC file says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from harness.formats.api import FileFactError, FileRows
from harness.formats.files.parquet import Footer, canonical

if TYPE_CHECKING:
    import pyarrow
    from pyarrow.orc import ORCFile

MAGIC: Final = b"ORC"
"""What an ORC file begins with (ORC specification, "File Tail")."""


def is_orc(path: Path) -> bool:
    """Return whether a file is one of ORC; its name need not say so.

    Raises:
        OSError: it cannot be read.

    """
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read(path: Path, key: str) -> Footer:
    """Read the columns, and the values of the column `key` as text; see `parquet.read`.

    Raises:
        FileFactError: it is no ORC file, or has no such column.

    """
    with _opened(path) as file:
        columns = tuple((field.name, str(field.type)) for field in file.schema)
        values = file.read(columns=[key]).column(key).to_pylist()
    return Footer(columns, tuple(map(str, values)))


def rows(path: Path, columns: Sequence[str]) -> tuple[tuple[Any, ...], ...]:
    """Read the values of some columns, row by row, as Arrow has them.

    Raises:
        FileFactError: it is no ORC file, or has no such columns.

    """
    with _opened(path) as file:
        table = file.read()
        if absent := [column for column in columns if column not in table.column_names]:
            raise FileFactError(f"{path.name}: it has no column {', '.join(absent)}")
        return tuple(zip(*(table.column(column).to_pylist() for column in columns), strict=True))


def schema(path: Path) -> pyarrow.Schema:
    """Read the columns as Arrow has them.

    Raises:
        FileFactError: it is no ORC file.

    """
    with _opened(path) as file:
        return file.schema


def content(path: Path) -> FileRows:
    """Read everything in a file as canonical values.

    Raises:
        FileFactError: it is no ORC file, or holds a value that has no canonical form: Arrow reads
            times of ORC as nanoseconds, which there are of the years 1677 to 2262 only.

    """
    with _opened(path) as file:
        return canonical(file.read(), path)


@contextmanager
def _opened(path: Path) -> Iterator[ORCFile]:
    import pyarrow as pa  # noqa: PLC0415 - only reading needs it
    from pyarrow.orc import ORCFile  # noqa: PLC0415

    try:
        yield ORCFile(path)
    except (pa.ArrowException, OSError) as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem
