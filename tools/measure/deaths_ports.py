"""Which sockets listen on this machine, and which of them a process holds.

A port's number alone does not tell whose it is: what one run has let go, another may take at once.
The kernel gives every socket a number of its own (inode), so one that another run opened at the
same port is another. Source: proc_pid_fd(5); the kernel's `networking/proc_net_tcp`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LISTENS: Final = "0A"
"""The state of a socket that listens, in these tables."""


@dataclass(frozen=True, slots=True)
class Port:
    """A socket that listens."""

    number: int
    """The TCP port."""
    inode: int
    """The socket's own number: no other one has it as long as the machine runs."""


def listening() -> set[Port]:
    """Return all there are now, whoever holds them."""
    return {port for table in TABLES if table.exists() for port in parsed(table.read_text("ascii"))}


def parsed(table: str) -> Iterator[Port]:
    """Yield those of a table of the kernel's, below its head. Pure."""
    for line in table.splitlines()[1:]:
        _, local, _, state, _, _, _, _, _, inode, *_ = line.split()
        if state == LISTENS:
            yield Port(int(local.rpartition(":")[2], 16), int(inode))


def held_by(processes: Iterable[psutil.Process]) -> set[Port]:
    """Return those that one of these processes holds; of one that is gone there are none."""
    held = {name for each in processes for name in _sockets(each.pid)}
    return {port for port in listening() if f"socket:[{port.inode}]" in held}


def _sockets(pid: int) -> Iterator[str]:
    with suppress(OSError):
        for each in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):  # closed meanwhile
                yield str(each.readlink())
