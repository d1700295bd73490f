"""What PyIceberg answers, inside of its own process; see `harness.engines.python_worker`.

A question is `{"statement", "tables": [{"database", "name", "metadata"}]}`: `metadata` is a file,
`statement` an expression that knows `table(database, name)`, `pyiceberg.expressions`, `Decimal`,
and Arrow's functions as `pc`. Its value is a table of Arrow, one value of Arrow's, or a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow

FILES: Final = {"py-io-impl": "pyiceberg.io.pyarrow.PyArrowFileIO"}
"""Files are read by Arrow, whatever else is installed (PyIceberg's manual, "FileIO")."""
EXPRESSIONS: Final = (
    *("And", "Not", "EqualTo", "NotEqualTo", "In", "NotIn", "StartsWith"),
    *("LessThan", "LessThanOrEqual", "GreaterThan", "GreaterThanOrEqual"),
    *("IsNull", "NotNull", "IsNaN", "NotNaN"),
)

Message = dict[str, Any]


def ask(question: Message) -> pyarrow.Table:
    """Evaluate an expression that knows the tables which are named with it."""
    import pyarrow as pa  # noqa: PLC0415 - of the engine's packages
    import pyarrow.compute as pc  # noqa: PLC0415

    known = {(entry["database"], entry["name"]): entry["metadata"] for entry in question["tables"]}

    def table(database: str, name: str) -> Any:  # noqa: ANN401 - a StaticTable
        return opened(known, database, name)

    module = import_module("pyiceberg.expressions")
    names = {name: getattr(module, name) for name in EXPRESSIONS}
    scope = {**names, "table": table, "Decimal": Decimal, "pc": pc}
    try:
        result = eval(question["statement"], scope)  # noqa: S307 - it comes from who knows the token
    finally:
        forget()
    if isinstance(result, pa.Table):
        return result
    value = result if isinstance(result, pa.Scalar) else pa.scalar(result)
    return pa.table({"value": pa.array([value.as_py()], value.type)})


def forget() -> None:
    """Clear what PyIceberg keeps of manifests for the whole process, by their paths."""
    manifest = import_module("pyiceberg.manifest")
    if hasattr(manifest, "clear_manifest_cache"):
        manifest.clear_manifest_cache()
    else:  # before 0.12
        getattr(manifest, "_manifest_cache", {}).clear()


def opened(known: Mapping[tuple[str, str], str], database: str, name: str) -> Any:  # noqa: ANN401
    """Return a table by the metadata file that its catalog names; what has none is no table."""
    if not (metadata := known.get((database, name))):
        missing = import_module("pyiceberg.exceptions").NoSuchTableError
        raise missing(f"the metastore has no Iceberg table {database}.{name}")
    return import_module("pyiceberg.table").StaticTable.from_metadata(metadata, FILES)
