"""Which folder is a cache of the harness: one with its mark, or one that holds nothing else.

Only such a folder is written to or cleared: `HARNESS_CACHE` may name anybody's by mistake. The mark
is a `CACHEDIR.TAG` ("Cache Directory Tagging Specification", bford.info/cachedir), which programs
that make backups know as well, with the name of the harness in it. Caches had none at first; one
that holds nothing but what a cache holds is still taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from harness.artifacts.cache import ENVIRONMENT_VARIABLE, MAKING, Cache
from harness.core.errors import UsageProblem

MARK: Final = "CACHEDIR.TAG"
OURS: Final = "lake-table-harness"
TEXT: Final = f"""Signature: 8a477f597d28d172789f06886806bc55
# The cache of {OURS}, version 1; what is in it is fetched or made again.
"""

_DIGEST, _ID, _SHORT = "[0-9a-f]{64}", "[0-9a-f]{32}", "[0-9a-f]{16}"
NAMES: Final[Mapping[str, str]] = {
    "answers": rf"([0-9a-f]{{2}}|parts)/({_DIGEST}|{_ID})\.json",
    "archives": rf"({re.escape(MAKING)})?.+\.(jsa|seen)(\.temp|\.lock)?",
    "artifacts": _SHORT,
    "conformance": rf"{_SHORT}\.json",
    "jre": rf".+-{_SHORT}",
    "python": rf".+-{_SHORT}|{_SHORT}\.whl",
    "results": rf"([0-9a-f]{{2}}|parts)/({_DIGEST}|{_ID})\.jsonl",
    "spark": rf".+-{_SHORT}",
    "states": rf"{_DIGEST}(\.changed-\d+)?",
    "tables": _ID,
    "unpacked": _SHORT,
}
"""What each folder of a cache holds; beside it lie locks, and what is being made."""
SPREAD: Final = ("answers", "results")
"""Folders that have many files each, in folders by the first digits of their names."""
_BESIDE: Final = re.compile(
    rf"lost\+found|(parcel|tables|{MARK})\.lock|{re.escape(MAKING)}(parcel|{MARK})"
)
"""What else lies in a cache; the first is any file system's own."""


def check(cache: Cache) -> None:
    """Check that a folder is a cache, or can become one: it is empty, or not there.

    Raises UsageProblem: it is somebody's folder.
    """
    if not cache.root.exists():
        return
    if not cache.root.is_dir():
        raise UsageProblem(f"{cache.root} is no folder; let {ENVIRONMENT_VARIABLE} name another")
    if not marked(cache) and (stranger := next(_strange(cache.root), None)):
        name = str(stranger.relative_to(cache.root))
        raise UsageProblem(
            f"{cache.root} is no cache of the harness and not empty: it holds {name!r}; let "
            f"{ENVIRONMENT_VARIABLE} name a folder that is not there yet, or an empty one"
        )


def claim(cache: Cache) -> None:
    """Make a folder a cache, with its mark; raises as `check` does."""
    check(cache)
    mark = cache.root / MARK
    if not marked(cache):
        with cache.lock(mark), cache.workspace(mark) as space:
            (space / MARK).write_text(TEXT, encoding="utf-8")
            (space / MARK).replace(mark)


def marked(cache: Cache) -> bool:
    """Return whether a folder has the mark of a cache."""
    mark = cache.root / MARK
    return mark.is_file() and OURS.encode() in mark.read_bytes()[: len(TEXT)]


def named(folder: Path) -> list[Path]:
    """Return what a folder of a cache holds under the names that the harness gives."""
    names = NAMES[folder.name]
    return [path for path in _contents(folder) if re.fullmatch(names, _below(path, folder))]


def _strange(root: Path) -> Iterator[Path]:
    for folder in root.iterdir():
        if folder.name not in NAMES:
            yield from () if _BESIDE.fullmatch(folder.name) else (folder,)
            continue
        for path in _contents(folder):
            # The folder may be a link to another cache's.
            plain = path.with_name(path.name.removeprefix(MAKING).removesuffix(".lock"))
            if not re.fullmatch(NAMES[folder.name], _below(plain, folder)):
                yield path


def _contents(folder: Path) -> Iterator[Path]:
    """Yield what lies in a folder of a cache; of `SPREAD` ones, what lies in their folders."""
    inner = folder.iterdir() if folder.is_dir() else (folder,)
    for path in inner:
        yield from path.iterdir() if folder.name in SPREAD and path.is_dir() else (path,)


def _below(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()
