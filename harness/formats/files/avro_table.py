"""An Avro object container file as an Arrow table, with the field ids that its schema gives.

Source: Avro specification, "Logical Types"; Iceberg table specification, "Appendix A", "Avro".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import IO, Any, Final, TypeAlias

from harness.core.arrow import fastavro, pa
from harness.engines.arrow_values import array_of
from harness.formats.files import avro
from harness.formats.files.column_parts import FIELD_ID
from harness.model.datatypes import ELEMENT, KEY, VALUE

_Schema: TypeAlias = Any
"""Of Avro's JSON: a name, a union, or an object."""
_PLAIN: Final = {
    "null": "null",
    "boolean": "bool",
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "string": "string",
    "enum": "string",
    "bytes": "binary",
}
_UNITS: Final = {"millis": "ms", "micros": "us", "nanos": "ns"}


def read(file: IO[bytes]) -> pa.Table:
    """Read all rows; raises ValueError, EOFError or an error of Arrow."""
    with avro.value_errors():
        reader = fastavro.reader(file)
        return of_records(reader.writer_schema or {}, list(reader))


def schema(file: IO[bytes]) -> pa.Schema:
    """Return the columns without reading a row; raises ValueError or EOFError."""
    with avro.value_errors():
        return of_records(fastavro.reader(file).writer_schema or {}, ()).schema


def of_records(schema: Any, records: Sequence[Any]) -> pa.Table:  # noqa: ANN401 - Avro's JSON
    """Return decoded records of a schema; raises ValueError or an error of Arrow."""
    schema = fastavro.schema.expand_schema(schema)
    fields = [_field(part["name"], part["type"], part, "field-id") for part in schema["fields"]]
    columns = [
        array_of([avro.value(r[part["name"]], part["type"]) for r in records], field.type)
        for part, field in zip(schema["fields"], fields, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _field(name: str, type_: _Schema, holder: Mapping[str, Any], id_key: str) -> pa.Field:
    """Return a field; its id is under a key of what holds it."""
    number = holder.get(id_key)
    metadata = None if number is None else {FIELD_ID: str(number)}
    return pa.field(name, _type(type_), metadata=metadata)


def _type(type_: _Schema) -> pa.DataType:
    match type_:
        case ["null", inner] | [inner, "null"] | [inner]:
            return _type(inner)
        case {"type": "record", "fields": fields}:
            return pa.struct([_field(f["name"], f["type"], f, "field-id") for f in fields])
        case {"type": "array", "logicalType": "map", "items": {"fields": fields}}:
            parts = {f["name"]: _field(f["name"], f["type"], f, "field-id") for f in fields}
            return pa.map_(parts[KEY].with_nullable(nullable=False), parts[VALUE])
        case {"type": "array", "items": items}:
            return pa.list_(_field(ELEMENT, items, type_, "element-id"))
        case {"type": "map", "values": values}:
            key = _field(KEY, "string", type_, "key-id").with_nullable(nullable=False)
            return pa.map_(key, _field(VALUE, values, type_, "value-id"))
        case {"logicalType": str(logical)} if (known := _logical(logical, type_)) is not None:
            return known
        case {"type": "fixed", "size": size}:
            return pa.binary(size)
        case {"type": inner}:
            return _type(inner)
        case str() if type_ in _PLAIN:
            return pa.type_for_alias(_PLAIN[type_])
    raise ValueError(f"{type_!r} is no type of Avro")


def _logical(name: str, type_: Mapping[str, Any]) -> pa.DataType | None:
    """Return the type of a logical type; None where it changes nothing, such as `uuid`."""
    if name == "decimal":
        return pa.decimal128(type_["precision"], type_.get("scale", 0))
    if name == "date":
        return pa.date32()
    kind, _, unit = name.rpartition("-")
    if unit not in _UNITS:
        return None
    if kind == "time":
        return pa.time32("ms") if unit == "millis" else pa.time64(_UNITS[unit])
    zone = "UTC" if kind == "timestamp" and type_.get("adjust-to-utc", True) else None
    return pa.timestamp(_UNITS[unit], zone)
