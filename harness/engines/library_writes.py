"""What libraries of Python that write share: rows and values as the Python of Arrow. Pure.

A write is an expression that the library's worker evaluates (`python_worker`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from harness.model.canonical import Value
from harness.model.datatypes import DataType, Decimal, PlainType, fold
from harness.model.python_text import expression
from harness.model.query import Condition


@dataclass(frozen=True, slots=True)
class ColumnWrite:
    """What a change of the schema makes of one column."""

    path: str
    """Its path before, or of a new one at all."""
    name: str = ""
    """Its name afterwards, where it gets another one."""
    type: DataType | None = None
    """Its type afterwards, where it is new or gets another one."""
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class TableWrite:
    """What a step does to a table, in plain values."""

    columns: tuple[tuple[str, DataType], ...]
    """Those of the table after it, in order."""
    key: str
    """The column that tells rows apart."""
    rows: tuple[tuple[Value, ...], ...] = ()
    """Those that are new or changed, whole."""
    set: tuple[str, ...] = ()
    """The columns that alone change in rows that are there; empty for all."""
    gone: Condition | None = None
    """Which rows are deleted."""
    instant: str = ""
    """The version that the table goes back to."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """Those of the table that get a value, or another one."""
    partition_by: tuple[str, ...] = ()
    """The columns that partition a table that is made."""
    location: str = ""
    """Where that is made, as a URL with a placeholder, inside of quotes."""
    column: ColumnWrite | None = None
    """What a change of the schema is about."""


LibraryWrites = Mapping[str, Callable[[TableWrite], str]]
"""By the name of an operation, what a library is told of it; empty where there is nothing to do."""


_NAMES: Final = {
    "boolean": "pa.bool_()",
    "tinyint": "pa.int8()",
    "smallint": "pa.int16()",
    "int": "pa.int32()",
    "long": "pa.int64()",
    "float": "pa.float32()",
    "double": "pa.float64()",
    "string": "pa.string()",
    "binary": "pa.binary()",
    "date": "pa.date32()",
    "timestamp": "pa.timestamp('us', 'UTC')",
    "timestamp_ntz": "pa.timestamp('us')",
}


def arrow_type(type_: DataType) -> str:
    """Return a type as Arrow's in Python; texts of a bounded length are plain ones there.

    >>> from harness.model.datatypes import parse_type
    >>> arrow_type(parse_type("map<string, decimal(5, 2)>"))
    'pa.map_(pa.string(), pa.decimal128(5, 2))'
    """

    def plain(kind: PlainType) -> str:
        if isinstance(kind, Decimal):
            return f"pa.decimal128({kind.precision}, {kind.scale})"
        return _NAMES.get(str(kind), _NAMES["string"])

    def struct(fields: Sequence[tuple[str, str]]) -> str:
        children = ", ".join(f"({expression(name)}, {text})" for name, text in fields)
        return f"pa.struct([{children}])"

    return fold(type_, plain, struct, "pa.list_({})".format, "pa.map_({}, {})".format)


def arrow_schema(write: TableWrite) -> str:
    fields = (f"({expression(name)}, {arrow_type(type_)})" for name, type_ in write.columns)
    return f"pa.schema([{', '.join(fields)}])"


def arrow_table(write: TableWrite, schema: str = "") -> str:
    """Return the rows of a write as a table of Arrow; `schema`: Python for it, if it is known."""
    names = [name for name, _ in write.columns]
    rows = (expression(dict(zip(names, row, strict=True))) for row in write.rows)
    return f"pa.Table.from_pylist([{', '.join(rows)}], {schema or arrow_schema(write)})"


def frame_writes(call: str) -> LibraryWrites:
    """Return the writes of data frames, rows alone; `call`: with `{rows}` and `{mode!r}`."""

    def writes(mode: str) -> Callable[[TableWrite], str]:
        return lambda write: call.format(rows=arrow_table(write), mode=mode)

    return {"insert": writes("append"), "overwrite": writes("overwrite")}


def frame_creation(call: str) -> Callable[[TableWrite], tuple[str]]:
    """Return how a data frame without rows makes a table.

    `call`: with `{rows}`, `{partition_by}` and `{properties}`.
    """

    def creation(write: TableWrite) -> tuple[str]:
        by, properties = expression(write.partition_by), expression(dict(write.properties))
        return (call.format(rows=arrow_table(write), partition_by=by, properties=properties),)

    return creation
