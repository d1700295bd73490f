"""A run that broke off is gone on with: what is recorded stays, the rest is done as ever."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.artifacts.cache import Cache
from harness.core import jsonl
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Count, Progress
from harness.core.records import Answer, StateRecord, VerdictKind
from harness.read import read_states
from harness.read.reader_servers import ReadContext
from harness.run import load_run, pipeline, plan_record
from harness.run.pipeline import Work
from harness.runtime.metastore_client import CatalogGoneProblem
from harness.scenario.cells import Plan, Variant
from harness.write import write_variants
from harness.write.state_records import VariantResult
from harness.write.writer_pool import WriteContext

RECORDED = Path(__file__).parents[2] / "recorded" / "findings_a5"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Work:
    """A whole run, whose states no cache needs to hold."""
    folder = tmp_path / "run"
    shutil.copytree(RECORDED, folder)
    answers = list(jsonl.read_all(folder / load_run.ANSWERS, Answer))
    jsonl.write_all(folder / load_run.ANSWERS, answers)  # with every field there is now
    monkeypatch.setattr(pipeline, "states_of", lambda *_: {})
    return Work(Cache(tmp_path / "cache"), folder, Progress())


@pytest.fixture
def kinds() -> dict[str, VerdictKind]:
    """Return the kinds of the verdicts counted during the run, by case."""
    return {}


@pytest.fixture
def asked(work: Work, kinds: dict[str, VerdictKind], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Readers that say what the recorded ones said; gives the cases they were asked."""
    whole = dict(load_run.load(work.folder).answers)
    cases: list[str] = []

    def read(plan: Plan, _: object, __: ReadContext, cells: Count) -> Iterator[Answer]:
        for cell in plan.cells:
            cases.append(cell.case)
            before = cells.judged.copy()
            yield whole[cell.case]
            (kinds[cell.case],) = map(VerdictKind, cells.judged - before)

    monkeypatch.setattr(read_states, "read", read)
    return cases


def verdicts(work: Work) -> bytes:
    pipeline.judge_run(work.folder)
    return (work.folder / load_run.VERDICTS).read_bytes()


def go_on(work: Work) -> bytes:
    plan = plan_record.plan_of(load_run.read_info(work.folder))
    pipeline.read_answers(plan, work, fresh=True, resume=True)
    return verdicts(work)


def lines(work: Work) -> list[bytes]:
    return (work.folder / load_run.ANSWERS).read_bytes().splitlines(keepends=True)


def keep(work: Work, retained: list[bytes]) -> None:
    (work.folder / load_run.ANSWERS).write_bytes(b"".join(retained))


@pytest.mark.parametrize("recorded", [0, 1, 20])
def test_only_what_has_no_answer_is_asked_and_the_verdicts_are_the_same(
    work: Work, asked: list[str], recorded: int
) -> None:
    undisturbed, all_lines = verdicts(work), lines(work)
    keep(work, all_lines[:recorded])
    assert go_on(work) == undisturbed
    assert len(asked) == len(all_lines) - recorded
    assert lines(work) == all_lines


def test_a_record_cut_off_by_the_death_is_dropped_and_its_cell_asked_again(
    work: Work, asked: list[str]
) -> None:
    undisturbed, all_lines = verdicts(work), lines(work)
    keep(work, [*all_lines[:5], all_lines[5][:-30]])
    assert go_on(work) == undisturbed
    assert len(asked) == len(all_lines) - 5
    assert lines(work) == all_lines


def test_an_unknown_answer_is_asked_again(work: Work, asked: list[str]) -> None:
    undisturbed, all_lines = verdicts(work), lines(work)
    silent = replace(jsonl.parse(Answer, all_lines[3]), columns=(), rows=(), parts=())
    silent = replace(silent, refusal=None, unknown="connection lost")
    keep(work, [*all_lines[:3], jsonl.dump(silent).encode() + b"\n", *all_lines[4:]])
    assert go_on(work) == undisturbed
    assert asked == [silent.case]


def test_an_answer_is_recorded_before_the_next_one_comes(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_lines = lines(work)
    keep(work, all_lines[:2])

    def read(*_: object) -> Iterator[Answer]:
        yield jsonl.parse(Answer, all_lines[2])
        assert lines(work) == all_lines[:3]
        raise EnvironmentProblem("the power is gone")

    monkeypatch.setattr(read_states, "read", read)
    with pytest.raises(EnvironmentProblem, match="the power is gone"):
        go_on(work)
    assert lines(work) == all_lines[:3]


def test_what_was_not_sent_since_a_probe_was_refused_is_not_asked_again(
    work: Work, asked: list[str]
) -> None:
    first, *others = jsonl.read_all(work.folder / load_run.ANSWERS, Answer)
    spared = replace(
        first, columns=(), rows=(), not_applicable="it was not sent", probe=others[0].case
    )
    jsonl.write_all(work.folder / load_run.ANSWERS, [spared, *others])
    go_on(work)
    assert asked == []
    assert load_run.load(work.folder).answers[first.case] == spared


@pytest.fixture
def written(work: Work, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """A writer that loses its metastore after the first variant of its first turn."""
    whole = tuple(load_run.load(work.folder).states)
    turns: list[list[str]] = []

    def write(variants: list[Variant], _: WriteContext) -> Iterator[VariantResult]:
        turns.append([variant.id for variant in variants])
        for variant in variants:
            yield VariantResult(tuple(state for state in whole if state.variant == variant.id), {})
            if len(turns) == 1:
                recorded = jsonl.read_all(work.folder / load_run.STATES, StateRecord)
                assert {state.variant for state in recorded} == {variant.id}
                raise CatalogGoneProblem("thrift://gone:1", "connection refused")

    monkeypatch.setattr(write_variants, "write", write)
    yield turns
    assert tuple(load_run.load(work.folder).states) == whole


def test_states_are_recorded_as_they_come_and_a_lost_metastore_costs_only_what_was_being_written(
    work: Work, written: list[list[str]]
) -> None:
    plan = plan_record.plan_of(load_run.read_info(work.folder))
    pipeline.write_states(plan, work)
    everything = [variant.id for variant in plan.variants]
    assert written == [everything, everything[1:]]
