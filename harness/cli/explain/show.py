"""An explained case on a terminal. Everything is said in words; colour only repeats it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.cli.explain.recorded_cell import RecordedCell
from harness.core.counting import counted
from harness.core.errors import printable
from harness.core.outcomes import failed, half_done, word
from harness.core.records import Finding, Verdict, VerdictKind, Witness
from harness.judge.agreement import FileAgreement
from harness.judge.file_evidence import Layout
from harness.model.column_statistics import StoredStatistics
from harness.model.file_facts import FileFact, FileKind
from harness.model.simulation.column_resolution import META
from harness.reports import tolerance_counts
from harness.reports.advice import advice
from harness.reports.file_numbers import NumberedFiles
from harness.reports.findings import BLAME, FINDINGS, own_text, witness_text
from harness.reports.lines import command, item, say
from harness.reports.sentences import log_text, refusal_text
from harness.reports.words import NOT_WORDED, VERDICTS, worded

MOST: Final = 8
"""So many places of one finding are listed."""


def head(found: RecordedCell, console: Console) -> None:
    """Print the question and its verdict."""
    cell, verdict = found.cell, found.verdict
    (variant,) = found.info.variants
    step = variant.step(cell.step)
    say(console, cell.case, "bold")
    say(console, f"after step {cell.step}: {step.text}; view {cell.view}, question {cell.query}")
    if verdict is None:
        say(console, "not judged yet; run harness judge")
        return
    word = VERDICTS[verdict.verdict]
    style = "green" if verdict.verdict is VerdictKind.CORRECT else "bold red"
    say(console, f"{word.symbol} {word.label}: {word.meaning}", style)
    if verdict.because:
        say(console, f"  {verdict.because}")
    if verdict.known:
        say(console, f"  known: {verdict.known}")
    for text in tolerance_counts.of_cell(verdict.reader, verdict.normalised):
        say(console, f"  normalised, as declared: {text}")


def written(found: RecordedCell, console: Console) -> None:
    """List the steps that made the table, up to the one after which it was asked."""
    (variant,) = found.info.variants
    outcomes = {state.outcome.step: state.outcome for state in found.case.states}
    say(console, "\nWhat was written", "bold")
    for number in range(found.cell.step + 1):
        outcome = outcomes.get(number)
        why = f" ({word(outcome)})" if outcome is not None and failed(outcome) else ""
        say(console, f"  {number} {variant.step(number).text}{why}")
        if outcome is not None and half_done(outcome) and outcome.refusal:
            say(console, f"    the writer's error: {refusal_text(outcome.refusal)}")


def timeline(entries: Sequence[str], found: RecordedCell, console: Console) -> None:
    """List the timeline of the table that was read, with the steps of which the instants are."""
    steps = {state.outcome.instant: state.outcome.step for state in found.case.states}
    if entries:
        say(console, "\nTimeline of the table", "bold")
    for entry in entries:
        step = steps.get(entry.partition(" ")[0])
        say(console, f"  {entry}" + (f" (step {step})" if step is not None else ""))


def advised(found: RecordedCell, console: Console) -> None:
    """Print what can be done about it."""
    said = advice(found.verdict, found.question) if found.verdict else ()
    if said:
        say(console, "\nWhat to do", "bold")
    for each in said:
        item(console, each.text + (":" if each.verb else ""), lead=" -")
        if each.verb:
            command(console, each.command(found.cell.case))


def answered(found: RecordedCell, console: Console) -> None:
    """Print the SQL, and what came instead of a table."""
    answer = found.answer
    if answer is None:
        say(console, "\nthis was never asked")
        return
    say(console, f"\nSQL: {answer.sql}")
    if answer.refusal:
        say(console, f"refused: {refusal_text(answer.refusal, 1000)}")
    if answer.unknown or answer.void:
        say(console, f"no answer: {answer.unknown or answer.void}")
        for line in log_text(answer).splitlines():
            say(console, line)
    if answer.confirmed:
        say(console, f"it ran as: {answer.confirmed}")
    readers = {reader.reader: reader for reader in found.info.readers}
    if found.cell.reader in readers:
        say(console, f"settings of the reader: {readers[found.cell.reader].settings}")


def findings(verdict: Verdict, files: NumberedFiles, out: Console) -> None:
    """List every finding with its places, each of which can be checked by hand."""
    for finding in verdict.findings:
        word = FINDINGS[finding.kind]
        say(out, f"\n{word.symbol} {word.label}: {word.meaning}", "bold")
        item(out, BLAME[finding.party].meaning, lead=" ")
        for place in finding.places[:MOST]:
            said = partial(_place, finding, place, files.names(place.file))
            item(out, worded(verdict.case, said, NOT_WORDED), lead=" -")
        if (left := len(finding.places) - MOST) > 0:
            say(out, f"  … and {counted(left, 'more place', 'more places')}")


def _place(finding: Finding, place: Witness, file: str) -> str:
    said = [witness_text(finding.kind, place)]
    if place.origin:
        said.append(f"field id {place.origin.field_id}")
    if file:
        said.append(f"read from file {file}")
    said += filter(None, (own_text(place),))
    return "; ".join(said)


def files(layout: Layout, told: NumberedFiles, current: frozenset[int], console: Console) -> None:
    """Print what each file holds, in the order in which they were written.

    `current`: identities of the facts that a reader of the newest state reads.
    """
    say(console, "\nFiles", "bold")
    if layout.unread:
        say(console, f"  nothing can be told from them: {layout.unread}")
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right")
    for fact in told.facts:
        read = id(fact) in current
        text = printable("; ".join(_file(fact, layout.steps, read=read)))
        grid.add_row(told.name(fact), Text(text, "" if read else "dim"))
    console.print(grid)


def held(beside: FileAgreement | None, told: NumberedFiles, console: Console) -> None:
    """Print whether the files hold what was written, and what they hold instead."""
    if beside is None:
        say(console, "  what they hold was not checked")
        return
    if not (found := beside.said):
        say(console, "  they hold what was written")
        return
    say(console, "  They do not hold what was written:", "bold")
    for odd in found[:MOST]:
        at = f" in file {told.name(odd.file)}" if odd.file else ""
        say(console, f"  - row {odd.key}{at}: {odd.text}")
    if (left := len(found) - MOST) > 0:
        say(console, f"  … and {counted(left, 'more place', 'more places')}")


def statistics(stored: StoredStatistics, console: Console) -> None:
    """Print the stored statistics that may exclude rows which are there."""
    if stored.unknown:
        say(console, f"  not all stored statistics are known: {stored.unknown}")
    if stored.told:
        say(console, "  Stored statistics that the files contradict, or may contradict:")
    for column_statistics in stored.told[:MOST]:
        say(console, f"  - {column_statistics}")
    if (left := len(stored.told) - MOST) > 0:
        say(console, f"  … and {left} more")


def _file(fact: FileFact, steps: Mapping[str, int], *, read: bool) -> Iterator[str]:
    kind = "base file" if fact.kind is FileKind.BASE else "log block"
    step = steps.get(fact.instant)
    # Of a step that is known no instant: the state can be of another writing than its record.
    yield f"{kind} of instant {fact.instant}" if step is None else f"{kind} of step {step}"
    if not read:
        yield "replaced by a newer one"
    yield f"group {fact.file_group}"
    if fact.keys:
        yield f"rows {', '.join(fact.keys)}"
    if fact.deleted:
        yield f"deletes rows {', '.join(fact.deleted)}"
    own = [f"{name} {type_}" for name, type_ in fact.columns if name not in META]
    if own:
        yield f"columns {', '.join(own)}"
    yield fact.path
