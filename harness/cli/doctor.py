"""What is there, what is missing, and what each engine needs of this machine."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import ENVIRONMENT_VARIABLE, Cache
from harness.artifacts.distribution import Distribution
from harness.core.errors import UsageProblem
from harness.core.progress import megabytes
from harness.runtime import memory, metastore

LOOPBACK: Final = "loopback"
PYTHON: Final = (3, 11)
HARNESS_MB: Final = 500
"""Memory that the harness and its PySpark client take beside the engines."""


@dataclass(frozen=True, slots=True)
class Health:
    """One distribution on this machine."""

    distribution: Distribution
    missing: tuple[fetch.Missing, ...]

    @property
    def download(self) -> int:
        return sum(entry.size for entry in self.missing)


@dataclass(frozen=True, slots=True)
class Machine:
    """What this machine has; sizes in MiB."""

    python: tuple[int, int]
    memory: memory.Free
    disk_mb: int
    cache: str
    unusable: str = ""
    """Why nothing can be kept in the cache; empty where it can."""


def machine(cache: Cache) -> Machine:
    there = next(entry for entry in (cache.root, *cache.root.parents) if entry.exists())
    return Machine(
        (sys.version_info.major, sys.version_info.minor),
        memory.free(),
        shutil.disk_usage(there).free >> 20,
        str(cache.root),
        _unusable(cache, there),
    )


def _unusable(cache: Cache, there: Path) -> str:
    """Return why a cache of which the folder `there` exists cannot be written."""
    try:
        cache.check()
        with tempfile.TemporaryFile(dir=there):
            return ""
    except UsageProblem as problem:
        return str(problem)
    except OSError as error:
        why = error.strerror or error
        return (
            f"the cache {cache.root} cannot be written ({why}); "
            f"set {ENVIRONMENT_VARIABLE} to another place"
        )


def health(names: Iterable[str], cache: Cache) -> tuple[Health, ...]:
    """Look for each distribution in the cache; nothing is fetched."""
    result = (distributions.load(name) for name in names)
    return tuple(Health(entry, fetch.missing(entry, cache)) for entry in result)


def verify(names: Iterable[str], cache: Cache, console: Console) -> tuple[Path, ...]:
    """Hash again every artifact that is kept; say and give those that changed, now removed."""
    cache.check()
    changed = [path for name in names for path in fetch.verify(distributions.load(name), cache)]
    for path in changed:
        message = f"changed since it was fetched, removed: {path}; the next run fetches it again"
        console.print(message, style="red", highlight=False, markup=False, soft_wrap=True)
    if not changed:
        console.print("every artifact in the cache is what its lock says", highlight=False)
    return tuple(changed)


def problems(this: Machine, healths: Iterable[Health]) -> tuple[str, ...]:
    """Return what this machine lacks, each with what to do."""
    lacking = []
    every = list(healths)
    if this.python < PYTHON:
        lacking.append(f"Python {this.python[0]}.{this.python[1]}; install 3.11 or later")
    need = _memory_needed([entry.distribution for entry in every])
    if this.memory.mb < need:
        lacking.append(
            f"{this.memory.mb} MB of memory are {this.memory.where} and {need} MB are needed; "
            "end other programs, or allow more"
        )
    if this.unusable:
        lacking.append(this.unusable)
    disk = sum(entry.distribution.disk_mb for entry in every if entry.missing)
    if this.disk_mb < disk:
        lacking.append(
            f"{this.disk_mb} MB of disk are free at {this.cache} and {disk} MB are needed; "
            "make room, or set HARNESS_CACHE to another place"
        )
    return tuple(lacking)


def _memory_needed(result: Iterable[Distribution]) -> int:
    """Return what a run needs, in MiB: one engine beside the metastore; two run where they fit."""
    engines = (entry.memory_mb for entry in result if entry.is_asked)
    beside = distributions.load(metastore.DISTRIBUTION).memory_mb + HARNESS_MB
    return max(engines, default=0) + beside


def show(this: Machine, healths: tuple[Health, ...], console: Console) -> None:
    """Print the table, what listens on more than loopback, and what is lacking."""
    console.print(
        f"cache: {this.cache}\n{this.memory.mb} MB of memory are {this.memory.where}, "
        f"{this.disk_mb} MB of disk are free",
        highlight=False,
        soft_wrap=True,
    )
    table = Table(box=None, header_style="bold", pad_edge=False)
    for head in ("distribution", "is there", "JRE", "memory", "disk", "fidelity"):
        table.add_column(head, overflow="fold")
    for entry in healths:
        table.add_row(*_line(entry))
    console.print(table)
    for entry in healths:
        if entry.distribution.listens != LOOPBACK:
            name, text = entry.distribution.name, entry.distribution.listens
            console.print(f"listens: {name}: {text}", highlight=False, soft_wrap=True)
    for text in problems(this, healths):
        console.print(f"lacking: {text}", style="red", highlight=False, soft_wrap=True)


def _line(health: Health) -> tuple[str, ...]:
    one = health.distribution
    there = f"no, {megabytes(health.download)} to fetch" if health.missing else "yes"
    return one.name, there, one.jre, f"{one.memory_mb} MB", f"{one.disk_mb} MB", one.fidelity
