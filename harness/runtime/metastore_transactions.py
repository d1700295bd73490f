"""Which writes of a transactional table a metastore takes for committed: asked, and made the same.

A table's folder alone does not say it: what an aborted transaction wrote stays there until it is
cleaned away. The metastore numbers the writes of each table, and readers ask it which of them count
(Hive documentation, "Hive Transactions"; Hive 3.1.3, `ValidReaderWriteIdList`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from pymetastore.hive_metastore import ttypes

from harness.runtime.metastore_objects import WriteIds

NEVER: Final = 2**63 - 1
"""Stands for the oldest open transaction where there is none."""
WHO: Final = {"user": "harness", "hostname": "localhost"}


def is_transactional(table: Any) -> bool:  # noqa: ANN401 - Thrift's own class
    return str((table.parameters or {}).get("transactional", "")).lower() == "true"


def write_ids(client: Any, database: str, name: str) -> WriteIds:  # noqa: ANN401
    """Return which writes of a table are committed by now."""
    asked = ttypes.GetValidWriteIdsRequest([f"{database}.{name}"], _snapshot(client))
    (result,) = client.get_valid_write_ids(asked).tblValidWriteIds
    aborted = set(_flagged(result.invalidWriteIds, result.abortedBits))
    still = tuple(number for number in result.invalidWriteIds if number not in aborted)
    return WriteIds(result.writeIdHighWaterMark, tuple(sorted(aborted)), still)


def repeat(client: Any, database: str, name: str, wanted: WriteIds) -> None:  # noqa: ANN401
    """Give a new table the writes of another one: each in a transaction that ends as that did."""
    if not wanted.highest:
        return
    opened = client.open_txns(ttypes.OpenTxnRequest(wanted.highest, **WHO)).txn_ids
    asked = ttypes.AllocateTableWriteIdsRequest(database, name, txnIds=opened)
    for txntowriteid in client.allocate_table_write_ids(asked).txnToWriteIds:
        if txntowriteid.writeId in wanted.aborted:
            client.abort_txn(ttypes.AbortTxnRequest(txntowriteid.txnId))
        elif txntowriteid.writeId not in wanted.open:
            client.commit_txn(ttypes.CommitTxnRequest(txntowriteid.txnId))


def _snapshot(client: Any) -> str:  # noqa: ANN401
    """Return which transactions count now, as Hive writes it (`ValidReadTxnList`)."""
    now = client.get_open_txns()
    aborted = set(_flagged(now.open_txns, now.abortedBits))
    still = sorted(set(now.open_txns) - aborted)
    lists = (",".join(map(str, entry)) for entry in (still, sorted(aborted)))
    return f"{now.txn_high_water_mark}:{min(still, default=NEVER)}:{':'.join(lists)}"


def _flagged(ids: Sequence[int], bits: bytes) -> Iterator[int]:
    """Yield those ids whose bit is set; the least one of a byte comes first (Java's `BitSet`)."""
    for at, id_ in enumerate(ids):
        byte, bit = divmod(at, 8)
        if byte < len(bits) and bits[byte] >> bit & 1:
            yield id_


def lock(client: Any, database: str, name: str) -> None:  # noqa: ANN401 - Thrift's own class
    kind, level = ttypes.LockType.EXCLUSIVE, ttypes.LockLevel.TABLE
    whole = ttypes.LockComponent(type=kind, level=level, dbname=database, tablename=name)
    client.lock(ttypes.LockRequest([whole], **WHO))


def has_waiting_lock(client: Any, database: str, name: str) -> bool:  # noqa: ANN401
    return any(e.state == ttypes.LockState.WAITING for e in _locks(client, database, name))


def unlock(client: Any, database: str, name: str) -> None:  # noqa: ANN401
    for entry in _locks(client, database, name):
        with suppress(ttypes.NoSuchLockException):  # it ended by itself
            client.unlock(ttypes.UnlockRequest(entry.lockid))


def lock_holders(client: Any, database: str, name: str) -> tuple[int, ...]:  # noqa: ANN401
    """Return the numbers of the transactions that have locks of a table, or wait for some."""
    result = {entry.txnid for entry in _locks(client, database, name)}
    return tuple(sorted(entry for entry in result if entry))


def _locks(client: Any, database: str, name: str) -> list[Any]:  # noqa: ANN401
    asked = ttypes.ShowLocksRequest(dbname=database, tablename=name)
    return list(client.show_locks(asked).locks or ())
