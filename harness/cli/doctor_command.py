"""The command `harness doctor` shows what is installed, and what is missing."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.cli import doctor as health
from harness.cli import doctor_containers, options, plan_options
from harness.cli.console.output import OUT
from harness.run import pipeline


def doctor(
    verify: Annotated[
        bool, typer.Option("--verify", help="Check the SHA-256 of every file in the cache.")
    ] = False,
    profile: Annotated[
        str, typer.Option(help="The profile whose containers the memory of Docker must hold.")
    ] = options.QUICK_START,
) -> None:
    """Show what is installed, what is missing, and what each engine needs of this machine."""
    needed = pipeline.needed_distributions(plan_options.make(None, profile, ""))
    cache = Cache.default()
    changed = health.verify(distributions.names(), cache, OUT) if verify else ()
    result = health.health(distributions.names(), cache)
    this = health.machine(cache)
    health.show(this, result, OUT)
    docker = doctor_containers.look(distributions.names())
    message = doctor_containers.warnings(docker, profile, needed)
    doctor_containers.show(docker, message, OUT)
    if changed or health.problems(this, result):
        raise typer.Exit(3)
