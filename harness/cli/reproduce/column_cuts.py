"""A column, or a part of a struct, is left out of a scenario, with every step about it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from harness.cli.reproduce.candidate import Candidate
from harness.model.datatypes import DataType, Struct
from harness.model.schema import Schema
from harness.model.table import Table
from harness.scenario import expected_history
from harness.scenario.operations.add_column import AddColumn
from harness.scenario.operations.api import Operation
from harness.scenario.operations.drop_column import DropColumn
from harness.scenario.operations.move_column import MoveColumn
from harness.scenario.operations.rename_column import RenameColumn
from harness.scenario.operations.update import Update
from harness.scenario.operations.write_frame import WriteFrame


@dataclass(frozen=True, slots=True)
class ColumnCut:
    """A column was never there."""

    born: int
    """The number of the step that adds it; 0 for the columns of the new table."""
    path: str
    """Its dotted path then."""

    def apply(self, candidate: Candidate) -> Candidate | None:
        """Return the candidate without it; None where no step would be left that is looked at."""
        schemas = [truth.schema for truth in expected_history.survey(candidate.scenario).history]
        path = self.path if not self.born else ""
        found: list[tuple[int, Operation]] = []
        for (number, operation), schema in zip(candidate.numbered, schemas, strict=False):
            left, path = _without(operation, path, schema)
            if number == self.born:
                left, path = _unborn(operation, self.path), self.path
            if left is not None:
                found.append((number, left))
        made = candidate.having(found)
        if made is None or self.born:
            return made
        table = without_column(made.scenario.table, self.path)
        return replace(made, scenario=replace(made.scenario, table=table))


def column_cuts(candidate: Candidate) -> Iterator[ColumnCut]:
    """Yield the cuts of all columns, and of the parts of those that are structs."""
    table = candidate.scenario.table
    for name, type_ in reversed(table.columns):
        if name != table.key:
            yield from (ColumnCut(0, path) for path in _paths(name, type_))
    for number, operation in candidate.numbered:
        if isinstance(operation, AddColumn):
            yield ColumnCut(number, operation.name)
        if isinstance(operation, WriteFrame):
            yield from (ColumnCut(number, name) for name in operation.types or ())


def without_column(table: Table, path: str) -> Table:
    """Return a table without a column or a part of one; roles of the column are nobody's then."""
    head, _, rest = path.partition(".")
    columns = tuple(
        (name, _type_without(type_, rest) if name == head else type_)
        for name, type_ in table.columns
        if rest or name != head
    )
    if rest:
        return replace(table, columns=columns)
    return replace(
        table,
        columns=columns,
        order_by=None if table.order_by == head else table.order_by,
        partition_by=tuple(name for name in table.partition_by if name != head),
    )


def _paths(path: str, type_: DataType) -> Iterator[str]:
    yield path
    if isinstance(type_, Struct) and len(type_.fields) > 1:
        for name, child in type_.fields:
            yield from _paths(f"{path}.{name}", child)


def _type_without(type_: DataType, path: str) -> DataType:
    head, _, rest = path.partition(".")
    if not isinstance(type_, Struct):
        return type_
    return Struct(
        tuple(
            (name, _type_without(child, rest) if name == head else child)
            for name, child in type_.fields
            if rest or name != head
        )
    )


def _without(operation: Operation, path: str, schema: Schema) -> tuple[Operation | None, str]:
    """Return a step without a column, and the column's path after it: empty while it is not there.

    `schema`: before the step.
    """
    if not path:
        return operation, path
    if isinstance(operation, WriteFrame):
        return _frame_without(operation, path), path
    if not operation.CHANGES_SCHEMA:
        return _write_without(operation, path), path
    about = str(getattr(operation, "name", ""))
    own = path == about or path.startswith(f"{about}.")
    if isinstance(operation, DropColumn) and own:
        return (None if path == about else operation), ""
    if isinstance(operation, RenameColumn) and own:
        renamed = operation.new_path + path.removeprefix(about)
        return (None if path == about else operation), renamed
    if about == path or about.startswith(f"{path}."):
        return None, path
    return _placed_otherwise(operation, path, schema), path


def _unborn(operation: Operation, path: str) -> Operation | None:
    """Return the step that adds a column as it is when it does not."""
    return _frame_without(operation, path) if isinstance(operation, WriteFrame) else None


def _placed_otherwise(operation: Operation, path: str, schema: Schema) -> Operation:
    """Return a step that put its column after the one left out: after the one before that."""
    parent, _, name = path.rpartition(".")
    if not isinstance(operation, AddColumn | MoveColumn) or operation.after != name:
        return operation
    if operation.name.rpartition(".")[0] != parent:
        return operation
    names = _siblings(schema, parent)
    before = [text for text in names[: names.index(name)] if text != _last(operation.name)]
    if before:
        return replace(operation, after=before[-1])
    return replace(operation, first=True, after=None)


def _siblings(schema: Schema, parent: str) -> list[str]:
    return [child.name for child in (schema.find(parent).children if parent else schema.fields)]


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _write_without(operation: Operation, path: str) -> Operation | None:
    if isinstance(operation, Update):
        left = tuple(name for name in operation.set if name != path)
        return replace(operation, set=left) if left else None
    rows = getattr(operation, "rows", ())
    if not rows:
        return operation
    return replace(operation, rows=tuple(_row_without(row, path) for row in rows))  # type: ignore[type-var]


def _frame_without(operation: WriteFrame, path: str) -> WriteFrame | None:
    """Return a DataFrame without a column; None where no other is left. A part of one stays."""
    types = {name: type_ for name, type_ in (operation.types or {}).items() if name != path}
    left = tuple(name for name in operation.columns if name != path)
    if operation.columns and not left:
        return None
    return replace(operation, columns=left, types=types or None)


def _row_without(row: Mapping[str, Any], path: str) -> dict[str, Any]:
    head, _, rest = path.partition(".")
    found = {name: value for name, value in row.items() if rest or name != head}
    if rest and isinstance(found.get(head), dict):
        found[head] = _row_without(found[head], rest)
    return found
