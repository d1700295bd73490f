from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from harness.formats.delta import files as delta_files
from harness.formats.delta import log as delta_log
from harness.model.simulation.incremental import COMMIT_TIME

KEY = "col-1"
FIELD = {"name": "id", "type": "string", "metadata": {"delta.columnMapping.physicalName": KEY}}
SCHEMA = {"type": "struct", "fields": [FIELD]}
Commits = Sequence[Sequence[tuple[str, str, bool]]]
FILES: Mapping[str, tuple[str, ...]] = {
    "a": ("1", "2", "3"),
    "b": ("4",),
    "a2": ("1", "3"),
    "ab": ("1", "3", "4"),
    "new": ("1",),
}
CHANGES = {
    "c": (("1", "update_preimage"), ("1", "update_postimage"), ("2", "delete")),
    "d": (("5", "insert"),),
}
ADD_ALL = ("add", "a", True), ("add", "b", True)
CHANGED = ("remove", "a", True), ("add", "a2", True), ("cdc", "c", False)
JOINED = ("remove", "a2", False), ("remove", "b", False), ("add", "ab", False)


def table(folder: Path, commits: Commits, *, enabled: str = "true") -> Path:
    (folder / "_delta_log").mkdir(parents=True)
    for name, keys in FILES.items():
        parquet.write_table(pa.table({KEY: list(keys)}), folder / name)
    for name, rows in CHANGES.items():
        columns = zip((KEY, "_change_type"), zip(*rows, strict=True), strict=True)
        parquet.write_table(pa.table({column: list(of) for column, of in columns}), folder / name)
    properties = {delta_files.ENABLED: enabled}
    told = {"schemaString": json.dumps(SCHEMA), "configuration": properties, "partitionColumns": []}
    lines: list[list[dict[str, object]]] = [[{"metaData": told}]]
    lines += [
        [{kind: {"path": p, "dataChange": new}} for kind, p, new in commit] for commit in commits
    ]
    for version, actions in enumerate(lines):
        text = "\n".join(map(json.dumps, actions))
        (folder / "_delta_log" / f"{version:020}.json").write_text(text)
    return folder


def last_writes(folder: Path, until: int = 9) -> Mapping[str, int]:
    log = delta_log.read(folder)
    assert log is not None
    return delta_files.last_writes(log, KEY, until)


def test_rows_of_an_added_file_are_written_by_its_commit(tmp_path: Path) -> None:
    folder = table(tmp_path, [[ADD_ALL[0]], [ADD_ALL[1]]])
    assert last_writes(folder) == {"1": 1, "2": 1, "3": 1, "4": 2}
    assert last_writes(folder, 1) == {"1": 1, "2": 1, "3": 1}


def test_of_a_commit_with_files_of_changes_those_tell_and_not_what_it_carries_along(
    tmp_path: Path,
) -> None:
    assert last_writes(table(tmp_path, [ADD_ALL, CHANGED])) == {"1": 2, "2": 1, "3": 1, "4": 1}
    inserted = [("cdc", "d", False), ("add", "new", True)]
    assert last_writes(table(tmp_path / "t", [ADD_ALL, inserted]))["5"] == 2


def test_joined_files_and_marked_rows_are_no_writes(tmp_path: Path) -> None:
    marked = ("remove", "ab", True), ("add", "ab", True)
    actual = last_writes(table(tmp_path, [ADD_ALL, CHANGED, JOINED, marked]))
    assert actual == {"1": 2, "2": 1, "3": 1, "4": 1}


def test_an_overwrite_writes_all_of_its_rows(tmp_path: Path) -> None:
    overwrite = ("remove", "a", True), ("remove", "b", True), ("add", "new", True)
    assert last_writes(table(tmp_path, [ADD_ALL, overwrite]))["1"] == 2


@pytest.mark.parametrize(("enabled", "gone"), [("false", ""), ("true", "a"), ("true", "c")])
def test_nothing_is_known_without_the_changes(tmp_path: Path, enabled: str, gone: str) -> None:
    folder = table(tmp_path, [ADD_ALL, CHANGED], enabled=enabled)
    if gone:
        (folder / gone).unlink()
    assert last_writes(folder) == {}


def committed(folder: Path) -> dict[str, object]:
    actual: dict[str, object] = {}
    for fact in delta_files.facts(folder, "id"):
        columns, rows = delta_files.file_rows(folder / fact.path, fact)
        at = columns.index(COMMIT_TIME) if COMMIT_TIME in columns else None
        told = (None if at is None else row[at] for row in rows)
        actual |= dict(zip(fact.keys, told, strict=True))
    return actual


def test_rows_of_a_file_say_when_each_was_written(tmp_path: Path) -> None:
    folder = table(tmp_path, [ADD_ALL, CHANGED, JOINED])
    assert committed(folder) == {"1": "2", "3": "1", "4": "1"}


def test_rows_of_a_file_do_not_say_it_where_one_of_them_is_unknown(tmp_path: Path) -> None:
    unknown = ("add", "ab", False)
    assert committed(table(tmp_path, [[ADD_ALL[0]], [unknown]]))["4"] is None
    assert committed(table(tmp_path / "t", [ADD_ALL], enabled="false"))["4"] is None
