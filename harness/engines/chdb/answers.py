"""What chDB answers, inside of its own process; see `harness.engines.python_worker`.

A question is `{"statement", "tables": [{"name", "source"}]}`. The statement is SQL in which a table
has a `name`, quoted; `source` is the table function that stands for it. A write knows an Iceberg
table by its `metadata` file.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

if TYPE_CHECKING:
    import pyarrow

Message = dict[str, Any]
NOTHING_OUTLIVES: Final = {
    # Each keeps what files held for later questions (ClickHouse's manual, "Session Settings").
    "use_cache_for_count_from_files": 0,
    "use_iceberg_metadata_files_cache": 0,
    "use_parquet_metadata_cache": 0,
    "use_query_condition_cache": 0,
    "schema_inference_use_cache_for_file": 0,
}
DROPS: Final = ("system drop parquet metadata cache", "system drop iceberg metadata cache")
"""What is kept all the same: chDB 4.4.0 took a file's statistics of before, whatever is set."""
SETTING: Final = re.compile(r" settings \w+ = \d+$")
"""The end of a statement about the past."""
BYTES: Final = {"output_format_arrow_string_as_string": 0}
"""Else bytes that are no text come as Arrow's texts, which cannot be read then."""


def ask(question: Message) -> pyarrow.Table:
    statement = question["statement"]
    last = ", " if SETTING.search(statement) else " settings "
    for table in question["tables"]:
        statement = statement.replace(table["name"], table["source"])
    settings = {**NOTHING_OUTLIVES, **BYTES}
    text = ", ".join(f"{name} = {value}" for name, value in settings.items())
    os.chdir("/")  # `icebergLocal` reads nothing outside of the process's own folder
    for drop in DROPS:
        connection().query(drop, "TSV")
    return texts(connection().query(f"{statement}{last}{text}", "ArrowTable"))


@cache
def connection() -> Any:  # noqa: ANN401 - chDB's own
    """Return the one connection of this process: `chdb.query` opens one each time, for 0.2 s."""
    return import_module("chdb").connect()


names = dict
"""What an expression knows besides its table: nothing."""


class WritableTable:
    """A table that is written to; `metadata_location`: what its catalog is to name.

    ClickHouse commits `v<N>.metadata.json`, which must follow a file of such a name, and a hint
    must say so where others call their files otherwise. So the file of now has that name too while
    it writes, and the new one gets a name as those of a catalog have.
    """

    def __init__(self, metadata: str) -> None:
        self.metadata_location = metadata

    def insert(self, rows: pyarrow.Table) -> None:
        now = Path("/" + self.metadata_location.removeprefix("file:").lstrip("/"))
        folder = now.parent
        number = int(now.name.partition("-")[0])
        copy, made = (folder / f"v{at}.metadata.json" for at in (number, number + 1))
        hint = folder / "version-hint.text"
        table = f"icebergLocal('{folder.parent}', settings iceberg_use_version_hint = 1)"
        sent = folder.parent.with_name(f"{folder.parent.name}-{uuid4()}.parquet")
        # Not as an object: of two threads chDB 4.4.0 took the rows of the other one.
        import_module("pyarrow.parquet").write_table(rows, sent)
        os.chdir("/")  # as above
        metadata = json.loads(now.read_text(encoding="utf-8"))
        # Of `file:/…` it makes paths that begin with `/file:/`, which nobody finds.
        metadata["location"] = f"file://{folder.parent}"
        copy.write_text(json.dumps(metadata), encoding="utf-8")
        hint.write_text(f"{number}", encoding="utf-8")
        try:
            connection().query(
                f"insert into table function {table} select * from file('{sent}', 'Parquet') "
                "settings allow_insert_into_iceberg = 1",
                "TSV",
            )
        finally:
            for path in (copy, hint, sent):
                path.unlink()
        named = made.rename(folder / f"{number + 1:05d}-{uuid4()}.metadata.json")
        self.metadata_location = f"file:{named}"


def writable(table: Message) -> WritableTable:
    return WritableTable(table["metadata"])


def texts(table: pyarrow.Table) -> pyarrow.Table:
    """Return a table whose binary columns are texts, but for those with bytes that are none.

    To ClickHouse both are String, any bytes (its manual, "String").
    """
    for at, column in enumerate(table.columns):
        if (text := as_text(column)) is not None:
            table = table.set_column(at, table.field(at).name, text)
    return table


def as_text(column: Any) -> Any:  # noqa: ANN401 - a column of Arrow, or None
    import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

    try:
        result = column.cast(textual(column.type))
        result.validate(full=True)
    except pa.ArrowInvalid:
        return None
    return result


def textual(kind: pyarrow.DataType) -> pyarrow.DataType:
    """Return a type with texts in the place of bytes."""
    import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

    if pa.types.is_binary(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(textual(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(textual(kind.key_type), textual(kind.item_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(textual(field.type)) for field in kind])
    return kind
