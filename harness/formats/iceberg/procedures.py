"""Maintenance and snapshots of an Iceberg table, as Spark calls them. Pure.

Source: Iceberg documentation, "Spark Procedures", "Spark Configuration" (`spark.wap.id`,
`spark.wap.branch`) and "Branching and Tagging".
"""

from __future__ import annotations

from typing import Final

from harness.model.commit import ref_name
from harness.model.identifiers import TABLE
from harness.model.truth import Truth
from harness.scenario.operations.add_files import AddFiles
from harness.scenario.operations.begin_write import BeginWrite
from harness.scenario.operations.clean import Clean
from harness.scenario.operations.commit_write import CommitWrite
from harness.scenario.operations.compact import Compact
from harness.scenario.operations.create_tag import CreateTag
from harness.scenario.operations.rewrite_manifests import RewriteManifests
from harness.scenario.operations.rewrite_position_deletes import RewritePositionDeletes
from harness.scenario.operations.rollback_to_snapshot import RollbackToSnapshot
from harness.scenario.operations.set_table_version import SetTableVersion
from harness.scenario.statements import DATABASE, LOCATION, Sql, Statement, instant_of, of_table

Procedure = (
    AddFiles
    | Compact
    | Clean
    | RewriteManifests
    | RewritePositionDeletes
    | RollbackToSnapshot
    | BeginWrite
    | CommitWrite
    | CreateTag
    | SetTableVersion
)
ADDED: Final = "added"
"""The folder in the table's that plain files are made in, each step's in one of its own."""
_ALTER: Final = f"alter table {DATABASE}.{TABLE}"
_TABLE: Final = f"table => '{DATABASE}.{TABLE}'"
_ALL_OLD: Final = "older_than => timestamp '2999-01-01 00:00:00', retain_last => 1"
_WITH_DELETES: Final = "map('delete-file-threshold', '1', 'min-file-size-bytes', '0')"
"""Only data files of which rows are deleted, however small they are."""
_ALL_FILES: Final = "options => map('rewrite-all', 'true')"
WAP_ID: Final = "spark.wap.id"
WAP_BRANCH: Final = "spark.wap.branch"
_ENABLED: Final = "write.wap.enabled"


def wording(
    operation: Procedure, before: Truth, after: Truth, *, by_branch: bool = False
) -> tuple[Statement, ...]:
    """Return the statements of an operation; `by_branch`: whether writes are staged in one."""
    match operation:
        case AddFiles():
            return _added(operation, before, after)
        case SetTableVersion() | CreateTag():
            return (_altered(operation, after),)
        case Compact():
            return (_call("rewrite_data_files", f"options => {_WITH_DELETES}"),)
        case Clean():
            return (_call("expire_snapshots", _ALL_OLD),)
        case RewriteManifests():
            return (_call("rewrite_manifests"),)
        case RewritePositionDeletes():
            return (_call("rewrite_position_delete_files", _ALL_FILES),)
        case RollbackToSnapshot(step):
            return (_call("rollback_to_snapshot", f"snapshot_id => {instant_of(step)}"),)
        case BeginWrite():
            return _staged(operation, before, after, WAP_BRANCH if by_branch else WAP_ID)
        case CommitWrite():
            return (_published(before, by_branch=by_branch),)


def _altered(operation: SetTableVersion | CreateTag, after: Truth) -> Sql:
    if isinstance(operation, CreateTag):
        return Sql(f"{_ALTER} create tag `{ref_name(after.step)}`")
    return Sql(f"{_ALTER} set tblproperties ('format-version' = '{operation.version}')")


def _staged(
    operation: BeginWrite, before: Truth, after: Truth, setting: str
) -> tuple[Statement, ...]:
    """Return a write whose snapshot is not made the current one, as the session has a setting."""
    return (
        Sql(f"{_ALTER} set tblproperties ('{_ENABLED}' = 'true')", commits=False),
        Sql(f"set {setting}={ref_name(after.step)}", commits=False),
        *of_table(operation.sql(before, after)),
        Sql(f"reset {setting}", in_any_case=True, commits=False),
    )


def _published(before: Truth, *, by_branch: bool) -> Sql:
    name = ref_name(before.pending.step if before.pending else 0)
    if by_branch:
        return _call("fast_forward", "branch => 'main'", f"to => '{name}'")
    return _call("publish_changes", f"wap_id => '{name}'")


def _added(operation: AddFiles, before: Truth, after: Truth) -> tuple[Statement, ...]:
    """Return the making of a folder of plain files, and the call that adds them."""
    (query,) = operation.sql(before, after)
    folder = f"{LOCATION}/{ADDED}/{after.step}"
    write = f"insert overwrite directory '{folder}' using parquet select /*+ coalesce(1) */ * from"
    source = f"source_table => '`parquet`.`{folder}`'"
    return Sql(f"{write} ({query})", commits=False), _call("add_files", source)


def _call(procedure: str, *arguments: str) -> Sql:
    return Sql(f"call spark_catalog.system.{procedure}({', '.join((_TABLE, *arguments))})")
