"""What PyIceberg answers, inside of its own process; see `harness.engines.python_worker`.

A table is `{"database", "name", "metadata"}`: `metadata` is a file. An expression knows it as a
table of PyIceberg, and the names of `pyiceberg.expressions`.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, Final

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


def names() -> Message:
    module = import_module("pyiceberg.expressions")
    return {name: getattr(module, name) for name in EXPRESSIONS}


def writable(table: Message) -> Any:  # noqa: ANN401 - a Table
    return committing(table["metadata"]).load_table(("database", "table"))


def committing(metadata: str) -> Any:  # noqa: ANN401 - a Catalog
    """Return a catalog of one table that writes the metadata of a commit; who asks names the file.

    It does what PyIceberg's own do (`MetastoreCatalog._update_and_stage_table`).
    """
    table = import_module("pyiceberg.table")
    locations = import_module("pyiceberg.table.locations")
    updating = import_module("pyiceberg.table.update")

    def load_table(self: Any, identifier: Any) -> Any:  # noqa: ANN401
        now = opened({"metadata": self.newest})
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


def clear_cache() -> None:
    """Clear what PyIceberg keeps of manifests for the whole process, by their paths."""
    manifest = import_module("pyiceberg.manifest")
    if hasattr(manifest, "clear_manifest_cache"):
        manifest.clear_manifest_cache()
    else:  # before 0.12
        getattr(manifest, "_manifest_cache", {}).clear()


def opened(table: Message) -> Any:  # noqa: ANN401 - a StaticTable
    """Return a table by the metadata file that its catalog names; what has none is no table."""
    if not table["metadata"]:
        missing = import_module("pyiceberg.exceptions").NoSuchTableError
        raise missing(f"{table['database']}.{table['name']} is no Iceberg table")
    store = {key: os.environ[name] for key, name in STORE.items() if name in os.environ}
    static = import_module("pyiceberg.table").StaticTable
    return static.from_metadata(table["metadata"], {**FILES, **store})
