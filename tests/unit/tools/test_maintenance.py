"""What a maintenance changed, by answers that engines gave of which one is replaced."""

from dataclasses import replace

from harness.core.records import Refusal, VerdictKind
from harness.run.load_run import Run
from tests.builders import recorded_run
from tools import generate_docs

RUN = recorded_run.run_of("quick_start")
MOVED = next(v for v in RUN.info.variants if v.id.startswith("hudi/move[hudi-mor,rewrites=some]@"))
COMPACTED = next(step.number for step in MOVED.steps if step.operation == "compact")
PAIR = "hudi-mor", "hudi/move", "compact"


def turned(run: Run) -> set[tuple[str, str, str]]:
    return {one[1:] for one in generate_docs.turns(run) if one[0] == PAIR}


def test_who_reads_base_files_alone_sees_late_rows_after_a_compaction() -> None:
    assert ("trino-476", "≠ → ✓", "stale") in turned(RUN)
    assert {reader for reader, turn, _ in turned(RUN) if turn} == {"trino-476"}
    assert ("hive-3.1.3", "", "") in turned(RUN)


def test_an_answer_that_is_right_no_more_is_told_with_its_error() -> None:
    asked = MOVED.id, COMPACTED, "snapshot", "hive-3.1.3{path=fetch}"
    verdict = next(v for v in RUN.verdicts if (v.variant, v.step, v.view, v.reader) == asked)
    refusal = Refusal("E", "no part-00000-118c2774-8f4a-4fcb-b0a5-3aa3fa60b1ab-c000.parquet")
    answer = replace(RUN.answers[verdict.case], rows=(), refusal=refusal)
    worse = replace(
        RUN,
        answers={**RUN.answers, verdict.case: answer},
        recorded={**RUN.recorded, verdict.case: replace(verdict, verdict=VerdictKind.REFUSED)},
    )
    assert turned(worse) - turned(RUN) == {("hive-3.1.3", "✓ → !", "E: no part-00000-….parquet")}
