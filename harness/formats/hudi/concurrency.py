"""Two writers of a Hudi table at once: how they are kept apart, and where the second one waits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.model.truth import Truth
from harness.scenario.operations.begin_write import BeginWrite
from harness.scenario.operations.commit_write import CommitWrite
from harness.scenario.statements import (
    LOCATION,
    LOCK_FOLDER,
    ResumeWaiting,
    Statement,
    WaitingSql,
    of_table,
)

INDEX_TYPE: Final = "hoodie.index.type"
NON_BLOCKING: Final = "non_blocking"
_LOCK: Final = "hoodie.write.lock"
_MODE: Final = "hoodie.write.concurrency.mode"
_LOCKED: Final = {
    # What a writer left that is not completed may be another one's that still writes.
    "hoodie.cleaner.policy.failed.writes": "LAZY",
    # Its locks are files: it needs no other service.
    f"{_LOCK}.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
}
MODES: Final[Mapping[str, Mapping[str, str]]] = {
    "optimistic": {_MODE: "optimistic_concurrency_control", **_LOCKED},
    NON_BLOCKING: {
        _MODE: "non_blocking_concurrency_control",
        **_LOCKED,
        # Both find the same file group for a key without asking each other.
        INDEX_TYPE: "BUCKET",
        "hoodie.bucket.index.num.buckets": "1",
    },
}
"""What a session is told for each way (Hudi documentation, "Concurrency Control")."""
_WAITS: Final = {
    f"{_LOCK}.filesystem.path": LOCATION + LOCK_FOLDER,
    f"{_LOCK}.client.wait_time_ms_between_retry": "100",
    f"{_LOCK}.wait_time_ms_between_retry": "100",
}
"""The second writer has a lock of its own, for which it can be made to wait: it asks for it when
all its files are written, and looks into the file of whoever has it
(`FileSystemBasedLockProvider.tryLock`). The first writer does nothing when it goes on."""


def wording(
    operation: BeginWrite | CommitWrite, before: Truth, after: Truth
) -> tuple[Statement, ...]:
    """Return the merge of the second writer, or that it goes on."""
    if isinstance(operation, CommitWrite):
        return (ResumeWaiting(),)
    said = of_table(operation.sql(before, after))
    return tuple(WaitingSql(each.text, tuple(_WAITS.items())) for each in said)
