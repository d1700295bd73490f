from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core import yaml_reader
from harness.core.errors import ScenarioProblem
from harness.core.yaml_reader import load_yaml
from harness.usage import usage_file
from harness.usage.usage_file import (
    AddedPlace,
    Fact,
    OldFiles,
    SchemaChange,
    Usage,
    UsedChange,
    UsedFormat,
    UsedTable,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
EXAMPLE = Usage(
    version=1,
    metastore="thrift://metastore:9083",
    scanned="2026-11-26 07:00:00",
    tables=(
        UsedTable("b.plain", UsedFormat.HIVE_PARQUET),
        UsedTable(
            "a.orders_ro",
            UsedFormat.HUDI_MOR,
            "read_optimized",
            "6",
            partitioned=True,
            features=("log-files",),
            schema_changes=(
                UsedChange(
                    SchemaChange.ADD, "f3", place=AddedPlace.END, old_files=OldFiles.YES, sure=False
                ),
            ),
        ),
    ),
)
TEXT = """\
version: 1
metastore: "thrift://metastore:9083"
scanned: "2026-11-26 07:00:00"
tables:
  - name: a.orders_ro
    format: hudi-mor
    view: read_optimized
    table_version: "6"
    partitioned: true
    features: [log-files]
    schema_changes:
      - {operation: add_column, column: f3, place: end, old_files: "yes", sure: false}
  - name: b.plain
    format: hive-parquet
"""


@settings(max_examples=25)
@given(TEXTS, TEXTS, st.lists(TEXTS, max_size=2).map(tuple))
def test_every_text_is_read_back_as_it_was_written(
    name: str, text: str, words: tuple[str, ...]
) -> None:
    table = replace(EXAMPLE.tables[1], name=name, view=text, table_version=text, features=words)
    changes = (replace(table.schema_changes[0], column=text, to=text),)
    table = replace(table, writers=words, schema_changes=changes, unknown=tuple(Fact))
    table = replace(table, why=text, unread=text)
    usage = Usage(1, text, text, (table,), databases=words, unlisted={name: text})
    assert load_yaml(Usage, usage_file.text(usage), "usage.yaml", "usage")[0] == usage


def test_a_file_is_for_people_and_has_tables_by_name(tmp_path: Path) -> None:
    text = usage_file.text(EXAMPLE)
    assert text == usage_file.HEAD + TEXT
    (tmp_path / "usage.yaml").write_text(text)
    assert set(usage_file.read(tmp_path / "usage.yaml").tables) == set(EXAMPLE.tables)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("version: 1", "version: 2", "1: version 2 is not read; allowed: 1; scan again"),
        ("hudi-mor", "hudy", "hudi-mor"),
        ("b.plain", "a.orders_ro", "'a.orders_ro' stands twice; give it once"),
        ("    format: hive-parquet\n", "", "'format' is missing"),
        ("features: [log-files]", "feature: [log-files]", "has no 'feature'; did you mean"),
        ("partitioned: true", "partitioned: 1", "allowed: true or false"),
        ("add_column", "insert", "rename_column"),
    ],
)
def test_a_file_that_somebody_changed_is_refused_with_the_line(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    file = tmp_path / "usage.yaml"
    file.write_text(TEXT.replace(old, new))
    with pytest.raises(ScenarioProblem) as refused:
        usage_file.read(file)
    assert problem in str(refused.value)
    assert str(refused.value).startswith(f"{file}:")


def test_a_file_of_many_tables_is_not_too_long(tmp_path: Path) -> None:
    many = tuple(UsedTable(f"d.{'x' * 9000}{n}", UsedFormat.VIEW) for n in range(30))
    text = usage_file.text(Usage(1, "", "", many))
    assert len(text) > yaml_reader.MAX_BYTES
    (tmp_path / "usage.yaml").write_text(text)
    assert len(usage_file.read(tmp_path / "usage.yaml").tables) == len(many)
