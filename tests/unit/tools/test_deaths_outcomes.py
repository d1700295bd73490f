"""`tools/deaths.py`: what it says of a run in which something died, and what counts."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import psutil
import pytest

from harness.core import jsonl
from harness.core.records import Verdict, VerdictKind
from harness.run import load_run

NUMBER: Final = 3
ENDED: Final = 3
"""The exit status of a run with unknown cells."""
Said = Mapping[str, VerdictKind]
RIGHT: Final = {"a": VerdictKind.CORRECT, "b": VerdictKind.WRONG}
UNKNOWN: Final = {"a": VerdictKind.CORRECT, "b": VerdictKind.UNKNOWN}
ANOTHER: Final = {"a": VerdictKind.WRONG, "b": VerdictKind.WRONG}
MISSING: Final = {"a": VerdictKind.CORRECT}


@pytest.fixture
def deaths() -> ModuleType:
    return importlib.import_module("tools.deaths")


@pytest.fixture
def log() -> ModuleType:
    return importlib.import_module("tools.deaths_outcomes")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = importlib.import_module("tools.deaths_runs")
    monkeypatch.setattr(module, "time", Clock())
    monkeypatch.setattr(module, "GONE_S", 3 * module.POLL_S)  # by that clock
    return module


@dataclass
class Clock:
    """A clock that sleeping alone moves on."""

    now: float = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass(frozen=True)
class Process:
    """A process that is there or not."""

    runs: bool
    state: str = psutil.STATUS_SLEEPING

    def is_running(self) -> bool:
        return self.runs

    def status(self) -> str:
        return self.state


@dataclass
class Scripted:
    """Stands for `deaths.RunProcess` and `deaths.strike`: runs that end as told, struck or not."""

    ends: list[tuple[int, Said]]
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
        status, said = self.ends.pop(0)
        self.folder.mkdir(exist_ok=True)
        self.leaves.mkdir(parents=True, exist_ok=True)
        write(self.folder, said)
        if self.begun:
            (self.folder / load_run.INFO).touch()
        return status

    def strike(self, _: object, target: str, blow: int, wait_s: float, chance: object) -> object:
        self.waits.append(wait_s)
        return next(self.struck)

    def everything(self) -> list[Process]:
        return self.stays if "--resume" in self.options[-1] else []


def write(folder: Path, said: Said) -> None:
    verdicts = [Verdict(case, "s", "v", 1, "r", "w", "q", kind) for case, kind in said.items()]
    jsonl.write_all(folder / load_run.VERDICTS, verdicts)


MakeExperiment = Callable[..., tuple[Any, Scripted]]


@pytest.fixture
def experiment(
    deaths: ModuleType, runs: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> MakeExperiment:
    """Return a function that makes an experiment with a known undisturbed run, and its runs."""
    monkeypatch.setattr(deaths.pipeline, "judge_run", lambda _: None)
    (tmp_path / "known").mkdir()
    write(tmp_path / "known", RIGHT)
    known = deaths.Undisturbed(0, deaths.verdicts(tmp_path / "known"), 50.0, {"x": 30.0}, {})

    def make(
        *ends: tuple[int, Said], struck: Sequence[object | None] = (runs.Struck((), ()),)
    ) -> tuple[Any, Scripted]:
        scripted = Scripted(list(ends), iter(struck))
        monkeypatch.setattr(deaths, "RunProcess", scripted.run)
        monkeypatch.setattr(deaths, "strike", scripted.strike)
        log = deaths.OutcomeLog(tmp_path, 1)
        return deaths.Experiment(tmp_path, log, {("r", False): known}), scripted

    return make


@pytest.mark.parametrize(
    ("ends", "outcome"),
    [
        ([(0, RIGHT)], "went on by itself"),
        ([(ENDED, UNKNOWN), (0, RIGHT)], "resumed after 3"),
        ([(ENDED, {}), (0, RIGHT)], "resumed after 3"),
        ([(ENDED, ANOTHER)], "differs"),  # although what comes after may be right
        ([(0, UNKNOWN)], "differs"),
        ([(0, MISSING)], "differs"),
        ([(ENDED, UNKNOWN), (0, MISSING)], "differs"),
        ([(ENDED, UNKNOWN), (0, ANOTHER)], "differs"),
        ([(ENDED, UNKNOWN), (ENDED, UNKNOWN)], "broken"),
    ],
)
def test_what_came_of_a_struck_run(
    deaths: ModuleType, experiment: MakeExperiment, ends: list[tuple[int, Said]], outcome: str
) -> None:
    made, scripted = experiment(*ends)
    kind = deaths.DeathKind("x", "r")
    assert deaths.until_struck(made, kind, NUMBER) == outcome
    assert not scripted.ends
    assert scripted.options[1:] == [("--resume",)][: len(ends) - 1]


def test_what_a_death_left_is_judged_before_it_is_gone_on_with(
    deaths: ModuleType, experiment: MakeExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = experiment((-9, {}), (0, RIGHT))
    monkeypatch.setattr(deaths.pipeline, "judge_run", lambda folder: write(folder, ANOTHER))
    assert deaths.until_struck(made, deaths.DeathKind("x", "r"), NUMBER) == "differs"


def test_records_that_a_death_harmed_are_told(
    deaths: ModuleType, experiment: MakeExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = experiment((-9, {}), (0, RIGHT))
    monkeypatch.setattr(deaths.pipeline, "judge_run", load_run.load)  # nothing is in `run.json`
    assert deaths.until_struck(made, deaths.DeathKind("x", "r"), NUMBER) == "broken"


def test_a_run_that_had_not_begun_is_begun_again(
    deaths: ModuleType, experiment: MakeExperiment
) -> None:
    made, scripted = experiment((-9, {}), (0, RIGHT))
    scripted.begun = False
    kind = deaths.DeathKind("x", "r")
    assert deaths.until_struck(made, kind, NUMBER) == "begun again after -9"
    assert scripted.options == [tuple(kind.options)] * 2


@pytest.mark.parametrize("ends", [[(0, RIGHT)], [(ENDED, UNKNOWN), (0, RIGHT)]])
@pytest.mark.parametrize(
    "path",
    ["run-3/engines/trino-476-0/data", "run-3/answers.jsonl.part", "cache/states/.making-1"],
)
def test_what_is_half_made_after_the_end_is_told(
    deaths: ModuleType,
    experiment: MakeExperiment,
    tmp_path: Path,
    ends: list[tuple[int, Said]],
    path: str,
) -> None:
    made, scripted = experiment(*ends)
    scripted.leaves = tmp_path / path
    assert deaths.until_struck(made, deaths.DeathKind("x", "r"), NUMBER) == "left over"
    assert (tmp_path / path).exists()  # so that it can be looked at


@pytest.mark.parametrize(
    ("process", "outcome"),
    [
        (Process(runs=True), "survived"),
        (Process(runs=True, state=psutil.STATUS_ZOMBIE), "went on by itself"),
        (Process(runs=False), "went on by itself"),
    ],
)
def test_a_process_that_outlives_the_harness_is_told(
    deaths: ModuleType, runs: ModuleType, experiment: MakeExperiment, process: Process, outcome: str
) -> None:
    made, _ = experiment((0, RIGHT), struck=[runs.Struck((process,), ())])
    assert deaths.until_struck(made, deaths.DeathKind("x", "r"), NUMBER) == outcome


def test_what_a_run_that_was_gone_on_with_leaves_running_is_told(
    deaths: ModuleType, experiment: MakeExperiment
) -> None:
    made, scripted = experiment((ENDED, UNKNOWN), (0, RIGHT))
    scripted.stays = [Process(runs=True)]
    assert deaths.until_struck(made, deaths.DeathKind("x", "r"), NUMBER) == "survived"


def test_a_run_is_done_again_with_another_moment_until_something_was_struck(
    deaths: ModuleType, runs: ModuleType, experiment: MakeExperiment
) -> None:
    late = [None, None]
    made, scripted = experiment(*[(0, RIGHT)] * 3, struck=[*late, runs.Struck((), ())])
    assert deaths.until_struck(made, deaths.DeathKind("x", "r"), NUMBER) == "went on by itself"
    assert len(set(scripted.waits)) == 3
    assert all(0 < wait < 30 for wait in scripted.waits)


def test_runs_in_which_nothing_was_struck_are_not_counted_and_are_done_by_the_next_go(
    deaths: ModuleType, log: ModuleType, experiment: MakeExperiment
) -> None:
    tries, kind = deaths.TRIES, next(iter(log.SHARES))
    made, scripted = experiment(*[(0, RIGHT)] * 2 * tries, struck=[None] * 2 * tries)
    assert deaths.until_struck(made, deaths.DeathKind("x", "r"), NUMBER) == "too late"
    assert len(scripted.waits) == tries
    made.log.note(NUMBER, kind, "too late", 1.0)
    made.log.note(4, kind, "differs", 1.0)
    assert log.due({NUMBER: kind, 4: kind, 5: kind}, made.log.done()) == {NUMBER: kind, 5: kind}
    assert deaths.until_struck(made, deaths.DeathKind("x", "r"), NUMBER) == "too late"
    assert len(set(scripted.waits)) == 2 * tries  # the next go strikes at other moments


def test_a_run_that_nobody_struck_must_have_the_verdicts_of_any_other(
    deaths: ModuleType, experiment: MakeExperiment
) -> None:
    made, _ = experiment((0, ANOTHER), struck=[None])
    assert deaths.until_struck(made, deaths.DeathKind("x", "r"), NUMBER) == "differs"


def test_the_table_says_what_became_of_what_was_struck_whoever_read(log: ModuleType) -> None:
    first, other, second = (
        *[kind for kind in log.SHARES if kind.struck == "harness killed"][:2],
        next(kind for kind in log.SHARES if kind.struck == "prestodb-0.283 hangs"),
    )
    outcomes = [(first, "resumed after -9"), (other, "resumed after 3")]
    outcomes += [(first, "begun again after -9"), (other, log.LATE)]
    done = outcomes + [(second, any_) for any_ in log.FAILED]
    head, _, *rows = (line.strip("| ").split(" | ") for line in log.table(done))
    assert head[:5] == ["what was struck", "runs", *list(log.COLUMNS.values())[:3]]
    assert rows == [
        ["harness killed", "3", "0", "2", "1", "0", "0", "0", "0", "1"],
        ["prestodb-0.283 hangs", "4", "0", "0", "0", "1", "1", "1", "1", "0"],
        ["all", "7", "0", "2", "1", "1", "1", "1", "1", "1"],
    ]
    said = log.total([outcome for _, outcome in done], 200)
    assert said == "7 of 200 runs struck something; 4 of these failed."


def test_the_moment_is_any_of_the_time_that_the_target_was_there_or_answered(
    deaths: ModuleType,
) -> None:
    known = deaths.Undisturbed(0, {}, 50.0, {"x": 30.0}, {"x": 10.0})
    kinds = [(deaths.DeathKind("x", "r"), 30.0), (deaths.DeathKind("x", "r", stops=True), 10.0)]
    for kind, most in [*kinds, (deaths.DeathKind("harness", "r"), 50.0)]:
        chance = random.Random(1)  # noqa: S311 - not secret
        assert known.wait_s(kind, chance) == random.Random(1).random() * most  # noqa: S311
