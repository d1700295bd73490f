from dataclasses import replace

import pytest

from harness.core.records import Finding, FindingKind, Responsible, Verdict, VerdictKind, Witness
from harness.reports import html, upgrade_files
from harness.reports.cause_texts import CauseText, ReaderAnswer, advice, cause_texts, reader_answers
from harness.run.load_run import Run
from tests.builders import recorded_run, sample_run
from tests.builders.comparisons import OLD, RIGHT, compared


def texts_of(run: Run, finding: FindingKind | None, engine: str) -> list[CauseText]:
    return [
        cause_text
        for cause_text in cause_texts(run)
        if (cause_text.finding, cause_text.engine) == (finding, engine)
    ]


def test_a_finding_says_who_since_when_where_and_shows_one_place(sampled: Run) -> None:
    (cause,) = texts_of(sampled, FindingKind.MISALIGNED, "trino")
    # Nothing was asked after the insert.
    assert cause.headline == (
        "trino: misaligned columns f2, f1, since insert row 3 or move column f1 after f2. "
        "6 checks in hudi/move."
    )
    assert cause.readers == "trino-476{use-column-names=false}"
    assert cause.where == (
        "hudi-cow, hudi-mor; snapshot, read-optimized; smallest in hudi/move, after step 3 'move "
        "column f1 after f2'"
    )
    assert cause.seen == (
        "in row 1, f2 shows 'f3s1r1', the value of f1 written at step 1; expected 'f4s1r1'"
    )


def test_a_known_finding_is_a_cause_of_its_own_after_the_new_ones(sampled: Run) -> None:
    texts = cause_texts(sampled)
    assert [bool(text.known) for text in texts] == sorted(bool(text.known) for text in texts)
    (new, known) = texts_of(sampled, FindingKind.MISALIGNED, "prestosql")
    assert (new.known, known.known) == ("", "hive.parquet.use-column-names is false by default")


def test_a_way_of_reading_is_named_only_when_all_cells_of_the_reader_agree_on_it(
    sampled: Run,
) -> None:
    (stale,) = texts_of(sampled, FindingKind.STALE, "trino")
    assert "(reads by name, base files only)" in stale.seen
    (mixed,) = texts_of(sampled, FindingKind.MISALIGNED, "trino")
    assert "reads by" not in mixed.seen


@pytest.mark.parametrize(
    ("first", "then", "text"),
    [
        (("by name",), ("by id", "by name"), "(reads by name)"),
        # What a part of a way gives, the whole way gives too.
        (("by name",), ("by id, x", "by name, x"), "(reads by name, x)"),
        (("by name",), ("by position",), "expected 'f4s1r1'"),
        (("by id", "by name"), ("by id", "by name"), "from by id; by name)"),
    ],
)
def test_a_cause_names_the_way_that_explains_all_of_its_answers(
    sampled: Run, first: tuple[str, ...], then: tuple[str, ...], text: str
) -> None:
    (cause,) = texts_of(sampled, FindingKind.MISALIGNED, "trino")
    ways = {case: first if at % 2 else then for at, case in enumerate(cause.cause.cases)}
    reported = {
        case: replace(verdict, reproduces=ways.get(case, verdict.reproduces))
        for case, verdict in sampled.recorded.items()
    }
    (changed,) = texts_of(replace(sampled, recorded=reported), FindingKind.MISALIGNED, "trino")
    assert changed.seen.endswith(text)


@pytest.mark.parametrize(
    ("rows", "little", "text"),
    [
        (("by name",), ("by id", "by name"), "(reads by name)"),
        # The count alone tells the two apart.
        (("by id", "by name"), ("by name",), "(none is claimed: by name gives the same answer, b"),
        (("by name",), ("by position",), "written at step 1; expected 'f4s1r1'"),
    ],
)
def test_an_answer_that_tells_too_little_decides_nothing_in_a_cause(
    sampled: Run, rows: tuple[str, ...], little: tuple[str, ...], text: str
) -> None:
    (cause,) = texts_of(sampled, FindingKind.MISALIGNED, "trino")
    too_little = {case: case in cause.cause.cases[1::2] for case in cause.cause.cases}
    assert any(too_little.values())
    reported = {
        case: replace(
            verdict, reproduces=little if too_little[case] else rows, inconclusive=too_little[case]
        )
        if case in too_little
        else verdict
        for case, verdict in sampled.recorded.items()
    }
    (changed,) = texts_of(replace(sampled, recorded=reported), FindingKind.MISALIGNED, "trino")
    assert text in changed.seen


