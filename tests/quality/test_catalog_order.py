from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness.core.records import FindingKind, Responsible, Verdict
from tests.builders.judged_story import answer_of, blamed, case_of, verdict_on, with_last
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import Story, history

COLUMNS = "id long, ts long, f1 string, f2 string, f3 string"
CATALOG_NAMES = "the table's own order under the catalog's names"
CATALOG = ("id", "ts", "f1", "f2", "f3")
MOVED = "insert 401..404; upsert 402; move f1 after f2"
RENAMED = "insert 401..404; rename f3 g; insert 405; move f1 after f2"


def named_by(planted: Story, catalog: Sequence[str], by: str = "id") -> Reply:
    reply = planted.read(by)
    names = {column.name: column for column in reply.columns}
    return Reply(tuple(names[name] for name in catalog), reply.rows)


def judged(planted: Story, catalog: Sequence[str], answer: Reply) -> Verdict:
    case = case_of(planted)
    case = with_last(case, replace(case.states[-1], catalog=tuple(catalog)))
    return verdict_on(case, answer_of(answer))


@pytest.mark.parametrize("mor", [False, True])
def test_the_order_of_the_table_under_the_names_of_the_catalog_is_a_way_of_reading(
    *, mor: bool
) -> None:
    truth_history = history(f"{MOVED}; upsert 401", COLUMNS, mor=mor)
    verdict = judged(truth_history, CATALOG, named_by(truth_history, CATALOG))
    assert blamed(verdict) == {(FindingKind.MISALIGNED, Responsible.READER)}
    assert {f"by id, {CATALOG_NAMES}", f"by name, {CATALOG_NAMES}"} <= {*verdict.reproduces}
    assert verdict.claimed == ""


def test_it_is_claimed_where_nothing_else_gives_the_answer() -> None:
    truth_history = history(RENAMED, COLUMNS)
    catalog = ("id", "ts", "f1", "f2", "g")
    verdict = judged(truth_history, catalog, named_by(truth_history, catalog, "name"))
    assert verdict.claimed == f"by name, {CATALOG_NAMES}"


def test_a_null_that_came_from_another_column_is_misaligned_and_not_lost() -> None:
    truth_history = history("insert 401..405; move f1 after f2", COLUMNS)
    reply = named_by(truth_history, CATALOG)
    assert None in dict(zip((row[0] for row in reply.rows), reply.rows, strict=True))[405]
    assert blamed(judged(truth_history, CATALOG, reply)) == {
        (FindingKind.MISALIGNED, Responsible.READER)
    }


@pytest.mark.parametrize(
    ("steps", "catalog"),
    [
        (MOVED, ("id", "ts", "f2", "f1", "f3")),  # the catalog knows of the move
        (MOVED, ()),
        (MOVED, ("id", "ts", "f1", "f2", "other")),
        ("insert 401..404; move f1 first", CATALOG),  # a text under the name of a number
    ],
)
def test_it_is_not_tried_where_it_cannot_be(steps: str, catalog: Sequence[str]) -> None:
    truth_history = history(steps, COLUMNS)
    swapped = named_by(truth_history, ("id", "ts", "f1", "f2", "f3"))
    verdict = judged(truth_history, catalog, swapped)
    assert not any(CATALOG_NAMES in strategy for strategy in verdict.reproduces)
