"""The report for a terminal: how each reader fared, what breaks, every answer step by step."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Final

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.core.grouping import grouped
from harness.core.records import Verdict, VerdictKind
from harness.core.texts import counted
from harness.model import past_views
from harness.model.commit import AS_OF, BRANCH, INCREMENTAL, TAG
from harness.reports import lines, summary
from harness.reports.cause_texts import CauseText, cause_lines, cause_list, cause_texts
from harness.reports.document import Code, Item, Items, Line, table
from harness.reports.findings import FINDINGS
from harness.reports.html import cause_address
from harness.reports.lines import STYLES, WIDTH, item, say, text
from harness.reports.summary import Score, numbers, scoreboard
from harness.reports.words import DEFAULT, VERDICTS, metastore_lines
from harness.reports.words import VIEWS as VIEW_WORDS
from harness.run.load_run import Run, VariantInfo
from harness.scenario.cells import parse_reader
from harness.scenario.definition import VIEWS as ALL_VIEWS

NAME: Final = "terminal"
FILE: Final = "report.txt"
MANY: Final = 20
"""Of more variants than these, only counts are shown; the HTML report has every matrix."""
READER: Final = 9
LABEL: Final = READER - len(" 1")
VIEWS: Final[Mapping[str, str]] = {
    "read_optimized": "read-opt.",
    "base_name": "base",
    AS_OF: "as of",
    INCREMENTAL: "since",
    TAG: "tag",
    BRANCH: "branch",
}


def short_names(run: Run) -> Mapping[str, str]:
    """Return each reader a short name: its engine, numbered where there are several of it."""
    readers = summary.readers(run)
    engines = [parse_reader(reader).distribution.partition("-")[0][:LABEL] for reader in readers]
    return {
        reader: f"{engine} {engines[: at + 1].count(engine)}"
        if engines.count(engine) > 1
        else engine
        for at, (reader, engine) in enumerate(zip(readers, engines, strict=True))
    }


def legend(run: Run, labels: Mapping[str, str], console: Console) -> None:
    say(console, "\nReaders", "bold")
    for reader, label in labels.items():
        item(console, reader, lead=f"  {label:{READER}}")
    for fidelity, names in _fidelities(run, labels).items():
        item(console, f"{', '.join(names)}: {fidelity}", lead=" -")
    for line in metastore_lines(run.info):
        item(console, line, lead=" -")
    say(console, "Their settings", "bold")
    settings_of = [(run.info.reader(reader).settings, label) for reader, label in labels.items()]
    for settings, names in grouped(settings_of).items():
        item(console, f"{', '.join(names)}: {settings}", lead=" -")
    say(console, "Words", "bold")
    for short, meaning in _words(run):
        item(console, meaning, lead=f"  {short:{READER}}")


def _fidelities(run: Run, labels: Iterable[str]) -> Mapping[str, Iterable[str]]:
    infos = map(run.info.reader, labels)
    made = [(info.fidelity or "fidelity not recorded", info.distribution) for info in infos]
    return {fidelity: dict.fromkeys(names) for fidelity, names in grouped(made).items()}


def _words(run: Run) -> Iterator[tuple[str, str]]:
    shown = {verdict.verdict for verdict in run.verdicts}
    kinds = {finding.kind for verdict in run.verdicts for finding in verdict.findings}
    words = [*(VERDICTS[kind] for kind in VERDICTS if kind in shown - {VerdictKind.WRONG})]
    words += [FINDINGS[kind] for kind in FINDINGS if kind in kinds]
    yield from ((word.short, f"{word.label}: {word.meaning}") for word in words)
    if any(verdict.known for verdict in run.verdicts):
        yield "*", "known: listed in the baseline beside the scenario"
    if any(len(verdict.findings) > 1 for verdict in run.verdicts):
        yield "+", "with more findings than this one"
    for name in dict.fromkeys(past_views.name_of(verdict.view) for verdict in run.verdicts):
        if name in VIEW_WORDS:
            yield VIEWS.get(name, name), f"view: {VIEW_WORDS[name]}"


STEP: Final = 24
VIEW: Final = 9
LEFT: Final = 2 + STEP + 1 + VIEW + 1
PLAIN: Final = "all"
NARROWEST: Final = LEFT + READER + 1


def matrices(run: Run, labels: Mapping[str, str], console: Console) -> None:
    of_variant = grouped([(verdict.variant, verdict) for verdict in run.verdicts])
    for scenario, variants in groupby(run.info.variants, key=lambda variant: variant.scenario):
        say(console, f"\n{scenario}", "bold")
        for variant in variants:
            _variant(run, variant, of_variant.get(variant.id, []), labels, console)


def counts(run: Run, console: Console) -> None:
    """Count each scenario's verdicts: nobody reads hundreds of matrices from top to bottom."""
    variants = Counter(variant.scenario for variant in run.info.variants)
    counts_ = Counter((verdict.scenario, verdict.verdict) for verdict in run.verdicts)
    kinds = [kind for kind in VERDICTS if any(verdict is kind for _, verdict in counts_)]
    numbers_ = ["variants", *(VERDICTS[kind].short for kind in kinds)]
    rows: Iterable[tuple[str | Line, ...]] = (
        (
            scenario,
            f"{count:,}",
            *(Line(f"{counts_[scenario, kind]:,}", tone=kind) for kind in kinds),
        )
        for scenario, count in variants.items()
    )
    console.print(lines.table(table(("scenario", *numbers_), rows, numbers=numbers_), console))


