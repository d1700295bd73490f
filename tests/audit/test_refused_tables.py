"""What no plan is made of: each is refused with a line that says why."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.formats.api import FileFactError
from harness.formats.delta import read_plan as delta_plan
from harness.formats.files import table_folder
from harness.formats.hudi import read_plan as hudi_plan
from tests.builders.delta_folder import Action, DeltaFolder, add, field, metadata, protocol
from tests.builders.hudi_folder import KEY, HudiFolder, latest

ID = field("id", "long")


def delta(path: Path, version: int | None = None) -> None:
    delta_plan.plan(table_folder.at(str(path)), version)


@pytest.mark.parametrize(
    ("action", "why"),
    [
        (protocol(4), "a reader of version 4; 3 is known"),
        (protocol(3, "geospatial", "columnMapping"), "has geospatial, which is not read"),
        (protocol(3, "catalogManaged"), "has catalogManaged, which is not read"),
    ],
)
def test_a_feature_that_a_reader_must_know_is_named(
    action: Action, why: str, tmp_path: Path
) -> None:
    DeltaFolder(tmp_path).commit(action, metadata(ID))
    with pytest.raises(FileFactError, match=why):
        delta(tmp_path)


def test_features_of_writers_alone_are_no_matter(tmp_path: Path) -> None:
    action = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["rowTracking"]}
    DeltaFolder(tmp_path).commit({"protocol": action}, metadata(ID))
    delta(tmp_path)


def test_a_version_that_the_log_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFactError, match="there is no commit"):
        delta(tmp_path)
    table = DeltaFolder(tmp_path)
    for _ in range(3):
        table.commit(protocol(1), metadata(ID))
    for version in (-1, 3):
        with pytest.raises(FileFactError, match=f"there is no version {version}; the newest is 2"):
            delta(tmp_path, version)
    table.forget(1)
    with pytest.raises(FileFactError, match="version 1 is gone, without which 2 is unknown"):
        delta(tmp_path)


@pytest.mark.parametrize(
    ("type_", "text", "why"),
    [
        ("integer", "x", "p: 'x' stands for no int32"),
        ("byte", "128", "p: '128' stands for no int8"),
    ],
)
def test_a_partition_value_that_is_none_of_its_type_is_refused(
    type_: str, text: str, why: str, tmp_path: Path
) -> None:
    table = DeltaFolder(tmp_path)
    table.commit(protocol(1), metadata(ID, field("p", type_), partition=("p",)))
    table.commit(add("1.parquet", {"p": text}))
    with pytest.raises(FileFactError, match=why):
        delta(tmp_path)


@pytest.mark.parametrize("text", [None, "not JSON", "{}"])
def test_a_log_that_says_no_columns_is_refused(text: str | None, tmp_path: Path) -> None:
    action = {"metaData": {**metadata(ID)["metaData"], "schemaString": text}}
    DeltaFolder(tmp_path).commit(protocol(1), action)
    with pytest.raises(FileFactError, match="its newest metaData action has no schema"):
        delta(tmp_path)


def _newer(table: HudiFolder) -> None:
    HudiFolder(table.path, table.columns, version=10).create()


def _payload(table: HudiFolder) -> None:
    table.create(compaction_payload_class="org.apache.hudi.common.model.AWSDmsAvroPayload")


def _bootstrapped(table: HudiFolder) -> None:
    table.create(bootstrap_base_path="/other")


def test_a_float_in_a_wider_type_is_not_decided(tmp_path: Path) -> None:
    table = HudiFolder(tmp_path, {"id": "long"})
    table.create()
    old, new = {0: ("id", "long"), 1: ("f", "float")}, {0: ("id", "long"), 1: ("f", "double")}
    table.done("1", record=latest(1, old))
    table.schemas("2", (1, old), (2, new))
    table.done("2", record=latest(2, new))
    (sentence,) = hudi_plan.plan(table_folder.at(str(tmp_path))).undecided
    assert sentence.startswith("f was float and is double")


def test_what_a_partial_update_of_a_deleted_row_leaves_is_not_decided(tmp_path: Path) -> None:
    table = HudiFolder(tmp_path, {"id": "long"})
    table.create()
    table.base("g", "1", {KEY: "1", "id": 1}, {KEY: "2", "id": 2})
    rows = table.rows("2", {KEY: "1"}, {KEY: "2"}, partial=True)
    table.log("g", "1", table.deletes("2", {"1": None}), rows)
    table.done("1")
    table.done("2")
    (sentence,) = hudi_plan.plan(table_folder.at(str(tmp_path))).undecided
    assert sentence.startswith("g: the rows 1 were deleted and then updated in part")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_newer, "version 10; those up to 9 are read"),
        (_payload, "merged by AWSDmsAvroPayload, which is not read"),
        (_bootstrapped, "rows outside of the table's folder"),
        (lambda _: None, "no .hoodie/hoodie.properties"),
    ],
)
def test_a_hudi_table_of_another_kind_is_refused(
    change: Callable[[HudiFolder], None], why: str, tmp_path: Path
) -> None:
    table = HudiFolder(tmp_path, {"id": "long"})
    change(table)
    table.log("g", "1", table.rows("1", {KEY: "1", "id": 1}))
    table.done("1")
    with pytest.raises(FileFactError, match=why):
        hudi_plan.plan(table_folder.at(str(tmp_path)))
