import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.formats.api import FileFactError
from harness.formats.hudi import files as hudi_files
from harness.formats.hudi import log as hudi_log
from harness.model.file_facts import FileFact, FileKind

REAL = Path(__file__).parent / "hudi_logs"


def complete(folder: Path, *instants: str, action: str = "commit") -> None:
    (folder / ".hoodie").mkdir(exist_ok=True)
    for instant in instants:
        (folder / ".hoodie" / f"{instant}.{action}").touch()


def base(folder: Path, name: str, *keys: str) -> None:
    folder.mkdir(exist_ok=True)
    table = pa.table(
        {
            "_hoodie_record_key": pa.array(keys, pa.string()),
            "id": pa.array(keys, pa.string()),
            "n": pa.array([1] * len(keys), pa.int64()),
        }
    )
    pq.write_table(table, folder / name)


def log(folder: Path, name: str, real: str) -> str:
    """Put a real log file there; give its instant, which is completed."""
    data = (REAL / f"{real}.log").read_bytes()
    (folder / name).write_bytes(data)
    (block,) = hudi_log.blocks(data)
    complete(folder, block.instant, action="deltacommit")
    return block.instant


def test_a_base_file_tells_group_and_instant_by_its_name_and_columns_and_keys_by_its_footer(
    tmp_path: Path,
) -> None:
    complete(tmp_path, "100")
    base(tmp_path, "aa-0_0-13-16_100.parquet", "1", "2")
    (fact,) = hudi_files.facts(tmp_path, "id")
    assert fact == FileFact(
        path="aa-0_0-13-16_100.parquet",
        kind=FileKind.BASE,
        file_group="aa-0",
        instant="100",
        columns=(("_hoodie_record_key", "string"), ("id", "string"), ("n", "int64")),
        keys=("1", "2"),
    )


def test_files_of_writes_that_were_archived_count_though_older_cleanings_were_not(
    tmp_path: Path,
) -> None:
    complete(tmp_path, "100", action="clean")
    complete(tmp_path, "300", action="commit")
    complete(tmp_path, "250", action="commit.requested")
    for instant in ("200", "250", "300", "400"):
        base(tmp_path, f"aa-0_0-1-1_{instant}.parquet", "1")
    assert [fact.instant for fact in hudi_files.facts(tmp_path, "id")] == ["200", "300"]


def test_files_in_partition_folders_are_found_by_their_path(tmp_path: Path) -> None:
    complete(tmp_path, "100")
    base(tmp_path / "p=a", "aa-0_0-1-1_100.parquet", "1")
    (tmp_path / "p=a" / ".hoodie_partition_metadata").touch()
    (tmp_path / "p=a" / ".aa-0_0-1-1_100.parquet.crc").touch()
    assert [fact.path for fact in hudi_files.facts(tmp_path, "id")] == [
        "p=a/aa-0_0-1-1_100.parquet"
    ]


@pytest.mark.parametrize(
    ("real", "keys", "deleted"), [("update-0.15.0", ("1",), ()), ("delete-1.0.2", (), ("3",))]
)
def test_a_log_file_gives_a_fact_for_its_block_with_the_instant_of_the_block(
    tmp_path: Path, real: str, keys: tuple[str, ...], deleted: tuple[str, ...]
) -> None:
    instant = log(tmp_path, ".aa-0_100.log.1_0-184-182", real)
    (fact,) = hudi_files.facts(tmp_path, "id")
    assert (fact.kind, fact.file_group, fact.instant) == (FileKind.LOG, "aa-0", instant)
    assert (fact.keys, fact.deleted) == (keys, deleted)


def test_blocks_of_writes_that_were_not_completed_and_files_of_changes_are_left_out(
    tmp_path: Path,
) -> None:
    instant = log(tmp_path, ".aa-0_100.log.1_0-184-182", "update-0.15.0")
    (tmp_path / ".hoodie" / f"{instant}.deltacommit").unlink()
    complete(tmp_path, "1")
    (tmp_path / ".aa-0_100.log.1_0-1-1.cdc").touch()
    assert hudi_files.facts(tmp_path, "id") == ()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (".aa-0_100.log.1_0-1-1", "the file ends at byte 8"),
        ("aa-0_0-1-1_100.parquet", ""),
        ("aa-0_0-1-1_100.orc", "neither a base file nor a log file"),
    ],
)
def test_a_file_that_is_not_understood_is_an_error_that_names_it(
    tmp_path: Path, name: str, why: str
) -> None:
    complete(tmp_path, "100")
    (tmp_path / name).write_bytes(b"#HUDI#\0\0")
    with pytest.raises(FileFactError, match=f"{re.escape(name)}.*{why}"):
        hudi_files.facts(tmp_path, "id")


