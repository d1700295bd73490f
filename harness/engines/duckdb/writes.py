"""What DuckDB is told of a write: SQL that a table in its worker is to `run`. Pure.

Source: DuckDB's manual, "Writing to Iceberg", "Delta Extension", "MERGE INTO Statement" and
"ALTER TABLE Statement".
"""

from dataclasses import replace
from typing import Final

from harness.engines.duckdb.answers import SENT, TARGET, text
from harness.engines.library_writes import LibraryWrites, TableWrite, arrow_table
from harness.engines.query_sql import ANSI, predicate
from harness.model import identifiers
from harness.model.datatypes import TypeNames
from harness.model.python_text import expression

_NAMES: Final = {
    "int": "integer",
    "long": "bigint",
    "float": "real",
    "string": "varchar",
    "binary": "blob",
    "timestamp": "timestamptz",
    "timestamp_ntz": "timestamp",
}


def quoted(path: str) -> str:
    return identifiers.quoted(path, ANSI)


_TYPES: Final = TypeNames(
    _NAMES, quote=quoted, struct="struct({})", child="{} {}", array="{}[]", map="map({})"
)


def _run(sql: str, rows: str = "") -> str:
    return f"table.run({expression(sql)}{f', {rows}' if rows else ''})"


def _insert(write: TableWrite) -> str:
    return _run(f"insert into {TARGET} by name select * from {SENT}", arrow_table(write))


def _merge(write: TableWrite) -> str:
    """Return a merge by the key; of the clauses that fit a row, the first one counts."""
    key, leave = quoted(write.key), ""
    if write.gone:
        gone = replace(write.gone, path=f"source.{write.key}")
        leave = f"when matched and {predicate(gone, ANSI)} then delete "
    names = map(quoted, write.set or [name for name, _ in write.columns])
    sets = ", ".join(f"{name} = source.{name}" for name in names)
    return _run(
        f"merge into {TARGET} as target using {SENT} as source on target.{key} = source.{key} "
        f"{leave}when matched then update set {sets} when not matched then insert by name *",
        arrow_table(write),
    )


def _delete(write: TableWrite) -> str:
    return _run(f"delete from {TARGET} where {predicate(write.gone, ANSI)}") if write.gone else ""


def _alter(write: TableWrite) -> str:
    """Return a change of one column, by what is known of it afterwards."""
    if (column := write.column) is None:
        return ""
    name = quoted(column.path)
    if column.name:
        change = f"rename column {name} to {quoted(column.name)}"
    elif column.type is None:
        change = f"drop column {name}"
    elif column.is_new:
        change = f"add column {name} {_TYPES.text(column.type)}"
    else:
        change = f"alter column {name} set data type {_TYPES.text(column.type)}"
    return _run(f"alter table {TARGET} {change}")


def creation(write: TableWrite) -> tuple[str]:
    """Return the creation of a table of Iceberg."""
    columns = ", ".join(f"{quoted(name)} {_TYPES.text(type_)}" for name, type_ in write.columns)
    partitions = ", ".join(map(quoted, write.partition_by))
    by = f"partitioned by ({partitions}) " if partitions else ""
    options = "".join(f"{text(name)} = {text(value)}, " for name, value in write.properties.items())
    sql = f"create table {TARGET} ({columns}) {by}with ({options}location = '"
    # Texts that stand side by side are one to Python; that in the middle has a placeholder.
    end = expression("')")
    return (f"table.run({expression(sql)} '{write.location}' {end})",)


INSERTS: Final[LibraryWrites] = {"insert": _insert}
CHANGES: Final[LibraryWrites] = {
    **INSERTS,
    **dict.fromkeys(("upsert", "touch", "update", "merge"), _merge),
    **dict.fromkeys(("delete", "delete_where"), _delete),
    "truncate": lambda write: _run(f"truncate {TARGET}"),  # noqa: ARG005 - of any table
    **dict.fromkeys(("add_column", "rename_column", "drop_column", "change_type"), _alter),
}
WRITES: Final = {"delta": INSERTS, "iceberg": CHANGES}
"""Rows of Delta tables are added alone; of Iceberg DuckDB has no words to overwrite a table."""
