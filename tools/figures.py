"""Count a checkout: lines, modules, who imports whom, the words of its identifiers.

    python tools/figures.py [--root CHECKOUT]

Lines are those of Python files that Git tracks. Modules and imports are those of `harness`, which
has `reports` in it; an import inside a function counts as well. A part of an identifier is a word
of it (`read_files`, `ReadFiles`: read, files), counted as often as it is written in code; `self`,
`harness` and the names of Python's builtins do not count.
"""

import argparse
import builtins
import io
import keyword
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

FOLDERS: Final = ("harness", "reports", "tools", "tests")
LINKED: Final = ("reports",)
"""Folders that are imported as parts of `harness`."""
SMALL: Final = 40
SHOWN: Final = 20
IMPORT: Final = re.compile(
    r"^\s*(?:from (harness[\w.]*) import (\([^)]*\)|[^\n]*)|import (harness[\w.]+))", re.MULTILINE
)
FIXED: Final = frozenset({"self", "harness", *dir(builtins), *keyword.kwlist})
PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def texts(root: Path) -> dict[str, str]:
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "*.py"],  # noqa: S607 - whichever git there is
        check=True, capture_output=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    return {name: (root / name).read_text("utf-8") for name in listed if (root / name).is_file()}


def modules(files: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of what is imported as `harness`, by dotted names."""
    texts_by_name = {}
    for name, text in files.items():
        folder = name.partition("/")[0]
        path = f"harness/{name}" if folder in LINKED else name
        if path.startswith("harness/"):
            dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            texts_by_name[dotted] = text
    return texts_by_name


def imported(text: str, known: Iterable[str]) -> Iterator[str]:
    known = set(known)
    for module, names, plain in IMPORT.findall(text):
        if plain:
            yield plain
            continue
        listed = re.sub(r"#.*|[()]", "", names)
        for name in (part.split(" as ")[0].strip() for part in listed.split(",")):
            longer = f"{module}.{name}"
            yield longer if longer in known else module


def importers(texts_by_name: Mapping[str, str]) -> dict[str, set[str]]:
    by: dict[str, set[str]] = {name: set() for name in texts_by_name}
    for name, text in texts_by_name.items():
        for other in imported(text, texts_by_name):
            if other in by and other != name:
                by[other].add(name)
    return by


def parts(text: str) -> Iterator[str]:
    """Yield the words of all identifiers, each as often as it is written."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and token.string not in FIXED:
            yield from (part.lower() for part in PART.findall(token.string))


def report(root: Path) -> Iterator[str]:
    files = texts(root)
    for folder in FOLDERS:
        lines = [text.count("\n") for name, text in files.items() if name.startswith(f"{folder}/")]
        yield f"{folder}: {sum(lines)} lines in {len(lines)} files"
    texts_by_name = modules(files)
    by = importers(texts_by_name)
    alone = [name for name, users in by.items() if len(users) == 1]
    lengths = {name: text.count("\n") for name, text in texts_by_name.items()}
    small = sum(lengths[name] < SMALL for name in alone)
    yield f"modules of harness and reports: {len(texts_by_name)}"
    yield f"imported by exactly one other: {len(alone)}, of these under {SMALL} lines: {small}"
    yield f"under {SMALL} lines: {sum(count < SMALL for count in lengths.values())}"
    longest = max(lengths, key=lambda name: lengths[name])
    yield f"longest module: {longest}, {lengths[longest]} lines"
    product = (text for name, text in files.items() if not name.startswith("tests/"))
    frequent = Counter(part for text in product for part in parts(text)).most_common(SHOWN)
    yield f"most frequent parts of identifiers: {', '.join(f'{word} {n}' for word, n in frequent)}"
    frequent = Counter(part for text in files.values() for part in parts(text)).most_common(SHOWN)
    yield f"the same with tests: {', '.join(f'{word} {n}' for word, n in frequent)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1])
    print("\n".join(report(parser.parse_args().root.resolve())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
