"""The columns of a Hudi table as of an instant, and what they are called in the files of a write.

A table with a history of its schema is read by the ids that this gives columns, all others by the
names of their columns. Sources: `TableSchemaResolver` of Hudi (the schema of the last write that
may change it, then that of the table's properties); `InternalSchemaCache` (a file has the last
schema that is not younger than its instant); Hudi documentation, "Schema Evolution".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from harness.core.arrow import fastavro, pa
from harness.formats.api import FileFactError
from harness.formats.files import avro
from harness.formats.files.column_parts import ARRAY, MAP, STRUCT, ColumnPart, walk
from harness.formats.hudi import records, timeline
from harness.formats.hudi.records import HudiTable
from harness.formats.hudi.timeline import Entry
from harness.formats.read_plan import Id
from harness.model.datatypes import ELEMENT, KEY, VALUE
from harness.model.simulation.column_resolution import META

OPERATION: Final = "_hoodie_operation"
"""A column of Hudi's own that says what a record did, where a table has one."""
CREATED: Final = "hoodie.table.create.schema"
_NO_CHANGE: Final = frozenset({"compact", "log_compact", "cluster", "index"})
"""Operations whose record has an older schema, or none (`WriteOperationType.canUpdateSchema`)."""


@dataclass(frozen=True, slots=True)
class TableSchema:
    columns: tuple[ColumnPart, ...]
    history: tuple[tuple[int, tuple[ColumnPart, ...]], ...] = ()
    """The instants and columns of older schemas, oldest first; empty where columns go by name."""

    def names(self, instant: str) -> Mapping[str, Id]:
        """Return the ids of the columns in files of an instant, by their dotted names there."""
        older = [columns for first, columns in self.history if first <= int(instant)]
        columns = older[-1] if older else self.history[0][1] if self.history else self.columns
        names: dict[str, Id] = {path: part.id for path, part in walk(columns)}
        return names | {name: name for name in (*META, OPERATION)}

    def find(self, path: str) -> ColumnPart | None:
        return dict(walk(self.columns)).get(path)


def read(table: HudiTable, writes: Iterable[Entry]) -> TableSchema:
    """Return the schema after some writes, in the order of their completion.

    Raises FileFactError where no record has one, or one that cannot be understood.
    """
    for entry in reversed(list(writes)):
        record = timeline.commit_record(table.record(entry), entry.path)
        extra = record.get("extraMetadata") or {}
        if str(record.get("operationType") or "").lower() in _NO_CHANGE:
            continue
        try:
            if text := extra.get(records.LATEST):
                newest = json.loads(text)
                return TableSchema(records.columns(newest), _history(table, entry.requested))
            if text := extra.get("schema"):
                return TableSchema(of_avro(json.loads(text)))
        except (ValueError, KeyError, TypeError) as problem:
            raise FileFactError(f"{entry.path}: its schema: {problem}") from problem
    if columns := created(table):
        return TableSchema(columns)
    raise FileFactError("nothing says which columns the table has")


def created(table: HudiTable) -> tuple[ColumnPart, ...]:
    """Return the columns with which a table was created; none where its properties do not say."""
    try:
        text = table.properties.get(CREATED)
        return of_avro(json.loads(text)) if text else ()
    except (ValueError, KeyError, TypeError) as problem:
        raise FileFactError(f"{CREATED}: {problem}") from problem


def _history(table: HudiTable, until: str) -> tuple[tuple[int, tuple[ColumnPart, ...]], ...]:
    files = {
        instant: path
        for instant, path in table.histories().items()
        if instant <= until and instant in table.writes
    }
    if not files:
        return ()
    text = (table.folder.text(files[max(files)]) or b"").decode()
    return tuple(
        (int(record["version_id"]), records.columns(record)) for record in records.schemas(text)
    )


def of_avro(schema: Mapping[str, Any]) -> tuple[ColumnPart, ...]:
    """Return the columns of a record of Avro, but for Hudi's own, known by their dotted names."""
    whole: Any = fastavro.schema.expand_schema(dict(schema))
    return tuple(
        _part(field["name"], field["type"], field["name"])
        for field in whole["fields"]
        if field["name"] not in META
    )


def _part(name: str, type_: Any, path: str) -> ColumnPart:  # noqa: ANN401 - Avro's JSON
    match type_:
        case ["null", inner] | [inner, "null"] | [inner]:
            return _part(name, inner, path)
        case {"type": "record", "fields": fields}:
            inner = (_part(f["name"], f["type"], f"{path}.{f['name']}") for f in fields)
            return ColumnPart(path, name, STRUCT, tuple(inner))
        case {"type": "array", "items": items}:
            return ColumnPart(path, name, ARRAY, (_part(ELEMENT, items, f"{path}.{ELEMENT}"),))
        case {"type": "map", "values": values}:
            key, value = (f"{path}.{part}" for part in (KEY, VALUE))
            parts = (ColumnPart(key, KEY, "string"), _part(VALUE, values, value))
            return ColumnPart(path, name, MAP, parts)
    return ColumnPart(path, name, avro.text(type_))


_PLAIN: Final = {
    **dict.fromkeys(("string", "enum", "uuid"), "string"),
    **dict.fromkeys(("bytes", "binary"), "binary"),
    "boolean": "bool",
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "date": "date32",
}
"""Arrow's names for types in the words of Avro and of `SerDeHelper`."""


def arrow_type(type_: str) -> pa.DataType:
    """See `ArrowType`."""
    if type_ in _PLAIN:
        return pa.type_for_alias(_PLAIN[type_])
    if exact := records.DECIMAL.fullmatch(type_):
        return pa.decimal128(int(exact[1]), int(exact[2]))
    if type_.removeprefix("local-").startswith("timestamp"):
        return pa.timestamp("us", None if type_.startswith("local-") else "UTC")
    raise ValueError(f"the type {type_} is not read")
