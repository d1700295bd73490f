"""What data files hold, read from them directly: canonical values, whatever an engine shows.

Base files are Parquet, ORC or Avro, records in log files are Avro or Parquet (Hudi technical
specification, "Log file format").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final, TypeAlias

from harness.core.arrow import arrow_orc, pa, pq
from harness.core.records import FileValues
from harness.core.texts import printable
from harness.formats.api import FileFactError, FileRows
from harness.formats.files import arrow_file, avro, avro_table, column_parts, orc, parquet
from harness.formats.files.column_parts import ColumnPart
from harness.formats.files.parquet import Footer, canonical
from harness.formats.files.table_folder import TableFolder
from harness.formats.hudi import log as hudi_log
from harness.model.canonical import Value
from harness.model.file_facts import ColumnStatistics, FileFact, FileKind
from harness.model.simulation.column_resolution import META
from harness.model.simulation.incremental import COMMIT_TIME

ReadRows: TypeAlias = Callable[[Path, FileFact], FileRows]
"""Reads the rows that a file fact is about; see `Format.file_rows`."""


def file_rows(path: Path, fact: FileFact) -> FileRows:
    """Read the rows of a base file, or of a block of a log file; see `Format.file_rows`."""
    if fact.kind is FileKind.BASE:
        return content(path)
    for number, block in enumerate(hudi_log.blocks(path.read_bytes())):
        if number == fact.block and block.kind in hudi_log.DATA and block.instant == fact.instant:
            return hudi_log.content(block)
    raise FileFactError(f"{path.name}: it has no block {fact.block} of instant {fact.instant}")


def content(path: Path) -> FileRows:
    """Read everything as canonical values; raises FileFactError."""
    return canonical(arrow_file.read(str(path)), path.name)


def read_footer(path: Path, key: str, otherwise: str = "") -> Footer:
    """Read the columns, and the values of the column `key` as text; raises FileFactError.

    `otherwise`: the column whose values are taken where the file has none of that name.
    """
    if _begin(path) == avro.MAGIC:
        columns = avro.columns(avro.written_schema(path))
    else:
        columns = tuple((field.name, str(field.type)) for field in schema(path))
    there = [name for name in (key, otherwise) if name in dict(columns)]
    if not there:
        raise FileFactError(f"{path.name}: it has no column {key}")
    keys = arrow_file.read(str(path)).column(there[0]).to_pylist()
    return Footer(columns, tuple(map(str, keys)))


def schema(path: Path) -> pa.Schema:
    """Return what the library of its kind says of a Parquet or ORC file; raises FileFactError."""
    return (orc if _begin(path).startswith(orc.MAGIC) else parquet).schema(path)


def _begin(path: Path) -> bytes:
    """Return what tells of which kind a file is, as its name need not."""
    try:
        with path.open("rb") as file:
            return file.read(len(avro.MAGIC))
    except OSError as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem


def read(
    table: Path,
    files: Sequence[FileFact],
    numbers: Iterable[int],
    rows_of: ReadRows = file_rows,
    *,
    meta: bool = False,
) -> Iterator[FileValues]:
    """Yield what numbered files with rows hold, with Hudi's own columns if `meta`."""
    for number in numbers:
        if files[number].keys:
            yield _file_values(table, files[number], number, rows_of, meta=meta)


def statistics(table: Path, files: Iterable[FileFact]) -> tuple[ColumnStatistics, ...]:
    """Read what base files say of their columns: Parquet's row groups, ORC's stripes."""
    made = list[ColumnStatistics]()
    for file in (file for file in files if file.kind is FileKind.BASE):
        path = table / file.path
        begin = _begin(path)
        if begin != avro.MAGIC:  # Avro has none
            kind = orc if begin.startswith(orc.MAGIC) else parquet
            made += kind.statistics(path, file.path)
    return tuple(made)


def _file_values(
    table: Path, fact: FileFact, number: int, rows_of: ReadRows, *, meta: bool
) -> FileValues:
    try:
        columns, rows = rows_of(table / fact.path, fact)
    except (FileFactError, OSError) as problem:
        return FileValues(number, unread=str(problem))
    shown = [at for at, name in enumerate(columns) if name not in META]
    names = tuple(columns[at] for at in shown)
    values = FileValues(number, names, _columns_at(shown, rows), commits=_commits(columns, rows))
    added = [at for at, name in enumerate(columns) if name in META]
    with_meta = meta and fact.kind is FileKind.BASE and len(added) == len(META)
    return replace(values, meta=_columns_at(added, rows)) if with_meta else values


def _commits(columns: Sequence[str], rows: Sequence[tuple[Value, ...]]) -> tuple[str, ...]:
    """Return when each row was committed; nothing where that is not said of each."""
    if COMMIT_TIME not in columns:
        return ()
    at = columns.index(COMMIT_TIME)
    times = [row[at] for row in rows]
    instants = tuple(value for value in times if isinstance(value, str) and value)
    return instants if len(instants) == len(times) else ()


def _columns_at(
    indexes: Sequence[int], rows: Sequence[tuple[Value, ...]]
) -> tuple[tuple[Value, ...], ...]:
    return tuple(tuple(row[at] for at in indexes) for row in rows)


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


def read_data_footer(folder: TableFolder, path: str) -> DataFooter:
    """Read the footer or head of a Parquet, ORC or Avro file; raises UnreadableError."""
    with folder.opened(path) as file:
        begin = file.read(len(avro.MAGIC))
        file.seek(0)
        if begin == avro.MAGIC:
            return DataFooter(column_parts.of_arrow(avro_table.schema(file)), ())
        return (_orc_footer if begin.startswith(orc.MAGIC) else _parquet_footer)(file)


def _parquet_footer(file: IO[bytes]) -> DataFooter:
    with pq.ParquetFile(file) as stored:
        writers = (stored.metadata.created_by or "", _spark(stored.metadata.metadata or {}))
        return DataFooter(column_parts.of_arrow(stored.schema_arrow), short_names(writers))


def _orc_footer(file: IO[bytes]) -> DataFooter:
    stored = arrow_orc.ORCFile(file)
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
