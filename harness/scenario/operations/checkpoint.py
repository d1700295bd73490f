"""`checkpoint`: all that a table's log says is written down once more, in one file."""

from dataclasses import dataclass

from harness.scenario.operations.api import (
    Example,
    Family,
    Operation,
    Statements,
    StepContext,
    StepTrace,
)
from harness.scenario.statements import DeltaCall


@dataclass(frozen=True, slots=True)
class Checkpoint(Operation):
    EXAMPLES = (Example("checkpoint", "writes a checkpoint of the log, from which readers go on"),)
    TEXT = "write a checkpoint"
    FAMILIES = frozenset({Family.DELTA})
    TRACE = StepTrace.CHECKPOINTS

    def statements(self, context: StepContext) -> Statements:
        return (DeltaCall("checkpoint"),)
