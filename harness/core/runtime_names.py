"""How the name of a distribution says how its servers are run, and where they find tables.

`trino-476@container` runs in a container; `trino-476@s3` reads tables of an object store. What is
known of one of a version is known of the others. The readers of a run ask through one metastore.
"""

from dataclasses import dataclass
from typing import Final

PROCESS: Final = "process"
CONTAINER: Final = "container"
RUNTIMES: Final = (PROCESS, CONTAINER)
ENDPOINT: Final = "endpoint"
"""Of a server that runs already, which a platform file names."""
S3: Final = "s3"
WRITTEN_BUCKET: Final = "tables"
"""The bucket of the tables that are being written, each under the name of its database."""
DEFAULT_DATABASE: Final = "default"
"""The metastore's own, in which tables of an object store are registered."""
WAREHOUSES: Final = (S3,)
OFFLINE: Final = "HARNESS_OFFLINE"
"""The variable by which nothing is downloaded."""
AT: Final = "@"
"""Stands between the name of the lock data and what is said of the servers; absent where it is a
process that reads from the disk."""


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


def on_disk(name: str) -> str:
    """Return the name of a distribution whose tables are on the disk, run as the name says.

    >>> on_disk("trino-476@s3"), on_disk("trino-476@container")
    ('trino-476', 'trino-476@container')
    """
    return name.removesuffix(f"{AT}{S3}")


def given(name: str) -> str:
    """Return the runtime, or the warehouse, that stands in a name; empty where none does.

    >>> given("trino-476@container"), given("trino-476")
    ('container', '')
    """
    return name.partition(AT)[2]


METASTORE: Final = "hive-metastore-3.1.3"
"""The metastore that every engine was seen to read through; tables are written on it, too,
unless a writer is too new for it."""
OLDEST_METASTORE: Final = "metastore"
"""The setting of an engine that names the oldest metastore through which it can ask."""


@dataclass(frozen=True, slots=True)
class MetastoreChoice:
    """A metastore, and which one made its database."""

    distribution: str = METASTORE
    upgraded_from: str = ""
    """The older one with which the tables were registered; empty where it made its own database."""

    @property
    def usual(self) -> bool:
        return self == USUAL_METASTORE

    @property
    def distributions(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.upgraded_from, self.distribution)))

    def __str__(self) -> str:
        older = f", upgraded from {self.upgraded_from}" if self.upgraded_from else ""
        return f"{self.distribution}{older}"


USUAL_METASTORE: Final = MetastoreChoice()
