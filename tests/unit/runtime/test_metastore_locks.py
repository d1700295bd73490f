"""Which transactions have locks of a table: asked of a metastore."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pymetastore.hive_metastore import ttypes

from harness.runtime import metastore_transactions


class Simulated:
    """A metastore: a transaction has two locks of the table, another waits, and one has none."""

    def show_locks(self, request: Any) -> SimpleNamespace:  # noqa: ANN401
        assert (request.dbname, request.tablename) == ("d", "t")
        states = ttypes.LockState.ACQUIRED, ttypes.LockState.ACQUIRED, ttypes.LockState.WAITING
        found = zip((9, 9, 4), states, strict=True)
        locks = [SimpleNamespace(lockid=1, txnid=number, state=state) for number, state in found]
        without = SimpleNamespace(lockid=2, txnid=0, state=ttypes.LockState.ACQUIRED)
        return SimpleNamespace(locks=[*locks, without])


def test_transactions_are_told_once_and_a_lock_without_one_is_left_out() -> None:
    assert metastore_transactions.lock_holders(Simulated(), "d", "t") == (4, 9)
    assert metastore_transactions.has_waiting_lock(Simulated(), "d", "t")
