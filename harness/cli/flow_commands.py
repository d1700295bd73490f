"""The verbs of the flow, in their order."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer
from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness import reports
from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.cli import named_parts, options, plan_options, runs
from harness.cli.named_parts import NamedParts
from harness.cli.output import OUT, Output
from harness.cli.plan_options import PlanOverrides
from harness.cli.runs import Ending, Resources, begun, looked_at, resumed
from harness.core.records import Outcome, OutcomeKind
from harness.core.setting_values import TABLE_VERSION
from harness.core.texts import counted, printable
from harness.model.canonical import text_of
from harness.model.truth import Truth, row_values
from harness.plan import custom_distributions, distribution_support, estimate, shipped
from harness.plan.profile import load_profiles
from harness.read import TIMEOUT_S
from harness.reports import lines, summary
from harness.reports.document import table
from harness.reports.lines import say, text
from harness.reports.words import exact, short
from harness.run import load_run, pipeline, plan_record, run_folder
from harness.run.pipeline import TimeLimits
from harness.run.run_folder import LATEST_RUN
from harness.run.run_judge import with_strategy_answers
from harness.run.run_log import run_log
from harness.scenario.cells import Cell, Plan, Variant
from harness.scenario.notices import notices
from harness.scenario.statements import DATABASE, LOCATION
from harness.usage import own_tables
from harness.write import writer_pool
from harness.write.next_step import VariantOutcomes

MINUTE: Final = 60
INDENT: Final = 4
LONGEST: Final = 26
"""Characters of a value in a table: a timestamp with all its digits."""
NOTHING: Final = "nothing is sent: this format has nothing to do"


def show(made: Plan, console: Console, *, cells: bool) -> None:
    counts = Counter(cell.variant for cell in made.cells)
    steps = ((v.id, str(len(v.scenario.steps)), str(counts[v.id])) for v in made.variants)
    lines.render([table(("variant", "steps", "checks"), steps)], console)
    declared = _declared(made)
    for line in _lines(made, declared, cells=cells):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    asked = replace(made, cells=tuple(cell for cell in made.cells if cell not in declared))
    minutes = estimate(asked) / MINUTE
    console.print(
        f"{counted(len(made.variants), 'variant')}, {counted(len(made.readers), 'reader')}, "
        f"{counted(len(made.cells), 'check')}; about {minutes:.0f} min when nothing is there yet"
    )


def _lines(made: Plan, declared: dict[Cell, str], *, cells: bool) -> Iterator[str]:
    yield from made.chosen
    yield from (f"reader {reader}" for reader in made.readers)
    if not made.metastore.usual:
        yield f"through {made.metastore}"
    for name in dict.fromkeys(reader.distribution for reader in made.readers):
        if distributions.exists(name) and (notice := distributions.load(name).notice):
            yield f"note: {notice}"
    for scenario in {variant.scenario.name: variant.scenario for variant in made.variants}.values():
        yield from (f"note: {notice}" for notice in notices(scenario))
    yield from (f"left out: {left.what}: {left.why}" for left in made.excluded)
    if declared:
        probe = "one of each reader, format and version is sent, and the others if it is answered"
        number = counted(len(declared), "check")
        yield f"declared unsupported, as far as a plan can say: {number}; {probe}"
    for why, count in Counter(declared.values()).items():
        yield f"  {counted(count, 'check')}: {why}"
    if cells:
        yield from (cell.case for cell in made.cells)
    yield from _coverage(made)


def _coverage(made: Plan) -> Iterator[str]:
    for covered in made.pairs:
        axes = "; ".join(f"{name}: {', '.join(values)}" for name, values in covered.axes.items())
        variants = f"{covered.variants} of {counted(covered.combinations, 'variant')}"
        yield f"pairs of {covered.scenario}: {variants} cover all {covered.covered} ({axes})"
    for pair, scenarios in summary.impossible_pairs(made.pairs):
        yield f"pair not covered: {pair.what}: {pair.why} ({', '.join(scenarios)})"
    if message := summary.covered_pairs(made.pairs):
        yield message
    if made.partly:
        yield f"{summary.PARTLY}:"
    yield from (f"  {line}" for line in summary.partly_asked(made.partly))


def _declared(made: Plan) -> dict[Cell, str]:
    """Return the cells that their reader is declared not to support, each with the declaration."""
    tables = {variant.id: (variant.format, _table_version(variant)) for variant in made.variants}
    whys = {
        cell: distribution_support.declared(cell.reader, *tables[cell.variant])
        for cell in made.cells
    }
    return {cell: why for cell, why in whys.items() if why}


def _table_version(variant: Variant) -> str:
    """Return the version of a variant's table; empty where several writers decide it."""
    if len(set(variant.writers)) > 1:
        return ""
    writer = distributions.load(variant.writers[0])
    makes = writer.texts_if_any(distribution_support.TABLE_VERSIONS)
    return variant.settings.get(TABLE_VERSION, makes[-1] if makes else "")


