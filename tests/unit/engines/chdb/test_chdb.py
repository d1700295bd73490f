"""What chDB is asked for a question, and what is made of its answer."""

from __future__ import annotations

import json
import re
import sys
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.engines.api import PointInTime, Question
from harness.engines.chdb import answers, engine
from harness.formats import facts
from harness.formats.iceberg import table as iceberg_table
from harness.model.query import ALL, Comparison, Condition, Query

TABLE = '"d"."t"'


def question(query: Query, past: PointInTime | None = None, family: str = "iceberg") -> Question:
    return Question("d", "t", facts(family), query, past)


def equal(text: str, type_: str) -> Query:
    return Query(where=Condition("n", Comparison.EQUAL, text, type_))


@pytest.mark.parametrize(
    ("query", "where"),
    [
        (equal("1500-01-01", "date"), "toDate32('1500-01-01')"),
        (
            equal("9999-12-31 00:00:00.5", "timestamp"),
            "toDateTime64('9999-12-31 00:00:00.5', 6, 'UTC')",
        ),
        (equal("a\\b'c", "string"), "'a\\\\b''c'"),
        (equal("1.5", "float"), "cast('1.5' as real)"),
    ],
)
def test_values_are_written_so_that_clickhouse_takes_them_as_they_are(
    query: Query, where: str
) -> None:
    asked = engine.statement(question(query), {})
    assert asked == f'select * from {TABLE} where "n" = {where}'


def test_nan_is_asked_by_a_function_for_it_does_not_equal_itself() -> None:
    asked = engine.statement(question(Query(where=Condition("n", Comparison.NAN))), {})
    assert asked.endswith('where isNaN("n")')


@pytest.mark.parametrize(
    ("family", "setting"),
    [("iceberg", "iceberg_snapshot_id"), ("delta", "delta_lake_snapshot_version")],
)
def test_the_past_is_a_setting_of_the_query(family: str, setting: str) -> None:
    asked = engine.statement(question(ALL, PointInTime("as_of", "7"), family), {})
    assert asked == f"select * from {TABLE} settings {setting} = 7"


def entry(location: str, **parameters: str) -> SimpleNamespace:
    storage = SimpleNamespace(location=f"file:{location}", serdeInfo=SimpleNamespace(parameters={}))
    return SimpleNamespace(parameters=parameters, sd=storage, partitionKeys=[])


@pytest.mark.parametrize(
    ("file", "pattern"),
    [("000000_0", "/**/*"), ("part-1.parquet", "/**/*.parquet"), ("_x", "/**/*.parquet")],
)
def test_of_a_folder_the_data_files_are_read_whatever_they_are_called(
    file: str, pattern: str, tmp_path: Path
) -> None:
    for name in (file, ".part-1.parquet.crc", "_SUCCESS"):
        (tmp_path / name).touch()
    described = engine.describe("d", "t", entry(str(tmp_path)), None)
    assert (described["name"], described["metadata"]) == (TABLE, "")
    assert described["source"] == f"file('{tmp_path}{pattern}', 'Parquet')"


def test_an_iceberg_table_is_its_folder_with_the_metadata_file_that_counts() -> None:
    pointer = "file:/w/it's/metadata/2.metadata.json"
    described = engine.describe("d", "t", entry("/w", metadata_location=pointer), None)
    assert described["source"] == (
        "icebergLocal('/w/it''s', settings iceberg_metadata_file_path = 'metadata/2.metadata.json')"
    )


def test_a_delta_table_is_its_folder(tmp_path: Path) -> None:
    (tmp_path / "_delta_log").mkdir()
    described = engine.describe("d", "t", entry(str(tmp_path)), None)
    assert described["source"] == f"deltaLakeLocal('{tmp_path}')"


class SimulatedChdb:
    """Answers with one table, and keeps the SQL."""

    def __init__(self, table: pa.Table) -> None:
        self.table, self.asked = table, ""
        self.dropped: list[str] = []

    def connect(self) -> SimulatedChdb:
        return self

    def query(self, sql: str, kind: str) -> pa.Table:
        if kind == "ArrowTable":
            self.asked = sql
        else:
            self.dropped.append(sql)
        return self.table


