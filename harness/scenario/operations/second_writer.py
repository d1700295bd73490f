"""A second writer, which begins a write, waits, and commits it later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.model.commit import ref_name
from harness.model.pending_write import begun, committed
from harness.model.truth import Truth
from harness.scenario.definition import IN_BRANCH, STAGED_BY
from harness.scenario.operations.api import (
    Example,
    Family,
    Operation,
    Statements,
    StepContext,
    StepTrace,
)
from harness.scenario.operations.merge import Merge
from harness.scenario.statements import (
    ALTER_TABLE,
    LOCATION,
    LOCK_FOLDER,
    ResumeWaiting,
    Sql,
    WaitingSql,
    call_iceberg,
    of_table,
)

_LOCK: Final = "hoodie.write.lock"
_WAITS: Final = {
    f"{_LOCK}.filesystem.path": LOCATION + LOCK_FOLDER,
    f"{_LOCK}.client.wait_time_ms_between_retry": "100",
    f"{_LOCK}.wait_time_ms_between_retry": "100",
}
"""Hudi's second writer has a lock of its own, for which it can be made to wait: it asks for it when
all its files are written, and looks into the file of whoever has it
(`FileSystemBasedLockProvider.tryLock`). The first writer does nothing when it goes on."""
WAP_ID: Final = "spark.wap.id"
WAP_BRANCH: Final = "spark.wap.branch"
"""With one of them a session of Iceberg makes snapshots that are not the current one (Iceberg
documentation, "Spark Configuration" and "Branching and Tagging")."""


@dataclass(frozen=True, slots=True)
class BeginWrite(Merge):
    """Begin what `merge` does in a process of its own; `commit_write` lets it go on."""

    EXAMPLES = (
        Example(
            "begin_write: {update: [1], insert: [5]}",
            "another writer begins what `merge` does, and waits before its commit, see "
            "[below](#two-writers-at-once)",
        ),
    )
    FAMILIES = frozenset({Family.HUDI, Family.ICEBERG})
    TRACE = StepTrace.BEGUN

    def text(self) -> str:
        return f"another writer begins a {Merge.text(self)}"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything: no reader may show what is not committed."""
        done = Merge.evolve(self, before)
        rows = [row for key, row in done.rows.items() if before.rows.get(key) != row]
        changed = {before.table.order_by, *self.set} if self.set else set()
        ids = [field.id for field in before.schema.fields if field.name in changed]
        deleted = [key for key in before.rows if key not in done.rows]
        return begun(before, before.step + 1, rows, deleted, ids)

    def statements(self, context: StepContext) -> Statements:
        writes = of_table(self.sql(context.before, context.after))
        if context.kind.family is Family.HUDI:
            return tuple(WaitingSql(write.text, tuple(_WAITS.items())) for write in writes)
        setting = WAP_BRANCH if context.settings.get(STAGED_BY) == IN_BRANCH else WAP_ID
        return (
            Sql(f"{ALTER_TABLE} set tblproperties ('write.wap.enabled' = 'true')", commits=False),
            Sql(f"set {setting}={ref_name(context.after.step)}", commits=False),
            *writes,
            Sql(f"reset {setting}", in_any_case=True, commits=False),
        )


@dataclass(frozen=True, slots=True)
class CommitWrite(Operation):
    """Commit what `begin_write` began; where others wrote the same, the format may refuse it."""

    EXAMPLES = (
        Example(
            "commit_write",
            "the writer of `begin_write` goes on and commits",
            after=("begin_write: {update: [1]}",),
        ),
    )
    TEXT = "the other writer commits"
    FAMILIES = frozenset({Family.HUDI, Family.ICEBERG})

    def evolve(self, before: Truth) -> Truth:
        return committed(before, before.step + 1)

    def statements(self, context: StepContext) -> Statements:
        if context.kind.family is Family.HUDI:
            return (ResumeWaiting(),)
        name = ref_name(context.before.pending.step if context.before.pending else 0)
        if context.settings.get(STAGED_BY) == IN_BRANCH:
            return (call_iceberg("fast_forward", "branch => 'main'", f"to => '{name}'"),)
        return (call_iceberg("publish_changes", f"wap_id => '{name}'"),)
