"""Everything that is wrong with a file, told at once."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Final, NoReturn, TypeVar

from harness.core.errors import ScenarioProblem, printable

MOST: Final = 100
"""So many problems of a file are told."""

S = TypeVar("S")
T = TypeVar("T")


class Problems:
    """Collects what is wrong with one file, by line."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._found: dict[tuple[int, str], None] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, line: int, text: str) -> None:
        """Note `what is wrong; what is allowed`, once."""
        self._found[line, text] = None

    def stop(self, line: int, text: str) -> NoReturn:
        """Note it and raise, when nothing after it can be understood.

        Raises:
            ScenarioProblem: always.

        """
        self.add(line, text)
        raise ScenarioProblem(self.text())

    def raise_if_any(self) -> None:
        """Raise when something was noted.

        Raises:
            ScenarioProblem: one line for each problem, in the order of the file.

        """
        if self._found:
            raise ScenarioProblem(self.text())

    def text(self) -> str:
        """Return one line for each problem: `file:line: what is wrong; what is allowed`."""
        found = sorted(self._found)
        told = [printable(f"{self.path}:{line}: {text}") for line, text in found]
        left = len(told) - MOST
        return "\n".join([*told[:MOST], *([f"… and {left} more"] if left > 0 else [])])


def one_of(given: str, allowed: Iterable[str]) -> str:
    """Return what is allowed instead of a name, the nearest first when one is near.

    >>> one_of("rename_colum", ["add_column", "rename_column"])
    "did you mean 'rename_column'? allowed: add_column, rename_column"
    """
    names = list(allowed)
    near = difflib.get_close_matches(given, names, n=1)
    guess = f"did you mean '{near[0]}'? " if near else ""
    return f"{guess}allowed: {', '.join(names) or 'none'}"


def gathered(read: Callable[[S], T], sources: Iterable[S]) -> list[T]:
    """Read several files; what is wrong with all of them is told at once.

    Raises:
        ScenarioProblem: the messages of all files that cannot be read.

    """
    made, wrong = [], []
    for source in sources:
        try:
            made.append(read(source))
        except ScenarioProblem as problem:
            wrong.append(str(problem))
    if wrong:
        raise ScenarioProblem("\n".join(wrong))
    return made
