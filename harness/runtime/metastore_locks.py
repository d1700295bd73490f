"""Locks of tables in a metastore, as writers take them to commit.

Source: Hive documentation, "Hive Transactions", "Lock Manager"; `MetastoreLock` of Iceberg 1.10.1,
which asks for an exclusive lock of the table when all files of a commit are written.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from pymetastore.hive_metastore import ttypes

from harness.runtime.metastore_transactions import WHO


def lock(client: Any, database: str, name: str) -> None:  # noqa: ANN401 - Thrift's own class
    """Lock a table for everybody else."""
    kind, level = ttypes.LockType.EXCLUSIVE, ttypes.LockLevel.TABLE
    whole = ttypes.LockComponent(type=kind, level=level, dbname=database, tablename=name)
    client.lock(ttypes.LockRequest([whole], **WHO))


def waiting(client: Any, database: str, name: str) -> bool:  # noqa: ANN401
    """Return whether somebody waits for a lock of a table."""
    return any(e.state == ttypes.LockState.WAITING for e in _locks(client, database, name))


def unlock(client: Any, database: str, name: str) -> None:  # noqa: ANN401
    """Take away all locks of a table, those that somebody waits for as well."""
    for each in _locks(client, database, name):
        with suppress(ttypes.NoSuchLockException):  # it ended by itself
            client.unlock(ttypes.UnlockRequest(each.lockid))


def holders(client: Any, database: str, name: str) -> tuple[int, ...]:  # noqa: ANN401
    """Return the numbers of the transactions that have locks of a table, or wait for some."""
    found = {each.txnid for each in _locks(client, database, name)}
    return tuple(sorted(each for each in found if each))


def _locks(client: Any, database: str, name: str) -> list[Any]:  # noqa: ANN401
    asked = ttypes.ShowLocksRequest(dbname=database, tablename=name)
    return list(client.show_locks(asked).locks or ())
