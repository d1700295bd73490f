"""Operations that one family of formats alone has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.scenario.operations import name_of
from harness.scenario.operations.add_column import AddColumn
from harness.scenario.operations.add_files import AddFiles
from harness.scenario.operations.add_partition_field import AddPartitionField
from harness.scenario.operations.api import Operation
from harness.scenario.operations.archive import Archive
from harness.scenario.operations.change_partition_column import ChangePartitionColumn
from harness.scenario.operations.cluster import Cluster
from harness.scenario.operations.drop_partition_field import DropPartitionField
from harness.scenario.operations.replace_partition_field import ReplacePartitionField
from harness.scenario.operations.rewrite_manifests import RewriteManifests
from harness.scenario.operations.rewrite_position_deletes import RewritePositionDeletes
from harness.scenario.operations.rollback_to_snapshot import RollbackToSnapshot
from harness.scenario.operations.write_with_metadata import WriteWithMetadata

HIVE: Final = "Hive"
HUDI: Final = "Hudi"
ICEBERG: Final = "Iceberg"
OWN: Final[Mapping[str, tuple[type[Operation], ...]]] = {
    HUDI: (Cluster, Archive, WriteWithMetadata, ChangePartitionColumn),
    ICEBERG: (
        AddFiles,
        AddPartitionField,
        DropPartitionField,
        ReplacePartitionField,
        RewriteManifests,
        RewritePositionDeletes,
        RollbackToSnapshot,
    ),
}


def of_another(operation: Operation, family: str) -> str:
    """Return that an operation is another family's alone; empty where it is not."""
    if isinstance(operation, AddColumn) and operation.default is not None and family != ICEBERG:
        return f"has no default values of columns, which are {ICEBERG}'s alone"
    owner = next((each for each, own in OWN.items() if isinstance(operation, own)), family)
    return "" if owner == family else f"has no {name_of(operation)}, which is {owner}'s alone"
