import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.formats.files.table_folder import UnreadableError, at
from harness.usage import delta_table
from harness.usage.usage_file import Fact, UsedFormat, UsedTable
from tests.builders.table_folders import entry, parquet, short

Action = dict[str, Any]
PROTOCOL: Action = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}


def metadata(*columns: tuple[str, Any], ids: Sequence[int] = (), **settings: str) -> Action:
    fields = [
        {
            "name": name,
            "type": type_,
            "nullable": True,
            "metadata": {"delta.columnMapping.id": ids[at_]} if ids else {},
        }
        for at_, (name, type_) in enumerate(columns)
    ]
    properties = {name.replace("_", "."): value for name, value in settings.items()}
    schema = json.dumps({"type": "struct", "fields": fields})
    return {
        "metaData": {"schemaString": schema, "partitionColumns": [], "configuration": properties}
    }


def added(path: str, **more: object) -> Action:
    return {"add": {"path": path, "modificationTime": 1, **more}}


def removed(path: str) -> Action:
    return {"remove": {"path": path}}


def read(folder: Path, *commits: Sequence[Action], first: int = 0) -> UsedTable:
    log = folder / "_delta_log"
    log.mkdir(exist_ok=True)
    for number, actions in enumerate(commits, start=first):
        text = "".join(f"{json.dumps(action)}\n" for action in actions)
        (log / f"{number:020}.json").write_text(text)
    return delta_table.read(at(str(folder)), entry({}, UsedFormat.DELTA))


START = [PROTOCOL, metadata(("id", "string")), added("a")]
WIDER = metadata(("id", "string"), ("f1", "integer"))


def test_a_file_from_before_a_change_is_old_until_it_is_removed(tmp_path: Path) -> None:
    facts = read(tmp_path, START, [WIDER, added("b")])
    assert short(facts.schema_changes) == ["add f1 end yes"]
    assert (facts.table_version, facts.unknown) == ("1/2", ())
    facts = read(tmp_path, START, [WIDER, added("b")], [removed("a")])
    assert short(facts.schema_changes) == ["add f1 end no"]


def test_a_file_that_is_added_again_is_as_old_as_it_was(tmp_path: Path) -> None:
    again = added("a", deletionVector={"storageType": "u", "pathOrInlineDv": "x"})
    facts = read(tmp_path, START, [WIDER], [again, removed("a")])
    assert short(facts.schema_changes) == ["add f1 end yes"]
    assert facts.features == ("deletion-vectors",)


def test_column_mapping_tells_a_rename_by_ids(tmp_path: Path) -> None:
    first = metadata(("id", "string"), ("f1", "integer"))
    mapped = metadata(
        ("id", "string"), ("f1", "integer"), ids=(1, 2), delta_columnMapping_mode="name"
    )
    renamed = metadata(
        ("id", "string"), ("g", "integer"), ids=(1, 2), delta_columnMapping_mode="name"
    )
    protocol: Action = {"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}}
    facts = read(tmp_path, [PROTOCOL, first, added("a")], [protocol, mapped], [renamed])
    assert short(facts.schema_changes) == ["rename f1 g yes"]
    assert facts.features == ("column-mapping-by-name",)


def test_parts_of_columns_are_compared(tmp_path: Path) -> None:
    def nested(name: str) -> Action:
        inner = {"type": "struct", "fields": [{"name": name, "type": "integer", "metadata": {}}]}
        value = {"type": "array", "elementType": inner, "containsNull": True}
        return metadata(("m", {"type": "map", "keyType": "string", "valueType": value}))

    facts = read(tmp_path, [PROTOCOL, nested("a")], [nested("b")])
    paths = [schema_change.column for schema_change in facts.schema_changes]
    assert paths == ["m.value.element.a", "m.value.element.b"]


def test_features_of_the_protocol_and_writers_are_reported(tmp_path: Path) -> None:
    protocol = {
        "protocol": {
            "minReaderVersion": 3,
            "minWriterVersion": 7,
            "readerFeatures": ["deletionVectors"],
            "writerFeatures": ["deletionVectors", "appendOnly"],
        }
    }
    info = {"commitInfo": {"engineInfo": "Apache-Spark/3.5.8 Delta-Lake/3.3.0", "userName": "me"}}
    facts = read(tmp_path, [protocol, WIDER, info])
    assert facts.table_version == "3/7"
    assert facts.features == ("appendOnly", "deletionVectors")
    assert facts.writers == ("Apache-Spark/3.5.8 Delta-Lake/3.3.0",)


def checkpoint(folder: Path, version: int) -> None:
    path = folder / "_delta_log" / f"{version:020}.checkpoint.parquet"
    rows = {
        "protocol": [PROTOCOL["protocol"], None, None],
        "metaData": [None, {"schemaString": WIDER["metaData"]["schemaString"]}, None],
        "add": [None, None, {"path": "a", "size": 1}],
    }
    parquet(path, rows)


def test_a_checkpoint_stands_for_what_the_log_no_longer_has(tmp_path: Path) -> None:
    checkpoint(tmp_path, 10)
    wider = metadata(("id", "string"), ("f1", "integer"), ("f2", "string"))
    facts = read(tmp_path, [], [wider, added("b")], first=10)
    assert short(facts.schema_changes) == ["add f2 end yes"]
    assert facts.table_version == "1/2"
    assert facts.unknown == (Fact.SCHEMA_CHANGES,)


def test_without_a_checkpoint_that_can_be_read_little_is_known(tmp_path: Path) -> None:
    facts = read(tmp_path, [added("b")], first=10)
    assert set(facts.unknown) == set(Fact) - {Fact.FORMAT}


@pytest.mark.parametrize("text", ["{", "[]", '{"add": 7}'])
def test_a_log_that_cannot_be_understood_is_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / "_delta_log").mkdir()
    (tmp_path / "_delta_log" / f"{0:020}.json").write_text(text)
    with pytest.raises(UnreadableError, match="its log cannot be understood"):
        read(tmp_path)


def test_a_folder_without_a_log_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="there is no _delta_log"):
        delta_table.read(at(str(tmp_path)), entry({}, UsedFormat.DELTA))
