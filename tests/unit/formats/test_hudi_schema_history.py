"""What a Hudi table's own history says of names that the id of a column had."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.formats import hudi_schema_history

VERSIONS = (
    ("0", {5: "id", 7: "f1", 8: "f2"}),
    ("20260101000000001", {5: "id", 7: "f1"}),
    ("20260101000000002", {5: "id", 7: "g"}),
    ("20260101000000003", {5: "id", 8: "f3", 7: "g"}),
)


def written(folder: Path, instant: str, versions: int, *, completed: bool = True) -> None:
    """Write a file of the history as Hudi does, and the commit that it belongs to."""
    requested, _, _ = instant.partition("_")
    (folder / ".hoodie" / ".schema").mkdir(parents=True, exist_ok=True)
    found = [
        {"version_id": int(at), "fields": [{"id": n, "name": name} for n, name in names.items()]}
        for at, names in reversed(VERSIONS[:versions])
    ]
    text = json.dumps({"schemas": found})
    (folder / ".hoodie" / ".schema" / f"{instant}.schemacommit").write_text(text)
    if completed:
        home = folder / ".hoodie" if instant == requested else folder / ".hoodie" / "timeline"
        home.mkdir(exist_ok=True)
        (home / f"{instant}.commit").touch()


@pytest.mark.parametrize("instant", ["20260101000000003", "20260101000000003_20260101000000004"])
def test_an_id_that_was_given_again_has_the_name_of_the_dropped_column(
    tmp_path: Path, instant: str
) -> None:
    written(tmp_path, instant, 4)
    found = hudi_schema_history.former_names(tmp_path)
    assert set(found) == {("g", "f1"), ("f3", "f2")}


def test_what_was_not_committed_counts_for_nothing(tmp_path: Path) -> None:
    written(tmp_path, "20260101000000002", 3)
    written(tmp_path, "20260101000000003", 4, completed=False)
    assert hudi_schema_history.former_names(tmp_path) == (("g", "f1"),)


@pytest.mark.parametrize("text", ["", "{}", "[", '{"schemas": []}'])
def test_without_a_history_nothing_is_said(tmp_path: Path, text: str) -> None:
    assert hudi_schema_history.former_names(tmp_path) == ()
    written(tmp_path, "1", 1)
    (tmp_path / ".hoodie" / ".schema" / "1.schemacommit").write_text(text)
    assert hudi_schema_history.former_names(tmp_path) == ()
