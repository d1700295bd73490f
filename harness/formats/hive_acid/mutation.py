"""The rows of a batch of Hive's Streaming Mutation API, as the program that uses it is told. Pure.

Source: Hive documentation, "HCatalog Streaming Mutation API".
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from decimal import Decimal

from harness.formats.hive.format import hive_type
from harness.model.canonical import MapValue, Value, text_of
from harness.model.datatypes import Array, Map, Struct
from harness.model.schema import Field
from harness.model.truth import Row, Truth
from harness.scenario.operations.spark_sql import columns_in_order
from harness.scenario.statements import ABORT, COMMIT, Mutation


def committed_batch(before: Truth, after: Truth) -> Mutation:
    """Return the batch that makes the rows of one truth those of the next one."""
    written = [row for key, row in after.rows.items() if before.rows.get(key) != row]
    gone = [row for key, row in before.rows.items() if key not in after.rows]
    return _batch(before, written, gone, COMMIT)


def aborted_batch(before: Truth, after: Truth) -> Mutation:
    """Return the batch of a write that fails: all its rows are sent, and the transaction aborts."""
    return _batch(before, after.failed, (), ABORT)


def _batch(before: Truth, written: Iterable[Row], gone: Iterable[Row], ends: str) -> Mutation:
    table = before.table
    fields = [f for f in columns_in_order(before) if f.name not in table.partition_by]
    key = [field for field in fields if field.name == table.key]
    rows = [
        *(
            _message(before, "update" if r.key in before.rows else "insert", r, fields)
            for r in written
        ),
        *(_message(before, "delete", row, key) for row in gone),
    ]
    columns = tuple((field.name, hive_type(field.type)) for field in fields)
    return Mutation(columns, table.key, tuple(rows), ends)


def _message(truth: Truth, do: str, row: Row, fields: Iterable[Field]) -> dict[str, object]:
    """Return what is told of a row; of one to delete nothing but its identifier counts."""
    parts = [row.of(truth.schema.find(name)) for name in truth.table.partition_by]
    values = {field.name: _json(row.of(field), field) for field in fields}
    return {"do": do, "partition": list(map(text_of, parts)), "row": values}


def _json(value: Value, field: Field) -> object:
    """Return a stored value (structs by child ids) as Hive's own parser of JSON takes it."""
    match field.type:
        case _ if value is None:
            return None
        case Struct():
            return {child.name: _json(value.get(child.id), child) for child in field.children}
        case Array():
            return [_json(element, field.children[0]) for element in value]
        case Map() if isinstance(value, MapValue):
            return {text_of(k): _json(v, field.children[1]) for k, v in value.pairs}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Decimal | datetime.date):  # a moment is one as well
        return str(value)
    return value
