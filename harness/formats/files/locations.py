"""Where files lie that a table's records name by paths of where they once lay. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Locations:
    """Of a table that is where its records say, nothing is moved."""

    moved: Mapping[str, str] = field(default_factory=dict)
    """Where a folder lies now, by how the records begin that name it or what is in it; of several
    that fit the longest counts."""

    def of(self, path: str) -> str:
        """Return where a recorded path lies.

        >>> Locations({"hdfs://a/t": "/copy", "/t": "/copy"}).of("hdfs://a/t/data/f")
        '/copy/data/f'
        >>> Locations({"/t": "/copy"}).of("/tt/f")
        '/tt/f'
        """
        for begin in sorted(self.moved, key=len, reverse=True):
            folder = begin.rstrip("/")
            if path == folder or path.startswith(f"{folder}/"):
                return f"{self.moved[begin].rstrip('/')}{path[len(folder) :]}"
        return path