def show_expected(plan: Plan, console: Console, *, every: bool) -> None:
    """Print what is sent and the table after each step, for the first variants or for every one."""
    first = {(v.scenario.name, v.format): v for v in reversed(plan.variants)}.values()
    shown = [variant for variant in plan.variants if every or variant in first]
    if shown:
        say(console, f"\nA run fills in {DATABASE} and {LOCATION}.")
    for variant in shown:
        _show_variant(variant, console)
    if left := len(plan.variants) - len(shown):
        others = "select others with -k and a part of a name"
        say(console, f"\n{counted(left, 'more variant')}: {others}")


def _show_variant(variant: Variant, console: Console) -> None:
    say(console, f"\n{variant.id}", "bold")
    outcomes, columns = VariantOutcomes(variant), ""
    history = variant.scenario.truths(merge_on_read=outcomes.shape.merge_on_read).history()
    texts = ["create the table", *(step.operation.text() for step in variant.scenario.steps)]
    for truth, message in zip(history, texts, strict=True):
        step = outcomes.next_step()
        outcomes = outcomes.then(Outcome(step.step, OutcomeKind.APPLIED, statements=step.texts))
        say(console, f"\nstep {step.step}: {message}", "bold")
        shown: list[Text | Table] = [text(console, sql) for sql in step.texts or (NOTHING,)]
        if columns != (columns := ", ".join(f"{f.name} {f.type}" for f in truth.schema.fields)):
            shown.append(text(console, f"columns: {columns}", "dim"))
        for block in (*shown, _table(truth)):
            padded = Padding(block, (0, 0, 0, INDENT), expand=False)
            console.print(padded, highlight=False)


def _table(truth: Truth) -> Table:
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for field in truth.schema.fields:
        shown.add_column(Text(printable(field.name)), overflow="fold")
    rows = sorted(truth.rows.values(), key=lambda row: text_of(row.key))
    for row in rows:
        values = row_values(row, truth.schema)
        shown.add_row(*(Text(short(exact(value), LONGEST)) for value in values))
    if not rows:
        shown.add_row("no rows")
    return shown


def quick_start(paths: Sequence[Path], named: NamedParts) -> str | None:
    """Return the quick start of a format where that format is all that is named."""
    if paths or len(named.formats) != 1 or named.writers or named.readers or named.file:
        return None
    name = f"{named_parts.QUICK_START}-{named.formats[0]}"
    return name if name in load_profiles(shipped.profiles_file()) else None


@options.with_overrides
@options.with_parts
def plan(
    named: NamedParts,
    overrides: PlanOverrides,
    scenarios: options.ScenariosArgument = None,
    folders: options.ScenariosOption = None,
    profile: options.ProfileOrPartsOption = None,
    k: options.SelectOption = "",
    cells: options.CellsOption = False,
    expected: options.ExpectedOption = False,
    platform: options.PlatformOption = None,
) -> None:
    """Show what a run would do: variants, readers, checks; what is left out, and why."""
    options.use_platform(platform)
    paths = options.paths(scenarios, folders)
    chosen = profile or quick_start(paths, named)
    made = plan_options.make(paths, chosen, k, None, overrides, named)
    show(made, OUT, cells=cells)
    if expected:
        show_expected(made, OUT, every=bool(k))
    plan_options.check_asks(made)


@options.with_output
def fetch(
    output: Output,
    scenarios: options.ScenariosArgument = None,
    folders: options.ScenariosOption = None,
    profile: options.ProfileOrPartsOption = None,
    offline: options.OfflineOption = False,
) -> None:
    """Download the engines of a run into the cache and verify them; skip those in the cache."""
    made = plan_options.make(options.paths(scenarios, folders), profile, "")
    plan_options.check_asks(made)
    cache, names = Cache.default(offline=offline), pipeline.needed_distributions(made)
    pipeline.fetch_all(names, cache, output.progress())
    output.end(cache=str(cache.root), distributions=names)


