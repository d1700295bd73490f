"""The list of engines: what is known, how each can be run, what is there, whether it conforms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Final

from rich.console import Console
from rich.table import Table

from harness.artifacts import distributions, fetch, version_rules
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.cli.doctor_containers import Docker
from harness.conformance import results
from harness.core import runtime_names
from harness.core.progress import megabytes
from harness.core.runtime_names import CONTAINER, PROCESS
from harness.runtime import image, image_choice
from harness.runtime.docker_daemon import StoredImage

NEVER: Final = "not checked here"
UNKNOWN: Final = "no Docker daemon"


@dataclass(frozen=True, slots=True)
class ListedEngine:
    """A distribution, as the list says it."""

    name: str
    process: str
    """What is there to run it as a process."""
    container: str
    """Which image would be taken to run it in a container."""
    conforms: Mapping[str, str]
    """By runtime what the conformance kit last found, and when."""


def look(names: Iterable[str], cache: Cache, docker: Docker) -> Iterator[ListedEngine]:
    """Look for each distribution, and for what the kit found; nothing is fetched or pulled."""
    there = {name: entry.there for entry in docker.images for name in entry.names}
    for name in names:
        distribution = distributions.load(name)
        yield ListedEngine(
            name,
            _process(distribution, cache),
            _container(distribution, docker, there.get(name)),
            {runtime: _conforms(name, runtime, cache) for runtime in (PROCESS, CONTAINER)},
        )


def _process(distribution: Distribution, cache: Cache) -> str:
    missing = fetch.missing(distribution, cache)
    return f"{megabytes(sum(entry.size for entry in missing))} to fetch" if missing else "fetched"


def _container(distribution: Distribution, docker: Docker, there: StoredImage | None) -> str:
    if not image.official(distribution):
        return "no image"
    if docker.daemon is None:
        return UNKNOWN
    if there is None:
        return f"to pull: {image_choice.requested_reference(distribution)}"
    return "built here" if image.is_built(there.reference) else there.reference


def _conforms(name: str, runtime: str, cache: Cache) -> str:
    if not distributions.load(name).is_asked:
        return ""
    last = results.latest(runtime_names.in_runtime(name, runtime), cache)
    if last is None:
        return NEVER
    text = "passed" if results.status([last]) == results.GOOD else last.summary
    return f"{text}, {last.date}"


def show(result: Iterable[ListedEngine], console: Console) -> None:
    """Print the list, and which other versions there can be."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for head in ("engine", "process", "container", "conformance: process", "container"):
        table.add_column(head, overflow="fold")
    for entry in result:
        table.add_row(entry.name, entry.process, entry.container, *entry.conforms.values())
    console.print(table)
    about = version_rules.product_ranges()
    message = f"other versions ({about}): NAME@container with Docker, or harness engines add"
    console.print(message, highlight=False, markup=False, soft_wrap=True)


def plain(result: Iterable[ListedEngine]) -> list[dict[str, object]]:
    return [asdict(entry) for entry in result]
