"""Avro types as short text. Pure."""

from __future__ import annotations

from typing import Any


def columns(schema: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Give name and type of the fields of a record schema, in order."""
    return tuple((field["name"], text(field["type"])) for field in schema["fields"])


def text(type_: Any) -> str:  # noqa: ANN401 - Avro's JSON
    """Give a type, `null` of a union left out, a logical type by its name.

    >>> text(["null", {"type": "array", "items": {"type": "int", "logicalType": "date"}}])
    'array<date>'
    """
    match type_:
        case str():
            return type_
        case list():
            return " or ".join(text(each) for each in type_ if each != "null")
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
