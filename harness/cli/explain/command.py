"""`harness explain`: one check on a terminal. Words say everything; colour only repeats it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rich import box
from rich.columns import Columns
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness import formats
from harness.artifacts.cache import Cache
from harness.cli import options
from harness.cli.explain.recorded_cell import RecordedCell, find
from harness.cli.output import OUT, Output
from harness.cli.runs import looked_at
from harness.core.grouping import grouped
from harness.core.records import Answer, Finding, Verdict, VerdictKind, Witness
from harness.core.texts import counted, printable
from harness.judge import answer_tables, compare
from harness.judge.expectations import Expectations
from harness.judge.file_contents import FileAgreement
from harness.judge.file_evidence import Layout
from harness.judge.recorded_variant import view_of_rows
from harness.judge.verdicts import understand_cell
from harness.model.canonical import Value, same, text_of
from harness.model.file_facts import FileFact, FileKind, StoredStatistics
from harness.model.query import Query
from harness.model.simulation.column_resolution import META, LayoutError, slices
from harness.model.simulation.reader import Readings, table_of
from harness.model.simulation.strategies import ReadStrategy
from harness.reports import html, summary, words
from harness.reports.cause_texts import advice
from harness.reports.findings import BLAME, FINDINGS, engine_text, witness_text
from harness.reports.html import NumberedFiles, cell_address, number_files
from harness.reports.lines import command, item, say
from harness.run.run_folder import LATEST_RUN
from harness.write import state_store

ValueRows = Sequence[Sequence[Value]]
ValueTable = tuple[tuple[str, ...], ValueRows]
"""The names of a table's columns, and its rows."""


@dataclass(frozen=True, slots=True)
class ComparedRow:
    key: str
    values: tuple[tuple[Value, bool], ...] | None
    """Each value, and whether it is the expected one; None where an expected row is missing."""
    expected: bool
    """Whether the expected table has this row."""


@dataclass(frozen=True, slots=True)
class ComparedTable:
    titles: tuple[str, ...]
    labels: tuple[str, ...]
    rows: tuple[ComparedRow, ...]
    same_as_expected: bool = False
    same_as_answer: bool = False


@dataclass(frozen=True, slots=True)
class CaseTables:
    """All that is shown of one case's tables."""

    expected: ComparedTable
    answer: ComparedTable | None
    """None where there was no answer."""
    strategies: tuple[ComparedTable, ...]
    """What read strategies show, each table with the names of all that show it."""
    fitting: tuple[str, ...]
    """The smallest strategies that reproduce the answer."""
    inconclusive: bool
    """Whether the answer is too small to claim one of them."""
    tried: int
    """The number of strategies, also of those that only combine others."""


def expectations_of(recorded: RecordedCell) -> Expectations | None:
    """Return what the cell's reader should answer; None when no state of its step is known."""
    if all(state.outcome.step != recorded.cell.step for state in recorded.case.states):
        return None
    cell, of_rows = recorded.cell, Expectations(recorded.case)
    expectations = answer_tables.expected(of_rows, cell.query, cell.step)
    return expectations.for_reader(cell.reader, recorded.answer)


def tables_of(layout: Layout, answer: Answer) -> CaseTables:
    """Return the tables of a cell; `answer`: as the judge understands it (`understand_cell`)."""
    query, readings = answer.question, layout.readings()
    answered = (answer.labels, answer.rows) if answer.has_table else None
    # Of a product that cannot show all that was written, they may be of all of it.
    fitting_readings, fitting = layout.fitting(query, *answered) if answered else (readings, ())
    shown: dict[ReadStrategy, Readings] = {}
    if readings:
        tried = readings.strategies(query)
        shown = {strategy: readings for strategy in tried if len(strategy.deviations) <= 1}
    if fitting_readings is not None:
        shown |= dict.fromkeys(fitting, fitting_readings)
    compared = _Comparison(layout, query)
    return CaseTables(
        expected=compared.table(("expected",), *compared.expected),
        answer=compared.table(("found",), *answered) if answered else None,
        strategies=tuple(_tables_of_strategies(shown, compared, answered)),
        fitting=tuple(map(str, fitting)),
        inconclusive=answer.inconclusive,
        tried=layout.tried(query),
    )


def read_at_all(layout: Layout) -> frozenset[int]:
    """Return the ids of the facts of files that are part of the newest state."""
    try:
        newest = list(slices(layout.files, layout.steps))
    except LayoutError:
        return frozenset(map(id, layout.files))
    return frozenset(id(fact) for base, logs in newest for fact in (base, *logs) if fact)


