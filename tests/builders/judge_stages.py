"""The stages of the judge for one table, without files: wrong places and their findings."""

from __future__ import annotations

from collections.abc import Sequence

from harness.core.records import Answer, Column, Finding
from harness.judge.attribute import attribute
from harness.judge.compare import AnswerComparison, compare
from harness.judge.name import name
from harness.judge.place import Place
from harness.judge.strategies import Strategies
from harness.judge.table_comparison import compare_rows, wrong_columns
from harness.judge.trace import trace_rows
from harness.judge.world import World
from harness.model.canonical import Value
from harness.model.query import Query

Rows = Sequence[tuple[Value, ...]]


def wrong_rows(
    world: World, columns: Sequence[Column], rows: Rows, asked: Sequence[str] | None = None
) -> tuple[Place, ...]:
    """Return the wrong places of rows, traced to whose values were found there."""
    return trace_rows(compare_rows(world, columns, rows, asked))


def differences(
    world: World, columns: Sequence[Column], rows: Rows, asked: Sequence[str]
) -> tuple[Place, ...]:
    """Return the wrong places of an answer to a question for the columns `asked`."""
    return (*wrong_rows(world, columns, rows, asked), *wrong_columns(world, columns, asked))


def wrong(world: World, query: Query, columns: Sequence[Column], rows: Rows) -> tuple[Place, ...]:
    """Return the wrong places of the answer to a query."""
    answer = Answer("case", "select", tuple(columns), tuple(rows), question=query)
    asked = world.narrowed(query)
    found = compare(answer, asked, Strategies((), None, (world.predicted,)), None, cuts=False)
    return (*(place for each in found.rows for place in trace_rows(each)), *found.heads)


def findings(places: Sequence[Place], world: World) -> tuple[Finding, ...]:
    """Return the findings that places make, of whose doing nothing is known."""
    return attribute(name(places, world), AnswerComparison((), ()), None, world)
