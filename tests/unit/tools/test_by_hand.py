"""Scripts of reproducers taken apart, and what clients print held against what they say."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import IO, Any, Final

import pytest

from tools.measure import by_hand_table

RESULTS: Final = Path(__file__).parents[3] / "docs" / "results" / "reproducers"
PUBLISHED: Final = sorted(RESULTS.glob("*/reproduce.sql"))
Script = Any
TEXT = """\
-- rename_column: missing_rename (by name)
-- ===== in Spark SQL: spark-3.5.8-hudi-0.15.0 =====
-- started with:
--   --conf spark.sql.catalogImplementation=hive
--   --conf spark.hadoop.hive.metastore.uris=thrift://METASTORE:9083
set hoodie.metadata.enable=false;
create database if not exists reproducer;
-- step 1: insert
insert into reproducer.t select '3' as `id`, 'reproducer' as `f1`;
create table reproducer.u (`id` string) location '/tmp/reproducer/t';

-- ===== the query: spark-3.5.8-hudi-1.0.2{schema-on-read=off} =====
set hoodie.schema.on.read.enable=false;
select * from `reproducer`.`t`;

-- expected:
--   id (string) | f1 (string)
--   3           | reproducer
-- seen:
--   id (string) | f1 (string)
--   3           | NULL
--   4           | a b
"""
PAST: Final = """\
-- MOMENT: when the write of step 2 was requested, in the table that you wrote.
--   The write of step 2 is number 2 of those completed, by the last time in their names:
select * from `reproducer`.`t` timestamp as of 'MOMENT';"""
NO_MOMENT: Final = "not asked, its moment is not in the table that was written"
ROWS: Final = "id\tf1\n4\ta b\n3\tNULL\n"


@pytest.fixture
def tool() -> ModuleType:
    return importlib.import_module("tools.measure.by_hand_script")


@pytest.fixture
def script(tool: ModuleType) -> Script:
    return tool.parse("one", TEXT)


def test_a_script_is_taken_apart(script: Script) -> None:
    (writing,) = script.writing
    assert writing.engine == "spark-3.5.8-hudi-0.15.0"
    assert writing.conf[0] == "spark.sql.catalogImplementation=hive"
    assert writing.statements[0] == "set hoodie.metadata.enable=false;"
    assert script.query.statements[-1] == "select * from `reproducer`.`t`;"
    assert len(script.query.seen) == 3


def test_each_script_gets_a_place_of_its_own_and_values_stay(
    tool: ModuleType, script: Script
) -> None:
    own = tool.placed(script, "mine_1", "/tables/1", "thrift://127.0.0.1:1")
    text = "\n".join(line for part in (*own.writing, own.query) if part for line in part.lines)
    assert "create database if not exists mine_1;" in text
    assert "insert into mine_1.t select '3' as `id`, 'reproducer' as `f1`;" in text
    assert "select * from `mine_1`.`t`;" in text
    assert "location '/tables/1'" in text
    assert "uris=thrift://127.0.0.1:1" in text
    assert own.location == "/tables/1"


@pytest.mark.parametrize(
    "printed",
    [
        "id\tf1\n4\ta b\n3\tNULL\n",
        "WARN: slow\nid\tf1\n3\tNULL\n4\ta b\nTime: 1 s\n",
        "null  nullt._hoodie_record_key\tt.id\tt.f1\n3\t3\tNULL\n4\t4\ta b\n",
    ],
)
def test_the_same_rows_are_alike(tool: ModuleType, script: Script, printed: str) -> None:
    assert tool.alike(script.query, f"hoodie.schema.on.read.enable\tfalse\n{printed}")


@pytest.mark.parametrize("printed", ["", "3\tNULL", "3\tx\n4\ta b", "3\tNULL\n4\ta b\n4\ta b"])
def test_other_rows_are_not(tool: ModuleType, script: Script, printed: str) -> None:
    assert not tool.alike(script.query, f"id\tf1\n{printed}\n")


def test_a_client_that_printed_nothing_is_not_one_that_found_no_rows(tool: ModuleType) -> None:
    start = TEXT.partition("-- expected:")[0]
    empty = tool.parse("one", f"{start}-- seen:\n--   id (string) | f1 (string)\n")
    assert tool.alike(empty.query, "id\tf1\n")
    assert not tool.alike(empty.query, "Error: it does not start\n")


def test_an_error_is_known_by_its_own_words(tool: ModuleType) -> None:
    start = TEXT.partition("-- expected:")[0]
    error = "NOT_SUPPORTED: Unsupported Trino column type (varchar) for Parquet column ([ts] INT64)"
    script = tool.parse("one", f"{start}-- seen:\n--   {error}\n")
    assert tool.alike(script.query, f"Query failed (#1): {error.partition(': ')[2]}")
    assert not tool.alike(script.query, "Query failed (#1): out of memory, said the engine")


def test_a_task_s_failure_is_known_by_its_cause(tool: ModuleType) -> None:
    lost = "SparkException: Job aborted: Lost task 0.0 in stage {0} (TID {1}) (localhost): "
    lost += "java.lang.NullPointerException: {2}"
    start = TEXT.partition("-- expected:")[0]
    seen = lost.format("27.0", 41, "Cannot load from double array")
    script = tool.parse("one", f"{start}-- seen:\n--   {seen}\n")
    assert tool.alike(script.query, lost.format("1.0", 1, "Cannot load from double array"))
    assert not tool.alike(script.query, lost.format("27.0", 41, "Cannot load from int array"))
    silent = tool.parse("one", f"{start}-- seen:\n--   {lost.partition('java')[0]}\n")
    assert not tool.alike(silent.query, "id\tf1\n")


@pytest.fixture
def clients(tool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Clients that print the rows; one whose file has `late` in its name does not end then."""

    def run(command: Sequence[str], *, stdout: IO[str], timeout: float, **_: object) -> None:
        stdout.write(ROWS)
        if "late" in Path(command[-1]).name:
            raise subprocess.TimeoutExpired(command, timeout)

    by_hand = importlib.import_module("tools.measure.by_hand")
    monkeypatch.setattr(by_hand.subprocess, "run", run)
    home = SimpleNamespace(jars=lambda _: (), java_home="java")
    monkeypatch.setattr(by_hand, "_installation", lambda _: home)
    return by_hand


