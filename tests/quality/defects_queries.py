"""Planted readers that are led astray by a predicate, or count wrongly."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from harness import formats
from harness.core.records import Column
from harness.engines import query_sql
from harness.engines.api import Question
from harness.model.canonical import Value, same
from harness.model.identifiers import TABLE
from harness.model.query import Comparison, Condition, Query, at
from tests.builders.random_story import Plot
from tests.builders.simulated_reader import Reader
from tests.builders.table_story import Story
from tests.builders.traced_answer import Line, Seen, read
from tests.quality import asked
from tests.quality.defects_base import BASE
from tests.quality.planted import Twist, Way, filtered, plant, planted


def _question(story: Story, shape: str) -> Query | None:
    results = [
        query.query for query in asked.questions(story) if query.text.startswith(f"{shape}(")
    ]
    return results[0] if results else None


def _pruned(by: str) -> Way:

    def defect(story: Story, _: random.Random) -> Seen | None:
        query = _question(story, "predicate")
        if query is None or (by == "position" and query.where and "." in query.where.path):
            return None
        unpruned = {(f.group, f.step) for f in asked.pruned(story, query, by).files}
        whole = read(
            story, files=lambda file: file if (file.group, file.step) in unpruned else None
        )
        return filtered(whole, query)

    return defect


def _evolved(*changes: str) -> Twist:
    """Let no base file have log files, with which it is read in any case.

    Every other history has a column that is not where, or called as, it was in older files.
    """

    def twist(plot: Plot, by_chance: random.Random) -> Plot:
        steps = f"insert 1..3; insert 4,5; {by_chance.choice(changes)}; insert 6..8"
        columns = "id string, ts long, f1 string, f2 string, f3 string"
        evolved = Plot(columns, steps, mor=False)
        return by_chance.choice((evolved, replace(plot, mor=False)))

    return twist


RENAMED: Final = _evolved("rename f1 g", "rename f2 g", "rename f1 h; rename f3 f1")
MOVED: Final = _evolved("move f1 after f2", "move f3 after ts", "add g string after ts")
plant("files left out by the name's statistics", _pruned("name"), twist=RENAMED)
plant("files left out by the place's statistics", _pruned("position"), twist=MOVED)


@planted("every question answered (right)", harmless=True)
def _right(story: Story, by_chance: random.Random) -> Seen | None:
    query = _question(story, by_chance.choice(["predicate", "partition"]))
    return None if query is None else filtered(read(story), query)


def _table_first(story: Story, query: Query) -> Query:
    """Return what an engine understands: a dotted name begins with the table's, if that fits."""
    sql = query_sql.select(Question("s_1", TABLE, formats.facts("iceberg"), query), query_sql.ANSI)
    called = re.search(r'from "s_1"."t"(?: "(\w+)")?', sql)
    visible = (called and called[1]) or TABLE
    where = query.where
    head, _, rest = where.path.partition(".") if where else ("", "", "")
    if where is None or head.casefold() != visible or rest not in story.truth.schema.names:
        return query
    return replace(query, where=replace(where, path=rest))


def _as_the_table(plot: Plot, by_chance: random.Random) -> Plot:
    """Let a struct have the table's name, and a part of it the name of a column."""
    name = by_chance.choice(("t", "t1", "T"))
    columns = f"id string, ts long, {name} struct<a: int, b: int>, t2 struct<a: int>, f1 int"
    steps = f"insert 1..3; rename {name}.a f1; touch some"
    return Plot(columns, steps, plot.mor)


@planted("a dotted name may begin with the table's (right)", harmless=True, twist=_as_the_table)
def _as_engines_resolve(story: Story, _: random.Random) -> Seen | None:
    query = _question(story, "predicate")
    if query is None:
        return None
    return replace(filtered(read(story), _table_first(story, query)), query=query)


@planted("predicate forgotten")
def _forgotten(story: Story, _: random.Random) -> Seen | None:
    query = _question(story, "predicate")
    return None if query is None else replace(read(story), query=query)


@planted("as many rows, but others")
def _others(story: Story, by_chance: random.Random) -> Seen | None:
    query, seen = _question(story, "predicate"), read(story)
    if query is None:
        return None
    right = filtered(seen, query).lines
    wrong = [line for line in seen.lines if line not in right]
    if not right or not wrong:
        return None
    return replace(seen, lines=(*right[1:], by_chance.choice(wrong)), query=query)


