"""Answers beside the truth that a line of data admits, where the specification leaves them open.

Whether a line applies is read off the table, its files and the question alone. What it admits is
one exact set of rows; an answer that differs from it anywhere is judged as if there were no line.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Final

from harness.core.open_cases import OpenCase, OpenCondition
from harness.judge.difference import OTHER_ID, ROW_ID
from harness.judge.expected_state import ExpectedState
from harness.judge.file_contents import FileAgreement
from harness.model import partition_paths
from harness.model.canonical import Value, text_of
from harness.model.datatypes import Struct
from harness.model.partition_fields import PartitionField, Transform
from harness.model.query import Query
from harness.model.schema import Field
from harness.model.simulation.row_files import RowFile
from harness.model.truth import Row

BITS: Final = {"int": 32, "long": 64}
"""Of the types whose truncated values can leave them: `v - (v % W)`, the remainder positive
(Iceberg specification, "Truncate Transform Details")."""
WIDEST: Final = 10_000
"""Of wider partition values it is not looked whether a condition holds for all they stand for."""
_BELOW_ZERO: Final = -5e-324
"""The greatest float that is less than zero; no scenario writes it."""
_OWN_PRESENCE: Final = (".orc", ".avro")
"""Files that store whether a struct is there beside its parts (ORC specification, "Struct Columns";
Avro specification, "Unions"). In Parquet the levels of parts alone tell it ("Nested Encoding")."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """What is asked, of which rows: those before its conditions take some of them."""

    state: ExpectedState
    query: Query
    agreement: FileAgreement | None
    """None where it is not known what files hold."""

    def files_of(self, row: Row) -> Sequence[RowFile]:
        return self.state.row_files.get(text_of(row.key), ())


Reading = Callable[[OpenQuestion, Row], Row | None]
"""A row as an admitted answer has it, the very same where no line applies; None: left out."""


def admitted(
    cases: Sequence[OpenCase], question: OpenQuestion
) -> Iterator[tuple[Sequence[OpenCase], ExpectedState]]:
    """Yield the lines that apply and the state that they admit; of several, each may be taken."""
    rows = question.state.rows

    def reads_otherwise(case: OpenCase) -> bool:
        reading = _READINGS[case.condition]
        return any(reading(question, row) is not row for row in rows.values())

    applying = list(filter(reads_otherwise, cases))
    sizes = range(1, len(applying) + 1)
    for some in chain.from_iterable(combinations(applying, size) for size in sizes):
        readings = [_READINGS[case.condition] for case in some]
        results = {key: _read(question, readings, row) for key, row in rows.items()}
        there = {key: row for key, row in results.items() if row is not None}
        state = replace(question.state, rows=there).narrowed(question.query)
        yield some, replace(state, rows={key: _shown(row) for key, row in state.rows.items()})


def _read(question: OpenQuestion, readings: Sequence[Reading], row: Row) -> Row | None:
    result: Row | None = row
    for reading in readings:
        result = reading(question, result) if result is not None else None
    return result


def _without_overflown(question: OpenQuestion, row: Row) -> Row | None:
    """Leave out a row whose partition value tells that a condition holds for no row under it."""
    files = question.files_of(row)
    fields = dict.fromkeys(field for truth in question.state.history for field in truth.spec)
    for field in (field for field in fields if field.transform is Transform.TRUNCATE):
        under = {_overflown(question, row, file, field) for file in files}
        value = under.pop() if len(under) == 1 else None
        if value is not None and _excluded(question, field, value):
            return None
    return row


def _overflown(
    question: OpenQuestion, row: Row, file: RowFile, field: PartitionField
) -> int | None:
    """Return the partition value of a file, where it is what an overflow makes of a row's value.

    The name of the file's folder tells it, as the writer of the table made it.
    """
    source = question.state.history[file.step].schema.by_id(field.source)
    value, bits = row.values.get(field.source), BITS.get(str(source and source.type), 0)
    if not (bits and field.width and isinstance(value, int)):
        return None
    exact, half = value - value % field.width, 1 << bits - 1
    wrapped = (exact + half) % (2 * half) - half
    levels = partition_paths.folder_of(file.file.path).split("/")
    named = any(level.endswith(f"={wrapped}") for level in levels)
    return wrapped if wrapped != exact and named else None


def _excluded(question: OpenQuestion, field: PartitionField, value: int) -> bool:
    """Return whether a condition of the question holds for nothing that a partition value is of."""
    path, width = question.state.schema.path_of(field.source), field.width or 1
    conditions = [test for test in question.query.conditions if test.path == path]
    return width <= WIDEST and any(
        not any(map(condition.holds, range(value, value + width))) for condition in conditions
    )


def _with_null_structs(question: OpenQuestion, row: Row) -> Row | None:
    """Have NULL where a struct's file has none of the parts that the struct has today."""
    files = question.files_of(row)
    if not files or any(file.file.path.endswith(_OWN_PRESENCE) for file in files):
        return row
    odd = question.agreement.content.differences if question.agreement else ()
    doubted = {difference.field_id for difference in odd if difference.key == text_of(row.key)}
    old = [question.state.history[file.step].schema for file in files]

    def read(value: Value, field: Field) -> Value:
        if not isinstance(field.type, Struct) or not isinstance(value, dict):
            return value
        parts = [part for part in field.walk() if part is not field]
        there = all(schema.by_id(field.id) for schema in old)
        if there and not any(schema.by_id(part.id) for schema in old for part in parts):
            return None
        return {
            **value,
            **{part.id: read(value[part.id], part) for part in field.children if part.id in value},
        }

    fields = [field for field in question.state.schema.fields if field.id not in doubted]
    return _with(row, {field.id: read(row.values.get(field.id), field) for field in fields})


