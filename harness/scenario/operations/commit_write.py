"""`commit_write`: the second writer, which waits, goes on and commits what it began."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.commit import ref_name
from harness.model.pending_write import committed
from harness.model.truth import Truth
from harness.scenario.definition import IN_BRANCH, STAGED_BY
from harness.scenario.operations.api import Example, Family, Operation, Statements, StepContext
from harness.scenario.operations.procedures import call_iceberg
from harness.scenario.statements import ResumeWaiting


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
    FAMILIES = frozenset({Family.HUDI, Family.ICEBERG})

    def text(self) -> str:
        return "the other writer commits"

    def evolve(self, before: Truth) -> Truth:
        """Have the rows of both writers."""
        return committed(before, before.step + 1)

    def statements(self, context: StepContext) -> Statements:
        if context.kind.family is Family.HUDI:
            return (ResumeWaiting(),)
        name = ref_name(context.before.pending.step if context.before.pending else 0)
        if context.settings.get(STAGED_BY) == IN_BRANCH:
            return (call_iceberg("fast_forward", "branch => 'main'", f"to => '{name}'"),)
        return (call_iceberg("publish_changes", f"wap_id => '{name}'"),)
