"""What delta-rs is told of a write: expressions on a `DeltaTable` that is called `table`. Pure.

Source: delta-rs's manual, "Writing Delta Tables", "Deleting rows from a Delta Lake table",
"Merging a Table", "Small file compaction with optimize", "Vacuuming tables" and "Checkpoints".
"""

from dataclasses import replace
from functools import partial
from typing import Final

from harness.engines.library_writes import LibraryWrites, TableWrite, arrow_schema, arrow_table
from harness.engines.query_sql import ANSI, predicate
from harness.model.identifiers import quoted
from harness.model.python_text import expression

SOURCE, TARGET = "source", "target"


def _delete(write: TableWrite) -> str:
    condition = expression(predicate(write.gone, ANSI)) if write.gone else ""
    return f"table.delete({condition})"


def _merge(write: TableWrite, more: str = "") -> str:
    """Return a merge by the key; of the clauses that fit a row, the first one counts."""
    on = expression(f"{_of(TARGET, write.key)} = {_of(SOURCE, write.key)}")
    aliases = f"source_alias={SOURCE!r}, target_alias={TARGET!r}"
    names = {name: expression(_of(SOURCE, name)) for name, _ in write.columns}
    changed = {name: names[name] for name in write.set} or names
    call = f"table.merge({arrow_table(write)}, {on}, {aliases}{more})"
    updates, inserts = (
        ", ".join(f"{expression(quoted(name, ANSI))}: {value}" for name, value in of.items())
        for of in (changed, names)
    )
    clauses = f".when_matched_update({{{updates}}}).when_not_matched_insert({{{inserts}}})"
    if write.gone:
        gone = predicate(replace(write.gone, path=f"{SOURCE}.{write.key}"), ANSI)
        clauses = f".when_matched_delete({expression(gone)}){clauses}"
    return f"{call}{clauses}.execute()"


def _of(table: str, column: str) -> str:
    return f"{table}.{quoted(column, ANSI)}"


def creation(write: TableWrite) -> tuple[str]:
    by, properties = expression([*write.partition_by]), expression(dict(write.properties))
    more = f"partition_by={by}, configuration={properties}"
    return (f"DeltaTable.create(table, {arrow_schema(write)}, {more})",)


WRITES: Final[LibraryWrites] = {
    **dict.fromkeys(
        ("insert", "insert_without"),
        lambda write: f"write_deltalake(table, {arrow_table(write)}, mode='append')",
    ),
    "upsert": _merge,
    "touch": _merge,
    "update": _merge,
    "merge": _merge,
    "merge_with_schema_evolution": partial(_merge, more=", merge_schema=True"),
    "delete": _delete,
    "delete_where": _delete,
    "truncate": lambda write: "table.delete()",  # noqa: ARG005 - of any table
    "overwrite": lambda write: f"write_deltalake(table, {arrow_table(write)}, mode='overwrite')",
    "savepoint": lambda write: "",  # noqa: ARG005 - every version can be gone back to
    "restore": lambda write: f"table.restore({write.instant})",
    "compact": lambda write: "table.optimize.compact()",  # noqa: ARG005 - as above
    "cluster": lambda write: "table.optimize.compact()",  # noqa: ARG005 - as above
    "set_property": lambda write: (
        f"table.alter.set_table_properties({expression(dict(write.properties))})"
    ),
    "checkpoint": lambda write: "table.create_checkpoint()",  # noqa: ARG005 - as above
    "compact_log": lambda write: "table.compact_logs(0, table.version())",  # noqa: ARG005 - as above
}
