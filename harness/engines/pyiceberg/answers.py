"""What PyIceberg answers, inside of its own process; see `harness.engines.python_worker`.

A question is `{"statement", "tables": [{"database", "name", "metadata"}]}`: `metadata` is a file,
`statement` an expression that knows `table(database, name)`, `pyiceberg.expressions`, `Decimal`,
and Arrow's functions as `pc`. Its value is a table of Arrow, one value of Arrow's, or a number.
A write is `{"write", "table": {"metadata"}}`: an expression that knows the table as `table`, the
same names, and Arrow as `pa`. It is answered with the metadata file that the catalog is to name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow

FILES: Final = {"py-io-impl": "pyiceberg.io.pyarrow.PyArrowFileIO"}
"""Files are read by Arrow, whatever else is installed (PyIceberg's manual, "FileIO")."""
STORE: Final = {"s3.endpoint": "AWS_ENDPOINT_URL", "s3.region": "AWS_REGION"}
"""Where PyIceberg looks for an object store, and the variables by which others find it."""
EXPRESSIONS: Final = (
    *("And", "Not", "EqualTo", "NotEqualTo", "In", "NotIn", "StartsWith"),
    *("LessThan", "LessThanOrEqual", "GreaterThan", "GreaterThanOrEqual"),
    *("IsNull", "NotNull", "IsNaN", "NotNaN", "AlwaysTrue"),
)

Message = dict[str, Any]


def ask(question: Message) -> pyarrow.Table:
    """Evaluate an expression that knows the tables which are named with it."""
    import pyarrow as pa  # noqa: PLC0415 - of the engine's packages
    import pyarrow.compute as pc  # noqa: PLC0415

    known = {(entry["database"], entry["name"]): entry["metadata"] for entry in question["tables"]}

    def table(database: str, name: str) -> Any:  # noqa: ANN401 - a StaticTable
        return opened(known, database, name)

    scope = {**named(), "table": table, "Decimal": Decimal, "pc": pc}
    try:
        result = eval(question["statement"], scope)  # noqa: S307 - it comes from who knows the token
    finally:
        forget()
    if isinstance(result, pa.Table):
        return result
    value = result if isinstance(result, pa.Scalar) else pa.scalar(result)
    return pa.table({"value": pa.array([value.as_py()], value.type)})


def named() -> Message:
    module = import_module("pyiceberg.expressions")
    return {name: getattr(module, name) for name in EXPRESSIONS}


def write(question: Message) -> pyarrow.Table:
    import pyarrow as pa  # noqa: PLC0415 - as above

    table = committing(question["table"]["metadata"]).load_table(("database", "table"))
    scope = {
        **named(), "table": table, "pa": pa, "Decimal": Decimal, "date": date, "datetime": datetime
    }  # fmt: skip
    try:
        eval(question["write"], scope)  # noqa: S307 - it comes from who knows the token
    finally:
        forget()
    return pa.table({"metadata": [table.metadata_location]})


def committing(metadata: str) -> Any:  # noqa: ANN401 - a Catalog
    """Return a catalog of one table that writes the metadata of a commit; who asks names the file.

    It does what PyIceberg's own do (`MetastoreCatalog._update_and_stage_table`).
    """
    table = import_module("pyiceberg.table")
    locations = import_module("pyiceberg.table.locations")
    updating = import_module("pyiceberg.table.update")

    def load_table(self: Any, identifier: Any) -> Any:  # noqa: ANN401
        now = opened({("", ""): self.newest}, "", "")
        return table.Table(identifier, now.metadata, self.newest, now.io, self)

    def commit_table(self: Any, _: Any, requirements: Any, updates: Any) -> Any:  # noqa: ANN401
        current = self.load_table(())
        for requirement in requirements:
            requirement.validate(current.metadata)
        made = updating.update_table_metadata(
            current.metadata, updates, metadata_location=self.newest
        )
        number = import_module("pyiceberg.catalog").MetastoreCatalog._parse_metadata_version(  # noqa: SLF001 - as it does
            self.newest
        )
        provider = locations.load_location_provider(made.location, made.properties)
        self.newest = provider.new_table_metadata_file_location(number + 1)
        output = current.io.new_output(self.newest)
        import_module("pyiceberg.serializers").ToOutputFile.table_metadata(made, output)
        return table.CommitTableResponse(metadata=made, metadata_location=self.newest)

    noop = import_module("pyiceberg.catalog.noop").NoopCatalog
    methods = {"load_table": load_table, "commit_table": commit_table, "newest": metadata}
    return type("OneTable", (noop,), methods)("one")


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
    store = {key: os.environ[name] for key, name in STORE.items() if name in os.environ}
    return import_module("pyiceberg.table").StaticTable.from_metadata(metadata, {**FILES, **store})
