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
        for each in values:
            if not each.unread:
                own = self.rows.setdefault(files[each.file].path, (each.columns, []))
                if own[0] == each.columns:
                    own[1].extend(each.rows)

    def contradicts(self, told: ColumnStatistics) -> bool:
        """Return whether statistics exclude a value of their file, or of one in their folder.

        Or whether they may: such a file was not read, or has no column of that name.
        """
        if told.source is not StatisticsSource.HUDI_PARTITION:
            return self._contradicts(told, told.path)
        inside = [path for path in self.rows if path.rpartition("/")[0] == told.path]
        return not inside or any(self._contradicts(told, path) for path in inside)

    def _contradicts(self, told: ColumnStatistics, path: str) -> bool:
        names, rows = self.rows.get(path, ((), []))
        own = range(len(rows)) if path != told.path else told.row_numbers()
        try:
            return told.contradicted_by(values_at(told.column, names, rows, own))
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
    told, unknown = state.frozen.statistics.told, state.frozen.statistics.unknown
    try:
        told += shape.statistics(state.table, [files[each] for each in new])
    except (FileFactError, OSError) as problem:
        unknown = unknown or str(problem)
    told = tuple(each for each in told if each.column not in META)
    found = [each for each in told if seen.contradicts(each)]
    there = {each.path for each in files}
    kept = [each for each in seen.footers if each.path in there and each not in found]
    seen.footers += [each for each in found if each.source in FOOTERS]
    return StoredStatistics((*kept, *found), unknown)
