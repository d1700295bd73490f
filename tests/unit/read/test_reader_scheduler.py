"""Engines are asked as states come: simulated servers, real lanes; no metastore and no engine."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.artifacts.cache import Cache
from harness.cli.console.progress_output import PlainProgress
from harness.core.concurrency import HaltedError
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Count
from harness.core.queue import Handover
from harness.core.records import Answer, Column, VerdictKind
from harness.engines.api import Question, Reply
from harness.formats import facts
from harness.model.query import Query
from harness.read import engine_pool
from harness.read import reader_scheduler as reading
from harness.read.answer_cache import AnswerCache
from harness.read.answer_sink import Keeper
from harness.read.engine_pool import Reading
from harness.read.questions import Asked
from harness.read.shared_metastore import SharedCatalog
from harness.runtime import memory
from harness.runtime.memory import MACHINE, Free
from harness.scenario.cells import Cell, Plan, Reader, Variant
from harness.write.table_state import States

GOOD = Reply((Column("id", "varchar", "string"),), (("1",),), 0.1)
HIVE, SPARK = "hive-3.1.3", "spark-3.5.8-hudi-1.0.2"


@dataclass
class Engines:
    """Servers that answer whatever they are asked, and what became of each."""

    broken: tuple[str, ...] = ()
    """Those that do not get ready."""
    started: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    wanted: list[Any] = field(default_factory=list)
    registered: list[str] = field(default_factory=list)
    unregistered: list[str] = field(default_factory=list)
    """What was asked of a state that the metastore did not have yet."""

    def of(self, name: str) -> Any:  # noqa: ANN401 - a simulated engine
        @contextmanager
        def serve(*given: object) -> Iterator[SimpleNamespace]:
            if name in self.broken:
                raise EnvironmentProblem("it has no port")
            self.started.append(name)
            self.wanted.append(given[-1])
            session = SimpleNamespace(ask=self.ask, close=lambda: None)
            yield SimpleNamespace(
                connect=lambda _: session,
                alive=lambda: True,
                spent=lambda: False,
                log_tail=lambda: "",
                peak_memory_mb=lambda: 7,
            )
            self.ended.append(name)

        return SimpleNamespace(serve=serve)

    def ask(self, sql: str, *, timeout_s: float) -> Reply:
        if sql.partition(" ")[0] not in self.registered:
            self.unregistered.append(sql)
        return GOOD

    @contextmanager
    def metastore(self, _: object) -> Iterator[Any]:
        self.started.append("metastore")
        yield SimpleNamespace(uri="thrift://x", alive=lambda: True, log_tail=lambda: "")
        self.ended.append("metastore")

    def register(self, _: object, state: Any) -> None:  # noqa: ANN401 - a simulated state
        self.registered.append(state.digest)


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> Engines:
    found = Engines()

    @contextmanager
    def connect(_: str, **__: float) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(has=lambda _: True)

    installed = SimpleNamespace(distribution=SimpleNamespace(name="x", memory_mb=100))
    monkeypatch.setattr(engine_pool, "engine_of", found.of)
    monkeypatch.setattr("harness.read.engine_pool.fetch.ensure", lambda *_: installed)
    monkeypatch.setattr(reading, "_metastore", found.metastore)
    monkeypatch.setattr(reading, "_planned", lambda plan: Questions(plan.cells))
    monkeypatch.setattr("harness.read.shared_metastore.metastore_client.connect", connect)
    monkeypatch.setattr("harness.read.shared_metastore.state_store.register", found.register)
    monkeypatch.setattr("harness.read.answer_sink.state_store.file_list", lambda _: ())
    monkeypatch.setattr(memory, "free", lambda: Free(10_000, MACHINE))
    return found


@dataclass(frozen=True)
class Questions:
    """Asks `v1 hive-3.1.3` where the cell is of the variant `v1` and that reader."""

    cells: Iterable[Cell]

    def about(self, states: States) -> Iterator[Asked]:
        for cell in self.cells:
            if (state := states.get((cell.variant, 1))) is not None:
                reader, sql = Reader(cell.reader), f"{cell.variant} {cell.reader}"
                question = Question("db", "t", facts("hudi-cow"), Query())
                yield Asked(cell, reader, state, question, sql, sql.replace(" ", "-"), "id", ())


def planned(*variants: str, readers: tuple[str, ...] = (SPARK, HIVE)) -> Plan:
    made = tuple(Variant(each, None, "hudi-cow", {}, ()) for each in variants)  # type: ignore[arg-type]
    cells = tuple(Cell(v, 1, reader, "snapshot", "all") for v in variants for reader in readers)
    return Plan("p", made, tuple(map(Reader, readers)), cells)


def states(*variants: str) -> States:
    frozen = SimpleNamespace(table_version="")
    return {(each, 1): SimpleNamespace(digest=each, frozen=frozen) for each in variants}  # type: ignore[misc]


def place(folder: Path, out: StringIO | None = None) -> Reading:
    return Reading(Cache(folder / "cache"), folder / "run", PlainProgress(out or StringIO()))


def sql(answers: Iterable[Answer]) -> list[str]:
    return sorted(answer.sql for answer in answers)


def test_readers_are_asked_about_a_variant_before_the_next_one_comes(
    engines: Engines, tmp_path: Path
) -> None:
    found, come = list[Answer](), threading.Semaphore(0)

    def written() -> Iterator[States]:
        yield states("v1")
        assert all(come.acquire(timeout=30) for _ in range(2))
        yield states("v2")

    def take(answer: Answer) -> None:
        found.append(answer)
        come.release()

    reading.read(planned("v1", "v2"), written(), place(tmp_path), take)
    assert sql(found) == sorted(f"{v} {reader}" for v in ("v1", "v2") for reader in (SPARK, HIVE))
    assert sorted(engines.started) == sorted(["metastore", SPARK, HIVE]), "each once"
    assert sorted(engines.ended) == sorted(engines.started)
    assert engines.unregistered == []
    assert engines.wanted == [frozenset({(facts("hudi-cow"), ())})] * 2


def test_cells_are_counted_while_others_are_still_written(engines: Engines, tmp_path: Path) -> None:
    out, come = StringIO(), threading.Event()

    def written() -> Iterator[States]:
        yield states("v1")
        assert come.wait(30)
        out.write("v2 is written\n")
        yield states("v2")

    plan = planned("v1", "v2", "v3", "v4", readers=(HIVE,))
    reading.read(plan, written(), place(tmp_path, out), lambda _: come.set())
    said = out.getvalue().splitlines()
    assert said[0] == "ask cells: 0 of 4"
    first = said.index("ask cells: 1 of 4, 3 left (hive-3.1.3): 1 answered")
    assert first < said.index("v2 is written")
    assert said[-1] == "ask cells: done: 2 answered, 2 not asked", "two have no state"
    assert any(line.startswith("hive-3.1.3: 2 answers in ") for line in said)


def test_it_is_told_how_many_answers_are_wrong_asked_or_kept(
    engines: Engines, tmp_path: Path
) -> None:
    where = replace(place(tmp_path, out := StringIO()), kind_of=lambda _: VerdictKind.WRONG)
    plan = planned("v1", readers=(HIVE,))
    for _ in range(2):
        reading.read(plan, [states("v1")], where, lambda _: None)
    said = [line for line in out.getvalue().splitlines() if "done" in line]
    assert said == ["ask cells: done: 1 answered; 1 wrong", "ask cells: done: 1 reused; 1 wrong"]


def test_where_no_cell_is_left_nothing_is_told(engines: Engines, tmp_path: Path) -> None:
    out = StringIO()
    reading.read(planned(), iter([states("v1")]), place(tmp_path, out), lambda _: None)
    assert out.getvalue() == ""


def test_without_a_question_nothing_is_started(engines: Engines, tmp_path: Path) -> None:
    out, found = StringIO(), list[Answer]()
    where = place(tmp_path, out)
    kept = AnswerCache(where.cache.root / "answers")
    plan = planned("v1")
    for asked in Questions(plan.cells).about(states("v1")):
        kept.keep(asked.address, Answer("", asked.sql, GOOD.columns, GOOD.rows))
    reading.read(plan, [states("v1"), states()], where, found.append)
    assert sql(found) == sorted(f"v1 {reader}" for reader in (SPARK, HIVE))
    assert all(answer.reused for answer in found)
    assert out.getvalue().splitlines()[-1] == "ask cells: done: 2 reused"
    assert engines.started == []


def test_of_an_engine_that_does_not_start_all_that_comes_is_unknown_and_the_others_go_on(
    engines: Engines, tmp_path: Path
) -> None:
    engines.broken = (SPARK,)
    found, out, told = list[Answer](), StringIO(), threading.Event()

    def written() -> Iterator[States]:
        yield states("v1")
        assert told.wait(30)
        yield states("v2")

    def take(answer: Answer) -> None:
        found.append(answer)
        if answer.unknown:
            told.set()

    reading.read(planned("v1", "v2"), written(), place(tmp_path, out), take)
    said = {answer.sql: answer.unknown for answer in found}
    assert said == {
        f"{variant} {reader}": f"{SPARK}: it has no port" if reader == SPARK else ""
        for variant in ("v1", "v2")
        for reader in (SPARK, HIVE)
    }
    assert out.getvalue().count("it has no port") == 1


def test_where_no_more_states_can_come_what_was_started_is_stopped(
    engines: Engines, tmp_path: Path
) -> None:
    come, stopped = threading.Semaphore(0), threading.Event()

    def written() -> Iterator[States]:
        yield states("v1")
        assert come.acquire(timeout=30)
        raise EnvironmentProblem("nothing more is written")

    ended = engines.ended.append

    class Ended(list[str]):
        def append(self, name: str) -> None:
            ended(name)
            if name == HIVE:
                stopped.set()

    engines.ended = Ended()
    plan = planned("v1", "v2", readers=(HIVE,))
    with pytest.raises(EnvironmentProblem, match="nothing more is written"):
        reading.read(plan, written(), place(tmp_path), lambda _: come.release())
    assert stopped.wait(30)


def test_a_metastore_that_does_not_fit_beside_the_writer_waits_for_its_end(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, found, looked = place(tmp_path), list[Answer](), threading.Semaphore(0)

    def free() -> Free:
        looked.release()
        return Free(10_000, MACHINE)

    def reads() -> None:
        reading.read(planned("v1"), [states("v1")], where, found.append)

    monkeypatch.setattr(memory, "free", free)
    thread = threading.Thread(target=reads)
    with where.room.held(10_000):
        thread.start()
        assert looked.acquire(timeout=30)
        with where.room.held(0):  # who waits has given the room back
            assert not looked.acquire(blocking=False), "who fits looks once more, whether it is so"
        assert engines.started == []
    thread.join(30)
    assert len(found) == 2


def test_after_a_failure_no_server_is_started(engines: Engines, tmp_path: Path) -> None:
    plan, where = planned("v1", readers=(HIVE,)), place(tmp_path)
    keeper = Keeper(AnswerCache(tmp_path / "answers"), lambda _: None, Count("ask", 1))
    with SharedCatalog(lambda: engines.metastore(where)) as shared:
        at = engine_pool.Desk(where, shared, keeper, {HIVE: Handover()})
        at.give(list(Questions(plan.cells).about(states("v1"))))
        at.close()
        with pytest.raises(EnvironmentProblem), at.lanes.doing([]):
            raise EnvironmentProblem("the disk is full")
        with pytest.raises(HaltedError):
            engine_pool.take_turn(HIVE, None, at)
    assert engines.started == ["metastore"]
