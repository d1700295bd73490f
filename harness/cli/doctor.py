"""`harness doctor`: what is installed and missing; nothing is fetched, pulled, built or started."""

import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import ENVIRONMENT_VARIABLE, Cache
from harness.cli import named_parts, options, plan_options
from harness.cli.output import OUT, say
from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.progress import megabytes
from harness.core.texts import counted
from harness.engines.api import Attaches, NoAnswerError, RefusedError
from harness.formats.files import table_folder
from harness.formats.files.table_folder import UnreadableError
from harness.plan import platform_file
from harness.read import platform_tables
from harness.read.questions import load_engine
from harness.reports import lines
from harness.reports.document import table
from harness.run import pipeline
from harness.runtime import docker_daemon, memory, metastore
from harness.runtime.image import limit_mb
from harness.usage import scan
from harness.usage.named_catalog import CATALOGS, NamedCatalog

LOOPBACK: Final = "loopback"
ANSWER_S: Final = 10.0
HARNESS_MB: Final = 500
"""Memory that the harness and its PySpark client take beside the engines."""

Missing = Mapping[str, Sequence[fetch.Missing]]
"""By distribution, the files that are not in the cache."""


def doctor(
    verify: Annotated[
        bool, typer.Option("--verify", help="Check the SHA-256 of every file in the cache.")
    ] = False,
    profile: Annotated[
        str, typer.Option(help="The profile whose containers must fit into Docker's memory.")
    ] = named_parts.QUICK_START,
    platform: options.PlatformOption = None,
) -> None:
    """Show what is installed, what is missing, and what each engine needs of this machine."""
    if platform:
        readers = platform_file.register_file(platform)
        for line in platform_tables.sweep(Cache.default()):
            say(line, OUT)
        answers = [look_for_endpoint(name, OUT) for name in readers]
        answers += [look_for_catalog(*named, OUT) for named in CATALOGS.items()]
        if not all(answers):
            raise typer.Exit(EnvironmentProblem.exit_status)
        return
    needed = pipeline.needed_distributions(plan_options.make(None, profile, ""))
    cache, names = Cache.default(), distributions.names()
    changed = verify_files(names, cache, OUT) if verify else ()
    missing = {name: fetch.missing(distributions.load(name), cache) for name in names}
    machine = this_machine(cache)
    problems = machine_problems(machine, missing)
    show_machine(machine, missing, problems, OUT)
    show_docker(profile, needed, OUT)
    if changed or problems:
        raise typer.Exit(EnvironmentProblem.exit_status)


def look_for_endpoint(reader: str, console: Console) -> bool:
    """Say what an engine that runs already can be asked; return whether it is what its file says.

    What is asked for: its catalogs, or Hive's databases, by a login and over a connection as an
    audit has them.
    """
    distribution = distributions.load(reader)
    engine, endpoint = load_engine(reader), distribution.endpoint
    if endpoint is None or not isinstance(engine, Attaches):  # not reached: of a platform file
        raise AssertionError(reader)
    say(f"{reader}, asked as {endpoint.like} is, at {endpoint.address}", console)
    asked = "databases" if endpoint.is_hive else "catalogs"
    try:
        with closing(engine.attach(distribution, endpoint).connect({})) as connection:
            rows = connection.run(f"show {asked}", timeout_s=ANSWER_S).rows
    except (EnvironmentProblem, NoAnswerError, RefusedError) as problem:
        say(f"  it cannot be asked: {problem}", console, "red")
        return False
    known = {str(name) for (name,) in rows}
    if endpoint.is_hive:
        say(f"  it answers: {counted(len(known), 'database')}", console)
    for family, catalog in endpoint.catalogs.items():
        if catalog in known:
            say(f"  {family} tables: in its catalog {catalog}", console)
        else:
            there = ", ".join(sorted(known)) or "none"
            say(f"  {family} tables: it has no catalog {catalog}; it has {there}", console, "red")
    return known >= set(endpoint.catalogs.values())


def look_for_catalog(name: str, catalog: NamedCatalog, console: Console) -> bool:
    """Say what of a catalog, or a store, can be listed; return whether nothing is refused."""
    say(f"{name}, at {catalog.address}", console)
    try:
        if catalog.address.startswith("s3"):
            entries = counted(len(table_folder.at(catalog.address).listed()), "entry", "entries")
            say(f"  it can be listed: {entries}", console)
            return True
        with scan.listed(name, ()) as listing:
            tables = counted(listing.total, "table")
            say(f"  it answers: {counted(listing.databases, 'database')}, {tables}", console)
            for database, why in listing.unlisted.items():
                say(f"  {database}: it does not list its tables: {why}", console, "red")
            return not listing.unlisted
    except (EnvironmentProblem, UnreadableError) as problem:
        say(f"  it cannot be asked: {problem}", console, "red")
        return False


