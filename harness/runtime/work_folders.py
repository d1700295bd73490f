"""Which folders tables may be written in, and a new folder for each process or table."""

import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from harness.core.errors import UsageProblem

_ODD: Final = re.compile(r"[^A-Za-z0-9/._+@=~-]")


def check(folder: Path, how: str) -> None:
    """Raise UsageProblem unless engines take a folder's path as it is; `how` chooses it.

    Hudi 0.15.0 on Spark 3.5.8 writes a table whose path holds a blank to another folder, whose name
    holds `%2520`, and says that all is well.
    """
    path = str(folder.absolute())
    if match := _ODD.search(path):
        raise UsageProblem(
            f"{path!r} holds {match.group()!r}, which engines write otherwise in addresses, and "
            f"tables would go astray; let {how} name a folder of letters, digits and / . _ - + @ ="
        )


def numbered(parent: Path, name: str, numbers: Iterable[int] | None = None) -> Path:
    """Make the first folder `name-number` that is not there; several threads may do so at once."""
    for number in count() if numbers is None else numbers:
        with suppress(FileExistsError):
            folder = parent / f"{name}-{number}"
            folder.mkdir(parents=True)
            return folder
    raise AssertionError("there is always another number")
