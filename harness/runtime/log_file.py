"""What a process has written into its log: the end of it, or all since then."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_TAIL_BYTES: Final = 64 * 1024
_CAUSE: Final = "Caused by: "
_CAUSES: Final = 5


def tail(path: Path, lines: int) -> str:
    """Return the last lines of a text file, at most 64 KiB; empty when there is no such file."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def excerpt(text: str, lines: int) -> str:
    r"""Return the last lines of a log, and before them the last causes that stand above these.

    Guice, by which Trino puts itself together, ends with lists of class names, the causes above.

    >>> excerpt("Caused by: x: y, at a, Caused by: x: y, at b, end".replace(", ", chr(10)), 1)
    'Caused by: x: y\n…\nend'
    """
    result = text.splitlines()
    above = (line for line in result[:-lines] if line.startswith(_CAUSE))
    causes = list(dict.fromkeys(above))[-_CAUSES:]
    return "\n".join([*causes, *(["…"] if causes else []), *result[-lines:]])


def size(path: Path) -> int:
    """Return the length of a file in bytes; 0 when there is no such file."""
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0


def since(path: Path, start: int) -> str:
    """Return all of a text file from `start` bytes on; empty when there is no such file."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        file.seek(start)
        return file.read().decode("utf-8", errors="replace")
    return ""
