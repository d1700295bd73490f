"""What a library of Python is told of a step: rows, keys and conditions as plain values. Pure."""

from harness.engines.library_writes import LibraryWrites, TableWrite
from harness.model.query import Comparison, Condition, literal_text
from harness.model.truth import Truth, last_write, row_values
from harness.scenario.operations import name_of
from harness.scenario.operations.api import Operation
from harness.scenario.operations.delete_where import DeleteWhere
from harness.scenario.operations.merge import Merge
from harness.scenario.operations.row_writes import Update
from harness.scenario.operations.services import SetProperty
from harness.scenario.operations.snapshots import Restore
from harness.scenario.statements import LibraryWrite, instant_of


def wording(
    operation: Operation, before: Truth, after: Truth, writes: LibraryWrites
) -> tuple[LibraryWrite, ...]:
    call = writes[name_of(operation)](_write(operation, before, after))
    return (LibraryWrite(call),) if call else ()


def _write(operation: Operation, before: Truth, after: Truth) -> TableWrite:
    key = after.table.key
    rows = [row for key, row in after.rows.items() if before.rows.get(key) != row]
    gone = [row for key, row in before.rows.items() if key not in after.rows]
    order = (after.table.order_by,) if after.table.order_by else ()
    set_ = operation.set if isinstance(operation, Update | Merge) else ()
    condition = None
    if isinstance(operation, DeleteWhere):
        condition = operation.condition(before)
    elif gone:
        texts = [literal_text(row.key) for row in gone]
        of_type = str(after.schema.find(key).type)
        condition = Condition(key, Comparison.IN, texts[0], of_type, tuple(texts[1:]))
    saved = before.saved if isinstance(operation, Restore) else None
    sent = [*rows, *gone] if isinstance(operation, Merge) else rows
    return TableWrite(
        tuple((field.name, field.type) for field in after.schema.fields),
        key,
        tuple(row_values(row, after.schema) for row in sent),
        (*set_, *order) if set_ else (),
        condition,
        instant_of(last_write(saved)) if saved else "",
        {operation.name: operation.value} if isinstance(operation, SetProperty) else {},
    )