@dataclass(frozen=True, slots=True)
class Machine:
    """What this machine has; sizes in MiB."""

    memory: memory.Free
    disk_mb: int
    cache: str
    unusable: str = ""
    """Why the cache cannot be written; empty where it can."""


def this_machine(cache: Cache) -> Machine:
    existing = next(folder for folder in (cache.root, *cache.root.parents) if folder.exists())
    unusable = ""
    try:
        cache.check()
        with tempfile.TemporaryFile(dir=existing):
            pass
    except UsageProblem as problem:
        unusable = str(problem)
    except OSError as error:
        unusable = f"the cache {cache.root} cannot be written ({error.strerror or error}); "
        unusable += f"set {ENVIRONMENT_VARIABLE} to another folder"
    return Machine(memory.free(), shutil.disk_usage(existing).free >> 20, str(cache.root), unusable)


def verify_files(names: Iterable[str], cache: Cache, console: Console) -> tuple[Path, ...]:
    cache.check()
    changed = [path for name in names for path in fetch.verify(distributions.load(name), cache)]
    for path in changed:
        message = f"changed since it was fetched, removed: {path}; the next run fetches it again"
        say(message, console, "red")
    if not changed:
        say("every artifact in the cache is what its lock says", console)
    return tuple(changed)


def machine_problems(machine: Machine, missing: Missing) -> tuple[str, ...]:
    problems = []
    known = [distributions.load(name) for name in missing]
    # One engine beside the metastore; two run at once only where they fit.
    engine_mb = max((entry.memory_mb for entry in known if entry.is_asked), default=0)
    need = engine_mb + distributions.load(metastore.DISTRIBUTION).memory_mb + HARNESS_MB
    if machine.memory.mb < need:
        problems.append(
            f"{machine.memory.mb} MB of memory are {machine.memory.where} and {need} MB are "
            "needed; end other programs, or allow more"
        )
    if machine.unusable:
        problems.append(machine.unusable)
    disk_mb = sum(entry.disk_mb for entry in known if missing[entry.name])
    if machine.disk_mb < disk_mb:
        problems.append(
            f"{machine.disk_mb} MB of disk are free at {machine.cache} and {disk_mb} MB are "
            f"needed; free some, or set {ENVIRONMENT_VARIABLE} to another folder"
        )
    return tuple(problems)


def show_machine(
    machine: Machine, missing: Missing, problems: Iterable[str], console: Console
) -> None:
    say(f"cache: {machine.cache}", console)
    memory_text = f"{machine.memory.mb} MB of memory are {machine.memory.where}"
    say(f"{memory_text}, {machine.disk_mb} MB of disk are free", console)
    known, rows = [distributions.load(name) for name in missing], list[Sequence[str]]()
    for entry in known:
        size = megabytes(sum(file.size for file in missing[entry.name]))
        there = f"no, {size} to fetch" if missing[entry.name] else "yes"
        sizes = f"{entry.memory_mb} MB", f"{entry.disk_mb} MB"
        rows.append((entry.name, there, entry.jre, *sizes, entry.fidelity))
    heads = "distribution", "is there", "JRE", "memory", "disk", "fidelity"
    lines.render([table(heads, rows)], console)
    for entry in known:
        if entry.listens != LOOPBACK:
            say(f"listens: {entry.name}: {entry.listens}", console)
    for text in problems:
        say(f"lacking: {text}", console, "red")


def show_docker(profile: str, names: Sequence[str], console: Console) -> None:
    """Say which daemon answers, and whether a profile's containers fit into its memory.

    `names`: the distributions that the profile needs.
    """
    try:
        daemon = docker_daemon.describe()
    except EnvironmentProblem as problem:
        say(f"Docker: {problem}", console)
        return
    about = f"version {daemon.version}, {daemon.architecture}, {daemon.memory_mb} MB of memory"
    say(f"Docker: {about}, at {docker_daemon.host()}; harness engines names the images", console)
    need = sum(limit_mb(distributions.load(name)) for name in names)
    if daemon.memory_mb < need:
        text = f"warning: the containers of {profile} may take {need} MB together, each its heap "
        text += f"and 1 GiB, and the daemon has {daemon.memory_mb} MB; give it more, or run fewer "
        say(f"{text}engines", console, "yellow")
