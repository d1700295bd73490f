"""What is done to Hive's Streaming Mutation API, and what its documentation says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

RowIds = Mapping[str, list[int]]
"""The `ROW__ID` of the rows that are there, by key."""
Act = Mapping[str, Any]
KEYS: Final = "132456"
"""The rows of every table, in two buckets: 1 and 3 in one, the others in the other one."""
TIMEOUT: Final = "40s"
"""After so long without a heartbeat the metastore takes a transaction for dead."""


@dataclass(frozen=True, slots=True)
class MutationCase:
    """One batch."""

    says: str
    """The documentation."""
    does: str
    acts: Callable[[RowIds], Sequence[Act]]
    request: Mapping[str, Any] = field(default_factory=dict)
    """What the program is told besides."""
    partitioned: bool = False
    then: str = ""
    """A statement after it, `{table}` in it; what is shown is asked for again then."""


def row(do: str, key: str, ids: RowIds, of: str = "", **more: object) -> Act:
    """Return a mutation that gives a row the value `B`, or `C`; `of`: the key of the row meant."""
    found = {} if do == "insert" else {"id": ids[of or key]}
    value = "C" if do == "update by another" else "B"
    return {"do": do, "partition": [], "row": {"id": key, "f": value}, **found, **more}


def updates(*keys: str) -> Callable[[RowIds], Sequence[Act]]:
    """Return updates in this order."""
    return lambda ids: [row("update", key, ids) for key in keys]


def after_update(*then: str) -> Callable[[RowIds], Sequence[Act]]:
    """Return an update, and what happens before the commit."""
    return lambda ids: [row("update", "2", ids), *({"do": each} for each in then)]


ORDER: Final = "the coordinator verifies the order by (transaction, row id) and throws otherwise"
MOVED: Final = "a row cannot be moved between buckets, an attempt throws"
SPOILT: Final = "should not be updated; the API does not prevent it, and data may be corrupted"
COORDINATORS: Final = "a set of coordinators applies mutations within one transaction"
LOCK: Final = "a listener is told when the lock or the transaction fails"

CASES: Final = (
    MutationCase(
        "updates, inserts and deletes are applied in one transaction",
        "update 1, insert 7, update 2, delete 4",
        lambda ids: [
            *(row("update", "1", ids), row("insert", "7", ids)),
            *(row("update", "2", ids), row("delete", "4", ids)),
        ],
    ),
    MutationCase(ORDER, "update 2, 5, 4: the third goes back", updates("2", "5", "4")),
    MutationCase(ORDER, "update 4, 2: the second goes back", updates("4", "2")),
    MutationCase(
        "records should be grouped by partition and bucket, a validator throws otherwise",
        "update 2, then 1 in the other bucket, then 4 in the first one",
        updates("2", "1", "4"),
    ),
    MutationCase(
        MOVED,
        "give row 2 the key 1, which belongs in the other bucket",
        lambda ids: [row("update", "1", ids, of="2")],
    ),
    MutationCase(
        f"bucket columns {SPOILT}",
        "give row 1 the key 7, which belongs in the same bucket",
        lambda ids: [row("update", "7", ids, of="1")],
    ),
    MutationCase(
        "of a delete everything but the identifier is ignored",
        "delete row 2 by a record with the key 1",
        lambda ids: [row("delete", "1", ids, of="2")],
    ),
    MutationCase(
        f"partition columns {SPOILT}",
        "insert 7 into a new partition b, and update row 1 of partition a as one of b",
        lambda ids: [
            row("insert", "7", ids, partition=["b"]),
            row("update", "1", ids, partition=["b"]),
        ],
        partitioned=True,
    ),
    MutationCase(
        "partitions are created on the way",
        "insert 7 and 2 into a new partition c, each by a coordinator of its own",
        lambda ids: [row("insert", k, ids, partition=["c"], by=n) for n, k in enumerate("72")],
        {"coordinators": 2},
        partitioned=True,
    ),
    MutationCase(
        "without that the coordinator makes up the path, and the partition is to be added later",
        "insert 7 into partition c; then `add partition`",
        lambda ids: [row("insert", "7", ids, partition=["c"])],
        {"creates": False},
        partitioned=True,
        then="alter table {table} add partition (p = 'c')",
    ),
    MutationCase(
        COORDINATORS,
        "two coordinators: update 1, and 2 in the other bucket",
        lambda ids: [row("update", key, ids, by=n) for n, key in enumerate("12")],
        {"coordinators": 2},
    ),
    MutationCase(
        COORDINATORS,
        "two coordinators: update 2, and 4 in the same bucket",
        lambda ids: [row("update", key, ids, by=n) for n, key in enumerate("24")],
        {"coordinators": 2},
    ),
    MutationCase(
        "the lock is held until the end",
        "update 2; before the commit another client begins, updates 2 as well, and commits",
        lambda ids: [row("update", "2", ids), row("update by another", "2", ids)],
    ),
    MutationCase(
        LOCK,
        "update 2; the transaction is aborted from outside; commit once the listener was told",
        after_update("abort from outside", "wait for the loss"),
        {"timeout": "4s"},
    ),
    MutationCase(
        "heartbeats keep the transaction from timing out",
        f"update 2; no heartbeat within the {TIMEOUT} of the metastore; commit once it aborted",
        after_update("wait for the end"),
    ),
)
EACH: Final = "by the Streaming API each write has a transaction of its own"
LINES: Final = "by the Streaming API three lines in one batch of transactions, the second aborted"
STREAMED: Final = (("7,S", "commit"), ("8,S", "abort"), ("9,S", "commit"))
"""Lines of the Streaming API, and how the transaction of each ends."""
