"""How a Hudi table is told which of two versions of a row stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.model.table import MergeMode, Table

_MODES: Final = {
    MergeMode.EVENT_TIME: ("EVENT_TIME_ORDERING", "DefaultHoodieRecordPayload"),
    MergeMode.COMMIT_TIME: ("COMMIT_TIME_ORDERING", "OverwriteWithLatestAvroPayload"),
    MergeMode.PARTIAL_UPDATE: ("", "PartialUpdateAvroPayload"),
}
"""What a merge mode is called, and the payload class that has it. Hudi 1.0 and later go by the
mode, and infer it from the class (`HoodieTableConfig.inferCorrectMergingBehavior`); 0.15.0 knows
the class alone (Hudi documentation 0.15.0, "Record Payload"). Partial updates have no mode of their
own, so the class alone declares them."""


def properties(table: Table) -> Iterator[tuple[str, str]]:
    """Yield the properties by which a table declares its merge mode; none where it does not."""
    if table.merge_mode is not None:
        mode, payload = _MODES[table.merge_mode]
        if mode:
            yield "hoodie.record.merge.mode", mode
        yield "hoodie.datasource.write.payload.class", f"org.apache.hudi.common.model.{payload}"
