"""The command that checks engines by the conformance kit."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.artifacts.cache import Cache
from harness.cli import named_parts, options
from harness.cli.console.output import Output
from harness.cli.open_run import Resources
from harness.conformance import kit, markdown, results
from harness.conformance.results import CheckOutcome, Conformance
from harness.conformance.table import formats_for
from harness.core import runtime_names
from harness.core.errors import EnvironmentProblem, UsageProblem, printable, unwritable
from harness.core.runtime_names import CONTAINER, PROCESS
from harness.plan import own_distributions, reader_support
from harness.run.run_folder import RUNS
from harness.runtime import docker_daemon, image, work_folders
from harness.scenario.cells import Reader

FOLDER: Final = "conformance"
COLOURS: Final = {
    CheckOutcome.PASSED: "green",
    CheckOutcome.FAILED: "red",
    CheckOutcome.NOT_APPLICABLE: "dim",
    CheckOutcome.UNKNOWN: "yellow",
}

NamesArgument = Annotated[
    list[str] | None, typer.Argument(help="Readers, such as trino-476 or trino-476@container.")
]
AllOption = Annotated[
    bool,
    typer.Option("--all", help="Every engine, in both runtimes where a Docker daemon answers."),
]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write the results as Markdown too.")
]


@options.with_output
def verify(
    output: Output,
    names: NamesArgument = None,
    every: AllOption = False,
    folders: options.OwnOption = None,
    out: OutOption = None,
    offline: options.OfflineOption = False,
) -> int:
    """Check that engines do what every reader must: answer, refuse, time out, leave nothing."""
    own_distributions.register(folders or ())
    readers = _readers(names or (), every=every)
    cache = Cache.default(offline=offline)
    folder = _new_folder(Resources(output, cache))
    progress = output.progress()
    conformances: list[Conformance] = []
    for reader in readers:
        conformances.append(kit.verify(reader, cache, folder, progress))
        results.keep(conformances[-1], cache)
        if out is not None:  # after each one, so that an interruption loses no other
            left = len(readers) - len(conformances)
            _write(out, markdown.page(conformances, _command(names or ("--all",), out), left))
    status = results.status(conformances)
    show(conformances, output.out)
    output.end(
        f"logs: {folder}",
        status=status,
        readers=[asdict(conformance) for conformance in conformances],
    )
    return status


def _readers(names: Sequence[str], *, every: bool) -> tuple[Reader, ...]:
    if bool(names) == every:
        raise UsageProblem(
            "name the readers to check, such as trino-476 or trino-476@container, or say --all"
        )
    readers = tuple(map(named_parts.reader, names)) if names else all_readers()
    for reader in readers:
        kit.check_can_be_asked(reader)
    return readers


def all_readers() -> tuple[Reader, ...]:
    """Return a reader of each distribution that can be asked, in each runtime that it has here."""
    runtimes = [PROCESS]
    with suppress(EnvironmentProblem):
        docker_daemon.describe()
        runtimes.append(CONTAINER)
    return tuple(
        Reader(runtime_names.in_runtime(distribution.name, runtime))
        for runtime in runtimes
        for distribution in reader_support.readers()
        if formats_for(Reader(distribution.name))[0]
        and (runtime == PROCESS or image.official(distribution))
    )


def _new_folder(resources: Resources) -> Path:
    resources.check(RUNS)
    resources.cache.claim()
    return work_folders.numbered(RUNS.resolve(), FOLDER)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(error, file) from error


def _command(names: Sequence[str], out: Path) -> str:
    return shlex.join(["harness", "engines", "verify", *names, "--out", str(out)])


def show(conformances: Sequence[Conformance], console: Console) -> None:
    """Print the answer, then each check of each reader."""
    console.print(markdown.answer(conformances), highlight=False, markup=False, soft_wrap=True)
    for conformance in conformances:
        started = (
            f", ready after {conformance.start_s:.0f} s, {conformance.peak_mb} MB"
            if conformance.start_s
            else ""
        )
        message = f"\n{conformance.reader}: {conformance.summary} ({conformance.runtime}{started})"
        console.print(message, highlight=False, markup=False, soft_wrap=True)
        table = Table("check", "outcome", "seen", box=None, pad_edge=False, header_style="bold")
        for name, result in conformance.results.items():
            seen = printable(" ".join(result.seen.split()))
            table.add_row(name, Text(result.outcome, COLOURS[result.outcome]), Text(seen))
        console.print(table)
