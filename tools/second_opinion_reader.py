"""What another library reads of a table, in a process of its own with that library's packages.

QUESTIONS is a file of JSON, a list of `{"reader", "folder", "home", "metadata", "past"}`. Of each
one ANSWERS, a folder, gets `<number>.arrow`, a table in Arrow's format of files, or
`<number>.error`, class and text of what was raised. It imports the standard library and PACKAGES
alone: what is read here shares no code with the harness.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow

Question = dict[str, str]


def pyiceberg(question: Question) -> pyarrow.Table:
    """Scan an Iceberg table by its metadata file, which names files by paths below `home`."""
    package = import_module("pyiceberg.io.pyarrow")

    class MovedFiles(package.PyArrowFileIO):  # type: ignore[misc, name-defined]
        """The table's files where they lie now."""

        def new_input(self, location: str) -> Any:  # noqa: ANN401 - a PyArrowFile
            return super().new_input(location.replace(question["home"], question["folder"]))

    globals()["MovedFiles"] = MovedFiles
    table = import_module("pyiceberg.table").StaticTable.from_metadata(
        question["metadata"], {"py-io-impl": f"{__name__}.MovedFiles"}
    )
    snapshot = int(question["past"]) if question["past"] else None
    return table.scan(snapshot_id=snapshot).to_arrow()


def deltalake(question: Question) -> pyarrow.Table:
    """Read a Delta table by the log in its folder, and all of its rows by delta-rs's DataFusion."""
    import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

    package = import_module("deltalake")
    version = int(question["past"]) if question["past"] else None
    table = package.DeltaTable(question["folder"], version=version)
    builder = package.QueryBuilder().register("t", table)
    return pa.table(builder.execute("select * from t").read_all())


def duckdb(question: Question) -> pyarrow.Table:
    """Read a Delta table by DuckDB, whose extension has Delta's kernel plan what is read."""
    import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

    (home,) = import_module("duckdb_extension_delta").__path__
    (extension,) = Path(home).glob("extensions/*/delta.duckdb_extension")
    connection = import_module("duckdb").connect()
    past = f" at (version => {int(question['past'])})" if question["past"] else ""
    connection.execute(f"load '{extension}'; set timezone = 'UTC'")
    connection.execute(f"attach '{question['folder']}' as d (type delta, internal_table_name 't')")
    return pa.table(connection.execute(f"select * from d.t{past}").to_arrow_table())


def hudi(question: Question) -> pyarrow.Table:
    """Read a Hudi table by hudi-rs: base files and log files, as of an instant or now."""
    import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

    package = import_module("hudi")
    options = package.HudiReadOptions()
    if question["past"]:
        options = options.with_as_of_timestamp(question["past"])
    table = package.HudiTableBuilder.from_base_uri(question["folder"]).build()
    batches = table.read(options)
    return pa.Table.from_batches(batches, None if batches else table.get_schema())


def pyarrow_files(question: Question) -> pyarrow.Table:
    """Read each data file of a folder by its own schema, and what the names of folders say."""
    import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

    dataset = import_module("pyarrow.dataset")
    kind = question["metadata"]
    if kind == "parquet":  # a moment of 96 bits may be outside of what 64 bits of nanoseconds hold
        kind = dataset.ParquetFileFormat(coerce_int96_timestamp_unit="us")
    folder, how = question["folder"], {"format": kind, "partitioning": "hive"}
    files = dataset.dataset(folder, **how).files
    parts = [dataset.dataset(file, **how, partition_base_dir=folder).to_table() for file in files]
    return pa.concat_tables(parts, promote_options="permissive") if parts else pa.table({})


READERS: Final[dict[str, Callable[[Question], pyarrow.Table]]] = {
    "pyiceberg": pyiceberg,
    "deltalake": deltalake,
    "duckdb": duckdb,
    "hudi": hudi,
    "pyarrow": pyarrow_files,
}


def main(packages: str, questions: str, answers: str) -> None:
    """Answer what has no answer yet."""
    sys.path.insert(0, packages)
    import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

    for number, question in enumerate(json.loads(Path(questions).read_text(encoding="utf-8"))):
        if list(Path(answers).glob(f"{number}.*")):
            continue
        try:
            table = READERS[question["reader"]](question)
            with pa.ipc.new_file(f"{answers}/{number}.part", table.schema) as writer:
                writer.write_table(table)
            Path(answers, f"{number}.part").rename(Path(answers, f"{number}.arrow"))
        except BaseException as problem:  # noqa: BLE001 - a panic of Rust is no Exception
            text = f"{type(problem).__name__}: {problem}"
            Path(answers, f"{number}.error").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name in ("packages", "questions", "answers"):
        parser.add_argument(name)
    main(**vars(parser.parse_args()))
