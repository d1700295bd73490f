"""What the data files of a Hudi table say of themselves, and its metadata table of columns.

That table's base files are HFiles: the writer's own Spark is asked. Its records of the types 3 and
6 have bounds in a union of wrappers (Hudi technical specification, "Metadata Table";
`HoodieMetadata.avsc`).
"""

import datetime
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.formats.api import FileFactError
from harness.formats.files import avro, data_files
from harness.formats.hudi import log as hudi_log
from harness.formats.hudi import records, timeline
from harness.formats.hudi.log import BlockKind
from harness.formats.hudi.records import BASE, HOODIE, LOG, RECORD_KEY, HudiTable
from harness.model.canonical import Value
from harness.model.file_facts import ColumnStatistics, FileFact, FileKind, StatisticsSource, bound
from harness.scenario.statements import LOCATION

_BESIDE: Final = re.compile(r"\..*\.crc|\.hoodie_partition_metadata(\.parquet|\.orc)?")
"""Files in data folders that hold no rows."""


def facts(folder: Path, key: str) -> tuple[FileFact, ...]:
    """Return a fact for each base file and log block of a completed instant that nothing replaced.

    A block in a log file of an older slice than was there when it was written is none of the
    table's: nobody merges it (Hudi technical specification, "File Layouts").

    `key`: where record keys come from if a table has no meta columns.
    """
    table = records.local(folder)
    replaced = frozenset[str]().union(*map(table.replaced_groups, table.replacements()))
    if table.properties.get("hoodie.populate.meta.fields") != "false":
        key = RECORD_KEY
    undone = set[tuple[str, str]]()
    made = [f for path in _files(folder) for f in _facts(table, path, replaced, key, undone)]
    bases = [fact for fact in made if fact.kind is FileKind.BASE]
    return tuple(
        fact
        for fact in made
        if fact.kind is FileKind.BASE
        or not ((fact.file_group, fact.instant) in undone or _outdated(table, fact, bases))
    )


def _outdated(table: HudiTable, block: FileFact, bases: Sequence[FileFact]) -> bool:
    name = LOG.fullmatch(block.path.rpartition("/")[2])
    after = table.goes_on(name["instant"]) if name else block.instant
    group = (base.instant for base in bases if base.file_group == block.file_group)
    return any(after < instant < block.instant for instant in group)


def _files(folder: Path) -> Iterator[Path]:
    for name, folders, files in os.walk(folder):
        folders[:] = sorted(folder for folder in folders if folder != HOODIE)
        yield from (Path(name, file) for file in sorted(files) if not _BESIDE.fullmatch(file))


def _facts(
    table: HudiTable, path: Path, replaced: Collection[str], key: str, undone: set[tuple[str, str]]
) -> Iterator[FileFact]:
    """Yield the facts of a file; what its log takes back of its group is added to `undone`.

    Readers go by such a block whatever the timeline has of the instant, which may be archived
    (`AbstractHoodieLogRecordReader`).
    """
    relative = path.relative_to(table.folder.root).as_posix()
    name = BASE.fullmatch(path.name) or LOG.fullmatch(path.name)
    if name is None:
        raise FileFactError(f"{relative}: neither a base file nor a log file by its name")
    group = timeline.file_group(relative.rpartition("/")[0], name["group"])
    if group in replaced:
        return
    if name.re is BASE:
        if table.has(name["instant"]):
            footer = data_files.read_footer(path, key)
            file = group, name["instant"], footer.columns, footer.keys
            yield FileFact(relative, FileKind.BASE, *file)
    elif not name["cdc"]:
        try:
            for number, block in enumerate(hudi_log.blocks(path.read_bytes())):
                if block.kind is BlockKind.COMMAND:
                    undone.add((group, block.target))
                elif table.has(block.instant):
                    yield FileFact(
                        relative,
                        FileKind.LOG,
                        group,
                        block.instant,
                        avro.columns(block.schema) if hudi_log.SCHEMA in block.header else (),
                        hudi_log.record_keys(block, key) if block.kind in hudi_log.DATA else (),
                        tuple(hudi_log.deletes(block)) if block.kind is BlockKind.DELETE else (),
                        block=number,
                        partial=block.partial,
                    )
        except FileFactError as problem:
            raise FileFactError(f"{relative}: {problem}") from problem