def _tables_of_strategies(
    readings: Mapping[ReadStrategy, Readings], compared: _Comparison, answered: ValueTable | None
) -> Iterator[ComparedTable]:
    """Yield the table of each strategy; those that show the same are one."""
    shown = dict[ReadStrategy, ValueTable]()
    for strategy, of_files in readings.items():
        labels = of_files.labels(strategy, compared.query)
        with suppress(ValueError):  # a value has no form in the type of an older catalog
            if labels is not None:
                shown[strategy] = labels, of_files.answer(strategy, compared.query)
    groups = grouped((table_of(*table), strategy) for strategy, table in shown.items())
    expected, answer = table_of(*compared.expected), table_of(*answered) if answered else None
    for table, strategies in groups.items():
        yield replace(
            compared.table(tuple(map(str, strategies)), *shown[strategies[0]]),
            same_as_expected=table == expected,
            same_as_answer=table == answer,
        )


class _Comparison:
    """Puts tables beside the expected one of a query."""

    def __init__(self, layout: Layout, query: Query) -> None:
        self.query = query
        self._layout = layout
        self._state = layout.state.narrowed(query)
        expected = self._state.table(query)
        self.expected: ValueTable = tuple(name for name, _ in expected.columns), expected.rows

    def table(
        self, titles: tuple[str, ...], labels: Sequence[str], rows: ValueRows
    ) -> ComparedTable:
        if self.query.label:
            expected = compare.aggregate(self._state, self.query)
            values = [tuple((value, same(value, expected)) for value in row) for row in rows]
            compared = [ComparedRow("", row, expected=True) for row in values]
        else:
            compared = [*self._rows(labels, rows)]
        return ComparedTable(titles, tuple(labels), tuple(compared))

    def _rows(self, labels: Sequence[str], rows: ValueRows) -> Iterator[ComparedRow]:
        """Yield the rows in the order of the expected ones, those that are too many at the end."""
        state = replace(self._state, predicted=self._layout.predicted(self.query, labels, rows))
        matched = compare.match(state, labels, [tuple(row) for row in rows])
        by_key = {text_of(row.key): values for row, values in (*matched.pairs, *matched.empty)}
        names, expected_rows = self.expected
        for key, expected_row in zip(sorted(self._state.keys), expected_rows, strict=True):
            row, values = by_key.get(key), None
            if row is not None:
                expected = dict(zip(names, expected_row, strict=True))
                values = tuple(
                    (value, name in expected and same(value, expected[name]))
                    for name, value in zip(labels, row, strict=True)
                )
            yield ComparedRow(key, values, expected=True)
        for key, row in (*matched.second, *matched.extra):
            yield ComparedRow(key, tuple((value, False) for value in row), expected=False)


MOST: Final = 8
"""So many differences of one finding are listed."""
WRONG: Final = "≠"
LONGEST: Final = 24
"""Characters of a value in a table; findings show it longer."""
WIDEST_TITLE: Final = 36
BETWEEN: Final = 2
"""Columns between two tables."""


def explain(
    case: options.CaseArgument,
    run_dir: options.OldRunOption = LATEST_RUN,
    verbose: options.VerboseOption = False,
) -> None:
    """Show one check in full: expected, answered, what each read strategy gives, and the files."""
    with (
        Output(verbose=verbose).ending(),
        looked_at(run_dir, f"explain {' '.join(case)}") as folder,
    ):
        recorded = find(folder, case)
        print_case(recorded, OUT)
        state = recorded.case.state_of.get(recorded.cell.step)
        table = state_store.table(Cache.default(), state.digest) if state and state.digest else None
        if table is not None:  # the cache still has it
            entries = formats.load(recorded.info.variants[0].format).timeline(table)
            print_timeline(entries, recorded, OUT)
        print_address(folder, recorded, OUT)


def print_address(folder: Path, recorded: RecordedCell, console: Console) -> None:
    page = folder / html.FILE
    if page.exists():
        say(console, "\nOn the page", "bold")
        command(console, cell_address(page, recorded.cell.case))


def print_case(recorded: RecordedCell, console: Console) -> None:
    """Print every section; in place of one that fails, that it could not be worded."""
    for section in (print_head, print_steps, print_answer, print_evidence):
        failure = words.NOT_WORDED
        with words.LoggedFailure(recorded.cell.case):
            section(recorded, console)
            failure = ""
        if failure:
            say(console, failure)


def print_evidence(recorded: RecordedCell, console: Console) -> None:
    expectations, cell, answer = expectations_of(recorded), recorded.cell, recorded.answer
    if expectations is None:
        say(console, "nothing was recorded of the table after this step")
        return
    layout = expectations.layout(cell.step, cell.view)
    files = number_files(layout.files, layout.steps)
    if answer is not None and not (answer.unknown or answer.not_applicable):
        tables = tables_of(layout, understand_cell(cell, expectations, answer))
        print_tables(tables, console)
        if recorded.verdict is not None:
            print_findings(recorded.verdict, files, console)
        print_strategies(tables, console)
    print_files(layout, files, console)
    print_agreement(expectations.agreement(cell.step, view_of_rows(cell.view)), files, console)
    print_statistics(expectations.case.state_of[cell.step].statistics, console)
    print_advice(recorded, console)


