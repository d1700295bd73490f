"""The history of its schema that a Hudi table keeps: ids of columns, and the names they had.

Source: `InternalSchema`, `FileBasedInternalSchemaStorageManager`: `.hoodie/.schema` has a file for
each commit, named as on the timeline (`<requested>.schemacommit`, from table version 8 on
`<requested>_<completed>.schemacommit`), with every version of the schema so far.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.formats import timeline


def former_names(folder: Path) -> tuple[tuple[str, str], ...]:
    """Return each column with every other name that its id has in older versions of the schema.

    None where a table has no history, or where its file cannot be read.
    """
    versions = sorted(_versions(folder), key=lambda each: int(each["version_id"]))
    if not versions:
        return ()
    *older, newest = ([(f["id"], f["name"]) for f in each["fields"]] for each in versions)
    found = {
        (name, before): None
        for id_, name in newest
        for fields in older
        for other, before in fields
        if other == id_ and before != name
    }
    return tuple(found)


def _versions(folder: Path) -> list[dict[str, Any]]:
    """Return the versions in the file of the newest commit that stands."""
    there = folder.glob(".hoodie/.schema/*.schemacommit")
    files = {each.stem.partition("_")[0]: each for each in there}
    standing = files.keys() & set(timeline.requested(timeline.names(folder)))
    if not standing:
        return []
    try:
        found: list[dict[str, Any]] = json.loads(files[max(standing)].read_text())["schemas"]
    except (OSError, ValueError, KeyError):
        return []
    return found
