"""`tools/second_opinion.py` compares tables on its own, and says where they differ."""

import json
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.model.datatypes import parse_type
from harness.model.schema import Table
from harness.model.truth import Generation, Row, begin
from tools import second_opinion, second_opinion_reader
from tools.second_opinion import Disagreement, Opinion

TABLE = Table((("id", parse_type("string")), ("n", parse_type("int"))), "id")
EMPTY = begin(TABLE, Generation({}, {}, {}), merge_on_read=False)
ROWS = {key: Row(key, {1: key, 2: at}, {}, (0, ())) for at, key in enumerate("ab")}
TRUTH = replace(EMPTY, rows=ROWS)
SAME = Opinion("v", 1, "r", None, (("id", "string"), ("n", "int")), (("b", 1), ("a", 0)))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"rows": (("a", 0),)}, [Disagreement("row missing", "", '"b"')]),
        ({"rows": (*SAME.rows, ("c", 0))}, [Disagreement("row not expected", "", '"c"')]),
        ({"rows": (*SAME.rows, ("a", 0))}, [Disagreement("row twice", "", '"a"')]),
        ({"rows": (("a", 0), ("b", True))}, [Disagreement("value", "n", '"b"', "1", "true")]),
        (
            {"columns": (("id", "string"), ("n", "long"))},
            [Disagreement("type", "n", "", "int", "long")],
        ),
        (
            {"columns": (("id", "string"), ("m", "int"))},
            [Disagreement("column missing", "n"), Disagreement("column not expected", "m")],
        ),
        (
            {"columns": (("n", "int"), ("id", "string")), "rows": ((0, "a"), (1, "b"))},
            [Disagreement("order of columns", "", "", '["id", "n"]', '["n", "id"]')],
        ),
    ],
)
def test_each_difference_is_found_and_named(
    change: Mapping[str, tuple[tuple[str, object], ...]], expected: list[Disagreement]
) -> None:
    assert list(second_opinion.differences(replace(SAME, **change), TRUTH)) == expected  # type: ignore[arg-type]


def test_a_column_that_files_do_not_have_is_null_in_them() -> None:
    files = replace(SAME, reader="pyarrow", columns=(("id", "string"),), rows=(("a",), ("b",)))
    assert list(second_opinion.differences(files, TRUTH)) == [
        Disagreement("value", "n", '"a"', "0", "null"),
        Disagreement("value", "n", '"b"', "1", "null"),
    ]


def test_plain_files_are_read_each_by_its_own_columns_and_folder(tmp_path: Path) -> None:
    table = tmp_path / "table"
    for at, content in enumerate(({"id": ["a"], "n": [1]}, {"id": ["b"]})):
        (table / f"p={at}").mkdir(parents=True)
        pq.write_table(pa.table(content), table / f"p={at}" / "f.parquet")
    question = {
        "reader": "pyarrow", "folder": str(table), "home": "", "metadata": "parquet", "past": ""
    }  # fmt: skip
    questions, answers = tmp_path / "questions.json", tmp_path / "answers"
    questions.write_text(json.dumps([question, question | {"folder": "/nowhere"}]))
    answers.mkdir()
    path = list(sys.path)
    second_opinion_reader.main(sysconfig.get_path("purelib"), str(questions), str(answers))
    sys.path[:] = path
    read = second_opinion._read(replace(SAME, reader="pyarrow"), answers / "0.arrow")
    assert sorted(read.columns) == [("id", "string"), ("n", "long"), ("p", "int")]
    assert {dict(zip(dict(read.columns), row, strict=True))["id"] for row in read.rows} == {
        "a",
        "b",
    }
    assert (answers / "1.error").read_text().startswith("FileNotFoundError")


def test_every_reason_says_why_and_where_from() -> None:
    known = second_opinion.explanations()
    assert {one.reader for one in known} <= {*second_opinion.DISTRIBUTIONS}
    assert all(one.why and one.source and bool(one.kind) is not bool(one.error) for one in known)
