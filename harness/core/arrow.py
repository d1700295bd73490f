"""The libraries of data files, each imported when something of it is used.

Together they take half a second, and most commands read no file.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import fastavro
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.orc as arrow_orc
    import pyarrow.parquet as pq
    import pyarrow.types as kinds
    import pyorc
    import pyroaring
    from pyarrow import fs
else:

    class _Module:
        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, attribute: str) -> Any:  # noqa: ANN401 - whatever the module has
            value = getattr(import_module(self._name), attribute)
            setattr(self, attribute, value)  # it may be asked for of every value of a table
            return value

    fastavro, pyorc, pyroaring = map(_Module, ("fastavro", "pyorc", "pyroaring"))
    pa, pc, pq = _Module("pyarrow"), _Module("pyarrow.compute"), _Module("pyarrow.parquet")
    arrow_orc, fs, kinds = map(_Module, ("pyarrow.orc", "pyarrow.fs", "pyarrow.types"))

__all__ = ["arrow_orc", "fastavro", "fs", "kinds", "pa", "pc", "pq", "pyorc", "pyroaring"]
