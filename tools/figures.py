"""Count a checkout: the lines of Python that Git tracks, by folder, and of the longest module.

python tools/figures.py [--root CHECKOUT]
"""

import argparse
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

FOLDERS: Final = ("harness", "reports", "tools", "tests")


def lengths(root: Path) -> dict[str, int]:
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "*.py"],  # noqa: S607 - whichever git there is
        check=True, capture_output=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    files = {name: root / name for name in listed if (root / name).is_file()}
    return {name: path.read_text("utf-8").count("\n") for name, path in files.items()}


def report(root: Path) -> Iterator[str]:
    every = lengths(root)
    for folder in FOLDERS:
        of = [count for name, count in every.items() if name.startswith(f"{folder}/")]
        yield f"{folder}: {sum(of)} lines in {len(of)} files"
    product = [name for name in every if not name.startswith("tests/")]
    longest = max(product, key=lambda name: every[name])
    yield f"longest: {longest}, {every[longest]} lines"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1])
    print("\n".join(report(parser.parse_args().root.resolve())))


if __name__ == "__main__":
    main()
