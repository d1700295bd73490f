"""What a maintenance changed, by answers that engines gave of which one is replaced."""

from dataclasses import replace

from harness.core.records import VerdictKind
from harness.run.load_run import Run
from tests.builders import recorded_run
from tools import maintenance

RUN = recorded_run.run_of("quick_start")
MOVED = next(v for v in RUN.info.variants if v.id.startswith("hudi/move[hudi-mor,rewrites=some]@"))
COMPACTED = next(step.number for step in MOVED.steps if step.operation == "compact")


def turned(run: Run) -> list[tuple[str, str, str]]:
    every = maintenance.asked(run)
    return sorted((a.reader, a.turn, a.kind) for a in every if a.turn and a.scenario == "hudi/move")


def test_who_reads_base_files_alone_sees_late_rows_after_a_compaction() -> None:
    assert ("trino-476", "≠ → ✓", "stale") in turned(RUN)
    assert {reader for reader, _, _ in turned(RUN)} == {"trino-476"}


def _spoilt(*, kind: VerdictKind, rows: slice) -> Run:
    """Return the run with another answer of Hive's after the compaction."""
    verdict = next(
        v
        for v in RUN.verdicts
        if (v.variant, v.step, v.view) == (MOVED.id, COMPACTED, "snapshot")
        and v.reader == "hive-3.1.3{path=fetch}"
    )
    answer = RUN.answers[verdict.case]
    spoilt = replace(answer, rows=answer.rows[rows])
    return replace(
        RUN,
        answers={**RUN.answers, verdict.case: spoilt},
        recorded={**RUN.recorded, verdict.case: replace(verdict, verdict=kind, because="lost")},
    )


def test_rows_in_another_order_are_the_same_answer() -> None:
    again = _spoilt(kind=VerdictKind.CORRECT, rows=slice(None, None, -1))
    assert turned(again) == turned(RUN)


def test_an_answer_that_is_right_no_more_is_told_with_what_is_wrong() -> None:
    worse = _spoilt(kind=VerdictKind.WRONG, rows=slice(1, None))
    assert set(turned(worse)) - set(turned(RUN)) == {("hive-3.1.3", "✓ → ≠", "lost")}
    page = "\n".join(maintenance.page([worse]))
    assert "- `compact`, hive-3.1.3, ✓ → ≠ after `hudi/move`: lost" in page
