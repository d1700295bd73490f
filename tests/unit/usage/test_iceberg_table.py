import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.formats.files.table_folder import UnreadableError, at
from harness.usage import iceberg_table
from harness.usage.catalog_table import CatalogTable
from harness.usage.usage_file import Fact, UsedFormat, UsedTable
from tests.builders.table_folders import avro, entry, short

MANIFESTS = {"manifest_path": "string", "content": "int", "min_sequence_number": "long"}


def schema(number: int, *fields: tuple[int, str, str]) -> Mapping[str, Any]:
    content = [{"id": id_, "name": name, "required": False, "type": t} for id_, name, t in fields]
    return {"schema-id": number, "type": "struct", "fields": content}


BEFORE = schema(0, (1, "id", "string"), (2, "f1", "int"))
AFTER = schema(1, (1, "id", "string"), (2, "g", "int"))


def snapshot(number: int, schema_id: int, **summary: str) -> Mapping[str, Any]:
    return {
        "snapshot-id": number,
        "sequence-number": number,
        "schema-id": schema_id,
        "summary": {"operation": "append", **{k.replace("_", "-"): v for k, v in summary.items()}},
    }


def metadata(*snapshots: Mapping[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    content = {
        "format-version": 2,
        "location": "s3a://somewhere/else",
        "schemas": [AFTER, BEFORE],
        "current-schema-id": 1,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "default-spec-id": 0,
        "snapshots": list(snapshots),
        "current-snapshot-id": snapshots[-1]["snapshot-id"] if snapshots else -1,
    }
    return content | {name.replace("_", "-"): value for name, value in more.items()}


def read(folder: Path, content: Mapping[str, Any], numbers: Sequence[int] = ()) -> UsedTable:
    (folder / "metadata").mkdir(exist_ok=True)
    for snapshot_ in content["snapshots"]:
        snapshot_["manifest-list"] = f"file:{folder}/metadata/list.avro"
    records = [
        {"manifest_path": "m", "content": 0, "min_sequence_number": number} for number in numbers
    ]
    records.append({"manifest_path": "deletes", "content": 1, "min_sequence_number": 0})
    (folder / "metadata" / "list.avro").write_bytes(avro(records, MANIFESTS))
    (folder / "metadata" / "v1.json").write_text(json.dumps(content))
    mine = located(f"file:{folder}", f"file:{folder}/metadata/v1.json")
    return iceberg_table.read(at(str(folder)), mine)


@pytest.mark.parametrize(
    ("oldest", "expected"), [([1, 2], "yes"), ([2], "no"), ([3], "no"), ([], "no")]
)
def test_the_list_of_manifests_tells_whether_old_files_are_there(
    tmp_path: Path, oldest: list[int], expected: str
) -> None:
    facts = read(tmp_path, metadata(snapshot(1, 0), snapshot(2, 1), snapshot(3, 1)), oldest)
    assert short(facts.schema_changes) == [f"rename f1 g {expected}"]
    assert (facts.format, facts.table_version, facts.unknown) == ("iceberg", "2", ())


@pytest.mark.parametrize(
    ("content", "oldest", "expected"),
    [
        (metadata(snapshot(1, 0)), 1, "yes"),  # nothing was written with the new schema
        (metadata(snapshot(9, 1)), 3, "unknown"),  # the snapshots between are gone
        (metadata(snapshot(1, 1)), 1, "unknown"),  # Nessie gives its one snapshot today's schema
        (metadata(snapshot(1, 0), format_version=1), 0, "unknown"),  # version 1 has no numbers
    ],
)
def test_where_it_cannot_be_seen_whether_files_are_old_nobody_knows(
    tmp_path: Path, content: Mapping[str, Any], oldest: int, expected: str
) -> None:
    facts = read(tmp_path, content, [oldest])
    assert short(facts.schema_changes) == [f"rename f1 g {expected}"]


def located(folder: Path | str, metadata: Path | str) -> CatalogTable:
    return replace(entry({}, UsedFormat.ICEBERG), location=str(folder), metadata=str(metadata))


def test_a_list_that_is_gone_leaves_old_files_open(tmp_path: Path) -> None:
    read(tmp_path, metadata(snapshot(1, 0)))
    (tmp_path / "metadata" / "list.avro").unlink()
    mine = located(tmp_path, tmp_path / "metadata" / "v1.json")
    facts = iceberg_table.read(at(str(tmp_path)), mine)
    assert short(facts.schema_changes) == ["rename f1 g unknown"]
    assert facts.unknown == (Fact.FEATURES,)


def test_schemas_that_are_gone_are_unknown(tmp_path: Path) -> None:
    facts = read(tmp_path, metadata(snapshot(1, 1), schemas=[AFTER]), [1])
    assert facts.unknown == (Fact.SCHEMA_CHANGES,)


def test_a_schema_that_is_used_again_is_a_change_back(tmp_path: Path) -> None:
    facts = read(tmp_path, metadata(snapshot(1, 0), current_schema_id=0), [1])
    assert short(facts.schema_changes)[-1].startswith("rename g f1")


def test_features_come_from_the_metadata_and_the_newest_summary(tmp_path: Path) -> None:
    parts = [{"source-id": 2, "field-id": 1000, "name": "b", "transform": "bucket[4]"}]
    newest = snapshot(2, 1, total_delete_files="2", total_position_deletes="2")
    newest["summary"]["engine-name"] = "trino"
    newest["summary"]["engine-version"] = "476"
    newest["summary"]["iceberg-version"] = "Apache Iceberg 1.10.1 (commit abc)"
    content = metadata(
        snapshot(1, 0),
        newest,
        partition_specs=[{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": parts}],
        default_spec_id=1,
        default_sort_order_id=1,
        properties={"write.delete.mode": "merge-on-read", "password": "secret"},
    )
    facts = read(tmp_path, content, [2])
    assert facts.partitioned
    assert list(facts.features) == [
        *("delete-files", "merge-on-read", "partition-by-bucket", "partition-evolution"),
        *("position-deletes", "sort-order"),
    ]
    assert facts.writers == ("Apache Iceberg 1.10.1", "trino 476")


def test_compressed_metadata_elsewhere_is_read(tmp_path: Path) -> None:
    content = json.dumps(metadata())
    (tmp_path / "v1.gz.metadata.json").write_bytes(gzip.compress(content.encode()))
    mine = located("/data", f"file:{tmp_path}/v1.gz.metadata.json")
    facts = iceberg_table.read(at("/data"), mine)
    assert short(facts.schema_changes) == ["rename f1 g no"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is not JSON"),
        ("[]", "cannot be understood"),
        ('{"format-version": 2, "schemas": [{}]}', "cannot be understood"),
    ],
)
def test_metadata_that_cannot_be_understood_is_reported(
    tmp_path: Path, text: str, why: str
) -> None:
    (tmp_path / "v1.json").write_text(text)
    with pytest.raises(UnreadableError, match=why):
        iceberg_table.read(at(str(tmp_path)), located(tmp_path, tmp_path / "v1.json"))


@pytest.mark.parametrize(("name", "why"), [("", "names no metadata file"), ("/x/v2.json", "gone")])
def test_metadata_that_is_not_there_is_reported(tmp_path: Path, name: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        iceberg_table.read(at(str(tmp_path)), located(tmp_path, name))


def test_a_column_with_a_value_in_older_rows_is_written_down(tmp_path: Path) -> None:
    part = {"id": 3, "name": "a", "type": "int", "required": False, "initial-default": 7}
    struct = {"id": 2, "name": "s", "required": False, "type": {"type": "struct", "fields": [part]}}
    given = {**AFTER, "fields": [*AFTER["fields"], struct]}
    facts = read(tmp_path, metadata(snapshot(1, 1), schemas=[BEFORE, given]), [1])
    assert "column-defaults" in facts.features
    dropped = metadata(snapshot(1, 1), schemas=[{**given, "schema-id": 0}, AFTER])
    assert "column-defaults" not in read(tmp_path, dropped, [1]).features
