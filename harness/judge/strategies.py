"""Stage 2: which ways of reading give an answer, and what its rows were then read from."""

from __future__ import annotations

from dataclasses import dataclass

from harness.core.records import Answer
from harness.judge.answer_tables import tables_of
from harness.judge.file_evidence import Layout
from harness.judge.predicted_rows import PredictedRows


@dataclass(frozen=True, slots=True)
class Strategies:
    """The ways of reading that give an answer."""

    names: tuple[str, ...]
    """The smallest ones that reproduce all of it; several claim nothing."""
    catalog: int | None
    """The step by whose schema all of them go; None where that is the view's, and where they
    differ."""
    predicted: tuple[PredictedRows | None, ...]
    """What the rows of each of its tables were read from, where their values do not tell."""


def match_strategies(answer: Answer, layout: Layout) -> Strategies:
    """Return the ways that reproduce an answer, by what the files would show to each of them."""
    predicted = (
        layout.predicted(table.query, table.names, table.rows) for table in tables_of(answer)
    )
    strategies = layout.strategies(answer)
    catalogs = {strategy.catalog for strategy in strategies}
    catalog = catalogs.pop() if len(catalogs) == 1 else None
    return Strategies(tuple(map(str, strategies)), catalog, tuple(predicted))
