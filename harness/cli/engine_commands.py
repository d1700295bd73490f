"""The commands of engines: their images, a stack of containers, and the conformance kit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.cli import options, plan_options, verify_engines
from harness.cli.console.output import Output
from harness.core import runtime_names
from harness.run import compose_stack, needed_artifacts
from harness.runtime import image_build

app = typer.Typer(no_args_is_help=True, help="Engines: images, a stack, whether they conform.")


@app.command()
@options.with_output
def build(
    output: Output,
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Distributions; by default those of the profile."),
    ] = None,
    profile: options.ProfileOption = options.QUICK_START,
    offline: options.OfflineOption = False,
) -> None:
    """Build images of the official images' contract, for who can reach no image registry.

    They are made of the files that the harness fetches and verifies, on an image of Debian.
    """
    wanted = names or needed_artifacts.needed(plan_options.make(None, profile, ""))
    cache, progress = Cache.default(offline=offline), output.progress()
    found = {
        image_build.ensure(distributions.load(runtime_names.lock_name(name)), cache, progress): name
        for name in wanted
    }
    output.end("\n".join(f"{name}: {built}" for built, name in found.items()), images=list(found))


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
    profile: options.ProfileOption = options.QUICK_START,
    folder: Annotated[
        Path, typer.Option(parser=Path, metavar="PATH", help="Where compose.yaml is written.")
    ] = Path("containers"),
    offline: options.OfflineOption = False,
) -> None:
    """Write the stack of a run in containers for Docker Compose, to look around with clients."""
    asked = plan_options.readers(reader) or plan_options.make(None, profile, "").readers
    names, cache = [each.distribution for each in asked], Cache.default(offline=offline)
    file = compose_stack.write(names, folder, cache, output.progress())
    output.end(f"written: {file}; next: docker compose -f {file} up", file=str(file))


app.command()(verify_engines.verify)
