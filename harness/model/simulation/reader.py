"""What a reader of each strategy would answer about a table state, computed from its files.

An answer is of a strategy where it is the same as a whole: its columns and every row. The order of
rows and columns does not count, nor the type in which a value came. Where none fits, none of those
tried does: at most `AT_ONCE` things beyond how columns are found are combined, `CATALOGS` older
schemas are tried.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate, count

from harness.model.canonical import Look, Unpredicted, Value, is_nan, look_of
from harness.model.file_facts import ColumnStatistics, FileFact, FileKind
from harness.model.query import ON_NULL, Comparison, Condition, Query, at
from harness.model.schema import Field, Schema
from harness.model.simulation import hudi, late_versions
from harness.model.simulation.catalog import CATALOG_AS_SCHEMA, CatalogColumns, other_catalogs
from harness.model.simulation.column_resolution import (
    AS_CAST,
    AS_CONVERTED,
    AS_STORED,
    META,
    Conversion,
    WrittenFiles,
    column_mappings,
    conversion_of,
    in_logs,
    may_be_partless,
    part_in,
    shown,
    unplaced,
    without_partless,
)
from harness.model.simulation.hudi import (
    KEY_AT,
    NO_META,
    Meta,
    has_timestamp,
    overlaid,
    rekeyed,
    renumbered,
)
from harness.model.simulation.incremental import Since
from harness.model.simulation.late_versions import SimulatedRow
from harness.model.simulation.strategies import (
    ColumnMapping,
    Deviation,
    Logs,
    ReadStrategy,
    read_strategies,
)
from harness.model.simulation.value_conversions import cut, finer
from harness.model.truth import History, Row, Truth


class Simulation:
    """The files of a table state beside the history: what each read strategy shows.

    Whatever is worked out is cached: many answers about one state are compared with it.
    """

    def __init__(
        self,
        history: History,
        files: Sequence[FileFact],
        steps: Mapping[str, int],
        meta: Meta = NO_META,
        catalog: CatalogColumns = CATALOG_AS_SCHEMA,
        since: Since | None = None,
        later: History = (),
        statistics: Sequence[ColumnStatistics] = (),
    ) -> None:
        """Take the files; `steps` tells which step made an instant.

        `since`: the view, where it gives a part of the rows. `later`: what came after the history
        until the question was asked. `statistics`: those that may exclude rows which are there.
        """
        self._history, self._steps, self._since = history, steps, since
        self._lists, self._later, self._statistics = catalog.partitions, later, statistics
        self._schemas = [truth.schema for truth in (*history, *later)]
        if catalog.lowers:
            self._schemas = [_spelled(schema, history[-1].schema) for schema in self._schemas]
        self._written = WrittenFiles(history, files, steps)
        self._slices, self._bases = self._written.slices, self._written.bases
        self._files = self._written.newest
        self._rows = {id(fact): self._versions(fact, meta) for fact in self._files}
        with_rows = (base for base in self._bases if base.keys)
        self._counted = bool(meta) and all(base.path in meta for base in with_rows)
        self._taken_for = hudi.taken_for(self._written, catalog.order)
        rows = [row for of_file in self._rows.values() for _, row in of_file]
        self._cut = any(finer(value) for row in rows for value in row.values.values())
        self._given = since.differing(rows) if since else ()
        self._shown: dict[object, Sequence[Value]] = {}
        self._listed = self._lists is not None and self._lists.differ
        # By Hive without MapReduce Hudi's columns may be shown under others, with it record keys
        # may be taken from the third column: of the same files both are worked out.
        self._overlaid = self._counted and any(logs for _, logs in self._slices)
        self._rekeyed = self._counted and any(base and logs for base, logs in self._slices)
        self._read: dict[object, dict[str, SimulatedRow]] = {}
        self._taken_columns: dict[object, list[tuple[Field, Field | None]]] = {}
        self._tried: dict[tuple[bool, bool], tuple[ReadStrategy, ...]] = {}

    @cached_property
    def renumbered(self) -> bool:
        return renumbered(self._written)

    @cached_property
    def _finders(self) -> tuple[ColumnMapping, ...]:
        hudis = any(name in META for base in self._bases for name, _ in base.columns)
        parts = [
            (field.id, part.id, at, part.name)
            for truth in self._history
            for field in truth.schema.walk()
            for at, part in enumerate(field.children)
        ]
        renamed = not _one_to_one({(field, part, name) for field, part, _, name in parts})
        moved = not _one_to_one({(field, part, at) for field, part, at, _ in parts})
        return column_mappings(
            self._history,
            counted=self._counted,
            renumbered=self.renumbered,
            outside=not hudis and renamed,
            nameless=any(e.nameless for e in self._bases) and (renamed or moved),
        )

    @cached_property
    def _stored(self) -> frozenset[ColumnMapping]:
        """The column mappings with which what is stored can show something else."""
        others = (by for by in self._finders if by is not ColumnMapping.ID)
        return self._written.converting(AS_STORED, others)

    @cached_property
    def _cast(self) -> frozenset[ColumnMapping]:
        """The same of values that are cast: of texts by name, of all by position."""
        named = [by for by in self._finders if not (by is ColumnMapping.ID or by.placed)]
        converted = [file for file in self._files if not file.path.endswith(".parquet")]
        placed = [ColumnMapping.POSITION, ColumnMapping.PARTS_TOO]
        by_place = replace(self._written, facts=converted).converting(AS_CONVERTED, placed)
        return self._written.converting(AS_CAST, named) | by_place

    @cached_property
    def _partless(self) -> frozenset[ColumnMapping]:
        """The column mappings with which base files have none of a struct's parts."""
        return frozenset(
            by
            for by in self._finders
            for base in self._bases
            for source in self._written.sources(base, by)
            if may_be_partless(*source, unplaced(by))
        )

    def _logs(self) -> Iterator[Logs]:
        """Yield what else than merging them can be made of log files."""
        # Where logs can hold rows, a reader that sees no delete may be one that sees no log at all.
        logs = [log for _, slice_ in self._slices for log in slice_]
        if any(log.keys for log in logs) or (logs and self._history[-1].merge_on_read):
            yield from (Logs.BY_ID, Logs.BY_NAME, Logs.IGNORED)
        if any(log.deleted for log in logs):
            yield Logs.UNDELETED
        if any(self._history[self._steps[log.instant]].sent_contested for log in logs):
            yield Logs.OTHER_MODE

    @property
    def misleads(self) -> bool:
        """Whether values may be shown so that they do not tell themselves whose they are."""
        moved = self._listed or self._taken_for or self.renumbered
        return bool(moved or self._stored or ColumnMapping.POSITION in self._cast)

    def strategies(self, where: Sequence[Condition] = ()) -> tuple[ReadStrategy, ...]:
        """Return the strategies worth trying for some conditions, the smallest first."""
        prunes, by_schema = at_ = bool(where), any(decided(where, self._history[-1]))
        if at_ not in self._tried:
            mappings = self._finders
            catalogs = {by: other_catalogs(self._history, self._later, by) for by in mappings}
            can = Deviation(
                tuple(self._logs()),
                catalogs,
                prunes,
                self._listed,
                self._stored,
                self._cast,
                self._cut,
                self._overlaid,
                self._rekeyed,
                self._partless,
                tuple(dict.fromkeys(str(one.source) for one in self._statistics)),
                by_schema,
                self._given,
                bool(self._taken_for),
            )
            self._tried[at_] = read_strategies(mappings, can)
        return self._tried[at_]

    def asked(self, strategy: ReadStrategy, query: Query) -> Query | None:
        return without_decided(query, self._history[-1]) if strategy.nulls_by_schema else query

    def _versions(self, fact: FileFact, meta: Meta) -> list[tuple[str, Row]]:
        rows = [self._written.version(fact, key) for key in fact.keys]
        if fact.kind is FileKind.BASE and fact.path in meta:
            ids = [field.id for field in META.values()]
            added = (dict(zip(ids, sequence, strict=False)) for sequence in meta[fact.path])
            pairs = zip(rows, added, strict=True)
            rows = [replace(row, values={**row.values, **more}) for row, more in pairs]
        dated = self._since.dated(fact, rows) if self._since else rows
        return list(zip(fact.keys, dated, strict=True))

    def schema(self, strategy: ReadStrategy) -> Schema:
        now = len(self._history) - 1
        return self._schemas[now if strategy.catalog is None else strategy.catalog]

    def rows(
        self, strategy: ReadStrategy, where: Sequence[Condition] = ()
    ) -> Iterator[SimulatedRow]:
        """Yield every row as a reader of that strategy shows it, in the order of its schema.

        By the conditions `where` it may leave out files, but none whose log files it merges: these
        may change what it holds (seen with Spark and Hudi 1.0.2 and 1.2.0).

        Raises ValueError: a value has no form in the type of an older catalog, or is no record key.
        """
        for row in self._merged(strategy, where):
            if self._since is None or self._since.gives(row.row, strategy.incremental):
                yield row

    def _merged(self, strategy: ReadStrategy, where: Sequence[Condition]) -> Iterator[SimulatedRow]:
        for base, logs in self._slices:
            merged = logs if strategy.logs is not Logs.IGNORED else ()
            fact = base or logs[0]
            if self._excluding(fact.path.rpartition("/")[0], fact, strategy, where):
                continue
            older = dict[str, SimulatedRow]()
            if base is not None and (
                merged or all(self._may_hold(base, strategy, condition) for condition in where)
            ):
                older = self._of(base, strategy.mapping, strategy)
                if strategy.trusted and not any(log.keys for log in merged):
                    excluding = self._excluding(base.path, base, strategy, where)
                    left = {base.keys[row] for one in excluding for row in one.row_numbers()}
                    older = {key: row for key, row in older.items() if key not in left}
            newer = self._newer(merged, strategy, older)
            if strategy.rekeyed and newer:
                at_ = list(self._places()).index(KEY_AT)  # ValueError: there is none
                yield from rekeyed([(row.values[at_], row) for row in older.values()], newer)
            else:
                yield from (row for row in {**older, **newer}.values() if row is not None)

    def _excluding(
        self, path: str, fact: FileFact, strategy: ReadStrategy, where: Sequence[Condition]
    ) -> list[ColumnStatistics]:
        """Return the statistics of a file, or of its folder, that are trusted and exclude rows."""
        if strategy.trusted is None:
            return []
        taken, by = self._taken(fact, strategy.mapping, strategy), unplaced(strategy.mapping)
        names = [(names_of(on.path, taken, fact, by), on) for on in where]
        return [
            one
            for one in self._statistics
            if one.source == strategy.trusted
            and one.path == path
            and any(one.column in called and one.excludes(on) for called, on in names)
        ]

    def _newer(
        self, logs: Sequence[FileFact], strategy: ReadStrategy, older: Mapping[str, SimulatedRow]
    ) -> dict[str, SimulatedRow | None]:
        """Return what log files make of rows, by the record key; None for a deleted one."""
        whole = partial(SimulatedRow.completed, schema=self._history[-1].schema)
        newer: dict[str, SimulatedRow | None] = {}
        for log in logs:
            gone = () if strategy.logs is Logs.UNDELETED else log.deleted
            own_rows = self._of(log, in_logs(strategy), strategy)
            if log.partial:
                # The version before a delete counts too (seen with Hudi 1.2.0 and hudi-rs 0.5.0).
                taken = self._taken(log, in_logs(strategy), strategy)
                there = [source is not None for _, source in taken]
                own_rows = {
                    key: row.on_top(newer.get(key) or older.get(key), there)
                    for key, row in own_rows.items()
                }
            read = {**dict.fromkeys(gone), **own_rows}
            other, truth = strategy.logs is Logs.OTHER_MODE, self._history[self._steps[log.instant]]
            vain = late_versions.overtaken(truth, log, otherwise=other)
            valid = {key: row for key, row in read.items() if key not in vain}
            newer |= (
                valid if other else late_versions.on_top(truth, valid, {**older, **newer}, whole)
            )
        return newer

    def sources(self, strategy: ReadStrategy, fact: FileFact) -> list[tuple[Field, Field | None]]:
        """Return the columns that such a reader shows, each with the one of a file it takes."""
        by = strategy.mapping if fact.kind is FileKind.BASE else in_logs(strategy)
        result = self._taken(fact, by, strategy)
        lists, rows = self._lists, self._rows[id(fact)]
        if lists is None or not strategy.listed or not rows:
            return result
        _, row = rows[0]  # all rows of a file are of one partition
        return [
            (field, source if position is None or not lists.beyond(position, row) else None)
            for (field, source), position in zip(result, self._places(), strict=True)
        ]

    def _taken(
        self, fact: FileFact, by: ColumnMapping, strategy: ReadStrategy
    ) -> list[tuple[Field, Field | None]]:
        """Return the columns that a reader shows, lists of partitions left aside."""
        result = self._sources(fact, by, strategy)
        if strategy.table_order:
            by_id = {field.id: source for field, source in result}
            return [(f, by_id[self._taken_for.get(f.id, f.id)]) for f, _ in result]
        if not strategy.overlaid or fact.kind is not FileKind.BASE:
            return result
        return overlaid(result, self._history[-1].table.partition_by)

    def _sources(
        self, fact: FileFact, by: ColumnMapping, strategy: ReadStrategy
    ) -> list[tuple[Field, Field | None]]:
        at_ = id(fact), by, strategy.catalog
        if at_ not in self._taken_columns:
            schema = self.schema(strategy)
            self._taken_columns[at_] = self._written.sources(fact, by, schema)
        return self._taken_columns[at_]

    def _places(self) -> Iterator[int | None]:
        """Yield the place of each column in a list; none for one whose value is in the path."""
        truth, places = self._history[-1], count()
        for name in truth.schema.names:
            yield None if name in truth.table.partition_by else next(places)

    def _of(
        self, fact: FileFact, by: ColumnMapping, strategy: ReadStrategy
    ) -> dict[str, SimulatedRow]:
        # Log records are given as rows of their own schema, whatever reads them.
        conversion = conversion_of(strategy) if fact.kind is FileKind.BASE else None
        partless = strategy.partless and fact.kind is FileKind.BASE
        columns = strategy.catalog, strategy.overlaid, strategy.table_order
        at_ = id(fact), by, conversion, partless, strategy.listed, strategy.cut, *columns
        if at_ not in self._read:
            values = zip(
                *(
                    self._column(fact, *pair, by, conversion, partless=partless)
                    for pair in self._taken(fact, by, strategy)
                ),
                strict=True,
            )
            self._read[at_] = {
                key: SimulatedRow(row, self._passed(row, of_row, strategy), fact)
                for (key, row), of_row in zip(self._rows[id(fact)], values, strict=True)
            }
        return self._read[at_]

    def _passed(
        self, row: Row, values: tuple[Value, ...], strategy: ReadStrategy
    ) -> tuple[Value, ...]:
        if (lists := self._lists) and strategy.listed:
            pairs = zip(values, self._places(), strict=True)
            values = tuple(v if at is None else lists.shown(v, at, row) for v, at in pairs)
        return tuple(map(cut, values)) if strategy.cut else values

    def _column(
        self,
        fact: FileFact,
        field: Field,
        source: Field | None,
        by: ColumnMapping,
        conversion: Conversion | None,
        *,
        partless: bool = False,
    ) -> Sequence[Value]:
        """Return what is shown of a file's rows in a column; most strategies show the same."""
        by = unplaced(by)
        # The fields are those of the history's schemas and of META: they live as long as this does.
        at_ = id(fact), id(field), id(source), by, conversion, partless
        if at_ not in self._shown:
            values = [shown(row, field, source, by, conversion) for _, row in self._rows[id(fact)]]
            if partless and may_be_partless(field, source, by):
                values = [without_partless(value, field, source, by) for value in values]
            self._shown[at_] = values
        return self._shown[at_]

    def _may_hold(self, base: FileFact, strategy: ReadStrategy, where: Condition) -> bool:
        """Return whether a base file that stands alone is read at all."""
        if (by := strategy.pruned) is None:
            return True
        head = where.path.partition(".")[0]
        pairs = self._sources(base, by, strategy)
        taken = next((pair for pair in pairs if pair[0].name == head), None)
        if taken is None:
            return True
        values = self._column(base, *taken, by, None)
        return can_hold(where, [at({head: value}, where.path) for value in values])