def _variant(
    run: Run,
    variant: VariantInfo,
    verdicts: Sequence[Verdict],
    labels: Mapping[str, str],
    console: Console,
) -> None:
    name = variant.id.removeprefix(variant.scenario)
    if all(verdict.verdict is VerdictKind.CORRECT for verdict in verdicts):
        say(console, f"  {name}: all {counted(len(verdicts), 'check')} correct", "green")
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
        if len(self.views) == len(ALL_VIEWS):
            return "all views"
        return ", ".join(map(_view, self.views))

    @property
    def shown(self) -> bool:
        wrong = (cell.verdict is not VerdictKind.CORRECT for cell in self.cells.values())
        return self.query == PLAIN or any(wrong)


def _view(name: str) -> str:
    back = past_views.past(name)
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
    if state is None or not state.outcome.failed:
        return name
    return f"{name} ({state.outcome.word})"


def _cell(verdict: Verdict | None) -> Text:
    if verdict is None:
        return Text("not asked", "dim")
    word = VERDICTS[verdict.verdict].short
    if verdict.verdict is VerdictKind.WRONG and verdict.findings:
        word = FINDINGS[verdict.findings[0].kind].short + "+" * (len(verdict.findings) > 1)
    return Text(word + "*" * bool(verdict.known), STYLES[verdict.verdict])


def write(run: Run, folder: Path) -> Path:
    path = folder / FILE
    with path.open("w", encoding="utf-8") as out:
        render(run, Console(file=out, width=WIDTH, color_system=None))
    return path


def render(run: Run, console: Console, html: Path | None = None) -> None:
    """Print the report; `html` is where the HTML report lies, when there is one."""
    labels, scores = short_names(run), scoreboard(run)

    def cause_blocks(text: CauseText, number: int) -> tuple[Line | Code, ...]:
        address = (Code(cause_address(html, number)),) if html else ()
        return (*cause_lines(text), *address)

    head = Line(strong=f"Run {run.info.id}, profile {run.info.profile}")
    notes = Items(tuple(Item(Line(note)) for note in _notes(scores)))
    causes = cause_list(cause_texts(run), cause_blocks)
    lines.render([head, summary.scores(scores, "-"), notes, *causes], console)
    if len(run.info.variants) > MANY:
        counts(run, console)
    else:
        matrices(run, labels, console)
    legend(run, labels, console)
    lines.render([*summary.steps(run), *summary.coverage(run)], console)
    say(console, "")
    lines.render(summary.total_lines(run), console)
    if html:
        say(console, f"Every check with its tables, SQL and files: {html}")


def _notes(scores: Sequence[Score]) -> Iterator[str]:
    if not any(score.by_default for score in scores):
        yield f"of no reader it is known that its settings are its engine's own ({DEFAULT})"
        return
    yield f"{DEFAULT}: with the engine's own settings; nobody chose another"
    same = grouped([(s.ours, s.reader) for s in scores if s.by_default and s.ours])
    for ours, readers in same.items():
        yield f"set by the harness all the same for {'; '.join(readers)}: {ours}"
