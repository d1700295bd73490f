"""`harness audit`, and what it has in common with `harness upgrade` of somebody's own tables."""

from __future__ import annotations

import datetime
import secrets
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
from pydantic import TypeAdapter, ValidationError

from harness.artifacts.cache import Cache
from harness.audit import known as known_differences
from harness.audit import spark_reader
from harness.audit.audit import audit as look
from harness.audit.audit import statements
from harness.audit.bank import AnswerBank
from harness.audit.known import KnownDifferences
from harness.audit.limits import NO_LIMITS, TIMEOUT_S, AuditLimits
from harness.audit.readers import AuditReaders
from harness.audit.records import Audit, AuditedTable
from harness.audit.redaction import without_values
from harness.audit.result import AuditResult
from harness.audit.table_list import TableAddress
from harness.audit.table_list import pinned_tables as tables_at
from harness.audit.tables import PinnedTable, for_readers
from harness.cli import options, plan_options
from harness.cli.output import Output
from harness.comparison.table_changes import TableComparison
from harness.core import yaml_reader
from harness.core.atomic_write import atomic_write
from harness.core.errors import DEFECT, HarnessError, UsageProblem, problem_of
from harness.core.records import VerdictKind
from harness.core.texts import printable, without_login
from harness.plan import custom_distributions
from harness.reports import audit_files, lines
from harness.reports.audit_report import AuditReport
from harness.run import run_folder
from harness.run.run_folder import RUNS
from harness.runtime import work_folders
from harness.usage.usage_file import UsedTable

REQUEST: Final = "request.json"
GOES_ON: Final = "--resume goes on as was asked for: name no table and no --dry-run"


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """What an audit was asked to do, as it is kept in its folder."""

    addresses: tuple[TableAddress, ...]
    readers: tuple[str, ...]
    databases: tuple[str, ...] = ()
    scenarios: tuple[Path, ...] = ()
    known: Path | None = None
    bank: Path | None = None
    shadow: bool = False
    no_values: bool = False
    old: str = ""
    """The reader that the other one is compared with; empty where none is."""
    banked: bool = False
    """Whether the answers of the old reader are those of the bank."""
    partial_allowed: bool = False
    """Whether what both sides refuse for the larger part is good enough."""
    platform: Path | None = None
    """The file that names engines which run already."""
    spark: str = ""
    """The master of the Spark that reads the tables; empty where this process does."""
    limits: AuditLimits = NO_LIMITS


_REQUEST: Final = TypeAdapter(AuditRequest)


@options.with_output
@options.with_tables
def audit(
    output: Output,
    given: options.TableOptions,
    address: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ADDRESS",
            help="A table's folder or one with tables, also s3://bucket/path; a metadata file of "
            "an Iceberg table; a Hive metastore (thrift://host:port); an Iceberg REST catalog "
            "(https://host/path); or lake:sales.orders of a catalog that --platform calls lake.",
        ),
    ] = None,
    reader: Annotated[
        list[str] | None,
        typer.Option(help="Ask this reader, such as duckdb-1.5.5. Can be given several times."),
    ] = None,
    database: options.DatabaseOption = None,
    timeout: options.TimeoutOption = TIMEOUT_S,
    folders: options.OwnOption = None,
    dry_run: options.DryRunOption = False,
    run_dir: options.RunDirOption = None,
    resume: options.ResumeOption = False,
    offline: options.OfflineOption = False,
) -> int:
    """Say whether readers show your tables as their own files say that they are.

    The rows of each table are worked out from its metadata and data files, without
    the library of its format. Then every reader is asked: all columns, how many rows,
    and conditions on each column. Nothing is written beside your tables.

    The exit status is 1 if a reader is wrong or refuses, 3 if something is not known.

    Example: harness audit /warehouse/sales.db/orders --reader duckdb-1.5.5
    """
    if resume:
        if address or reader or given.tables or dry_run:
            raise UsageProblem(GOES_ON)
        return carried_out("audit", None, run_dir, output, offline=offline)
    if not reader:
        raise UsageProblem("name the readers to ask, such as --reader duckdb-1.5.5")
    request = AuditRequest(
        given.addresses(address or ()),
        tuple(reader),
        tuple(database or ()),
        tuple(path.resolve() for path in folders or ()),
        **given.of_request(timeout),
    )
    if dry_run:
        return dry_run_of(request, output)
    return carried_out("audit", request, run_dir, output, offline=offline)


