"""What a step does: one file per operation, found by its file name.

Each file defines one frozen dataclass whose fields are the keys of the scenario file; it tells how
the truth evolves and how Spark SQL says it. `SHORT` names the field that a bare value fills
(`insert: [1, 2]`), empty when there is none.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from harness.scenario.operations.api import Operation

NOT_OPERATIONS = frozenset({"api", "spark_sql", "new_rows"})


@cache
def registry() -> dict[str, type[Operation]]:
    """Return the class of each operation by the name that scenario files use."""
    names = (each.name for each in pkgutil.iter_modules(__path__))
    return {name: _class_of(name) for name in names if name not in NOT_OPERATIONS}


def name_of(operation: Operation) -> str:
    """Return the name that scenario files use for an operation."""
    return type(operation).__module__.rpartition(".")[2]


def _class_of(name: str) -> type[Operation]:
    module = importlib.import_module(f"{__name__}.{name}")
    found: type[Operation] = getattr(module, "".join(map(str.capitalize, name.split("_"))))
    return found
