"""`tools/measure/adjudicate.py` counts readers known to be right, and lists what they got wrong."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from tests.builders import sample_run


@pytest.fixture
def adjudicate() -> ModuleType:
    return importlib.import_module("tools.measure.adjudicate")


def test_until_the_first_schema_change_every_reader_counts(
    adjudicate: ModuleType, tmp_path: Path
) -> None:
    found = sample_run.make(tmp_path)
    early = [
        verdict
        for verdict in found.verdicts
        if not any(
            step.changes_schema and step.number <= verdict.step
            for step in found.variants[verdict.variant].steps
        )
    ]
    assert early
    head, _, *groups = adjudicate.good([found])
    assert head.startswith("| known to be right | correct | wrong |")
    line = next(each for each in groups if each.startswith("| before any schema change |"))
    assert sum(int(each) for each in line.split("|")[2:-1]) == len(early)


def test_what_is_not_correct_among_them_is_listed_by_its_case(
    adjudicate: ModuleType, tmp_path: Path
) -> None:
    found = sample_run.make(tmp_path)
    listed = [each for each in adjudicate.good([found]) if not each.startswith("|")]
    named = {verdict.case: verdict.verdict for verdict in found.verdicts}
    assert listed
    for each in listed:
        kind, _, rest = each.partition(": ")
        assert kind != "correct"
        assert named[rest.rpartition(" (")[0]] == kind


def test_base_files_are_shown_by_their_content_whatever_they_are_called(
    adjudicate: ModuleType, tmp_path: Path
) -> None:
    table = pa.table({"id": ["a"], "f1": [1]})
    orc.write_table(table, tmp_path / "part-00000")
    pq.write_table(table, tmp_path / "part-00001")
    schema = {"type": "record", "name": "r", "fields": [{"name": "id", "type": "string"}]}
    with (tmp_path / "part-00002").open("wb") as file:
        fastavro.writer(file, schema, [{"id": "b"}])
    (tmp_path / "x.log").write_text("log")
    lines = list(adjudicate.files(tmp_path))
    assert [each for each in lines if each.startswith("--")] == [
        f"-- {name} ({(tmp_path / name).stat().st_size} bytes)"
        for name in ("part-00000", "part-00001", "part-00002", "x.log")
    ]
    assert lines.count('   ["a", 1]') == lines.count("   id: string, f1: int64") == 2
    assert '   {"id": "b"}' in lines


def test_a_folder_that_is_there_is_not_written_into(
    adjudicate: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = sample_run.make(tmp_path / "run")
    monkeypatch.setattr(adjudicate.load_run, "load", lambda _: found)
    monkeypatch.setattr("sys.argv", ["adjudicate.py", "sample", "run", str(tmp_path)])
    with pytest.raises(SystemExit):
        adjudicate.main()
    assert "is there already; name a folder that is not" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("reader", "format_", "counts"),
    [
        ("spark-3.5.8-hudi-1.0.2{schema-on-read=on}", "hudi-mor", True),
        ("spark-3.5.8-hudi-1.0.2{schema-on-read=off}", "hudi-mor", False),
        ("spark-3.5.8-hudi-1.0.2{schema-on-read=on}", "hive-parquet", False),
        ("hive-3.1.3{path=fetch, schema-on-read=on}", "hudi-mor", False),
        ("trino-476", "iceberg", True),
    ],
)
def test_after_a_schema_change_few_readers_are_known_to_be_right(
    adjudicate: ModuleType, tmp_path: Path, reader: str, format_: str, *, counts: bool
) -> None:
    found = sample_run.make(tmp_path)
    cell = replace(found.info.cells[0], reader=reader, step=3)
    assert any(adjudicate.groups(cell, format_, 1)) is counts


def test_no_reader_has_to_be_right_where_folders_and_files_differ(
    adjudicate: ModuleType, tmp_path: Path
) -> None:
    cell = replace(sample_run.make(tmp_path).info.cells[0], step=0)
    assert any(adjudicate.groups(cell, "hudi-cow", 1))
    for scenario in ("hudi/partition_values", "hudi/committed_then_failed"):
        there = replace(cell, variant=f"{scenario}[hudi-cow]@spark-3.5.8-hudi-0.15.0")
        assert not any(adjudicate.groups(there, "hudi-cow", 1))
