"""The folder that keeps fetched artifacts, unpacked server trees and JREs between runs.

Only a cache is written to or cleared: `HARNESS_CACHE` may name anybody's folder by mistake. Its
mark is a `CACHEDIR.TAG` ("Cache Directory Tagging Specification", bford.info/cachedir). Caches had
none at first; a folder that holds nothing but what a cache holds is still taken for one.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import platformdirs
from filelock import FileLock

from harness.artifacts.distribution import Artifact
from harness.core.atomic_write import atomic_write
from harness.core.errors import UsageProblem, unwritable
from harness.core.runtime_names import OFFLINE

ENVIRONMENT_VARIABLE = "HARNESS_CACHE"
"""The environment variable that says that nothing is downloaded: 1, true, yes or on."""
MAKING = ".making-"
"""How the name of a folder begins in which something is made that is not there yet."""
MARK: Final = "CACHEDIR.TAG"
OURS: Final = "lake-table-harness"
TEXT: Final = f"""Signature: 8a477f597d28d172789f06886806bc55
# The cache of {OURS}, version 1; what is in it is fetched or made again.
"""

_DIGEST, _ID, _SHORT = "[0-9a-f]{64}", "[0-9a-f]{32}", "[0-9a-f]{16}"
OWN_TABLES: Final = "own_tables"
"""Folder of the records of what runs have made where engines run already."""
NAMES: Final[Mapping[str, str]] = {
    "answers": rf"([0-9a-f]{{2}}|parts)/({_DIGEST}|{_ID})\.json",
    "archives": rf"({re.escape(MAKING)})?.+\.(jsa|seen)(\.temp|\.lock)?",
    "artifacts": _SHORT,
    "conformance": rf"{_SHORT}\.json",
    "jre": rf".+-{_SHORT}",
    "python": rf".+-{_SHORT}|{_SHORT}\.whl",
    OWN_TABLES: r"\w+\.json",
    "results": rf"([0-9a-f]{{2}}|parts)/({_DIGEST}|{_ID})\.jsonl",
    "spark": rf".+-{_SHORT}",
    "states": rf"{_DIGEST}(\.changed-\d+)?",
    "tables": _ID,
    "unpacked": _SHORT,
}
"""What each folder of a cache holds; beside it lie locks, and what is being made."""
SPREAD: Final = ("answers", "results")
"""Folders that have many files each, in folders by the first digits of their names."""
_BESIDE: Final = re.compile(rf"lost\+found|(tables|{MARK})\.lock|{re.escape(MAKING)}{MARK}")
"""What else lies in a cache; the first is any file system's own."""


