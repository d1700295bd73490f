"""Carry out a read plan in this process: the rows of a table, each with its file and position."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from harness.audit import file_rows, merge
from harness.audit.file_rows import FileTable
from harness.core.arrow import pa
from harness.engines import arrow_values
from harness.engines.arrow_values import canonical_values
from harness.formats.files import variant
from harness.formats.read_plan import ReadPlan
from harness.model.canonical import MapValue, Value


@dataclass(frozen=True)  # no slots: what is derived is kept
class TableRows:
    """A table as its files say that it is."""

    plan: ReadPlan
    files: tuple[FileTable, ...]

    @cached_property
    def rows(self) -> tuple[tuple[Value, ...], ...]:
        """All rows in canonical values, file by file; variants as readers show them."""
        return tuple(row for file in self.files for row in _rows(file.rows, _shown))

    @property
    def stored_rows(self) -> tuple[tuple[Value, ...], ...]:
        """The same with the types of what is inside of variants."""
        return tuple(row for file in self.files for row in _rows(file.rows, canonical_values))


def _rows(
    table: pa.Table, values: Callable[[pa.ChunkedArray], Sequence[Value]]
) -> Iterator[tuple[Value, ...]]:
    yield from zip(*map(values, table.columns), strict=True)


def _shown(column: pa.ChunkedArray) -> Sequence[Value]:
    values, has = canonical_values(column), str(arrow_values.variant()) in str(column.type)
    return [_as_json(value, column.type) for value in values] if has else values


def _as_json(value: Value, type_: pa.DataType) -> Value:
    """Return a value with the variants that it has as JSON."""
    if type_ == arrow_values.variant():
        return variant.json_of(value)
    match value:
        case dict():
            return {name: _as_json(part, type_.field(name).type) for name, part in value.items()}
        case tuple():
            return tuple(_as_json(part, type_.value_type) for part in value)
        case MapValue():
            return MapValue.of([(k, _as_json(part, type_.item_type)) for k, part in value.pairs])
    return value


def read(plan: ReadPlan) -> TableRows:
    """Read every file of a plan; raises FileFactError."""
    return TableRows(plan, tuple(files(plan)))


def files(plan: ReadPlan) -> Iterator[FileTable]:
    """Yield the rows of a plan, one file or file group after the other; raises FileFactError."""
    for file in plan.files:
        yield file_rows.read(plan, file)[0]
    for one in plan.merges:
        yield from merge.read(plan, one)
