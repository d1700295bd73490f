"""`harness upgrade` and `harness compare`."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from typing import Annotated

import typer

from harness.artifacts.cache import Cache
from harness.cli import audit_command, options, plan_options, runs
from harness.cli.output import Output
from harness.cli.plan_options import Change, NamedParts, PlanOverrides
from harness.cli.runs import Resources
from harness.cli.upgrade import rollout_runs, sides, table_command, trials
from harness.comparison import acceptance
from harness.comparison.acceptance import Acceptance
from harness.comparison.result import ComparedSide, NotAsked, Rollout, SideComparison, compare
from harness.core import yaml_reader
from harness.core.errors import HarnessError, UsageProblem
from harness.plan import custom_distributions, select_scenarios, shipped
from harness.read.reader_servers import TIMEOUT_S
from harness.reports import lines, upgrade_files, upgrade_report
from harness.run import load_run
from harness.run.baseline_files import today
from harness.run.pipeline import TimeLimits
from harness.scenario.cells import Plan
from harness.scenario.operations import name_of
from harness.usage import usage_file

FromOption = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="NAME",
        help="What you have: a reader ('trino-368', 'hive-3.1.3{schema-on-read=on}'), a metastore "
        "('hive-metastore-2.3.10'), or with --as writer what writes. Several make up one side.",
    ),
]
ToOption = Annotated[
    list[str] | None, typer.Option("--to", metavar="NAME", help="What you would have; as --from.")
]
RolloutOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Several changes in an order, instead of --from and --to."),
]
UsageOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Your tables, by harness scan: only what they can meet counts."
    ),
]
MixedOption = Annotated[
    bool,
    typer.Option(
        "--mixed",
        help="With --as writer: both write in turn as well, as in a fleet of two versions.",
    ),
]
AsOption = Annotated[
    str,
    typer.Option(
        "--as", metavar="ROLE", help=f"What both are on tables: {' or '.join(sides.ROLES)}."
    ),
]

AcceptOption = Annotated[
    Path | None,
    typer.Option(
        "--accept",
        metavar="FILE",
        help="Causes of worse answers that you accept, each with its reason; they do not count. "
        f"An upgrade leaves a {acceptance.FILE} to begin with.",
    ),
]

AllowPartialOption = Annotated[
    bool,
    typer.Option(
        "--allow-partial",
        help="End with 0, not 3, where nothing is worse but something was not tested: a step that "
        "was applied on no side, a format that one does not read, most questions.",
    ),
]


TableOption = Annotated[
    list[str] | None,
    typer.Option(
        "--table",
        metavar="ADDRESS",
        help="Your own table, or a catalog or folder of such, instead of tables of scenarios; as "
        "harness audit. --from banked: the answers in --bank. Can be given several times.",
    ),
]


@options.with_output
@options.with_parts
@options.with_tables
def upgrade(
    output: Output,
    named: NamedParts,
    given: options.TableOptions,
    scenarios: options.ScenariosArgument = None,
    old: FromOption = None,
    new: ToOption = None,
    rollout: RolloutOption = None,
    usage: UsageOption = None,
    accept: AcceptOption = None,
    role: AsOption = sides.READER,
    mixed: MixedOption = False,
    allow_partial: AllowPartialOption = False,
    folders: options.ScenariosOption = None,
    profile: options.ProfileOrPartsOption = None,
    query: options.QueryOption = None,
    setting: options.SettingOption = None,
    table: TableOption = None,
    run_dir: options.RunDirOption = None,
    resume: options.ResumeOption = False,
    k: options.SelectOption = "",
    offline: options.OfflineOption = False,
    timeout: options.TimeoutOption = TIMEOUT_S,
) -> int:
    """Say whether you may upgrade: what changes from one engine, setting or writer to another.

    Both sides are asked the same questions about the same tables and judged against what was
    written; what was asked before is not asked again. The exit status is 1 if anything gets worse.
    """
    if role not in sides.ROLES:
        raise UsageProblem(f"--as {role}: there is no such role; allowed: {', '.join(sides.ROLES)}")
    paths = options.paths(scenarios, folders)
    custom_distributions.register(paths)
    named.read()  # readers of a file can be sides
    if resume or table or given != options.TableOptions():
        others = rollout, usage, accept, profile, query, mixed, role != sides.READER
        asked = (
            None
            if resume
            else table_command.request(
                old, new, table, given, folders, timeout, allow_partial, others
            )
        )
        return audit_command.carried_out("upgrade", asked, run_dir, output, offline=offline)

    tables, accepted = usage_file.read(usage) if usage else None, _accepted(accept)
    overrides = PlanOverrides(queries=tuple(query or ()), settings=tuple(setting or ()))
    unread = dict[str, str]()

    def make_for(every: Sequence[sides.Side]) -> sides.MakePlan:
        in_use = tables.formats if tables else ()
        names, stated = plan_options.formats_named(paths, profile, named)
        reasons, unasked = sides.unread(every, names, stated=stated)
        unread.update(reasons)
        if unasked and unasked == set(names):
            texts = "; ".join(dict.fromkeys(reasons.values()))
            takes = "; ".join(map(select_scenarios.readers_text, names))
            raise HarnessError(f"Not known: {texts}; {takes}")
        asked = tuple(name for name in named.formats if name not in unasked)

        def make(change: sides.ChangeProfile) -> Plan:
            changed = Change(change, sides.parts_of(every), in_use)
            parts = replace(named, formats=asked)
            plan = plan_options.make(paths, profile, k, None, overrides, parts, changed)
            plan_options.check_asks(plan)
            return plan

        return make

    resources = Resources(output, Cache.default(offline=offline), TimeLimits(timeout))
    if rollout:
        planned = rollout_runs.read(rollout)
        with runs.new_folder(resources, "upgrade", run_dir) as path:
            folder = sides.UpgradeFolder(path, resources, make_for(planned.sides))
            judged = rollout_runs.judged(planned, folder)
            judged = judged.with_scope(unread, partial_allowed=allow_partial)
            return _finish_rollout(judged, path, output)
    before, after = _sides(old or (), new or (), role, named)
    if mixed and after.writer:
        after = replace(after, writer=replace(after.writer, in_turn=True))
    make = make_for((before, after))
    old_plan = make(lambda profile, _: before.apply(profile))
    plan = sides.new_plan(before, after, make)
    with runs.new_folder(resources, "upgrade", run_dir) as path:
        folder = sides.UpgradeFolder(path, resources, make)
        old_side = folder.side(str(before), old_plan, "old")
        comparison = compare(old_side, folder.side(str(after), plan, "new"))
        for side, name in ((comparison.old, "old"), (comparison.new, "new")):
            runs.store_side(side.run, path, name)
        comparison = replace(
            comparison,
            usage=tables,
            lacking=sides.lacking((before, after), tables.formats if tables else ()),
        ).accepting(accepted, today())
        comparison = trials.with_trials(comparison, before, after, plan, folder)
        again = _again(old or (), new or (), usage, role)
        files = _files(comparison.not_asked.values())
        comparison = replace(comparison, command=again, files=files, unread=unread)
        return _finish(replace(comparison, partial_allowed=allow_partial), path, output)


def _again(old: Sequence[str], new: Sequence[str], usage: Path | None, role: str) -> str:
    """Return the command that compares the same sides, to which options can be added."""
    named = [("--from", name) for name in old] + [("--to", name) for name in new]
    named += [("--usage", str(usage))] if usage else []
    named += [("--as", role)] if role != sides.READER else []
    return shlex.join(["harness", "upgrade", *chain.from_iterable(named)])


def _files(not_asked: Iterable[NotAsked]) -> Mapping[tuple[str, str], str]:
    """Return of each format and step that was never asked about the shortest scenario's file."""
    lacking = {(one.format, step): "" for one in not_asked for step in one.operations}
    scenarios = shipped.load_scenarios(shipped.scenarios_folder()) if lacking else ()
    for scenario in sorted(scenarios, key=lambda scenario: len(scenario.steps), reverse=True):
        for operation in scenario.operations:
            steps = {name_of(operation), *operation.features()}
            of_formats = product(scenario.formats, steps)
            lacking |= dict.fromkeys(set(of_formats) & lacking.keys(), scenario.path)
    return lacking


