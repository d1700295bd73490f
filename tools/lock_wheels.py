"""Print the `wheels` of a lock file: for each project and machine the size and SHA-256.

    .venv/bin/python -m tools.lock_wheels pyiceberg==0.12.0 pyarrow==26.0.1 …

pip chooses and downloads each wheel as it does for a user of that machine. A wheel that is for
every machine is printed once; one that needs Python's stable interface, or none, once a machine.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PLATFORMS: Final = {
    "linux-x86_64": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "linux-aarch64": (
        *("manylinux_2_28_aarch64", "manylinux_2_24_aarch64", "manylinux_2_17_aarch64"),
        "manylinux2014_aarch64",
    ),
    "darwin-arm64": ("macosx_14_0_arm64", "macosx_11_0_arm64"),
    "darwin-x86_64": ("macosx_14_0_x86_64", "macosx_10_12_x86_64"),
}
"""pip's names of platforms, by ours of a machine."""
PYTHONS: Final = ("311", "312", "313", "314")


def downloaded(package: str, machine: str, python: str, folder: Path) -> Path | None:
    """Return the wheel that pip chooses; None where it has none."""
    platforms = [part for platform in PLATFORMS[machine] for part in ("--platform", platform)]
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--only-binary=:all:", "--python-version", python, *platforms),
        *("--dest", str(folder), package),
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        print(f"{package} for {machine}-cp{python}: {done.stderr[-200:]}", file=sys.stderr)
    return next(folder.glob("*.whl"), None)


def label(wheel: Path, machine: str, python: str) -> str:
    """Return which machines a wheel is for, as lock files say it.

    >>> label(Path("a-1-cp311-abi3-manylinux_2_17_x86_64.whl"), "linux-x86_64", "311")
    'linux-x86_64'
    >>> label(Path("a-1-py3-none-macosx_11_0_arm64.whl"), "darwin-arm64", "311")
    'darwin-arm64'
    """
    _, abi, platform = wheel.stem.rsplit("-", 2)
    if platform == "any":
        return "any"
    return machine if abi in {"abi3", "none"} else f"{machine}-cp{python}"


def lines(package: str) -> Iterator[str]:
    yield f"  {package}:"
    seen: set[str] = set()
    for python in PYTHONS:
        for machine in PLATFORMS:
            if seen & {"any", machine}:
                continue
            with tempfile.TemporaryDirectory() as folder:
                wheel = downloaded(package, machine, python, Path(folder))
                name = label(wheel, machine, python) if wheel else ""
                if not wheel or name in seen:
                    continue
                seen.add(name)
                content = wheel.read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            yield f"    {name}: {{size: {len(content)}, sha256: {digest}}}"


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("packages", nargs="+", help="such as pyiceberg==0.12.0")
    for package in options.parse_args().packages:
        print(*lines(package), sep="\n", flush=True)


if __name__ == "__main__":
    main()
