"""Writes that end or wait before their commit, and what ends them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from harness.model.commit import ref_name
from harness.model.schema import SchemaChangeError
from harness.model.truth import Row, Truth, begun, branched, committed, failed, staged
from harness.scenario.definition import IN_BRANCH, STAGED_BY
from harness.scenario.operations.api import (
    WITH_DELETES,
    Family,
    Key,
    Operation,
    Statements,
    StepContext,
    StepTrace,
    example,
)
from harness.scenario.operations.merge import Merge
from harness.scenario.operations.new_rows import each_once, fresh, key_of, some, whole
from harness.scenario.operations.spark_sql import insert_rows
from harness.scenario.statements import (
    ALTER_TABLE,
    LOCATION,
    LOCK_FOLDER,
    PIPE,
    TRANSACTIONS,
    ResumeWaiting,
    Sql,
    Statement,
    WaitingSql,
    call_iceberg,
    of_table,
    under,
)

VALIDATORS: Final = "hoodie.precommit.validators"
VALIDATOR: Final = "org.apache.hudi.client.validator.SqlQuerySingleResultPreCommitValidator"
QUERIES: Final = "hoodie.precommit.validators.single.value.sql.queries"
NEVER_SO: Final = "select count(*) from <TABLE_NAME>#-1"
"""A validator runs when all files are written and nothing is committed, and fails the write where
its query has another result (Hudi documentation, "Data Quality", "Pre-Commit Validators"). What a
writer leaves that was killed there is the same: an inflight instant with its files."""


@dataclass(frozen=True, slots=True)
class FailedWrite(Operation):
    """Write whole rows with these keys, new or replacing others, and fail before the commit."""

    EXAMPLES = example("failed_write: [1, 5]", "writes these rows and fails before the commit")
    TEXT = "write {0.counted}, {0.END} before the commit"
    FAMILIES = frozenset({Family.HUDI, Family.HIVE_ACID})
    TRACE = StepTrace.BEGUN
    SHORT = "keys"
    keys: tuple[Key, ...]

    END: ClassVar[str] = "fail"

    def evolve(self, before: Truth) -> Truth:
        return failed(before, before.step + 1, self._versions(before))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return (insert_rows(after, self._versions(before)),)

    def _versions(self, before: Truth) -> tuple[Row, ...]:
        keys = [key_of(before, key) for key in some(self.keys, "failed_write")]
        each_once(keys)
        return whole(before, keys)

    def statements(self, context: StepContext) -> Statements:
        if context.kind.family is not Family.HUDI:
            return None
        return validated(of_table(self.sql(context.before, context.after)), NEVER_SO)


def validated(writes: Sequence[Statement], query: str) -> tuple[Statement, ...]:
    """Return writes to a table of Hudi that a validator checks before their commit."""
    checked = under(QUERIES, query, "", writes)
    return under(VALIDATORS, VALIDATOR, "", checked)


WAITS: Final = f"select count(*) from orc.`{LOCATION}{PIPE}`#0"
"""A query that waits until somebody writes into the pipe: Spark opens an ORC file to learn its
columns, also one without length. Empty files of other kinds it leaves out."""


@dataclass(frozen=True, slots=True)
class KilledWrite(FailedWrite):
    """Write whole rows with these keys, new or replacing others; the writer dies at once."""

    EXAMPLES = example(
        "killed_write: [1, 5]",
        "writes these rows, and the writer's process is killed before the commit",
    )
    FAMILIES = WITH_DELETES
    END = "killed"

    def statements(self, context: StepContext) -> Statements:
        if context.kind.family is not Family.HUDI:
            return None
        writes = of_table(self.sql(context.before, context.after))
        return validated([replace(write, killed=True) for write in writes], WAITS)


@dataclass(frozen=True, slots=True)
class AbortTransactions(Operation):
    EXAMPLES = example(
        "abort_transactions",
        "ends what a killed writer of a transactional table left open, see "
        "[below](#what-is-taken-back)",
        after=("killed_write: [1, 5]",),
    )
    TEXT = "abort the transactions that are open"
    FAMILIES = frozenset({Family.HIVE_ACID})
    TRACE = StepTrace.UNDONE

    def evolve(self, before: Truth) -> Truth:
        """Keep everything: what was not committed is still not."""
        if not before.failed:
            raise SchemaChangeError("no write was killed, so no transaction is open")
        return replace(before, step=before.step + 1)

    def statements(self, context: StepContext) -> Statements:
        return (Sql(f"abort transactions {TRANSACTIONS}"),)


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

    EXAMPLES = example(
        "begin_write: {update: [1], insert: [5]}",
        "another writer begins what `merge` does, and waits before its commit, see "
        "[below](#two-writers-at-once)",
    )
    FAMILIES = frozenset({Family.HUDI, Family.ICEBERG})
    TRACE = StepTrace.BEGUN

    def text(self) -> str:
        return f"another writer begins a {Merge.text(self)}"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything: no reader may show what is not committed."""
        done = Merge.evolve(self, before)
        rows = [row for key, row in done.rows.items() if before.rows.get(key) != row]
        changed = {*before.table.order_by, *self.set} if self.set else set()
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
class WriteToBranch(Merge):
    """Do to the branch what `merge` does to the table; rows alone are inserted."""

    EXAMPLES = example(
        "write_to_branch: {update: [5], insert: [6]}",
        "does what `merge` does to the branch of the write that waits, under the branch's name, "
        "see [below](#tables-of-iceberg)",
        after=("begin_write: {insert: [5]}",),
    )
    FAMILIES = frozenset({Family.ICEBERG})
    TRACE = StepTrace.BEGUN

    def text(self) -> str:
        return f"in the branch, {Merge.text(self)}"

    def evolve(self, before: Truth) -> Truth:
        return branched(before, Merge.evolve(self, staged(before)))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        branch, made = staged(before), self.worded(staged(before), after)
        if not (self.update or self.delete or self.absent):
            made = insert_rows(after, whole(branch, fresh(branch, self.insert)))
        name = ref_name(before.pending.step if before.pending else 0)
        return (made.replace("{table}", f"{{table}}.`branch_{name}`", 1),)


@dataclass(frozen=True, slots=True)
class CommitWrite(Operation):
    """Commit what `begin_write` began; where others wrote the same, the format may refuse it."""

    EXAMPLES = example(
        "commit_write",
        "the writer of `begin_write` goes on and commits",
        after=("begin_write: {update: [1]}",),
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
