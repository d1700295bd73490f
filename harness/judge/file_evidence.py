"""Stage 2: what the data files tell of an answer: whether it may be judged, and how it was read.

Files only confirm or doubt the model, and let it compute what a reader of each kind would have
answered. Whose the values are that the model never made, such as Hudi's own of each row, the
strategy tells that reproduces the whole answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeVar

from harness.core.grouping import grouped
from harness.core.records import Answer, Origin
from harness.judge.answers import tables_of
from harness.judge.expected_state import ExpectedState, Looks, PredictedRows, looks_of
from harness.model import partition_paths
from harness.model.canonical import Value, text_of
from harness.model.datatypes import Struct
from harness.model.file_facts import ColumnStatistics, FileFact
from harness.model.query import Query, at
from harness.model.schema import Field
from harness.model.simulation import late_versions
from harness.model.simulation.catalog import CATALOG_AS_SCHEMA, CatalogColumns
from harness.model.simulation.column_resolution import LayoutError, WrittenFiles
from harness.model.simulation.hudi import NO_META, Meta
from harness.model.simulation.incremental import Since
from harness.model.simulation.late_versions import SimulatedRow
from harness.model.simulation.reader import Readings, Simulation
from harness.model.simulation.strategies import ColumnMapping, ReadStrategy

_Row = TypeVar("_Row", bound=Hashable)
UNDATED: Final = "neither a way of reading nor whose doing it is can be told"
_TELLING: Final = frozenset({ColumnMapping.COUNTED, ColumnMapping.RENUMBERED})
"""Column mappings under which the values themselves may not tell whose they are."""


@dataclass(frozen=True, slots=True)
class Strategies:
    names: tuple[str, ...]
    """The smallest ones that reproduce all of it; several claim nothing."""
    catalog: int | None
    """The step by whose schema all of them go; None where that is the view's, and where they
    differ."""
    predicted: tuple[PredictedRows | None, ...]
    """What the rows of each of its tables were read from, where their values do not tell."""


def match_strategies(answer: Answer, layout: Layout) -> Strategies:
    """Return the strategies that reproduce an answer, by what the files would show to each."""
    strategies: Sequence[ReadStrategy] = ()
    if answer.refusal is None:
        _, strategies = layout.fitting(answer.question, answer.labels, answer.rows)
    predicted = (layout.predicted(t.query, t.names, t.rows) for t in tables_of(answer))
    catalogs = {strategy.catalog for strategy in strategies}
    catalog = catalogs.pop() if len(catalogs) == 1 else None
    return Strategies(tuple(map(str, strategies)), catalog, tuple(predicted))


@dataclass(frozen=True)  # no slots: what is derived is kept
class Layout:
    """The files of a table state beside the truth of that step."""

    state: ExpectedState
    files: Sequence[FileFact]
    steps: Mapping[str, int]
    """The step that made each instant."""
    unread: str = ""
    """Why the files tell nothing; empty when they do."""
    since: Since | None = None
    """What of the rows the view gives, where that is a part of them by when they were committed."""
    meta: Meta = field(default_factory=dict)
    """What Hudi's meta columns hold, where the catalog does not list them."""
    catalog: CatalogColumns = CATALOG_AS_SCHEMA
    """What it lists of the columns that may make a difference."""
    statistics: Sequence[ColumnStatistics] = ()
    """Those that may exclude rows which are there."""
    whole: Layout | None = None
    """The same of all that was written, where a product cannot show all of it."""

    @cached_property
    def _written(self) -> WrittenFiles:
        return WrittenFiles(self.state.history, self.files, self.steps)

    def doubt(self) -> str:
        """Return how the files do not hold the rows of the truth; empty when they do.

        Or why they do not tell of what was written since a step which rows these are.
        """
        if self.unread:
            return f"names are not exact, for the files tell nothing: {self.unread}"
        if doubt := self._doubt():
            return f"the files are not as the truth says: {doubt}"
        why = self._prediction if self.since else None
        return f"{UNDATED}: {why}" if isinstance(why, str) else ""

    def _doubt(self) -> str:
        if self.state.newer is not None:
            return ""  # rows of base files alone are those that the files tell
        try:
            there = {text_of(self._written.version(fact, key).key) for key, fact in self._newest()}
        except LayoutError as doubt:
            return str(doubt)
        lost = [key for key in self.state.keys if key not in there]
        return f"no file holds row {', '.join(lost)}" if lost and there else ""

    def fitting(
        self, query: Query, labels: Sequence[str], rows: Sequence[Sequence[Value]]
    ) -> tuple[Readings | None, Sequence[ReadStrategy]]:
        """Return the smallest strategies that reproduce an answer, and the readings they are of.

        None do where the files tell nothing. A product that cannot show all that was written may
        cut it otherwise than is declared: its answer is read by one of the strategies that cut.
        """
        readings = self.readings()
        strategies = readings.fitting(query, labels, rows) if readings else ()
        if strategies or self.whole is None:
            return readings, strategies
        readings = self.whole.readings()
        result = readings.fitting(query, labels, rows) if readings else ()
        return readings, [strategy for strategy in result if strategy.cut]

    def tried(self, query: Query) -> int:
        shown, whole = self.readings(), self.whole.readings() if self.whole is not None else None
        truncating = sum(strategy.cut for strategy in whole.strategies(query)) if whole else 0
        return len(shown.strategies(query)) + truncating if shown else 0

    def predicted(
        self, query: Query, labels: Sequence[str], rows: Sequence[Sequence[Value]]
    ) -> PredictedRows | None:
        """Return what the rows of an answer were read from, where its values do not tell.

        None where a strategy reproduces it under which they do (`_tells_more`), or several do that
        read something else.
        """
        shown = None if query.label else self.readings()
        key, spec = self.state.history[0].table.key, self.state.history[-1].spec
        by = {self.state.schema.path_of(field.source) for field in spec}
        at = {n for n, label in enumerate(labels) if label not in by} if key in labels else ()
        silent = any(at and not any(row[n] is not None for n in at) for row in rows)
        if shown is None or not (silent or self.meta or self.whole or shown.reading.misleads):
            return None
        readings, strategies = self.fitting(query, labels, rows)
        if readings is shown and not silent and not all(map(_tells_more, strategies)):
            return None
        return self.reproduced(query, labels, rows)

    def reproduced(
        self, query: Query, labels: Sequence[str], rows: Sequence[Sequence[Value]]
    ) -> PredictedRows | None:
        """Return what the rows of an answer were read from by all strategies that reproduce it."""
        readings, strategies = self.fitting(query, labels, rows)
        if readings is None or query.label:
            return None
        every = [self._predict(readings.reading, how, query, labels) for how in strategies]
        return every[0] if every and all(other == every[0] for other in every) else None

    def _predict(
        self, reading: Simulation, strategy: ReadStrategy, query: Query, labels: Sequence[str]
    ) -> PredictedRows:
        keys, origins = defaultdict[Looks, list[str]](list), dict[tuple[str, str], Origin]()
        names, asked = reading.schema(strategy).names, {path.partition(".")[0] for path in labels}
        of_strategy = reading.asked(strategy, query)
        for row in reading.rows(strategy, query.conditions) if of_strategy else ():
            values = dict(zip(names, row.values, strict=True))
            if of_strategy and of_strategy.takes(values):
                keys[looks_of(labels, [at(values, path) for path in labels])].append(row.key)
                for field, source in reading.sources(strategy, row.file):
                    if field.name in asked and source is not None:
                        for path, origin in self._origins(row, field, source, values[field.name]):
                            origins[row.key, path] = origin
        return PredictedRows(keys, origins)

    def _origins(
        self, shown: SimulatedRow, field: Field, source: Field, value: Value
    ) -> Iterator[tuple[str, Origin]]:
        """Yield whose value a column shows in a row, and the parts of structs, by their names.

        A NULL where the file has a value is nobody's: the value was lost on the way.
        """
        written = shown.row.written
        step = written.get(source.id, max(written.values(), default=0))
        for path, part, stored in _pairs(field.name, field, source, shown.row.of(source)):
            if stored is None or at({field.name: value}, path) is not None:
                name = self.state.history[step].schema.path_of(part.id) or part.name
                yield path, Origin(part.id, name, step, shown.key)

    def read_from(self, answer: Answer) -> Mapping[str, FileFact]:
        """Return the file that each row of an answer was read from, by the text of its key.

        Known is that of a row which one file alone holds, and those on which all read strategies
        that reproduce the answer agree.
        """
        shown = [(row.key, row.file) for row, _ in self._read_by(answer)]
        return _only_files({**self._holding, **grouped(shown)})

    def partition_folder(self, key: str, column: str) -> tuple[str, bool]:
        """Return the one folder of the files that a row is read from, empty where none tells.

        And whether a partition column has its value from there alone, as the files have none.
        """
        holding = self._standing.get(key, ())
        folders = {partition_paths.folder_of(fact.path) for fact in holding}
        folder = folders.pop() if len(folders) == 1 else ""
        partitioned = bool(partition_paths.levels(folder, self.state.history[0].table.partition_by))
        there = any(column == name for file_fact in holding for name, _ in file_fact.columns)
        return (folder, not there) if partitioned else ("", False)

    @cached_property
    def _standing(self) -> Mapping[str, Sequence[FileFact]]:
        """The files in which each row stands; those that hold it where base files alone are shown.

        A row that moved to another partition is held by an older file of the former one as well.
        """
        if self.state.newer is not None or self.unread:
            return self._holding
        try:
            return self._by_key(self._newest())
        except LayoutError:
            return self._holding

    @cached_property
    def _holding(self) -> Mapping[str, Sequence[FileFact]]:
        return self._by_key((key, fact) for fact in self.files for key in fact.keys)

    def _by_key(self, result: Iterable[tuple[str, FileFact]]) -> Mapping[str, Sequence[FileFact]]:
        """Return files by the text of a row's key; record keys may begin with the column's name."""
        name = f"{self.state.history[0].table.key}:"
        return grouped([(key.removeprefix(name), fact) for key, fact in result])

    def twice_from(self, answer: Answer) -> Mapping[tuple[str, Looks], FileFact]:
        """Return the same by the key's text and how the row looks: a key may be shown twice."""
        labels, result = answer.labels, []
        for row, names in self._read_by(answer):
            values = dict(zip(names, row.values, strict=True))
            looks = looks_of(labels, [at(values, path) for path in labels])
            result.append(((row.key, looks), row.file))
        return _only_files(grouped(result))

    def _read_by(self, answer: Answer) -> Iterator[tuple[SimulatedRow, Sequence[str]]]:
        """Yield the rows that any strategy that reproduces an answer reads, and their columns."""
        readings, query = self.readings(), answer.question
        if readings is None or answer.refusal is not None:
            return
        for strategy in readings.all_fitting(query, answer.labels, answer.rows):
            names = readings.reading.schema(strategy).names
            for row in readings.reading.rows(strategy, query.conditions):
                yield row, names

    def readings(self) -> Readings | None:
        """Return what readers of each strategy would answer; None where the files tell nothing."""
        return self._prediction if isinstance(self._prediction, Readings) else None

    @cached_property
    def _prediction(self) -> Readings | str:
        # Who counts Hudi's own columns has no name for the one by which rows are chosen: of what
        # was written since a step nothing is predicted of such a reader.
        if not self.files:
            return "there are no files"
        meta, state = NO_META if self.since else self.meta, self.state
        how = meta, self.catalog, self.since, state.later, self.statistics
        try:
            return Readings(Simulation(state.history, self.files, self.steps, *how))
        except LayoutError as why:
            return str(why)

    def excluded(self, query: Query) -> tuple[frozenset[str], ...]:
        """Return the keys of the rows that a query asks for and stored statistics exclude.

        For each place where statistics are stored; the columns are found by id.
        """
        readings = self.readings() if self.statistics and query.conditions else None
        if readings is None:
            return ()
        names, reading = self.state.schema.names, readings.reading

        def asked(strategy: ReadStrategy) -> frozenset[str]:
            rows = reading.rows(strategy, query.conditions)
            named = ((row.key, dict(zip(names, row.values, strict=True))) for row in rows)
            return frozenset(key for key, values in named if query.takes(values))

        whole = asked(ReadStrategy(ColumnMapping.ID))
        trusting = (s for s in readings.strategies(query) if s.trusted and s.only_trusts)
        return tuple(whole - asked(strategy) for strategy in trusting)

    def clash(self) -> str:
        """Return the one column mapping that meets another type; empty for none or several.

        Nor is it said of what was written since a step: a reader may open older files for it.
        """
        if self.since:
            return ""
        try:
            mappings = self._written.meeting_other_types(counted=bool(self.meta))
        except LayoutError:
            return ""
        return str(mappings[0]) if len(mappings) == 1 else ""

    def _newest(self) -> Iterator[tuple[str, FileFact]]:
        """Yield the key of each row that is not deleted, with the newest file that has it."""
        for base, logs in self._written.slices:
            result = dict.fromkeys(base.keys, base) if base is not None else {}
            for log in logs:
                vain = late_versions.overtaken(self.state.at(self.steps[log.instant]), log)
                gone = set(log.deleted) - vain
                result = {key: fact for key, fact in result.items() if key not in gone}
                result |= dict.fromkeys((key for key in log.keys if key not in vain), log)
            yield from result.items()


def _tells_more(strategy: ReadStrategy) -> bool:
    """Return whether a strategy shows what does not tell itself whose it is."""
    converted = strategy.cast and strategy.mapping.placed
    elsewhere = strategy.listed or strategy.overlaid or strategy.table_order
    return strategy.mapping in _TELLING or strategy.stored or elsewhere or converted


def _only_files(result: Mapping[_Row, Sequence[FileFact]]) -> dict[_Row, FileFact]:
    return {row: files[0] for row, files in result.items() if len(set(map(id, files))) == 1}


def _pairs(
    path: str, field: Field, source: Field, stored: Value
) -> Iterator[tuple[str, Field, Value]]:
    """Yield whose the value under each path is; the NULL of a whole is that of all its parts."""
    yield path, source, stored
    if not isinstance(field.type, Struct):
        return
    there = {child.name: child for child in source.children if isinstance(source.type, Struct)}
    for part in field.children:
        stored_part, where = there.get(part.name), f"{path}.{part.name}"
        if stored_part is not None:
            value = stored.get(stored_part.id) if stored is not None else None
            yield from _pairs(where, part, stored_part, value)
        elif stored is None:
            yield from _pairs(where, part, source, None)
