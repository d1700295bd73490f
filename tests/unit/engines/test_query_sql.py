from __future__ import annotations

from harness.core.records import Column
from harness.engines.query_sql import META_COLUMNS, drop_meta, left_out, quoted


def test_the_columns_that_hudi_adds_are_left_out_with_their_values() -> None:
    columns = tuple(Column(name, "string") for name in ("a", *sorted(META_COLUMNS), "_hoodie_x"))
    assert drop_meta(columns, ((1, 2, 3, 4, 5, 6, 7),)) == (
        (Column("a", "string"), Column("_hoodie_x", "string")),
        ((1, 7),),
    )
    meta = left_out(columns, ((1, 2, 3, 4, 5, 6, 7), (1, 0, 0, 0, 0, 0, 7)))
    assert meta == tuple((columns[at], (at + 1, 0)) for at in range(1, 6))


def test_a_table_without_them_is_left_alone() -> None:
    columns = (Column("a", "string"),)
    assert drop_meta(columns, ((1,),)) == (columns, ((1,),))


def test_every_name_of_a_path_is_quoted_for_itself() -> None:
    assert quoted("a.b", "`") == "`a`.`b`"
    assert quoted('say "x"', '"') == '"say ""x"""'
