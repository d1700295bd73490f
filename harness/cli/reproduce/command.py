"""`harness reproduce`."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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
from harness.core.counting import counted
from harness.core.errors import HarnessError, UsageProblem
from harness.core.metastore_choice import MetastoreChoice
from harness.core.records import Answer, FindingKind, Verdict
from harness.model import query_shapes
from harness.reports.lines import say
from harness.run import load_run, plan_record, run_folder
from harness.run.load_run import WRITE, Run
from harness.scenario.cells import Variant, parse_reader

FOLDER = Path("reproducers")
MINUTES = 10.0
MINUTE = 60


@options.with_output
def reproduce(
    output: Output,
    case: Annotated[
        list[str] | None,
        typer.Argument(help="Cases by name, or parts of one name that fit no other case."),
    ] = None,
    run_dir: options.OldRunOption = run_folder.LATEST_RUN,
    every: Annotated[bool, typer.Option("--all", help="Reproduce every cause.")] = False,
    folder: Annotated[Path, typer.Option(help="The folder for reproducers.")] = FOLDER,
    minutes: Annotated[
        float, typer.Option(min=0, help="Minutes for each cause after which no new round begins.")
    ] = MINUTES,
    offline: options.OfflineOption = False,
) -> int:
    """Write the smallest scenario that still shows a finding, as a file and as SQL statements.

    Without a case or --all, list the causes of the run's findings, and of the steps that the writer
    refused or recorded wrongly.
    """
    found = load_run.load(run_folder.existing(run_dir))
    variants = plan_record.plan_of(found.info).variants
    of_steps = causes.step_answers(found.recorded.values(), found.by_step)
    answers = {**found.answers, **of_steps}
    groups = causes.groups(variants, found.recorded.values(), answers)
    chosen = groups if every else _of_cases(groups, found, case) if case else ()
    if not chosen:
        _list(groups, output)
        return 0
    cache, progress = Cache.default(offline=offline), output.progress()
    trials = EngineTrials(partial(engine_run.work, cache, progress, PROFILE), progress)
    begun = [_begin(group, variants, answers, found.info.through) for group in chosen]
    searches.run_all(begun, trials.ask, _enough(minutes * len(begun)))
    return _write(begun, trials, folder, output)


def _of_cases(
    groups: Sequence[CauseGroup], found: Run, asked: Sequence[str]
) -> tuple[CauseGroup, ...]:
    """Return the causes of cases that are named in full, or of the one that has all the parts."""
    # The steps that were refused are no cells.
    there = {name for group in groups for name in group.cases}
    names = set(asked) if there.issuperset(asked) else {_named(there, found, asked)}
    return tuple(group for group in groups if names.intersection(group.cases))


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
    if any(finding.kind is FindingKind.ORDER_DEPENDENT for finding in verdict.findings):
        return "depends on what else its server was asked, which no scenario of its own shows"
    return "has no finding"


def _list(groups: Sequence[CauseGroup], output: Output) -> None:
    """Print the causes, each with its first case."""
    out = output.out
    say(out, counted(len(groups), "cause") + " of findings", "bold")
    for group in groups:
        say(out, f"{group.cause}: {counted(len(group.cases), 'case')}")
        say(out, f"  {group.witness.case}", "dim")
    if groups:
        say(out, "harness reproduce CASE, or --all, makes the smallest scenario of each")
    facts = [
        {
            "cause": str(cause_group.cause),
            "cases": len(cause_group.cases),
            "witness": cause_group.witness.case,
        }
        for cause_group in groups
    ]
    output.end(causes=facts)


def _begin(
    group: CauseGroup,
    variants: Iterable[Variant],
    answers: Mapping[str, Answer],
    through: MetastoreChoice,
) -> CauseSearch:
    """Begin the search for a group, with the variant that shows it first."""
    witness = group.witness
    variant = next(variant for variant in variants if variant.id == witness.variant)
    shape = "all" if witness.view == WRITE else query_shapes.shape_of(witness.query)
    refusal = answers[witness.case].refusal
    target = Target(group.cause, parse_reader(witness.reader), shape, refusal, through)
    settings = tuple(formats.load(variant.format).settings)
    begun = candidates.begin(variant, witness.step, group.cause.view, settings)
    return searches.begin(target, begun)


def _enough(minutes: float) -> Callable[[], bool]:
    end = time.monotonic() + minutes * MINUTE
    return lambda: time.monotonic() > end


def _write(ended: Sequence[CauseSearch], trials: EngineTrials, folder: Path, output: Output) -> int:
    """Write what every search found, tell it, and return the exit status."""
    reproducers: list[dict[str, object]] = []
    for search in ended:
        place, smallest = _write_one(search, trials, folder, output.out)
        where = str(place) if place else None
        cause = str(search.target.cause)
        reproducers.append({"cause": cause, "folder": where, "smallest": smallest})
    status = (
        0 if all(reproducer["smallest"] for reproducer in reproducers) else HarnessError.exit_status
    )
    output.end(status=status, reproducers=reproducers)
    return status


def _write_one(
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
