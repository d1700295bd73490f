"""Print the `wheels` of a lock file: for each project and machine the size and SHA-256.

    .venv/bin/python -m tools.lock_wheels pyiceberg==0.12.0 pyarrow==26.0.1 …

pip chooses and downloads each wheel as it does for a user of that machine. A wheel that is for
every machine is printed once; one that needs Python's stable interface, or none, once a machine.
"""

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Final

from packaging.utils import canonicalize_name

from harness.artifacts.python_index import choose, wheel_label
from harness.core.errors import EnvironmentProblem

PLATFORMS: Final = {
    "linux-x86_64": (
        *("manylinux_2_28_x86_64", "manylinux_2_24_x86_64", "manylinux_2_17_x86_64"),
        "manylinux2014_x86_64",
    ),
    "linux-aarch64": (
        *("manylinux_2_28_aarch64", "manylinux_2_24_aarch64", "manylinux_2_17_aarch64"),
        "manylinux2014_aarch64",
    ),
    "darwin-arm64": ("macosx_14_0_arm64", "macosx_11_0_arm64"),
    "darwin-x86_64": ("macosx_14_0_x86_64", "macosx_10_12_x86_64"),
}
"""pip's names of platforms, by ours of a machine."""
PYTHONS: Final = ("311", "312", "313", "314")


def downloaded(packages: Sequence[str], machine: str, python: str, folder: Path) -> list[Path]:
    """Return the wheels that pip chooses; none where it lacks one of them."""
    platforms = [part for platform in PLATFORMS[machine] for part in ("--platform", platform)]
    try:
        return choose(packages, folder, "--python-version", python, *platforms)
    except EnvironmentProblem as problem:
        print(f"for {machine}-cp{python}: {problem}", file=sys.stderr)
        return []


def lines(packages: Sequence[str]) -> Iterator[str]:
    """Return the lines of all packages: pip is started once for a machine and a Python."""
    names = {canonicalize_name(text.partition("==")[0]): text for text in packages}
    wheels = {name: dict[str, str]() for name in names}
    for python, machine in product(PYTHONS, PLATFORMS):
        left = [names[name] for name, seen in wheels.items() if not {"any", machine} & {*seen}]
        with tempfile.TemporaryDirectory() as folder:
            for wheel in downloaded(left, machine, python, Path(folder)) if left else ():
                label = wheel_label(wheel, machine, f"{machine}-cp{python}")
                name = canonicalize_name(wheel.name.partition("-")[0])
                digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
                wheels[name][label] = f"{{size: {wheel.stat().st_size}, sha256: {digest}}}"
    for name, package in names.items():
        yield f"  {package}:"
        yield from (f"    {label}: {entry}" for label, entry in wheels[name].items())


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("packages", nargs="+", help="such as pyiceberg==0.12.0")
    print(*lines(options.parse_args().packages), sep="\n")


if __name__ == "__main__":
    main()
