"""What statements, as they were sent, say by themselves: which rows they name, and which values.

No rule of the model is asked. A value counts only where it stands with the key of its row, under
the name of its column: a `true` or a 0 stands in every other statement.
"""

from __future__ import annotations

import re
from typing import Final

from harness.model.canonical import Value
from harness.model.schema import Field
from harness.scenario.operations.spark_sql import literal, quoted

_SETS: Final = re.compile(
    r"\b(?:update \S+|merge into .* then update) set (?P<assigned>.*)", re.DOTALL
)


def names(sql: str, key: Value, column: Field) -> bool:
    """Return whether statements mention a key, `column` being that of the keys."""
    return within(literal(key, column), sql)


def has_column(sql: str, column: Field) -> bool:
    return quoted(column.name) in sql


def says(sql: str, key: tuple[Value, Field], value: Value, column: Field) -> bool:
    """Return whether statements give the row of a key this value under a column's name.

    Rows are sent whole, `select … as id, … as f1`, or by columns, `f1 = case id when … then … end`
    (`operations.sql`, `operations.update`).
    """
    key_text, value_text, names_key = literal(*key), literal(value, column), quoted(key[1].name)
    row = f"{key_text} as {names_key}", f"{value_text} as {quoted(column.name)}"
    whole = any(
        all(within(cell, part) for cell in row) for part in re.split(r"\bselect (?=\S)", sql)
    )
    _, _, after = sql.partition(f"{quoted(column.name)} = case {names_key} ")
    return whole or within(f"when {key_text} then {value_text}", after.partition(" end")[0])


def keeps(sql: str, key: tuple[Value, Field], column: Field) -> bool:
    """Return whether statements set other columns of a key's row, and this one stays as it was.

    An update assigns the columns that its `set` names and no others (ISO/IEC 9075-2, "set clause
    list").
    """
    result = _SETS.search(sql)
    omitted = result is not None and f"{quoted(column.name)} = " not in result["assigned"]
    return omitted and names(sql, *key)


def within(text: str, sql: str) -> bool:
    """Return whether a text stands in another one, and is no part of a longer word or number."""
    return re.search(rf"(?<![\w.-]){re.escape(text)}(?![\w.])", sql) is not None
