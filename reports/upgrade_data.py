"""The cells of a comparison as the page's script needs them: what they are, and what they were."""

from __future__ import annotations

from itertools import chain

from harness.comparison.result import SideComparison
from harness.comparison.verdict_change import WORSE, VerdictChange
from harness.core.grouping import grouped
from harness.reports import html_data
from harness.reports.html_cells import JsonValue
from harness.reports.html_data import CauseCells, CellBefore, PageCells
from harness.reports.upgrade_words import CHANGES
from harness.run.causes import causes


def data(found: SideComparison) -> dict[str, JsonValue]:
    """Return everything that the page's script needs."""
    shown = html_data.data(found.new.run, page_cells(found))
    meanings = {
        str(change): {"meaning": meaning, "worse": change in WORSE}
        for change, meaning in CHANGES.items()
    }
    was = grouped(
        (each.new.reader, each.old.reader) for each in found.pairs if each.new and each.old
    )
    before = {new: "; ".join(dict.fromkeys(old)) for new, old in was.items()}
    return {**shown, "changes": meanings, "before": before}


def page_cells(found: SideComparison) -> PageCells:
    """Return the new side's cells, but for those that are right as before, which are counted.

    Cells that only the old side has, and steps themselves, are no answers of the new one.
    """
    run, old = found.new.run, found.old.run
    of = {each.new.case: each for each in found.pairs if each.new and not each.is_step}
    # One set, which grows: of a million cells each takes 64 MB.
    counted = {c for c, each in of.items() if each.change is VerdictChange.RIGHT_AS_BEFORE}
    told = [each for each in run.verdicts if each.case in counted]
    counted.update(each.case for each in run.verdicts if each.case not in of)
    cells = PageCells(
        shown=html_data.left(run, counted),
        counted=told,
        causes=_causes(found),
        numbered=len(found.relevant),
        before={
            case: CellBefore(str(each.change), old, each.old)
            for case, each in of.items()
            if case not in counted
        },
        explains=False,
    )
    return html_data.with_examples(cells)


def _causes(found: SideComparison) -> list[CauseCells]:
    """Return the causes that are listed, and then those of what is not worse and not right."""
    accepted = (each.cause for each in found.accepted.causes)
    every = {each.key: each for each in (*found.relevant, *found.regressions, *accepted)}
    listed = [
        CauseCells(each.key.operation, tuple(pair.new.case for pair in each.pairs if pair.new))
        for each in every.values()
    ]
    told = set(chain.from_iterable(each.cases for each in listed))
    rest = (
        CauseCells(each.key.operation, tuple(case for case in each.cases if case not in told))
        for each in causes(found.new.run.verdicts, found.new.run)
    )
    return [*listed, *(each for each in rest if each.cases)]
