"""One reader, followed while it is asked: what it is asked goes one way through the stages."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from harness.artifacts.cache import Cache
from harness.core.records import Answer, Refusal
from harness.engines.api import RefusedError, Reply
from harness.engines.hive.engine import ENGINE
from harness.read import reader_servers, schedule_questions
from harness.runtime.metastore_objects import CatalogEntry
from harness.scenario.cells import Cell, Plan, Reader
from harness.write import write_variant
from harness.write.table_state import States
from harness.write.writer_pool import WriteTarget
from tests.calls import Call, called_back, calls_of
from tests.unit.read import test_read_states
from tests.unit.read.test_read_states import GOOD, HIVE, Engines, place, read
from tests.unit.write import test_write_variant
from tests.unit.write.test_write_variant import Simulated, variant

STAGES: Final = {
    "harness.read.schedule_questions": "schedule",
    "harness.read.ask_engine": "ask",
    "harness.read.record_answers": "record",
}
"""The public function of each stage."""
THREADS: Final = {
    ("harness.core.concurrency", "harness.read.read_states", "_schedule_and_ask"),
    ("harness.core.concurrency", "harness.read.ask_engine", "ask"),
}
"""What begins a thread: a stage is started by the threads that it runs in, not called back."""
LAST: Final = 3
REFUSED: Final = "the first question is refused, so each column is asked alone"
engines = test_read_states.engines
catalog = test_write_variant.catalog
planned = schedule_questions.planned_questions


@pytest.fixture
def states(catalog: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> States:
    """One variant as a simulated Spark writes it, with an entry in the catalog."""
    folder = tmp_path / "work"
    folder.mkdir()
    target = WriteTarget(Cache(tmp_path / "cache"), "thrift://x", "db", folder)
    listed = [{"name": name, "type": "string"} for name in ("id", "ts", "n")]
    entry = CatalogEntry("t", {"sd": {"cols": listed}})
    monkeypatch.setattr(test_write_variant, "ENTRIES", (entry,))
    return write_variant.write(variant(), target, lambda *_: Simulated()).states  # type: ignore[arg-type]


@pytest.fixture
def calls(
    states: States, engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[Call]:
    """Ask one simulated reader one question of that variant."""
    sent: list[str] = []

    def ask(sql: str, *, timeout_s: float) -> Reply:
        sent.append(sql)
        if len(sent) == 1:
            raise RefusedError(Refusal("X", "no"), timeout_s)
        return GOOD

    def engine_of(name: str) -> object:
        found = engines.of(name)
        found.sql = ENGINE.sql
        return found

    monkeypatch.setattr(engines, "ask", ask)
    monkeypatch.setattr(reader_servers, "engine_of", engine_of)
    monkeypatch.setattr(schedule_questions, "planned_questions", planned)
    cells = (Cell("v", LAST, HIVE, "snapshot", "all"),)
    plan, found = Plan("p", (variant(),), (Reader(HIVE),), cells), list[Answer]()
    made = calls_of(lambda: read(plan, [states], place(tmp_path), found.append))
    assert [(bool(each.refusal), len(each.parts)) for each in found] == [(True, 3)], REFUSED
    return made


def test_each_stage_is_begun_once_by_the_one_that_reads_as_a_table_of_contents(
    calls: list[Call],
) -> None:
    begun = {each.callee: each.caller for each in calls if STAGES.get(each.callee) == each.function}
    assert begun == {
        "harness.read.schedule_questions": "harness.read.read_states",
        "harness.read.ask_engine": "harness.core.concurrency",
        "harness.read.record_answers": "harness.read.read_states",
    }


def test_no_stage_calls_another(calls: list[Call]) -> None:
    between = {
        each
        for each in calls
        if each.caller != each.callee and {each.caller, each.callee} <= STAGES.keys()
    }
    assert between == set()


def test_nothing_that_reading_uses_calls_it_back_but_to_begin_a_thread(calls: list[Call]) -> None:
    back = {(each.caller, each.callee, each.function) for each in called_back(calls, "read")}
    assert back == THREADS