def _spelled(schema: Schema, as_now: Schema) -> Schema:
    """Return a schema as a reader knows it that has all names in lower case.

    What is one of the columns of now but for case is called as that one, as answers are.
    """
    now = {name.lower(): name for name in as_now.names}
    called = (now.get(field.name.lower(), field.name.lower()) for field in schema.fields)
    pairs = zip(schema.fields, called, strict=True)
    return replace(schema, fields=tuple(replace(pair, name=name) for pair, name in pairs))


def _one_to_one(parts: Collection[tuple[int, int, Hashable]]) -> bool:
    """Return whether each part of a column has one value, and no other part of it has that one."""
    ids, values = {(field, id_) for field, id_, _ in parts}, {(field, v) for field, _, v in parts}
    return len(ids) == len(values) == len(parts)


# Which rows a reader leaves out that goes by what is stored beside the values. A file's own
# statistics are followed where nothing but deletes is merged into it, for other log records may
# change what it holds; those of a folder whatever is in its files (Apache Parquet format,
# `Statistics`; a column that a file does not have counts as all NULL, a bound that is NaN for
# nothing: `ColumnOrder`).


def can_hold(condition: Condition, values: Sequence[Value]) -> bool:
    """Return whether a file whose column has these values may hold a row for which it holds.

    Values that cannot be compared leave nothing out, nor does a NaN: the least and the greatest of
    a column that has one are not written, or not to be relied on.
    """
    there = [value for value in values if value is not None]
    match condition.test:
        case Comparison.NULL:
            return len(there) < len(values)
        case Comparison.NOT_NULL:
            return bool(there)
    if not there or any(map(is_nan, there)):
        return bool(there)
    try:
        return not condition.excluded_by(min(there), max(there))
    except (TypeError, ValueError):
        return True


