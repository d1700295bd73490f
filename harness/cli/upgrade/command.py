"""`harness upgrade`: what is known already, and what engines say."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.cli.named_parts import READER, ROLES, NamedParts
from harness.cli.output import Output
from harness.cli.upgrade import known
from harness.cli.upgrade.request import UpgradeRequest
from harness.comparison import acceptance
from harness.comparison.acceptance import Acceptance
from harness.core import yaml_reader
from harness.core.errors import UsageProblem
from harness.read import TIMEOUT_S
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
    typer.Option("--as", metavar="ROLE", help=f"What both are on tables: {' or '.join(ROLES)}."),
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
RunOption = Annotated[
    bool | None,
    typer.Option(
        "--run/--no-run",
        help="Ask the engines, whatever is known already; or never. Scenarios, a profile, writers, "
        "a metastore, a rollout and a platform are always asked of engines.",
        show_default="what is known, and a question at a terminal where that is not enough",
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
    role: AsOption = READER,
    mixed: MixedOption = False,
    allow_partial: AllowPartialOption = False,
    run: RunOption = None,
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
    dry_run: options.DryRunOption = False,
) -> int:
    """Say whether you may upgrade: what changes from one engine, setting or writer to another.

    What runs have shown already is said first, within a second. Engines are asked with --run: both
    sides the same questions about the same tables, judged against what was written. The exit status
    is 1 if anything gets worse, 3 if something is not known.
    """
    if role not in ROLES:
        raise UsageProblem(f"--as {role}: there is no such role; allowed: {', '.join(ROLES)}")
    paths = options.paths(scenarios, folders)
    if resume or table or replace(given, platform=None) != options.TableOptions():
        from harness.cli import audit_command  # noqa: PLC0415 - what is known is said in a second
        from harness.cli.upgrade import engine_sides, table_command  # noqa: PLC0415

        if resume and dry_run:
            raise UsageProblem(audit_command.GOES_ON)
        engine_sides.register(paths, named)
        others = rollout, usage, accept, profile, query, mixed, role != READER
        asked = (
            None
            if resume
            else table_command.request(
                old, new, table, given, folders, timeout, allow_partial, others
            )
        )
        if dry_run and asked:
            return audit_command.dry_run_of(asked, output)
        return audit_command.carried_out("upgrade", asked, run_dir, output, offline=offline)
    options.use_platform(given.platform)
    request = UpgradeRequest(
        old or (),
        new or (),
        usage_file.read(usage) if usage else None,
        usage,
        accepted_lines(accept),
        allow_partial,
        named,
        k,
        role,
        mixed,
        paths,
        profile,
        query or (),
        setting or (),
        rollout,
        given.platform,
        dry_run,
    )
    if not (run or dry_run or request.of_runs_alone):
        if not (old and new):
            raise UsageProblem("name what you have by --from and what you would have by --to")
        status = known.answer(request, run_dir, output, questions=run is None)
        if status is not None:
            return status
    from harness.cli.upgrade import engine_sides  # noqa: PLC0415 - takes a second

    return engine_sides.ask(request, run_dir, output, timeout, offline=offline)


def accepted_lines(file: Path | None) -> tuple[Acceptance, ...]:
    return acceptance.parse(yaml_reader.read(file), str(file)) if file else ()
