"""What a step does: one file per operation, found by its file name.

Each file defines one frozen dataclass, called as the file is, whose fields are the keys of the
scenario file; it tells how the truth evolves and how Spark SQL says it. `SHORT` names the field
that a bare value fills (`insert: [1, 2]`), empty when there is none. A package adds operations by
entry points of the group `lake_table_harness.operations`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from harness.core.registry import Registry, modules
from harness.scenario.operations.api import Operation


def _ours() -> Mapping[str, type[Operation]]:
    found = {module.__name__.rpartition(".")[2]: module for module in modules(__name__)}
    classes = {name: "".join(map(str.capitalize, name.split("_"))) for name in found}
    return {
        name: getattr(found[name], called)
        for name, called in classes.items()
        if hasattr(found[name], called)
    }


OPERATIONS: Registry[type[Operation]] = Registry("operation", _ours, Operation)


@cache
def registry() -> Mapping[str, type[Operation]]:
    """Return the class of each operation by the name that scenario files use."""
    return OPERATIONS.all()


@cache
def _names() -> Mapping[type[Operation], str]:
    return {kind: name for name, kind in registry().items()}


def name_of(operation: Operation) -> str:
    """Return the name that scenario files use for an operation."""
    return _names()[type(operation)]
