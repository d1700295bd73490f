"""The errors that end the harness with a message for people, and the exit status of each.

There is a class for each kind that somebody catches, and no more: the text says what was given,
what is allowed and what to do next. The command line prints it and shows no traceback. What an
engine answers is never one of these: refusals and time-outs are data (``harness.core.records``).
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""The disk, the user's share of it, or the greatest file that this process may write."""
_OF_MACHINE: Final = _FULL | {
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM),
    *(errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG),
}
"""What is never a defect of the harness."""


MOST: Final = 100
"""So many faults are told at once."""
DEFECT: Final = "this is a defect of the harness; nothing is known of the engines"


class HarnessError(Exception):
    """The harness itself or what it needs broke; nothing is known about the engines."""

    exit_status = 3


class UsageProblem(HarnessError):
    """A command line, profile or setting is wrong."""

    exit_status = 2


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at a place in a file."""

    path: str
    """The file, or the name of what was made in Python; may be empty."""
    line: int
    """0 where there is no file."""
    text: str
    """`what is wrong; what is allowed`."""

    def __str__(self) -> str:
        place = ":".join(str(each) for each in (self.path, self.line) if each)
        return printable(f"{place}: {self.text}" if place else self.text)


@dataclass(eq=False)
class ScenarioProblem(UsageProblem):
    """A scenario, or a file of profiles, known findings or lock data, is wrong."""

    faults: tuple[Fault, ...]

    def __str__(self) -> str:
        told = [str(each) for each in self.faults[:MOST]]
        left = len(self.faults) - MOST
        return "\n".join([*told, *([f"… and {left} more"] if left > 0 else [])])


class EnvironmentProblem(HarnessError):
    """This machine lacks something: a download, a checksum that fits, memory, a port, a program."""


def of_machine(error: OSError) -> EnvironmentProblem | None:
    """Return the problem of this machine that a failure is; None when it may be a defect."""
    return unwritable(error) if _numbers(error) & _OF_MACHINE else None


def problem_of(error: Exception) -> HarnessError | None:
    """Return the problem for people that an error is; None when it is a defect of the harness."""
    if isinstance(error, HarnessError):
        return error
    if isinstance(error, FileNotFoundError) and not _somewhere():
        return UsageProblem("the current folder is gone; go to another one")
    return of_machine(error) if isinstance(error, OSError) else None


def _somewhere() -> bool:
    """Return whether the working folder is there, without which no relative path can be found."""
    try:
        os.getcwd()  # noqa: PTH109 - errors.py needs no paths
    except FileNotFoundError:
        return False
    return True


def told(error: OSError) -> str:
    """Return what failed in the file system, and at which file where that is known."""
    why = error.strerror or str(error)
    return f"{why} ({error.filename})" if error.filename else why


def unwritable(error: OSError, path: os.PathLike[str] | str = "") -> EnvironmentProblem:
    """Return the problem that a failure of the file system is, with what to do next."""
    where = str(path or error.filename or "a file")
    if _numbers(error) & _FULL:
        return disk_full(where)
    return EnvironmentProblem(f"cannot use {where}: {error.strerror or error}")


def disk_full(path: os.PathLike[str] | str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot write {path}: the disk is full; free some space, or let HARNESS_CACHE and "
        "--run-dir name other folders"
    )


@contextmanager
def naming(path: os.PathLike[str]) -> Iterator[None]:
    """Let a failure of the file system name a file: one of writing to it does not by itself."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or os.fspath(path)
        raise


def _numbers(error: OSError) -> set[int | None]:
    # Copying a folder tells of every file that failed, in text alone (shutil.Error).
    told = {int(number) for number in re.findall(r"\[Errno (\d+)\]", str(error))}
    return {error.errno, *told}


def printable(text: str) -> str:
    r"""Return a text with escapes for what ends a line or commands a terminal.

    Messages quote what files and engines hold.

    >>> printable("a\x1b[31m b")
    'a\\x1b[31m b'
    """
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
