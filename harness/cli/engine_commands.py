"""The commands of engines: their images, a stack of containers, and the conformance kit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from harness.artifacts import add_version, cache_cleanup, distributions
from harness.artifacts.cache import Cache
from harness.cli import (
    doctor_containers,
    list_engines,
    named_parts,
    options,
    plan_options,
    verify_engines,
)
from harness.cli.console.output import Output, say
from harness.core import runtime_names
from harness.core.progress import megabytes
from harness.plan import own_distributions, shipped
from harness.run import compose_stack, pipeline
from harness.runtime import image_choice


class _ListFirst(TyperGroup):
    """Without a command, the engines are listed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - a private type
        return super().parse_args(ctx, args or ["list"])


app = typer.Typer(
    cls=_ListFirst,
    help="Engines: which there are, other versions, images, whether they conform.",
)


@app.command(name="list")
@options.with_output
def list_(output: Output, folders: options.OwnOption = None) -> None:
    """List the engines: how each can be run, what is there of it, whether it conforms.

    Nothing is fetched, pulled or started.
    """
    own_distributions.register(folders or ())
    names, cache = distributions.names(), Cache.default()
    result = tuple(list_engines.look(names, cache, doctor_containers.look(names)))
    list_engines.show(result, output.out)
    output.end(engines=list_engines.plain(result))


@app.command()
@options.with_output
def build(
    output: Output,
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Distributions; by default those of the profile."),
    ] = None,
    folders: options.OwnOption = None,
    profile: options.ProfileOption = options.QUICK_START,
    offline: options.OfflineOption = False,
) -> None:
    """Build images of the official images' contract, for who can reach no image registry.

    They are made of the files that the harness fetches and verifies, on an image of Debian.
    """
    own_distributions.register(folders or ())
    requested = names or pipeline.needed_distributions(plan_options.make(folders, profile, ""))
    cache, progress = Cache.default(offline=offline), output.progress()
    result = {
        image_choice.ensure(
            distributions.load(runtime_names.lock_name(name)), cache, progress
        ): name
        for name in requested
    }
    output.end("\n".join(f"{name}: {built}" for built, name in result.items()), images=list(result))


@app.command()
@options.with_output
def compose(
    output: Output,
    reader: Annotated[
        list[str] | None,
        typer.Option(
            help="The engine of this reader, such as 'trino-476', instead of those of the "
            "profile's readers. Can be given several times; settings are chosen in a session."
        ),
    ] = None,
    folders: options.OwnOption = None,
    profile: options.ProfileOption = options.QUICK_START,
    folder: Annotated[
        Path, typer.Option(parser=Path, metavar="PATH", help="Where compose.yaml is written.")
    ] = Path("containers"),
    offline: options.OfflineOption = False,
) -> None:
    """Write the stack of a run in containers for Docker Compose, to look around with clients."""
    own_distributions.register(folders or ())
    named = tuple(map(named_parts.reader, reader or ()))
    asked = named or plan_options.make(folders, profile, "").readers
    names, cache = [entry.distribution for entry in asked], Cache.default(offline=offline)
    file = compose_stack.write(names, folder, cache, output.progress())
    output.end(f"written: {file}; next: docker compose -f {file} up", file=str(file))


@app.command()
@options.with_output
def add(
    output: Output,
    versions: Annotated[
        list[str],
        typer.Argument(
            metavar="PRODUCT VERSION …",
            help="A version, such as trino 470, or spark 3.5.8 hudi 1.2.1.",
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
    """Add a version of Trino, Presto or Spark that is not shipped, to be run as a process too.

    What it consists of is fetched, measured and written down as lock data.
    """
    name, cache = "-".join(versions), Cache.default(offline=offline)
    own_distributions.register([folder])
    file = add_version.add(name, folder / shipped.DISTRIBUTIONS, cache, output.progress())
    text = f"written: {file}; next: harness engines verify {name} --scenarios {folder}"
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
    own_distributions.register(folders or ())
    result = cache_cleanup.prune_engines(names or (), Cache.default())
    say(f"removed: {', '.join(f'{e.files} {e.name} ({megabytes(e.size)})' for e in result)}")


app.command()(verify_engines.verify)