def _sides(
    old: Sequence[str], new: Sequence[str], role: str, named: NamedParts
) -> tuple[sides.Side, sides.Side]:
    if not (old and new):
        raise UsageProblem("name what you have by --from and what you would have by --to")
    before, after = sides.side(old, role), sides.side(new, role)
    sides.check(before, after)
    for part, names in ((sides.READER, named.readers), (sides.WRITER, named.writers)):
        if names and part in after.parts:
            problem = f"--{part} cannot be combined with {part}s in --from and --to"
            raise UsageProblem(f"{problem}; leave out --{part} {names[0]}")
    return before, sides.registered_first(before, after)


@options.with_output
def compare_runs(
    output: Output,
    old: Annotated[Path, typer.Argument(help="The folder of the run before, or its stored name.")],
    new: Annotated[Path, typer.Argument(help="The folder of the run after, or its stored name.")],
    accept: AcceptOption = None,
    allow_partial: AllowPartialOption = False,
    history: options.HistoryFileOption = runs.HISTORY_FILE,
) -> int:
    """Show what is different between two runs, check by check; start no engine.

    A stored run (harness history list) needs no folder: it is restored under runs/.
    """
    accepted = _accepted(accept)
    before, after = (runs.stored_or_folder(run, history) for run in (old, new))
    was = load_run.load(before)
    now = load_run.load(after, beside=was)
    comparison = compare(ComparedSide(was.info.id, was), ComparedSide(now.info.id, now))
    comparison = replace(comparison.accepting(accepted, today()), partial_allowed=allow_partial)
    return _finish(comparison, now.folder, output)


def _accepted(file: Path | None) -> tuple[Acceptance, ...]:
    return acceptance.parse(yaml_reader.read(file), str(file)) if file else ()


def _finish(comparison: SideComparison, folder: Path, output: Output) -> int:
    files = upgrade_files.write(comparison, folder)
    lines.render(upgrade_report.document(comparison), output.out)
    data = upgrade_files.answer_data(comparison)
    intro = "Every answer that is not right as before, old beside new:"
    facts = {name: data[name] for name in ("answer", "decision", "settings")}
    return _end(output, comparison.status, intro, files, **facts, changes=data["counts"])


def _finish_rollout(rollout: Rollout, folder: Path, output: Output) -> int:
    files = upgrade_files.write_rollout(rollout, folder)
    lines.render(upgrade_files.rollout_document(rollout, folder), output.out)
    facts = {"safe": rollout.safe, "safe_order": rollout.safe_order}
    intro, answer = "Each state as a page of its own:", upgrade_files.rollout_headline(rollout)
    return _end(output, rollout.status, intro, files, answer=answer, **facts)


def _end(
    output: Output, status: int, intro: str, files: Mapping[str, Path], **facts: object
) -> int:
    lines.say(output.out, f"\n{intro}")
    lines.command(output.out, str(files["html"]))
    reports = {name: str(path) for name, path in files.items()}
    output.end(status=status, **facts, reports=reports)
    return status
