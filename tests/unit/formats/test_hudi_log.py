"""Log files that Hudi wrote: 0.15.0 and 1.0.2, row 1 updated, row 3 deleted; 1.2.0, a merge, and a
late delete of a table with two ordering fields (`bugs/several_ordering_fields`).

Of 0.10.0 and 0.12.0, row 1 updated after `f3` was added behind `ts` (`hudi/add_in_the_middle`).
"""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.formats.api import FileFactError
from harness.formats.files import avro
from harness.formats.hudi import log as hudi_log
from harness.formats.hudi.log import BlockKind

REAL = Path(__file__).parent / "hudi_logs"
VERSIONS = ("0.15.0", "1.0.2")


def read(name: str) -> bytes:
    return (REAL / f"{name}.log").read_bytes()


@pytest.mark.parametrize("version", VERSIONS)
def test_an_update_tells_its_instant_columns_and_keys(version: str) -> None:
    (block,) = hudi_log.blocks(read(f"update-{version}"))
    assert block.kind is BlockKind.AVRO_DATA
    assert block.instant.isdecimal()
    assert len(block.instant) == 17
    assert avro.columns(block.schema)[5:] == (
        ("id", "string"),
        ("ts", "long"),
        ("f1_new", "string"),
        ("f3", "string"),
    )
    assert hudi_log.record_keys(block, "_hoodie_record_key") == ("1",)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_delete_tells_the_keys_it_takes_away(version: str) -> None:
    (block,) = hudi_log.blocks(read(f"delete-{version}"))
    assert block.kind is BlockKind.DELETE
    assert tuple(hudi_log.deletes(block)) == ("3",)


def test_a_merge_of_table_version_9_leaves_records_and_deletes_in_one_file() -> None:
    data, deletes = hudi_log.blocks(read("merge-1.2.0"))
    assert [data.kind, deletes.kind] == [BlockKind.AVRO_DATA, BlockKind.DELETE]
    assert data.instant == deletes.instant == "20261121175945205"
    names = [name for name, _ in avro.columns(data.schema)]
    assert names[5:] == ["id", "ts", "f1", "f2"]
    for key in ("_hoodie_record_key", "id"):  # a table may have no meta columns
        assert hudi_log.record_keys(data, key) == ("4", "6")
    with pytest.raises(FileFactError, match="records without the column number"):
        hudi_log.record_keys(data, "number")
    assert tuple(hudi_log.deletes(deletes)) == ("5",)


def test_a_delete_has_a_value_of_each_ordering_field() -> None:
    (block,) = hudi_log.blocks(read("delete-two-fields-1.2.0"))
    assert hudi_log.deletes(block) == {"1": (194001, "f3s-6r1")}
    (one,) = hudi_log.blocks(read("delete-1.0.2"))
    assert [len(values) for values in hudi_log.deletes(one).values()] == [1]


def test_a_block_of_parquet_tells_the_same_as_one_of_avro() -> None:
    (block,) = hudi_log.blocks(read("parquet-1.0.2"))
    assert block.kind is BlockKind.PARQUET_DATA
    assert hudi_log.record_keys(block, "_hoodie_record_key") == ("1",)
    columns, rows = hudi_log.content(block)
    assert columns == tuple(name for name, _ in avro.columns(block.schema))
    assert [row[5:] for row in rows] == [("1", 2, "aa", "x")]
    with pytest.raises(FileFactError, match="records without the column number"):
        hudi_log.record_keys(block, "number")


def test_a_block_of_parquet_that_is_cut_off_is_an_error() -> None:
    (block,) = hudi_log.blocks(read("parquet-1.0.2"))
    with pytest.raises(FileFactError, match="block 20261125134808958: "):
        hudi_log.content(replace(block, content=block.content[:40]))


@pytest.mark.parametrize("length", [3, 20, 300, -1])
def test_a_file_that_is_cut_off_is_an_error(length: int) -> None:
    with pytest.raises(FileFactError, match="in the middle of a block"):
        list(hudi_log.blocks(read("update-1.0.2")[:length]))


UPDATE, DELETE = read("update-0.15.0"), read("delete-0.15.0")
LONGER = (len(DELETE) - 14 + 4).to_bytes(8, "big")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (DELETE + b"rubbish", "no block begins at byte 784"),
        (UPDATE[:18] + b"\0\0\0\4" + UPDATE[22:], "a block of type 4 is not read"),
        (UPDATE[:14] + b"\0\0\0\2" + UPDATE[18:], "log format version 2 is not known"),
        (DELETE[:6] + LONGER + DELETE[14:] + bytes(4), "do not agree"),
    ],
    ids=["rubbish", "another kind", "another version", "a length that does not fit"],
)
def test_bytes_that_are_not_understood_are_an_error_and_not_left_out(data: bytes, why: str) -> None:
    with pytest.raises(FileFactError, match=why):
        list(hudi_log.blocks(data))


def test_records_that_do_not_fit_the_schema_are_an_error() -> None:
    (block,) = hudi_log.blocks(read("update-0.15.0"))
    broken = hudi_log.LogBlock(block.kind, block.header, block.content[:-3] + b"\xff\xff\xff")
    with pytest.raises(FileFactError, match="does not fit its block's schema"):
        hudi_log.record_keys(broken, "_hoodie_record_key")


@pytest.mark.parametrize("partial", [False, True])
def test_a_block_of_partial_updates_says_so(*, partial: bool) -> None:
    (block,) = hudi_log.blocks(read("update-0.15.0"))
    header = {**block.header, **({hudi_log.IS_PARTIAL: "true"} if partial else {})}
    updates = hudi_log.LogBlock(block.kind, header, block.content)
    assert updates.partial is partial
    assert hudi_log.record_keys(updates, "id") == ("1",)
    assert hudi_log.content(updates) == hudi_log.content(block)


def test_content_of_another_version_is_an_error() -> None:
    (block,) = hudi_log.blocks(read("delete-0.15.0"))
    older = hudi_log.LogBlock(block.kind, block.header, b"\0\0\0\x01" + block.content[4:])
    with pytest.raises(FileFactError, match="DELETE content of version 1; 3 can be read"):
        tuple(hudi_log.deletes(older))
    (data,) = hudi_log.blocks(read("update-0.15.0"))
    newer = hudi_log.LogBlock(data.kind, data.header, b"\0\0\0\x04" + data.content[4:])
    with pytest.raises(FileFactError, match="AVRO_DATA content of version 4; 1, 2, 3 can be read"):
        hudi_log.content(newer)


@pytest.mark.parametrize(
    ("version", "f1_to_f3"),
    [
        ("0.10.0", ("f5s4r1", "f3s4r1", "f4s4r1")),  # it had put the new column last
        ("0.12.0", ("f3s4r1", "f4s4r1", "f5s4r1")),
    ],
)
def test_records_of_older_content_versions_are_laid_out_the_same(
    version: str, f1_to_f3: tuple[str, ...]
) -> None:
    (block,) = hudi_log.blocks(read(f"update-{version}"))
    assert hudi_log.record_keys(block, "_hoodie_record_key") == ("id:1",)
    columns, rows = hudi_log.content(block)
    row = dict(zip(columns, rows[0], strict=True))
    assert (row["id"], row["ts"]) == ("1", 204001)
    assert (row["f1"], row["f2"], row["f3"]) == f1_to_f3
