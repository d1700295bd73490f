"""Last stage of writing: a record for each step of a variant, with what its files hold."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from harness.artifacts.result_cache import ResultCache
from harness.core.grouping import grouped
from harness.core.records import FileValues, ListedColumns, PartitionColumns, StateRecord
from harness.engines.spark.values import canonical_type
from harness.formats.api import FileFactError, Format
from harness.formats.files import data_files
from harness.model import partition_paths
from harness.model.canonical import Value
from harness.model.file_facts import (
    FOOTERS,
    ColumnStatistics,
    FileFact,
    FileKind,
    StatisticsSource,
    StoredStatistics,
    values_at,
)
from harness.model.partition_paths import ListedAs
from harness.model.simulation.column_resolution import META
from harness.runtime import metastore_objects
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory
from harness.write import state_store
from harness.write.next_step import VariantOutcomes
from harness.write.state_store import State


@dataclass(frozen=True, slots=True)
class TableFiles:
    entries: tuple[CatalogEntry, ...] = ()
    facts: tuple[FileFact, ...] = ()
    layout: str = ""
    """Why there are no facts; empty when there are."""

    @property
    def unlisted(self) -> tuple[str, ...]:
        """The folders of data files that some catalog entry has no partition for."""
        return self._unlisted(self.entries)

    @property
    def unlisted_at(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The same by the name of each entry, where these do not list the same."""
        partitioned = [entry for entry in self.entries if entry.table.get("partitionKeys")]
        by_entry = {entry.name: self._unlisted([entry]) for entry in partitioned}
        return tuple(by_entry.items()) if len(set(by_entry.values())) > 1 else ()

    def _unlisted(self, entries: Sequence[CatalogEntry]) -> tuple[str, ...]:
        with_rows = [fact.path for fact in self.facts if fact.keys]
        return metastore_objects.unlisted_folders(entries, with_rows)

    def listed_as(self, partition_by: Sequence[str]) -> ListedAs:
        """Return the folders to whose values the catalog gives other texts than their names do.

        Where files have the values too (Hudi), names need not be escaped. Nothing is said where
        entries differ among themselves.
        """
        stored = {name for fact in self.facts for name, _ in fact.columns}
        escaped = not stored & set(partition_by)
        listed = metastore_objects.listed_values(self.entries)
        values_of = {
            f: partition_paths.with_nulls(values[0])
            for f, values in listed.items()
            if not values[1:]
        }
        plain, stand = partition_paths.texts, partition_paths.as_they_stand
        return tuple(
            (folder, listed_)
            for folder, listed_ in values_of.items()
            if listed_ != plain(folder, partition_by)
            or (not escaped and listed_ != stand(folder, partition_by))
        )

    @property
    def partition_columns(self) -> tuple[PartitionColumns, ...] | None:
        """The lists of columns of partitions where they are not the entry's; None of no entry."""
        partitioned = [entry for entry in self.entries if entry.table.get("partitionKeys")]
        if not partitioned:
            return None
        same = grouped([(_lists_of(entry), entry.name) for entry in partitioned])
        return tuple(
            PartitionColumns(tuple(names), table, others)
            for (table, others), names in same.items()
            if others
        )

    @property
    def bare(self) -> bool:
        """Whether base files begin with Hudi's meta columns and no catalog entry lists these."""
        listed = {name for entry in self.entries for name, _ in entry.columns}
        bases = (fact for fact in self.facts if fact.kind is FileKind.BASE)
        stored = {name for fact in bases for name, _ in fact.columns}
        return bool(META.keys() & stored) and not META.keys() & listed


def _lists_of(
    entry: CatalogEntry,
) -> tuple[ListedColumns, tuple[tuple[ListedColumns, tuple[str, ...]], ...]]:
    table, lists = metastore_objects.column_lists(entry)
    ours = [(_in_our_words(columns), folder) for columns, folder in lists]
    others = grouped([(columns, f) for columns, f in ours if columns != _in_our_words(table)])
    return _in_our_words(table), tuple((list_, tuple(f)) for list_, f in others.items())


def _in_our_words(columns: Sequence[tuple[str, str]]) -> ListedColumns:
    return tuple((name, canonical_type(type_)) for name, type_ in columns)