def uncompacted(facts: Sequence[FileFact]) -> int:
    """Count the log blocks that no base file of their group has taken in yet."""
    bases: dict[str, str] = {}
    for file_fact in (fact for fact in facts if fact.kind is FileKind.BASE):
        bases[file_fact.file_group] = max(file_fact.instant, bases.get(file_fact.file_group, ""))
    logs = (fact for fact in facts if fact.kind is FileKind.LOG)
    return sum(log.instant > bases.get(log.file_group, "") for log in logs)


def superseded(facts: Sequence[FileFact]) -> int:
    """Count the base files of whose group there is a newer one."""
    bases = [fact.file_group for fact in facts if fact.kind is FileKind.BASE]
    return len(bases) - len(set(bases))


def together(facts: Sequence[FileFact]) -> int:
    """Count the file groups that lie in a partition with others."""
    groups = {fact.file_group: fact.path.rpartition("/")[0] for fact in facts}
    counts = Counter(groups.values()).values()
    return sum(count for count in counts if count > 1)


COLUMN_STATISTICS: Final = ".hoodie/metadata/column_stats"
OF_FILE: Final = 3
OF_PARTITION: Final = 6
SQL: Final = (
    # All columns: Hudi 1.2.0 cannot merge the metadata table's log files into some of them.
    f"select * from hudi_metadata('{LOCATION}') where type in ({OF_FILE}, {OF_PARTITION})"
)
_DAY: Final = datetime.date(1970, 1, 1)
_MOMENT: Final = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - canonical moments have no zone


@dataclass(frozen=True, slots=True)
class HudiStatistics:
    """See `harness.formats.api.QueriedStatistics`."""

    sql: str = SQL

    def exist(self, folder: Path) -> bool:
        return (folder / COLUMN_STATISTICS).is_dir()

    def parse(
        self, rows: Sequence[Mapping[str, Value]], files: Sequence[FileFact]
    ) -> tuple[ColumnStatistics, ...]:
        try:
            statistics = tuple(_statistics(rows, files))
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise FileFactError(f"a record of the metadata table: {problem!r}") from problem
        return tuple(
            sorted(statistics, key=lambda column: (column.source, column.path, column.column))
        )


def _statistics(
    rows: Sequence[Mapping[str, Value]], files: Sequence[FileFact]
) -> Iterator[ColumnStatistics]:
    """Yield what is said of files that are there, and of their folders.

    A record names a file without its partition, in which alone the name is one file's: two
    partitions may have a file group of one id.
    """
    names = Counter(path.rpartition("/")[2] for path in {file.path for file in files})
    of_files = {file.path.rpartition("/")[2]: file for file in files}
    of_folders = {file.path.rpartition("/")[0]: file for file in files}
    for row in rows:
        record: Any = row["ColumnStatsMetadata"]
        single = row["type"] == OF_FILE
        if single and names[record["fileName"]] > 1:
            raise ValueError(f"{record['fileName']} lies in several partitions")
        fact = (of_files if single else of_folders).get(record["fileName"])
        if fact is None or record["isDeleted"]:
            continue
        type_ = dict(fact.columns).get(record["columnName"], "")
        yield ColumnStatistics(
            StatisticsSource.HUDI if single else StatisticsSource.HUDI_PARTITION,
            fact.path if single else record["fileName"],
            record["columnName"],
            int(record["valueCount"]),
            None if record["nullCount"] is None else int(record["nullCount"]),
            bound(_value(record["minValue"], type_)),
            bound(_value(record["maxValue"], type_)),
        )


def _value(union: Any, type_: str) -> Value:  # noqa: ANN401 - a struct of wrappers
    """Return the one value in a union of wrappers; None where Python has no such day or moment."""
    inside = (wrapper["value"] for wrapper in (union or {}).values() if isinstance(wrapper, dict))
    value: Value = next((wrapper for wrapper in inside if wrapper is not None), None)
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    try:
        if type_.startswith("date"):
            return _DAY + datetime.timedelta(days=value)
        if type_.startswith("timestamp"):
            micros = type_.startswith("timestamp[us")
            return _MOMENT + datetime.timedelta(microseconds=value) if micros else None
    except OverflowError:
        return None
    return value
