"""Answers beside a table, and rows in their form."""

import datetime
import json
from decimal import Decimal
from pathlib import Path

import pytest

from harness.audit import expected_answers
from harness.core.errors import UsageProblem
from harness.formats.files.column_parts import ARRAY, MAP, STRUCT, ColumnPart
from harness.model.canonical import MapValue

MOMENT = datetime.datetime(2024, 3, 20, 10)  # noqa: DTZ001 - canonical moments have no zone
COLUMNS = (
    ColumnPart(1, "id", "long"),
    ColumnPart(2, "at", "timestamptz"),
    ColumnPart(3, "local", "timestamp"),
    ColumnPart(4, "price", "decimal(9, 2)"),
    ColumnPart(5, "tags", MAP, (ColumnPart(6, "key", "string"), ColumnPart(7, "value", "double"))),
    ColumnPart(
        8, "parts", ARRAY, (ColumnPart(9, "element", STRUCT, (ColumnPart(10, "x", "binary"),)),)
    ),
)
ROW = (
    1,
    MOMENT,
    MOMENT,
    Decimal("1.50"),
    MapValue.of([("b", float("nan")), ("a", 2.0)]),
    ({"x": b"\x0f"}, None),
)


def made(folder: Path, **version: object) -> Path:
    answers = {
        "versions": [
            {
                "name": "current",
                "at": {"version": 3},
                "columns": [{"name": "a", "type": "long"}, {"name": "b", "type": "string"}],
                "rows": [[2, "y"], [1, "x"]],
            },
            {"name": "given", **version},
            {
                "name": "other",
                "columns": [{"name": "b", "type": "string"}],
                "rows_from": {"version": "current", "columns": ["b"], "null": ["b"]},
            },
        ]
    }
    (folder / "t.yaml").write_text("table: x/t\nformat: delta\n", encoding="utf-8")
    path = folder / f"t{expected_answers.ANSWERS}"
    path.write_text(json.dumps(answers), encoding="utf-8")
    return path


def test_values_are_written_in_the_form_of_answers() -> None:
    (text,) = expected_answers.row_texts(COLUMNS, [ROW], "iceberg")
    assert json.loads(text) == [
        1,
        "2024-03-20T10:00:00.000000+00:00",
        "2024-03-20T10:00:00.000000",
        "1.50",
        [["a", 2.0], ["b", "NaN"]],
        [{"x": "0f"}, None],
    ]


def test_the_order_of_rows_and_of_the_pairs_of_a_map_does_not_count(tmp_path: Path) -> None:
    columns = [{"name": "m", "type": "map<string, long>"}]
    rows = [[[["b", 1], ["a", 2]]], [[["a", 2], ["b", 1]]]]
    table = expected_answers.read(made(tmp_path, columns=columns, rows=rows))
    assert len(set(table.version("given").rows)) == 1


def test_rows_may_be_those_of_another_version(tmp_path: Path) -> None:
    table = expected_answers.read(made(tmp_path))
    assert table.version("current").rows == ('[1, "x"]', '[2, "y"]')
    assert table.version("other").rows == ("[null]", "[null]")
    assert table.version("current").past == "3"


def test_what_is_no_answer_of_a_table_is_named(tmp_path: Path) -> None:
    path = made(tmp_path)
    path.write_text('{"versions": [{"name": 1}, 2]}', encoding="utf-8")
    with pytest.raises(UsageProblem, match="json: these are no answers of a table"):
        expected_answers.read(path)
