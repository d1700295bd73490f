"""Which tables a query names."""

from __future__ import annotations

import pytest

from harness.engines import named_tables


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ('select * from "d"."t"', [("d", "t")]),
        ('select * from "d"."t" "other" where "t" = \'x\'', [("d", "t")]),
        ('select count(*) from "d"."t" a, "d"."u" b', [("d", "t"), ("d", "u")]),
        ('select "a" from "d"."a""b"', [("d", 'a"b')]),
        ('select * from "d"."t" at (version => 3) where "a" = 1', [("d", "t")]),
        ('select * from "d"."t@v3"', [("d", "t@v3")]),
        ("select 1", []),
    ],
)
def test_the_tables_of_a_query_are_found(sql: str, found: list[tuple[str, str]]) -> None:
    assert list(named_tables.named(sql)) == found