def dry_run_of(request: AuditRequest, output: Output) -> int:
    """Print what readers would be sent, table by table."""
    _Prepared.of(request)
    tables = tables_at(request.addresses, request.databases)
    readers = tuple(map(plan_options.existing_reader, request.readers))
    texts = list[str]()
    for name, reader, sent in statements(tables, readers, request.limits):
        lines.say(output.out, about := f"{name}, {reader}:" if reader else f"{name}:")
        for statement in sent:
            lines.command(output.out, statement)
            texts.append(f"{about} {statement}")
    large = f"where the sums of a table with more than {request.limits.fetched:,} rows differ"
    output.end(f"Nothing was sent. More is asked {large}: those of groups, and rows.", sent=texts)
    return 0


def carried_out(
    name: str, request: AuditRequest | None, run_dir: Path | None, output: Output, *, offline: bool
) -> int:
    """Do what is asked for, None: what was begun already; return the exit status."""
    if request is None:
        return _resumed(name, run_dir, output, offline=offline)
    if request.no_values and output.verbose:
        raise UsageProblem("the log may hold values of tables; leave out --verbose or --no-values")

    def work() -> int:
        prepared = _Prepared.of(request)
        if run_dir is None:
            folder = work_folders.numbered(RUNS.resolve(), name)
        else:
            run_folder.check_new(run_dir)
            run_folder.make(folder := run_dir.resolve())
        with atomic_write(folder / REQUEST) as part:
            part.write_bytes(_REQUEST.dump_json(request))
        return prepared.finish(name, folder, output, offline=offline)

    return _shadowed(request, work, output)


