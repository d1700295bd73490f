"""One package per engine: how it is started, asked and understood.

In: an installation, a metastore and a question. Out: a running server, the SQL, and typed answers.
An engine must not know the truth, nor any format but by its `FormatFacts`. A package has a module
`engine` with an `ENGINE`; other packages add some by the entry points `lake_table_harness.engines`.
"""

import importlib
import pkgutil
from collections.abc import Mapping

from harness.core.registry import Registry
from harness.engines.api import Engine


def _ours() -> Mapping[str, Engine]:
    names = [module.name for module in pkgutil.iter_modules(__path__) if module.ispkg]
    return {name: importlib.import_module(f"{__name__}.{name}.engine").ENGINE for name in names}


ENGINES: Registry[Engine] = Registry("engine", _ours, Engine)
names, load = ENGINES.names, ENGINES.load
