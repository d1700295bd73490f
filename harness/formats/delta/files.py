"""What the live data files of a Delta table say, in the names that their columns had then.

With column mapping a file has physical names (protocol, "Column Mapping"): a fact has the names of
the version that wrote it, and the stored ones beside them. Values of partition columns stand in the
log alone ("Partition Value Serialization").
"""

import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from harness.formats.api import FileFactError, FileRows
from harness.formats.delta import log as delta_log
from harness.formats.delta import vectors
from harness.formats.delta.checkpoints import Action
from harness.formats.delta.column_types import partition_value
from harness.formats.delta.log import CHANGE_FEED, VECTOR, Commit, DeltaLog, LiveFile, physical_name
from harness.formats.files import data_files, table_folder
from harness.model.canonical import MapValue, Value
from harness.model.conversion import convert
from harness.model.datatypes import Primitive
from harness.model.file_facts import ColumnStatistics, FileFact, FileKind, StatisticsSource, bound
from harness.model.simulation.incremental import COMMIT_TIME

_MOMENTS: Final = "timestamp", "timestamp_ntz"
_REST_OF_MILLISECOND: Final = datetime.timedelta(microseconds=999)
_KIND: Final = "_change_type"
_WRITES: Final = ("insert", "update_postimage")


def last_writes(log: DeltaLog, key: str, until: int) -> Mapping[str, int]:
    """Return the version up to `until` that wrote each row last, by the text of its key.

    Nothing where no changes are recorded, or a vacuum took their files. `key`: its physical name.
    """
    if log.properties.get(CHANGE_FEED) != "true":
        return {}
    versions: dict[str, int] = {}
    try:
        for commit in log.commits[: until + 1]:
            versions |= dict.fromkeys(_written(log.folder, commit, key), commit.version)
    except FileFactError:
        return {}
    return versions


def _written(folder: Path, commit: Commit, key: str) -> Iterator[str]:
    changes = [folder / unquote(action["path"]) for action in commit.all("cdc")]
    for path in changes:
        names, rows = data_files.content(path)
        at, kind = names.index(key), names.index(_KIND)
        yield from (str(row[at]) for row in rows if row[kind] in _WRITES)
    for removed, added in commit.changed_files() if not changes else ():
        if added is not None:
            keys = data_files.read_footer(folder / unquote(added["path"]), key).keys
            # Of a file that was there those rows are written that are marked as gone no more.
            back = range(len(keys)) if removed is None else _gone(folder, removed)
            yield from (keys[at] for at in sorted({*back} - _gone(folder, added)))


def _gone(folder: Path, action: Action) -> frozenset[int]:
    vector = action.get(VECTOR)
    return vectors.deleted(table_folder.at(str(folder)), vector) if vector else frozenset()


def facts(folder: Path, key: str) -> tuple[FileFact, ...]:
    """Return a fact for each live data file, older ones first, and a log fact for its vector."""
    return tuple(_facts(delta_log.local(folder), key))


def statistics_of_moments(folder: Path) -> Iterator[ColumnStatistics]:
    """Yield what the log says of the moments in live files: bounds that are cut to milliseconds.

    Source: protocol, "Per-file Statistics".
    """
    log = delta_log.local(folder)
    for live in log.live():
        stored_bounds = json.loads(live.statistics or "{}")
        least, greatest = (stored_bounds.get(name, {}) for name in ("minValues", "maxValues"))
        for column in log.schema(live.version):
            stored = physical_name(column)
            if str(column["type"]) in _MOMENTS and stored in least and stored in greatest:
                first, last = (
                    convert(of[stored], Primitive("timestamp")) for of in (least, greatest)
                )
                counted = (
                    stored_bounds["numRecords"],
                    stored_bounds.get("nullCount", {}).get(stored),
                )
                where = StatisticsSource.DELTA, live.path, column["name"]
                ends = bound(first), bound(last + _REST_OF_MILLISECOND)
                yield ColumnStatistics(*where, *counted, *ends)