def came(clients: ModuleType, folder: Path, *scripts: Script) -> dict[str, str]:
    with ExitStack() as stack:
        engines = clients.EngineClients("thrift://127.0.0.1:1", folder, stack)
        return {script.name: said for script, said in clients.results(engines, scripts)}


def test_a_client_that_does_not_end_is_that_scripts_result_whatever_it_printed(
    tool: ModuleType, clients: ModuleType, tmp_path: Path
) -> None:
    late, other = tool.parse("late", TEXT), tool.parse("other", TEXT)
    assert came(clients, tmp_path, late, other) == {
        "late": "did not end in 30 minutes",
        "other": "as it says",
    }


def test_a_client_of_trino_that_does_not_end_is_its_scripts_result_too(
    tool: ModuleType, clients: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients.EngineClients, "_port", lambda *_: 1)
    text = TEXT.replace("query: spark-3.5.8-hudi-1.0.2{schema-on-read=off}", "query: trino-476")
    late, other = tool.parse("late", text), tool.parse("other", text)
    assert came(clients, tmp_path, late, other) == {
        "late": "did not end in 30 minutes",
        "other": "as it says",
    }
    assert (tmp_path / "other.sql").read_text() == "select * from `reproducer`.`t`;\n"


def test_of_a_table_whose_writer_did_not_end_nobody_is_asked(
    tool: ModuleType, clients: ModuleType, tmp_path: Path
) -> None:
    by_other = TEXT.replace("Spark SQL: spark-3.5.8-hudi-0.15.0", "Spark SQL: a-late-writer")
    script, other = tool.parse("one", by_other), tool.parse("two", TEXT)
    found = came(clients, tmp_path, script, other)
    assert found == {"one": "its writer did not end in 30 minutes", "two": "as it says"}
    assert not (tmp_path / "one.sql").exists()


