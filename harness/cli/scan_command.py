"""`harness scan`."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Final

import typer

from harness.cli import options
from harness.cli.output import Output
from harness.core.atomic_write import atomic_write
from harness.core.errors import EnvironmentProblem
from harness.core.texts import counted
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
            "(https://host/path), or a folder with tables, also s3://bucket/path.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", parser=Path, metavar="FILE", help="Where the result is written."),
    ] = Path("usage.yaml"),
    database: Annotated[
        list[str] | None,
        typer.Option(
            "--database",
            metavar="PATTERN",
            help="Only databases of this name, such as 'sales*'; of a folder, its own folders. "
            "Can be given several times.",
        ),
    ] = None,
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
    """
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
    output.end("\n".join(lines), status=status, file=str(out), tables=dict(totals))
    return status