def _with_null_for_empty(question: OpenQuestion, row: Row) -> Row | None:
    """Have NULL for the empty text in each column that divides the table as it is."""
    spec = question.state.history[-1].spec
    sources = {field.source for field in spec if field.transform is Transform.IDENTITY}
    return _with(row, {at: None for at in sources if row.values.get(at) == ""})


def _with_less_than_zero(question: OpenQuestion, row: Row) -> Row | None:
    """Have less than 0.0 for -0.0 in the columns that conditions are on."""
    schema = question.state.schema
    fields = [schema.find(path) for path in question.query.filters if schema.has(path)]
    zeros = [field.id for field in fields if _is_negative_zero(row.values.get(field.id))]
    return _with(row, dict.fromkeys(zeros, _BELOW_ZERO))


def _with_other_id(_: OpenQuestion, row: Row) -> Row | None:
    """Have the id that a change of the row may have given it, as the table's files say."""
    other = row.values.get(OTHER_ID)
    return row if other is None else _with(row, {ROW_ID: other})


def _is_negative_zero(value: Value) -> bool:
    return isinstance(value, float) and value == 0 and math.copysign(1, value) < 0


def _shown(row: Row) -> Row:
    """Return a row with -0.0 where conditions took it for less."""
    below = (at for at, value in row.values.items() if value == _BELOW_ZERO)
    return _with(row, dict.fromkeys(below, -0.0))


def _with(row: Row, values: Mapping[int, Value]) -> Row:
    changed = {at: value for at, value in values.items() if row.values.get(at) != value}
    return replace(row, values={**row.values, **changed}) if changed else row


_READINGS: Final[Mapping[OpenCondition, Reading]] = {
    OpenCondition.TRUNCATED_VALUE_OVERFLOWS: _without_overflown,
    OpenCondition.PARTS_NEWER_THAN_FILE: _with_null_structs,
    OpenCondition.EMPTY_PARTITION_TEXT: _with_null_for_empty,
    OpenCondition.NEGATIVE_ZERO: _with_less_than_zero,
    OpenCondition.UPDATED_ROW_ID: _with_other_id,
}
