"""What the footer of one data file says: its columns, and what wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Final

from harness.core.errors import printable
from harness.formats.files import avro
from harness.usage import column_types
from harness.usage.schema_changes import ColumnPart
from harness.usage.table_folder import ListedFile, TableFolder

SPARK: Final = b"org.apache.spark.version"
"""Where Spark tells its version in files of both kinds (`SPARK_VERSION_METADATA_KEY`)."""
ORC: Final = b"ORC"
ROW: Final = "row"
"""The struct of a transactional table's files in which the columns are (`AcidUtils` of Hive)."""
_BUILD: Final = re.compile(r"\s*\(.*|\s+version\b")
_LONGEST: Final = 60


@dataclass(frozen=True, slots=True)
class DataFooter:
    """Columns in the file's order, and what wrote it."""

    columns: tuple[ColumnPart, ...]
    writers: tuple[str, ...]


def oldest(files: Iterable[ListedFile]) -> ListedFile | None:
    """Return the file that was modified first, of those that are not hidden and not empty."""
    shown = (each for each in files if each.size and each.name[0] not in "._")
    return min(shown, key=lambda each: (each.modified, each.path), default=None)


def read(folder: TableFolder, path: str) -> DataFooter:
    """Read the footer of a Parquet or an ORC file, or the head of one of Avro; nothing else of it.

    Raises:
        UnreadableError: it is none of them.

    """
    with folder.opened(path) as file:
        begins = file.read(len(avro.MAGIC))
        file.seek(0)
        if begins == avro.MAGIC:
            return _avro(file)
        return _orc(file) if begins.startswith(ORC) else _parquet(file)


def _avro(file: IO[bytes]) -> DataFooter:
    import fastavro  # noqa: PLC0415 - only reading needs it

    written: Any = fastavro.reader(file).writer_schema
    return DataFooter(column_types.of_avro(written["fields"]), ())


def _parquet(file: IO[bytes]) -> DataFooter:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only reading needs it

    with pq.ParquetFile(file) as found:
        told = found.metadata.metadata or {}
        by = (found.metadata.created_by or "", _spark(told))
        return DataFooter(column_types.of_file(found.schema_arrow), words(by))


def _orc(file: IO[bytes]) -> DataFooter:
    from pyarrow.orc import ORCFile  # noqa: PLC0415

    found = ORCFile(file)
    columns = column_types.of_file(found.schema)
    inner = next((each.parts for each in columns if each.name == ROW and each.parts), columns)
    by = (found.software_version, _spark(found.schema.metadata or {}))
    return DataFooter(inner, words(by))


def _spark(told: Mapping[bytes, bytes]) -> str:
    version = told.get(SPARK, b"").decode("utf-8", "replace")
    return f"Spark {version}" if version else ""


def words(names: Iterable[str]) -> tuple[str, ...]:
    """Return who wrote something as short words, without what a build is called.

    >>> words(["parquet-mr version 1.13.1 (build db4183)", ""])
    ('parquet-mr 1.13.1',)
    """
    short = (printable(_BUILD.sub("", each)).strip()[:_LONGEST] for each in names)
    return tuple(sorted({each for each in short if each}))


def without(
    columns: Sequence[ColumnPart], names: Iterable[str], prefix: str = ""
) -> tuple[ColumnPart, ...]:
    """Return columns but for some, and for those that begin with what a format adds."""
    left_out = {each.lower() for each in names}
    return tuple(
        each
        for each in columns
        if each.name.lower() not in left_out and not (prefix and each.name.startswith(prefix))
    )