def file_sha256(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class Cache:
    """Content-addressed, shared by concurrent runs; everything in it is complete or absent."""

    root: Path
    offline: bool = False
    """Nothing is downloaded into it; what is missing is an error."""

    @classmethod
    def default(cls, *, offline: bool | None = None) -> Cache:
        """Return the cache that HARNESS_CACHE names, or the user's; HARNESS_OFFLINE counts."""
        named = os.environ.get(ENVIRONMENT_VARIABLE)
        root = Path(named) if named else platformdirs.user_cache_path("lake-table-harness")
        is_offline = os.environ.get(OFFLINE, "").strip().lower() in {"1", "true", "yes", "on"}
        try:
            folder = root.expanduser().absolute()
        except RuntimeError as wrong:
            message = f"{ENVIRONMENT_VARIABLE} is {root}: {wrong}; write the whole path"
            raise UsageProblem(message) from wrong
        return cls(folder, is_offline if offline is None else offline)

    def check(self) -> None:
        """Raise UsageProblem unless the folder is a cache, empty, or not there."""
        if not self.root.exists():
            return
        if not self.root.is_dir():
            raise UsageProblem(f"{self.root} is no folder; let {ENVIRONMENT_VARIABLE} name another")
        if not self.is_marked() and (stranger := next(_strange(self.root), None)):
            name = str(stranger.relative_to(self.root))
            raise UsageProblem(
                f"{self.root} is no cache of the harness and not empty: it holds {name!r}; let "
                f"{ENVIRONMENT_VARIABLE} name a folder that is not there yet, or an empty one"
            )

    def claim(self) -> None:
        """Make the folder a cache, with its mark; raises as `check` does."""
        self.check()
        mark = self.root / MARK
        if not self.is_marked():
            with self.lock(mark), self.workspace(mark) as space:
                (space / MARK).write_text(TEXT, encoding="utf-8")
                (space / MARK).replace(mark)

    def is_marked(self) -> bool:
        mark = self.root / MARK
        return mark.is_file() and OURS.encode() in mark.read_bytes()[: len(TEXT)]

    def artifact(self, artifact: Artifact) -> Path:
        return self.root / "artifacts" / artifact.sha256[:16] / artifact.file_name

    def tree(self, key: str) -> Path:
        return self.root / "unpacked" / key[:16]

    def states(self) -> Path:
        return self.root / "states"

    def archives(self) -> Path:
        """The folder of what makes starts quicker; all in it can be made again."""
        return self.root / "archives"

    def lock(self, path: Path) -> FileLock:
        """A lock between processes (and threads) for whoever makes `path`; makes its folder."""
        path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(path.with_name(path.name + ".lock"))

    @contextmanager
    def workspace(self, path: Path) -> Iterator[Path]:
        """A folder beside `path` to make it in, under its lock; what the dead left is removed."""
        folder = path.with_name(f"{MAKING}{path.name}")
        remove(folder)
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            remove(folder)

    def make_once(self, path: Path, make: Callable[[Path], Path]) -> Path:
        """Return a folder; unless it is there `make` makes it in a workspace, and returns where."""
        with self.lock(path):
            if not path.is_dir():
                try:
                    with self.workspace(path) as work:
                        make(work).rename(path)
                except OSError as error:
                    raise unwritable(error, path) from error
        return path

    def holds(self, artifact: Artifact) -> bool:
        """Whether the artifact is here and unchanged since it was verified; it is not re-hashed."""
        path = self.artifact(artifact)
        try:
            return _stamp_path(path).read_text() == _stamp(path, artifact.sha256)
        except FileNotFoundError:
            return False

    def seems_whole(self, artifact: Artifact) -> bool:
        """Whether a file of the artifact's size is here, verified or not."""
        path = self.artifact(artifact)
        return path.is_file() and path.stat().st_size == artifact.size

    def stamp(self, artifact: Artifact) -> None:
        """Record that the artifact's file was just seen to have its SHA-256."""
        path = self.artifact(artifact)
        _stamp_path(path).write_text(_stamp(path, artifact.sha256))

    def remove(self, artifact: Artifact) -> None:
        path = self.artifact(artifact)
        _stamp_path(path).unlink(missing_ok=True)
        path.unlink(missing_ok=True)


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it, also where it is read-only, as table states are."""
    for name, _, _ in os.walk(folder):
        with suppress(OSError):
            Path(name).chmod(0o755)
    shutil.rmtree(folder, ignore_errors=True)


def _stamp_path(path: Path) -> Path:
    return path.with_name(path.name + ".ok")


def _stamp(path: Path, sha256: str) -> str:
    seen = path.stat()
    return f"{seen.st_size} {seen.st_mtime_ns} {sha256}\n"


UNFINISHED: Final = "parts"
"""Folder of files that are being written; what is old in it was left by the dead."""


def sharded_path(folder: Path, name: str) -> Path:
    return folder / name[:2] / name


def write_sharded(folder: Path, name: str, content: bytes) -> None:
    path = sharded_path(folder, name)
    # A name of its own: several harnesses may write the same at the same time.
    part = folder / UNFINISHED / f"{uuid4().hex}{path.suffix}"
    for parent in (path.parent, part.parent):
        parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path, part):
        part.write_bytes(content)


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
