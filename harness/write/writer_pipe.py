"""Named pipes that a writer opens before its commit: it waits until somebody opens them too."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

LOOK_S: Final = 0.1
"""So often it is looked whether a writer waits."""


def make(pipe: Path) -> Path:
    """Make a pipe, and take one away that is there; return it."""
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    return pipe


def open_to(reader_of: Path) -> int | None:
    """Return the open pipe if somebody waits to read it, who then goes on; None where nobody does.

    Who reads from it then waits for the end, which comes when it is closed.
    """
    with suppress(OSError):  # nobody has it open
        return os.open(reader_of, os.O_WRONLY | os.O_NONBLOCK)
    return None


def let_through(pipe: Path) -> bool:
    """Let somebody go on who waits to read a pipe; return whether there was somebody."""
    opened = open_to(pipe)
    if opened is not None:
        os.close(opened)
    return opened is not None


def take_away(pipe: Path) -> None:
    """Take a pipe away, and let somebody go on who waits to read it.

    Raises:
        FileNotFoundError: there is none.

    """
    both = os.open(pipe, os.O_RDWR)  # of both ends: it waits for nobody, and who waits goes on
    pipe.unlink()
    os.close(both)
