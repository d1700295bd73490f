"""Writing and reading side by side: a simulated writer and readers that say what was recorded."""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.artifacts.cache import Cache
from harness.core import jsonl
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Count, Progress
from harness.core.records import Answer, Outcome, OutcomeKind, StateRecord
from harness.read import read_states
from harness.read.reader_servers import ReadContext
from harness.run import load_run, pipeline, plan_record
from harness.run.pipeline import Work
from harness.runtime import memory
from harness.runtime.memory import MACHINE, Free
from harness.scenario.cells import Plan, Variant
from harness.write import write_variants
from harness.write.state_records import VariantResult
from harness.write.state_store import States
from harness.write.writer_pool import WriteContext

RECORDED = Path(__file__).parents[2] / "recorded" / "findings_a5"


@pytest.fixture
def work(tmp_path: Path) -> Work:
    """A run that was planned and nothing more."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / load_run.INFO).write_bytes((RECORDED / load_run.INFO).read_bytes())
    return Work(Cache(tmp_path / "cache"), folder, Progress())


def planned(work: Work) -> Plan:
    return plan_record.plan_of(load_run.read_info(work.folder))


def states_of(variant: Variant) -> States:
    return {(variant.id, 0): variant}  # type: ignore[dict-item]


class Side:
    """A writer and readers: `asked` are the variants that the readers got to know, in order."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.asked: list[str] = []
        self.come = threading.Semaphore(0)
        self.budgets: list[memory.MemoryBudget] = []
        self.over: list[str] = []
        self.ended = threading.Event()

    def write(self, variants: list[Variant], _: WriteContext) -> Iterator[VariantResult]:
        for variant in variants:
            created = StateRecord(variant.id, Outcome(0, OutcomeKind.APPLIED), "")
            yield VariantResult((created,), states_of(variant))
            assert self.come.acquire(timeout=30), "the readers are asked before the next is written"
        self.over.append("written")

    def read(
        self, plan: Plan, states: Iterable[States], context: ReadContext, _: Count
    ) -> Iterator[Answer]:
        self.budgets.append(context.memory_budget)
        try:
            for some in states:
                yield from self.about(plan, {variant for variant, _ in some})
            self.over.append("read")
        finally:
            self.ended.set()

    def about(self, plan: Plan, variants: set[str]) -> Iterator[Answer]:
        recorded = jsonl.read_all(self.work.folder / load_run.STATES, StateRecord)
        assert variants <= {state.variant for state in recorded}
        self.asked += variants
        for cell in plan.cells:
            if cell.variant in variants:
                yield Answer(cell.case, "q")
        self.come.release()


@pytest.fixture
def side(work: Work, monkeypatch: pytest.MonkeyPatch) -> Iterator[Side]:
    result = Side(work)
    monkeypatch.setattr(write_variants, "write", result.write)
    monkeypatch.setattr(read_states, "read", result.read)
    yield result
    assert result.ended.wait(30), "nobody waits for what does not come"


def answers(work: Work) -> list[str]:
    return [answer.case for answer in jsonl.read_all(work.folder / load_run.ANSWERS, Answer)]


def test_each_variant_is_asked_about_before_the_next_one_is_written(work: Work, side: Side) -> None:
    plan = planned(work)
    pipeline.write_and_read(plan, work, fresh=True)
    assert side.asked == [variant.id for variant in plan.variants]
    assert len(side.asked) > 1
    assert side.over == ["written", "read"]
    assert answers(work) == [cell.case for cell in plan.cells]


