"""The list of columns that the catalog keeps of each partition, and what a reader by it shows.

Hudi's sync gives a new partition the columns of then, and Spark's changes leave them so; a later
sync that finds the table's list wrong sets all of them right (seen with Hudi 1.0.2 and 1.2.0, which
leave Hudi's own columns out again after Spark put them in). Those of a plain table follow its
changes, or stay, as the change itself says (`cascade`, `restrict`).

Source: Hive 3.1.3, `FetchOperator` and `MapOperator` (where the lists of table and partition
differ, a row of a Parquet file is read by the names of the table and then converted from the
partition's list to the table's) and `ObjectInspectorConverters.StructConverter` (that goes by
place, at any depth; what stands beyond the end of the partition's list is NULL), and
`ParquetStringInspector` (a number becomes a text under a string, and then the same number again)
and `PrimitiveObjectInspectorConverter` (a text that is no number becomes NULL under one).
"""

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from harness.model import partition_paths
from harness.model.canonical import MapValue, Unpredicted, Value
from harness.model.datatypes import Array, DataType, Decimal, Map, Primitive, Struct, parse_type
from harness.model.file_facts import FileFact, FileKind
from harness.model.simulation.column_resolution import META, WrittenFiles
from harness.model.simulation.strategies import ColumnMapping
from harness.model.truth import History, Row, Truth

Partition = tuple[Value, ...]
"""The values of the partition columns."""
ColumnTypes = tuple[DataType, ...]
"""Those of a list's columns, in order."""
ListedColumns = Sequence[tuple[str, str]]
"""Their names and types, in our words; empty for a type that has none."""


@dataclass(frozen=True, slots=True)
class Lists:
    """The catalog's lists of columns, of a table and of each of its partitions."""

    ahead: int
    """So many of Hudi's columns the table's list begins with."""
    table: ColumnTypes
    """Of all columns but the partition columns, Hudi's among them."""
    partitions: Mapping[Partition, ColumnTypes]
    recorded: bool = False
    """Whether the catalog was seen to have them, and they do not follow from the steps alone."""

    @property
    def differ(self) -> bool:
        return any(types != self.table for types in self.partitions.values())

    def shown(self, value: Value, position: int, row: Row) -> Value:
        """Return what a row shows under a column of the table; Hudi's take no place."""
        if self.beyond(position, row):
            return None
        at = self.ahead + position
        try:
            return _left(value, self.table[at], self.partitions[row.group[1]][at])
        except ValueError:
            return Unpredicted()

    def beyond(self, position: int, row: Row) -> bool:
        return self.ahead + position >= len(self.partitions[row.group[1]])


NO_LISTS: Final = Lists(0, (), {})
"""Where no partition has one of its own."""


def lists(
    history: History, files: Iterable[FileFact], bare: Container[int], *, stay: bool = False
) -> Lists | None:
    """Return the lists after the last step; None where there are none, or all are the table's.

    `bare`: the steps after which the catalog lists none of Hudi's columns. `stay`: whether the
    partitions of a plain table keep the lists that they were made with.
    """
    stored = {name for file in files if file.kind is FileKind.BASE for name, _ in file.columns}
    plain = not META.keys() & stored
    if not history[-1].table.partition_by or (plain and not stay):
        return None
    if plain:
        bare = range(history[-1].step + 1)
    ahead = 0 if history[-1].step in bare else len(META)
    return Lists(ahead, _types(history[-1], bare), _partition_lists(history, bare))


def recorded_lists(
    files: WrittenFiles, table: ListedColumns, of_folder: Mapping[str, ListedColumns]
) -> Lists | None:
    """Return the lists that the catalog was seen to have; None where the table's has other columns.

    `of_folder`: those of partitions that are not the table's, by their folders. Raises LayoutError.
    """
    ahead, truth = sum(name in META for name, _ in table), files.history[-1]
    by = truth.table.partition_by
    columns = [name.lower() for name in truth.schema.names if name not in by]
    if columns != [name.lower() for name, _ in table[ahead:]]:
        return None
    by_partition: dict[Partition, ColumnTypes] = {}
    for fact in files.newest:
        for key in fact.keys[:1]:  # all rows of a file are of one partition
            listed = of_folder.get(partition_paths.folder_of(fact.path), table)
            by_partition[files.version(fact, key).group[1]] = _parsed(listed)
    return Lists(ahead, _parsed(table), by_partition, recorded=True)


def _parsed(listed: ListedColumns) -> ColumnTypes:
    return tuple(parse_type(type_) if type_ else Primitive(type_) for _, type_ in listed)


def _partition_lists(history: History, bare: Container[int]) -> Mapping[Partition, ColumnTypes]:
    by_partition: dict[Partition, ColumnTypes] = {}
    before = history[0]
    for truth in history:
        now = _types(truth, bare)
        if truth.schema == before.schema and now != _types(before, bare):
            by_partition = dict.fromkeys(by_partition, now)
        for row in truth.rows.values():
            by_partition.setdefault(row.group[1], now)
        before = truth
    return by_partition


def _types(truth: Truth, bare: Container[int]) -> ColumnTypes:
    by = truth.table.partition_by
    types = tuple(field.type for field in truth.schema.fields if field.name not in by)
    return types if truth.step in bare else (*(field.type for field in META.values()), *types)


def _left(value: Value, now: DataType, listed: DataType) -> Value:
    """Return what is left of a value under the table's type that passes through the partition's."""
    if value is None or now == listed:
        return value
    match value, now, listed:
        case _, Primitive("int" | "long" | "float" | "double") | Decimal(), Primitive("string"):
            return _number(value) if isinstance(value, str) else value
        case dict(), Struct(parts), Struct(theirs):
            pairs = zip(parts, theirs, strict=False)
            left = {name: _left(value[name], to, of) for (name, to), (_, of) in pairs}
            return {name: left.get(name) for name, _ in parts}
        case tuple(), Array(to), Array(of):
            return tuple(_left(element, to, of) for element in value)
        case MapValue(), Map(_, to), Map(_, of):
            return MapValue.of([(key, _left(pair, to, of)) for key, pair in value.pairs])
    raise ValueError(f"{listed} is the partition's type, {now} the table's")


def _number(text: str) -> Value:
    """Return what a text becomes under a number: NULL; what may be a number is not predicted."""
    try:
        float(text)
    except ValueError:
        return None
    raise ValueError(f"{text!r} may be taken for a number")


CATALOGS: Final = 12
"""So many earlier schemas a reader is tried with at most, the newest ones, and as many later."""


@dataclass(frozen=True, slots=True)
class CatalogColumns:
    order: Sequence[str] = ()
    """Their names; none where they are not known."""
    partitions: Lists | None = None
    """The lists of partitions, where these have some of their own."""
    lowers: bool = False
    """Whether the reader has all names in lower case, and some are not."""


CATALOG_AS_SCHEMA: Final = CatalogColumns()
"""Nothing that a schema does not tell."""


def other_catalogs(history: History, later: History, by: ColumnMapping) -> tuple[int, ...]:
    """Return the steps that made another schema than the view's, the newest first.

    A reader may still go by one of them, or go by it already. `later`: what came after the step
    that the view goes back to. A schema of before that is there again counts twice.
    """
    collect = tuple if by.placed else frozenset  # the order matters to a reader by position alone
    now = collect(history[-1].schema.fields)

    def made(truths: History) -> list[int]:
        steps: dict[Hashable, int] = {}
        for truth in truths:
            steps.setdefault(collect(truth.schema.fields), truth.step)
        steps.pop(now, None)
        return sorted(steps.values(), reverse=True)[:CATALOGS]

    return (*made(later), *made(history))
