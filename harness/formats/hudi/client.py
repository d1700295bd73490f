"""Schema changes by Hudi's write client, as text; and what brings the metastore up to them. Pure.

Source: `BaseHoodieWriteClient` of Hudi 0.15.0, 1.0.2 and 1.2.0, which have the same methods. None
of them tells the metastore, unlike `alter table` in Spark SQL.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from harness.formats.files import avro_types
from harness.model.datatypes import DataType
from harness.scenario.operations.columns import (
    AddColumn,
    ChangeNullability,
    ChangeType,
    DropColumn,
    MoveColumn,
    RenameColumn,
)
from harness.scenario.statements import ClientCall, Statement

SchemaChange = AddColumn | DropColumn | RenameColumn | MoveColumn | ChangeType | ChangeNullability
NO_COMMENT: Final = ""


def client_calls(change: SchemaChange, options: Sequence[tuple[str, str]]) -> tuple[Statement, ...]:
    """Return the call of a schema change; `options`: the table's own properties."""
    return (ClientCall(*_call(change), tuple(options)),)


def _call(change: SchemaChange) -> tuple[str, tuple[str, ...]]:
    match change:
        case AddColumn(name, type_, first, after):
            at = _position(name, after, first=first)
            return "addColumn", (name, _schema(type_, name), *((NO_COMMENT, *at) if at else ()))
        case DropColumn(name):
            return "deleteColumns", (name,)
        case RenameColumn(name, to):
            return "renameColumn", (name, to)
        case MoveColumn(name, first, after):
            return "reOrderColPosition", (name, *_position(name, after, first=first))
        case ChangeType(name, to):
            return "updateColumnType", (name, _schema(to, name))
        case ChangeNullability(name, nullable):
            return "updateColumnNullability", (name, str(nullable).lower())


def _schema(type_: DataType, name: str) -> str:
    return json.dumps(avro_types.schema(type_, name.rpartition(".")[2]))


def _position(name: str, after: str | None, *, first: bool) -> tuple[str, ...]:
    """Return the column that another one stands behind, and how: nothing at the end."""
    if first:
        return "", "FIRST"
    parent, dot, _ = name.rpartition(".")
    return (f"{parent}{dot}{after}", "AFTER") if after else ()
