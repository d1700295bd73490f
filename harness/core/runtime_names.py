"""How the name of a distribution says by which runtime its servers are run: `trino-476@container`.

A container and a process of one version are expected to answer alike: what is known of one of them
is known of the other.
"""

from __future__ import annotations

from typing import Final

PROCESS: Final = "process"
CONTAINER: Final = "container"
RUNTIMES: Final = (PROCESS, CONTAINER)
AT: Final = "@"
"""Stands between the name of the lock data and the runtime; absent where it is a process."""


def lock_name(name: str) -> str:
    """Return the name of a distribution's lock data, however its servers are run.

    >>> lock_name("trino-476@container")
    'trino-476'
    """
    return name.partition(AT)[0]


def in_runtime(name: str, runtime: str) -> str:
    """Return the name of a distribution whose servers are run so.

    >>> in_runtime("trino-476", "container"), in_runtime("trino-476@container", "process")
    ('trino-476@container', 'trino-476')
    """
    return lock_name(name) if runtime == PROCESS else f"{lock_name(name)}{AT}{runtime}"


def with_default(name: str, runtime: str) -> str:
    """Return the name of a distribution whose servers are run so unless the name says otherwise.

    >>> with_default("trino-476", "container"), with_default("trino-476@process", "container")
    ('trino-476@container', 'trino-476')
    """
    return in_runtime(name, given(name) or runtime)


def given(name: str) -> str:
    """Return the runtime that stands in a name; empty where none does.

    >>> given("trino-476@container"), given("trino-476")
    ('container', '')
    """
    return name.partition(AT)[2]
