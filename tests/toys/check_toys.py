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
from harness.core.progress import QuietProgress
from harness.core.records import Answer
from harness.read import ask_server, questions
from harness.read.ask_question import Manner
from harness.read.questions import Asked, Asking
from harness.read.reader_scheduler import reader_digest
from harness.run import load_run, pipeline, plan_record, run_info
from harness.runtime.metastore_objects import CatalogEntry
from harness.scenario.cells import Plan
from harness.scenario.operations import registry
from harness.write import variant_writer
from harness.write.state_records import Written
from harness.write.variant_writer import Place

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

    monkeypatch.setattr("harness.write.variant_writer.metastore_client.connect", connect)


def wrote(plan: Plan, folder: Path) -> Written:
    (variant,) = plan.variants
    work = folder / "work"
    work.mkdir()
    place = Place(Cache(folder / "cache"), "thrift://x", "db", work)
    return variant_writer.write(variant, place, lambda _: Spark())  # type: ignore[arg-type, return-value]


def read(plan: Plan, written: Written, folder: Path) -> list[Answer]:
    readers = {str(each): each for each in plan.readers}
    asking = Asking(readers, lambda _: engines.load("toy"), reader_digest, formats.load)
    (variant,) = plan.variants
    history = questions.history(variant, written.states, merge_on_read=False)
    folder.mkdir()
    for state in written.states.values():
        (folder / state.database).write_text(str(state.table))
    asked = [
        asking.ask(cell, variant, history, written.states[variant.id, cell.step])
        for cell in plan.cells
    ]
    found: list[Answer] = []
    server: Any = engines.load("toy").serve(None, str(folder), folder, QuietProgress())  # type: ignore[arg-type]
    ask_server.ask_all(
        lambda: server,
        engines.load("toy"),
        [each for each in asked if isinstance(each, Asked)],
        manner=Manner(1),
        told=lambda _, answer: found.append(answer),
    )
    return found


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
    run_info.write_info(run, plan_record.info_of(plan, "toys", started))
    written = wrote(plan, tmp_path)
    assert [str(each.outcome.kind) for each in written.records] == ["applied"] * 4
    assert all(not value.unread for each in written.records for value in each.values)
    jsonl.write_all(run / load_run.STATES, written.records)
    jsonl.write_all(run / load_run.ANSWERS, read(plan, written, tmp_path / "metastore"))
    pipeline.judge_run(run)
    found = load_run.load(run)
    kinds = {finding.kind for each in found.verdicts for finding in each.findings}
    assert set(map(str, kinds)) == {"lost_row"}
    report = reports.load("toy").write(found, tmp_path)
    assert report.read_text() == "toy-1: 3 correct\ntoy-1{forgets=yes}: 3 wrong\n"