def print_head(recorded: RecordedCell, console: Console) -> None:
    cell, verdict = recorded.cell, recorded.verdict
    (variant,) = recorded.info.variants
    step = variant.step(cell.step)
    say(console, cell.case, "bold")
    say(console, f"after step {cell.step}: {step.text}; view {cell.view}, query {cell.query}")
    if verdict is None:
        say(console, "not judged yet; run harness judge")
        return
    label = words.VERDICTS[verdict.verdict]
    good = {VerdictKind.CORRECT: "green", VerdictKind.OPEN: "cyan"}
    style = good.get(verdict.verdict, "bold red")
    say(console, f"{label.symbol} {label.label}: {label.meaning}", style)
    if verdict.because:
        say(console, f"  {verdict.because}")
    if verdict.known:
        say(console, f"  known: {verdict.known}")
    for tolerance in summary.tolerance_counts([verdict]):
        say(console, f"  normalised, as declared: {tolerance.text}")


def print_steps(recorded: RecordedCell, console: Console) -> None:
    (variant,) = recorded.info.variants
    outcomes = {state.outcome.step: state.outcome for state in recorded.case.states}
    say(console, "\nWhat was written", "bold")
    for number in range(recorded.cell.step + 1):
        outcome = outcomes.get(number)
        why = f" ({outcome.word})" if outcome is not None and outcome.failed else ""
        say(console, f"  {number} {variant.step(number).text}{why}")
        if outcome is not None and outcome.half_done and outcome.refusal:
            say(console, f"    the writer's error: {words.refusal_text(outcome.refusal)}")


def print_timeline(entries: Sequence[str], recorded: RecordedCell, console: Console) -> None:
    steps = {state.outcome.instant: state.outcome.step for state in recorded.case.states}
    if entries:
        say(console, "\nTimeline of the table", "bold")
    for entry in entries:
        step = steps.get(entry.partition(" ")[0])
        say(console, f"  {entry}" + (f" (step {step})" if step is not None else ""))


def print_advice(recorded: RecordedCell, console: Console) -> None:
    advices = advice(recorded.verdict, recorded.question) if recorded.verdict else ()
    if advices:
        say(console, "\nWhat to do", "bold")
    for advised in advices:
        item(console, advised.text + (":" if advised.verb else ""), lead=" -")
        if advised.verb:
            command(console, advised.command(recorded.cell.case))


def print_answer(recorded: RecordedCell, console: Console) -> None:
    answer = recorded.answer
    if answer is None:
        say(console, "\nthis was never asked")
        return
    say(console, f"\nSQL: {answer.sql}")
    if answer.refusal:
        say(console, f"refused: {words.refusal_text(answer.refusal, 1000)}")
    if answer.unknown or answer.not_applicable:
        say(console, f"no answer: {answer.unknown or answer.not_applicable}")
        for line in words.log_text(answer).splitlines():
            say(console, line)
    if answer.confirmed:
        say(console, f"it ran as: {answer.confirmed}")
    for reader in recorded.info.readers:
        if reader.reader == recorded.cell.reader:
            say(console, f"settings of the reader: {reader.settings}")


def print_findings(verdict: Verdict, files: NumberedFiles, console: Console) -> None:
    for finding in verdict.findings:
        label = FINDINGS[finding.kind]
        say(console, f"\n{label.symbol} {label.label}: {label.meaning}", "bold")
        item(console, BLAME[finding.responsible].meaning, lead=" ")
        for witness in finding.witnesses[:MOST]:
            text = words.NOT_WORDED
            with words.LoggedFailure(verdict.case):
                text = _difference(finding, witness, files.names(witness.file))
            item(console, text, lead=" -")
        _print_rest(len(finding.witnesses), console)


def _difference(finding: Finding, witness: Witness, file: str) -> str:
    origin = f"field id {witness.origin.field_id}" if witness.origin else ""
    source = f"read from file {file}" if file else ""
    parts = witness_text(finding.kind, witness), origin, source, engine_text(witness)
    return "; ".join(filter(None, parts))


def _print_rest(number: int, console: Console) -> None:
    if number > MOST:
        say(console, f"  … and {number - MOST} more")


