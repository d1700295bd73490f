"""Two writers of a Hudi table at once: how they are kept apart, and where the second one waits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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