def decided(conditions: Sequence[Condition], truth: Truth) -> Iterator[Condition]:
    """Yield the conditions on NULL whose column forbids it, and so does all that it is a part of.

    They are answered from the schema: `is null` is true of no row, `is not null` of every one, also
    where older files lack the column and its values are NULL (seen on Spark, Trino and Hive, on
    Iceberg's tables). Source: `allAncestorFieldsAreRequired` of Iceberg's `UnboundPredicate`;
    `NullPropagation` of Spark.
    """
    for condition in conditions:
        on_null = condition.test in ON_NULL and truth.schema.has(condition.path)
        paths = accumulate(condition.path.split("."), "{}.{}".format)
        if on_null and all(truth.schema.find(path).id in truth.required for path in paths):
            yield condition


def without_decided(query: Query, truth: Truth) -> Query | None:
    """Return what is left of a question to ask of each row; None where no row can pass."""
    known = frozenset(decided(query.conditions, truth))
    if any(condition.test is Comparison.NULL for condition in known):
        return None
    where, also = (None if on in known else on for on in (query.where, query.also))
    return replace(query, where=where, also=also)


def names_of(
    path: str, pairs: Sequence[tuple[Field, Field | None]], fact: FileFact, by: ColumnMapping
) -> frozenset[str]:
    """Return the names under which a column of a table has its statistics.

    That is the name of the file's column which is taken for it. Where the file has none of the
    table's name, it may be the table's as well: not all statistics are made with the file.
    """
    head, *rest = path.split(".")
    whole = frozenset[str]() if head in dict(fact.columns) else frozenset({path})
    field, source = next((pair for pair in pairs if pair[0].name == head), (None, None))
    names = []
    for part in ("", *rest):
        if part and field is not None and source is not None:
            inner = next((child for child in field.children if child.name == part), None)
            source = part_in(source, field, inner, by) if inner is not None else None
            field = inner
        if field is None or source is None:
            return whole
        names.append(source.name)
    return whole | {".".join(names)}