def test_a_reader_is_not_accused_where_the_model_is_in_doubt(sampled: Run) -> None:
    wrong = next(verdict for verdict in sampled.verdicts if verdict.verdict is VerdictKind.WRONG)
    doubted = replace(wrong, verdict=VerdictKind.UNKNOWN, because="in doubt")
    run = replace(sampled, recorded={**sampled.recorded, wrong.case: doubted})
    (cause,) = (text for text in cause_texts(run) if wrong.case in text.cause.cases)
    assert (cause.finding, cause.verdict) == (None, VerdictKind.UNKNOWN)


def test_findings_of_another_doing_are_a_cause_of_their_own_without_advice(sampled: Run) -> None:
    wrong = next(verdict for verdict in sampled.verdicts if verdict.verdict is VerdictKind.WRONG)
    blamed = tuple(replace(finding, responsible=Responsible.WRITER) for finding in wrong.findings)
    reported = {**sampled.recorded, wrong.case: replace(wrong, findings=blamed)}
    (cause,) = (
        cause_text
        for cause_text in cause_texts(replace(sampled, recorded=reported))
        if cause_text.cause.key.symptom.responsible is Responsible.WRITER
    )
    assert cause.cause.cases == (wrong.case,)
    assert "the files hold the same: the writer is to blame)" in cause.seen
    assert (cause.to_do, len(cause.commands)) == ("", 2)


def test_what_to_do_is_in_the_words_of_the_engine_and_of_this_run_alone(
    texts: tuple[CauseText, ...],
) -> None:
    keys = {(text.engine, text.finding, text.cause.key.operation): text for text in texts}
    reported = {key: text.to_do for key, text in keys.items() if key[1] and key[2] != "drop_column"}
    none = "No other setting that was asked in this run gets any of it right."
    by_name = "hudi.parquet.use-column-names=true (in etc/catalog/*.properties)"
    evolved = "set hoodie.schema.on.read.enable=true;"
    hive = f"{evolved} set hive.fetch.task.conversion=more; (in the session) gets all of it right."
    spark = f"{evolved} (in the session) gets all of it right."
    assert reported == {
        ("trino", FindingKind.STALE, "touch"): none,
        ("trino", FindingKind.RESURRECTED, "add_column"): none,
        ("trino", FindingKind.MISSING_RENAME, "rename_column"): none,
        ("hive", FindingKind.RESURRECTED, "add_column"): hive,
        ("hive", FindingKind.MISSING_RENAME, "rename_column"): hive,
        ("spark", FindingKind.RESURRECTED, "add_column"): spark,
        ("spark", FindingKind.MISSING_RENAME, "rename_column"): spark,
        ("trino", FindingKind.LOST_VALUE, "add_column"): f"{by_name} gets 12 of 30 checks "
        "right, and 18 are then wrong in another way.",
        ("trino", FindingKind.MISALIGNED, "add_column"): f"{by_name} gets 20 of 56 checks "
        "right, and 36 are then wrong in another way.",
        ("trino", FindingKind.MISALIGNED, "move_column"): f"{by_name} gets 28 of 40 checks "
        "right, and 12 are then wrong in another way.",
    }


BY_POSITION = "trino-476{use-column-names=false}"


@pytest.fixture(scope="module")
def run() -> Run:
    return recorded_run.run_of("quick_start")


@pytest.fixture(scope="module")
def texts(run: Run) -> tuple[CauseText, ...]:
    return cause_texts(run)


@pytest.fixture(scope="module")
def answers(run: Run, texts: tuple[CauseText, ...]) -> dict[str, ReaderAnswer]:
    return {
        reader_answer.score.reader: reader_answer for reader_answer in reader_answers(run, texts)
    }


