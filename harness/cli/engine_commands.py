"""`harness engines`: the list, other versions, images, conformance."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from harness.artifacts import add_version, cache_cleanup, distributions, fetch, version_rules
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.cli import named_parts, options, plan_options, runs
from harness.cli.output import Output, say
from harness.cli.runs import Resources
from harness.conformance import kit, results
from harness.conformance.results import CheckOutcome, Conformance
from harness.conformance.table import formats_for
from harness.core import runtime_names
from harness.core.errors import EnvironmentProblem, UsageProblem, unwritable
from harness.core.progress import megabytes
from harness.core.records import VerdictKind
from harness.core.runtime_names import CONTAINER, PROCESS
from harness.plan import custom_distributions, distribution_support, shipped
from harness.read import platform_tables
from harness.reports import lines
from harness.reports.document import Line, table
from harness.run import pipeline
from harness.run.run_folder import RUNS
from harness.runtime import docker_daemon, image, image_choice, work_folders
from harness.runtime.docker_daemon import StoredImage
from harness.scenario.cells import Reader
from harness.usage import own_tables

FOLDER: Final = "conformance"
TONES: Final = {
    CheckOutcome.PASSED: VerdictKind.CORRECT,
    CheckOutcome.FAILED: VerdictKind.WRONG,
    CheckOutcome.NOT_APPLICABLE: VerdictKind.UNSUPPORTED,
    CheckOutcome.UNKNOWN: VerdictKind.UNKNOWN,
}


app = typer.Typer(cls=options.group_with("list"))


@dataclass(frozen=True, slots=True)
class ListedEngine:
    """A distribution, as the list says it."""

    name: str
    process: str
    """Which of its files are in the cache."""
    container: str
    """Which image would be taken to run it in a container."""
    conforms: Mapping[str, str]
    """By runtime what the conformance kit found last, and when."""
    uses: Mapping[str, str]
    """By family of formats whether it reads and writes such tables."""


@app.command(name="list")
@options.with_output
def list_(output: Output, folders: options.OwnOption = None) -> None:
    """List the engines: how each can be run, whether it conforms, what it reads and writes.

    Nothing is fetched, pulled or started.
    """
    custom_distributions.register(folders or ())
    names, cache, listed = distributions.names(), Cache.default(), list[ListedEngine]()
    images = stored_images(names)
    for name in names:
        distribution = distributions.load(name)
        missing = sum(file.size for file in fetch.missing(distribution, cache))
        process = f"{megabytes(missing)} to fetch" if missing else "fetched"
        container = _container(distribution, images)
        conforms = {runtime: _conforms(name, runtime, cache) for runtime in (PROCESS, CONTAINER)}
        uses = distribution_support.uses(distribution)
        listed.append(ListedEngine(name, process, container, conforms, uses))
    heads = ("engine", "process", "container", "conformance: process", "container")
    ways = ((e.name, e.process, e.container, *e.conforms.values()) for e in listed)
    using = ((e.name, *e.uses.values()) for e in listed if any(e.uses.values()))
    tables = table(heads, ways), table(("engine", *listed[0].uses), using)
    lines.render(tables, output.out)
    others = f"other versions ({version_rules.product_ranges()}): harness engines add, or"
    say(f"{others} with Docker NAME@container of those with an image", output.out)
    output.end(engines=[asdict(entry) for entry in listed])


def stored_images(names: Iterable[str]) -> Mapping[str, StoredImage | None] | None:
    """Return the image that each engine is run in without pulling; None where no daemon answers."""
    gone: tuple[type[Exception], ...] = (EnvironmentProblem, *docker_daemon.failures())
    try:
        with closing(docker_daemon.client()) as client:
            official = filter(image.official, map(distributions.load, names))
            return {e.name: image_choice.available_image(client, e) for e in official}
    except gone:  # also meanwhile
        return None


def _container(distribution: Distribution, images: Mapping[str, StoredImage | None] | None) -> str:
    if not image.official(distribution):
        return "no image"
    if images is None:
        return "no Docker daemon"
    stored = images[distribution.name]
    if stored is None:
        return f"to pull: {image_choice.requested_reference(distribution)}"
    return "built here" if image.is_built(stored.reference) else stored.reference


def _conforms(name: str, runtime: str, cache: Cache) -> str:
    if not distributions.load(name).is_asked:
        return ""
    last = results.latest(runtime_names.in_runtime(name, runtime), cache)
    if last is None:
        return "not checked here"
    text = "passed" if results.status([last]) == results.GOOD else last.summary
    return f"{text}, {last.date}"


@app.command()
@options.with_output
def build(
    output: Output,
    names: Annotated[
        list[str] | None, typer.Argument(help="Distributions; by default those of the profile.")
    ] = None,
    folders: options.OwnOption = None,
    profile: options.ProfileOption = named_parts.QUICK_START,
    offline: options.OfflineOption = False,
) -> None:
    """Build images that work like the official ones, where no image registry can be reached.

    They are made of the files that the harness fetches and verifies, on an image of Debian.
    """
    custom_distributions.register(folders or ())
    requested = names or pipeline.needed_distributions(plan_options.make(folders, profile, ""))
    cache, progress = Cache.default(offline=offline), output.progress()
    locks = {name: distributions.load(runtime_names.lock_name(name)) for name in requested}
    built = {image_choice.ensure(lock, cache, progress): name for name, lock in locks.items()}
    output.end("\n".join(f"{name}: {tag}" for tag, name in built.items()), images=list(built))


@app.command()
@options.with_output
def add(
    output: Output,
    versions: Annotated[
        list[str],
        typer.Argument(
            metavar="PRODUCT VERSION …",
            help="A version, such as trino 470, polars 1.44.2, or spark 3.5.8 hudi 1.2.1.",
        ),
    ],
    folder: Annotated[
        Path,
        typer.Option(
            "--scenarios", help="Your scenarios' folder: it is written into distributions/ there."
        ),
    ] = Path(),
    offline: options.OfflineOption = False,
) -> None:
    """Add a version of an engine that is not shipped, to run it as a process too.

    Its files are fetched, measured and written down as lock data.
    """
    name, cache = "-".join(versions), Cache.default(offline=offline)
    custom_distributions.register([folder])
    file = add_version.add(name, folder / shipped.DISTRIBUTIONS, cache, output.progress())
    named = f" --scenarios {folder}" if folder != Path() else ""
    text = f"written: {file}; next: harness engines verify {name}{named}"
    output.end(text, file=str(file), name=name)


@app.command()
def prune(
    names: Annotated[
        list[str] | None, typer.Argument(help="Engines to remove, such as trino-470.")
    ] = None,
    folders: options.OwnOption = None,
) -> None:
    """Remove the files of engines from the cache. Do not use it during a run.

    Files of no known engine go as well. Files that other engines share stay.
    """
    custom_distributions.register(folders or ())
    removed = cache_cleanup.prune_engines(names or (), Cache.default())
    say(f"removed: {', '.join(f'{e.files} {e.name} ({megabytes(e.size)})' for e in removed)}")


@app.command()
@options.with_output
def verify(
    output: Output,
    names: Annotated[
        list[str] | None, typer.Argument(help="Readers, such as trino-476 or trino-476@container.")
    ] = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="Every engine, in both runtimes where a Docker daemon answers."),
    ] = False,
    folders: options.OwnOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the results as Markdown too."),
    ] = None,
    offline: options.OfflineOption = False,
    platform: options.PlatformOption = None,
    dry_run: options.DryRunOption = False,
) -> int:
    """Check that engines do what every reader must: answer, refuse, time out, leave nothing."""
    custom_distributions.register(folders or ())
    options.use_platform(platform)
    readers = _readers(names or (), every=every)
    cache, progress = Cache.default(offline=offline), output.progress()
    if dry_run:
        sent = (f"{r}: {text}" for r in readers for text in kit.statements(r, cache, progress))
        return runs.unsent(sent, output, more="")
    Resources(output, cache).check(RUNS, "the current folder")
    cache.claim()
    for line in platform_tables.sweep(cache):
        progress.note(line)
    folder = work_folders.numbered(RUNS.resolve(), FOLDER)
    conformances = list[Conformance]()
    for reader in readers:
        conformances.append(kit.verify(reader, cache, folder, progress))
        results.keep(conformances[-1], cache)
        if out is not None:  # after each one, so that an interruption loses no other
            left = len(readers) - len(conformances)
            command = ["harness", "engines", "verify", *(names or ("--all",)), "--out", str(out)]
            try:
                page = kit.page(conformances, shlex.join(command), left)
                out.write_text(page, encoding="utf-8")
            except OSError as error:
                raise unwritable(error, out) from error
    status = results.status(conformances)
    _show_conformances(conformances, output.out)
    data = [asdict(conformance) for conformance in conformances]
    output.end(f"logs: {folder}", status=status, readers=data)
    return status


def _readers(names: Sequence[str], *, every: bool) -> tuple[Reader, ...]:
    if bool(names) == every:
        raise UsageProblem(
            "name the readers to check, such as trino-476 or trino-476@container, or say --all"
        )
    readers = tuple(map(plan_options.existing_reader, names)) if names else all_readers()
    for reader in readers:
        own_tables.check(distributions.load(reader.distribution))
        if reason := formats_for(reader)[1]:
            text = f"{reader} cannot be checked, for it reads none of our tables: {reason}"
            raise UsageProblem(text)
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
        for distribution in distribution_support.readers()
        if formats_for(Reader(distribution.name))[0]
        and (runtime == PROCESS or image.official(distribution))
    )


def _show_conformances(conformances: Sequence[Conformance], console: Console) -> None:
    say(kit.answer(conformances), console)
    for conformance in conformances:
        about = conformance.runtime
        if conformance.start_s:
            about += f", ready after {conformance.start_s:.0f} s, {conformance.peak_mb} MB"
        say(f"\n{conformance.reader}: {conformance.summary} ({about})", console)
        rows = (
            (name, Line(result.outcome, tone=TONES[result.outcome]), " ".join(result.seen.split()))
            for name, result in conformance.results.items()
        )
        lines.render([table(("check", "outcome", "seen"), rows)], console)
