"""What the footer of one data file says: its columns in coarse types, and what wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Any, Final

from harness.core.errors import printable
from harness.formats.files import avro, column_parts, orc
from harness.formats.files.column_parts import ColumnPart
from harness.formats.files.table_folder import ListedFile, TableFolder

SPARK: Final = b"org.apache.spark.version"
"""Where Spark writes its version in files of both kinds (`SPARK_VERSION_METADATA_KEY`)."""
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
    shown = (file for file in files if file.size and file.name[0] not in "._")
    return min(shown, key=lambda file: (file.modified, file.path), default=None)


def read(folder: TableFolder, path: str) -> DataFooter:
    """Read the footer or head of a Parquet, ORC or Avro file; raises UnreadableError."""
    with folder.opened(path) as file:
        begin = file.read(len(avro.MAGIC))
        file.seek(0)
        if begin == avro.MAGIC:
            return _avro(file)
        return _orc(file) if begin.startswith(orc.MAGIC) else _parquet(file)


def _avro(file: IO[bytes]) -> DataFooter:
    import fastavro  # noqa: PLC0415 - only reading needs it

    schema: Any = fastavro.reader(file).writer_schema
    return DataFooter(column_parts.of_avro(schema["fields"]), ())


def _parquet(file: IO[bytes]) -> DataFooter:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only reading needs it

    with pq.ParquetFile(file) as stored:
        writers = (stored.metadata.created_by or "", _spark(stored.metadata.metadata or {}))
        return DataFooter(column_parts.of_arrow(stored.schema_arrow), short_names(writers))


def _orc(file: IO[bytes]) -> DataFooter:
    from pyarrow.orc import ORCFile  # noqa: PLC0415

    stored = ORCFile(file)
    columns = column_parts.of_arrow(stored.schema)
    inner = next((part.parts for part in columns if part.name == ROW and part.parts), columns)
    writers = (stored.software_version, _spark(stored.schema.metadata or {}))
    return DataFooter(inner, short_names(writers))


def _spark(metadata: Mapping[bytes, bytes]) -> str:
    version = metadata.get(SPARK, b"").decode("utf-8", "replace")
    return f"Spark {version}" if version else ""


def short_names(writers: Iterable[str]) -> tuple[str, ...]:
    """Return who wrote something as short words, without what a build is called.

    >>> short_names(["parquet-mr version 1.13.1 (build db4183)", ""])
    ('parquet-mr 1.13.1',)
    """
    short = (printable(_BUILD.sub("", writer)).strip()[:_LONGEST] for writer in writers)
    return tuple(sorted({writer for writer in short if writer}))
