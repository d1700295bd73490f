from __future__ import annotations

from harness.core.records import Column
from harness.engines.query_sql import META_COLUMNS, drop_meta, left_out, quoted


def test_the_columns_that_formats_add_are_left_out_with_their_values() -> None:
    columns = tuple(Column(name, "string") for name in ("a", *sorted(META_COLUMNS), "_hoodie_x"))
    last = len(META_COLUMNS) + 1
    row, other = tuple(range(1, last + 2)), (1, *[0] * len(META_COLUMNS), 7)
    assert drop_meta(columns, (row,)) == (
        (Column("a", "string"), Column("_hoodie_x", "string")),
        ((1, last + 1),),
    )
    meta = left_out(columns, (row, other))
    assert meta == tuple((columns[at], (at + 1, 0)) for at in range(1, last))


def test_a_table_without_them_is_left_alone() -> None:
    columns = (Column("a", "string"),)
    assert drop_meta(columns, ((1,),)) == (columns, ((1,),))


def test_every_name_of_a_path_is_quoted_for_itself() -> None:
    assert quoted("a.b", "`") == "`a`.`b`"
    assert quoted('say "x"', '"') == '"say ""x"""'
