"""The tables of a plan, step by step: what is sent, and the table after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.core.counting import counted
from harness.core.errors import printable
from harness.core.records import Outcome, OutcomeKind
from harness.model.canonical import text_of
from harness.model.truth import Truth, row_values
from harness.reports.lines import say, text
from harness.reports.words import exact, short
from harness.scenario.cells import Plan, Variant
from harness.scenario.statements import DATABASE, LOCATION
from harness.write.next_step import NextStep, VariantOutcomes

INDENT: Final = 4
LONGEST: Final = 26
"""Characters of a value in a table: a timestamp with all its digits."""
NOTHING: Final = "nothing is sent: this format has nothing to do"


def show(plan: Plan, console: Console, *, every: bool) -> None:
    """Print what is sent for variants of a plan, and what their tables hold after each step.

    `every`: not only for the first variant of each scenario and format.
    """
    first = {
        (variant.scenario.name, variant.format): variant for variant in reversed(plan.variants)
    }
    shown = [variant for variant in plan.variants if every or variant in first.values()]
    if shown:
        say(console, f"\nA run fills in {DATABASE} and {LOCATION}.")
    for variant in shown:
        _show_variant(variant, console)
    if left := len(plan.variants) - len(shown):
        say(
            console,
            f"\n{counted(left, 'more variant')}: select others with -k and a part of a name",
        )


def sent(variant: Variant) -> Iterator[NextStep]:
    """Yield what is sent for each step of a variant if no step is refused, the creation first."""
    outcomes = VariantOutcomes(variant)
    while not outcomes.complete:
        step = outcomes.next_step()
        yield step
        outcomes = outcomes.then(Outcome(step.step, OutcomeKind.APPLIED, statements=step.texts))


def _show_variant(variant: Variant, console: Console) -> None:
    say(console, f"\n{variant.id}", "bold")
    steps = variant.scenario.steps
    history = variant.scenario.truths(
        merge_on_read=VariantOutcomes(variant).shape.merge_on_read
    ).history()
    texts = ["create the table", *(later.operation.text() for later in steps)]
    columns = ""
    for step, truth, message in zip(sent(variant), history, texts, strict=True):
        say(console, f"\nstep {step.step}: {message}", "bold")
        for statement in step.texts or (NOTHING,):
            _print(text(console, statement), console)
        if columns != (columns := ", ".join(f"{e.name} {e.type}" for e in truth.schema.fields)):
            _print(text(console, f"columns: {columns}", "dim"), console)
        _print(_table(truth), console)


def _print(shown: RenderableType, console: Console) -> None:
    console.print(Padding(shown, (0, 0, 0, INDENT), expand=False), highlight=False)


def _table(truth: Truth) -> Table:
    """Return the table that a snapshot query should see."""
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for field in truth.schema.fields:
        shown.add_column(Text(printable(field.name)), overflow="fold")
    rows = sorted(truth.rows.values(), key=lambda row: text_of(row.key))
    for row in rows:
        shown.add_row(
            *(Text(short(exact(value), LONGEST)) for value in row_values(row, truth.schema))
        )
    if not rows:
        shown.add_row("no rows")
    return shown