def file_rows(path: Path, fact: FileFact) -> FileRows:
    """Read the rows of a data file with partition values and, with a change feed, their commits."""
    log = delta_log.local(Path(str(path).removesuffix(fact.path)))
    live = [file for file in log.live() if file.logical == fact.file_group]
    if not live:
        raise FileFactError(f"{fact.path}: no commit adds it")
    fields = {physical_name(action): action for action in log.schema(live[0].version)}
    names, rows = data_files.content(path)
    partition, commits = _partition(live[0], fields), _commits(log, live[0], fact, names, rows)
    columns = [fields[name]["type"] if name in fields else None for name in names]
    shown = (
        (*map(_named, row, columns), *partition[1], *commit)
        for row, commit in zip(rows, commits or repeat(()), strict=False)
    )
    added = (COMMIT_TIME,) if commits else ()
    return (*_names(names, fields), *partition[0], *added), tuple(shown)


def _commits(
    log: DeltaLog,
    live: LiveFile,
    fact: FileFact,
    names: Sequence[str],
    rows: Sequence[Sequence[Value]],
) -> Sequence[tuple[Value]]:
    """Return the version that wrote each row; nothing where that is not known of all of them."""
    # A fact does not say which column is the key: its keys tell it.
    columns = zip(names, zip(*rows, strict=True), strict=bool(rows))
    key = next((name for name, column in columns if tuple(map(str, column)) == fact.keys), "")
    versions = last_writes(log, key, live.version) if key else {}
    return [(str(versions[key]),) for key in fact.keys] if versions.keys() >= set(fact.keys) else ()


def _facts(log: DeltaLog, key: str) -> Iterator[FileFact]:
    for live in log.live():
        fields = {physical_name(action): action for action in log.schema(live.version)}
        stored = next((text for text, field in fields.items() if field["name"] == key), key)
        # A file that has the table's own names is no secret: see `_names`.
        footer = data_files.read_footer(log.folder / live.path, stored, otherwise=key)
        physical = tuple(name for name, _ in footer.columns)
        names, types = _names(physical, fields), (type_ for _, type_ in footer.columns)
        columns = tuple(zip(names, types, strict=True))
        base = live.path, FileKind.BASE, live.logical, str(live.version), columns, footer.keys
        yield FileFact(*base, stored_names=physical if names != physical else ())
        if live.vector is not None:
            gone = _gone(log.folder, {VECTOR: live.vector})
            keys = tuple(footer.keys[at] for at in sorted(gone))
            yield FileFact(live.path, FileKind.LOG, live.logical, str(live.marked), (), (), keys)


def _names(stored: Sequence[str], fields: Mapping[str, Action]) -> tuple[str, ...]:
    """Return the names of columns; one that no physical name has is no column's of the table."""
    named = {str(field["name"]) for field in fields.values()}
    unknown = {text: f"{text} (no physical name)" if text in named else text for text in stored}
    return tuple(str(fields[text]["name"]) if text in fields else unknown[text] for text in stored)


def _partition(live: LiveFile, fields: Mapping[str, Action]) -> tuple[tuple[str, ...], list[Value]]:
    values = []
    for stored, text in live.partition.items():
        type_ = str(fields[stored]["type"]) if stored in fields else "string"
        try:
            values.append(partition_value(text, type_))
        except ValueError as problem:
            raise FileFactError(f"{live.path}: {stored}: {problem}") from problem
    return _names(tuple(live.partition), fields), values


def _named(value: Value, type_: Any) -> Value:  # noqa: ANN401 - JSON
    match type_, value:
        case {"type": "struct", "fields": fields}, dict():
            return {f["name"]: _named(value[physical_name(f)], f["type"]) for f in fields}
        case {"type": "array", "elementType": element}, tuple():
            return tuple(_named(part, element) for part in value)
        case {"type": "map", "keyType": key, "valueType": part}, MapValue():
            return MapValue.of([(_named(k, key), _named(v, part)) for k, v in value.pairs])
    return value
