"""Which folder is a cache of the harness: one with its mark, or one that holds nothing else.

Only such a folder is written to or cleared: `HARNESS_CACHE` may name anybody's by mistake. The mark
is a `CACHEDIR.TAG` ("Cache Directory Tagging Specification", bford.info/cachedir), which programs
that make backups know as well, with the name of the harness in it. Caches had none at first; one
that holds nothing but what a cache holds is still taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from harness.artifacts.cache import ENVIRONMENT_VARIABLE, MAKING, Cache
from harness.core.errors import UsageProblem

MARK: Final = "CACHEDIR.TAG"
OURS: Final = "lake-table-harness"
TEXT: Final = f"""Signature: 8a477f597d28d172789f06886806bc55
# The cache of {OURS}, version 1; what is in it is fetched or made again.
"""

STATE: Final = re.compile(r"[0-9a-f]{64}(\.changed-\d+)?")
HOME: Final = re.compile(r"[0-9a-f]{32}")
ANSWERS: Final = re.compile(r"[0-9a-f]{2}|parts")
ANSWER: Final = re.compile(r"[0-9a-f]{64}\.json|[0-9a-f]{32}\.json")
"""One that is kept, or that is being written."""
ARCHIVE: Final = re.compile(rf"({re.escape(MAKING)})?.+\.(jsa|seen)(\.temp|\.lock)?")
_FOLDERS: Final = {
    "answers": ANSWERS,
    "archives": ARCHIVE,
    "artifacts": re.compile(r"[0-9a-f]{16}"),
    "jre": re.compile(r".+-[0-9a-f]{16}"),
    "states": STATE,
    "tables": HOME,
    "unpacked": re.compile(r"[0-9a-f]{16}"),
}
"""What each folder of a cache holds; beside it lie locks, and what is being made."""
_BESIDE: Final = re.compile(
    rf"lost\+found|(parcel|tables|{MARK})\.lock|{re.escape(MAKING)}(parcel|{MARK})"
)
"""What else lies in a cache; the first is any file system's own."""


def check(cache: Cache) -> None:
    """Check that a folder is a cache, or can become one: it is empty, or not there.

    Raises:
        UsageProblem: it is somebody's folder.

    """
    if not cache.root.exists():
        return
    if not cache.root.is_dir():
        raise UsageProblem(f"{cache.root} is no folder; let {ENVIRONMENT_VARIABLE} name another")
    if not _marked(cache.root) and (found := next(_strange(cache.root), None)):
        held = str(found.relative_to(cache.root))
        raise UsageProblem(
            f"{cache.root} is no cache of the harness and not empty: it holds {held!r}; let "
            f"{ENVIRONMENT_VARIABLE} name a folder that is not there yet, or an empty one"
        )


def claim(cache: Cache) -> None:
    """Make a folder a cache, with its mark; raises as `check` does."""
    check(cache)
    mark = cache.root / MARK
    if not _marked(cache.root):
        with cache.lock(mark), cache.workspace(mark) as space:
            (space / MARK).write_text(TEXT, encoding="utf-8")
            (space / MARK).replace(mark)


def _marked(root: Path) -> bool:
    mark = root / MARK
    return mark.is_file() and OURS.encode() in mark.read_bytes()[: len(TEXT)]


def _strange(root: Path) -> Iterator[Path]:
    """Yield what no cache holds, by its path from there."""
    for each in root.iterdir():
        if names := _FOLDERS.get(each.name):
            yield from _odd(each, names)
        elif not _BESIDE.fullmatch(each.name):
            yield each
    for folder in (root / "answers").glob("*/"):
        yield from _odd(folder, ANSWER)


def _odd(folder: Path, names: re.Pattern[str]) -> Iterator[Path]:
    """Yield what does not belong in a folder of a cache; it may be a link to another cache's."""
    if folder.is_file():
        yield folder
    for each in folder.iterdir() if folder.is_dir() else ():
        name = each.name.removeprefix(MAKING).removesuffix(".lock")
        if not names.fullmatch(name):
            yield each
