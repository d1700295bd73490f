"""Simulated readers that are asked every shape: rightly, and led astray by statistics.

What a query means is worked out here once more, apart from `Query.answer`.
"""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from decimal import Decimal

from harness.core.records import Column
from harness.model import query_shapes
from harness.model.canonical import Value, same, text_of
from harness.model.query import Comparison, Condition, Extreme, Query
from harness.model.query_shapes import ANSWER_TABLES
from harness.scenario.cells import QUERIES
from tests.builders import simulated_reader
from tests.builders.simulated_disk import Disk, File
from tests.builders.simulated_reader import Reader, Reply
from tests.builders.table_story import Story


class UnorderedError(Exception):
    """What a reader found has no order, as by position: what an engine would say is not known."""


@dataclass(frozen=True)
class Asked:
    text: str
    query: Query


def questions(story: Story) -> Iterator[Asked]:
    for shape in (shape for shape in QUERIES if shape not in ANSWER_TABLES):
        for text in query_shapes.planned(shape, story.history):
            yield Asked(text, query_shapes.query(text, story.truth))


def ask(
    story: Story,
    query: Query,
    reader: Reader,
    *,
    prune_by: str = "",
    only: AbstractSet[str] | None = None,
) -> Reply:
    """Ask a simulated reader; with `prune_by` it first leaves out files by their statistics.

    `only`: the keys of the rows that it looks at, where these are not all.
    """
    disk = pruned(story, query, prune_by) if prune_by else story.disk
    whole = simulated_reader.read(disk, story.truth, reader)
    names = [column.name for column in whole.columns]
    key = names.index(story.disk.table.key)
    there = [row for row in whole.rows if only is None or text_of(row[key]) in only]
    rows = [row for row in there if passes(query, dict(zip(names, row, strict=True)))]
    if query.label:
        type_ = "long" if query.count else str(story.truth.schema.find(query.columns[0]).type)
        value = aggregate(query, (dict(zip(names, row, strict=True)) for row in rows))
        return Reply((Column("_col0", type_, type_),), ((value,),))
    if not query.columns:
        return Reply(whole.columns, tuple(rows))
    shown = [[_part(dict(zip(names, r, strict=True)), p) for p in query.columns] for r in rows]
    columns = tuple(_column(story, path) for path in query.columns)
    return Reply(columns, tuple(map(tuple, shown)))


def aggregate(query: Query, rows: Iterable[dict[str, Value]]) -> Value:
    if query.count:
        return len(list(rows))
    there = [value for row in rows if (value := _part(row, query.columns[0])) is not None]
    try:
        there.sort()
    except TypeError as mixed:
        raise UnorderedError from mixed
    return there[0 if query.extreme is Extreme.MIN else -1] if there else None


def _column(story: Story, path: str) -> Column:
    # Engines call a part of a struct by its own name.
    type_ = str(story.truth.schema.find(path).type)
    return Column(path.rsplit(".", maxsplit=1)[-1], type_, type_)


def passes(query: Query, row: dict[str, Value]) -> bool:
    return all(
        _meets(condition, _part(row, condition.path))
        for condition in (query.where, query.also)
        if condition
    )


def _meets(where: Condition, value: Value) -> bool:
    if where.test in {Comparison.NULL, Comparison.NOT_NULL}:
        return (value is None) == (where.test is Comparison.NULL)
    if value is None:
        return False
    if where.test in {Comparison.EQUAL, Comparison.IN}:
        return any(_equal(value, literal) for literal in where.values)
    if where.test is Comparison.NAN:
        return isinstance(value, float) and value != value  # noqa: PLR0124 - what NaN is
    other = where.value
    if type(value) is not type(other) and not {type(value), type(other)} <= {int, float, Decimal}:
        raise UnorderedError
    return _compares(where.test, value, other)


def _compares(test: Comparison, value: Value, other: Value) -> bool:
    match test:
        case Comparison.NOT | Comparison.NOT_EQUAL:
            return not _equal(value, other)
        case Comparison.STARTS_WITH:
            return str(value).find(str(other)) == 0
        case Comparison.LESS:
            return bool(value < other)
    return bool(value >= other)


def _equal(left: Value, right: Value) -> bool:
    """Return whether two values are one to SQL: numbers whatever their type and digits."""
    numbers = [side for side in (left, right) if type(side) in {int, float, Decimal}]
    if len(numbers) < len((left, right)):
        return same(left, right)
    one, other = (Decimal(repr(number) if type(number) is float else number) for number in numbers)
    return one == other


def _part(row: dict[str, Value], path: str) -> Value:
    value: Value = row
    for name in path.split("."):
        value = value[name] if isinstance(value, dict) and name in value else None
    return value


def pruned(story: Story, query: Query, by: str) -> Disk:
    """Leave out each base file that cannot hold the value, by the statistics of a column found so.

    One with log files is read whatever they say.
    """
    where = query.where
    if where is None or where.test is not Comparison.EQUAL:
        return story.disk
    lost = {
        group
        for group, (base, logs) in story.disk.slices(10**6).items()
        if not logs and not _can_hold(story, base, where, by)
    }
    return replace(story.disk, files=[file for file in story.disk.files if file.group not in lost])


def _can_hold(story: Story, base: File, where: Condition, by: str) -> bool:
    """Return whether the value is between the least and the greatest one of a file.

    A column that the file does not have has no value there: nothing can be equal to it.
    """
    alone, schema = replace(story.disk, files=[base]), story.truth.schema
    rows = simulated_reader.rows_of(alone, base.step, schema, Reader(by))
    shown = (dict(zip(schema.names, row.values, strict=True)) for row in rows)
    there = [value for row in shown if (value := _part(row, where.path)) is not None]
    try:
        return bool(there) and bool(min(there) <= where.value <= max(there))
    except TypeError:
        return True
