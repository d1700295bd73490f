"""Unexplained answers are asked for once more, of fresh servers, which are simulated here."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from harness.artifacts.cache import Cache
from harness.core import jsonl
from harness.core.progress import Count, Progress
from harness.core.records import (
    Answer,
    Finding,
    FindingKind,
    Refusal,
    Responsible,
    Verdict,
    VerdictKind,
    Witness,
)
from harness.read import read_states
from harness.read.read_states import record_of_both
from harness.read.reader_servers import ReadContext
from harness.run import load_run, pipeline, plan_record
from harness.run.pipeline import MOST_SERVERS, Work, groups
from harness.run.run_judge import ONE_OF, due
from harness.scenario.cells import AskedAgain, Cell, Plan, Variant, parse_reader
from harness.write.state_store import States
from tests.builders.answered_run import READERS, AnsweredRun, answered_run
from tests.builders.judged_story import answer_of, case_of
from tests.builders.table_story import history

STORY = history("insert 1..3; rename f1 f1_new")
RIGHT, BY_NAME = answer_of(STORY.read()), answer_of(STORY.read("name"))
STRANGE = replace(RIGHT, rows=tuple((*row[:2], "asuffix", *row[3:]) for row in RIGHT.rows))
UNEXPLAINED, SAMPLE = AskedAgain


@dataclass
class FreshServers:
    """What readers say when they are asked again, and who was."""

    says: Mapping[str, Answer]
    """By the reader's name."""
    asked: list[tuple[str, ...]] = field(default_factory=list)
    """The readers of each fresh server."""
    culprit: str = ""
    """The case of the question on which answers depend."""
    searched: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """The cases of which it was looked for, each with those of the questions to try and itself."""

    def read(
        self,
        plan: Plan,
        states: Iterable[States],
        context: ReadContext,
        cells: Count,
        first: Mapping[str, Answer],
    ) -> Iterator[Answer]:
        assert context.fresh
        self.asked.append(tuple(cell.reader for cell in plan.cells))
        for cell in plan.cells:
            yield record_of_both(replace(self.says[cell.reader], case=cell.case), first[cell.case])

    def find(
        self, plan: Plan, states: States, context: ReadContext, case: str, earlier: Answer
    ) -> str:
        assert context.fresh
        assert earlier.rows == STRANGE.rows
        self.searched.append((case, tuple(cell.case for cell in plan.cells)))
        return self.culprit


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> FreshServers:
    made = FreshServers(dict.fromkeys(READERS, RIGHT))
    monkeypatch.setattr(read_states, "read", made.read)
    monkeypatch.setattr(read_states, "find_culprit", made.find)
    monkeypatch.setattr(pipeline, "states_of", lambda *_: {})
    return made


def judged(going: AnsweredRun, folder: Path) -> dict[str, Verdict]:
    """Return the verdicts by reader after all that was asked again."""
    result = load_run.load(going.folder)
    plan = replace(plan_record.plan_of(result.info), cells=tuple(going.cells))
    work = Work(Cache(folder / "cache"), going.folder, Progress())
    applied = pipeline.judge_twice(plan, work, pipeline.judge_of(plan, work)).applied
    return {verdict.reader: verdict for verdict in applied.verdicts}


def begun(folder: Path, *replies: Answer) -> AnsweredRun:
    run = folder / "run"
    run.mkdir()
    going = answered_run(run, case_of(STORY))
    for at, answer in enumerate(replies):
        going.answers(at, answer)
    return going


def test_an_answer_that_nothing_explains_and_a_fresh_server_does_not_give_is_order_dependent(
    servers: FreshServers, tmp_path: Path
) -> None:
    going = begun(tmp_path, STRANGE, BY_NAME)
    result = judged(going, tmp_path)
    assert servers.asked == [(READERS[0],)]
    (finding,) = result[READERS[0]].findings
    assert (finding.kind, finding.responsible) == (FindingKind.ORDER_DEPENDENT, Responsible.READER)
    assert (finding.witness.expected, finding.witness.actual) == ("f3s1r1", "asuffix")
    assert result[READERS[1]].reproduces == ("by name",)
    recorded = list(jsonl.read_all(going.folder / load_run.ANSWERS, Answer))
    assert [(answer.again, answer.earlier is not None) for answer in recorded] == [
        (True, True),
        (False, False),
    ]


