"""When each row of a Delta table was written last, as its commits record their changes.

A commit with files of changes (`cdc`) has every row there that it inserted, updated or deleted. Of
one without them all rows of the files that it adds are inserted; files that only hold again what
was there say so (`dataChange`), and a file that it removes as well has only more rows marked as
deleted. Source: Delta transaction log protocol, "Add CDC File" and "Change Data Files".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from harness.formats.api import FileFactError
from harness.formats.delta.log import Commit, DeltaLog
from harness.formats.files import parquet

ENABLED: Final = "delta.enableChangeDataFeed"
_KIND: Final = "_change_type"
_WRITES: Final = ("insert", "update_postimage")


def last_writes(log: DeltaLog, key: str, until: int) -> Mapping[str, int]:
    """Return the version up to one that wrote each row last, by the text of its key.

    Nothing where the table records no changes, or where a file of them cannot be read: a vacuum
    takes older ones away.

    Args:
        log: the table's.
        key: the physical name of the key column.
        until: the version.

    """
    if log.properties.get(ENABLED) != "true":
        return {}
    versions: dict[str, int] = {}
    try:
        for commit in log.commits[: until + 1]:
            versions |= dict.fromkeys(_written(log.folder, commit, key), commit.version)
    except FileFactError:
        return {}
    return versions


def _written(folder: Path, commit: Commit, key: str) -> Iterator[str]:
    """Yield the keys of the rows that a commit inserted or updated."""
    changes = [folder / unquote(action["path"]) for action in commit.all("cdc")]
    for path in changes:
        names, rows = parquet.content(path)
        at, kind = names.index(key), names.index(_KIND)
        yield from (str(row[at]) for row in rows if row[kind] in _WRITES)
    removed = {action["path"] for action in commit.all("remove")}
    for action in commit.all("add") if not changes else ():
        if action["dataChange"] and action["path"] not in removed:
            yield from parquet.read(folder / unquote(action["path"]), key).keys
