from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harness.core.records import FindingKind, Verdict, VerdictKind
from harness.run.causes import HelpfulSetting, SettingsAsked, causes
from harness.run.load_run import Run
from tests.builders import recorded_run

BY_NAME, BY_POSITION = (f"trino-476{{use-column-names={literal}}}" for literal in ("true", "false"))
STALE, MISALIGNED = FindingKind.STALE, FindingKind.MISALIGNED


def changed(run: Run, verdicts: Mapping[str, Verdict]) -> Run:
    return replace(run, recorded={**run.recorded, **verdicts})


def helpful(run: Run, finding: FindingKind, engine: str = "trino") -> HelpfulSetting | None:
    """Return what helps against the first cause of that finding."""
    cause = next(
        cause
        for cause in causes(run.verdicts, run)
        if (cause.key.engine, cause.key.finding) == (engine, finding)
    )
    return SettingsAsked(run).helpful(cause)


def test_the_setting_that_was_right_in_the_same_cells_is_told_with_its_line() -> None:
    found = helpful(recorded_run.run_of("quick_start"), MISALIGNED)
    assert found is not None
    ((line, distributions),) = found.lines
    assert (line.text, distributions) == ("hudi.parquet.use-column-names=true", ("trino-476",))
    assert (found.settings, found.right, found.otherwise, found.spoilt) == (
        "use-column-names=true",
        20,
        36,
        0,
    )


def test_a_setting_that_spoils_as_much_as_it_mends_is_none() -> None:
    run = recorded_run.run_of("quick_start")
    right = {
        v.question
        for v in run.verdicts
        if (v.reader, v.verdict) == (BY_POSITION, VerdictKind.CORRECT)
    }
    spoilt = {
        v.case: replace(v, verdict=VerdictKind.REFUSED)
        for v in run.verdicts
        if v.reader == BY_NAME and v.question in right
    }
    one = dict([next(iter(spoilt.items()))])
    found = helpful(changed(run, one), MISALIGNED)
    assert found is not None
    assert found.spoilt == 1
    assert len(spoilt) > found.right
    assert helpful(changed(run, spoilt), MISALIGNED) is None


def test_a_setting_that_the_engine_has_by_itself_is_had_by_leaving_the_other_one_out() -> None:
    run = recorded_run.run_of("quick_start")
    plain = {
        v.case.replace(BY_NAME, "trino-476"): replace(
            v, case=v.case.replace(BY_NAME, "trino-476"), reader="trino-476"
        )
        for v in run.verdicts
        if v.reader == BY_NAME
    }
    cells = tuple(
        replace(cell, reader="trino-476") if cell.reader == BY_NAME else cell
        for cell in run.info.cells
    )
    readers = tuple(
        replace(info, reader="trino-476") if info.reader == BY_NAME else info
        for info in run.info.readers
    )
    info = replace(run.info, cells=cells, readers=readers)
    found = helpful(changed(replace(run, info=info), plain), MISALIGNED)
    assert found is not None
    assert (found.settings, found.lines) == ("", ())
    assert [line.text for line in found.instead] == ["hudi.parquet.use-column-names=false"]
