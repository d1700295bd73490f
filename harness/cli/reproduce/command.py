"""`harness reproduce`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from harness import formats
from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.cli import options, runs
from harness.cli.explain.recorded_cell import find
from harness.cli.output import Output
from harness.cli.reproduce import candidate as candidates
from harness.cli.reproduce import causes, files, shrink
from harness.cli.reproduce.candidate import Candidate
from harness.cli.reproduce.causes import CauseGroup, signs, step_answers
from harness.cli.reproduce.files import Observation
from harness.cli.reproduce.shrink import Search, Target, Trial, cell_of
from harness.cli.runs import Resources
from harness.core.errors import HarnessError, UsageProblem
from harness.core.records import Answer, FindingKind, OutcomeKind, VerdictKind
from harness.core.runtime_names import MetastoreChoice
from harness.core.texts import counted
from harness.model import query_shapes
from harness.reports.lines import say
from harness.run import load_run, plan_record, run_folder
from harness.run.load_run import WRITE, Run
from harness.scenario.cells import Cell, Plan, Variant, parse_reader
from harness.usage import own_tables

PROFILE: Final = "reproduce"
FOLDER: Final = Path("reproducers")
MINUTES: Final = 10.0


@options.with_output
def reproduce(
    output: Output,
    case: Annotated[
        list[str] | None,
        typer.Argument(help="Names of checks, or parts of one name that no other check has."),
    ] = None,
    run_dir: options.OldRunOption = run_folder.LATEST_RUN,
    every: Annotated[bool, typer.Option("--all", help="Reproduce every cause.")] = False,
    folder: Annotated[Path, typer.Option(help="The folder for reproducers.")] = FOLDER,
    minutes: Annotated[
        float, typer.Option(min=0, help="Minutes for each cause after which no new round begins.")
    ] = MINUTES,
    offline: options.OfflineOption = False,
    platform: options.PlatformOption = None,
    dry_run: options.DryRunOption = False,
) -> int:
    """Write the smallest scenario that still shows a finding, as a file and as SQL statements.

    Without a check or --all, list the causes of the run's findings, and of the steps that the
    writer refused or recorded wrongly.
    """
    options.use_platform(platform)
    run = load_run.load(run_folder.existing(run_dir))
    variants = plan_record.plan_of(run.info).variants
    answers = {**run.answers, **causes.step_answers(run.recorded.values(), run.by_step)}
    groups = causes.groups(variants, run.recorded.values(), answers)
    chosen = groups if every else _groups_of(groups, run, case) if case else ()
    if not chosen:
        _list(groups, output)
        return 0
    trials = EngineTrials(Resources(output, Cache.default(offline=offline)))
    searches = [_begin(group, variants, answers, run.info.through) for group in chosen]
    if dry_run:
        first = [(target, made) for target, search in searches for made in search.waiting]
        return runs.dry_run([_plan(first)], trials.resources)
    end = time.monotonic() + minutes * len(searches) * 60
    progress = BestSoFar(searches, trials, folder, output.out)
    progress.write_as_seen(_seen(group, run, answers) for group in chosen)

    def ask(of_round: Sequence[Trial]) -> list[bool]:
        progress.write()
        return trials.ask(of_round)

    shrink.run_all(searches, ask, lambda: time.monotonic() > end)
    reproducers = [
        _write(target, search, trials, folder, output.out) for target, search in searches
    ]
    complete = all(reproducer["smallest"] for reproducer in reproducers)
    status = 0 if complete else HarnessError.exit_status
    output.end(status=status, reproducers=reproducers)
    return status


def _groups_of(
    groups: Sequence[CauseGroup], run: Run, asked: Sequence[str]
) -> tuple[CauseGroup, ...]:
    """Return the causes of checks named in full, or of the one whose name has all the parts."""
    names = {name for group in groups for name in group.cases}
    chosen = set(asked)
    if not names.issuperset(asked):
        # Steps that were refused are no cells: `find` does not know them.
        fitting = [name for name in names if all(part in name for part in asked)]
        name = fitting[0] if len(fitting) == 1 else find(run.folder, asked).cell.case
        if name not in names:
            verdict = run.recorded.get(name)
            why = "was never judged" if verdict is None else "has no finding"
            if verdict and any(f.kind is FindingKind.ORDER_DEPENDENT for f in verdict.findings):
                why = "depends on what else its server was asked: no scenario of its own shows it"
            raise UsageProblem(f"{name} {why}; harness reproduce without a name lists the causes")
        chosen = {name}
    return tuple(group for group in groups if chosen.intersection(group.cases))


def _list(groups: Sequence[CauseGroup], output: Output) -> None:
    out = output.out
    say(out, counted(len(groups), "cause") + " of findings", "bold")
    for group in groups:
        say(out, f"{group.cause}: {counted(len(group.cases), 'check')}")
        say(out, f"  {group.witness.case}", "dim")
    if groups:
        say(out, "harness reproduce CHECK, or --all, makes the smallest scenario of each")
    facts = [
        {"cause": str(group.cause), "cases": len(group.cases), "witness": group.witness.case}
        for group in groups
    ]
    output.end(causes=facts)


def _begin(
    group: CauseGroup,
    variants: Iterable[Variant],
    answers: Mapping[str, Answer],
    through: MetastoreChoice,
) -> tuple[Target, Search]:
    """Begin the search for a group, with the variant that shows it first."""
    witness = group.witness
    variant = next(variant for variant in variants if variant.id == witness.variant)
    shape = "all" if witness.view == WRITE else query_shapes.shape_of(witness.query)
    refusal = answers[witness.case].refusal
    target = Target(group.cause, parse_reader(witness.reader), shape, refusal, through)
    own_tables.check(distributions.load(target.reader.distribution))
    settings = tuple(formats.load(variant.format).settings)
    first = candidates.begin(variant, witness.step, group.cause.view, settings)
    return target, Search(first)


def _seen(group: CauseGroup, run: Run, answers: Mapping[str, Answer]) -> Observation:
    """Return what the run itself has of the check that a search begins with."""
    witness = group.witness
    states = (state for state in run.states if state.variant == witness.variant)
    until = tuple(state for state in states if state.outcome.step <= witness.step)
    return Observation(run.recorded[witness.case], answers[witness.case], until)


def _write(
    target: Target, search: Search, trials: EngineTrials, folder: Path, out: Console
) -> dict[str, object]:
    """Write a reproducer and print where; return what a program is told of it."""
    best, cause = search.smallest, str(target.cause)
    say(out, cause, "bold")
    if best is None:
        why = "the engine did not show it again" if search.over else "the time ran out first"
        say(out, f"  nothing smaller is written: {why}", "red")
        seen = None if search.over else str(folder / target.cause.name)
        return {"cause": cause, "folder": seen, "smallest": False}
    path = files.write(folder, target, best, trials.observation((target, best)))
    say(out, f"  {path}: {_size(best)}")
    silent = len(trials.unknown & set(search.shows))
    if silent:
        number = counted(silent, "smaller one")
        say(out, f"  nothing is known about {number}: no answer came", "red")
    if not search.over:
        text = "the time ran out: there may be a smaller one; the same command goes on"
        say(out, f"  {text}", "red")
    return {"cause": cause, "folder": str(path), "smallest": search.over and not silent}


def _size(candidate: Candidate) -> str:
    steps, columns, rows, _ = candidate.size
    return ", ".join((counted(steps, "step"), counted(columns, "column"), counted(rows, "row")))


@dataclass(slots=True)
class BestSoFar:
    """Writes the check as the run saw it, then the smallest that is known before each round."""

    searches: Sequence[tuple[Target, Search]]
    trials: EngineTrials
    folder: Path
    out: Console
    written: dict[Target, str] = field(default_factory=dict)
    """The key of what was written last, by the target."""

    def write_as_seen(self, observations: Iterable[Observation]) -> None:
        """Write what needs no engine, so that there is something at once."""
        for (target, search), seen in zip(self.searches, observations, strict=True):
            path = files.write(self.folder, target, search.best, seen)
            say(self.out, f"  as the run saw it, {_size(search.best)}: {path}", "dim")

    def write(self) -> None:
        for target, search in self.searches:
            best = search.smallest
            if best is not None and self.written.get(target) != best.key:
                self.written[target] = best.key
                seen = self.trials.observation((target, best))
                path = files.write(self.folder, target, best, seen)
                say(self.out, f"  the smallest so far, {_size(best)}: {path}", "dim")


@dataclass(slots=True)
class EngineTrials:
    """The trials of one command; states and answers stay in the cache, so none is lost."""

    resources: Resources
    seen: dict[str, Observation] = field(default_factory=dict)
    """By the cell: what was answered."""
    unknown: set[str] = field(default_factory=set)
    """Keys of candidates about which no answer came."""

    def ask(self, trials: Sequence[Trial]) -> list[bool]:
        """Write and ask a round in one run; a question without an answer counts as not shown."""
        plan = _plan(trials)
        if not plan.variants:
            return [False] * len(trials)
        number = counted(len(plan.variants), "candidate")
        note = f"a round of {number}, {counted(len(plan.cells), 'question')}"
        run = runs.execute(plan, self.resources, note)
        answers = {**run.answers, **step_answers(run.step_verdicts, run.by_step)}
        for case, verdict in run.recorded.items():
            if case in answers:
                states = tuple(state for state in run.states if state.variant == verdict.variant)
                self.seen[case] = Observation(verdict, answers[case], states)
        return [self._shows(trial, run) for trial in trials]

    def observation(self, trial: Trial) -> Observation:
        """Return what was seen of a candidate that showed something."""
        cell = _cell(trial)
        return self.seen[cell.case if cell else ""]

    def _shows(self, trial: Trial, run: Run) -> bool:
        (target, candidate), cell = trial, _cell(trial)
        if cell is None:
            return False
        seen = self.seen.get(cell.case)
        shown = signs(seen.verdict, seen.answer) if seen else frozenset()
        silent = seen is None or seen.verdict.verdict is VerdictKind.UNKNOWN
        if silent and not (shown or _explained(cell, run)):
            self.unknown.add(candidate.key)
        return target.cause.sign.among(shown)


def _explained(cell: Cell, run: Run) -> bool:
    """Return whether it is known why nobody answered: a refused step, or a view without a table."""
    state, answer = run.by_step.get((cell.variant, cell.step)), run.answers.get(cell.case)
    outcome = state.outcome.kind if state else OutcomeKind.UNKNOWN
    if cell.view == WRITE:
        return outcome is not OutcomeKind.UNKNOWN
    return outcome is OutcomeKind.REFUSED or bool(answer and answer.not_applicable)


def _cell(trial: Trial) -> Cell | None:
    target, candidate = trial
    if target.cause.view == WRITE:  # the step itself, which nobody is asked about
        last = len(candidate.numbers)
        return Cell(candidate.variant.id, last, candidate.writers[-1], WRITE, "step")
    return cell_of(candidate, str(target.reader), target.cause.view, target.shape)


def _plan(trials: Sequence[Trial]) -> Plan:
    """Return the plan of a round; a candidate of several searches is written once."""
    cells = list(filter(None, map(_cell, trials)))
    variants = {candidate.key: candidate.variant for _, candidate in trials}
    written = {cell.variant for cell in cells}
    readers = [target.reader for target, _ in trials if target.cause.view != WRITE]
    return Plan(
        PROFILE,
        tuple(variant for variant in variants.values() if variant.id in written),
        tuple(dict.fromkeys(readers)),
        tuple({cell.case: cell for cell in cells if cell.view != WRITE}.values()),
        metastore=trials[0][0].through,
    )
