from dataclasses import replace

import pytest

from harness.core.records import FindingKind, Responsible
from harness.judge.recorded_variant import RecordedVariant
from harness.model.query import Comparison, Condition, Query
from harness.model.schema_history import FIRST, SchemaHistory, SchemaVersion
from tests.builders.judged_story import blamed, case_of, judged, with_last
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import Story, history

COLUMNS = "id long, ts long, f1 string, f2 string"


def keeping(planted: Story, *names: tuple[str, str]) -> RecordedVariant:
    """Return a table whose own history has columns of now, each by an id that another one had."""
    case = case_of(planted)
    now, before = ([(id_, pair[at], "string") for id_, pair in enumerate(names)] for at in (0, 1))
    versions = (SchemaVersion(FIRST, len(names), tuple(columns)) for columns in (before, now))
    schemas = SchemaHistory(tuple(versions)) if names else None
    return with_last(case, replace(case.states[-1], schema_history=schemas))


def with_values_of(planted: Story, name: str, other: str) -> Reply:
    reply = planted.read()
    at = [column.name for column in reply.columns].index(name)
    old = planted.history[1]
    values = {key: row.values[old.column_id(other)] for key, row in old.rows.items()}
    rows = (
        tuple(values[row[0]] if n == at else v for n, v in enumerate(row)) for row in reply.rows
    )
    return replace(reply, rows=tuple(rows))


@pytest.mark.parametrize(
    ("names", "responsible"),
    [
        ([("f3", "f2")], Responsible.HISTORY),
        ([("f3", "f1")], Responsible.READER),
        ([], Responsible.READER),
    ],
)
def test_a_column_with_the_id_of_a_dropped_one_is_the_writers_doing(
    names: list[tuple[str, str]], responsible: Responsible
) -> None:
    truth_history = history("insert 401..404; drop f2; add f3 string", COLUMNS)
    answer = with_values_of(truth_history, "f3", "f2")
    *_, verdict = judged(keeping(truth_history, *names), [answer])
    assert blamed(verdict) == {(FindingKind.MISALIGNED, responsible)}


@pytest.mark.parametrize(
    ("names", "responsible"), [([("f3", "f2")], None), ([], Responsible.READER)]
)
def test_nobody_is_named_where_a_condition_is_on_a_mistaken_column(
    names: list[tuple[str, str]], responsible: Responsible | None
) -> None:
    truth_history = history("insert 401..404; drop f2; add f3 string", COLUMNS)
    asked = Query(where=Condition("f3", Comparison.NULL))
    reply = replace(truth_history.read(), rows=())
    *_, verdict = judged(keeping(truth_history, *names), [reply], query=asked)
    assert blamed(verdict) == {(FindingKind.LOST_ROW, responsible)}
