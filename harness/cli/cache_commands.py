"""The commands about the cache: its key for CI, closed networks, what it holds, clearing up."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table

from harness.artifacts import bundle, bundle_export, bundle_import, cache_cleanup, distributions
from harness.artifacts.cache import OFFLINE, Cache
from harness.artifacts.distribution import Distribution
from harness.cli import options, plan_options
from harness.cli.console.output import Voice
from harness.core.progress import megabytes
from harness.run import needed_artifacts

DAY_S: Final = 86_400
OUT: Final = Console()

app = typer.Typer(no_args_is_help=True, help="What is kept between runs, and closed networks.")

Scenarios = Annotated[
    list[Path] | None,
    typer.Option("--scenarios", help="Own scenarios, with the profiles beside them."),
]
Profile = Annotated[str, typer.Option(help="A shipped profile, or one beside your scenarios.")]
File = Annotated[Path, typer.Argument(help="The tar file.")]


@app.command()
def key(scenarios: Scenarios = None, profile: Profile = "quick-start") -> None:
    """Print a digest of all that a profile downloads: a key for the cache of a CI."""
    OUT.print(bundle.key(_needed(scenarios, profile)), highlight=False, soft_wrap=True)


@app.command()
def export(
    file: File,
    scenarios: Scenarios = None,
    profile: Profile = "quick-start",
    offline: Annotated[bool, typer.Option(envvar=OFFLINE, help="Download nothing.")] = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Write a tar of all that a profile downloads, for a network without a way out."""
    voice = Voice(quiet, json)
    with voice.ending():
        found, cache = _needed(scenarios, profile), Cache.default(offline=offline)
        size = bundle_export.export(found, file, cache, voice.progress())
        said = f"{file}: {megabytes(size)}; where it is needed: harness cache import {file.name}"
        voice.end(said, file=str(file), size=size)


@app.command(name="import")
def import_(file: File, quiet: options.Quiet = False, json: options.Json = False) -> None:
    """Bring the files of such a tar into the cache, each one verified; downloads nothing."""
    voice = Voice(quiet, json)
    with voice.ending():
        found = bundle_import.load(file, Cache.default(offline=True), voice.progress())
        said = f"{found.files} files verified, {found.new} of them new ({megabytes(found.size)})"
        voice.end(said, **asdict(found))


@app.command(name="list")
def list_() -> None:
    """Return what the cache holds, and how large it is."""
    cache = Cache.default()
    found = cache_cleanup.sizes(cache)
    table = Table("folder", "files", "size", box=None, pad_edge=False, header_style="bold")
    for each in found:
        table.add_row(each.name, str(each.files), megabytes(each.size))
    _say(f"{cache.root}: {megabytes(sum(each.size for each in found))}")
    OUT.print(table)


@app.command()
def prune(
    older_than: Annotated[int, typer.Option(help="Days since they were made.", min=0)] = 30,
) -> None:
    """Remove old states, answers and class archives, which a run makes again; not during one."""
    found = cache_cleanup.prune(Cache.default(), time.time() - older_than * DAY_S)
    removed = ", ".join(f"{each.files} {each.name} ({megabytes(each.size)})" for each in found)
    _say(f"removed what is older than {older_than} days: {removed}")


def _needed(scenarios: Sequence[Path] | None, profile: str) -> list[Distribution]:
    plan = plan_options.make(scenarios, profile, "")
    return [distributions.load(name) for name in needed_artifacts.needed(plan)]


def _say(text: str) -> None:
    OUT.print(text, highlight=False, markup=False, soft_wrap=True)
