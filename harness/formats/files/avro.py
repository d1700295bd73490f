"""What an Avro object container file says of itself."""

import datetime
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from harness.core.arrow import fastavro
from harness.formats.api import FileFactError
from harness.model.canonical import MapValue, Value
from harness.model.datatypes import Array, DataType, Decimal, Map, Primitive, Struct

_MICROS: Final = {"timestamp": "timestamp-micros", "timestamp_ntz": "local-timestamp-micros"}


def columns(schema: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((field["name"], text(field["type"])) for field in schema["fields"])


def text(type_: Any) -> str:  # noqa: ANN401 - Avro's JSON
    """Return a type, `null` of a union left out, a logical type by its name.

    >>> text(["null", {"type": "array", "items": {"type": "int", "logicalType": "date"}}])
    'array<date>'
    """
    match type_:
        case str():
            return type_
        case list():
            return " or ".join(text(inner) for inner in type_ if inner != "null")
        case {"logicalType": "decimal", "precision": precision}:
            return f"decimal({precision}, {type_.get('scale', 0)})"
        case {"logicalType": str(name)}:
            return name
        case {"type": "record"}:
            return f"struct<{', '.join(f'{name}: {inner}' for name, inner in columns(type_))}>"
        case {"type": "array", "items": items}:
            return f"array<{text(items)}>"
        case {"type": "map", "values": values}:
            return f"map<string, {text(values)}>"
        case {"type": "fixed", "name": name}:
            return str(name)
        case {"type": inner}:
            return text(inner)
    raise ValueError(f"{type_!r} is no Avro type")


def schema(type_: DataType, name: str) -> Any:  # noqa: ANN401 - Avro's JSON
    """Return the schema of a type that Avro has; `name`: of what has one in Avro.

    The parts of a type may be null, as all columns of Spark may.

    >>> from harness.model.datatypes import parse_type
    >>> schema(parse_type("array<long>"), "a")
    {'type': 'array', 'items': ['null', 'long']}
    """

    def part(inner: DataType, of: str) -> Any:  # noqa: ANN401 - as above
        return ["null", schema(inner, f"{name}_{of}")]

    match type_:
        case Primitive("date"):
            return {"type": "int", "logicalType": "date"}
        case Primitive(plain) if plain in _MICROS:
            return {"type": "long", "logicalType": _MICROS[plain]}
        case Primitive(plain):
            return {"binary": "bytes"}.get(plain, plain)
        case Decimal(precision, scale):
            exact = {"logicalType": "decimal", "precision": precision, "scale": scale}
            # The fewest bytes that hold all numbers of so many digits, as Spark writes them.
            size = int(10**precision).bit_length() // 8 + 1
            return {"type": "fixed", "name": name, "size": size, **exact}
        case Struct(parts):
            fields = [{"name": n, "type": part(t, n), "default": None} for n, t in parts]
            return {"type": "record", "name": name, "fields": fields}
        case Array(element):
            return {"type": "array", "items": part(element, "element")}
        case Map(_, item):
            return {"type": "map", "values": part(item, "value")}
    raise ValueError(f"Avro has no type {type_}")


def value(decoded: Any, type_: Any) -> Value:  # noqa: ANN401 - Avro's JSON
    """Return the canonical form of a decoded value.

    >>> value({"a": 1}, ["null", {"type": "map", "values": "int"}])
    MapValue(pairs=(('a', 1),))
    """
    match type_:
        case list():
            # A union is only ever of a type and null here, as Spark writes it.
            inner = next((part for part in type_ if part != "null"), "null")
            return None if decoded is None else value(decoded, inner)
        case {"type": "record", "fields": fields}:
            return {field["name"]: value(decoded[field["name"]], field["type"]) for field in fields}
        case {"type": "array", "logicalType": "map", "items": items}:
            # What has keys that are no texts (Iceberg specification, "Appendix A", "Avro").
            entries = [value(part, items) for part in decoded]
            return MapValue.of([(entry["key"], entry["value"]) for entry in entries])
        case {"type": "array", "items": items}:
            return tuple(value(part, items) for part in decoded)
        case {"type": "map", "values": values}:
            return MapValue.of([(name, value(part, values)) for name, part in decoded.items()])
        case {"type": dict() | list() as inner}:
            return value(decoded, inner)
    if isinstance(decoded, uuid.UUID):
        return str(decoded)
    return decoded.replace(tzinfo=None) if isinstance(decoded, datetime.datetime) else decoded


MAGIC: Final = b"Obj\x01"
"""What such a file begins with (Avro specification, "Object Container Files")."""


@contextmanager
def value_errors() -> Iterator[None]:
    """Raise ValueError where fastavro raises what no caller expects of a broken file."""
    try:
        yield
    except (fastavro.schema.SchemaParseException, TypeError, OverflowError) as problem:
        raise ValueError(str(problem)) from problem


def written_schema(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            written: Any = fastavro.reader(file).writer_schema
    except (ValueError, EOFError, IndexError, OSError) as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem
    return dict(written)
