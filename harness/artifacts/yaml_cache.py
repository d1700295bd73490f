"""What long YAML texts say, such as lock data: the cache has it, as they seldom change.

The quick start reads 57 KB of them, which takes a quarter of a second to parse.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from harness.artifacts import cache_mark
from harness.artifacts.cache import Cache
from harness.artifacts.result_cache import ResultCache
from harness.core import yaml_reader
from harness.core.errors import UsageProblem
from harness.core.problems import Problems
from harness.core.yaml_reader import Document, KeyPath


def parse(text: str, path: str) -> Document:
    """Return what `yaml_reader.parse` does, and raise what it does."""
    data, lines = _results().data("YAML", [text], partial(_parsed, text, path))
    return Document(data, {tuple(place): line for place, line in lines}, Problems(path))


def _parsed(text: str, path: str) -> tuple[Any, list[tuple[KeyPath, int]]]:
    found = yaml_reader.parse(text, path)
    return found.data, list(found.lines.items())


def _results() -> ResultCache:
    """Return what is kept; nothing where there is no cache yet, for this does not make one."""
    try:
        cache = Cache.default()
    except UsageProblem:  # told by what needs a cache
        return ResultCache(Path())
    return ResultCache.of(cache) if cache_mark.marked(cache) else ResultCache(Path())
