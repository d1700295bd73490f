"""What follows from records and files alone, kept from run to run; nothing that an engine says.

A result is found again by all that decides it: what it is made from, every file of the harness, and
the versions of Python and of all packages. Where a package adds to the harness nothing is kept: its
code may change under one version.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, TypeVar

from harness.artifacts.cache import Cache, sharded_path, write_sharded
from harness.core import jsonl, registry, yaml_reader
from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.jsonl import Record
from harness.core.problems import Problems
from harness.core.yaml_reader import Document, KeyPath, T

Plain = TypeVar("Plain")

FOLDER: Final = "results"
HARNESS: Final = Path(__file__).parents[1]
INSTALLED: Final = (".dist-info", ".egg-info")
"""How the names end that say which version of a package is installed."""


@dataclass(frozen=True, slots=True)
class ResultCache:
    """The results that runs have worked out, one file each."""

    folder: Path
    code: str = ""
    """The digest of the code that makes them; empty: nothing is kept."""

    @classmethod
    def in_cache(cls, cache: Cache) -> ResultCache:
        return cls(cache.root / FOLDER, "" if registry.added() else harness_digest())

    def records(
        self,
        kind: type[Record],
        made_from: Iterable[str],
        make: Callable[[], Iterable[Record]],
        lasts: Callable[[Record], bool],
    ) -> tuple[Record, ...]:
        """Return what `make` returns, or has returned; kept where `lasts` holds for each record."""
        if not self.code:
            return tuple(make())
        name = self._name(kind.__name__, made_from)
        if (cached := self._find(name)) is not None:
            return tuple(jsonl.parse(kind, line) for line in cached.splitlines(keepends=True))
        made = tuple(make())
        if all(map(lasts, made)):
            self._keep(name, "".join(f"{jsonl.dump(record)}\n" for record in made))
        return made

    def data(self, what: str, made_from: Iterable[str], make: Callable[[], Plain]) -> Plain:
        """Return the plain data that `make` returns, or has returned before, as JSON has them."""
        if not self.code:
            return make()
        name = self._name(what, made_from)
        if (cached := self._find(name)) is not None:
            result: Plain = json.loads(cached)
            return result
        made = make()
        self._keep(name, json.dumps(made, separators=(",", ":")))
        return made

    def _name(self, what: str, made_from: Iterable[str]) -> str:
        key = json.dumps([self.code, what, list(made_from)])
        return f"{hashlib.sha256(key.encode()).hexdigest()}.jsonl"

    def _keep(self, name: str, text: str) -> None:
        content = text.encode()
        with suppress(OSError, EnvironmentProblem):  # what cannot be kept is worked out again
            write_sharded(self.folder, name, _sum(content) + content)

    def _find(self, name: str) -> bytes | None:
        """Read what is kept; None where nothing is, or not all: the machine may have gone down."""
        try:
            head, _, content = sharded_path(self.folder, name).read_bytes().partition(b"\n")
        except OSError:
            return None
        return content if head + b"\n" == _sum(content) else None


def _sum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode() + b"\n"


@cache
def harness_digest(root: Path = HARNESS) -> str:
    """Return the SHA-256 of all code that may take part; empty: not all can be read."""
    try:
        installed = [
            path.name
            for folder in filter(Path.is_dir, map(Path, sys.path))
            for path in folder.iterdir()
            if path.name.endswith(INSTALLED)
        ]
        digest = hashlib.sha256(f"{sys.version}\n{sorted(installed)}\n".encode())
        for name in _files(str(root)):
            content = Path(root, name).read_bytes()
            digest.update(f"{name}\n{len(content)}\n".encode() + content)
    except OSError:
        return ""
    return digest.hexdigest()


def _files(folder: str, below: str = "") -> Iterator[str]:
    with os.scandir(folder) as result:
        entries = sorted(result, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_file():
            yield below + entry.name
        elif entry.is_dir() and entry.name != "__pycache__":
            yield from _files(entry.path, f"{below}{entry.name}/")


def parse_yaml(text: str, path: str) -> Document:
    """Return what `yaml_reader.parse` does, kept: that takes 0.25 s for a quick start."""
    data, lines = _results().data("YAML", [text], partial(_parsed, text, path))
    return Document(data, {tuple(position): line for position, line in lines}, Problems(path))


def load_yaml(kind: type[T], text: str, path: str, what: str) -> T:
    """Return what `yaml_reader.load_yaml` does, of data that are kept."""
    document = parse_yaml(text, path)
    return yaml_reader.made(kind, document.data, document, what)


def _parsed(text: str, path: str) -> tuple[Any, list[tuple[KeyPath, int]]]:
    result = yaml_reader.parse(text, path)
    return result.data, list(result.lines.items())


def _results() -> ResultCache:
    try:
        cache = Cache.default()
    except UsageProblem:  # told by what needs a cache
        return ResultCache(Path())
    return ResultCache.in_cache(cache) if cache.is_marked() else ResultCache(Path())