def _resumed(name: str, run_dir: Path | None, output: Output, *, offline: bool) -> int:
    """Go on with what was begun in a folder, or last."""
    begun = [path.parent for path in RUNS.resolve().glob(f"{name}-*/{REQUEST}")]
    if run_dir is None and not begun:
        raise UsageProblem(f"there is nothing to go on with; begin with: harness {name}")
    newest = max(begun, key=lambda path: (path / REQUEST).stat().st_mtime, default=Path())
    folder = (run_dir or newest).resolve()
    try:
        request = _REQUEST.validate_json((folder / REQUEST).read_bytes())
    except (OSError, ValidationError) as wrong:
        raise UsageProblem(f"{folder} is no folder of harness {name} with tables") from wrong
    work = partial(_Prepared.of(request).finish, name, folder, output, offline=offline)
    return _shadowed(request, work, output)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A request whose files were read, and found to be right."""

    request: AuditRequest
    known: KnownDifferences
    bank: AnswerBank | None

    @classmethod
    def of(cls, request: AuditRequest) -> _Prepared:
        custom_distributions.register(request.scenarios)
        options.use_platform(request.platform)
        for reader in request.readers:
            plan_options.existing_reader(reader)
        file, today = request.known, datetime.datetime.now(datetime.UTC).date()
        known = known_differences.parse(yaml_reader.read(file), str(file)) if file else ()
        values = not request.no_values
        bank = AnswerBank.opened(request.bank, values=values) if request.bank else None
        return cls(request, KnownDifferences(known, today), bank)

    def finish(self, name: str, folder: Path, output: Output, *, offline: bool) -> int:
        request = self.request
        with run_folder.locked(folder), output.working_on(folder, name):
            tables = self._tables(folder, output, Cache.default(offline=offline))
        address = ", ".join(without_login(one.address) for one in request.addresses)
        result: AuditResult | TableComparison
        if request.old:
            old = self.bank if request.banked else None
            banked = {one.key: old.answers(one, request.old) for one in tables} if old else {}
            *_, new = request.readers
            result = TableComparison(
                request.old, new, tables, banked, self.known, request.partial_allowed
            )
        else:
            result = AuditResult(Audit(address, request.readers, tables), self.known)
        drafted = [
            (one, answer)
            for one in tables
            for answer in result.bad(one)
            if answer.places or answer.verdict is VerdictKind.REFUSED
            if not answer.in_part
        ]
        if drafted:
            text = known_differences.dump(drafted, self.known.today)
            (folder / known_differences.FILE).write_text(text, encoding="utf-8")
        report = AuditReport(result)
        files = audit_files.write(report, folder)
        lines.render(report.document(), output.out)
        lines.say(output.out, "\nTable by table, with the evidence:")
        lines.command(output.out, str(files["html"]))
        status = 0 if request.shadow else result.status
        totals = Counter(str(answer.verdict) for one in tables for answer in one.answers)
        reports = {kind: str(path) for kind, path in files.items()}
        answer = report.headline.whole
        file = reports["json"]
        output.end(status=status, answer=answer, file=file, totals=dict(totals), reports=reports)
        return status

    def _tables(self, folder: Path, output: Output, cache: Cache) -> tuple[AuditedTable, ...]:
        """Audit table by table; each is stored before the next one."""
        request, key = self.request, self.bank.key if self.bank else ""
        if request.no_values and not key:
            key = secrets.token_hex()
        moved = work_folders.numbered(folder, "moved")
        pinned = tuple(
            for_readers(table, moved / str(at))
            for at, table in enumerate(tables_at(request.addresses, request.databases), 1)
        )
        order = {_key(table): at for at, table in enumerate(pinned)}
        readers = tuple(map(plan_options.existing_reader, request.readers))
        cache.claim()
        progress, stored = output.progress(), AnswerBank(folder)
        before = {id(table) for table in stored.tables}
        asked = {reader.distribution for reader in readers}
        spark = partial(spark_reader.start, request.spark, asked, cache, folder, progress)
        start = partial(
            AuditReaders, cache, folder, progress, spark=spark if request.spark else None
        )
        tables = list[AuditedTable]()
        try:
            for table in look(pinned, readers, start, progress, request.limits, stored.audited):
                audited = table
                if id(table) not in before:
                    audited = without_values(table, key) if request.no_values else table
                    if self.bank and not table.problem:
                        self.bank.add(audited)
                    stored.add(audited)
                tables.append(audited)
            tables.sort(key=lambda one: order.get(one.key, 0))
        finally:
            if request.no_values:  # logs of engines may hold values
                for path in folder.iterdir():
                    if path.is_dir():
                        shutil.rmtree(path, ignore_errors=True)
        return tuple(tables)


def _key(table: PinnedTable | UsedTable) -> tuple[str, str]:
    """Return what an audited table has as `key`."""
    if isinstance(table, UsedTable):
        return table.name, ""
    return table.table.name, table.table.location


def _shadowed(request: AuditRequest, work: Callable[[], int], output: Output) -> int:
    """Return the status of some work; that of a shadow is 0, whatever becomes of it."""
    try:
        return work()
    except UsageProblem:
        raise
    except Exception as error:
        known = problem_of(error)
        if request.no_values and known is None:  # what it says may be values
            known = HarnessError(f"{DEFECT} ({type(error).__name__})")
        if not request.shadow:
            if known is None:
                raise
            raise known from None
        problem = printable(str(known or HarnessError(f"{DEFECT} ({error!r})")))
        print(f"harness: {problem}", file=sys.stderr)
        output.end(status=0, problem=problem)
        return 0
