"""The baselines of a run: files beside the scenarios, and what they said when it was planned.

What the run remembers counts only where no file of the scenario is found, see `scenario_file`.
"""

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import engines, formats
from harness.artifacts import distributions
from harness.artifacts.distribution import Distribution
from harness.core.atomic_write import atomic_write
from harness.core.errors import UsageProblem, unwritable
from harness.core.grouping import grouped
from harness.core.problems import read_all
from harness.core.records import Answer, Verdict, VerdictKind
from harness.core.runtime_names import lock_name
from harness.core.yaml_reader import read
from harness.judge import baseline
from harness.judge.baseline import Applied, EngineFacts, Facts, Known, Possible
from harness.plan import distribution_support, shipped
from harness.run.load_run import BaselineInfo, Run, RunInfo
from harness.scenario.cells import Plan, Variant
from harness.scenario.definition import AXES, Scenario


def remembered(variants: Iterable[Variant]) -> Mapping[str, BaselineInfo]:
    """Return the baselines as they are now, for the run to remember.

    Raises ScenarioProblem: every problem of every baseline, before anything is run.
    """
    scenarios = {v.scenario.name: v.scenario for v in variants if v.scenario.path}
    baselines = {}
    for name, scenario in scenarios.items():
        path = Path(scenario.path).resolve()
        below = "" if shipped.near(path) == path else str(shipped.near(path))
        baselines[name] = BaselineInfo(str(path), _text(_beside(Path(scenario.path))), below)
    read_all(lambda name: _lines(baselines[name], scenarios[name]), baselines)
    return baselines


def apply(run: Run, plan: Plan, verdicts: Sequence[Verdict]) -> Applied:
    """Return what is known of the verdicts of a run.

    Raises ScenarioProblem: every problem of every baseline.
    """
    return baseline.apply(verdicts, lines(run.info, plan), facts(run, plan), today())


def lines_of(run: Run, plan: Plan) -> baseline.Lines:
    """Return the baselines of a run, to which its verdicts come one after another.

    Raises ScenarioProblem: every problem of every baseline.
    """
    return baseline.Lines(lines(run.info, plan), facts(run, plan), today())


def lines(info: RunInfo, plan: Plan) -> Mapping[str, tuple[Known, ...]]:
    """Return the baseline of each scenario of a run as it is now.

    Raises ScenarioProblem: every problem of every baseline.
    """
    scenarios = _scenarios(plan)
    result = read_all(lambda name: _lines(_now(info, name), scenarios[name]), scenarios)
    return dict(zip(scenarios, result, strict=True))


@dataclass(frozen=True, slots=True)
class Updated:
    changed: tuple[Path, ...]
    """Those that are other than before."""
    unknown: int
    """Of so many cells and steps the run does not know how they are: nothing is learnt of them."""


def update(run: Run, plan: Plan, verdicts: Sequence[Verdict]) -> Updated:
    """Write what was seen into the baselines; one without lines is removed.

    Raises UsageProblem, ScenarioProblem: a scenario's file is not here, or an old baseline cannot
    be read; nothing is written then.
    """
    seen = baseline.all_seen(verdicts, facts(run, plan))
    texts: dict[Path, str] = {}
    of = grouped([(observation.scenario, observation) for observation in seen])
    for name in _scenarios(plan):
        scenario = scenario_file(run.info, name)
        if scenario is None:
            raise UsageProblem(
                f"the file of scenario {name} is not here; update its baseline where it is"
            )
        path = _beside(scenario)
        texts[path] = baseline.update(
            _text(path), str(shipped.near(path)), of.get(name, ()), today()
        )
    changed = [path for path, text in texts.items() if _text(path) != text]
    for path in changed:
        _write(path, texts[path])
    unknown = sum(verdict.verdict is VerdictKind.UNKNOWN for verdict in verdicts)
    return Updated(tuple(map(shipped.near, changed)), unknown)


