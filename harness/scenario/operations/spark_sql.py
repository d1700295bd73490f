"""Spark SQL text: identifiers, literals, and the statements that writes have in common."""

import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal as Number
from typing import Final

from harness.model import identifiers
from harness.model.canonical import UNSETTLED, Value, text_of
from harness.model.datatypes import VARIANT, Array, DataType, Map, Struct, Text, TypeNames
from harness.model.identifiers import SOURCE, TABLE, free_name
from harness.model.partition_fields import PartitionField, Transform
from harness.model.schema import Field, SchemaChangeError
from harness.model.truth import Row, Truth

BRACE = r"\u007b"
Literal = Callable[[Value, Field], str]
"""Returns a stored value (structs by child ids) as a typed expression of a dialect."""


def quoted(path: str) -> str:
    return identifiers.quoted(path, "`")


TYPE_NAMES: Final = TypeNames({"long": "bigint", "unknown": "void"}, quote=quoted)
"""How Spark SQL writes types."""


def type_text(type_: DataType) -> str:
    return TYPE_NAMES.text(type_)


def literal(value: Value, field: Field) -> str:
    if value is None or value is UNSETTLED:
        return f"cast(null as {type_text(field.type)})"
    return nested(value, field, literal) or _scalar(value, field.type)


def nested(value: Value, field: Field, inner: Literal) -> str:
    """Return a value with parts, each as `inner` has it; empty for any other."""
    match field.type:
        case Struct():
            parts = (f"{text(c.name)}, {inner(value.get(c.id), c)}" for c in field.children)
            return f"named_struct({', '.join(parts)})"
        case Array():
            return f"array({', '.join(inner(element, field.children[0]) for element in value)})"
        case Map() if not value.pairs:
            return f"cast(map() as {type_text(field.type)})"
        case Map():
            key, part = field.children
            pairs = (f"{inner(k, key)}, {inner(v, part)}" for k, v in value.pairs)
            return f"map({', '.join(pairs)})"
    return ""


def _scalar(value: Value, type_: DataType) -> str:
    plain = str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if type_ == VARIANT:
        return f"parse_json({text(plain)})"
    if isinstance(value, str) and (str(type_) == "string" or isinstance(type_, Text)):
        return text(value)
    if isinstance(value, bool | int) and str(type_) in {"boolean", "int"}:
        return plain
    number = str(type_) != "string" and _has_literal(value)
    return f"cast({plain if number else text(plain)} as {type_text(type_)})"


def _has_literal(value: Value) -> bool:
    """Return whether Spark has a literal for a number; of all others it casts the text.

    There is none of what is not finite; `-0.0` is a decimal, and those have no negative zero.
    """
    if isinstance(value, float):
        return math.isfinite(value) and (value != 0 or math.copysign(1, value) > 0)
    return isinstance(value, int | Number)


def text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    # Braces would be taken for a placeholder of ours, or for a variable by Spark.
    return f"'{escaped.replace('{', BRACE)}'"


def columns_in_order(truth: Truth) -> tuple[Field, ...]:
    """Return columns as Spark orders them: partition columns last, as the catalog holds them."""
    last = truth.table.partition_by
    plain = [field for field in truth.schema.fields if field.name not in last]
    return (*plain, *(truth.schema.find(name) for name in last))


def select_rows(rows: Iterable[Row], fields: Sequence[Field], literal: Literal = literal) -> str:
    return " union all ".join(
        "select " + ", ".join(f"{literal(row.of(f), f)} as {quoted(f.name)}" for f in fields)
        for row in rows
    )


def choice(
    truth: Truth, name: str, rows: Iterable[Row], literal: Literal, quote: Callable[[str], str]
) -> str:
    """Return an assignment that picks each row's value by its key."""
    field, key = truth.schema.find(name), truth.schema.find(truth.table.key)
    whens = " ".join(
        f"when {literal(row.key, key)} then {literal(row.of(field), field)}" for row in rows
    )
    return f"{quote(name)} = case {quote(key.name)} {whens} end"


def select_nullable(rows: Iterable[Row], fields: Sequence[Field]) -> str:
    """Return the same query as a table's, any column of which may be NULL.

    Spark takes a column of literals alone for one that may not.
    """
    return f"{select_rows(rows, fields)} union all {select_none(fields)}"


def select_none(fields: Sequence[Field]) -> str:
    none = ", ".join(f"{literal(None, f)} as {quoted(f.name)}" for f in fields)
    return f"select {none} where false"


def insert_rows(truth: Truth, rows: Iterable[Row]) -> str:
    return f"insert into {{table}} {select_rows(rows, columns_in_order(truth))}"


def merge_into(table: str, rows: str, truth: Truth) -> tuple[str, str]:
    """Return how a merge by the key begins, and what it calls the new rows, those of a query."""
    names, key = [field.name for field in truth.schema.walk()], quoted(truth.table.key)
    target, source = free_name(TABLE, names), free_name(SOURCE, names)
    into = f"merge into {table} as {target} using ({rows}) as {source}"
    return f"{into} on {target}.{key} = {source}.{key}", source


def key_list(truth: Truth, keys: Iterable[Value]) -> str:
    field = truth.schema.find(truth.table.key)
    return f"({', '.join(literal(key, field) for key in keys)})"


def partition_spec(truth: Truth, values: Sequence[Value]) -> str:
    """Return the clause that names one partition by the values of all its columns."""
    fields = [truth.schema.find(name) for name in truth.table.partition_by]
    if None in values:
        raise SchemaChangeError("the partition's value is NULL, and no statement can name it")
    pairs = zip(fields, values, strict=True)
    values_text = (f"{quoted(field.name)} = {text(text_of(value))}" for field, value in pairs)
    return f"partition ({', '.join(values_text)})"


def partition_field(field: PartitionField, column: str) -> str:
    """Return a field of a partition spec, as Iceberg's `alter table` writes it."""
    if field.transform is Transform.IDENTITY:
        return quoted(column)
    width = "" if field.width is None else f"{field.width}, "
    return f"{field.transform}({width}{quoted(column)})"


def position(
    first: bool,  # noqa: FBT001 - a scenario file's keys
    after: str | None,
    quote: Callable[[str], str] = quoted,
) -> str:
    """Return the clause that places a column, empty at the end; for reports without quotes."""
    if first:
        return " first"
    return f" after {quote(after)}" if after else ""
