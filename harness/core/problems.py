"""Collect everything that is wrong with a file, and say what is allowed instead."""

import difflib
import re
from collections.abc import Callable, Iterable
from typing import Final, NoReturn, TypeVar

from harness.core.errors import Fault, ScenarioProblem, UsageProblem

GUESSES: Final = 3

S = TypeVar("S")
T = TypeVar("T")


class Problems:
    """Collects what is wrong with one file, by line."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._noted: dict[tuple[int, str], None] = {}

    def __bool__(self) -> bool:
        return bool(self._noted)

    def add(self, line: int, text: str) -> None:
        """Note `what is wrong; what is allowed`, once."""
        self._noted[line, text] = None

    def stop(self, line: int, text: str) -> NoReturn:
        """Note it and raise, when nothing after it can be understood."""
        self.add(line, text)
        raise ScenarioProblem(self._faults())

    def raise_if_any(self) -> None:
        if self._noted:
            raise ScenarioProblem(self._faults())

    def _faults(self) -> tuple[Fault, ...]:
        return tuple(Fault(self.path, line, text) for line, text in sorted(self._noted))


def unknown_name(kind: str, name: str, known: tuple[str, ...], hint: str = "") -> UsageProblem:
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
    # People shorten names to one of their parts.
    near = [name for name in names if given.casefold() in re.split("[-_]", name.casefold())]
    if not 0 < len(near) <= GUESSES:
        near = difflib.get_close_matches(given, names, n=1)
    quoted = " or ".join(f"'{name}'" for name in near)
    guess = f"did you mean {quoted}? " if near else ""
    return f"{guess}allowed: {', '.join(names) or 'none'}"


def read_all(read: Callable[[S], T], sources: Iterable[S]) -> list[T]:
    """Read several files; raise once, with what is wrong with any of them."""
    results: list[T] = []
    faults: list[Fault] = []
    for source in sources:
        try:
            results.append(read(source))
        except ScenarioProblem as problem:
            faults.extend(problem.faults)
    if faults:
        raise ScenarioProblem(tuple(faults))
    return results
