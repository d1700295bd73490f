"""A copy of an Iceberg table names its files where they lie, delete files and their bounds too.

Spark wrote the tables with Iceberg: one has position deletes, the other a deletion vector.
"""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from harness.formats.iceberg import move as iceberg_move
from harness.formats.iceberg import puffin
from harness.formats.iceberg.manifests import avro_records
from harness.formats.iceberg.table import table

MOVED = Path(__file__).with_name("moved_tables")
OLD = b"/warehouse/"


@pytest.fixture(params=["pos", "dv"])
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "a folder of another length" / str(request.param)
    shutil.copytree(MOVED / request.param, folder)
    iceberg_move.move(folder, str(folder))
    return folder


def entries(folder: Path) -> list[Mapping[str, Any]]:
    lists = (folder / "metadata").glob("snap-*.avro")
    manifests = [entry for path in lists for entry in avro_records(path.read_bytes()).records]
    for manifest in manifests:
        path = Path(manifest["manifest_path"].removeprefix("file:"))
        assert path.stat().st_size == manifest["manifest_length"]
    paths = {manifest["manifest_path"].removeprefix("file:") for manifest in manifests}
    return [e["data_file"] for path in paths for e in avro_records(Path(path).read_bytes()).records]


def test_no_file_names_the_old_place(copy: Path) -> None:
    assert any(OLD in path.read_bytes() for path in MOVED.rglob("*") if path.is_file())
    assert not [path for path in copy.rglob("*") if path.is_file() and OLD in path.read_bytes()]


def test_every_file_of_the_table_is_where_its_metadata_say_and_as_long(copy: Path) -> None:
    files = entries(copy)
    assert {file["content"] for file in files} == {0, 1}
    for file in files:
        path = Path(file["file_path"].removeprefix("file:"))
        assert path.stat().st_size == file["file_size_in_bytes"]
    assert len(list(table(copy).live())) >= 2


def test_deletes_are_of_the_copied_files(copy: Path) -> None:
    data = {file["file_path"] for file in entries(copy) if file["content"] == 0}
    for file in (file for file in entries(copy) if file["content"] == 1):
        path = Path(file["file_path"].removeprefix("file:"))
        if path.suffix == ".puffin":
            content = path.read_bytes()
            (size,) = struct.unpack("<i", content[-12:-8])
            footer = json.loads(content[-12 - size : -12])
            named = {blob["properties"]["referenced-data-file"] for blob in footer["blobs"]}
            assert content[-12 - size - 4 : -12 - size] == puffin.MAGIC
        else:
            written = pq.read_table(path)
            named = set(written.column("file_path").to_pylist())
            ids = [
                written.schema.field(name).metadata[b"PARQUET:field_id"]
                for name in ("file_path", "pos")
            ]
            assert ids == [b"2147483546", b"2147483545"]
        assert named <= data
        for bounds in (file["lower_bounds"], file["upper_bounds"]):
            paths = [e["value"] for e in bounds or () if e["key"] == 2147483546]
            assert {path.decode() for path in paths} <= data