def test_the_question_on_which_an_answer_depends_is_named(
    servers: FreshServers, tmp_path: Path
) -> None:
    servers.culprit = "mine"
    going = begun(tmp_path, STRANGE, RIGHT)
    verdict = judged(going, tmp_path)[READERS[0]]
    cases = [cell.case for cell in going.cells]
    ((case, tried),) = servers.searched
    assert case == cases[0] == tried[-1]
    assert "; one that is asked mine first gives that one too" in verdict.because
    recorded = list(jsonl.read_all(going.folder / load_run.ANSWERS, Answer))
    assert [answer.after for answer in recorded] == ["mine", ""]


def test_where_nothing_is_unexplained_no_server_is_started(
    servers: FreshServers, tmp_path: Path
) -> None:
    judged(begun(tmp_path, RIGHT, BY_NAME), tmp_path)
    assert servers.asked == []


def test_an_answer_that_comes_again_keeps_its_findings_and_is_not_asked_a_third_time(
    servers: FreshServers, tmp_path: Path
) -> None:
    servers.says = dict.fromkeys(READERS, STRANGE)
    going = begun(tmp_path, STRANGE, RIGHT)
    first = judged(going, tmp_path)
    assert FindingKind.ORDER_DEPENDENT not in {f.kind for f in first[READERS[0]].findings}
    assert first[READERS[0]].verdict is VerdictKind.WRONG
    assert judged(going, tmp_path) == first
    assert len(servers.asked) == 1


WITNESS = Witness("1", "f", 1, 2)


def verdict(
    kind: VerdictKind,
    *strategies: str,
    responsible: Responsible | None = Responsible.READER,
    case: str = "c",
) -> Verdict:
    finding = Finding(FindingKind.UNEXPLAINED, ("f",), WITNESS, (WITNESS,), responsible)
    result = (finding,) if kind is VerdictKind.WRONG else ()
    return Verdict(case, "s", "v", 1, "r", "snapshot", "all", kind, result, strategies)


@pytest.mark.parametrize(
    ("suspect", "expected"),
    [
        (verdict(VerdictKind.WRONG), True),
        (verdict(VerdictKind.WRONG, responsible=None), True),
        (verdict(VerdictKind.WRONG, "by name"), False),
        (verdict(VerdictKind.WRONG, responsible=Responsible.WRITER), False),
        (verdict(VerdictKind.WRONG, responsible=Responsible.UNSURE), False),
        (verdict(VerdictKind.CORRECT), False),
        (verdict(VerdictKind.REFUSED), False),
        (verdict(VerdictKind.UNKNOWN), False),
    ],
)
def test_what_is_wrong_and_neither_a_way_of_reading_nor_the_files_explain_is_due(
    suspect: Verdict, *, expected: bool
) -> None:
    assert due(suspect, {"c": RIGHT}, UNEXPLAINED) is expected
    assert not due(suspect, {}, UNEXPLAINED)
    assert not due(suspect, {"c": replace(RIGHT, again=True)}, UNEXPLAINED)
    assert not due(suspect, {"c": Answer("", "", refusal=Refusal("K", "m"))}, UNEXPLAINED)


def test_a_sample_has_some_of_the_right_answers() -> None:
    right = [verdict(VerdictKind.CORRECT, case=f"case {number}") for number in range(50 * ONE_OF)]
    answers = dict.fromkeys((verdict.case for verdict in right), RIGHT)
    assert 25 <= sum(due(verdict, answers, SAMPLE) for verdict in right) <= 100
    assert not any(due(verdict, answers, UNEXPLAINED) for verdict in right)
    assert due(verdict(VerdictKind.WRONG), {"c": RIGHT}, SAMPLE)


def planned(variants: int) -> Plan:
    ids = [f"v{number}" for number in range(variants)]
    made = tuple(Variant(id_, None, "hudi-cow", {}, ()) for id_ in ids)  # type: ignore[arg-type]
    readers = [f"hive-3.1.3{{path={setting}}}" for setting in ("fetch", "mapreduce")]
    cells = tuple(
        Cell(id_, step, reader, "snapshot", "all")
        for id_ in ids
        for step in (1, 2)
        for reader in readers
    )
    return Plan("p", made, tuple(map(parse_reader, readers)), cells)


def test_each_reader_has_a_fresh_server_for_each_variant_unless_these_are_too_many() -> None:
    few, many = planned(MOST_SERVERS // 2), planned(MOST_SERVERS // 2 + 1)
    result = groups(few, few.cells)
    assert len(result) == MOST_SERVERS
    assert all(len({(cell.reader, cell.variant) for cell in cells}) == 1 for cells in result)
    assert sorted(map(str, sum(result, ()))) == sorted(map(str, few.cells))
    assert groups(many, many.cells) == (many.cells,)
