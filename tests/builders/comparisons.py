"""Comparisons of readers of the sample run, for reports on upgrades."""

import datetime
from dataclasses import replace

from harness.comparison.acceptance import Acceptance
from harness.comparison.regressions import Remedy
from harness.comparison.result import ComparedSide, SideComparison, compare
from harness.core.reviewed_lines import placed
from harness.run.load_run import Run
from tests.builders import sample_run

RIGHT, BY_NAME, BY_POSITION, OLD = (sample_run.NAMES[at] for at in (0, 4, 5, 6))
SILENT = sample_run.NAMES[3]
"""One that does not answer everything."""
TODAY = datetime.date(2031, 12, 24)


def side(run: Run, reader: str, name: str = "") -> ComparedSide:
    readers = tuple(resolved for resolved in run.info.readers if resolved.reader == reader)
    cells = tuple(cell for cell in run.info.cells if cell.reader == reader)
    info = replace(run.info, id=reader, readers=readers, cells=cells)
    recorded = {case: verdict for case, verdict in run.recorded.items() if verdict.reader == reader}
    return ComparedSide(name or reader, replace(run, info=info, recorded=recorded))


def compared(run: Run, old: str, new: str) -> SideComparison:
    return compare(side(run, old), side(run, new))


def healed(comparison: SideComparison) -> SideComparison:
    worse = frozenset(worse_pair.either.question for worse_pair in comparison.worse)
    remedy = Remedy(f"{BY_NAME}{{a=b}}", (f"a=b{sample_run.HOSTILE}",), worse, frozenset())
    return replace(comparison, remedies=(remedy,))


def accepting_all(comparison: SideComparison, because: str = sample_run.HOSTILE) -> SideComparison:
    lines = [
        placed(
            Acceptance(
                engine=regression.key.engine,
                operation=regression.key.operation,
                finding=regression.key.finding,
                refusal="" if regression.key.finding else regression.key.symptom.what,
                because=because,
            ),
            "accept.yaml",
            at,
        )
        for at, regression in enumerate(comparison.regressions, start=1)
    ]
    other = replace(lines[0], operation=comparison.new.run.info.variants[0].steps[0].text)
    gone = placed(other, "accept.yaml", 99)
    return comparison.accepting([*lines, gone], TODAY)
