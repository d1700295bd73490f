"""What PyIceberg answers, inside of its own process; see `harness.engines.python_worker`.

A table is `{"database", "name", "metadata"}`: `metadata` is a file. An expression knows it as a
table of PyIceberg, and the names of `pyiceberg.expressions`.
"""

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


def writable(table: Message) -> Any:  # noqa: ANN401 - a Table, or the Catalog that is to have it
    catalog = committing(table["metadata"])
    return catalog.load_table(("database", "table")) if table["metadata"] else catalog


def committing(metadata: str) -> Any:  # noqa: ANN401 - a Catalog
    """Return a catalog of one table that writes the metadata of a commit; who asks names the file.

    It does what PyIceberg's own do (`MetastoreCatalog._update_and_stage_table`).
    """
    table = import_module("pyiceberg.table")
    locations = import_module("pyiceberg.table.locations")
    updating = import_module("pyiceberg.table.update")

    def load_table(self: Any, identifier: Any) -> Any:  # noqa: ANN401
        now = opened({"metadata": self.metadata_location})
        return table.Table(identifier, now.metadata, self.metadata_location, now.io, self)

    def write(self: Any, made: Any, io: Any, number: int) -> None:  # noqa: ANN401
        provider = locations.load_location_provider(made.location, made.properties)
        self.metadata_location = provider.new_table_metadata_file_location(number)
        output = io.new_output(self.metadata_location)
        import_module("pyiceberg.serializers").ToOutputFile.table_metadata(made, output)

    def create_table(self: Any, _: Any, schema: Any, location: str, properties: Any) -> None:  # noqa: ANN401
        made = import_module("pyiceberg.table.metadata").new_table_metadata(
            self._convert_schema_if_needed(schema),
            import_module("pyiceberg.partitioning").UNPARTITIONED_PARTITION_SPEC,
            import_module("pyiceberg.table.sorting").UNSORTED_SORT_ORDER,
            location,
            properties,
        )
        write(self, made, import_module("pyiceberg.io").load_file_io(FILES), 0)

    def commit_table(self: Any, _: Any, requirements: Any, updates: Any) -> Any:  # noqa: ANN401
        current = self.load_table(())
        for requirement in requirements:
            requirement.validate(current.metadata)
        made = updating.update_table_metadata(
            current.metadata, updates, metadata_location=self.metadata_location
        )
        number = import_module("pyiceberg.catalog").MetastoreCatalog._parse_metadata_version(  # noqa: SLF001 - as it does
            self.metadata_location
        )
        write(self, made, current.io, number + 1)
        location = self.metadata_location
        return table.CommitTableResponse(metadata=made, metadata_location=location)

    noop = import_module("pyiceberg.catalog.noop").NoopCatalog
    methods = {"load_table": load_table, "commit_table": commit_table, "create_table": create_table}
    return type("OneTable", (noop,), {**methods, "metadata_location": metadata})("one")


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