def facts(run: Run, plan: Plan) -> Facts:
    whole = (at for at, state in run.by_step.items() if not state.outcome.failed)
    variants = {variant.id: variant for variant in plan.variants}
    refused_steps = {
        variants[name].step_cell(step).case: state.outcome.error_name
        for (name, step), state in run.by_step.items()
        if state.outcome.refusal is not None
    }
    return Facts(
        variants=variants,
        engines={d.name: (d.engine, d.version) for d in _locked(plan)},
        refusals=_Refusals(run.answers, refused_steps),
        applied=tuple(whole),
    )


class _Refusals(Mapping[str, str]):
    """The kind of the refusal of each refused case; an answer is read when asked for."""

    def __init__(self, answers: Mapping[str, Answer], steps: Mapping[str, str]) -> None:
        self._answers, self._steps = answers, steps

    def __getitem__(self, case: str) -> str:
        if case in self._steps:
            return self._steps[case]
        refusal = self._answers[case].refusal
        if refusal is None:
            raise KeyError(case)
        return refusal.kind

    def __iter__(self) -> Iterator[str]:
        return (case for case in (*self._answers, *self._steps) if case in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _locked(plan: Plan) -> Iterator[Distribution]:
    """Yield the distributions of a plan that can be asked; of all others no lock data are read."""
    writers = (name for variant in plan.variants for name in variant.writers)
    named = (*writers, *(reader.distribution for reader in plan.readers))
    locked_names = set(map(lock_name, named)) & set(distributions.names())
    yield from (d for d in map(distributions.load, sorted(locked_names)) if d.is_asked)


def today() -> datetime.date:
    """Return the day on which baselines count, in UTC."""
    return datetime.datetime.now(datetime.UTC).date()


def _scenarios(plan: Plan) -> dict[str, Scenario]:
    return {variant.scenario.name: variant.scenario for variant in plan.variants}


def _now(info: RunInfo, name: str) -> BaselineInfo:
    """Return a baseline as it is beside its scenario, else as the run remembers it."""
    path = scenario_file(info, name)
    if path is not None:
        return BaselineInfo(str(path), _text(_beside(path)))
    return info.baselines.get(name, BaselineInfo())


def scenario_file(info: RunInfo, name: str) -> Path | None:
    """Find a scenario's file: where it was, else in a clone, else among those shipped here."""
    was = info.baselines.get(name, BaselineInfo())
    paths = [Path(path_text) for path_text in (was.scenario, was.below) if path_text]
    paths.append(shipped.scenarios_folder() / f"{name}.yaml")
    return next((path for path in paths if path.is_file()), None)


def _beside(scenario: Path) -> Path:
    return scenario.with_name(f"{scenario.stem}{shipped.BASELINE}")


def _text(path: Path) -> str:
    return read(path) if path.exists() else ""


def _lines(info: BaselineInfo, scenario: Scenario) -> tuple[Known, ...]:
    path = shipped.near(_beside(Path(info.scenario))) if info.scenario else Path(scenario.name)
    lines = baseline.parse(info.text, str(path))
    if lines:  # what engines can be is in the lock data of all of them
        baseline.check(lines, _possible(scenario))
    return lines


def _possible(scenario: Scenario) -> Possible:
    possible = [formats.load(name) for name in scenario.formats or formats.names()]
    settings = {name: values for format_ in possible for name, values in format_.settings.items()}
    return Possible(
        engines=tuple(
            EngineFacts(d.engine, d.version, d.name, engines.load(d.engine).settings)
            for d in distribution_support.readers()
        ),
        formats={format_.NAME: (*format_.views, *format_.past_views) for format_ in possible},
        variants={**AXES, **settings},
        steps=len(scenario.steps),
    )


def _write(path: Path, text: str) -> None:
    if text:
        with atomic_write(path) as part:
            part.write_text(text, encoding="utf-8")
        return
    try:
        path.unlink()
    except OSError as wrong:
        raise unwritable(wrong, path) from wrong
