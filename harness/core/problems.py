"""Everything that is wrong with a file, told at once."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from typing import Final, NoReturn, TypeVar

from harness.core.errors import Fault, ScenarioProblem, UsageProblem

GUESSES: Final = 3
"""So many names at most may have been meant."""

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

        Raises ScenarioProblem: always.
        """
        self.add(line, text)
        raise ScenarioProblem(self._faults())

    def raise_if_any(self) -> None:
        """Raise when something was noted.

        Raises ScenarioProblem: every problem, in the order of the file.
        """
        if self._found:
            raise ScenarioProblem(self._faults())

    def _faults(self) -> tuple[Fault, ...]:
        return tuple(Fault(self.path, line, text) for line, text in sorted(self._found))


def unknown_name(kind: str, name: str, known: tuple[str, ...], hint: str = "") -> UsageProblem:
    """Return the problem that there is no `kind` of a name; `hint`: where else one could be."""
    """Return the problem that there is no `kind` of a name; `hint`: where else one could be."""
    beside = f"; {hint}" if hint else ""
    return UsageProblem(f"unknown {kind} '{name}'; {one_of(name, known)}{beside}")


def one_of(given: str, allowed: Iterable[str]) -> str:
    """Return what is allowed instead of a name, the nearest first when one is near.

    >>> one_of("rename_colum", ["add_column", "rename_column"])
    "did you mean 'rename_column'? allowed: add_column, rename_column"
    >>> one_of("mor", ["hudi-cow", "hudi-mor"])
    "did you mean 'hudi-mor'? allowed: hudi-cow, hudi-mor"
    """
    names = list(allowed)
    near = _with_part(given, names) or difflib.get_close_matches(given, names, n=1)
    meant = " or ".join(f"'{each}'" for each in near)
    guess = f"did you mean {meant}? " if near else ""
    return f"{guess}allowed: {', '.join(names) or 'none'}"


def _with_part(given: str, names: Iterable[str]) -> list[str]:
    """Return the names of which a name is one of the parts, as people shorten them; few or none."""
    found = [name for name in names if given.casefold() in re.split("[-_]", name.casefold())]
    return found if len(found) <= GUESSES else []


def gathered(read: Callable[[S], T], sources: Iterable[S]) -> list[T]:
    """Read several files; what is wrong with all of them is told at once.

    Raises ScenarioProblem: what is wrong with all files that cannot be read.
    """
    made: list[T] = []
    wrong: list[Fault] = []
    for source in sources:
        try:
            made.append(read(source))
        except ScenarioProblem as problem:
            wrong.extend(problem.faults)
    if wrong:
        raise ScenarioProblem(tuple(wrong))
    return made
