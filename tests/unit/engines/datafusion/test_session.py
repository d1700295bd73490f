"""The worker and who asks it, with a simulated DataFusion between them."""

from __future__ import annotations

import base64
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from harness.artifacts import distributions
from harness.artifacts.fetch import Installation
from harness.core.errors import HarnessError
from harness.core.records import Refusal
from harness.engines import python_session as session
from harness.engines import python_worker as worker
from harness.engines.api import NoAnswerError, RefusedError
from harness.engines.datafusion import answers
from harness.engines.datafusion.engine import refusal as datafusion_refusal
from harness.engines.datafusion.tables import Told
from harness.engines.python_program import PythonProgram
from harness.engines.python_session import PythonSession
from harness.runtime.api import Surroundings
from harness.runtime.ports import LOOPBACK

TOKEN = "the token"  # noqa: S105 - of nothing


class PanicException(BaseException):
    """What PyO3 makes of a panic of Rust."""


class SimulatedContext:
    """Answers with the SQL and with what it was told of tables."""

    never: threading.Event

    def __init__(self, conf: Mapping[str, str]) -> None:
        self.known = [f"{key}={value}" for key, value in conf.items()]

    def register_table(self, name: str, source: str) -> None:
        self.known.append(f"{name} {source}")

    def register_parquet(
        self,
        name: str,
        place: str,
        table_partition_cols: list[tuple[str, pa.DataType]],
        schema: pa.Schema,
    ) -> None:
        keys = [f"{key} {kind}" for key, kind in table_partition_cols]
        self.known.append(f"{name} {place} {schema.names} {keys}")

    def sql(self, sql: str) -> SimpleNamespace:
        if sql.startswith("create schema"):
            self.known.append(sql)
        if sql == "wrong":
            raise ValueError("Error during planning: table 't' not found")
        if sql == "panics":
            raise PanicException("partition not used yet")
        if sql == "never ends":
            self.never.wait()
        table = pa.table({"sql": [sql], "known": [self.known]}) if sql != "breaks" else None
        return SimpleNamespace(to_arrow_table=lambda: table)


class SimulatedConf(dict[str, str]):
    def set(self, key: str, value: str) -> SimulatedConf:
        return SimulatedConf({**self, key: value})


def hudi_source(location: str, options: list[tuple[str, str]]) -> str:
    return f"{location} by hudi {options}"


PACKAGES = {
    "datafusion": SimpleNamespace(SessionContext=SimulatedContext, SessionConfig=SimulatedConf),
    "hudi": SimpleNamespace(HudiDataFusionDataSource=hudi_source),
}


