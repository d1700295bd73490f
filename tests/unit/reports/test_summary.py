from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.core.parties import Party
from harness.core.records import FindingKind, Refusal, VerdictKind
from harness.core.refusals import INTERNAL
from harness.reports import summary
from harness.reports.summary import ResultGroup
from harness.run.load_run import Run
from tests.recorded import sample


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return sample.make(tmp_path_factory.mktemp("run"))


def of(run: Run, finding: FindingKind, reader: str) -> list[ResultGroup]:
    groups = summary.group_findings(run)
    return [each for each in groups if each.finding is finding and each.reader == reader]


def test_the_same_finding_after_a_later_write_is_the_same_group(sampled: Run) -> None:
    group = of(sampled, FindingKind.MISALIGNED, sample.NAMES[5])[0]
    assert len(group.cases) == 6
    assert group.text == (
        "trino-476{use-column-names=false}: misaligned columns f2, f1 in hudi/move "
        "(hudi-cow, hudi-mor; snapshot, read-optimized) after step 3 'move column f1 after f2' and "
        "still after step 4: in row 1, f2 shows 'f3s1r1', the value of f1 written at step 1; "
        "expected 'f4s1r1'. 6 cells."
    )


def test_a_known_finding_is_a_group_of_its_own_after_the_new_ones(sampled: Run) -> None:
    groups = summary.group_findings(sampled)
    assert [bool(each.known) for each in groups] == sorted(bool(each.known) for each in groups)
    known = of(sampled, FindingKind.MISALIGNED, sample.NAMES[6])[-1]
    assert known.text.endswith("Known: hive.parquet.use-column-names is false by default.")


def test_silent_wrong_answers_come_before_errors(sampled: Run) -> None:
    new = [each.verdict for each in summary.group_findings(sampled) if not each.known]
    ranks = [summary.ORDER.index(each) for each in new]
    assert ranks == sorted(ranks)
    assert new[0] is VerdictKind.WRONG


def test_every_cell_that_is_not_correct_is_in_a_group(sampled: Run) -> None:
    grouped = {case for each in summary.group_findings(sampled) for case in each.cases}
    bad = {each.case for each in sampled.verdicts if each.verdict is not VerdictKind.CORRECT}
    assert grouped == bad


def test_a_finding_in_a_refused_cell_says_that_columns_were_asked_alone(sampled: Run) -> None:
    groups = of(sampled, FindingKind.MISALIGNED, sample.NAMES[6])
    refused = next(each for each in groups if each.verdict is VerdictKind.REFUSED)
    assert "asked alone" in refused.text


def test_a_refusal_says_the_error_and_what_it_means(sampled: Run) -> None:
    refused = [each for each in summary.group_findings(sampled) if each.finding is None]
    text = next(each.text for each in refused if each.verdict is VerdictKind.REFUSED)
    assert "prestosql-350: refuses to answer in hudi/move" in text
    assert "GENERIC_INTERNAL_ERROR (65536): io.prestosql.spi.type.VarcharType" in text
    assert "(read by position)" in text


def test_a_mapping_is_named_only_when_all_cells_agree_on_it(sampled: Run) -> None:
    stale = of(sampled, FindingKind.STALE, "trino-476")[0]
    assert "(reads by name, base files only)" in stale.text
    mixed = of(sampled, FindingKind.MISALIGNED, sample.NAMES[5])[0]
    assert "reads by" not in mixed.text


def test_unknown_cells_of_one_reader_and_reason_are_one_group(sampled: Run) -> None:
    everywhere = replace(sampled, recorded={}, answers={})
    groups = summary.group_findings(everywhere)
    assert len(groups) == len(sample.NAMES)
    assert sum(len(each.cases) for each in groups) == len(everywhere.verdicts)
    assert "in 3 scenarios" in groups[0].text


def test_totals_count_every_cell_once(sampled: Run) -> None:
    counted = summary.totals(sampled)
    assert set(counted) == set(VerdictKind)
    assert sum(counted.values()) == len(sampled.verdicts)


def test_an_answer_after_a_failed_attempt_is_flaky_and_silence_is_not(sampled: Run) -> None:
    assert {case.rpartition("/")[2] for case in summary.flaky(sampled)} == {sample.NAMES[2]}


def test_an_error_that_came_both_times_is_not_flaky(sampled: Run) -> None:
    case, *others = summary.flaky(sampled)
    for refusal, flaky in ((Refusal(INTERNAL, "m", "500"), []), (Refusal("K", "m"), [case])):
        refused = replace(sampled.answers[case], refusal=refusal)
        run = replace(sampled, answers={**sampled.answers, case: refused})
        assert summary.flaky(run) == (*flaky, *others)


def test_a_run_without_cells_has_no_groups(sampled: Run, tmp_path: Path) -> None:
    empty = Run(tmp_path, replace(sampled.info, cells=()), (), {}, {})
    assert summary.group_findings(empty) == ()


