"""The history of its schema that a Hudi table keeps: ids of columns, and the names they had.

Source: `InternalSchema`, `SerDeHelper`, `FileBasedInternalSchemaStorageManager`: each file in
`.hoodie/.schema` has all versions so far; a commit's extra metadata has the newest one too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain
from typing import Any, Final

from harness.formats.files.column_parts import ColumnPart, parts_of, walk
from harness.formats.hudi import timeline
from harness.formats.hudi.records import META as HOODIE
from harness.formats.hudi.records import SCHEMAS, HudiTable
from harness.model.datatypes import PRIMITIVES
from harness.model.schema_history import RecordedField, SchemaHistory, SchemaVersion
from harness.model.simulation.column_resolution import META

LATEST: Final = "latest_schema"
_FIXED: Final = re.compile(r"decimal_fixed(\(\d+, \d+\))\[\d+\]")
_DECIMAL: Final = re.compile(r"decimal\(\d+, \d+\)")


def read(table: HudiTable) -> SchemaHistory | None:
    """Return what a table says of its schema; None where it says nothing at all."""
    if SCHEMAS not in {file.name for file in table.folder.listed(HOODIE)}:
        return None
    files: list[tuple[SchemaVersion, ...]] = []  # of each commit that stands; empty if broken
    for instant, path in table.histories().items():
        if instant in table.writes:
            files.append(())
            with suppress(ValueError):
                files[-1] = versions((table.folder.text(path) or b"").decode())
    latest: list[SchemaVersion] = []  # as each commit that stands has it
    for entry in table.writes.values():
        if text := timeline.extra_metadata(table.record(entry)).get(LATEST):
            with suppress(ValueError, KeyError, TypeError):
                latest.append(_version(json.loads(text)))
    newest = files[-1] if files else ()
    if not newest and not latest:
        return None
    known = (*chain.from_iterable(files), *latest)
    lost = dict.fromkeys(version for version in known if version not in newest)
    now = latest[-1] if latest and newest and latest[-1] != newest[-1] else None
    return SchemaHistory(newest, tuple(lost), now)


def schemas(text: str) -> tuple[Mapping[str, Any], ...]:
    """Return the versions in a file of the history, the newest last; raises ValueError."""
    try:
        records = json.loads(text)["schemas"]
        return tuple(sorted(records, key=lambda record: int(record["version_id"])))
    except (KeyError, TypeError, AttributeError) as problem:
        raise ValueError(f"no history of a schema: {problem!r}") from problem


def columns(record: Mapping[str, Any]) -> tuple[ColumnPart, ...]:
    """Return the columns of a version without Hudi's own; raises KeyError or TypeError."""
    return parts_of([field for field in record["fields"] if field["name"] not in META])


def versions(text: str) -> tuple[SchemaVersion, ...]:
    """Return the versions in a file of the history, the newest last; raises ValueError."""
    try:
        return tuple(map(_version, schemas(text)))
    except (KeyError, TypeError, AttributeError) as problem:
        raise ValueError(f"no history of a schema: {problem!r}") from problem


def _version(record: Mapping[str, Any]) -> SchemaVersion:
    fields: list[RecordedField] = [
        (int(part.id), path, part.type if part.parts else _word(part.type))
        for path, part in walk(columns(record))
    ]
    return SchemaVersion(str(record["version_id"]), record["max_column_id"], tuple(fields))


def _word(type_: str) -> str:
    """Return our word for a type; a decimal of so many bytes is one all the same.

    >>> _word("decimal_fixed(10, 2)[5]"), _word("long"), _word("uuid")
    ('decimal(10, 2)', 'long', '')
    """
    plain = _FIXED.sub(r"decimal\1", type_)
    return plain if plain in PRIMITIVES or _DECIMAL.fullmatch(plain) else ""
