from dataclasses import replace

import pytest

from harness.artifacts import distributions
from harness.core.records import Answer, Column, Part, Refusal, Verdict, VerdictKind
from harness.judge.verdicts import judge
from harness.plan.distribution_support import declared
from tests.builders.judged_story import case_without_values, cell_at
from tests.builders.table_story import Story, history

READER = "hive-3.1.3{path=fetch}"
WHY = "hive-3.1.3 knows hudi tables up to version 8, not 9 (HoodieTableVersion of Hudi 1.0.2)"
REFUSED = Refusal("HoodieException", "Unknown table versionCode:9")
ID = (Column("id", "string", "string"),)


@pytest.fixture(scope="module")
def story() -> Story:
    return history("insert 1..2; drop f1", mor=True)


def judged(story: Story, version: str, view: str = "snapshot", **given: object) -> Verdict:
    case = case_without_values(story)
    states = [replace(state, table_version=version) for state in case.states]
    case = replace(case, states=states, limit=declared)
    cell = replace(cell_at(story, view), reader=READER)
    answer = replace(Answer(cell.case, "select"), **given)  # type: ignore[arg-type]
    (verdict,) = (
        verdict for verdict in judge(case, [cell], {cell.case: answer}) if verdict.view == view
    )
    return verdict


@pytest.mark.parametrize(
    ("reader", "table", "version", "why"),
    [
        (READER, "hudi-cow", "9", WHY),
        ("hive-3.1.3", "hudi-mor", "10", WHY.replace("9", "10")),
        (READER, "hudi-cow", "8", ""),
        (READER, "hudi-cow", "", ""),
        (READER, "iceberg", "9", ""),
        ("trino-476", "hudi-cow", "9", ""),
        ("a reader", "hudi-cow", "9", ""),
    ],
)
def test_what_is_declared_is_about_one_reader_kind_of_table_and_newer_versions(
    reader: str, table: str, version: str, why: str
) -> None:
    assert declared(reader, table, version) == why


OLD = 5
"""The table version of Hudi 0.12 to 0.13."""


def test_what_a_distribution_can_make_it_is_declared_to_know() -> None:
    every = [distributions.load(name) for name in distributions.names()]
    makers = [distribution for distribution in every if "table_versions" in distribution.settings]
    assert makers
    for maker in makers:
        # The last one is what it makes when it is told nothing: a plan counts on that.
        # Nothing is declared of versions before 0.14, which refuse a newer table by themselves.
        newest = maker.texts("table_versions")[-1]
        assert [str(reads.up_to) for reads in maker.reads.values()] == [newest][: int(newest) > OLD]


@pytest.mark.parametrize("view", ["snapshot", "read_optimized"])
def test_a_refusal_of_such_a_table_is_unsupported_and_says_what_is_declared(
    story: Story, view: str
) -> None:
    alone = tuple(Part(name, "", refusal=REFUSED) for name in ("id", "ts"))
    judgement = judged(story, "9", view, refusal=REFUSED, parts=alone)
    assert (judgement.verdict, judgement.because) == (VerdictKind.UNSUPPORTED, WHY)
    assert (judgement.findings, judgement.disclaimed) == ((), "")


def test_rows_are_judged_as_always_and_reported(story: Story) -> None:
    reply = story.read()
    right = judged(story, "9", columns=reply.columns, rows=reply.rows)
    wrong = judged(story, "9", columns=reply.columns, rows=reply.rows[1:])
    assert (right.verdict, right.disclaimed) == (VerdictKind.CORRECT, WHY)
    assert (wrong.verdict, wrong.disclaimed) == (VerdictKind.WRONG, WHY)
    assert judged(story, "8", columns=reply.columns, rows=reply.rows).disclaimed == ""
    none = judged(story, "9", columns=reply.columns)
    assert (none.verdict, none.disclaimed) == (VerdictKind.WRONG, ""), "there was nothing to refuse"


def test_a_refusal_of_which_one_column_is_answered_alone_hides_nothing(story: Story) -> None:
    alone = Part("id", "", ID, (("1",), ("2",))), Part("ts", "", refusal=REFUSED)
    judgement = judged(story, "9", refusal=REFUSED, parts=alone)
    assert (judgement.verdict, judgement.disclaimed) == (VerdictKind.REFUSED, WHY)


def test_what_was_not_sent_is_unsupported_as_long_as_that_is_declared(story: Story) -> None:
    judgement = judged(story, "9", not_applicable="it was not sent", probe="another case")
    assert (judgement.verdict, judgement.because) == (VerdictKind.UNSUPPORTED, WHY)
    withdrawn = judged(story, "8", not_applicable="it was not sent", probe="another case")
    assert (withdrawn.verdict, withdrawn.because) == (VerdictKind.UNKNOWN, "it was not sent")
    silent = judged(story, "9", unknown="the server died")
    assert (silent.verdict, silent.disclaimed) == (VerdictKind.UNKNOWN, "")
