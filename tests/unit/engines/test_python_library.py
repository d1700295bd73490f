"""The worker and who asks it, with a simulated DataFusion between them."""

from __future__ import annotations

import itertools
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from harness import engines
from harness.artifacts import distributions
from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation
from harness.core.errors import HarnessError
from harness.core.records import Refusal
from harness.engines import python_library
from harness.engines import python_worker as worker
from harness.engines.api import NoAnswerError, Question, RefusedError
from harness.engines.datafusion import answers
from harness.engines.datafusion.engine import ENGINE
from harness.engines.datafusion.engine import refusal as datafusion_refusal
from harness.engines.format_facts import FormatFacts
from harness.engines.python_library import (
    LibraryConnection,
    LibraryServer,
    MetastoreEntries,
    PythonLibrary,
    WorkerProgram,
)
from harness.formats import facts
from harness.model.query import Query
from harness.plan import distribution_support
from harness.runtime import metastore_client
from harness.runtime.api import Surroundings
from harness.runtime.metastore_client import CatalogGoneProblem
from harness.runtime.process import LOOPBACK

TOKEN = "the token"  # noqa: S105 - of nothing


class PanicException(BaseException):
    """What PyO3 makes of a panic of Rust."""


class SimulatedContext:
    """Answers with the SQL and with the tables that were registered."""

    never: threading.Event

    def __init__(self, conf: Mapping[str, str]) -> None:
        self.known = [f"{key}={value}" for key, value in conf.items()]

    def register_table(self, name: str, source: str) -> None:
        self.known.append(f"{name} {source}")

    def register_parquet(
        self,
        name: str,
        path: str,
        table_partition_cols: list[tuple[str, pa.DataType]],
        schema: pa.Schema,
    ) -> None:
        keys = [f"{key} {kind}" for key, kind in table_partition_cols]
        self.known.append(f"{name} {path} {schema.names} {keys}")

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


class Running:
    stopped = False

    def stop(self, grace_s: float) -> None:
        self.stopped = True

    def log_tail(self) -> str:
        return "the end of the log"

    def peak_memory_mb(self) -> int:
        return 1


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setenv(worker.TOKEN, TOKEN)
    monkeypatch.setattr(worker, "import_module", {worker.ANSWERS: answers}.__getitem__)
    monkeypatch.setattr(answers, "import_module", PACKAGES.__getitem__)
    monkeypatch.setattr(SimulatedContext, "never", threading.Event(), raising=False)
    with worker.Listener((LOOPBACK, 0), worker.Client) as listener:
        thread = threading.Thread(target=listener.serve_forever, args=(0.01,))
        thread.start()
        yield listener.server_address[1]
        SimulatedContext.never.set()
        listener.shutdown()
        thread.join()


@pytest.fixture
def running() -> Running:
    return Running()


def server(running: Running, port: int, token: str = TOKEN) -> LibraryServer:
    return LibraryServer(running, port, token, ENGINE, partial(MetastoreEntries, "thrift://x"))  # type: ignore[arg-type]


@pytest.fixture
def opened(running: Running, port: int) -> Iterator[LibraryConnection]:
    with closing(server(running, port).connect({"coerce-int96": "us"})) as connection:
        yield connection


def run(on: LibraryConnection, sql: str, *, timeout_s: float = 60) -> tuple[object, ...]:
    (row,) = on.run(sql, timeout_s=timeout_s).rows
    return row


CONF = "datafusion.execution.parquet.coerce_int96=us"


