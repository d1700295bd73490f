"""`harness reproduce`."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harness import formats
from harness.artifacts.cache import Cache
from harness.cli import options
from harness.cli.console.output import Output
from harness.cli.explain.recorded_cell import find
from harness.cli.reproduce import candidate as candidates
from harness.cli.reproduce import causes, engine_run, files, searches
from harness.cli.reproduce.causes import CauseGroup
from harness.cli.reproduce.engine_trials import PROFILE, EngineTrials
from harness.cli.reproduce.searches import CauseSearch, Target
from harness.core.errors import HarnessError, UsageProblem
from harness.core.records import Answer, FindingKind, Verdict
from harness.reports.lines import say
from harness.reports.words import counted
from harness.run import load_run, plan_record, run_folder
from harness.run.load_run import WRITE, Run
from harness.scenario.cells import Variant, parse_reader

FOLDER = Path("reproducers")
MINUTES = 10.0
MINUTE = 60


def reproduce(
    case: Annotated[
        list[str] | None,
        typer.Argument(help="Cases, or parts of one's name that no other case has."),
    ] = None,
    run_dir: options.OldRunOption = run_folder.LATEST_RUN,
    every: Annotated[bool, typer.Option("--all", help="Reproduce every cause.")] = False,
    folder: Annotated[Path, typer.Option(help="The folder for reproducers.")] = FOLDER,
    minutes: Annotated[
        float, typer.Option(min=0, help="Begin no new round after so many for each cause.")
    ] = MINUTES,
    offline: options.OfflineOption = False,
    quiet: options.QuietOption = False,
    json: options.JsonOption = False,
    verbose: options.VerboseOption = False,
) -> None:
    """Write the smallest scenario that still shows a finding, as a file and as SQL statements.

    Without a case or --all, list the causes of the run's findings, and of the steps that the writer
    refused.
    """
    output = Output(quiet, json, verbose)
    with output.ending():
        found = load_run.load(run_folder.existing(run_dir))
        means = _Means(output, Cache.default(offline=offline), folder, minutes)
        status = _reproduced(found, case or (), means, every=every)
    raise typer.Exit(status)


@dataclass(frozen=True, slots=True)
class _Means:
    """What a search is given; `minutes` are those for each cause."""

    output: Output
    cache: Cache
    folder: Path
    minutes: float


def _reproduced(found: Run, case: Sequence[str], means: _Means, *, every: bool) -> int:
    """List the causes, or seek the smallest scenario of those that are asked for; the status."""
    variants = {each.id: each for each in plan_record.plan_of(found.info).variants}
    refused = causes.refused_steps(found.recorded.values(), found.by_step)
    answers = {**found.answers, **refused}
    groups = causes.groups(tuple(variants.values()), found.recorded.values(), answers)
    chosen = groups if every else _of_cases(groups, found, case) if case else ()
    if not chosen:
        _listed(groups, means.output.out)
        means.output.end(causes=[_facts(each) for each in groups])
        return 0
    progress = means.output.progress()
    trials = EngineTrials(partial(engine_run.work, means.cache, progress, PROFILE), progress)
    made = [_begun(each, variants[each.witness.variant], answers) for each in chosen]
    searches.run_all(made, trials.ask, _enough(means.minutes * len(made)))
    told = [_told(each, trials, means.folder, means.output.out) for each in made]
    status = 0 if all(smallest for _, smallest in told) else HarnessError.exit_status
    reproducers = [
        {"cause": str(each.target.cause), "folder": place and str(place), "smallest": smallest}
        for each, (place, smallest) in zip(made, told, strict=True)
    ]
    means.output.end(status=status, reproducers=reproducers)
    return status


def _facts(group: CauseGroup) -> dict[str, object]:
    cause, witness = str(group.cause), group.witness.case
    return {"cause": cause, "cases": len(group.cases), "witness": witness}


def _of_cases(
    groups: Sequence[CauseGroup], found: Run, asked: Sequence[str]
) -> tuple[CauseGroup, ...]:
    """Return the causes of cases that are named in full, or of the one that has all the parts."""
    # The steps that were refused are no cells.
    there = {name for group in groups for name in group.cases}
    names = set(asked) if there.issuperset(asked) else {_named(there, found, asked)}
    return tuple(each for each in groups if names.intersection(each.cases))


def _named(there: Collection[str], found: Run, parts: Sequence[str]) -> str:
    fitting = [name for name in there if all(part in name for part in parts)]
    name = fitting[0] if len(fitting) == 1 else find(found.folder, parts).cell.case
    if name not in there:
        told = _nothing(found.recorded.get(name))
        raise UsageProblem(f"{name} {told}; harness reproduce without a case lists the causes")
    return name


def _nothing(verdict: Verdict | None) -> str:
    """Return why there is nothing to reproduce of a case."""
    if verdict is None:
        return "was never judged"
    if any(each.kind is FindingKind.ORDER_DEPENDENT for each in verdict.findings):
        return "depends on what else its server was asked, which no scenario of its own shows"
    return "has no finding"


def _listed(groups: Sequence[CauseGroup], out: Console) -> None:
    """Print the causes, each with its first case."""
    say(out, counted(len(groups), "cause") + " of findings", "bold")
    for each in groups:
        say(out, f"{each.cause}: {counted(len(each.cases), 'case')}")
        say(out, f"  {each.witness.case}", "dim")
    if groups:
        say(out, "harness reproduce CASE, or --all, makes the smallest scenario of each")


def _begun(group: CauseGroup, variant: Variant, answers: Mapping[str, Answer]) -> CauseSearch:
    """Begin the search for a group, with the variant that shows it first."""
    witness = group.witness
    shape = searches.shape_of("all" if witness.view == WRITE else witness.query)
    refusal = answers[witness.case].refusal
    target = Target(group.cause, parse_reader(witness.reader), shape, refusal)
    settings = tuple(formats.load(variant.format).settings)
    begun = candidates.begin(variant, witness.step, group.cause.view, settings)
    return searches.begin(target, begun)


def _enough(minutes: float) -> Callable[[], bool]:
    end = time.monotonic() + minutes * MINUTE
    return lambda: time.monotonic() > end


def _told(
    search: CauseSearch, trials: EngineTrials, folder: Path, out: Console
) -> tuple[Path | None, bool]:
    """Write what was found and print where; return that, and whether it is the smallest."""
    cause, best = search.target.cause, search.found
    say(out, str(cause), "bold")
    if best is None:
        asked = "the engine did not show it again" if search.over else "the time ran out first"
        say(out, f"  nothing is written: {asked}", "red")
        return None, False
    place = files.write(folder, search.target, best, trials.of(search.target, best))
    steps, columns, rows, _ = best.size
    parts = counted(steps, "step"), counted(columns, "column"), counted(rows, "row")
    say(out, f"  {place}: {', '.join(parts)}")
    silent = len(trials.unknown & set(search.results.shows))
    if silent:
        say(
            out, f"  nothing is known about {counted(silent, 'smaller one')}: no answer came", "red"
        )
    if not search.over:
        say(
            out,
            "  the time ran out: there may be a smaller one; the same command goes on",
            "red",
        )
    return place, search.over and not silent
