"""What is known of a cause: the tracker's entry, and the version in which it is right."""

from pathlib import Path

import pytest

from harness.artifacts import distributions
from harness.comparison.result import ComparedSide, SideComparison, compare
from harness.core.records import FindingKind, Verdict, VerdictKind
from harness.model.datatypes import Primitive
from harness.plan import shipped
from harness.reports import cause_texts, html, known_defects, upgrade_files, upgrade_report
from harness.run.load_run import Run
from harness.scenario.cells import Variant
from harness.scenario.operations.columns import AddColumn
from harness.scenario.operations.row_writes import Insert
from tests.builders.scenarios import scenario_of
from tests.builders.verdicts import finding, run, verdict

RIGHT, WRONG = VerdictKind.CORRECT, VerdictKind.WRONG
LOST = finding(FindingKind.LOST_VALUE, ("1", "a", None))
OLD, NEW = "trino-476", "trino-483"
ENTRY = "https://github.com/trinodb/trino/pull/27837"
DOCS = Path(__file__).parents[3] / "docs"


def table(default: str | None, format_: str = "iceberg") -> Variant:
    scenario = scenario_of(Insert((1,)), AddColumn("a", Primitive("string"), default=default))
    return Variant("v", scenario, format_, {}, ("w", "w", "w"))


def asked(variant: Variant, *answers: tuple[str, VerdictKind]) -> Run:
    verdicts: list[Verdict] = []
    for reader, kind in answers:
        verdicts.append(verdict(RIGHT, step=1, reader=reader, variant=variant))
        findings = (LOST,) if kind is WRONG else ()
        verdicts.append(verdict(kind, *findings, step=2, reader=reader, variant=variant))
    return run(*verdicts, variants=(variant,))


def to_do(run_: Run) -> str:
    (text,) = cause_texts.cause_texts(run_)
    return text.to_do


def test_another_version_that_was_right_is_named_before_anything_else() -> None:
    text = to_do(asked(table(None), (OLD, WRONG), (NEW, RIGHT), ("pyiceberg-0.12.0", RIGHT)))
    assert text.startswith("Right in trino-483. ")
    assert "pyiceberg" not in text
    assert not to_do(asked(table(None), (OLD, WRONG), (NEW, WRONG))).startswith("Right in")


def test_a_cause_that_fits_a_known_defect_names_the_tracker_s_entry() -> None:
    text = to_do(asked(table("x"), (OLD, WRONG)))
    assert text.startswith("Right in trino-483. "), "as is known: it was not asked here"
    assert f"It fits a known defect: <{ENTRY}>" in text
    assert "docs/wrong_answers.md#trino-default-values" in text


def test_what_is_known_of_a_version_does_not_count_where_the_run_saw_otherwise() -> None:
    texts = cause_texts.cause_texts(asked(table("x"), (OLD, WRONG), (NEW, VerdictKind.UNKNOWN)))
    assert [text.right_in for text in texts] == [(), ()]


def test_a_reader_is_first_told_of_the_version_that_has_its_causes_right() -> None:
    run_ = asked(table("x"), (OLD, WRONG), ("pyiceberg-0.12.0", RIGHT))
    answers = cause_texts.reader_answers(run_, cause_texts.cause_texts(run_))
    assert [answer.versions for answer in answers] == [((NEW, (1,)),), ()]
    assert [answer.remedy for answer in answers] == [
        "harness remedy v/s2/snapshot/all/trino-476",
        "",
    ]


def test_settings_that_were_never_asked_are_not_said_not_to_help() -> None:
    alone = asked(table(None), (OLD, WRONG))
    assert "It was asked with no other settings; this tries them: " in html.page(alone)
    asked_otherwise = asked(table(None), (OLD, WRONG), (f"{OLD}{{use-column-names=true}}", WRONG))
    assert "No setting that was asked in this run helps." in html.page(asked_otherwise)


@pytest.mark.parametrize(
    ("variant", "reader"), [(table(None), OLD), (table("x", "hudi-cow"), OLD), (table("x"), NEW)]
)
def test_what_does_not_fit_in_all_is_not_said_to_be_known(variant: Variant, reader: str) -> None:
    assert "known defect" not in to_do(asked(variant, (reader, WRONG)))


def compared(old: Run, new: Run) -> SideComparison:
    return compare(ComparedSide("old", old), ComparedSide("new", new))


def test_an_upgrade_names_it_in_the_text_and_for_programs() -> None:
    result = compared(
        asked(table("x"), (OLD, RIGHT), (NEW, RIGHT)), asked(table("x"), (OLD, WRONG), (NEW, RIGHT))
    )
    (cause,) = result.relevant
    text = upgrade_report.what_to_do(cause, result)
    assert text.startswith("Right in trino-483. ")
    assert ENTRY in text
    data = upgrade_files.comparison_data(result)["causes"]
    assert isinstance(data, list)
    assert [(one["right_in"], one["trackers"]) for one in data] == [([NEW], [ENTRY])]


def test_what_is_wrong_today_and_right_after_says_so() -> None:
    result = compared(asked(table("x"), (OLD, WRONG)), asked(table("x"), (OLD, RIGHT)))
    text = "\n".join(map(str, upgrade_report.wrong_already(result)))
    assert "lost value, 1 answer, 1 of them right in new" in text
    assert f"a known defect: <{ENTRY}>" in text
    today = upgrade_files.comparison_data(result)["wrong_today"]
    expected = {"scenario": "family/name", "findings": "lost value", "answers": 1, "right_now": 1}
    assert today == [{**expected, "known": ["trino-default-values"], "trackers": [ENTRY]}]


def test_what_is_wrong_today_in_two_ways_is_not_known_by_one() -> None:
    ghost = finding(FindingKind.MISALIGNED, ("1", "id", "2"))
    both = verdict(WRONG, LOST, ghost, step=2, reader=OLD, variant=table("x"))
    old = run(verdict(RIGHT, step=1, reader=OLD, variant=table("x")), both, variants=(table("x"),))
    assert known_defects.of_wrong_answers(old) == {}


def test_what_is_refused_today_and_answered_after_is_said_in_the_engine_s_words() -> None:
    variant = table("x")
    refused = verdict(VerdictKind.REFUSED, step=2, reader=OLD, variant=variant)
    old = run(refused, variants=(variant,), errors={refused.case: "no such type"})
    right = verdict(RIGHT, step=2, reader=OLD, variant=variant)
    result = compared(old, run(right, variants=(variant,)))
    text = "\n".join(map(str, upgrade_report.wrong_already(result)))
    assert "family/name: 1 answer, as no such type" in text


@pytest.mark.parametrize("name", known_defects.known_defects())
def test_what_a_known_defect_names_is_there(name: str) -> None:
    defect = known_defects.known_defects()[name]
    assert all(map(distributions.exists, (*defect.seen_in, *defect.right_in)))
    assert set(defect.formats) & set(shipped.load_scenario(defect.scenario).formats)
    page, _, _ = defect.results.partition("#")
    text = (DOCS / page).read_text(encoding="utf-8")
    assert all(entry in text for entry in defect.trackers), "how it was seen says where it is known"


def test_entries_of_trackers_in_a_text_become_links() -> None:
    linked = known_defects.links("apache/hudi#1; near trinodb/trino#2")
    assert linked == (
        "[apache/hudi#1](https://github.com/apache/hudi/issues/1); near "
        "[trinodb/trino#2](https://github.com/trinodb/trino/issues/2)"
    )
