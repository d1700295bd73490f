from dataclasses import dataclass

import pyarrow as pa

from harness.engines.arrow_values import canonical, canonical_type
from harness.engines.duckdb import answers

SENT = ('{"b":1.50,"a":null}', "null", "NaN", None)


@dataclass
class Relation:
    """What DuckDB has of an answer; it makes no table of Arrow's with a variant."""

    columns: list[str]
    types: list[str]

    def project(self, columns: str) -> "Relation":
        form = 'case when "a ""b" is not null then "a ""b"::json::varchar end as "a ""b"'
        assert columns == f"* replace ({form})"
        return Relation(self.columns, [])

    def to_arrow_table(self) -> pa.Table:
        assert "VARIANT" not in self.types
        return pa.table({name: list(SENT) for name in self.columns})


def test_variants_are_asked_for_as_json_and_are_variants_all_the_same() -> None:
    table = answers.arrow(Relation(["f", 'a "b'], ["VARCHAR", "VARIANT"]))
    assert [canonical_type(field.type) for field in table.schema] == ["string", "variant"]
    plain, variants = ([canonical(value) for value in column] for column in table.columns)
    assert plain == list(SENT)
    assert variants == ['{"a":null,"b":1.5}', "null", "NaN", None]


def test_an_answer_without_variants_is_taken_as_it_is() -> None:
    assert answers.arrow(Relation(["f"], ["VARCHAR"])).column(0).to_pylist() == list(SENT)