def test_a_moment_is_put_as_the_table_that_was_written_has_it(
    tool: ModuleType, clients: ModuleType, tmp_path: Path
) -> None:
    past = TEXT.replace("select * from `reproducer`.`t`;", PAST)
    timeline = tmp_path / "1" / ".hoodie"
    timeline.mkdir(parents=True)
    for name in ("20240101000000001.commit", "20240101000000002.commit"):
        (timeline / name).touch()
    scripts = [
        tool.placed(tool.parse(name, past), "mine", str(tmp_path / place), "thrift://127.0.0.1:1")
        for name, place in (("there", "1"), ("elsewhere", "2"))
    ]
    assert came(clients, tmp_path, *scripts) == {
        "there": "as it says",
        "elsewhere": "not asked, its moment is not in the table that was written",
    }
    told = (tmp_path / "there.sql").read_text()
    assert "select * from `mine`.`t` timestamp as of '20240101000000002';" in told
    assert not (tmp_path / "elsewhere.sql").exists()


@pytest.mark.parametrize("step", ["-- in PySpark:", "-- in Hive: alter table reproducer.t;"])
def test_a_script_with_a_step_that_is_no_sql_is_not_asked(
    tool: ModuleType, clients: ModuleType, tmp_path: Path, step: str
) -> None:
    frame = TEXT.replace("-- ===== the query", f"{step}\n\n-- ===== the query")
    found = came(clients, tmp_path, tool.parse("frame", frame), tool.parse("sql", TEXT))
    assert found == {"frame": "not asked, a step of its writer is no SQL", "sql": "as it says"}


def test_where_nothing_is_asked_there_is_no_result(
    tool: ModuleType, clients: ModuleType, tmp_path: Path
) -> None:
    written = tool.parse("one", TEXT.partition("-- ===== the query")[0])
    assert came(clients, tmp_path, written, tool.parse("two", TEXT)) == {"two": "as it says"}


@pytest.mark.parametrize(
    ("results", "status"),
    [
        (["as it says"], 0),
        (["as it says", "did not end in 30 minutes"], 1),
        (["as it says", "its writer did not end in 30 minutes"], 1),
        (["as it says", "OTHERWISE"], 1),
        (["as it says", NO_MOMENT], 1),
        ([NO_MOMENT], 1),
        ([], 1),
    ],
)
def test_the_status_tells_whether_all_was_as_the_scripts_say(
    tool: ModuleType,
    clients: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    results: list[str],
    status: int,
) -> None:
    script = tool.parse("one", TEXT)
    monkeypatch.setattr(clients, "found_in", lambda _: [script] * 3)
    monkeypatch.setattr(clients, "run", lambda *_: [(script, each) for each in results])
    monkeypatch.setattr(sys, "argv", ["by_hand.py", "reproducers", "folder"])
    assert clients.main() == status
    late = len([each for each in results if "not end" in each])
    left = 3 - len([each for each in results if each != NO_MOMENT])
    assert f"{late} not in time, {left} not asked" in capsys.readouterr().out


@pytest.mark.parametrize("path", PUBLISHED, ids=[each.parent.name for each in PUBLISHED])
def test_published_scripts_can_be_run(tool: ModuleType, path: Path) -> None:
    script = tool.parse(path.parent.name, path.read_text(encoding="utf-8"))
    assert script.query.seen
    own = tool.placed(script, "mine", "/tables", "thrift://127.0.0.1:1")
    told = (line for part in (*own.writing, own.query) if part for line in part.statements)
    assert not [line for line in told if "reproducer" in line]


def test_a_table_tells_of_each_script_what_came_of_it(
    tool: ModuleType,
) -> None:
    head = "-- move | x: stale (by id), trino{x=true}, hudi-cow.\n-- seen: lost row. 2\n"
    head += "-- seen: stale. row [1]\n"
    one, other = (tool.parse(name, f"{head}--\n{TEXT}") for name in ("one", "other"))
    found = list(by_hand_table.lines([(other, "OTHERWISE"), (one, "as it says")], {"one"}))
    assert (found[0], found[-1]) == ("## move | x", "")
    told = "stale (by id), trino{x=true}, hudi-cow"
    assert found[4:-1] == [
        rf"| [{told}](one/reproduce.sql) | stale. row \[1\] | as it says |",
        rf"| {told} | stale. row \[1\] | OTHERWISE |",
    ]