def print_files(layout: Layout, numbered: NumberedFiles, console: Console) -> None:
    say(console, "\nFiles", "bold")
    if layout.unread:
        say(console, f"  nothing is known of them: {layout.unread}")
    current = read_at_all(layout)
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right")
    for fact in numbered.facts:
        read = id(fact) in current
        text = printable("; ".join(_file(fact, layout.steps, read=read)))
        grid.add_row(numbered.name(fact), Text(text, "" if read else "dim"))
    console.print(grid)


def _file(fact: FileFact, steps: Mapping[str, int], *, read: bool) -> Iterator[str]:
    kind = "base file" if fact.kind is FileKind.BASE else "log block"
    step = steps.get(fact.instant)
    # No instant of the step is known where the state was written again after its record.
    yield f"{kind} of instant {fact.instant}" if step is None else f"{kind} of step {step}"
    if not read:
        yield "replaced by a newer one"
    yield f"group {fact.file_group}"
    if fact.keys:
        yield f"rows {', '.join(fact.keys)}"
    if fact.deleted:
        yield f"deletes rows {', '.join(fact.deleted)}"
    columns = [f"{name} {type_}" for name, type_ in fact.columns if name not in META]
    if columns:
        yield f"columns {', '.join(columns)}"
    yield fact.path


def print_agreement(files: FileAgreement | None, numbered: NumberedFiles, console: Console) -> None:
    if files is None:
        say(console, "  what they hold was not checked")
        return
    if not files.discrepancies:
        say(console, "  they hold what was written")
        return
    say(console, "  They do not hold what was written:", "bold")
    for deviation in files.discrepancies[:MOST]:
        at = f" in file {numbered.name(deviation.file)}" if deviation.file else ""
        say(console, f"  - row {deviation.key}{at}: {deviation.text}")
    _print_rest(len(files.discrepancies), console)


def print_statistics(stored: StoredStatistics, console: Console) -> None:
    if stored.unknown:
        say(console, f"  not all stored statistics are known: {stored.unknown}")
    if stored.columns:
        say(console, "  Stored statistics that the files contradict, or may contradict:")
    for column_statistics in stored.columns[:MOST]:
        say(console, f"  - {column_statistics}")
    _print_rest(len(stored.columns), console)


def print_tables(tables: CaseTables, console: Console) -> None:
    say(console, "\nTables", "bold")
    say(console, f"{WRONG} not the expected value; + a row too many", "dim")
    say(console, words.TRACED, "dim")
    _beside([tables.expected, *([tables.answer] if tables.answer else [])], console)


def print_strategies(tables: CaseTables, console: Console) -> None:
    """Put side by side what each read strategy gives, and say which gives the answer."""
    say(console, "\nRead strategies, and what each would answer", "bold")
    _beside(sorted(tables.strategies, key=lambda table: not table.same_as_answer), console)
    say(console, _fitting(tables))
    titles = (title for table in tables.strategies for title in table.titles)
    for part in dict.fromkeys(part for title in titles for part in words.strategy_parts(title)):
        item(console, f"{part}: {words.STRATEGIES[part]}", lead=" -")


def _fitting(tables: CaseTables) -> str:
    if not tables.tried:
        return "No read strategy is worked out for this view, so none is claimed."
    names = "; ".join(tables.fitting)
    if tables.answer is None:
        result = "there is no answer to compare with"
    elif not tables.fitting:
        result = "none of them gives this answer"
    elif len(tables.fitting) > 1:
        result = f"several give this answer, so none is claimed: {names}"
    elif tables.inconclusive:
        result = f"none is claimed: {names} {words.LITTLE}"
    else:
        result = f"the smallest that gives this answer: {names}"
    tried = counted(tables.tried, "read strategy was tried", "read strategies were tried")
    return f"{tried}; {result}."


def _beside(compared: Iterable[ComparedTable], console: Console) -> None:
    console.print(Columns(map(_table, compared), padding=(0, BETWEEN, 1, 0)), "")


def _table(compared: ComparedTable) -> Table:
    marks = ["as expected"] if compared.same_as_expected else []
    marks += ["= FOUND"] if compared.same_as_answer else []
    table = Table(
        title=Text("\n".join((*map(printable, compared.titles), *marks)), "bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        # A title that is longer than its table would be folded word by word.
        min_width=min(WIDEST_TITLE, max(map(len, compared.titles))),
    )
    for label in compared.labels:
        table.add_column(Text(printable(label)), overflow="fold")
    for row in compared.rows:
        table.add_row(*_row(row))
    return table


def _row(row: ComparedRow) -> Iterator[Text]:
    if row.values is None:
        yield Text(f"{WRONG}{printable(row.key)}: no such row", "bold red")
        return
    lead = Text("" if row.expected else "+ ", "bold red")
    for value, right in row.values:
        text = words.short(words.exact(value), LONGEST)
        yield lead + (Text(text) if right else Text(f"{WRONG}{text}", "bold red"))
        lead = Text("")