def test_where_no_table_was_written_reading_is_not_told_that_one_is(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = list[States]()

    def read(_: Plan, states: Iterable[States], __: ReadContext, ___: Count) -> Iterator[Answer]:
        given.extend(states)
        yield from ()

    monkeypatch.setattr(read_states, "read", read)
    (work.folder / load_run.STATES).write_bytes(b"")
    pipeline.read_answers(planned(work), work, fresh=True)
    assert given == []


class Counts(Progress):
    """Keeps the counts that it begins."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, Count] = {}

    def count(self, task: str, total: int) -> Count:
        self.counts[task] = Count(task, total)
        return self.counts[task]


def test_the_verdicts_on_new_answers_are_counted_while_readers_are_asked(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here they answer what was recorded."""
    states = list(jsonl.read_all(RECORDED / load_run.STATES, StateRecord))
    answers = {
        answer.case: answer for answer in jsonl.read_all(RECORDED / load_run.ANSWERS, Answer)
    }
    progress, judged = Counts(), list[int]()

    def write(variants: list[Variant], _: WriteContext) -> Iterator[VariantResult]:
        for variant in variants:
            records = tuple(state for state in states if state.variant == variant.id)
            yield VariantResult(records, states_of(variant))

    def read(
        plan: Plan, states: Iterable[States], _: ReadContext, cells: Count
    ) -> Iterator[Answer]:
        for some in states:
            variants = {variant for variant, _ in some}
            for at, cell in enumerate(cell for cell in plan.cells if cell.variant in variants):
                yield replace(answers[cell.case], reused=at % 2 == 0)
                judged.append(cells.judged.total())

    monkeypatch.setattr(write_variants, "write", write)
    monkeypatch.setattr(read_states, "read", read)
    work = replace(work, progress=progress)
    pipeline.write_and_read(planned(work), work, fresh=True)
    verdicts = pipeline.judge_run(work.folder).applied.verdicts
    counted = progress.counts["ask queries"].judged
    new = Counter(str(verdict.verdict) for verdict in verdicts if not verdict.reused)
    assert counted == new
    assert counted["wrong"] > 0
    assert judged[0] == 0, "the first is reused"
    assert judged[-1] == sum(new.values())


def test_what_breaks_in_writing_ends_the_reading_and_is_raised(
    work: Work, side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(variants: list[Variant], context: WriteContext) -> Iterator[VariantResult]:
        yield from side.write(variants[:1], context)
        raise EnvironmentProblem("the disk is full")

    monkeypatch.setattr(write_variants, "write", breaks)
    plan = planned(work)
    with pytest.raises(EnvironmentProblem, match="the disk is full"):
        pipeline.write_and_read(plan, work, fresh=True)
    assert side.ended.wait(30)
    assert side.over == ["written"]
    written = jsonl.read_all(work.folder / load_run.STATES, StateRecord)
    assert [state.variant for state in written] == [plan.variants[0].id]
    assert set(answers(work)) == {
        cell.case for cell in plan.cells if cell.variant == plan.variants[0].id
    }


def test_what_breaks_in_reading_is_raised_once_all_is_written(
    work: Work, side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object) -> Iterator[Answer]:
        side.come.release(len(planned(work).variants))
        side.ended.set()
        yield from ()
        raise EnvironmentProblem("the metastore does not start")

    monkeypatch.setattr(read_states, "read", breaks)
    with pytest.raises(EnvironmentProblem, match="the metastore does not start"):
        pipeline.write_and_read(planned(work), work, fresh=True)
    assert side.over == ["written"]
    written = {
        state.variant for state in jsonl.read_all(work.folder / load_run.STATES, StateRecord)
    }
    assert written == {variant.id for variant in planned(work).variants}


def test_readers_leave_the_writer_its_memory_as_long_as_it_writes(
    work: Work, side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(work)
    needed, taken = write_variants.memory_mb(plan.variants), list[bool]()
    assert needed > 500
    monkeypatch.setattr(memory, "free", lambda: Free(needed + 99, MACHINE))
    about = side.about

    def looks(plan: Plan, variants: set[str]) -> Iterator[Answer]:
        taken.append(side.budgets[0]._fits(100))
        return about(plan, variants)

    monkeypatch.setattr(side, "about", looks)
    pipeline.write_and_read(plan, work, fresh=True)
    assert taken == [False] * len(plan.variants)
    assert side.budgets[0]._fits(100)
