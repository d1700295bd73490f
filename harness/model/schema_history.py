"""The history of its schema that a table itself keeps, beside the rules of reading by it.

Hudi's `InternalSchema` has an id for every column and every part of one, the highest id that was
ever given, and a version for each change. Ids of ours (`model.schema`) are others; only which
columns are the same column can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Final

from pydantic import Field

from harness.model.datatypes import Array, DataType, Map, Struct

FIRST: Final = "0"
"""The version of the schema that the table had before the change that began its history."""
_AS_INT: Final = ("tinyint", "smallint")
_AS_TEXT: Final = ("char", "varchar")

RecordedField = tuple[int, str, str]
"""Id, dotted path and type; the type is empty where it has no word of ours."""


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    instant: str
    """The `version_id`: the instant of the change, or `FIRST`."""
    max_id: int
    """The `max_column_id`."""
    fields: tuple[RecordedField, ...]
    """The columns in their order, each before its parts; those that Hudi adds are left out."""


@dataclass(frozen=True, slots=True)
class SchemaHistory:
    versions: tuple[SchemaVersion, ...] = ()
    """In the order of their ids, the newest last."""
    lost: Annotated[tuple[SchemaVersion, ...], Field(exclude_if=lambda lost: not lost)] = ()
    """Versions that older files of the history have, or commits that stand, and it has not."""
    latest: Annotated[SchemaVersion | None, Field(exclude_if=lambda newest: newest is None)] = None
    """The `latest_schema` of the newest commit that has any, where it is not the newest version."""

    def with_instants(self, called: Mapping[str, str]) -> SchemaHistory:
        def known(version: SchemaVersion) -> SchemaVersion:
            return replace(version, instant=called.get(version.instant, version.instant))

        latest = known(self.latest) if self.latest else None
        return SchemaHistory(tuple(map(known, self.versions)), tuple(map(known, self.lost)), latest)

    @property
    def instants(self) -> frozenset[str]:
        latest = (self.latest,) if self.latest else ()
        return frozenset(version.instant for version in (*self.versions, *self.lost, *latest))

    @property
    def former_names(self) -> tuple[tuple[str, str], ...]:
        names = [
            {at: path for at, path, _ in version.fields if "." not in path}
            for version in self.versions
        ]
        now = names.pop() if names else {}
        pairs = (
            (name, before)
            for at, name in now.items()
            for entry in names
            if (before := entry.get(at, name)) != name
        )
        return tuple(dict.fromkeys(pairs))


def merge(query: SchemaVersion, data: SchemaVersion) -> Mapping[str, str | None]:
    """Return where each column of a query is found in files of an older version, by the ids.

    The same id is the same column, under whatever name; with another id a column of the same name
    is another one, and what has no column is NULL. Source: `InternalSchemaMerger` of Hudi.
    """
    result = {id_: path for id_, path, _ in data.fields}
    return {path: result.get(id_) for id_, path, _ in query.fields}


def stored_type(type_: DataType) -> str:
    """Return what such a history calls a type; empty where it has no word that was seen.

    It has no small integers and no bounded texts. Source: `Types` of Hudi's `internal.schema`.
    """
    match type_:
        case Struct():
            return "struct"
        case Array():
            return "array"
        case Map():
            return "map"
    text = str(type_)
    if text == "timestamp_ntz":
        return ""
    return "int" if text in _AS_INT else "string" if text.startswith(_AS_TEXT) else text
