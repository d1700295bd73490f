from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pymetastore.hive_metastore import ttypes

from harness.runtime import metastore_client
from harness.runtime.metastore_objects import WriteIds

ABORTED_BITS = bytes([0b10])
"""Of the numbers that do not count, the second one is of a transaction that was aborted."""


class Simulated:
    """A metastore with one table: of its writes 1 to 4 the second is open, the third aborted."""

    def __init__(self) -> None:
        self.asked = ""
        self.ended: list[tuple[str, int]] = []

    def get_open_txns(self) -> SimpleNamespace:
        return SimpleNamespace(txn_high_water_mark=9, open_txns=[7, 8], abortedBits=ABORTED_BITS)

    def get_valid_write_ids(self, request: Any) -> SimpleNamespace:  # noqa: ANN401
        self.asked = request.validTxnList
        ids = {"invalidWriteIds": [2, 3], "abortedBits": ABORTED_BITS}
        return SimpleNamespace(tblValidWriteIds=[SimpleNamespace(writeIdHighWaterMark=4, **ids)])

    def open_txns(self, request: Any) -> SimpleNamespace:  # noqa: ANN401
        return SimpleNamespace(txn_ids=list(range(11, 11 + request.num_txns)))

    def allocate_table_write_ids(self, request: Any) -> SimpleNamespace:  # noqa: ANN401
        pairs = enumerate(request.txnIds, start=1)
        made = [SimpleNamespace(txnId=txn, writeId=number) for number, txn in pairs]
        return SimpleNamespace(txnToWriteIds=made)

    def commit_txn(self, request: Any) -> None:  # noqa: ANN401
        self.ended.append(("committed", request.txnid))

    def abort_txn(self, request: Any) -> None:  # noqa: ANN401
        self.ended.append(("aborted", request.txnid))


def test_open_and_aborted_writes_are_distinguished_by_their_bits() -> None:
    metastore = Simulated()
    ids = metastore_client.write_ids(metastore, "d", "t")
    assert ids == WriteIds(4, aborted=(3,), open=(2,))
    assert ids.committed == (1, 4)
    assert metastore.asked == "9:7:7:8", "as `ValidReadTxnList` writes it: open, then aborted"


def test_each_write_ends_as_it_did_and_an_open_one_does_not_end() -> None:
    metastore = Simulated()
    metastore_client.repeat_writes(metastore, "d", "t", WriteIds(4, aborted=(3,), open=(2,)))
    assert metastore.ended == [("committed", 11), ("aborted", 13), ("committed", 14)]


class SimulatedLocks:
    """A metastore: a transaction has two locks of the table, another waits, and one has none."""

    def show_locks(self, request: Any) -> SimpleNamespace:  # noqa: ANN401
        assert (request.dbname, request.tablename) == ("d", "t")
        states = ttypes.LockState.ACQUIRED, ttypes.LockState.ACQUIRED, ttypes.LockState.WAITING
        pairs = zip((9, 9, 4), states, strict=True)
        locks = [SimpleNamespace(lockid=1, txnid=number, state=state) for number, state in pairs]
        without = SimpleNamespace(lockid=2, txnid=0, state=ttypes.LockState.ACQUIRED)
        return SimpleNamespace(locks=[*locks, without])


def test_transactions_are_reported_once_and_a_lock_without_one_is_left_out() -> None:
    catalog = metastore_client.Catalog("thrift://x:1", SimulatedLocks())
    assert catalog.transactions("d", "t") == (4, 9)
    assert catalog.is_waited_for("d", "t")
