"""The matrices of the terminal report: what each reader answered after each step of a variant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.core.counting import counted
from harness.core.grouping import grouped
from harness.core.outcomes import failed, word
from harness.core.records import Verdict, VerdictKind
from harness.model import past_views as views
from harness.reports.findings import FINDINGS
from harness.reports.legend import READER, VIEWS
from harness.reports.lines import say, text
from harness.reports.summary import numbers
from harness.reports.words import VERDICTS
from harness.run.load_run import Run
from harness.run.run_info import VariantInfo
from harness.scenario.definition import VIEWS as ALL_VIEWS

STEP: Final = 24
VIEW: Final = 9
LEFT: Final = 2 + STEP + 1 + VIEW + 1
"""Columns before the first reader."""
PLAIN: Final = "all"
"""The query that asks for the whole table."""
NARROWEST: Final = LEFT + READER + 1

STYLES: Final[Mapping[VerdictKind, str]] = {
    VerdictKind.CORRECT: "green",
    VerdictKind.WRONG: "bold red",
    VerdictKind.REFUSED: "magenta",
    VerdictKind.UNSUPPORTED: "dim",
    VerdictKind.UNKNOWN: "bold yellow",
}


def matrices(run: Run, labels: Mapping[str, str], console: Console) -> None:
    """Print the matrix of each variant; `labels`: the readers' short names."""
    of_variant = grouped((verdict.variant, verdict) for verdict in run.verdicts)
    for scenario, variants in groupby(run.info.variants, key=lambda variant: variant.scenario):
        say(console, f"\n{scenario}", "bold")
        for variant in variants:
            _variant(run, variant, of_variant.get(variant.id, []), labels, console)


def counts(run: Run, console: Console) -> None:
    """Count each scenario's verdicts: nobody reads hundreds of matrices from top to bottom."""
    variants = Counter(variant.scenario for variant in run.info.variants)
    counts_ = Counter((verdict.scenario, verdict.verdict) for verdict in run.verdicts)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("scenario")
    kinds = [kind for kind in VERDICTS if any(verdict is kind for _, verdict in counts_)]
    for name in ("variants", *(VERDICTS[kind].short for kind in kinds)):
        table.add_column(name, justify="right")
    for scenario, count in variants.items():
        numbers_of = (Text(f"{counts_[scenario, kind]:,}", STYLES[kind]) for kind in kinds)
        table.add_row(text(console, scenario), f"{count:,}", *numbers_of)
    console.print(table)


def _variant(
    run: Run,
    variant: VariantInfo,
    verdicts: Sequence[Verdict],
    labels: Mapping[str, str],
    console: Console,
) -> None:
    name = variant.id.removeprefix(variant.scenario)
    if all(verdict.verdict is VerdictKind.CORRECT for verdict in verdicts):
        say(console, f"  {name}: all {counted(len(verdicts), 'cell')} correct", "green")
        return
    say(console, f"  {name}")
    rows, right = _rows(verdicts)
    most = max(1, (max(console.width, NARROWEST) - LEFT) // (READER + 1))
    of_readers = {verdict.reader for verdict in verdicts}
    asked = [reader for reader in labels if reader in of_readers]
    for start in range(0, len(asked), most):
        readers = asked[start : start + most]
        console.print(Padding(_matrix(run, variant, rows, readers, labels, console), (0, 0, 0, 2)))
    if right:
        say(console, f"  all correct after {numbers(right)}", "green")


@dataclass(frozen=True, slots=True)
class _MatrixRow:
    """What all readers answered after a step, in views that they answered alike."""

    step: int
    views: tuple[str, ...]
    query: str
    cells: Mapping[str, Verdict]

    @property
    def view_names(self) -> str:
        """Name the views."""
        if len(self.views) == len(ALL_VIEWS):
            return "all views"
        return ", ".join(map(_view, self.views))

    @property
    def shown(self) -> bool:
        """Whether it tells more than the rows of whole tables do."""
        wrong = (cell.verdict is not VerdictKind.CORRECT for cell in self.cells.values())
        return self.query == PLAIN or any(wrong)


def _view(name: str) -> str:
    back = views.past(name)
    return f"{VIEWS[back.name]} {back.step}" if back else VIEWS.get(name, name)


def _rows(verdicts: Sequence[Verdict]) -> tuple[list[_MatrixRow], list[int]]:
    """Return the rows of the steps after which something is not correct, and the other steps."""
    asked: dict[tuple[int, str, str], dict[str, Verdict]] = {}
    for verdict in verdicts:
        asked.setdefault((verdict.step, verdict.view, verdict.query), {})[verdict.reader] = verdict
    same: dict[tuple[object, ...], _MatrixRow] = {}
    for (step, view, query), cells in sorted(asked.items(), key=lambda item: item[0][0]):
        marks = tuple((reader, str(_cell(cell))) for reader, cell in cells.items())
        first = same.get((step, query, marks), _MatrixRow(step, (), query, cells))
        same[step, query, marks] = replace(first, views=(*first.views, view))
    bad = {verdict.step for verdict in verdicts if verdict.verdict is not VerdictKind.CORRECT}
    right = sorted({row.step for row in same.values()} - bad)
    return [row for row in same.values() if row.step in bad and row.shown], right


def _matrix(
    run: Run,
    variant: VariantInfo,
    rows: Sequence[_MatrixRow],
    readers: Sequence[str],
    labels: Mapping[str, str],
    console: Console,
) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=0, show_edge=False, pad_edge=False)
    table.add_column("after step", width=STEP)
    table.add_column("view", width=VIEW)
    for reader in readers:
        table.add_column(text(console, labels[reader]), width=READER, no_wrap=True)
    before = None
    for row in rows:
        name = _step_name(run, variant, row.step) if row.step != before else ""
        if row.query != PLAIN:
            name = f"{name}\n  {row.query}".lstrip("\n")
        texts = [text(console, name), text(console, row.view_names)]
        table.add_row(*texts, *(_cell(row.cells.get(reader)) for reader in readers))
        before = row.step
    return table


def _step_name(run: Run, variant: VariantInfo, number: int) -> str:
    state = run.by_step.get((variant.id, number))
    name = f"{number} {variant.step(number).text}"
    if state is None or not failed(state.outcome):
        return name
    return f"{name} ({word(state.outcome)})"


def _cell(verdict: Verdict | None) -> Text:
    if verdict is None:
        return Text("not asked", "dim")
    word = VERDICTS[verdict.verdict].short
    if verdict.verdict is VerdictKind.WRONG and verdict.findings:
        word = FINDINGS[verdict.findings[0].kind].short + "+" * (len(verdict.findings) > 1)
    return Text(word + "*" * bool(verdict.known), STYLES[verdict.verdict])