def test_files_of_file_groups_that_others_took_the_place_of_are_left_out(tmp_path: Path) -> None:
    instant = log(tmp_path, ".aa-0_100.log.1_0-1-1", "update-0.15.0")
    log(tmp_path, ".bb-0_100.log.1_0-1-1", "update-0.15.0")
    complete(tmp_path, "100")
    for group in ("aa-0", "bb-0"):
        base(tmp_path, f"{group}_0-1-1_100.parquet", "1")
    record = json.dumps({"partitionToReplaceFileIds": {"": ["aa-0"]}})
    (tmp_path / ".hoodie" / "300.replacecommit").write_text(record)
    facts = hudi_files.facts(tmp_path, "id")
    assert {(file_fact.file_group, file_fact.instant) for file_fact in facts} == {
        ("bb-0", "100"),
        ("bb-0", instant),
    }
    (tmp_path / ".hoodie" / "300.replacecommit").rename(tmp_path / ".hoodie" / "300.inflight")
    assert {fact.file_group for fact in hudi_files.facts(tmp_path, "id")} == {"aa-0", "bb-0"}


@pytest.mark.parametrize(("named", "instants"), [("100", ["100", "200"]), ("200", [])])
def test_a_block_in_a_log_file_of_an_older_slice_is_none_of_the_table(
    tmp_path: Path, named: str, instants: list[str]
) -> None:
    written = log(tmp_path, f".aa-0_{named}.log.1_0-1-1", "update-0.15.0")
    for instant in ("100", "200"):
        complete(tmp_path, instant)
        base(tmp_path, f"aa-0_0-1-1_{instant}.parquet", "1")
    seen = [fact.instant for fact in hudi_files.facts(tmp_path, "id")]
    assert sorted(seen) == (instants or ["100", "200", written])


def test_an_id_of_a_file_group_is_one_of_its_partition_alone(tmp_path: Path) -> None:
    complete(tmp_path, "100")
    for folder in ("p=a", "p=b"):
        (tmp_path / folder).mkdir()
        base(tmp_path / folder, "00-0_0-1-1_100.parquet", "1")
    facts = hudi_files.facts(tmp_path, "id")
    assert [fact.file_group for fact in facts] == ["p=a/00-0", "p=b/00-0"]
    assert hudi_files.superseded(facts) == 0
    record = json.dumps({"partitionToReplaceFileIds": {"p=b": ["00-0"]}})
    (tmp_path / ".hoodie" / "300.replacecommit").write_text(record)
    assert hudi_files.facts(tmp_path, "id") == facts[:1]


def test_without_meta_columns_keys_come_from_the_key_column(tmp_path: Path) -> None:
    complete(tmp_path, "100")
    (tmp_path / ".hoodie" / "hoodie.properties").write_text("hoodie.populate.meta.fields=false\n")
    pq.write_table(pa.table({"number": pa.array([7, 8])}), tmp_path / "aa-0_0-1-1_100.parquet")
    (fact,) = hudi_files.facts(tmp_path, "number")
    assert fact.keys == ("7", "8")
    (tmp_path / ".hoodie" / "hoodie.properties").unlink()
    with pytest.raises(FileFactError, match="no column _hoodie_record_key"):
        hudi_files.facts(tmp_path, "number")


def fact(kind: FileKind, group: str, instant: str) -> FileFact:
    return FileFact(f"{group}{instant}", kind, group, instant, ())


def test_log_blocks_wait_for_compaction_until_a_newer_base_file_of_their_group_is_there() -> None:
    logs = (fact(FileKind.LOG, "a", "200"), fact(FileKind.LOG, "b", "200"))
    older = fact(FileKind.BASE, "a", "100")
    assert hudi_files.uncompacted((*logs, older)) == 2
    assert hudi_files.uncompacted((*logs, older, fact(FileKind.BASE, "a", "300"))) == 1
    assert hudi_files.uncompacted((older,)) == 0


def test_base_files_are_superseded_by_newer_ones_of_their_group() -> None:
    bases = [fact(FileKind.BASE, group, at) for group, at in (("a", "1"), ("a", "2"), ("b", "1"))]
    assert hudi_files.superseded((*bases, fact(FileKind.LOG, "b", "2"))) == 1
