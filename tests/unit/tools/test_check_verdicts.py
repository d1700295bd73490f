"""`tools/check_verdicts.py` reads files and decides by its own rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from harness.core.records import Outcome, OutcomeKind, StateRecord, Witness
from harness.model.file_facts import FileFact, FileKind
from tools import check_verdicts
from tools.check_verdicts import READER, UNDECIDED, WRITER, CheckedVariant, FileRows, RowVersion

RECORDED = Path(__file__).parents[2] / "recorded"
APPLIED = Outcome(1, OutcomeKind.APPLIED, instant="i1")
STATE = StateRecord("v", APPLIED, "", catalog=("id", "a", "b", "p"), unlisted=("p=3",))
ROWS: list[dict[str, Any]] = [{"id": 1, "a": "x"}, {"id": 2, "a": None}]


def version(path: str = "p=1/f.parquet", **values: object) -> RowVersion:
    return RowVersion(1, FileFact(path, FileKind.BASE, path, "i1", ()), values)


@pytest.mark.parametrize("ending", ["parquet", "orc", "avro"])
def test_a_file_is_read_by_what_it_begins_with(tmp_path: Path, ending: str) -> None:
    path, content = tmp_path / "data", pa.Table.from_pylist(ROWS)
    if ending == "parquet":
        pq.write_table(content, path)
    elif ending == "orc":
        orc.write_table(content, path)
    else:
        fields = [{"name": "id", "type": "int"}, {"name": "a", "type": ["null", "string"]}]
        schema = fastavro.parse_schema({"type": "record", "name": "r", "fields": fields})
        with path.open("wb") as file:
            fastavro.writer(file, schema, ROWS)
    assert check_verdicts.read_file(path) == ROWS
    path.write_text("1,x")
    assert check_verdicts.read_file(path) is None


def test_the_newest_version_of_a_row_comes_from_the_files_of_the_table(tmp_path: Path) -> None:
    paths = ("p=1/old.parquet", "p=1/new.parquet", "deletes")
    for path, value in zip(paths, ("x", "y"), strict=False):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        pq.write_table(pa.Table.from_pylist([{"id": 1, "a": value}]), tmp_path / path)
    old, new = (
        FileFact(path, FileKind.BASE, "g", instant, (), ("1",))
        for path, instant in zip(paths, ("i1", "i2"), strict=False)
    )
    deletes = FileFact("deletes", FileKind.LOG, "g", "i3", (), deleted=("1",))
    states = [
        StateRecord("v", Outcome(at, OutcomeKind.APPLIED, instant=f"i{at}"), "", files=files)
        for at, files in enumerate(((old,), (old, new), (old, new, deletes)), 1)
    ]
    folders = dict.fromkeys((1, 2, 3), tmp_path)
    rows = FileRows(CheckedVariant("hudi-mor", "id", 4, tuple(states), (), folders))
    values = [[row.values for row in rows.newest(step, "snapshot", "1")] for step in (1, 2, 3)]
    assert values == [[{"p": "1", "id": 1, "a": "x"}], [{"p": "1", "id": 1, "a": "y"}], []]
    assert rows.newest(3, "read_optimized", "1") != []


@pytest.mark.parametrize(
    ("expected", "shown", "column", "values", "responsible"),
    [
        ("x", "y", "a", {"a": "x", "b": "y"}, READER),  # the reader shows another column
        ("x", None, "a_now", {"a": "x"}, WRITER),  # the catalog lists no such column
        ("x", None, "b", {"a": "x"}, READER),  # under its former name
        ("x", "y", "a", {"a": "y"}, WRITER),
        ("x", "z", "a", {"a": "y"}, UNDECIDED),
        (None, "y", "a", {"a": "y"}, UNDECIDED),
        (None, "y", "a", {"b": "y"}, READER),
        (1.5, 1, "a.c", {"a": {"c": 1.5}}, READER),
        ("", None, "p", {"p": ""}, WRITER),  # the folder's name says NULL
    ],
)
def test_the_newest_row_of_the_files_says_who_is_responsible_for_a_value(
    expected: Any,  # noqa: ANN401
    shown: Any,  # noqa: ANN401
    column: str,
    values: dict[str, object],
    responsible: str,
) -> None:
    path = "p=__HIVE_DEFAULT_PARTITION__/f" if column == "p" else "f"
    place = Witness("1", column, expected, shown)
    decided = check_verdicts.check_place("altered_value", place, [version(path, **values)], STATE)
    assert decided[0] == responsible


@pytest.mark.parametrize(
    ("kind", "versions", "responsible"),
    [
        ("lost_row", [version()], READER),
        ("lost_row", [], WRITER),
        ("lost_row", [version("p=3/f")], WRITER),  # a folder that the catalog does not list
        ("lost_row", [version("p=1/f", p="2")], WRITER),  # a folder of another name
        ("ghost_row", [version()], WRITER),
        ("ghost_row", [], READER),
        ("duplicate", [version()], READER),
        ("duplicate", [version(), version("p=2/g")], WRITER),
        ("altered_value", [], UNDECIDED),
    ],
)
def test_the_files_say_who_is_responsible_for_a_row(
    kind: str, versions: list[RowVersion], responsible: str
) -> None:
    place = Witness("1", "", None, None)
    assert check_verdicts.check_place(kind, place, versions, STATE)[0] == responsible


def test_a_recording_is_sampled_and_its_verdicts_agree() -> None:
    every = list(check_verdicts.variants(RECORDED / "plain_hive"))
    results = list(check_verdicts.sample(every, 5, seed=1))
    assert len(results) >= 10
    assert {result.agrees for result in results} <= {True, None}
    assert results == list(check_verdicts.sample(every, 5, seed=1))
    assert any("before any change" in line for line in check_verdicts.known_good(every))
