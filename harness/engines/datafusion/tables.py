"""What DataFusion is given of a table, which it does not look up itself: from the catalog's entry.

A Hudi table is all in its folder: hudi-rs is given nothing but its path, and whether log files
are left out. A plain Hive table has the columns of the catalog, and DataFusion's own way of
finding partitions in the names of folders (`ListingTable`).
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from harness.core.errors import HarnessError
from harness.engines.api import PointInTime
from harness.engines.python_library import Description, Entry
from harness.engines.query_sql import ANSI, quoted
from harness.engines.spark.values import canonical_type
from harness.model.datatypes import DataType, Decimal, PlainType, Text, fold, parse_type

if TYPE_CHECKING:
    import pyarrow

READ_OPTIMIZED: Final = "hoodie.read.use.read_optimized.mode"
"""The option of hudi-rs (`HudiReadConfig.USE_READ_OPTIMIZED_MODE`)."""
_OF_ENTRY: Final = "hoodie.query.as.ro.table"
"""What Hudi's entries say for readers, in the parameters of their SerDe (`ConfigUtils.java`)."""


def describe(database: str, name: str, entry: Entry, past: PointInTime | None) -> Description:
    """Return what the worker is given of a table, by its entry in the metastore.

    Raises HarnessError: a column has a type that none of ours is.
    """
    del past
    storage = entry.sd
    table = {
        "name": f"{quoted(database, ANSI)}.{quoted(name, ANSI)}",
        "location": storage.location.removeprefix("file:").replace("//", "/"),
    }
    if "hudi" in storage.inputFormat:
        only = storage.serdeInfo.parameters.get(_OF_ENTRY) == "true"
        return {**table, "options": {READ_OPTIMIZED: "true"} if only else {}}
    return {**table, "schema": _schema(storage.cols), "keys": _schema(entry.partitionKeys or ())}


def _schema(columns: Sequence[Any]) -> str:
    """Return columns of Hive as a schema of Arrow's, in its own format."""
    import pyarrow as pa  # noqa: PLC0415 - only asking needs it

    kinds = [(column.name, _arrow(_known(column.name, column.type))) for column in columns]
    return base64.b64encode(pa.schema(kinds).serialize().to_pybytes()).decode()


def _known(column: str, kind: str) -> DataType:
    found = canonical_type(kind)
    if not found:
        raise HarnessError(f"the column {column}: DataFusion cannot be given the type {kind}")
    return parse_type(found)


def _arrow(kind: DataType) -> pyarrow.DataType:
    import pyarrow as pa  # noqa: PLC0415 - as above

    return fold(kind, _plain, pa.struct, pa.list_, pa.map_)


def _plain(kind: PlainType) -> pyarrow.DataType:
    import pyarrow as pa  # noqa: PLC0415 - as above

    match kind:
        case Decimal(precision, scale):
            return pa.decimal128(precision, scale)
        case Text():
            return pa.string()
    name = str(kind)
    if name == "timestamp":  # of the catalog: counted in UTC (`harness.model.datatypes`)
        return pa.timestamp("us", "UTC")
    return pa.type_for_alias(_ARROW.get(name, name))


_ARROW: Final = {
    "boolean": "bool",
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "long": "int64",
    "date": "date32",
}
"""Arrow's names of types, where they are not ours."""
