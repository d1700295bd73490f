"""Planted readers that go by what the catalog says and not by what a file holds."""

import datetime
import random
from array import array
from dataclasses import replace

from harness.model.canonical import Value
from harness.model.schema import Field
from tests.builders.random_story import Plot
from tests.builders.simulated_reader import Reader
from tests.builders.table_story import Story
from tests.builders.traced_answer import Line, Seen, Token, read
from tests.quality.planted import planted, with_lines

FIRST_DAY = datetime.date(1970, 1, 1).toordinal()


def _parted(plot: Plot, by_chance: random.Random) -> Plot:
    """Let a table with partitions get more columns, of one type."""
    first = ("add g string after ts", "drop f1", "rename f1 g", "move f1 after f2")
    second = ("add h string after f2", "add h string after ts", "rename f2 h")
    writes = ("upsert 2,3", "insert 6..8", "upsert 1; insert 9")
    steps = [by_chance.choice(choices) for choices in (first, writes, second, writes)]
    steps[3] = by_chance.choice(("upsert 4", "insert 10"))
    columns = "id string, ts long, f1 string, f2 string, p string"
    return Plot(columns, "; ".join(("insert 1..5", *steps)), plot.mor, ("p",))


@planted("partitions by their own column lists", twist=_parted)
def _by_own_lists(story: Story, _: random.Random) -> Seen:
    width: dict[Value, int] = {}
    for truth in story.history:
        for row in truth.rows.values():
            width.setdefault(_partition(story, row.key), len(truth.schema.fields) - 1)
    cut = {row.key: width[_partition(story, row.key)] for row in story.truth.rows.values()}
    return with_lines(read(story, Reader("name")), lambda line: _cut(line, cut[line.key]))


def _partition(story: Story, key: Value) -> Value:
    row = next(truth.rows[key] for truth in story.history if key in truth.rows)
    return row.values[story.history[0].column_id("p")]


def _cut(line: Line, width: int) -> Line:
    """Return a row whose columns from a place on are NULL; the last is the partition's."""
    last = len(line.values) - 1
    is_known = [at < width or at == last for at in range(last + 1)]
    values = tuple(
        value if left else None for value, left in zip(line.values, is_known, strict=True)
    )
    tokens = tuple(
        token if left else None for token, left in zip(line.tokens, is_known, strict=True)
    )
    return replace(line, values=values, tokens=tokens)


def _numbers(plot: Plot, by_chance: random.Random) -> Plot:
    """Let columns of types that are stored as numbers stand under each other's names."""
    change = by_chance.choice(("f1 after f2", "f2 after f3", "f3 after f4", "f1 after f4"))
    columns = "id string, ts long, f1 date, f2 int, f3 float, f4 long"
    return Plot(columns, f"insert 1..3; move {change}; insert 4,5", plot.mor)


@planted("by position, values as they are stored", twist=_numbers)
def _as_stored(story: Story, _: random.Random) -> Seen:
    seen, fields = read(story, Reader("position")), story.truth.schema.fields
    return with_lines(seen, lambda line: replace(line, values=_stored(story, line, fields)))


def _stored(story: Story, line: Line, fields: tuple[Field, ...]) -> tuple[Value, ...]:
    row, values = story.history[line.step].rows[line.key].values, []
    for token, field, shown in zip(line.tokens, fields, line.values, strict=True):
        whole = isinstance(token, Token) and row[token.field_id] is not None
        number = _number(row[token.field_id]) if whole else None
        values.append(shown if number is None else _under(str(field.type), number))
    return tuple(values)


def _number(value: Value) -> int | None:
    match value:
        case datetime.date():
            return value.toordinal() - FIRST_DAY
        case float():
            return memoryview(array("f", [value])).cast("B").cast("i")[0]
        case int():
            return value
    return None


def _under(type_: str, number: int) -> Value:
    match type_:
        case "date":
            return datetime.date.fromordinal(number + FIRST_DAY)
        case "float":
            return memoryview(array("i", [number])).cast("B").cast("f")[0]
    return number
