"""What a step does: an operation for each name in scenario files.

An operation is a frozen dataclass in a file of this folder, found by its class: `AddColumn` is
`add_column`. Its fields are the keys of the scenario file. A package adds operations by entry
points of the group `lake_table_harness.operations`.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from harness.core.registry import Registry
from harness.scenario.operations.api import Operation, name_in_files


def _ours() -> Mapping[str, type[Operation]]:
    names = [f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)]
    return {
        name_in_files(kind): kind
        for module in map(importlib.import_module, names)
        for kind in vars(module).values()
        if isinstance(kind, type)
        and issubclass(kind, Operation)
        and kind.EXAMPLES
        and kind.__module__ == module.__name__
    }


OPERATIONS: Registry[type[Operation]] = Registry("operation", _ours, Operation)


@cache
def registry() -> Mapping[str, type[Operation]]:
    return OPERATIONS.all()


@cache
def _names() -> Mapping[type[Operation], str]:
    return {kind: name for name, kind in registry().items()}


def name_of(operation: Operation) -> str:
    return _names()[type(operation)]
