"""A scenario as an object; files and Python constructors make the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Final

from harness.model.commit import OTHERS
from harness.model.schema import MergeMode, Table
from harness.scenario.expected_history import Survey, Truths, survey
from harness.scenario.operations.api import Operation
from harness.scenario.operations.row_writes import REWRITES, Rewrites
from harness.scenario.operations.services import MAINTENANCE, MAINTENANCE_STEPS


class Partitioned(StrEnum):
    """Where the partition columns stand that a table gets by the axis of that name."""

    NONE = "none"
    LAST = "last"
    MIDDLE = "middle"
    """Between the data columns."""
    TWO = "two"
    """One between the data columns, another one last."""
    TWO_LAST = "two_last"


VIEWS: Final = ("snapshot", "read_optimized", "base_name")
"""The views of now: what a profile asks for that names none."""
PAST_VIEWS: Final = OTHERS
"""The views of a table's past, and of branches, asked only where a profile names them
(`model.past_views`)."""
STAGED_BY: Final = "staged_by"
"""Setting of Iceberg's tables: what a write has that is begun and committed later."""
IN_BRANCH: Final = "branch"
CASCADE: Final = "cascade"
"""Setting of plain Hive tables: whether changes of columns reach partitions (`on`, `off`)."""
SCHEMA_CHANGES: Final = "schema_changes"
WRITE_CLIENT: Final = "write_client"
"""Setting of Hudi tables: whether SQL changes columns, which the catalog hears of, or a client."""
AXES: Final[Mapping[str, tuple[str, ...]]] = {
    REWRITES: tuple(Rewrites),
    "partitioned": tuple(Partitioned),
    "merge_mode": tuple(MergeMode),
    MAINTENANCE: tuple(MAINTENANCE_STEPS),
}
"""The settings that a scenario may name in every format, each with every value it can take."""


@dataclass(frozen=True, slots=True)
class Step:
    operation: Operation
    quiet: bool = False
    """No questions are asked after it."""
    by: str = ""
    """The distribution that writes it; empty for the one of the table."""
    line: int = 0
    """Where it stands in the file; 0 for a step made in Python."""


@dataclass(frozen=True)  # no slots: what is derived is kept
class Scenario:
    """A table and what happens to it. Steps are numbered from 1."""

    name: str
    """Family and name, e.g. `hudi/rename_add_drop`."""
    table: Table
    steps: tuple[Step, ...]
    about: str = ""
    source: str = ""
    formats: tuple[str, ...] = ()
    """Names of formats; empty for every format that supports the operations."""
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The axes, and settings of its formats: each with the values it takes."""
    views: tuple[str, ...] = ()
    """Names of views; empty for every view of the format."""
    queries: tuple[str, ...] = ()
    """What is asked after each step, beside what a profile asks."""
    path: str = ""
    """The file it was read from, empty otherwise."""
    format_lines: tuple[int, ...] = field(default=(), compare=False, repr=False)
    """Where each of the formats stands in that file."""
    setting_lines: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    """Where each of the settings stands in it."""

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        return tuple(step.operation for step in self.steps)

    @cached_property
    def survey(self) -> Survey:
        return survey(self.table, self.operations)

    @property
    def changes_rows(self) -> bool:
        steps = pairwise(self.survey.history)
        return any(new.rows.get(key) != row for old, new in steps for key, row in old.rows.items())

    def truths(self, *, merge_on_read: bool) -> Truths:
        return self._merged_truths if merge_on_read else self._rewritten_truths

    @cached_property
    def _merged_truths(self) -> Truths:
        return Truths(self.operations, self.survey, merge_on_read=True)

    @cached_property
    def _rewritten_truths(self) -> Truths:
        return Truths(self.operations, self.survey, merge_on_read=False)
