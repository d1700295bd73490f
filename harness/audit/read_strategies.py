"""Other ways to carry out a read plan, as readers that are wrong do: which one gives an answer.

A strategy that gives all rows of a wrong answer says how the reader reads. Where several do,
neither is claimed.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from harness.formats.files.column_parts import walk
from harness.formats.read_plan import FileColumns, ReadPlan

Change = Callable[[ReadPlan], ReadPlan]


def _by_name(plan: ReadPlan) -> ReadPlan:
    columns = FileColumns({path: part.id for path, part in walk(plan.columns)})
    return _of_files(columns=columns)(plan)


def _of_files(**fields: Any) -> Change:  # noqa: ANN401 - of any type
    """Return the change of a plan that gives all its files these fields."""
    return lambda plan: replace(plan, files=tuple(replace(f, **fields) for f in plan.files))


STRATEGIES: Final[Mapping[str, Change]] = {
    "columns of files by name": _by_name,
    "no deletes": _of_files(deleted=(), deleted_values=()),
    "no deletes by position": _of_files(deleted=()),
    "no deletes by value": _of_files(deleted_values=()),
    "no partition values of the metadata": _of_files(constants={}),
    "no defaults": lambda plan: replace(plan, defaults={}),
    "base files alone": lambda plan: replace(
        plan, merges=tuple(replace(merge, versions=()) for merge in plan.merges)
    ),
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
