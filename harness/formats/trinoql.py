"""What Trino is told of a step of a table that another engine made. Pure.

Sources: Trino's manual, "SQL statement syntax" and the pages of its connectors.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from harness.core.runtime_names import DEFAULT_DATABASE
from harness.engines.format_facts import FormatFacts
from harness.engines.query_sql import ANSI, predicate
from harness.engines.trino import engine
from harness.model import identifiers
from harness.model.canonical import MapValue, Value, text_of
from harness.model.datatypes import Array, Map, Struct, TypeNames
from harness.model.identifiers import SOURCE, TABLE, free_name
from harness.model.schema import Field
from harness.model.truth import Row, Truth
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn, ChangeType, DropColumn, RenameColumn
from harness.scenario.operations.merge import Merge
from harness.scenario.operations.new_rows import fresh, known
from harness.scenario.operations.row_writes import (
    Delete,
    Insert,
    Touch,
    Truncate,
    Update,
    Upsert,
    condition,
)
from harness.scenario.operations.services import Compact
from harness.scenario.operations.spark_sql import choice, columns_in_order
from harness.scenario.operations.unfinished_writes import BeginWrite, CommitWrite
from harness.scenario.statements import (
    DATABASE,
    RegisterInStore,
    ResumeWaiting,
    Sql,
    Statement,
    WaitingSql,
)

_NAMES: Final = {
    "int": "integer",
    "long": "bigint",
    "float": "real",
    "string": "varchar",
    "binary": "varbinary",
    "timestamp": "timestamp(6)",
    "timestamp_ntz": "timestamp(6)",
}
_ESCAPES: Final = str.maketrans({"'": "''", "\\": "\\\\", "{": "\\007B"})
"""Braces would be taken for a placeholder of ours (Trino's manual, "Literals": Unicode strings)."""


def wording(
    operation: Operation, before: Truth, after: Truth, format_: FormatFacts
) -> tuple[Statement, ...]:
    catalog = engine.catalog_name(format_, {})
    table = f"{quoted(catalog)}.{quoted(DATABASE)}.{quoted(TABLE)}"
    if isinstance(operation, CommitWrite):
        return (ResumeWaiting(),)
    text = _text(table, operation, before, after)
    return (WaitingSql(text) if isinstance(operation, BeginWrite) else Sql(text),)


def wording_in_store(
    operation: Operation, before: Truth, after: Truth, format_: FormatFacts
) -> tuple[Statement, ...]:
    """Return the same for an object store, where another schema has the table's entry."""
    catalog = quoted(engine.catalog_name(format_, {}))
    table = f"{catalog}.{quoted(DEFAULT_DATABASE)}.{quoted(DATABASE)}"
    known = f"schema_name => '{DEFAULT_DATABASE}', table_name => '{DATABASE}'"
    forget = f"call {catalog}.system.unregister_table({known})"
    return (
        RegisterInStore(),
        Sql(_text(table, operation, before, after)),
        Sql(forget, in_any_case=True, commits=False),
    )


def quoted(path: str) -> str:
    return identifiers.quoted(path, ANSI)


type_text: Final = TypeNames(
    _NAMES, quote=quoted, struct="row({})", child="{} {}", array="array({})", map="map({})"
).text


def literal(value: Value, field: Field) -> str:
    """Return a stored value (structs by child ids) as an expression of its field's type."""
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    return f"cast({_inner(value, field)} as {type_text(field.type)})"


def _inner(value: Value, field: Field) -> str:
    match field.type:
        case _ if value is None:
            return "null"
        case Struct():
            return f"row({', '.join(literal(value.get(c.id), c) for c in field.children)})"
        case Array():
            return _array(value, field.children[0])
        case Map():
            return _map(value, *field.children)
    if isinstance(value, float) and not math.isfinite(value):
        return "nan()" if math.isnan(value) else f"{'' if value > 0 else '-'}infinity()"
    return string(text_of(value))


def _array(values: Sequence[Value], element: Field) -> str:
    return f"array[{', '.join(literal(value, element) for value in values)}]"


def _map(value: MapValue, key: Field, part: Field) -> str:
    keys, parts = zip(*value.pairs, strict=True) if value.pairs else ((), ())
    return f"map({_array(keys, key)}, {_array(parts, part)})"


def string(value: str) -> str:
    r"""Return a string literal.

    >>> string("it's"), string("{database}")
    ("'it''s'", "U&'\\007Bdatabase}'")
    """
    plain = not {"{", "\\"} & set(value)
    escaped = value.translate(_ESCAPES)
    return f"'{escaped}'" if plain else f"U&'{escaped}'"


def _whole_rows(table: str, before: Truth, after: Truth, only: Collection[str | None] = ()) -> str:
    """Return an insert, or where some of the rows are there already, a merge by the key.

    `only`: the columns that alone are set in these; empty for all.
    """
    rows = [row for key, row in after.rows.items() if before.rows.get(key) != row]
    gone = [row for key, row in before.rows.items() if key not in after.rows]
    fields = columns_in_order(after)
    listed = ", ".join(quoted(field.name) for field in fields)
    values = _values((*rows, *gone), fields)
    if not any(row.key in before.rows for row in (*rows, *gone)):
        return f"insert into {table} ({listed}) {values}"
    names = [field.name for field in after.schema.walk()]
    target, source = (free_name(name, names) for name in (TABLE, SOURCE))
    key = quoted(after.table.key)
    stay = {after.table.key, *after.table.partition_by}
    sets = ", ".join(
        f"{quoted(field.name)} = {source}.{quoted(field.name)}"
        for field in fields
        if field.name not in stay and (not only or field.name in only)
    )
    new = ", ".join(f"{source}.{quoted(field.name)}" for field in fields)
    keys = ", ".join(literal(row.key, after.schema.find(after.table.key)) for row in gone)
    leave = f"when matched and {source}.{key} in ({keys}) then delete " if gone else ""
    return (
        f"merge into {table} as {target} using ({values}) as {source} ({listed}) "
        f"on {target}.{key} = {source}.{key} {leave}when matched then update set {sets} "
        f"when not matched then insert ({listed}) values ({new})"
    )


def _values(rows: Iterable[Row], fields: Sequence[Field]) -> str:
    tuples = (f"({', '.join(literal(row.of(field), field) for field in fields)})" for row in rows)
    return f"values {', '.join(tuples)}"


def _among(before: Truth, operation: Update | Delete, after: Truth) -> str:
    if isinstance(operation, Update) and operation.where:
        return predicate(condition(before, operation.where), ANSI)
    keys = (*known(before, operation.keys), *fresh(before, operation.absent))
    key = after.schema.find(after.table.key)
    return f"{quoted(key.name)} in ({', '.join(literal(value, key) for value in keys)})"


OPERATIONS: Final = frozenset(
    {
        *(Insert, Upsert, Touch, Update, Delete, Truncate, Compact),
        *(AddColumn, RenameColumn, DropColumn, ChangeType, Merge, BeginWrite, CommitWrite),
    }
)


def _text(table: str, operation: Operation, before: Truth, after: Truth) -> str:
    alter = f"alter table {table}"
    match operation:
        case Update():
            names = *operation.set, *after.table.order_by
            rows = [after.rows[key] for key in operation.changed(before)]
            sets = ", ".join(choice(after, name, rows, literal, quoted) for name in names)
            return f"update {table} set {sets} where {_among(before, operation, after)}"
        case Delete():
            return f"delete from {table} where {_among(before, operation, after)}"
        case Merge():
            done, set_ = Merge.evolve(operation, before), operation.set
            return _whole_rows(table, before, done, (*set_, *after.table.order_by) if set_ else ())
        case Truncate():
            return f"truncate table {table}"
        case Compact():
            return f"{alter} execute optimize"
        case AddColumn(name, type_, first, behind):
            position = f" after {quoted(behind)}" if behind else ""
            position = " first" if first else position
            return f"{alter} add column {quoted(name)} {type_text(type_)}{position}"
        case RenameColumn(name, to):
            return f"{alter} rename column {quoted(name)} to {quoted(to)}"
        case DropColumn(name):
            return f"{alter} drop column {quoted(name)}"
        case ChangeType(name, to):
            return f"{alter} alter column {quoted(name)} set data type {type_text(to)}"
    return _whole_rows(table, before, after)
