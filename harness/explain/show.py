"""An explained case on a terminal. Everything is said in words; colour only repeats it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.errors import printable
from harness.explain.found import Found
from harness.explain.tables import Line, Part, Sheet, Tables
from harness.layout import Layout
from harness.model.canonical import text_of
from harness.model.files import FileFact, FileKind
from harness.model.resolution import META_PREFIX
from harness.party import Beside
from harness.record import Answer, Finding, Verdict, VerdictKind, Witness
from harness.reports import normalised
from harness.reports.numbered import Numbered
from harness.reports.sentences import refusal_text, witness_text
from harness.reports.words import FINDINGS, PARTIES, VERDICTS, counted, exact, short

WRONG: Final = "≠"
ABSENT: Final = "no such row"
LONGEST: Final = 24
"""Characters of a value in a table; findings show it longer."""
WIDEST_TITLE: Final = 36
BETWEEN: Final = 2
"""Columns between two tables."""
MOST: Final = 8
"""So many places of one finding are listed."""


def head(found: Found, console: Console) -> None:
    """Say which question it is and what became of it."""
    cell, verdict = found.cell, found.verdict
    (variant,) = found.info.variants
    step = variant.step(cell.step)
    say(console, cell.case, "bold")
    say(console, f"after step {cell.step}: {step.text}; view {cell.view}, question {cell.query}")
    if verdict is None:
        say(console, "not judged yet; harness judge does it")
        return
    word = VERDICTS[verdict.verdict]
    style = "green" if verdict.verdict is VerdictKind.CORRECT else "bold red"
    say(console, f"{word.symbol} {word.label}: {word.meaning}", style)
    if verdict.because:
        say(console, f"  {verdict.because}")
    if verdict.known:
        say(console, f"  known: {verdict.known}")
    for each in normalised.of_cell(verdict.reader, verdict.normalised):
        say(console, f"  normalised, as declared: {each}")


def answered(answer: Answer | None, console: Console) -> None:
    """Give the SQL, and what came where there was no table."""
    if answer is None:
        say(console, "\nit was never asked")
        return
    say(console, f"\nSQL: {answer.sql}")
    if answer.refusal:
        say(console, f"refused: {refusal_text(answer.refusal, 1000)}")
    if answer.unknown or answer.void:
        say(console, f"no answer: {answer.unknown or answer.void}")
    if answer.confirmed:
        say(console, f"it ran as: {answer.confirmed}")


def tables(told: Tables, console: Console) -> None:
    """Put all tables side by side."""
    say(console, "\nTables", "bold")
    ways = sorted(told.ways, key=lambda sheet: not sheet.same_as_found)
    sheets = [told.expected, *([told.found] if told.found else []), *ways]
    say(console, f"{WRONG} a value that is not as expected; + a row too many", "dim")
    for line in _packed([_table(sheet) for sheet in sheets], console):
        grid = Table.grid(padding=(0, BETWEEN))
        grid.add_row(*line)
        console.print(grid)
        console.print()
    say(console, _fits(told))


def _packed(shown: Sequence[Table], console: Console) -> list[list[Table]]:
    """Put as many tables on a line as have room, in their order."""
    lines: list[list[Table]] = []
    left = 0
    for each in shown:
        width = console.measure(each).maximum + BETWEEN
        if not lines or left < width:
            lines.append([])
            left = console.width
        lines[-1].append(each)
        left -= width
    return lines


def _fits(told: Tables) -> str:
    if not told.tried:
        return "No way of reading is predicted for this view, so none is claimed."
    tried = counted(told.tried, "way of reading is tried", "ways of reading are tried")
    if told.found is None:
        return f"{tried}; there is no answer to compare with."
    if not told.fitting:
        return f"{tried}; none gives the answer that was found."
    if len(told.fitting) == 1:
        return f"{tried}; the smallest that gives what was found: {told.fitting[0]}."
    names = "; ".join(told.fitting)
    return f"{tried}; several give what was found, so none is claimed: {names}."


def _table(sheet: Sheet) -> Table:
    marks = ["as expected"] if sheet.same_as_expected else []
    marks += ["= FOUND"] if sheet.same_as_found else []
    title = Text("\n".join((*map(printable, sheet.titles), *marks)), "bold")
    # A title that is longer than its table would be folded word by word.
    room = min(WIDEST_TITLE, max(map(len, sheet.titles)))
    shown = Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        min_width=room,
    )
    for label in sheet.labels:
        shown.add_column(Text(printable(label)), overflow="fold")
    for line in sheet.lines:
        shown.add_row(*_cells(line, len(sheet.labels)))
    return shown


def _cells(line: Line, columns: int) -> Iterator[Text]:
    if line.parts is None:
        yield Text(f"{WRONG}{printable(line.key)}: {ABSENT}", "bold red")
        yield from (Text("") for _ in range(columns - 1))
        return
    first, *others = map(_cell, line.parts)
    yield first if line.expected else Text("+ ", "bold red") + first
    yield from others


def _cell(part: Part) -> Text:
    text = short(exact(part.value), LONGEST)
    return Text(text) if part.right else Text(f"{WRONG}{text}", "bold red")


def findings(verdict: Verdict, files: Numbered, out: Console) -> None:
    """List every finding with its places, each of which can be checked by hand."""
    for finding in verdict.findings:
        word = FINDINGS[finding.kind]
        say(out, f"\n{word.symbol} {word.label}: {word.meaning}", "bold")
        say(out, f"  {PARTIES[finding.party].meaning}")
        for place in finding.places[:MOST]:
            _place(finding, place, files.names(place.file), out)
        if (left := len(finding.places) - MOST) > 0:
            say(out, f"  … and {counted(left, 'more place', 'more places')}")


def _place(finding: Finding, place: Witness, file: str, out: Console) -> None:
    said = [witness_text(finding.kind, place)]
    if place.origin:
        said.append(f"field id {place.origin.field_id}")
    if file:
        said.append(f"read from file {file}")
    if place.raw and place.raw != text_of(place.found):
        said.append(f"the engine's own text: {short(place.raw)}")
    grid = Table.grid(padding=(0, 1))
    grid.add_row(Text(" -"), Text("; ".join(map(printable, said))))
    out.print(grid)


def files(layout: Layout, told: Numbered, current: frozenset[int], console: Console) -> None:
    """Say what each file holds, in the order in which they were written.

    `current`: identities of the facts that a reader of the newest state reads.
    """
    say(console, "\nFiles", "bold")
    if layout.unread:
        say(console, f"  they tell nothing: {layout.unread}")
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right")
    for fact in told.facts:
        read = id(fact) in current
        text = printable("; ".join(_file(fact, layout.steps, read=read)))
        grid.add_row(told.name(fact), Text(text, "" if read else "dim"))
    console.print(grid)


def held(beside: Beside | None, told: Numbered, console: Console) -> None:
    """Say whether the files hold what was written, and what they hold instead."""
    if beside is None:
        say(console, "  what they hold was not looked at")
        return
    if not (found := beside.said):
        say(console, "  the values in them are those that were written")
        return
    say(console, "  They do not hold what was written:", "bold")
    for each in found[:MOST]:
        at = f" in file {told.name(each.file)}" if each.file else ""
        say(console, f"  - row {each.key}{at}: {each.text}")
    if (left := len(found) - MOST) > 0:
        say(console, f"  … and {counted(left, 'more place', 'more places')}")


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
    own = [f"{name} {type_}" for name, type_ in fact.columns if not name.startswith(META_PREFIX)]
    if own:
        yield f"columns {', '.join(own)}"
    yield fact.path


def say(console: Console, text: str, style: str = "") -> None:
    """Print a text that cannot command the terminal."""
    lines = "\n".join(map(printable, text.split("\n")))
    console.print(Text(lines, style), highlight=False)
