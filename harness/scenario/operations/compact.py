"""`compact`: log files are merged into new base files, or that is only scheduled; the rows stay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Final

from pydantic import Strict

from harness.model.truth import Truth, compacted
from harness.scenario.operations.api import (
    Example,
    Family,
    Operation,
    ServiceMode,
    Statements,
    StepContext,
    StepTrace,
    TableKind,
)
from harness.scenario.operations.procedures import (
    ALTER_TABLE,
    TABLE_ARGUMENT,
    TABLE_NAME,
    call_iceberg,
)
from harness.scenario.operations.spark_sql import partition_spec
from harness.scenario.statements import Sql, Statement

_WITH_DELETES: Final = "map('delete-file-threshold', '1', 'min-file-size-bytes', '0')"
"""Only data files of which rows are deleted, however small they are."""


@dataclass(frozen=True, slots=True)
class Compact(Operation):
    """Compact every file group; on copy-on-write there is nothing to do.

    What is only scheduled waits: writes go on, and the next `compact` carries it out.
    """

    EXAMPLES = (
        Example("compact", "merges log files into base files; does nothing on copy-on-write"),
        Example(
            "compact: {only: schedule}",
            "plans a compaction and leaves it, see [below](#what-waits)",
        ),
    )
    FAMILIES = frozenset({Family.HUDI, Family.ICEBERG, Family.DELTA, Family.HIVE_ACID})
    only: Annotated[ServiceMode | None, Strict(strict=False)] = None

    def text(self) -> str:
        return "schedule a compaction" if self.only else "compact"

    def evolve(self, before: Truth) -> Truth:
        """Let read-optimized readers see what snapshot readers see, once it is carried out."""
        if self.only:
            return replace(before, step=before.step + 1)
        return compacted(before, before.step + 1)

    def statements(self, context: StepContext) -> Statements:
        """Return the calls of the service; none where there are no log files to compact.

        In Hudi what waits is carried out first. `run` would not touch it, nor the file groups it is
        about. The upgrade of a table to version 8 leaves a compaction that waits as well (seen on
        1.0.2).
        """
        match context.kind.family:
            case Family.HUDI if context.kind.merge_on_read:
                modes = (self.only.value,) if self.only else ("execute", "run")
                calls = (f"call run_compaction(op => '{mode}', {TABLE_ARGUMENT})" for mode in modes)
                return tuple(map(Sql, calls))
            case Family.ICEBERG:
                return (call_iceberg("rewrite_data_files", f"options => {_WITH_DELETES}"),)
            case Family.DELTA:
                # It rewrites the data files of which rows are deleted, and no others (Delta
                # documentation, "What are deletion vectors?").
                return (Sql(f"reorg table {TABLE_NAME} apply (purge)"),)
            case Family.HIVE_ACID:
                return _compactions(context.before, context.settings.get("compaction", "major"))
        return ()

    def unsupported(self, kind: TableKind) -> str:
        if self.only:
            match kind.family:
                case Family.HUDI if not kind.merge_on_read:
                    return "has no log files, so no compaction of them can be scheduled"
                case Family.ICEBERG | Family.DELTA:
                    return "rewrites files at once: nothing can be scheduled"
                case Family.HIVE_ACID:
                    return "does not settle what a compaction is of before it runs"
        return Operation.unsupported(self, kind)

    def trace(self) -> StepTrace | None:
        return StepTrace.SCHEDULED if self.only else None


def _compactions(before: Truth, extent: str) -> tuple[Statement, ...]:
    """Return a compaction of Hive, of a partitioned table one for each partition that has rows."""
    compact = f"compact '{extent}' and wait"
    if not before.table.partition_by:
        return (Sql(f"{ALTER_TABLE} {compact}"),)
    partitions = dict.fromkeys(row.group[1] for row in before.rows.values())
    specs = [partition_spec(before, values) for values in partitions]
    return tuple(Sql(f"{ALTER_TABLE} {spec} {compact}") for spec in specs)
