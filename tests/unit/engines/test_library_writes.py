"""Rows of a write as the Python of Arrow, and what each library is told of it."""

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from harness.engines.arrow_values import canonical
from harness.engines.deltalake.writes import WRITES as DELTA_RS
from harness.engines.duckdb.writes import WRITES as DUCKDB
from harness.engines.duckdb.writes import creation
from harness.engines.library_writes import ColumnWrite, TableWrite, arrow_table, arrow_type
from harness.engines.pyiceberg.words import WRITES as PYICEBERG
from harness.model.canonical import MapValue, Value, equal
from harness.model.datatypes import parse_type
from harness.model.python_text import expression
from harness.model.query import Comparison, Condition

SCOPE = {"pa": pa, "Decimal": Decimal, "date": date, "datetime": datetime}
TEXT = parse_type("string")
KEYS = Condition("id", Comparison.IN, "1", "string", ("it's",))
ONE = TableWrite((("id", TEXT), ("ts", parse_type("long"))), "id", (("1", 7),), gone=KEYS)
SCHEMA = "pa.schema([('id', pa.string()), ('ts', pa.int64())])"
ROWS = f"pa.Table.from_pylist([{{'id': '1', 'ts': 7}}], {SCHEMA})"
ROWS_OF_TABLE = "pa.Table.from_pylist([{'id': '1', 'ts': 7}], table.schema().as_arrow())"


def evaluated(text: str) -> Any:  # noqa: ANN401 - what a worker makes of it
    return eval(text, SCOPE)  # noqa: S307 - as a worker does


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("boolean", True),
        ("tinyint", -128),
        ("long", 2**63 - 1),
        ("double", float("nan")),
        ("float", float("-inf")),
        ("double", -0.0),
        ("decimal(38, 2)", Decimal("-1.10")),
        ("string", "{location} 'quoted' \\ \n"),
        ("binary", b"{\x00"),
        ("date", date(1, 1, 1)),
        ("timestamp", datetime(2024, 2, 29, 1, 2, 3, 4)),  # noqa: DTZ001 - canonical
        ("timestamp_ntz", datetime(9999, 12, 31)),  # noqa: DTZ001 - as above
        ("struct<a: int, b: array<string>>", {"a": None, "b": ("x", None)}),
        ("map<string, decimal(5, 1)>", MapValue.of([("k", Decimal("1.5")), ("l", None)])),
        ("array<struct<a: int>>", None),
    ],
)
def test_a_value_comes_out_of_its_text_as_it_was(type_: str, value: Value) -> None:
    write = TableWrite((("id", parse_type(type_)),), "id", ((value,),))
    (scalar,) = evaluated(arrow_table(write)).column("id")
    assert equal(canonical(scalar), value)
    assert scalar.type == evaluated(arrow_type(parse_type(type_)))


def test_no_text_has_a_placeholder_of_ours() -> None:
    assert "{location}" not in expression("{location}")
    assert evaluated(expression({"{database}": "{location}"})) == {"{database}": "{location}"}


@pytest.mark.parametrize(
    ("writes", "name", "text"),
    [
        (DELTA_RS, "insert", f"write_deltalake(table, {ROWS}, mode='append')"),
        (DELTA_RS, "overwrite", f"write_deltalake(table, {ROWS}, mode='overwrite')"),
        (DELTA_RS, "delete", "table.delete('\"id\" in (\\'1\\', \\'it\\'\\'s\\')')"),
        (DELTA_RS, "checkpoint", "table.create_checkpoint()"),
        (PYICEBERG, "insert", f"table.append({ROWS_OF_TABLE})"),
        (PYICEBERG, "upsert", f"table.upsert({ROWS_OF_TABLE}, join_cols=['id'])"),
        (PYICEBERG, "delete", """table.delete(In('id', ('1', "it's",)))"""),
        (PYICEBERG, "truncate", "table.delete(AlwaysTrue())"),
    ],
)
def test_a_library_is_told_its_own_call(writes: dict[str, Any], name: str, text: str) -> None:
    assert writes[name](ONE) == text


MERGE_BY_DUCKDB = (
    'merge into t as target using "sent" as source on target."id" = source."id" '
    """when matched and "source"."id" in ('1', 'it''s') then delete """
    'when matched then update set "id" = source."id", "ts" = source."ts" '
    "when not matched then insert by name *"
)


class Ran:
    """Remembers what a table of DuckDB is to run."""

    def run(self, sql: str, rows: pa.Table | None = None) -> tuple[str, pa.Table | None]:
        return sql.replace('"written"."database"."t"', "t"), rows


def ran(text: str) -> tuple[str, pa.Table | None]:
    result: tuple[str, pa.Table | None] = eval(text, {**SCOPE, "table": Ran()})  # noqa: S307 - as a worker does
    return result


@pytest.mark.parametrize(
    ("name", "column", "sql"),
    [
        ("insert", None, 'insert into t by name select * from "sent"'),
        ("delete", None, """delete from t where "id" in ('1', 'it''s')"""),
        ("merge", None, MERGE_BY_DUCKDB),
        ("rename_column", ColumnWrite('a"b', "c"), 'alter table t rename column "a""b" to "c"'),
        ("drop_column", ColumnWrite("a"), 'alter table t drop column "a"'),
        (
            "add_column",
            ColumnWrite("s", type=parse_type("struct<x: array<long>>"), is_new=True),
            'alter table t add column "s" struct("x" bigint[])',
        ),
        (
            "change_type",
            ColumnWrite("n", type=parse_type("long")),
            'alter table t alter column "n" set data type bigint',
        ),
    ],
)
def test_duckdb_is_told_sql(name: str, column: ColumnWrite | None, sql: str) -> None:
    write = DUCKDB["iceberg"][name](replace(ONE, column=column))
    assert ran(write)[0] == sql
    assert "{" not in write.replace(ROWS, "")


def test_a_table_of_duckdb_is_made_where_a_placeholder_says() -> None:
    write = replace(ONE, partition_by=("ts",), properties={"a": "it's"}, location="file:{location}")
    (text,) = creation(write)
    assert ran(text.format(location="/x"))[0] == (
        """create table t ("id" varchar, "ts" bigint) partitioned by ("ts") """
        """with ('a' = 'it''s', location = 'file:/x')"""
    )


def test_a_merge_of_delta_rs_changes_the_columns_that_it_names_and_inserts_whole_rows() -> None:
    whole = DELTA_RS["upsert"](replace(ONE, gone=None))
    both = """{'"id"': 'source."id"', '"ts"': 'source."ts"'}"""
    on = """'target."id" = source."id"', source_alias='source', target_alias='target'"""
    clauses = ".when_matched_update({}).when_not_matched_insert({}).execute()"
    assert whole == f"table.merge({ROWS}, {on})" + clauses.format(both, both)
    part = DELTA_RS["update"](TableWrite(ONE.columns, "id", ONE.rows, set=("ts",)))
    assert part.endswith(clauses.format("""{'"ts"': 'source."ts"'}""", both))
    merged = DELTA_RS["merge"](ONE)
    deleted = """.when_matched_delete('"source"."id" in (\\'1\\', \\'it\\'\\'s\\')')"""
    assert merged == f"table.merge({ROWS}, {on}){deleted}" + clauses.format(both, both)