def _counted(seen: Seen, query: Query, lines: Sequence[Line]) -> Seen:
    column = Column("_col0", "bigint", "long")
    line = Line("", seen.story.truth.step, "", (len(lines),), (None,))
    return replace(seen, columns=(column,), lines=(line,), query=query)


def _counting(reader: Reader) -> Way:
    def defect(story: Story, _: random.Random) -> Seen | None:
        query, seen = _question(story, "count"), read(story, reader)
        return None if query is None else _counted(seen, query, filtered(seen, query).lines)

    return defect


plant("counted in base files only", _counting(BASE))
plant("counted by a column found by name", _counting(Reader("name")))
plant("counted rightly (right)", _counting(Reader("id")), harmless=True)


@planted("counted from all files' footers")
def _footers(story: Story, _: random.Random) -> Seen | None:
    query = _question(story, "count")
    whole = read(story, Reader("id", logs="undeleted"))
    return None if query is None else _counted(whole, query, whole.lines)


def _asked(shape: str, reader: Reader) -> Way:

    def defect(story: Story, _: random.Random) -> Seen | None:
        query = _question(story, shape)
        return None if query is None else filtered(read(story, reader), query)

    return defect


plant("predicate on a column found by name", _asked("predicate", Reader("name")))
plant("predicate on a column found by position", _asked("predicate", Reader("position")))
plant("NULLs of a column found by name", _asked("null", Reader("name")))
plant("range in base files only", _asked("range", BASE))
plant("condition on an unchanged column, base files only", _asked("unchanged", BASE))


@planted("second condition forgotten")
def _one_condition(story: Story, _: random.Random) -> Seen | None:
    query = _question(story, "both")
    if query is None:
        return None
    return replace(filtered(read(story), replace(query, also=None)), query=query)


def _required(plot: Plot, _: random.Random) -> Plot:
    """Let NULL be forbidden in a column that older files lack."""
    return replace(plot, steps=f"{plot.steps}; add late string; forbid late; insert 401")


@planted("NULL looked for in no column that forbids it", twist=_required)
def _no_null(story: Story, _: random.Random) -> Seen:
    return replace(read(story), lines=(), query=Query(where=Condition("late", Comparison.NULL)))


@planted("every value taken to be there where NULL is forbidden", twist=_required)
def _every_value(story: Story, _: random.Random) -> Seen:
    return replace(read(story), query=Query(where=Condition("late", Comparison.NOT_NULL)))


@planted("all rows counted from all files' footers")
def _all_footers(story: Story, _: random.Random) -> Seen | None:
    whole = read(story, Reader("id", logs="undeleted"))
    return _counted(whole, Query(count=True), whole.lines)


def _extreme(reader: Reader) -> Way:

    def defect(story: Story, by_chance: random.Random) -> Seen | None:
        query, seen = _question(story, by_chance.choice(["min", "max"])), read(story, reader)
        if query is None:
            return None
        names = seen.names
        rows = (dict(zip(names, line.values, strict=True)) for line in seen.lines)
        try:
            value = asked.aggregate(query, rows)
        except asked.UnorderedError:
            return None
        type_ = str(story.truth.schema.find(query.columns[0]).type)
        token = _token_of(seen, query.columns[0], value)
        line = Line("", story.truth.step, "", (value,), (token,))
        return replace(seen, columns=(Column("_col0", type_, type_),), lines=(line,), query=query)

    return defect


def _token_of(seen: Seen, path: str, value: Value) -> Value:
    """Return whose value was taken for an extreme; None where it is NULL."""
    for line in seen.lines if value is not None else ():
        row, tokens = (
            dict(zip(seen.names, cells, strict=True)) for cells in (line.values, line.tokens)
        )
        if same(at(row, path), value):
            token = tokens[path.partition(".")[0]]
            for name in path.split(".")[1:]:
                token = token[name] if isinstance(token, dict) else token
            return token
    return None


plant("least or greatest value rightly (right)", _extreme(Reader("id")), harmless=True)
plant("least or greatest value of base files only", _extreme(BASE))
plant("least or greatest value of a column found by name", _extreme(Reader("name")))
