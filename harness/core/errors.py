"""The errors that end the harness with a message for people, and the exit status of each.

What an engine answers is never one of these: refusals and time-outs are data
(``harness.core.records``).
"""

import errno
import os
import re
from dataclasses import dataclass
from typing import Final

from harness.core.texts import printable

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""The disk, the user's share of it, or the greatest file that this process may write."""
_NO_DEFECT: Final = _FULL | {
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM),
    *(errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG),
}


MOST: Final = 100
DEFECT: Final = "this is a defect of the harness; nothing is known of the engines"


class HarnessError(Exception):
    """The harness itself or what it needs broke; nothing is known about the engines."""

    exit_status = 3


class UsageProblem(HarnessError):
    """A command line, profile or setting is wrong."""

    exit_status = 2


@dataclass(frozen=True, slots=True)
class Fault:
    path: str
    """The file, or the name of what was made in Python; may be empty."""
    line: int
    """0 where there is no file."""
    text: str
    """`what is wrong; what is allowed`."""

    def __str__(self) -> str:
        position = ":".join(str(part) for part in (self.path, self.line) if part)
        return printable(f"{position}: {self.text}" if position else self.text)


@dataclass(eq=False)
class ScenarioProblem(UsageProblem):
    """A scenario, or a file of profiles, known findings or lock data, is wrong."""

    faults: tuple[Fault, ...]

    def __str__(self) -> str:
        lines = [str(fault) for fault in self.faults[:MOST]]
        left = len(self.faults) - MOST
        return "\n".join([*lines, *([f"… and {left} more"] if left > 0 else [])])


class EnvironmentProblem(HarnessError):
    """This machine lacks something: a download, a checksum that fits, memory, a port, a program."""


def machine_problem(error: OSError) -> EnvironmentProblem | None:
    return unwritable(error) if _numbers(error) & _NO_DEFECT else None


def problem_of(error: Exception) -> HarnessError | None:
    """Return an error as a problem for people; None: it is a defect of the harness."""
    if isinstance(error, HarnessError):
        return error
    if isinstance(error, FileNotFoundError) and not _folder_exists():
        return UsageProblem("the current folder is gone; go to another one")
    return machine_problem(error) if isinstance(error, OSError) else None


def _folder_exists() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - errors.py needs no paths
    except FileNotFoundError:
        return False
    return True


def describe(error: OSError) -> str:
    """Return what failed in the file system, and the file where that is known."""
    reason = error.strerror or str(error)
    return f"{reason} ({error.filename})" if error.filename else reason


def unwritable(error: OSError, path: os.PathLike[str] | str = "") -> EnvironmentProblem:
    """Return a failure of the file system as a problem, with what to do next."""
    name = str(path or error.filename or "a file")
    if _numbers(error) & _FULL:
        return disk_full(name)
    return EnvironmentProblem(f"cannot use {name}: {error.strerror or error}")


def disk_full(path: os.PathLike[str] | str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot write {path}: the disk is full; free some space, or let HARNESS_CACHE and "
        "--run-dir name other folders"
    )


def _numbers(error: OSError) -> set[int | None]:
    # Copying a folder lists every file that failed, in text alone (shutil.Error).
    numbers = {int(number) for number in re.findall(r"\[Errno (\d+)\]", str(error))}
    return {error.errno, *numbers}