def test_since_which_operations_a_reader_is_wrong_is_reported_with_the_number_of_its_cells(
    run: Run, answers: dict[str, ReaderAnswer], texts: tuple[CauseText, ...]
) -> None:
    for reader, answer in answers.items():
        for breach in answer.silent:
            cells = {
                verdict.case
                for text in texts
                for verdict in text.cause.verdicts
                if verdict.reader == reader
                and text.verdict is VerdictKind.WRONG
                and text.cause.key.operation == breach.operation
            }
            assert breach.cells == len(cells) > 0
        wrong = [v for v in run.verdicts if v.reader == reader and v.verdict is VerdictKind.WRONG]
        assert answer.wrong == len(wrong)
        assert bool(answer.silent) or not wrong


def test_the_headline_counts_readers_and_silent_wrong_answers(run: Run) -> None:
    assert html.headline(run) == "6 of 8 readers silently gave 256 wrong answers"
    right = {
        case: replace(answer, verdict=VerdictKind.CORRECT, findings=())
        for case, answer in run.recorded.items()
    }
    assert html.headline(replace(run, recorded=right)) == "No reader was seen to answer wrongly"
    case, answer = next(iter(right.items()))
    one = {**right, case: replace(answer, verdict=VerdictKind.UNKNOWN)}
    text = "No reader was seen to answer wrongly; 1 answer is not known"
    assert html.headline(replace(run, recorded=one)) == text


def test_the_page_of_two_runs_shows_each_answer_of_the_new_one_once(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    result = compared(sample_run.make(tmp_path_factory.mktemp("run")), RIGHT, OLD)
    cells = upgrade_files.page_cells(result)
    shown = [verdict for verdicts in cells.shown.values() for verdict in verdicts]
    cases = [verdict.case for verdict in (*shown, *cells.counted)]
    answers = [pair.new.case for pair in result.pairs if pair.new and not pair.is_step]
    assert sorted(cases) == sorted(answers)
    assert {verdict.case for verdict in shown} == set(cells.before)
    assert cells.numbered == len(result.relevant) > 0
    assert cells.causes[0].cases == tuple(
        pair.new.case for pair in result.relevant[0].pairs if pair.new
    )


PLACE = Witness("1", "f1", "b", "a")


def verdict(reader: str, kind: VerdictKind, responsible: Responsible | None = None) -> Verdict:
    finding = Finding(FindingKind.STALE, ("f1",), PLACE, (PLACE,), responsible)
    findings = (finding,) if kind is VerdictKind.WRONG else ()
    case = f"a/b[x,y]/s1/snapshot/all/{reader}"
    return Verdict(case, "a/b", "a/b[x,y]", 1, reader, "snapshot", "all", kind, findings=findings)


WRONG = verdict("trino-476{names=false}", VerdictKind.WRONG, Responsible.READER)
OTHERS = (
    verdict("trino-476{names=true}", VerdictKind.CORRECT),
    verdict("trino-4761", VerdictKind.CORRECT),
    WRONG,
)


def test_settings_of_the_same_engine_that_answer_right_are_named() -> None:
    text = advice(WRONG, OTHERS)[0].text
    assert text == "With other settings this engine gets it right: trino-476{names=true}."


def test_settings_that_do_not_help_are_not_praised() -> None:
    others = [replace(other, verdict=VerdictKind.REFUSED) for other in OTHERS]
    assert advice(WRONG, others)[0].text == (
        "This engine does not get it right with its other settings either: trino-476{names=true}."
    )
    assert advice(WRONG, (WRONG,))[0].text.endswith("with any other settings.")


@pytest.mark.parametrize("responsible", [Responsible.WRITER, Responsible.MODEL, Responsible.UNSURE])
def test_no_setting_is_praised_where_the_reader_is_not_to_blame(responsible: Responsible) -> None:
    blamed = verdict(WRONG.reader, VerdictKind.WRONG, responsible)
    assert [hint.verb for hint in advice(blamed, OTHERS)] == ["reproduce", ""]


def test_of_a_refusal_as_much_is_reported_and_of_a_right_answer_nothing() -> None:
    refused = verdict(WRONG.reader, VerdictKind.REFUSED)
    assert advice(refused, OTHERS) == advice(WRONG, OTHERS)[:-1]
    assert advice(OTHERS[0], OTHERS) == advice(verdict("x", VerdictKind.UNKNOWN), OTHERS) == ()


def test_a_finding_leads_to_the_page_of_its_kind() -> None:
    assert advice(WRONG, OTHERS)[-1].text.endswith("what to do: docs/wrong_answers.md#stale")