def with_ways(run: Run, *told: tuple[str, ...]) -> Run:
    """Return the run whose first wrong cells are reproduced by these ways, and no other."""
    wrong = [each for each in run.verdicts if each.verdict is VerdictKind.WRONG]
    ways = dict(zip((each.case for each in wrong), told, strict=False))
    verdicts = (replace(each, reproduces=ways.get(each.case, ())) for each in run.verdicts)
    return replace(run, recorded={each.case: each for each in verdicts})


def test_how_often_one_several_or_no_way_of_reading_gives_a_wrong_answer_is_counted(
    sampled: Run,
) -> None:
    run = with_ways(sampled, ("by name",), ("by id", "by name"), ("by position",))
    assert summary.explained(run) == (
        "Of 46 wrong answers, exactly one way of reading the files explains 2, and is named; "
        "several explain 1, so none is claimed; none of those tried explains 43."
    )
    small = {case: replace(each, scant=True) for case, each in run.recorded.items()}
    said = summary.explained(replace(run, recorded=small))
    assert "one way of reading the files explains 0," in said
    assert "; one fits 2 so small (a count, or no rows) that" in said


def test_where_nothing_is_wrong_nothing_is_said_of_ways(sampled: Run) -> None:
    right = (replace(each, verdict=VerdictKind.CORRECT) for each in sampled.verdicts)
    assert summary.explained(replace(sampled, recorded={each.case: each for each in right})) == ""


@pytest.mark.parametrize(
    ("first", "then", "text"),
    [
        (("by name",), ("by id", "by name"), "(reads by name)"),
        # What a part of a way gives, the whole way gives too.
        (("by name",), ("by id, x", "by name, x"), "(reads by name, x)"),
        (("by name",), ("by position",), "written at step 1; expected 'f4s1r1'. "),
        (("by id", "by name"), ("by id", "by name"), "from by id; by name)"),
    ],
)
def test_a_group_names_the_way_that_explains_all_of_its_answers(
    sampled: Run, first: tuple[str, ...], then: tuple[str, ...], text: str
) -> None:
    group = of(sampled, FindingKind.MISALIGNED, sample.NAMES[5])[0]
    ways = {case: first if at % 2 else then for at, case in enumerate(group.cases)}
    verdicts = (
        replace(each, reproduces=ways.get(each.case, each.reproduces)) for each in sampled.verdicts
    )
    run = replace(sampled, recorded={each.case: each for each in verdicts})
    assert text in of(run, FindingKind.MISALIGNED, sample.NAMES[5])[0].text


@pytest.mark.parametrize(
    ("rows", "little", "text"),
    [
        (("by name",), ("by id", "by name"), "(reads by name)"),
        # The count alone tells the two apart.
        (("by id", "by name"), ("by name",), "(none is claimed: by name gives the same answer, b"),
        (("by name",), ("by position",), "written at step 1; expected 'f4s1r1'. "),
    ],
)
def test_an_answer_that_tells_too_little_decides_nothing_in_a_group(
    sampled: Run, rows: tuple[str, ...], little: tuple[str, ...], text: str
) -> None:
    group = of(sampled, FindingKind.MISALIGNED, sample.NAMES[5])[0]
    scant = set(group.cases[1::2])
    assert scant
    verdicts = (
        replace(each, reproduces=little, scant=True)
        if each.case in scant
        else replace(each, reproduces=rows if each.case in group.cases else each.reproduces)
        for each in sampled.verdicts
    )
    run = replace(sampled, recorded={each.case: each for each in verdicts})
    assert text in of(run, FindingKind.MISALIGNED, sample.NAMES[5])[0].text


def test_findings_of_another_doing_are_a_group_of_their_own(sampled: Run) -> None:
    wrong = [each for each in sampled.verdicts if each.verdict is VerdictKind.WRONG]
    (case,) = {each.case for each in wrong[:1]}
    blamed = tuple(replace(each, party=Party.WRITER) for each in wrong[0].findings)
    changed = replace(
        sampled, recorded={**sampled.recorded, case: replace(wrong[0], findings=blamed)}
    )
    texts = [each.text for each in summary.group_findings(changed) if case in each.cases]
    assert any("the files hold the same: the writer is to blame)" in each for each in texts)
    before = len(summary.group_findings(sampled))
    assert len(summary.group_findings(changed)) >= before


def test_a_reader_is_not_accused_where_the_model_is_in_doubt(sampled: Run) -> None:
    wrong = next(each for each in sampled.verdicts if each.verdict is VerdictKind.WRONG)
    doubted = replace(wrong, verdict=VerdictKind.UNKNOWN, because="in doubt")
    changed = replace(sampled, recorded={**sampled.recorded, wrong.case: doubted})
    (group,) = (each for each in summary.group_findings(changed) if wrong.case in each.cases)
    assert (group.finding, group.verdict) == (None, VerdictKind.UNKNOWN)
