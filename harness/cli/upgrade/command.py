"""`harness upgrade` and `harness compare`."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from harness.artifacts.cache import Cache
from harness.cli import history_commands, kept_runs, options, plan_options
from harness.cli.console.output import Output
from harness.cli.named_parts import NamedParts
from harness.cli.open_run import Resources
from harness.cli.upgrade import rollout_file, rollout_trial, settings_trial
from harness.cli.upgrade.report_files import write_all, write_rollout
from harness.cli.upgrade.side_plans import ChangeProfile, MakePlan, side_plans
from harness.cli.upgrade.side_runs import UpgradeFolder, upgrade_folder
from harness.cli.upgrade.sides import READER, ROLES, WRITER, Side, check, registered_first, side
from harness.cli.upgrade.swaps import swapped
from harness.comparison import acceptance_file
from harness.comparison.accepted import Acceptance
from harness.comparison.result import ComparedSide, SideComparison, compare
from harness.comparison.rollout import Rollout
from harness.core import yaml_reader
from harness.core.errors import UsageProblem
from harness.plan import own_distributions
from harness.read.reader_servers import TIMEOUT_S
from harness.reports import rollout_terminal, rollout_words, upgrade_json, upgrade_terminal
from harness.run import load_run
from harness.run.run_work import TimeLimits
from harness.scenario.cells import Plan
from harness.usage import usage_file
from harness.usage.used_tables import Usage

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
        metavar="FILE", help="What your tables are like, by harness scan: only that counts."
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
    typer.Option("--as", metavar="ROLE", help=f"What both are on tables: {' or '.join(ROLES)}."),
]

AcceptOption = Annotated[
    Path | None,
    typer.Option(
        "--accept",
        metavar="FILE",
        help="Causes of worse answers that you accept, each with its reason: they do not count. "
        f"An upgrade leaves a {acceptance_file.FILE} to begin with.",
    ),
]


@options.with_output
@options.with_parts
def upgrade(
    output: Output,
    named: NamedParts,
    scenarios: options.ScenariosArgument = None,
    old: FromOption = None,
    new: ToOption = None,
    rollout: RolloutOption = None,
    usage: UsageOption = None,
    accept: AcceptOption = None,
    role: AsOption = READER,
    mixed: MixedOption = False,
    folders: options.ScenariosOption = None,
    profile: options.ProfileOrPartsOption = None,
    k: options.SelectOption = "",
    offline: options.OfflineOption = False,
    timeout: options.TimeoutOption = TIMEOUT_S,
) -> int:
    """Say whether you may upgrade: what changes from one engine, setting or writer to another.

    Both sides are asked the same questions about the same tables and judged against what was
    written; what was asked before is not asked again. The exit status is 1 if anything gets worse.
    """
    if role not in ROLES:
        raise UsageProblem(f"--as {role}: there is no such role; allowed: {', '.join(ROLES)}")
    paths = options.paths(scenarios, folders)
    own_distributions.register(paths)
    named.read()  # readers of a file can be sides
    make = partial(_plan, paths, profile, k, named)
    resources = Resources(output, Cache.default(offline=offline), TimeLimits(timeout))
    if rollout:
        planned = rollout_file.read(rollout)
        folder = upgrade_folder(resources)
        return _finish_rollout(rollout_trial.judged(planned, make, folder), folder, output)
    before, after = _sides(old or (), new or (), role, mixed=mixed)
    _check_parts(named, after)
    told = partial(_told, usage_file.read(usage) if usage else None, _accepted(accept))
    folder = upgrade_folder(resources)
    return _finish(_compared(before, after, make, folder, told), folder.path, output)


def _compared(
    old: Side,
    new: Side,
    make: MakePlan,
    folder: UpgradeFolder,
    told: Callable[[SideComparison], SideComparison],
) -> SideComparison:
    """Do both sides, and try what helps where anything is worse; `told`: what somebody says."""
    plans = side_plans(old, new, make)
    was = ComparedSide(str(old), folder.run(plans.old, "old"))
    now = ComparedSide(str(new), folder.run(plans.new, "new"))
    found = told(compare(was, now))
    for reader in new.readers:
        found = settings_trial.tried(found, reader, plans.new, folder)
    found = settings_trial.tried_versions(found, old, new, make, folder)
    return swapped(found, old, new, make, folder)


def _sides(old: Sequence[str], new: Sequence[str], role: str, *, mixed: bool) -> tuple[Side, Side]:
    if not (old and new):
        raise UsageProblem(
            "say what you have by --from and what you would have by --to, or --rollout"
        )
    before, after = side(old, role), side(new, role)
    check(before, after)
    if mixed and after.writer:
        after = replace(after, writer=replace(after.writer, in_turn=True))
    return before, registered_first(before, after)


def _check_parts(named: NamedParts, side: Side) -> None:
    """Check that nothing was named that the sides are.

    Raises:
        UsageProblem: it was.

    """
    given = {READER: named.readers, WRITER: named.writers}
    for part, texts in given.items():
        if texts and part in side.parts:
            told = f"--{part} {texts[0]}: the sides say which {part}s there are"
            raise UsageProblem(f"{told}; leave it out, or ask for it by --from and --to")


def _plan(
    paths: Sequence[Path],
    profile: str | None,
    pattern: str,
    named: NamedParts,
    change: ChangeProfile,
) -> Plan:
    """Return the plan of a side."""
    made = plan_options.make(paths, profile, pattern, named=named, change=change)
    plan_options.check_asks(made)
    return made


@options.with_output
def compare_runs(
    output: Output,
    old: Annotated[Path, typer.Argument(help="The folder of the run before, or its kept name.")],
    new: Annotated[Path, typer.Argument(help="The folder of the run after, or its kept name.")],
    accept: AcceptOption = None,
    history: history_commands.StoreOption = kept_runs.DEFAULT,
) -> int:
    """Show what is different between two runs, cell by cell of the same name; start no engine.

    A run that is kept (harness history list) needs no folder: it is restored under runs/.
    """
    accepted = _accepted(accept)
    before, after = (kept_runs.kept_or_folder(each, history) for each in (old, new))
    was = load_run.load(before)
    now = load_run.load(after, beside=was)
    found = compare(ComparedSide(was.info.id, was), ComparedSide(now.info.id, now))
    return _finish(_told(None, accepted, found), now.folder, output)


def _accepted(file: Path | None) -> tuple[Acceptance, ...]:
    return acceptance_file.parse(yaml_reader.read(file), str(file)) if file else ()


def _told(
    tables: Usage | None, accepted: Sequence[Acceptance], found: SideComparison
) -> SideComparison:
    """Return a comparison with what somebody says of his tables, and of what he accepts."""
    today = datetime.datetime.now(datetime.UTC).date()
    return replace(found, usage=tables).accepting(accepted, today)


def _finish(found: SideComparison, folder: Path, output: Output) -> int:
    """Write every report, show the answer, and return the exit status."""
    files = write_all(found, folder)
    upgrade_terminal.render(found, output.out, files["html"])
    told = {name: str(path) for name, path in files.items()}
    answer = upgrade_json.answer(found)
    output.end(
        status=found.status,
        answer=answer["answer"],
        decision=answer["decision"],
        settings=answer["settings"],
        changes=answer["counts"],
        reports=told,
    )
    return found.status


def _finish_rollout(found: Rollout, folder: UpgradeFolder, output: Output) -> int:
    files = write_rollout(found, folder.path)
    rollout_terminal.render(found, output.out, files["html"])
    output.end(
        status=found.status,
        answer=rollout_words.headline(found),
        safe=found.safe,
        safe_order=found.safe_order,
        reports={name: str(path) for name, path in files.items()},
    )
    return found.status
