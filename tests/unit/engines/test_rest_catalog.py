"""The catalog of one table: what a commit makes of its metadata, and who is answered."""

import json
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
import requests

from harness.engines.duckdb import rest_catalog
from harness.engines.duckdb.rest_catalog import NEW, OneTable, committed

SCHEMA = {"schema-id": 0, "type": "struct", "fields": [{"id": 7, "name": "id", "type": "int"}]}
TIMEOUT_S = 10


def asked(folder: Path, version: str = "2") -> dict[str, Any]:
    return {
        "name": "t",
        "schema": SCHEMA,
        "partition-spec": {"spec-id": 0, "fields": [{"field-id": 1000, "source-id": 7}]},
        "write-order": {"order-id": 0, "fields": []},
        "properties": {"format-version": version, "a": "b"},
        "location": f"file:{folder}",
    }


def snapshot(number: int, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    one = {"snapshot-id": 40 + number, "sequence-number": number, "timestamp-ms": 1000 * number}
    return {"action": "add-snapshot", "snapshot": {**one, **more}}


def named(number: int, name: str = "main") -> dict[str, Any]:
    reference = {"type": "branch", "snapshot-id": 40 + number}
    return {"action": "set-snapshot-ref", "ref-name": name, **reference}


def made(folder: Path, version: str = "2") -> OneTable:
    table = OneTable("")
    table.metadata = rest_catalog.staged(asked(folder, version))
    table.commit([])
    return table


def test_a_table_that_is_made_has_what_it_was_asked_for(tmp_path: Path) -> None:
    table = made(tmp_path)
    file = Path(table.location.removeprefix("file:"))
    assert file.parent == tmp_path / "metadata"
    assert file.name.startswith("00000-")
    metadata = json.loads(file.read_text(encoding="utf-8"))
    assert (metadata["format-version"], metadata["properties"]) == (2, {"a": "b"})
    assert (metadata["last-column-id"], metadata["last-partition-id"]) == (7, 1000)
    assert metadata["schemas"] == [SCHEMA]
    assert NEW["properties"] == {}


def test_a_snapshot_counts_once_the_main_branch_is_it(tmp_path: Path) -> None:
    table = made(tmp_path)
    first = table.location
    table.commit([snapshot(1), named(1)])
    table.commit([snapshot(2), named(2, "other")])
    assert Path(table.location).name.startswith("00002-")
    metadata = OneTable(table.location).metadata
    assert metadata["current-snapshot-id"] == 41
    assert metadata["snapshot-log"] == [{"timestamp-ms": 1000, "snapshot-id": 41}]
    assert [one["snapshot-id"] for one in metadata["snapshots"]] == [41, 42]
    assert metadata["refs"]["other"] == {"type": "branch", "snapshot-id": 42}
    assert (metadata["last-sequence-number"], metadata["last-updated-ms"]) == (2, 2000)
    assert metadata["metadata-log"][0] == {"timestamp-ms": 0, "metadata-file": first}
    assert "next-row-id" not in metadata


def test_rows_of_version_3_are_counted(tmp_path: Path) -> None:
    table = made(tmp_path, "3")
    table.commit([snapshot(1, **{"added-rows": 3}), named(1)])
    table.commit([snapshot(2, **{"added-rows": 2}), named(2)])
    assert table.metadata["next-row-id"] == 5


def test_ids_of_columns_are_never_given_again() -> None:
    schemas = [
        {"action": "add-schema", "schema": {**SCHEMA, "schema-id": at, "fields": fields}}
        for at, fields in ((1, [{"id": 9, "type": {"element-id": 12}}]), (2, []))
    ]
    assert committed(NEW, schemas)["last-column-id"] == 12


def test_an_update_that_is_not_known_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    table = made(tmp_path)
    before = sorted(tmp_path.rglob("*.json"))
    with rest_catalog.serving(table) as address:
        url = f"{address}/v1/namespaces/d/tables/t"
        body = {"updates": [{"action": "remove-statistics"}]}
        answer = requests.post(url, json=body, timeout=TIMEOUT_S)
    assert answer.status_code == HTTPStatus.BAD_REQUEST
    assert "remove-statistics" in answer.json()["error"]["message"]
    assert sorted(tmp_path.rglob("*.json")) == before


@pytest.mark.parametrize("method", ["get", "post"])
def test_who_does_not_know_the_address_learns_nothing(method: str, tmp_path: Path) -> None:
    with rest_catalog.serving(made(tmp_path)) as address:
        root = address.rpartition("/")[0]
        url = f"{root}/v1/namespaces/d/tables/t"
        answer = requests.request(method, url, json={}, timeout=TIMEOUT_S)
        known = requests.get(f"{address}/v1/namespaces/d/tables/t", timeout=TIMEOUT_S)
    assert (answer.status_code, answer.json()) == (HTTPStatus.NOT_FOUND, {})
    assert known.json()["metadata"]["format-version"] == 2