@options.with_output
@options.with_overrides
@options.with_parts
@options.with_ending
def run(
    output: Output,
    named: NamedParts,
    overrides: PlanOverrides,
    ending: Ending,
    context: typer.Context,
    scenarios: options.ScenariosArgument = None,
    folders: options.ScenariosOption = None,
    profile: options.ProfileOrPartsOption = None,
    run_dir: options.RunDirOption = None,
    k: options.SelectOption = "",
    cases: options.CasesOption = None,
    offline: options.OfflineOption = False,
    fresh: options.FreshOption = False,
    resume: options.ResumeOption = False,
    timeout: options.TimeoutOption = TIMEOUT_S,
    write_timeout: options.WriteTimeoutOption = writer_pool.TIMEOUT_S,
    platform: options.PlatformOption = None,
    dry_run: options.DryRunOption = False,
) -> int:
    """Fetch, write, read, judge and report; the exit status says what came of it."""
    options.use_platform(platform)
    runs.check_history(ending.history, run_dir)
    limits = TimeLimits(timeout, write_timeout)
    resources = Resources(output, Cache.default(offline=offline), limits)
    if resume:
        options.check_resumed(context)
        working = resumed(run_dir or run_folder.to_resume(), resources)
    else:
        paths = options.paths(scenarios, folders)
        chosen = profile or quick_start(paths, named)
        made = plan_options.make(paths, chosen, k, cases, overrides, named)
        plan_options.check_asks(made)
        if dry_run:
            return runs.dry_run([made], resources)
        working = begun(made, run_dir, resources, fresh=fresh)
    with working as work:
        info = load_run.read_info(work.folder)
        made = plan_record.plan_of(info) if resume else made
        judged = pipeline.run(made, work, fresh=info.fresh, resume=resume)
        return runs.end_judged(judged, output, ending)


@options.with_output
@options.with_parts
def write(
    output: Output,
    named: NamedParts,
    scenarios: options.ScenariosArgument = None,
    folders: options.ScenariosOption = None,
    profile: options.ProfileOrPartsOption = None,
    run_dir: options.RunDirOption = None,
    k: options.SelectOption = "",
    offline: options.OfflineOption = False,
) -> None:
    """Write the tables and freeze a state after each step; ask no reader."""
    paths = options.paths(scenarios, folders)
    made = plan_options.make(paths, profile or quick_start(paths, named), k, named=named)
    plan_options.check_asks(made)
    resources = Resources(output, Cache.default(offline=offline))
    with begun(made, run_dir, resources) as work:
        pipeline.fetch_plan(made, work)
        pipeline.write_states(made, work)
    message = f"written: {work.folder}; next: harness read --run-dir {work.folder}"
    output.end(message, run=str(work.folder))


@options.with_output
@options.with_ending
def read(
    output: Output,
    ending: Ending,
    run_dir: options.OldRunOption = LATEST_RUN,
    reader: Annotated[
        list[str] | None,
        typer.Option(help="Add this reader, such as 'trino-476{use-column-names=false}'."),
    ] = None,
    folders: options.OwnOption = None,
    offline: options.OfflineOption = False,
    fresh: options.FreshOption = False,
    timeout: options.TimeoutOption = TIMEOUT_S,
    platform: options.PlatformOption = None,
    dry_run: options.DryRunOption = False,
) -> int:
    """Ask the readers about the states of a run, then judge and report; write no table."""
    resources = Resources(output, Cache.default(offline=offline), TimeLimits(timeout))
    with resumed(run_dir, resources, shows=not dry_run) as work:
        info = load_run.read_info(work.folder)
        custom_distributions.register(folders or ())
        options.use_platform(platform)
        for reader_text in reader or ():
            added = plan_options.existing_reader(reader_text)
            own_tables.check(distributions.load(added.distribution))
            info = plan_record.with_reader(info, added)
        made = plan_record.plan_of(info)
        if dry_run:
            return runs.unsent(pipeline.statements(made, work), output)
        load_run.write_info(work.folder, info)
        pipeline.fetch_plan(made, work)
        judge = pipeline.judge_of(made, work)
        pipeline.read_answers(made, work, judge, fresh=fresh)
        return runs.end_judged(pipeline.judge_twice(made, work, judge), output, ending)


@options.with_output
@options.with_ending
def judge(output: Output, ending: Ending, run_dir: options.OldRunOption = LATEST_RUN) -> int:
    """Judge the recorded answers of a run again; start no engine."""
    folder = run_folder.existing(run_dir)
    load_run.check(folder)  # in a folder that is no run not even a lock is left
    with run_folder.locked(folder), run_log(folder):
        return runs.end_judged(pipeline.judge_run(folder), output, ending)


def report(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Any of {', '.join(reports.names())}; by default html, junit and terminal."
        ),
    ] = None,
    run_dir: options.OldRunOption = LATEST_RUN,
    verbose: options.VerboseOption = False,
) -> None:
    """Write the reports of a judged run again; start no engine."""
    output = Output(verbose=verbose)
    with output.ending(), looked_at(run_dir, "report") as folder:
        run = with_strategy_answers(load_run.load(folder))
        if not names:
            output.report(run)
        for name in names or ():
            OUT.print(f"{name}: {reports.load(name).write(run, run.folder)}")
