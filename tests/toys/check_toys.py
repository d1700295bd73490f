"""The toys through all verbs; run by `tests/test_extension.py` where a package adds them.

Spark and the metastore are simulated; everything that the harness knows of the toys it has from the
package's entry points.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import engines, formats, reports
from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.cli import plan_options
from harness.core import jsonl
from harness.core.concurrency import ClosableQueue, JobThreads
from harness.core.progress import Progress
from harness.core.records import Answer
from harness.read import read_states
from harness.read.ask_engine import ReplaceableServer
from harness.read.questions import CellQuestion, Response
from harness.read.reader_servers import EngineServer
from harness.run import load_run, pipeline, plan_record
from harness.runtime.api import MetastoreUris
from harness.runtime.metastore_objects import CatalogEntry
from harness.scenario.cells import Plan
from harness.scenario.operations import registry
from harness.write import write_variants
from harness.write.state_records import VariantResult
from harness.write.writer_pool import WriteTarget

SCENARIO = """
table: {columns: {id: int, ts: long, f1: string}, key: id, order_by: ts}
formats: [toy]
steps:
  - stock: 2
  - add_column: {name: Extra, type: string}
  - stock: 1
"""
PROFILE = """
toys:
  scenarios: [mine/story]
  formats: [toy]
  writers: [toy-1]
  readers: [toy-1, "toy-1{forgets=yes}"]
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "story.yaml").write_text(SCENARIO)
    (tmp_path / "profiles.yaml").write_text(PROFILE)
    return plan_options.make([tmp_path], "toys", "")


class Spark:
    """A writer that does as the toy format words it."""

    def open(self, _: object) -> Spark:
        return self

    def run(self, sql: str, *, timeout_s: float) -> None:
        what, path, *content = sql.split(" ", 2)
        if what == "create":
            Path(path).mkdir()
        else:
            Path(path).write_text(content[0])


@pytest.fixture
def catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    """A metastore that knows of a table as it was created and no more, as real ones may."""
    columns = [{"name": name, "type": "string"} for name in ("id", "ts", "f1")]
    entry = CatalogEntry("t", {"sd": {"cols": columns}})

    @contextmanager
    def connect(_: str) -> Iterator[Any]:
        yield SimpleNamespace(create_database=lambda _: None, entries=lambda _: (entry,))

    monkeypatch.setattr("harness.write.write_variants.metastore_client.connect", connect)


def wrote(plan: Plan, folder: Path) -> VariantResult:
    (variant,) = plan.variants
    work = folder / "work"
    work.mkdir()
    target = WriteTarget(Cache(folder / "cache"), "thrift://x", "db", work)
    return write_variants.write_variant(variant, target, lambda *_: Spark())  # type: ignore[arg-type]


def read(plan: Plan, written: VariantResult, folder: Path) -> list[Answer]:
    folder.mkdir()
    for state in written.states.values():
        (folder / state.database).write_text(str(state.table))
    asked = read_states.planned_questions(plan)(written.states)
    engine = engines.load("toy")
    shared: Any = SimpleNamespace(
        answers=lambda _: True, context=SimpleNamespace(progress=Progress())
    )

    @contextmanager
    def serve() -> Iterator[EngineServer]:
        with engine.serve(None, MetastoreUris(str(folder)), folder, Progress()) as server:  # type: ignore[arg-type]
            yield EngineServer(server, engine, 1.0, shared, shared)

    start: Any = SimpleNamespace(name="toy-1", shared=shared, threads=JobThreads(1), serve=serve)
    with ReplaceableServer(start, ClosableQueue[Response]()) as server:
        return [
            *server.ask(
                [question for question in asked if isinstance(question, CellQuestion)]
            ).values()
        ]


def test_everything_is_found_by_its_name() -> None:
    assert "toy" in set(formats.names()) & set(engines.names()) & set(reports.names())
    assert "toy-1" in distributions.names()
    assert registry()["stock"].__name__ == "Stock"


def test_a_plan_is_made_written_read_judged_and_reported(
    plan: Plan, tmp_path: Path, catalog: None
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    started = datetime.datetime(2024, 1, 2, tzinfo=datetime.UTC)
    load_run.write_info(run, plan_record.info_of(plan, "toys", started))
    written = wrote(plan, tmp_path)
    assert [str(record.outcome.kind) for record in written.records] == ["applied"] * 4
    assert all(not value.unread for record in written.records for value in record.values)
    jsonl.write_all(run / load_run.STATES, written.records)
    jsonl.write_all(run / load_run.ANSWERS, read(plan, written, tmp_path / "metastore"))
    pipeline.judge_run(run)
    result = load_run.load(run)
    kinds = {finding.kind for verdict in result.verdicts for finding in verdict.findings}
    assert set(map(str, kinds)) == {"lost_row"}
    report = reports.load("toy").write(result, tmp_path)
    assert report.read_text() == "toy-1: 3 correct\ntoy-1{forgets=yes}: 3 wrong\n"