TableLook = tuple[tuple[str, ...], frozenset[tuple[tuple[Look, ...], int]]]
"""The labels of an answer, sorted, and how its rows look in that order, each how often."""


def table_of(labels: Sequence[str], rows: Sequence[Sequence[Value]]) -> TableLook:
    order = sorted(range(len(labels)), key=lambda at: labels[at])
    looks = Counter(tuple([look_of(row[at]) for at in order]) for row in rows)
    return tuple(labels[at] for at in order), frozenset(looks.items())


@dataclass(frozen=True, slots=True)
class StrategyAnswer:
    labels: tuple[str, ...]
    rows: Sequence[tuple[Value, ...]]
    strategies: tuple[ReadStrategy, ...]


class Readings:
    """What readers of each strategy would answer about one table state."""

    def __init__(self, reading: Simulation) -> None:
        self.reading = reading
        self._tables: dict[tuple[ReadStrategy, Query], TableLook | None] = {}
        self._fitting: dict[tuple[Query, TableLook], tuple[ReadStrategy, ...]] = {}
        self._rows: dict[ReadStrategy, list[tuple[Value, ...]]] = {}

    def strategies(self, query: Query) -> tuple[ReadStrategy, ...]:
        """Return the strategies that are tried for a question, the smallest first."""
        result = self.reading.strategies(query.conditions)
        if not self.reading.renumbered:
            return result
        # Ids are given anew only where a timestamp is asked for.
        fields = self.reading.schema(ReadStrategy(ColumnMapping.ID)).fields
        asked = {path.partition(".")[0] for path in (*query.columns, *query.filters)}
        whole = not (query.columns or query.label)
        if any(has_timestamp(column) for column in fields if whole or column.name in asked):
            return result
        return tuple(by for by in result if by.mapping is not ColumnMapping.RENUMBERED)

    def labels(self, strategy: ReadStrategy, query: Query) -> tuple[str, ...] | None:
        """Return what the answer's columns are called; None where the reader has no such column."""
        schema = self.reading.schema(strategy)
        if not all(schema.has(path) for path in (*query.columns, *query.filters)):
            return None
        return query.labels(schema.names)

    def answer(self, strategy: ReadStrategy, query: Query) -> list[tuple[Value, ...]]:
        """Return the rows that a reader of that strategy answers.

        A reader is taken to resolve every row, and then to see whether the predicate holds for it;
        one that leaves out files by statistics does so before.

        Raises ValueError: a value has no form in the type of an older catalog, or is not predicted.
        """
        asked, names = self.reading.asked(strategy, query), self.reading.schema(strategy).names
        rows = self._values(strategy, query) if asked else ()
        result = (asked or query).answer(names, rows)
        if any(isinstance(value, Unpredicted) for row in result for value in row):
            raise ValueError(f"a value is not predicted of a reader {strategy}")
        return result

    def _values(self, strategy: ReadStrategy, query: Query) -> list[tuple[Value, ...]]:
        if strategy.pruned is not None or strategy.trusted is not None:
            return [row.values for row in self.reading.rows(strategy, query.conditions)]
        if strategy not in self._rows:
            self._rows[strategy] = [row.values for row in self.reading.rows(strategy)]
        return self._rows[strategy]

    def fitting(
        self, query: Query, labels: Sequence[str], rows: Sequence[Sequence[Value]]
    ) -> tuple[ReadStrategy, ...]:
        """Return the smallest strategies that reproduce a whole answer, labels included."""
        asked = query, table_of(labels, rows)
        if asked not in self._fitting:
            fits: list[ReadStrategy] = []
            for strategy in self.strategies(query):
                if not any(map(strategy.includes, fits)) and self._fits(strategy, *asked):
                    fits.append(strategy)
            self._fitting[asked] = tuple(fits)
        return self._fitting[asked]

    def all_fitting(
        self, query: Query, labels: Sequence[str], rows: Sequence[Sequence[Value]]
    ) -> tuple[ReadStrategy, ...]:
        """Return every strategy that reproduces a whole answer, also those that do too much."""
        answer = table_of(labels, rows)
        return tuple(by for by in self.strategies(query) if self._fits(by, query, answer))

    def answers(self, query: Query) -> tuple[StrategyAnswer, ...]:
        """Return every table that a strategy shows, each once, with its smallest strategies."""
        result: dict[TableLook, StrategyAnswer] = {}
        for strategy in self.strategies(query):
            labels = self.labels(strategy, query)
            shown = self._shown(strategy, query) if labels else None
            if labels is None or shown is None:
                continue
            table = table_of(labels, shown)
            same = result.get(table, StrategyAnswer(labels, shown, ()))
            if not any(map(strategy.includes, same.strategies)):
                result[table] = replace(same, strategies=(*same.strategies, strategy))
        return tuple(result.values())

    def _shown(self, strategy: ReadStrategy, query: Query) -> list[tuple[Value, ...]] | None:
        try:
            return self.answer(strategy, query)
        except ValueError:
            return None

    def _fits(self, strategy: ReadStrategy, query: Query, answer: TableLook) -> bool:
        labels = self.labels(strategy, query)
        if labels is None or tuple(sorted(labels)) != answer[0]:
            return False
        asked = strategy, query
        if asked not in self._tables:
            rows = self._shown(strategy, query)
            self._tables[asked] = None if rows is None else table_of(labels, rows)
        table = self._tables[asked]
        if query.limit and table is not None:
            return _some_of(answer, table, query.limit)
        return table == answer


def _some_of(answer: TableLook, whole: TableLook, limit: int) -> bool:
    """Return whether an answer has so many rows of a table, whichever."""
    there, shown = Counter(dict(whole[1])), Counter(dict(answer[1]))
    right = shown.total() == min(limit, there.total())
    return answer[0] == whole[0] and right and shown <= there
