"""The program that writes an Iceberg or a Delta table with the rows of a Parquet file.

`python table_writer.py PACKAGES FORMAT SOURCE TABLE`: the folders of the format's library, of the
file and of the table. It imports the standard library and PACKAGES alone.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

FILE: Final = "f.parquet"
METADATA: Final = "metadata/v1.metadata.json"
"""Where the metadata file of an Iceberg table lies in its folder."""


def write_delta(rows: Any, table: str) -> None:  # noqa: ANN401 - a table of Arrow
    import_module("deltalake").write_deltalake(table, rows)


def write_iceberg(rows: Any, table: str) -> None:  # noqa: ANN401 - as above
    """Write a table as a catalog would have it written, which knows but this one."""
    iceberg = import_module("pyiceberg.table")
    metadata, update = (import_module(f"pyiceberg.table.{name}") for name in ("metadata", "update"))
    serializers = import_module("pyiceberg.serializers")
    noop: Any = import_module("pyiceberg.catalog.noop").NoopCatalog

    class SingleTableCatalog(noop):  # type: ignore[misc]
        def commit_table(self, table: Any, requirements: Any, updates: Any) -> Any:  # noqa: ANN401
            del requirements
            changed = update.update_table_metadata(table.metadata, updates)
            path = f"{table.location()}/{METADATA}"
            serializers.ToOutputFile.table_metadata(changed, table.io.new_output(path))
            return iceberg.CommitTableResponse(metadata=changed, metadata_location=path)

    catalog = SingleTableCatalog("one table")
    empty = metadata.new_table_metadata(
        catalog._convert_schema_if_needed(rows.schema),  # noqa: SLF001 - as `create_table` does
        import_module("pyiceberg.partitioning").UNPARTITIONED_PARTITION_SPEC,
        import_module("pyiceberg.table.sorting").UNSORTED_SORT_ORDER,
        table,
        {},
    )
    files = import_module("pyiceberg.io.pyarrow").PyArrowFileIO()
    iceberg.Table(("kit", "table"), empty, f"{table}/metadata", files, catalog).append(rows)


def main(arguments: list[str]) -> None:
    packages, format_, source, table = arguments
    sys.path.insert(0, packages)
    rows = import_module("pyarrow.parquet").read_table(Path(source) / FILE)
    {"iceberg": write_iceberg, "delta": write_delta}[format_](rows, table)


if __name__ == "__main__":
    main(sys.argv[1:])
