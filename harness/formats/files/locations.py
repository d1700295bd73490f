"""Where files lie that a table's records name by paths of where they once lay. Pure."""

import re
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

        One tool may name a file by its store and another without it.

        >>> Locations({"/t": "/copy"}).of("hdfs://a/t/f")
        '/copy/f'
        """
        for name in (path, bare(path)) if self.moved else ():
            for begin in sorted(self.moved, key=len, reverse=True):
                folder = begin.rstrip("/")
                if name == folder or name.startswith(f"{folder}/"):
                    return f"{self.moved[begin].rstrip('/')}{name[len(folder) :]}"
        return path


def bare(path: str) -> str:
    """Return a path without the scheme and the host."""
    return re.sub(r"^\w[\w+.-]*:(//[^/]*)?(?=/)", "", path)
