"""What delta-rs answers, inside of its own process; see `harness.engines.python_worker`.

A question is `{"statement", "tables": [{"database", "name", "location", "version"}]}`: `location`
is a folder, `version` a number or null for the newest. `statement` is SQL, or with
`"conf": {"interface": "arrow"}` an expression of Python that knows `table(database, name)`, which
returns a DeltaTable, and Arrow's functions as `pc`. A write is `{"write", "table": {"location"}}`:
an expression that knows the DeltaTable as `table`, `write_deltalake`, and Arrow as `pa`.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

Message = dict[Any, Any]


def ask(question: Message) -> pyarrow.Table:
    import pyarrow as pa  # noqa: PLC0415 - of the engine's packages

    package, statement = import_module("deltalake"), question["statement"]
    tables = {
        (table["database"], table["name"]): (table["location"], table["version"])
        for table in question["tables"]
    }
    if question["conf"]:
        return evaluated(package, statement, tables)
    builder = package.QueryBuilder()
    for database in dict.fromkeys(database for database, _ in tables):
        builder.execute(f"create schema {quoted(database)}").read_all()
    for (database, name), (location, version) in tables.items():
        table = package.DeltaTable(location, version=version)
        builder.register(f"{quoted(database)}.{quoted(name)}", table)
    return pa.table(builder.execute(statement).read_all())


def evaluated(package: Any, statement: str, tables: Message) -> pyarrow.Table:  # noqa: ANN401
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.compute as pc  # noqa: PLC0415

    def table(database: str, name: str) -> Any:  # noqa: ANN401 - a DeltaTable
        if (database, name) not in tables:
            raise LookupError(f"the metastore has no table {database}.{name}")
        location, version = tables[database, name]
        return package.DeltaTable(location, version=version)

    scope = {
        "table": table, "pc": pc, "Decimal": Decimal, "date": date, "datetime": datetime
    }  # fmt: skip
    answer = eval(statement, scope)  # noqa: S307 - it comes from who knows the token
    if isinstance(answer, pa.Table):
        return answer
    return pa.table({"answer": [answer if isinstance(answer, int) else answer.as_py()]})


def write(question: Message) -> pyarrow.Table:
    import pyarrow as pa  # noqa: PLC0415 - as above

    package = import_module("deltalake")
    scope = {
        "table": package.DeltaTable(question["table"]["location"]),
        "write_deltalake": package.write_deltalake,
        "pa": pa, "Decimal": Decimal, "date": date, "datetime": datetime,
    }  # fmt: skip
    eval(question["write"], scope)  # noqa: S307 - it comes from who knows the token
    return pa.table({})


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
