"""`harness history`: since when each check is as it is, and the runs stored for that."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from harness.cli import options
from harness.cli.output import Output
from harness.cli.runs import store
from harness.comparison import history
from harness.comparison.cell_pairs import VerdictChange
from harness.comparison.history import History, StoredRun, Turn, Turns
from harness.core.grouping import grouped
from harness.core.records import VerdictKind
from harness.core.texts import counted
from harness.reports import lines
from harness.reports.document import Block, Code, Heading, Item, Items, Line, ReportTable, table
from harness.reports.upgrade_report import CHANGES, TONES, named
from harness.reports.words import VERDICTS
from harness.run import load_run, run_folder

app = typer.Typer(cls=options.group_with("show"))
ProfileOption = Annotated[str, typer.Option(help="Only runs of this profile; else the newest's.")]
ReaderOption = Annotated[str, typer.Option(help="Only this reader, such as 'trino-*'.")]
ScenarioOption = Annotated[str, typer.Option(help="Only this scenario, such as 'hudi/*'.")]


@app.command("show")
@options.with_output
def show(
    output: Output,
    k: options.SelectOption = "",
    reader: ReaderOption = "",
    scenario: ScenarioOption = "",
    profile: ProfileOption = "",
    file: options.HistoryFileOption = history.USUAL,
) -> None:
    """Show since when each wrong answer is wrong, and every turn with what differed then.

    As in harness compare, a reader of another version, and a table of another writer, is the same.
    """
    with history.opened(file) as stored:
        shown = history.history_of(stored, profile, case=k, reader=reader, scenario=scenario)
    lines.render(document(shown), output.out)
    output.end(
        history=str(file),
        runs=list(map(run_data, shown.runs)),
        now=list(map(turns_data, shown.not_right_now)),
        turns=list(map(turns_data, shown.all_turns)),
    )


@app.command()
@options.with_output
def add(
    output: Output,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of judged runs.")],
    file: options.HistoryFileOption = history.USUAL,
) -> None:
    """Store runs; a run that is stored already is replaced."""
    names = [store(load_run.load(run_folder.existing(folder)), file) for folder in runs]
    output.end(f"stored in {file}: {', '.join(names)}", history=str(file), runs=names)


@app.command(name="list")
@options.with_output
def list_(output: Output, file: options.HistoryFileOption = history.USUAL) -> None:
    """List the stored runs, the newest last."""
    with history.opened(file) as stored:
        runs = stored.runs()
    lines.render([runs_table(runs)], output.out)
    output.end(history=str(file), runs=list(map(run_data, runs)))


@app.command()
@options.with_output
def prune(
    output: Output,
    keep: Annotated[int, typer.Option(min=1, help="Keep so many runs of each profile.")],
    file: options.HistoryFileOption = history.USUAL,
) -> None:
    """Remove old runs from the file; folders of runs stay as they are."""
    with history.opened(file) as stored:
        removed = stored.prune(keep)
    names = ", ".join(removed) or "nothing"
    output.end(f"removed from {file}: {names}", history=str(file), removed=removed)


@app.command()
@options.with_output
def restore(
    output: Output,
    name: Annotated[str, typer.Argument(metavar="RUN", help="A name of harness history list.")],
    run_dir: options.RunDirOption = None,
    file: options.HistoryFileOption = history.USUAL,
) -> None:
    """Restore the folder of a stored run, for harness explain, judge and report."""
    folder = run_dir or run_folder.RUNS / name
    with history.opened(file) as stored:
        stored.restore(stored.run(name), folder)
    output.end(f"restored: {folder}; next: harness judge --run-dir {folder}", run=str(folder))


FEW: Final = 3
MOST_GROUPS: Final = 12


def document(shown: History) -> Iterator[Block]:
    yield Line(strong=headline(shown))
    yield from (Line(text, tone=VerdictKind.UNKNOWN) for text in doubts(shown))
    for title, turns in (
        ("Not right now, since when, and what differed then", shown.not_right_now),
        ("Every turn, the newest first", shown.all_turns),
    ):
        if turns:
            yield Heading(title)
        groups = grouped((_when(group[0]), group) for group in turns[:MOST_GROUPS])
        for when, of in groups.items():
            yield Line(when)
            yield Items(tuple(map(_item, of)))
        if (more := len(turns) - MOST_GROUPS) > 0:
            yield Line(f"and {more} more; all of them: harness history --json")


def headline(shown: History) -> str:
    newest, groups = _dated(shown.runs[-1]), shown.not_right_now
    if not groups:
        return f"In {newest}, nothing that was selected is known to be wrong or refused."
    numbers = Counter(turn.now.verdict for group in groups for turn in group)
    since = Counter(_since(turn) for group in groups for turn in group)
    kinds = " and ".join(
        f"{numbers[k]:,} {VERDICTS[k].label}" for k in VERDICTS if k.is_bad and numbers[k]
    )
    parts = [f"{number:,} {when}" for when, number in since.most_common(FEW)]
    more = "; and others, as below" if len(since) > FEW else ""
    return f"In {newest}, {kinds}: {'; '.join(parts)}{more}."


def doubts(shown: History) -> Iterator[str]:
    """Say of how much the newest run knows nothing, and whether the one before asked more."""
    if number := shown.runs[-1].counts[VerdictKind.UNKNOWN]:
        queries = counted(number, "query", "queries")
        yield f"Of {queries} it knows nothing; these are neither right nor wrong."
    totals = [sum(run.counts.values()) for run in shown.runs[-2:]]
    if totals[-1] < totals[0]:
        asked, before = counted(totals[-1], "question"), _dated(shown.runs[-2])
        yield f"It asked {asked}, {before} {totals[0]:,}: of the others nothing is new."


def _dated(run: StoredRun) -> str:
    return f"{run.name} ({run.info.started:%Y-%m-%d})"


def _since(turn: Turn) -> str:
    at_least = " at least, which asked first" if turn.change is VerdictChange.NEW else ""
    return f"since {_dated(turn.run)}{at_least}"


def _when(turn: Turn) -> str:
    if turn.before is None:
        return f"S{_since(turn)[1:]}"
    same = "nothing that is stored: the engine answered the same question otherwise"
    differs = "; ".join(turn.differs) or same
    return f"S{_since(turn)[1:]}: {differs} (before: {_dated(turn.before)})"


def _item(group: Turns) -> Item:
    first, readers = group[0], [turn.cell.reader for turn in group if turn.cell.reader]
    number = counted(len(group), "answer" if readers else "step")
    symptom = f" ({first.now.symptom})" if first.now.symptom else ""
    how = f"{VERDICTS[first.now.verdict].label}{symptom}"
    where = f"in {named((turn.scenario for turn in group), 'scenario')}"
    by = f" by {named(readers, 'reader')}" if readers else ""
    change = f"; {CHANGES[first.change]}" if first.before else ""
    line = Line(f"{number} {how} {where}{by}{change}", tone=TONES.get(first.change))
    return Item(line, (Code(first.cell.case),))


def runs_table(runs: Iterable[StoredRun]) -> ReportTable:
    kinds = [VERDICTS[kind].label for kind in VerdictKind]
    rows = (
        (
            run.name,
            run.info.profile,
            f"{run.info.started:%Y-%m-%d %H:%M}",
            *map("{:,}".format, run.counts.values()),
        )
        for run in runs
    )
    return table(("run", "profile", "began (UTC)", *kinds), rows, kinds)


def run_data(run: StoredRun) -> dict[str, Any]:
    return {
        "run": run.name,
        "profile": run.info.profile,
        "started": run.info.started.isoformat(),
        "totals": {str(kind): number for kind, number in run.counts.items()},
    }


def turns_data(group: Turns) -> dict[str, Any]:
    first = group[0]  # one case of all
    return {
        "run": first.run.name,
        "before": first.before and first.before.name,
        "change": str(first.change),
        "verdict": str(first.now.verdict),
        "symptom": first.now.symptom,
        "cells": len(group),
        "differs": list(first.differs),
        "readers": list(dict.fromkeys(turn.cell.reader for turn in group)),
        "scenarios": list(dict.fromkeys(turn.scenario for turn in group)),
        "case": first.cell.case,
    }