def read_files(shape: Format, folder: Path, key: str, catalog: CatalogHistory) -> TableFiles:
    try:
        return TableFiles(catalog.now, shape.facts(folder, key, catalog))
    except FileFactError as problem:
        return TableFiles(catalog.now, layout=str(problem))


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
        """Return whether statistics exclude, or may, a value of their file or folder."""
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


def contradicted_statistics(
    shape: Format, state: State, files: Sequence[FileFact], new: Sequence[int], seen: FileRowsSeen
) -> StoredStatistics:
    """Return the statistics that may exclude a row; `new`: the files that no earlier state had."""
    statistics, unknown = state.frozen.statistics.columns, state.frozen.statistics.unknown
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


@dataclass(frozen=True, slots=True)
class VariantResult:
    """A variant's records in the order of its steps, and its states."""

    records: tuple[StateRecord, ...]
    states: Mapping[tuple[str, int], State]


def record(
    outcomes: VariantOutcomes, states: Sequence[State | None], results: ResultCache, *, reused: bool
) -> VariantResult:
    """Return the records and states of a variant; `results` has records of found states."""
    content = repr(outcomes), *(state_store.facts(state) if state else "" for state in states)
    make = partial(_records, outcomes, states)
    if not reused:
        make = partial(iter, tuple(make()))
    # The next time a file may be read that was not.
    records = results.records(
        StateRecord, content, make, lambda r: not any(values.unread for values in r.values)
    )
    if not reused:
        records = tuple(replace(state, reused=False) for state in records)
    variant = outcomes.variant.id
    there = {(variant, step): state for step, state in enumerate(states) if state}
    return VariantResult(records, there)


def _files(variant: VariantOutcomes, states: Sequence[State | None]) -> TableFiles | None:
    """Return what the files of the last of some states tell; None where there is no such state."""
    state = states[-1]
    if state is None:
        return None
    made = zip(state.frozen.instants, states, strict=False)
    then = {instant: state.frozen.entries for instant, state in made if instant and state}
    catalog = CatalogHistory(state.frozen.entries, then)
    return read_files(variant.shape, state.table, variant.variant.scenario.table.key, catalog)


def _records(variant: VariantOutcomes, states: Sequence[State | None]) -> Iterator[StateRecord]:
    """Yield the records of states, whose files are looked at now."""
    key = variant.variant.scenario.table.key
    looked_at = [_files(variant, states[: at + 1]) for at in range(len(states))]
    seen, file_rows_seen = set[FileFact](), FileRowsSeen()
    # A catalog that lists the meta columns now may leave them out again at a later step.
    meta = any(files.bare for files in looked_at if files)
    for outcome, state, table in zip(variant.outcomes, states, looked_at, strict=True):
        if state is None or table is None:
            yield StateRecord(variant.variant.id, outcome, "", reused=True)
            continue
        # By which instant these records know the step of each instant of a state: an earlier run
        # may have frozen the first states, and each writing has instants of its own.
        instants = [outcome.instant for outcome in variant.outcomes]
        names, facts = dict(zip(state.frozen.instants, instants, strict=False)), table.facts
        files = tuple(
            replace(fact, instant=names.get(fact.instant, fact.instant)) for fact in facts
        )
        new = [number for number, fact in enumerate(files) if fact not in seen]
        seen.update(files)
        schema_history, read = variant.shape.schema_history(state.table), variant.shape.file_rows
        values = tuple(data_files.read(state.table, facts, new, read, meta=meta))
        file_rows_seen.add(files, values)
        yield StateRecord(
            variant=variant.variant.id,
            outcome=outcome,
            digest=state.digest,
            files=files,
            tables=tuple(entry.name for entry in state.frozen.entries),
            reused=True,
            layout=table.layout,
            others=state.frozen.others,
            table_version=state.frozen.table_version,
            values=tuple(
                replace(one, commits=tuple(names.get(at, at) for at in one.commits))
                for one in values
            ),
            statistics=contradicted_statistics(variant.shape, state, facts, new, file_rows_seen),
            bare=table.bare,
            unlisted=table.unlisted,
            unlisted_at=table.unlisted_at,
            catalog=state.catalog,
            catalog_types=state.catalog_types,
            schema_history=schema_history and schema_history.with_instants(names),
            metadata=state.frozen.metadata,
            listed_as=table.listed_as(variant.variant.scenario.table.partition_by),
            partition_columns=table.partition_columns,
            lineage=None
            if table.layout
            else variant.shape.lineage(state.table, key, CatalogHistory(table.entries)),
        )
