"""Steps that name a column as it was called before a rename that is left out. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn, DropColumn, MoveColumn, RenameColumn
from harness.scenario.operations.row_writes import Update

NumberedStep = tuple[int, Operation]


def not_renamed(steps: Iterable[NumberedStep], gone: RenameColumn) -> Iterator[NumberedStep]:
    """Yield the steps after a rename as they are without it, until the column gets another name."""
    new = gone.new_path
    stands = True
    for number, operation in steps:
        yield number, _called(operation, new, gone.name) if stands else operation
        about = getattr(operation, "name", "")
        if isinstance(operation, RenameColumn | DropColumn) and about == new:
            stands = False


def _called(operation: Operation, new: str, old: str) -> Operation:
    """Return an operation that calls a column by its old path."""
    if isinstance(operation, Update):
        return replace(operation, set=tuple(old if name == new else name for name in operation.set))
    rows = getattr(operation, "rows", ())
    if rows:
        given = [{old if name == new else name: v for name, v in row.items()} for row in rows]
        return replace(operation, rows=tuple(given))  # type: ignore[type-var]
    if not operation.CHANGES_SCHEMA:
        return operation
    return _placed(_about(operation, new, old), new, old)


def _about(operation: Operation, new: str, old: str) -> Operation:
    name = str(getattr(operation, "name", ""))
    if name == new or name.startswith(f"{new}."):
        return replace(operation, name=old + name.removeprefix(new))  # type: ignore[type-var]
    return operation


def _placed(operation: Operation, new: str, old: str) -> Operation:
    if not isinstance(operation, AddColumn | MoveColumn):
        return operation
    siblings = operation.name.rpartition(".")[0] == old.rpartition(".")[0]
    if siblings and operation.after == new.rpartition(".")[2]:
        return replace(operation, after=old.rpartition(".")[2])
    return operation
