"""Which statistics of a table's files may exclude a row that is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.core.records import FileValues
from harness.formats.api import FileFactError, Format
from harness.model.canonical import Value
from harness.model.column_statistics import (
    FOOTERS,
    ColumnStatistics,
    StatisticsSource,
    StoredStatistics,
    values_at,
)
from harness.model.file_facts import FileFact
from harness.model.simulation.column_resolution import META
from harness.write.table_state import State


@dataclass(slots=True)
class FileRowsSeen:
    """What the files of the states of a variant hold, state by state."""

    footers: list[ColumnStatistics] = field(default_factory=list)
    """What of their footers may exclude a row; a footer never changes."""
    rows: dict[str, tuple[Sequence[str], list[Sequence[Value]]]] = field(default_factory=dict)
    """The names of the columns of each file, by its path, and its rows."""

    def add(self, files: Sequence[FileFact], values: Sequence[FileValues]) -> None:
        """Take in what was read of some files; blocks of one log file count together."""
        for file_values in values:
            if not file_values.unread:
                local = self.rows.setdefault(
                    files[file_values.file].path, (file_values.columns, [])
                )
                if local[0] == file_values.columns:
                    local[1].extend(file_values.rows)

    def contradicts(self, statistics: ColumnStatistics) -> bool:
        """Return whether statistics exclude a value of their file, or of one in their folder.

        Or whether they may: such a file was not read, or has no column of that name.
        """
        if statistics.source is not StatisticsSource.HUDI_PARTITION:
            return self._contradicts(statistics, statistics.path)
        inside = [path for path in self.rows if path.rpartition("/")[0] == statistics.path]
        return not inside or any(self._contradicts(statistics, path) for path in inside)

    def _contradicts(self, statistics: ColumnStatistics, path: str) -> bool:
        names, rows = self.rows.get(path, ((), []))
        range_ = range(len(rows)) if path != statistics.path else statistics.row_numbers()
        try:
            return statistics.contradicted_by(values_at(statistics.column, names, rows, range_))
        except LookupError:
            return True


def wrong(
    shape: Format,
    state: State,
    files: Sequence[FileFact],
    new: Sequence[int],
    seen: FileRowsSeen,
) -> StoredStatistics:
    """Return the statistics of a state that may exclude a row, those that Spark was asked too.

    Nobody asks for rows by what Hudi adds to them.

    Args:
        shape: the format.
        state: the state.
        files: those of the state.
        new: the numbers of those that no earlier state had.
        seen: what all files hold.

    """
    statistics, unknown = state.frozen.statistics.told, state.frozen.statistics.unknown
    try:
        statistics += shape.statistics(state.table, [files[number] for number in new])
    except (FileFactError, OSError) as problem:
        unknown = unknown or str(problem)
    statistics = tuple(statistics for statistics in statistics if statistics.column not in META)
    contradicted = [statistics for statistics in statistics if seen.contradicts(statistics)]
    there = {fact.path for fact in files}
    still_there = [s for s in seen.footers if s.path in there and s not in contradicted]
    seen.footers += [statistics for statistics in contradicted if statistics.source in FOOTERS]
    return StoredStatistics((*still_there, *contradicted), unknown)
