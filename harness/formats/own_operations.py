"""Operations that not every family of formats has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from harness.scenario.operations import name_of
from harness.scenario.operations.abort_transactions import AbortTransactions
from harness.scenario.operations.add_column import AddColumn
from harness.scenario.operations.add_files import AddFiles
from harness.scenario.operations.add_partition_field import AddPartitionField
from harness.scenario.operations.api import Operation
from harness.scenario.operations.archive import Archive
from harness.scenario.operations.begin_write import BeginWrite
from harness.scenario.operations.change_partition_column import ChangePartitionColumn
from harness.scenario.operations.cluster import Cluster
from harness.scenario.operations.commit_write import CommitWrite
from harness.scenario.operations.create_tag import CreateTag
from harness.scenario.operations.delete_partition import DeletePartition
from harness.scenario.operations.drop_partition_field import DropPartitionField
from harness.scenario.operations.failed_write import FailedWrite
from harness.scenario.operations.killed_write import KilledWrite
from harness.scenario.operations.late_delete import LateDelete
from harness.scenario.operations.late_upsert import LateUpsert
from harness.scenario.operations.move_row import MoveRow
from harness.scenario.operations.mutate import Mutate
from harness.scenario.operations.replace_partition_field import ReplacePartitionField
from harness.scenario.operations.restore import Restore
from harness.scenario.operations.rewrite_manifests import RewriteManifests
from harness.scenario.operations.rewrite_position_deletes import RewritePositionDeletes
from harness.scenario.operations.rollback import Rollback
from harness.scenario.operations.rollback_to_snapshot import RollbackToSnapshot
from harness.scenario.operations.savepoint import Savepoint
from harness.scenario.operations.sync import Sync
from harness.scenario.operations.write_frame import WriteFrame
from harness.scenario.operations.write_with_metadata import WriteWithMetadata

HIVE: Final = "Hive"
HUDI: Final = "Hudi"
ICEBERG: Final = "Iceberg"
DELTA: Final = "Delta"
HIVE_ACID: Final = "Hive ACID"
OWNERS: Final[Mapping[type[Operation], tuple[str, ...]]] = {
    **dict.fromkeys((Archive, WriteWithMetadata), (HUDI,)),
    **dict.fromkeys((Sync, DeletePartition, WriteFrame, MoveRow), (HUDI,)),
    **dict.fromkeys((LateUpsert, LateDelete, Rollback), (HUDI,)),
    **dict.fromkeys((ChangePartitionColumn, Savepoint, Restore), (HUDI, DELTA)),
    **dict.fromkeys((BeginWrite, CommitWrite), (HUDI, ICEBERG)),
    KilledWrite: (HUDI, ICEBERG, DELTA, HIVE_ACID),
    Cluster: (HUDI, DELTA),
    FailedWrite: (HUDI, HIVE_ACID),
    **dict.fromkeys((Mutate, AbortTransactions), (HIVE_ACID,)),
    **dict.fromkeys((AddPartitionField, DropPartitionField, ReplacePartitionField), (ICEBERG,)),
    **dict.fromkeys((RewriteManifests, RewritePositionDeletes), (ICEBERG,)),
    **dict.fromkeys((AddFiles, RollbackToSnapshot, CreateTag), (ICEBERG,)),
}
"""Which families have an operation; all have one that is not named."""
REASONS: Final[Mapping[type[Operation], str]] = {
    Sync: "has its columns from no metastore, so there is none to sync",
    DeletePartition: "has no partitions to drop; a delete says which rows go",
    WriteFrame: "tables are written by SQL alone, and a DataFrame's are Hudi's",
    MoveRow: "has no index that could find a row in one partition alone",
    **dict.fromkeys(
        (LateUpsert, LateDelete), "orders no versions of a row: the last write stands, late or not"
    ),
}
"""Why the others do not have some of them."""


def of_another(operation: Operation, family: str) -> str:
    """Return that an operation is of other families alone; empty where it is not."""
    if isinstance(operation, AddColumn) and operation.default is not None and family != ICEBERG:
        return f"has no default values of columns, which are {ICEBERG}'s alone"
    owners = OWNERS.get(type(operation), (family,))
    if family in owners:
        return ""
    return REASONS.get(type(operation)) or _owned(operation, owners)


def _owned(operation: Operation, owners: Sequence[str]) -> str:
    several = f"{', '.join(owners[:-1])} and {owners[-1]} alone have"
    alone = several if len(owners) > 1 else f"is {owners[0]}'s alone"
    return f"has no {name_of(operation)}, which {alone}"
