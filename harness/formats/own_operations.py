"""Operations that not every family of formats has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.scenario.operations import name_of
from harness.scenario.operations.add_column import AddColumn
from harness.scenario.operations.add_files import AddFiles
from harness.scenario.operations.add_partition_field import AddPartitionField
from harness.scenario.operations.api import Operation
from harness.scenario.operations.archive import Archive
from harness.scenario.operations.begin_write import BeginWrite
from harness.scenario.operations.change_partition_column import ChangePartitionColumn
from harness.scenario.operations.cluster import Cluster
from harness.scenario.operations.commit_write import CommitWrite
from harness.scenario.operations.drop_partition_field import DropPartitionField
from harness.scenario.operations.replace_partition_field import ReplacePartitionField
from harness.scenario.operations.rewrite_manifests import RewriteManifests
from harness.scenario.operations.rewrite_position_deletes import RewritePositionDeletes
from harness.scenario.operations.rollback_to_snapshot import RollbackToSnapshot
from harness.scenario.operations.write_with_metadata import WriteWithMetadata

HIVE: Final = "Hive"
HUDI: Final = "Hudi"
ICEBERG: Final = "Iceberg"
DELTA: Final = "Delta"
OWNERS: Final[Mapping[type[Operation], tuple[str, ...]]] = {
    **dict.fromkeys((Archive, ChangePartitionColumn, WriteWithMetadata), (HUDI,)),
    **dict.fromkeys((BeginWrite, CommitWrite), (HUDI, ICEBERG)),
    Cluster: (HUDI, DELTA),
    **dict.fromkeys((AddPartitionField, DropPartitionField, ReplacePartitionField), (ICEBERG,)),
    **dict.fromkeys((RewriteManifests, RewritePositionDeletes), (ICEBERG,)),
    **dict.fromkeys((AddFiles, RollbackToSnapshot), (ICEBERG,)),
}


def of_another(operation: Operation, family: str) -> str:
    """Return that an operation is of other families alone; empty where it is not."""
    if isinstance(operation, AddColumn) and operation.default is not None and family != ICEBERG:
        return f"has no default values of columns, which are {ICEBERG}'s alone"
    owners = OWNERS.get(type(operation), (family,))
    if family in owners:
        return ""
    return f"has no {name_of(operation)}, which is {' and '.join(owners)}'s alone"