@pytest.fixture
def chdb(monkeypatch: pytest.MonkeyPatch) -> SimulatedChdb:
    shape = pa.struct([("a", pa.binary()), ("n", pa.int64())])
    simulated = SimulatedChdb(
        pa.table(
            {
                "text": pa.array(["é".encode(), None], pa.binary()),
                "bytes": pa.array([b"\xff", b"a"], pa.binary()),
                "list": pa.array([[b"a"], [b"b"]], pa.list_(pa.binary())),
                "map": pa.array([[(b"k", 1)], []], pa.map_(pa.binary(), pa.int32())),
                "struct": pa.array([{"a": b"x", "n": 1}, {"a": b"\xfe", "n": 2}], shape),
            }
        )
    )
    monkeypatch.setitem(sys.modules, "chdb", simulated)
    answers.connection.cache_clear()
    monkeypatch.setattr("os.chdir", lambda _: None)
    return simulated


@pytest.mark.parametrize("past", [None, PointInTime("as_of", "7")])
def test_the_table_stands_where_its_name_was_and_nothing_outlives_the_answer(
    chdb: SimulatedChdb, past: PointInTime | None
) -> None:
    statement = engine.statement(question(Query(count=True), past), {})
    tables = [{"name": TABLE, "source": "icebergLocal('/w', settings a = 'b')"}]
    answers.ask({"statement": statement, "tables": tables})
    begin, _, settings = chdb.asked.rpartition(" settings ")
    assert begin.startswith("select count(*) from icebergLocal('/w', settings a = 'b')")
    off = "use_parquet_metadata_cache = 0"
    assert off in settings.split(", ")
    assert chdb.dropped[0] == "system drop parquet metadata cache"
    assert ("iceberg_snapshot_id = 7" in settings) == (past is not None)


def test_what_is_text_is_text_and_what_is_none_stays_bytes(chdb: SimulatedChdb) -> None:
    answer = answers.ask({"statement": "select 1", "tables": []})
    assert answer.schema.field("text").type == pa.string()
    assert answer["text"].to_pylist() == ["é", None]
    assert answer["bytes"].to_pylist() == [b"\xff", b"a"]
    assert answer["list"].to_pylist() == [["a"], ["b"]]
    assert answer["map"].to_pylist() == [[("k", 1)], []]
    assert answer["struct"].to_pylist()[1] == {"a": b"\xfe", "n": 2}
    assert chdb.asked


@dataclass
class Writing:
    """Commits as ClickHouse does, which wants to know the file of now by a name of its own."""

    folder: Path
    problem: str = ""
    sql: str = ""
    sent: list[dict[str, object]] = field(default_factory=list)

    def connect(self) -> Writing:
        return self

    def query(self, sql: str, _: str) -> None:
        self.sql, number = sql, int((self.folder / "version-hint.text").read_text())
        (sent,) = re.findall(r"from file\('(.*)', 'Parquet'\)", sql)
        self.sent = pq.read_table(sent).to_pylist()
        before = (self.folder / f"v{number}.metadata.json").read_text()
        if self.problem:
            raise RuntimeError(self.problem)
        (self.folder / f"v{number + 1}.metadata.json").write_text(before)


@pytest.mark.parametrize("problem", ["", "Code: 36. DB::Exception: no such column"])
def test_a_write_leaves_one_more_metadata_file_that_is_called_as_the_others(
    problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "metadata"
    folder.mkdir()
    now = folder / f"00007-{'0' * 8}-aaaa-bbbb-cccc-{'0' * 12}.metadata.json"
    now.write_text(json.dumps({"location": f"file:{tmp_path}"}))
    chdb = Writing(folder, problem)
    monkeypatch.setitem(sys.modules, "chdb", chdb)
    monkeypatch.setattr("os.chdir", lambda _: None)
    answers.connection.cache_clear()
    table = answers.writable({"metadata": f"file:{now}"})
    with pytest.raises(RuntimeError, match=problem) if problem else nullcontext():
        table.insert(pa.table({"id": ["1"]}))
    made = {path.name: path.read_text() for path in folder.iterdir() if path != now}
    assert list(made.values()) == ([] if problem else [f'{{"location": "file://{tmp_path}"}}'])
    named = Path(table.metadata_location.removeprefix("file:"))
    assert named == now if problem else named.name in made
    assert problem or iceberg_table.NAME.fullmatch(named.name)["number"] == "00008"  # type: ignore[index]
    assert chdb.sent == [{"id": "1"}]
    assert list(tmp_path.parent.glob("*.parquet")) == []
    assert f"icebergLocal('{tmp_path}', settings iceberg_use_version_hint = 1)" in chdb.sql


def test_an_error_has_the_name_that_clickhouse_gives_it() -> None:
    refused = engine.refusal("RuntimeError", "something else")
    assert (refused.kind, refused.message) == ("RuntimeError", "something else")
