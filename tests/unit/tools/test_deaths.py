"""`tools/deaths.py`: its runs, when it strikes, and what it says of a run with a death."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import psutil
import pytest

from harness.cli import plan_options
from harness.core import jsonl
from harness.core.records import Verdict, VerdictKind
from harness.plan.product import select
from harness.run import load_run
from harness.scenario.cells import Plan
from harness.write import write_variants
from tools import deaths as typed

deaths: Any = typed
"""Simulated runs and processes stand for real ones."""

RUNS = 200


def test_the_shares_are_those_of_two_hundred_runs() -> None:
    assert sum(deaths.SHARES.values()) == RUNS
    assert set(deaths.planned(RUNS, 1, "").values()) == set(deaths.SHARES)


def test_a_run_is_the_same_however_many_are_asked_for() -> None:
    all_of_them = deaths.planned(RUNS, 1, "")
    assert deaths.planned(7, 1, "") == {n: all_of_them[n] for n in range(1, 8)}
    hangs = deaths.planned(RUNS, 1, "hangs")
    assert hangs.items() < all_of_them.items()
    assert all(kind.stops for kind in hangs.values())


def test_what_was_done_is_known_to_the_next_go(tmp_path: Path) -> None:
    kind = deaths.planned(1, 1, "")[1]
    deaths.Experiment(tmp_path, 1).note(1, kind, "went on by itself", 30.4)
    assert deaths.Experiment(tmp_path, 1).outcomes() == {1: "went on by itself"}
    assert deaths.Experiment(tmp_path, 2).outcomes() == {}


@cache
def whole(folder: str, profile: str) -> Plan:
    return plan_options.make([Path(folder)], profile, "")


def plan_of(cells: tuple[str, ...]) -> Plan:
    """Make the plan that a verb would make of these options."""
    folder, _, profile, _, selected = cells
    return select(whole(folder, profile), selected)


def test_a_run_asks_the_one_engine_of_its_kind_and_has_what_is_struck() -> None:
    for kind in deaths.SHARES:
        plan = plan_of(kind.cells)
        assert {reader.distribution for reader in plan.readers} == {kind.reader}
        writers = (
            {name for variant in plan.variants for name in variant.writers} if kind.writes else ()
        )
        assert kind.target in {"harness", deaths.METASTORE, kind.reader, *writers}


@pytest.mark.parametrize("beside", ["READS_BESIDE", "ICEBERG_BESIDE"])
def test_some_tables_are_read_while_others_are_written(beside: str) -> None:
    reader = getattr(deaths, beside)
    plan = plan_of(deaths.DeathKind("harness", reader, writes=True).cells)
    assert len(plan.variants) == 3 * write_variants.AT_ONCE
    assert {cell.variant for cell in plan.cells} == {variant.id for variant in plan.variants}
    writers = {name for variant in plan.variants for name in variant.writers}
    struck = {kind.target for kind in deaths.SHARES if kind.writes and kind.reader == reader}
    assert struck >= {"harness"} | writers


@dataclass
class Clock:
    """A clock that sleeping alone moves on, and a run whose target is there at times."""

    times: tuple[tuple[float, float], ...] = ()
    now: float = 0.0

    @property
    def process(self) -> Clock:
        return self

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def processes(self, _: str) -> bool:
        return any(start <= self.now < end for start, end in self.times)

    def answers(self, _: str) -> bool:
        return self.now > self.times[-1][0] + 1

    def poll(self) -> int | None:
        return 0 if self.now > self.times[-1][1] + 5 else None


@pytest.mark.parametrize(
    ("wait_s", "answers", "then"),
    [
        (0.0, False, 5.0),
        (2.0, False, 7.0),
        (4.0, False, 21.0),  # 3 s of the first one, 1 s of the second
        (9.0, False, 26.0),
        (0.0, True, 21.0),
        (50.0, False, 35.0),  # too late: the run is over
    ],
)
def test_a_blow_falls_when_its_target_was_there_for_so_long_in_all(
    monkeypatch: pytest.MonkeyPatch, wait_s: float, then: float, *, answers: bool
) -> None:
    clock = Clock(((5.0, 8.0), (20.0, 30.0)))
    monkeypatch.setattr(deaths, "time", clock)
    deaths._wait(clock, "metastore", wait_s, answers=answers)
    assert clock.now == pytest.approx(then, abs=3 * deaths.POLL_S)


NUMBER: Final = 3
ENDED: Final = 3
"""The exit status of a run with unknown cells."""
Verdicts = Mapping[str, VerdictKind]
RIGHT: Final = {"a": VerdictKind.CORRECT, "b": VerdictKind.WRONG}
UNKNOWN: Final = {"a": VerdictKind.CORRECT, "b": VerdictKind.UNKNOWN}
ANOTHER: Final = {"a": VerdictKind.WRONG, "b": VerdictKind.WRONG}
MISSING: Final = {"a": VerdictKind.CORRECT}
KIND: Final = deaths.DeathKind("x", "r")
NOTHING: Final = ()


@dataclass(frozen=True)
class Process:
    """A process that is there or not."""

    runs: bool
    state: str = psutil.STATUS_SLEEPING

    def is_running(self) -> bool:
        return self.runs

    def status(self) -> str:
        return self.state


ZOMBIE: Final = Process(runs=True, state=psutil.STATUS_ZOMBIE)


@dataclass
class Scripted:
    """Stands for `deaths.RunProcess` and `deaths.strike`: runs that end as scripted."""

    ends: list[tuple[int, Verdicts]]
    struck: Iterator[object | None]
    begun: bool = True
    leaves: Path = Path()
    """A folder that each run leaves behind."""
    stays: list[Process] = field(default_factory=list)
    """What a run that is gone on with leaves running."""
    options: list[tuple[str, ...]] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    folder: Path = Path()

    def run(self, folder: Path, cache: Path, *options: str) -> Scripted:
        self.folder = folder
        self.options.append(options)
        return self

    def finish(self) -> int:
        status, kinds = self.ends.pop(0)
        self.folder.mkdir(exist_ok=True)
        self.leaves.mkdir(parents=True, exist_ok=True)
        write(self.folder, kinds)
        if self.begun:
            (self.folder / load_run.INFO).touch()
        return status

    def strike(self, _: object, kind: object, wait_s: float, chance: object) -> object:
        self.waits.append(wait_s)
        return next(self.struck)

    def everything(self) -> list[Process]:
        return self.stays if "--resume" in self.options[-1] else []


def write(folder: Path, kinds: Verdicts) -> None:
    verdicts = [Verdict(case, "s", "v", 1, "r", "w", "q", kind) for case, kind in kinds.items()]
    jsonl.write_all(folder / load_run.VERDICTS, verdicts)


MakeExperiment = Callable[..., tuple[Any, Scripted]]


@pytest.fixture
def experiment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> MakeExperiment:
    """Return a function that makes an experiment with a known undisturbed run, and its runs."""
    monkeypatch.setattr(deaths, "time", Clock())
    monkeypatch.setattr(deaths, "GONE_S", 3 * deaths.POLL_S)  # by that clock
    monkeypatch.setattr(deaths.pipeline, "judge_run", lambda _: None)
    (tmp_path / "known").mkdir()
    write(tmp_path / "known", RIGHT)
    known = deaths.Undisturbed(0, deaths.verdicts(tmp_path / "known"), 50.0, {"x": 30.0}, {})

    def make(
        *ends: tuple[int, Verdicts], struck: Sequence[object | None] = (NOTHING,)
    ) -> tuple[Any, Scripted]:
        scripted = Scripted(list(ends), iter(struck))
        monkeypatch.setattr(deaths, "RunProcess", scripted.run)
        monkeypatch.setattr(deaths, "strike", scripted.strike)
        return deaths.Experiment(tmp_path, 1, {"undisturbed-r": known}), scripted

    return make


@pytest.mark.parametrize(
    ("ends", "struck", "outcome"),
    [
        ([(0, RIGHT)], NOTHING, "went on by itself"),
        ([(ENDED, UNKNOWN), (0, RIGHT)], NOTHING, "resumed after 3"),
        ([(ENDED, {}), (0, RIGHT)], NOTHING, "resumed after 3"),
        ([(ENDED, ANOTHER)], NOTHING, "differs"),  # although what comes after may be right
        ([(0, UNKNOWN)], NOTHING, "differs"),
        ([(0, MISSING)], NOTHING, "differs"),
        ([(ENDED, UNKNOWN), (0, MISSING)], NOTHING, "differs"),
        ([(ENDED, UNKNOWN), (0, ANOTHER)], NOTHING, "differs"),
        ([(ENDED, UNKNOWN), (ENDED, UNKNOWN)], NOTHING, "broken"),
        ([(0, ANOTHER)], None, "differs"),
        ([(0, RIGHT)], (Process(runs=True),), "survived"),
        ([(0, RIGHT)], (ZOMBIE, Process(runs=False)), "went on by itself"),
    ],
)
def test_the_outcome_of_a_run_is_by_its_verdicts_its_status_and_what_outlives_it(
    experiment: MakeExperiment, ends: list[tuple[int, Verdicts]], struck: object, outcome: str
) -> None:
    made, scripted = experiment(*ends, struck=[struck])
    assert deaths.until_struck(made, KIND, NUMBER) == outcome
    assert not scripted.ends
    assert scripted.options[1:] == [("--resume",)][: len(ends) - 1]


def test_what_a_death_left_is_judged_before_it_is_gone_on_with(
    experiment: MakeExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = experiment((-9, {}), (0, RIGHT))
    monkeypatch.setattr(deaths.pipeline, "judge_run", lambda folder: write(folder, ANOTHER))
    assert deaths.until_struck(made, KIND, NUMBER) == "differs"


def test_records_that_a_death_harmed_are_reported(
    experiment: MakeExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = experiment((-9, {}), (0, RIGHT))
    monkeypatch.setattr(deaths.pipeline, "judge_run", load_run.load)  # nothing is in `run.json`
    assert deaths.until_struck(made, KIND, NUMBER) == "broken"


def test_a_run_that_had_not_begun_is_begun_again(experiment: MakeExperiment) -> None:
    made, scripted = experiment((-9, {}), (0, RIGHT))
    scripted.begun = False
    assert deaths.until_struck(made, KIND, NUMBER) == "begun again after -9"
    assert scripted.options == [tuple(KIND.options)] * 2


@pytest.mark.parametrize("ends", [[(0, RIGHT)], [(ENDED, UNKNOWN), (0, RIGHT)]])
@pytest.mark.parametrize(
    "path", ["run-3/engines/trino-476-0/data", "run-3/answers.jsonl.part", "cache/states/.making-1"]
)
def test_what_is_half_made_after_the_end_is_reported(
    experiment: MakeExperiment, tmp_path: Path, ends: list[tuple[int, Verdicts]], path: str
) -> None:
    made, scripted = experiment(*ends)
    scripted.leaves = tmp_path / path
    assert deaths.until_struck(made, KIND, NUMBER) == "left over"
    assert (tmp_path / path).exists()  # so that it can be looked at


def test_what_a_run_that_was_gone_on_with_leaves_running_is_reported(
    experiment: MakeExperiment,
) -> None:
    made, scripted = experiment((ENDED, UNKNOWN), (0, RIGHT))
    scripted.stays = [Process(runs=True)]
    assert deaths.until_struck(made, KIND, NUMBER) == "survived"


def test_a_run_is_done_again_with_another_moment_until_something_was_struck(
    experiment: MakeExperiment,
) -> None:
    late = [None, None]
    made, scripted = experiment(*[(0, RIGHT)] * 3, struck=[*late, NOTHING])
    assert deaths.until_struck(made, KIND, NUMBER) == "went on by itself"
    assert len(set(scripted.waits)) == 3
    assert all(0 < wait < 30 for wait in scripted.waits)


def test_runs_in_which_nothing_was_struck_are_not_counted_and_are_done_by_the_next_go(
    experiment: MakeExperiment,
) -> None:
    tries, kind = deaths.TRIES, next(iter(deaths.SHARES))
    made, scripted = experiment(*[(0, RIGHT)] * 2 * tries, struck=[None] * 2 * tries)
    assert deaths.until_struck(made, KIND, NUMBER) == "too late"
    assert len(scripted.waits) == tries
    made.note(NUMBER, kind, "too late", 1.0)
    made.note(4, kind, "differs", 1.0)
    assert deaths.due(made, {NUMBER: kind, 4: kind, 5: kind}) == {NUMBER: kind, 5: kind}
    assert deaths.until_struck(made, KIND, NUMBER) == "too late"
    assert len(set(scripted.waits)) == 2 * tries  # the next go strikes at other moments


def test_the_table_says_what_became_of_what_was_struck_whoever_read() -> None:
    first, other, second = (
        *[kind for kind in deaths.SHARES if kind.struck == "harness killed"][:2],
        next(kind for kind in deaths.SHARES if kind.struck == "prestodb-0.283 hangs"),
    )
    outcomes = [(first, "resumed after -9"), (other, "resumed after 3")]
    outcomes += [(first, "begun again after -9"), (other, deaths.LATE)]
    done = outcomes + [(second, outcome) for outcome in deaths.FAILED]
    head, _, *rows = (line.strip("| ").split(" | ") for line in deaths.table(done))
    assert head[:5] == ["what was struck", "runs", *list(deaths.COLUMNS.values())[:3]]
    assert rows == [
        ["harness killed", "3", "0", "2", "1", "0", "0", "0", "0", "1"],
        ["prestodb-0.283 hangs", "4", "0", "0", "0", "1", "1", "1", "1", "0"],
        ["all", "7", "0", "2", "1", "1", "1", "1", "1", "1"],
    ]
    assert (
        deaths.total([outcome for _, outcome in done], 200)
        == "7 of 200 runs struck something; 4 of these failed."
    )


def test_the_moment_is_any_of_the_time_that_the_target_was_there_or_answered() -> None:
    known = deaths.Undisturbed(0, {}, 50.0, {"x": 30.0}, {"x": 10.0})
    kinds = [(deaths.DeathKind("x", "r"), 30.0), (deaths.DeathKind("x", "r", stops=True), 10.0)]
    for kind, most in [*kinds, (deaths.DeathKind("harness", "r"), 50.0)]:
        chance = random.Random(1)  # noqa: S311 - not secret
        assert known.wait_s(kind, chance) == random.Random(1).random() * most  # noqa: S311
