"""How the rows of a Delta table's change data feed come out of its files.

Source: Delta transaction log protocol, "Change Data Files", "Reader Requirements for Change Data
Files"; Delta documentation, "Use Delta Lake change data feed". `_commit_timestamp` is left out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import unquote

from harness.formats.api import FileFactError
from harness.formats.delta import log as delta_log
from harness.formats.delta.checkpoints import Action
from harness.formats.delta.column_types import arrow_type
from harness.formats.delta.log import CHANGE_FEED, VECTOR, Commit
from harness.formats.delta.read_plan import PlannedTable, check_protocol
from harness.formats.files.column_parts import ColumnPart
from harness.formats.files.table_folder import TableFolder
from harness.formats.read_plan import FileColumns, PlannedFile, ReadPlan

KIND: Final = "_change_type"
VERSION: Final = "_commit_version"
INSERT, DELETE = "insert", "delete"


def plan(folder: TableFolder, first: int, last: int) -> ReadPlan:
    """Plan what the versions from `first` to `last` changed, by the columns of the last one.

    Raises FileFactError, also where the feed was not enabled in one of them, or UnreadableError.
    """
    log = delta_log.snapshot(folder, last)
    check_protocol(log.protocol)
    table = PlannedTable(folder, log)
    enabled = delta_log.snapshot(folder, first).properties.get(CHANGE_FEED) == "true"
    files: list[PlannedFile] = []
    for commit in delta_log.commits(folder, first, last):
        for metadata in commit.all("metaData"):
            enabled = (metadata.get("configuration") or {}).get(CHANGE_FEED) == "true"
        if not enabled:
            raise FileFactError(f"version {commit.version}: {CHANGE_FEED} is not true in it")
        files += _files(table, commit)
    added = ColumnPart(KIND, KIND, "string"), ColumnPart(VERSION, VERSION, "long")
    return ReadPlan((*table.columns, *added), tuple(files), arrow_type, str(last))


def _files(table: PlannedTable, commit: Commit) -> Iterator[PlannedFile]:
    changes = tuple(commit.all("cdc"))
    for action in changes:
        yield _file(table, action, commit.version)
    if changes:
        return
    for removed, added in commit.changed_files():
        if added is None:
            if removed is not None:
                yield _file(table, _as_added(table, removed, commit), commit.version, DELETE)
            continue
        if removed is None:
            yield _file(table, added, commit.version, INSERT)
            continue
        # One file with other rows gone: the differences are what changed.
        now, before = (table.gone(one.get(VECTOR)) for one in (added, removed))
        for kind, positions in ((INSERT, before - now), (DELETE, now - before)):
            if positions:
                changed = {name: part for name, part in added.items() if name != VECTOR}
                yield replace(_file(table, changed, commit.version, kind), only=positions)


def _as_added(table: PlannedTable, removed: Action, commit: Commit) -> Action:
    """Return a removal with the values of its partition, which it need not have."""
    if removed.get("partitionValues") is not None or not table.is_partitioned:
        return removed
    before = delta_log.snapshot(table.folder, commit.version - 1).live()
    path = unquote(removed["path"])
    values = next((file.partition for file in before if file.path == path), {})
    return {**removed, "partitionValues": values}


def _file(table: PlannedTable, action: Action, version: int, kind: str = "") -> PlannedFile:
    """Plan a file; `kind`: what all of its rows are, if it does not say so itself."""
    gone = table.gone(action.get(VECTOR))
    partition: Mapping[str, str | None] = action.get("partitionValues") or {}
    file = table.planned(unquote(action["path"]), partition, gone)
    constants = {**file.constants, VERSION: version}
    names = dict(file.columns.names)
    if kind:
        constants[KIND] = kind
    else:
        names[KIND] = KIND
    # By names also where the table goes by ids: the column of kinds has none.
    columns = FileColumns(names, unread=file.columns.unread)
    return replace(file, columns=columns, constants=constants)
