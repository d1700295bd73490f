"""`harness scan`."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Final

import typer

from harness.cli import options, runs
from harness.cli.output import Output
from harness.cli.upgrade import known
from harness.cli.upgrade.command import ToOption
from harness.cli.upgrade.request import UpgradeRequest
from harness.core.atomic_write import atomic_write
from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.texts import counted
from harness.reports import lines as report
from harness.usage import usage_file
from harness.usage.scan import UNREAD
from harness.usage.scan import scan as look

SHOWN: Final = 5
"""So many tables that cannot be read are named; the file names all."""


@options.with_output
def scan(
    output: Output,
    address: Annotated[
        str,
        typer.Argument(
            metavar="ADDRESS",
            help="Your Hive metastore (thrift://host:port), Iceberg REST catalog "
            "(https://host/path), or a folder with tables, also s3://bucket/path; or what "
            "--platform calls it.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", parser=Path, metavar="FILE", help="Where the result is written."),
    ] = Path("usage.yaml"),
    database: options.DatabaseOption = None,
    platform: options.PlatformOption = None,
    old: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="NAME",
            help="The reader that you have: say what is known of an upgrade of it on these tables.",
        ),
    ] = None,
    new: ToOption = None,
    dry_run: options.DryRunOption = False,
) -> int:
    """Look at your tables, read-only: their formats, features and schema changes.

    Of each table in a catalog, or below a folder, the format's own records are read:
    Hudi's properties, timeline and schemas, the metadata of Iceberg and Delta,
    the footer of one old file; never a row. Nothing is written but one file. It
    names tables and columns, and has no values; with it the verdict on an
    upgrade can be weighed by what you use.

    A table that cannot be read is listed with the reason, and the exit status
    is 3.

    Example: harness scan thrift://metastore:9083 --database 'sales*'
    Example: harness scan s3://lake/warehouse

    With --from and --to the tables that an upgrade hits are named, by what
    runs have shown already (harness upgrade --usage); no engine is asked.
    """
    if bool(old) is not bool(new):
        raise UsageProblem("name what you have by --from and what you would have by --to")
    options.use_platform(platform)
    if dry_run:
        return runs.unsent((), output)
    usage = look(address, database or (), output.progress())
    with atomic_write(out) as part:
        part.write_text(usage_file.text(usage), encoding="utf-8")
    totals = Counter(UNREAD if table.unread else str(table.format) for table in usage.tables)
    unread = {table.name: table.unread for table in usage.tables if table.unread} | usage.unlisted
    status = EnvironmentProblem.exit_status if unread else 0
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(totals.items()))
    counts = counted(len(usage.tables), "table", "tables")
    lines = [f"written: {out}: {counts}{f' ({kinds})' if kinds else ''}"]
    lines += [f"not read: {name}: {why}" for name, why in list(unread.items())[:SHOWN]]
    if len(unread) > SHOWN:
        lines.append(f"… and {len(unread) - SHOWN:,} more; {out} names all")
    facts = {"file": str(out), "tables": dict(totals)}
    if not (old and new):
        output.end("\n".join(lines), status=status, **facts)
        return status
    report.say(output.out, "\n".join(lines) + "\n")
    request = UpgradeRequest(old, new, usage, out, platform=platform)
    answered = known.answer(request, None, output, questions=False, least=status, **facts)
    if answered is None:
        raise UsageProblem("--from and --to of a scan name readers, such as trino-476")
    return answered
