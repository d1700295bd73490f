"""Names for the table of now, and ways back to an earlier one."""

from dataclasses import dataclass, replace

from harness.model.commit import ref_name
from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth, last_write, restored, rolled_back, rolled_back_to, saved
from harness.scenario.operations.api import (
    Family,
    Operation,
    Statements,
    StepContext,
    StepTrace,
    example,
)
from harness.scenario.statements import (
    ALTER_TABLE,
    TABLE_NAME,
    Sql,
    call_hudi,
    call_iceberg,
    instant_of,
)


@dataclass(frozen=True, slots=True)
class CreateTag(Operation):
    EXAMPLES = example(
        "create_tag", "gives the current snapshot a tag, by which it is read later (view `tag`)"
    )
    TEXT = "create a tag"
    FAMILIES = frozenset({Family.ICEBERG})
    TRACE = StepTrace.TAGS

    def evolve(self, before: Truth) -> Truth:
        if not before.rows and not before.gone:
            raise SchemaChangeError("nothing is written yet that could be tagged")
        step = before.step + 1
        return replace(before, step=step, tags=(*before.tags, step))

    def statements(self, context: StepContext) -> Statements:
        return (Sql(f"{ALTER_TABLE} create tag `{ref_name(context.after.step)}`"),)


@dataclass(frozen=True, slots=True)
class Savepoint(Operation):
    EXAMPLES = example("savepoint", "keeps the last write, so that the table can go back to it")
    TEXT = "make a savepoint"
    FAMILIES = frozenset({Family.HUDI, Family.DELTA})
    TRACE = StepTrace.SAVEPOINTS

    def evolve(self, before: Truth) -> Truth:
        return saved(before, before.step + 1)

    def statements(self, context: StepContext) -> Statements:
        if context.kind.family is Family.DELTA:
            return ()  # every version can be gone back to
        instant = instant_of(last_write(context.before))
        return (call_hudi("create_savepoint", f"commit_time => '{instant}'"),)


@dataclass(frozen=True, slots=True)
class Restore(Operation):
    EXAMPLES = example(
        "restore",
        "takes back everything since the newest savepoint, see [below](#what-is-taken-back)",
        after=("savepoint", "delete: [1]"),
    )
    TEXT = "restore the savepoint"
    FAMILIES = frozenset({Family.HUDI, Family.DELTA})
    TRACE = StepTrace.UNDONE

    def evolve(self, before: Truth) -> Truth:
        return restored(before, before.step + 1)

    def statements(self, context: StepContext) -> Statements:
        if context.before.saved is None:
            return ()
        instant = instant_of(last_write(context.before.saved))
        if context.kind.family is Family.HUDI:
            return (call_hudi("rollback_to_savepoint", f"instant_time => '{instant}'"),)
        return (Sql(f"restore table {TABLE_NAME} to version as of {instant}"),)


@dataclass(frozen=True, slots=True)
class Rollback(Operation):
    EXAMPLES = example("rollback", "takes back the last write or schema change")
    TEXT = "roll back the last write"
    FAMILIES = frozenset({Family.HUDI})
    TRACE = StepTrace.UNDONE

    def evolve(self, before: Truth) -> Truth:
        return rolled_back(before, before.step + 1)

    def statements(self, context: StepContext) -> Statements:
        instant = instant_of(last_write(context.before))
        return (call_hudi("rollback_to_instant", f"instant_time => '{instant}'"),)


@dataclass(frozen=True, slots=True)
class RollbackToSnapshot(Operation):
    EXAMPLES = example(
        "rollback_to_snapshot: 2",
        "makes the rows after step 2 the current ones again; the columns stay",
    )
    TEXT = "roll back to the snapshot of step {0.step}"
    FAMILIES = frozenset({Family.ICEBERG})
    SHORT = "step"
    step: int

    def evolve(self, before: Truth) -> Truth:
        """Return the rows of then under the columns of now (apache/iceberg#5591)."""
        return rolled_back_to(before, before.step + 1, self.step)

    def statements(self, context: StepContext) -> Statements:
        return (call_iceberg("rollback_to_snapshot", f"snapshot_id => {instant_of(self.step)}"),)
