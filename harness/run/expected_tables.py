"""The tables that a reader must answer after a step, as plain data: the truth without us. Pure."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from harness.judge.expectations import Expectations
from harness.judge.expected_state import ExpectedState
from harness.judge.recorded_variant import READ_OPTIMIZED, RecordedVariant
from harness.model import past_views, query_shapes
from harness.model.canonical import MapValue, Value
from harness.model.query import Query
from harness.model.query_shapes import NoQuestionError
from harness.model.schema import Field, Schema
from harness.model.simulation.column_resolution import LayoutError

WHOLE: Final = "all"
ANY: Final = "any"
"""No question asks for an order: rows stand by the text of their key here, and may come in any."""


@dataclass(frozen=True, slots=True)
class ExpectedField:
    """A column, or a part of one, of the table after the step."""

    id: int
    name: str
    type: str
    """In the words of scenario files."""
    fields: tuple[ExpectedField, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpectedColumn:
    """A column of an answer; `id` is None for what is counted."""

    name: str
    type: str
    id: int | None


@dataclass(frozen=True, slots=True)
class AskedCondition:
    """What a row must fulfil to be asked for."""

    column: str
    test: str
    value: object = None
    type: str = ""


@dataclass(frozen=True, slots=True)
class ExpectedTable:
    """What one question must be answered with."""

    view: str
    query: str
    """As cases are called: `all`, `column(f1)`."""
    table: str
    """The catalog's entry that the question is put to."""
    columns: tuple[ExpectedColumn, ...]
    rows: tuple[tuple[object, ...], ...]
    order: str = ANY
    select: tuple[str, ...] = ()
    """Dotted paths; empty for all columns."""
    aggregate: str = ""
    """`count(*)`, `min(f1)`: what the one column is; empty where rows are asked for."""
    where: tuple[AskedCondition, ...] = ()
    """All of them must hold."""
    back_to: int | None = None
    """The step that a view of the past goes back to; its instant is in the manifest."""


@dataclass(frozen=True, slots=True)
class ExpectedTables:
    """All that must be answered after one step."""

    variant: str
    step: int
    key: str
    columns: tuple[ExpectedField, ...]
    """The table's schema, with its field ids."""
    questions: tuple[ExpectedTable, ...] = field(default=())


def expected_tables(
    case: RecordedVariant, step: int, tables: Mapping[str, str], asked: Iterable[tuple[str, str]]
) -> ExpectedTables:
    """Return what must be answered after a step of which the truth is known.

    Args:
        case: the variant with its records.
        step: the step.
        tables: the catalog's entry of each view that can be asked, by the view's name.
        asked: the view and the query of further questions.

    """
    expectations = Expectations(case)
    every = dict.fromkeys([*((view, WHOLE) for view in tables), *asked])
    result = (_table(expectations, step, view, query, tables) for view, query in every)
    schema = case.history[step].schema
    return ExpectedTables(
        case.variant.id,
        step,
        case.variant.scenario.table.key,
        tuple(map(_field, schema.fields)),
        tuple(expected_table for expected_table in result if expected_table),
    )


def _table(
    expectations: Expectations, step: int, view: str, text: str, tables: Mapping[str, str]
) -> ExpectedTable | None:
    """Return what a question must be answered with; None where it cannot be put, or who knows."""
    name, past = past_views.name_of(view), expectations.case.past(view, step)
    if name not in tables or (past is not None and not past.step):
        return None
    if name == READ_OPTIMIZED and expectations.layout_problem(step):
        return None
    try:
        state = expectations.state(step, view)
        query = query_shapes.query(text, state.history[-1])
        columns, rows = _answer(state, query)
    except (NoQuestionError, LayoutError):
        return None
    return ExpectedTable(
        view,
        text,
        tables[name],
        columns,
        rows,
        select=() if query.label else query.columns,
        aggregate=query.label,
        where=tuple(conditions(query)),
        back_to=past.step if past else None,
    )


def _answer(
    state: ExpectedState, query: Query
) -> tuple[tuple[ExpectedColumn, ...], tuple[tuple[object, ...], ...]]:
    table = state.table(query)
    columns = (
        ExpectedColumn(name, type_, None if query.label else _id(state.schema, name))
        for name, type_ in table.columns
    )
    return tuple(columns), tuple(tuple(map(plain, row)) for row in table.rows)


def _id(schema: Schema, path: str) -> int:
    return schema.find(path).id


def conditions(query: Query) -> Iterator[AskedCondition]:
    """Yield what rows must fulfil to be asked for."""
    for condition in query.conditions:
        value = plain(condition.value) if condition.type else None
        yield AskedCondition(condition.path, str(condition.test), value, condition.type)


def _field(of: Field) -> ExpectedField:
    return ExpectedField(of.id, of.name, str(of.type), tuple(map(_field, of.children)))


def plain(value: Value) -> object:
    r"""Return a value as JSON without tags; the column's type says what a text is.

    >>> plain(decimal.Decimal("1.10")), plain((1, None)), plain(float("nan"))
    ('1.10', [1, None], 'NaN')
    >>> plain(datetime.datetime(2024, 2, 29, 10)), plain(b"\x01\xff")
    ('2024-02-29 10:00:00.000000', '01ff')

    Raises:
        TypeError: it is no canonical value.

    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else _infinite(value)
        case decimal.Decimal():
            return f"{value:f}"
        case datetime.datetime():
            return value.isoformat(sep=" ", timespec="microseconds")
        case datetime.date():
            return value.isoformat()
        case bytes():
            return value.hex()
        case tuple():
            return [plain(element) for element in value]
        case dict():
            return {str(name): plain(element) for name, element in value.items()}
        case MapValue():
            return [[plain(key), plain(pair)] for key, pair in value.pairs]
    raise TypeError(f"{value!r} is no canonical value")


def _infinite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
