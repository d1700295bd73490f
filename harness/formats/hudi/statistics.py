"""What the metadata table of a Hudi table says of its columns, asked of the writer's own Spark.

Its base files are HFiles. Records of types 3 (`column_stats`) and 6 (`partition_stats`) have bounds
in a union of wrappers (Hudi technical specification, "Metadata Table"; `HoodieMetadata.avsc`).
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.formats.api import FileFactError
from harness.model.canonical import Value
from harness.model.column_statistics import ColumnStatistics, StatisticsSource, bound
from harness.model.file_facts import FileFact
from harness.scenario.statements import LOCATION

FOLDER: Final = ".hoodie/metadata/column_stats"
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
        return (folder / FOLDER).is_dir()

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
    """Yield what is said of files that are there, and of their folders."""
    of_files = {file.path.rpartition("/")[2]: file for file in files}
    of_folders = {file.path.rpartition("/")[0]: file for file in files}
    for row in rows:
        record: Any = row["ColumnStatsMetadata"]
        single = row["type"] == OF_FILE
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