def test_a_question_is_answered_by_a_context_that_knows_its_table_and_no_other(
    opened: LibraryConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    serde = SimpleNamespace(parameters={})
    storage = {"location": "file:/x", "inputFormat": "org.apache.hudi.I", "serdeInfo": serde}
    entry = SimpleNamespace(sd=SimpleNamespace(**storage))
    monkeypatch.setattr(MetastoreEntries, "of", lambda _, names: [(name, entry) for name in names])
    question = Question("d", "t", facts("hudi-cow"), Query(count=True))
    sql = 'select count(*) from "d"."t"'
    reply = opened.ask(question, timeout_s=60)
    assert reply.rows == ((sql, (CONF, 'create schema "d"', '"d"."t" /x by hudi []')),)
    assert (reply.sent, reply.confirmed) == (sql, CONF)
    assert run(opened, "select 2") == ("select 2", (CONF,))


@pytest.mark.parametrize(
    ("sql", "kind", "message"),
    [
        ("wrong", "Error during planning", "table 't' not found"),
        ("panics", "PanicException", "partition not used yet"),
    ],
)
def test_an_error_is_a_refusal_and_the_session_goes_on(
    opened: LibraryConnection, sql: str, kind: str, message: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        run(opened, sql)
    assert (refused.value.refusal.kind, refused.value.refusal.message) == (kind, message)
    assert run(opened, "select 1")[0] == "select 1"


def test_a_failure_of_the_worker_is_the_harness_own(opened: LibraryConnection) -> None:
    with pytest.raises(HarnessError, match="the worker failed"):
        run(opened, "breaks")


def test_a_question_that_takes_too_long_has_no_answer_and_its_process_is_ended(
    opened: LibraryConnection, running: Running
) -> None:
    with pytest.raises(NoAnswerError, match="no answer within 0"):
        run(opened, "never ends", timeout_s=0.2)
    assert running.stopped


def test_the_end_of_the_process_is_no_answer(running: Running) -> None:
    ours, theirs = socket.socketpair()
    with closing(LibraryConnection(running, ours, ENGINE, MetastoreEntries(""), {})) as connection:  # type: ignore[arg-type]
        theirs.close()
        with pytest.raises(NoAnswerError, match="the end of the log"):
            run(connection, "select 1")


def test_who_does_not_know_the_token_is_not_served(running: Running, port: int) -> None:
    with pytest.raises(NoAnswerError, match="does not answer"):
        server(running, port, "another").connect({})


@pytest.mark.parametrize(
    ("class_", "text", "refusal"),
    [
        (
            "Exception",
            "A: no slices\ncaused by\nB: none",
            Refusal("A", "no slices", cause="B: none"),
        ),
        ("ValueError", "nothing of that form", Refusal("ValueError", "nothing of that form")),
        ("ValueError", "", Refusal("ValueError", "")),
        ("ArrowInvalid", "x " * 40 + ": y", Refusal("ArrowInvalid", "x " * 40 + ": y")),
    ],
)
def test_an_error_is_reported_by_its_name_and_its_innermost_cause(
    class_: str, text: str, refusal: Refusal
) -> None:
    assert datafusion_refusal(class_, text) == refusal


def test_the_worker_runs_with_its_packages_and_the_standard_library_alone(tmp_path: Path) -> None:
    distribution = distributions.load("datafusion-54.1.0-hudi-0.5.0")
    worker_program = WorkerProgram(distribution, Path(answers.__file__))
    installation = Installation(worker_program.distribution, None, tmp_path / "packages", ())
    around = Surroundings(LOOPBACK, 1, "", tmp_path, tmp_path, "", installation)
    program, *options, file, packages, host, port = worker_program.command(installation, around)
    assert (program, options) == (sys.executable, ["-I", "-S"])
    assert (packages, host, port) == (str(tmp_path / "packages"), LOOPBACK, "1")
    assert {*worker_program.files(around)} == {"worker.py", "answers.py"}
    for name, text in worker_program.files(around).items():
        (Path(file).parent / name).write_text(text, encoding="utf-8")
        check = f"import runpy; runpy.run_path({str(Path(file).parent / name)!r}, run_name='it')"
        done = subprocess.run([program, *options, "-c", check], check=False, capture_output=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("parameters", "folder"),
    [({"path": "file:/x/t"}, "/x/t"), ({"path": "file:///x/t"}, "/x/t"), ({}, "/elsewhere")],
)
def test_a_table_lies_where_its_serde_says(parameters: dict[str, str], folder: str) -> None:
    serde = SimpleNamespace(parameters=parameters)
    entry = SimpleNamespace(sd=SimpleNamespace(serdeInfo=serde, location="file:/elsewhere"))
    assert python_library.folder_of(entry) == folder


@pytest.mark.parametrize("reader", list(distribution_support.readers()), ids=lambda d: d.name)
def test_a_library_is_asked_about_the_families_that_its_lock_has_a_version_of(
    reader: Distribution,
) -> None:
    engine = engines.load(reader.engine)
    if isinstance(engine, PythonLibrary):
        read = {
            name
            for name in engine.families
            if not engine.cannot(reader, {}, FormatFacts(name, name))
        }
        assert read == {*engine.families} & {"hive", *reader.settings}
        assert "no reader for paimon tables" in engine.cannot(
            reader, {}, FormatFacts("p", "paimon")
        )


class SimulatedMetastore:
    """Ends its first connection after one answer, and every one once it is gone."""

    def __init__(self) -> None:
        self.connections = 0
        self.asked = list[str]()
        self.gone = False

    @contextmanager
    def connect(self, _: str) -> Iterator[SimpleNamespace]:
        self.connections += 1
        answers = itertools.count()
        first = self.connections == 1

        def table(_: str, name: str) -> str:
            if self.gone or (first and next(answers)):
                raise CatalogGoneProblem("thrift://x", "closed")
            self.asked.append(name)
            return f"entry of {name}"

        yield SimpleNamespace(table=table)


@pytest.fixture
def metastore(monkeypatch: pytest.MonkeyPatch) -> SimulatedMetastore:
    simulated = SimulatedMetastore()
    monkeypatch.setattr(metastore_client, "connect", simulated.connect)
    return simulated


def test_a_connection_to_the_metastore_is_kept_and_every_entry_asked_for_anew(
    metastore: SimulatedMetastore,
) -> None:
    entries = MetastoreEntries("thrift://x")
    for _ in range(3):
        assert entries.of([("d", "t")]) == [(("d", "t"), "entry of t")]
    assert metastore.asked == ["t"] * 3
    assert metastore.connections == 2  # the first one was closed by the metastore


def test_a_metastore_that_is_gone_is_no_answer(metastore: SimulatedMetastore) -> None:
    entries = MetastoreEntries("thrift://x")
    assert entries.of([("d", "t")])
    metastore.gone = True
    with pytest.raises(NoAnswerError, match="thrift://x does not answer: closed"):
        entries.of([("d", "t")])
    assert metastore.connections == 2