@dataclass
class Running:
    """See `harness.runtime.api.Running`."""

    stopped: bool = False

    def stop(self, grace_s: float) -> None:
        self.stopped = True

    def log_tail(self) -> str:
        return "the end of the log"

    def peak_memory_mb(self) -> int:
        return 1


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A worker that listens."""
    monkeypatch.setenv(worker.TOKEN, TOKEN)
    monkeypatch.setattr(worker, "import_module", {worker.ANSWERS: answers}.__getitem__)
    monkeypatch.setattr(answers, "import_module", PACKAGES.__getitem__)
    monkeypatch.setattr(SimulatedContext, "never", threading.Event(), raising=False)
    with worker.Listener((LOOPBACK, 0), worker.Client) as listener:
        thread = threading.Thread(target=listener.serve_forever)
        thread.start()
        yield listener.server_address[1]
        SimulatedContext.never.set()
        listener.shutdown()
        thread.join()


@pytest.fixture
def running() -> Running:
    return Running()


@pytest.fixture
def opened(running: Running, port: int) -> Iterator[PythonSession]:
    with closing(session.opened(running, port, TOKEN, datafusion_refusal)) as found:  # type: ignore[arg-type]
        yield found


def ask(on: PythonSession, sql: str, *tables: Told, timeout_s: float = 60) -> dict[str, Any]:
    asked = {"sql": sql, "tables": tables, "conf": {}}
    (row,) = on.run(asked, timeout_s).table.to_pylist()
    return dict(row)


def test_a_question_is_answered_by_a_context_that_knows_its_tables_and_no_others(
    opened: PythonSession,
) -> None:
    told = {"name": '"d"."t"', "location": "/x", "options": {"a": "b"}}
    assert ask(opened, "select 1", told) == {
        "sql": "select 1",
        "known": ['create schema "d"', "\"d\".\"t\" /x by hudi [('a', 'b')]"],
    }
    assert ask(opened, "select 2") == {"sql": "select 2", "known": []}


def test_a_plain_table_is_told_with_its_columns_and_those_of_its_folders(
    opened: PythonSession,
) -> None:
    columns, keys = pa.schema([("a", pa.int32())]), pa.schema([("p", pa.date32())])
    schemas = {"schema": columns, "keys": keys}
    texts = {k: base64.b64encode(v.serialize().to_pybytes()).decode() for k, v in schemas.items()}
    told = {"name": '"d"."t"', "location": "/x", **texts}
    known = ask(opened, "select 1", told)["known"]
    assert known == ['create schema "d"', "\"d\".\"t\" /x ['a'] ['p date32[day]']"]


def test_the_keys_of_a_reader_are_those_of_the_context(opened: PythonSession) -> None:
    asked = {"sql": "select 1", "tables": (), "conf": {"datafusion.x": "us"}}
    (row,) = opened.run(asked, 60).table.to_pylist()
    assert row["known"] == ["datafusion.x=us"]


@pytest.mark.parametrize(
    ("sql", "kind", "message"),
    [
        ("wrong", "Error during planning", "table 't' not found"),
        ("panics", "PanicException", "partition not used yet"),
    ],
)
def test_an_error_is_a_refusal_and_the_session_goes_on(
    opened: PythonSession, sql: str, kind: str, message: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        ask(opened, sql)
    assert (refused.value.refusal.kind, refused.value.refusal.message) == (kind, message)
    assert ask(opened, "select 1")["sql"] == "select 1"


def test_a_failure_of_the_worker_is_the_harness_own(opened: PythonSession) -> None:
    with pytest.raises(HarnessError, match="the worker failed"):
        ask(opened, "breaks")


def test_a_question_that_takes_too_long_has_no_answer_and_its_process_is_ended(
    opened: PythonSession, running: Running
) -> None:
    with pytest.raises(NoAnswerError, match="no answer within 0"):
        ask(opened, "never ends", timeout_s=0.2)
    assert running.stopped


def test_the_end_of_the_process_is_no_answer(running: Running) -> None:
    ours, theirs = socket.socketpair()
    with closing(PythonSession(running, ours)) as found:  # type: ignore[arg-type]
        theirs.close()
        with pytest.raises(NoAnswerError, match="the end of the log"):
            ask(found, "select 1")


def test_who_does_not_know_the_token_is_not_served(running: Running, port: int) -> None:
    with pytest.raises(OSError, match="does not answer"):
        session.opened(running, port, "another")  # type: ignore[arg-type]


def test_sessions_are_served_side_by_side(opened: PythonSession, port: int) -> None:
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(ask, opened, "never ends")
        with closing(session.opened(Running(), port, TOKEN)) as other:  # type: ignore[arg-type]
            assert ask(other, "select 1")["sql"] == "select 1"
        assert not waiting.done()
        SimulatedContext.never.set()
        assert waiting.result()["sql"] == "never ends"


@pytest.mark.parametrize(
    ("class_", "text", "refusal"),
    [
        (
            "Exception",
            "DataFusion error: FFI error: no slices\ncaused by\nExternal error: no such folder",
            Refusal(
                "DataFusion error", "FFI error: no slices", cause="External error: no such folder"
            ),
        ),
        ("ValueError", "nothing of that form", Refusal("ValueError", "nothing of that form")),
        ("ValueError", "", Refusal("ValueError", "")),
        ("ArrowInvalid", "x " * 40 + ": y", Refusal("ArrowInvalid", "x " * 40 + ": y")),
    ],
)
def test_an_error_is_told_by_its_name_and_its_innermost_cause(
    class_: str, text: str, refusal: Refusal
) -> None:
    assert datafusion_refusal(class_, text) == refusal


def test_the_worker_runs_with_its_packages_and_the_standard_library_alone(tmp_path: Path) -> None:
    distribution = distributions.load("datafusion-54.1.0-hudi-0.5.0")
    found = PythonProgram(distribution, Path(answers.__file__))
    installation = Installation(found.distribution, None, tmp_path / "packages", ())
    around = Surroundings(LOOPBACK, 1, "", tmp_path, tmp_path, "", installation)
    program, *options, file, packages, host, port = found.command(installation, around)
    assert (program, options) == (sys.executable, ["-I", "-S"])
    assert (packages, host, port) == (str(tmp_path / "packages"), LOOPBACK, "1")
    assert {*found.files(around)} == {"worker.py", "answers.py"}
    for name, text in found.files(around).items():
        (Path(file).parent / name).write_text(text, encoding="utf-8")
        check = f"import runpy; runpy.run_path({str(Path(file).parent / name)!r}, run_name='it')"
        done = subprocess.run([program, *options, "-c", check], check=False, capture_output=True)
        assert done.returncode == 0, done.stderr
