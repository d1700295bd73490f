"""Other ways to carry out a read plan, as readers that are wrong do: which one gives an answer.

A strategy that gives all rows of a wrong answer says how the reader reads. Where several do,
neither is claimed.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from harness.formats.files.column_parts import walk
from harness.formats.read_plan import FileColumns, PlannedFile, ReadPlan

Change = Callable[[ReadPlan], ReadPlan]


def _by_name(plan: ReadPlan) -> ReadPlan:
    columns = FileColumns({path: part.id for path, part in walk(plan.columns)})
    return _with_files(plan, lambda file: replace(file, columns=columns))


def _without_deletes(plan: ReadPlan) -> ReadPlan:
    return _with_files(plan, lambda file: replace(file, deleted=(), deleted_values=()))


def _without_positions(plan: ReadPlan) -> ReadPlan:
    return _with_files(plan, lambda file: replace(file, deleted=()))


def _without_deleted_values(plan: ReadPlan) -> ReadPlan:
    return _with_files(plan, lambda file: replace(file, deleted_values=()))


def _without_constants(plan: ReadPlan) -> ReadPlan:
    return _with_files(plan, lambda file: replace(file, constants={}))


def _without_defaults(plan: ReadPlan) -> ReadPlan:
    return replace(plan, defaults={})


def _base_files(plan: ReadPlan) -> ReadPlan:
    return replace(plan, merges=tuple(replace(merge, versions=()) for merge in plan.merges))


def _with_files(plan: ReadPlan, change: Callable[[PlannedFile], PlannedFile]) -> ReadPlan:
    return replace(plan, files=tuple(map(change, plan.files)))


STRATEGIES: Final[Mapping[str, Change]] = {
    "columns of files by name": _by_name,
    "no deletes": _without_deletes,
    "no deletes by position": _without_positions,
    "no deletes by value": _without_deleted_values,
    "no partition values of the metadata": _without_constants,
    "no defaults": _without_defaults,
    "base files alone": _base_files,
}
"""What a reader leaves out or does otherwise, in the words of reports."""


def others(plan: ReadPlan) -> Mapping[str, ReadPlan]:
    """Return the plans of every strategy that makes another one of a plan."""
    changed = {name: change(plan) for name, change in STRATEGIES.items()}
    different = {name: other for name, other in changed.items() if other != plan}
    # Of strategies that come to the same, the first is the plainest.
    return {
        name: other
        for at, (name, other) in enumerate(different.items())
        if other not in list(different.values())[:at]
    }
