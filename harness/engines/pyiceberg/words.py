"""Conditions in the words of `pyiceberg.expressions`, and writes: what a `Table` is told. Pure.

Source: PyIceberg's manual, "Write to a table", "Upsert" and "Schema evolution".
"""

from collections.abc import Iterator, Sequence
from typing import Final

from harness.engines.library_writes import LibraryWrites, TableWrite, arrow_schema, arrow_table
from harness.engines.python_library import python_literal
from harness.model.python_text import expression
from harness.model.query import Comparison, Condition

_CALLS: Final = {
    Comparison.EQUAL: "EqualTo({})",
    Comparison.NOT_EQUAL: "NotEqualTo({})",
    Comparison.NOT: "Not(EqualTo({}))",
    Comparison.LESS: "LessThan({})",
    Comparison.AT_MOST: "LessThanOrEqual({})",
    Comparison.GREATER: "GreaterThan({})",
    Comparison.AT_LEAST: "GreaterThanOrEqual({})",
    Comparison.IN: "In({}, ({},))",
    Comparison.NOT_IN: "NotIn({}, ({},))",
    Comparison.STARTS_WITH: "StartsWith({})",
    Comparison.NULL: "IsNull({})",
    Comparison.NOT_NULL: "NotNull({})",
    Comparison.NAN: "IsNaN({})",
    Comparison.NOT_NAN: "NotNaN({})",
}
"""Of `pyiceberg.expressions`."""
_TRUE_OF_NULL: Final = frozenset({Comparison.NOT_EQUAL, Comparison.NOT, Comparison.NOT_IN})
"""What NULL meets by Iceberg's own logic, which has two values: who means SQL's, which has three,
adds that it is not NULL (Iceberg, Expressions Spec, "Tests", "Comparisons" and "Boolean logic").
PyIceberg 0.12.0 follows it in `NotIn`, and of the rows of a file not in the others."""


def condition(conditions: Sequence[Condition]) -> str:
    """Return conditions, each of which must hold.

    >>> condition([Condition("n", Comparison.NULL), Condition("a", Comparison.EQUAL, "1", "int")])
    "And(IsNull('n'), EqualTo('a', 1))"
    """
    parts = [part for condition in conditions for part in _parts(condition)]
    return parts[0] if len(parts) == 1 else f"And({', '.join(parts)})"


def _parts(condition: Condition) -> Iterator[str]:
    test, path = condition.test, repr(condition.path)
    texts = condition.literals
    values = [literal(text, condition.type) for text in texts if text is not None]
    if test in _TRUE_OF_NULL:
        yield f"NotNull({path})"
    if test is Comparison.BETWEEN:
        yield f"GreaterThanOrEqual({path}, {values[0]})"
        yield f"LessThanOrEqual({path}, {values[1]})"
    elif test in {Comparison.IN, Comparison.NOT_IN}:
        yield _CALLS[test].format(path, ", ".join(values))
    else:
        yield _CALLS[test].format(", ".join((path, *values)))


def literal(text: str, type_: str) -> str:
    if type_ in {"timestamp", "timestamp_ntz"}:
        return repr(text.replace(" ", "T"))
    return repr(text) if type_ == "date" else python_literal(text, type_)


_SCHEMA: Final = "table.schema().as_arrow()"
"""Whether moments have a zone is the table's to say: PyIceberg takes no others."""


def _delete(write: TableWrite) -> str:
    return f"table.delete({condition([write.gone])})" if write.gone else ""


def _upsert(write: TableWrite) -> str:
    return f"table.upsert({arrow_table(write, _SCHEMA)}, join_cols=[{expression(write.key)}])"


def creation(write: TableWrite) -> Iterator[str]:
    """Yield the creation of a table, and of its partition fields one by one."""
    properties = expression(dict(write.properties))
    place = f"'{write.location}', properties={properties}"
    yield f"table.create_table((), {arrow_schema(write)}, {place})"
    for name in write.partition_by:
        yield f"table.update_spec().add_identity({expression(name)}).commit()"


WRITES: Final[LibraryWrites] = {
    "insert": lambda write: f"table.append({arrow_table(write, _SCHEMA)})",
    "upsert": _upsert,
    "touch": _upsert,
    "update": _upsert,
    "delete": _delete,
    "delete_where": _delete,
    "truncate": lambda write: "table.delete(AlwaysTrue())",  # noqa: ARG005 - of any table
    "overwrite": lambda write: f"table.overwrite({arrow_table(write, _SCHEMA)})",
}
"""Expressions in which the table is called `table`."""
