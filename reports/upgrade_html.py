"""A comparison of two sides as one HTML file: it opens offline, and its text needs no script.

What is right as before is counted; every other answer is listed. The simplest answer of each cause
stands there whole: what was expected, answered before and answered now.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.comparison.accepted import AcceptedCause
from harness.comparison.answer import Decision
from harness.comparison.reader_scores import reader_scores
from harness.comparison.regressions import Regression
from harness.comparison.result import SideComparison
from harness.comparison.verdict_change import WORSE, VerdictChange
from harness.core.records import VerdictKind
from harness.reports import (
    html_page,
    upgrade_asked,
    upgrade_cells,
    upgrade_data,
    upgrade_tables,
    usage_words,
)
from harness.reports import upgrade_words as words
from harness.reports.upgrade_cells import VariantCells
from harness.reports.upgrade_tables import Beside
from harness.reports.words import FINDINGS, VERDICTS, Word
from harness.run.run_info import StepInfo

FILE: Final = "upgrade.html"
IN_FULL: Final = 3
"""So many causes are opened; the tables of the others unfold."""
NOTES: Final = 6
"""So many wrong places are told beside the tables."""
COLOURS: Final = {
    Decision.DO_NOT: VerdictKind.WRONG,
    Decision.WITH_SETTING: VerdictKind.REFUSED,
    Decision.NOTHING_CHANGES: VerdictKind.CORRECT,
    Decision.NOTHING_WORSE: VerdictKind.CORRECT,
    Decision.NOT_KNOWN: VerdictKind.UNKNOWN,
}
CLASS_COLOURS: Final = {
    **dict.fromkeys(WORSE, VerdictKind.WRONG),
    VerdictChange.REGRESSED_LOUDLY: VerdictKind.REFUSED,
    VerdictChange.FIXED: VerdictKind.CORRECT,
    VerdictChange.REFUSED_NOW: VerdictKind.UNSUPPORTED,
    VerdictChange.RIGHT_AS_BEFORE: VerdictKind.CORRECT,
    VerdictChange.UNKNOWN: VerdictKind.UNKNOWN,
}
"""Those of other classes are plain."""
EXAMPLE: Final = "changed:worse reader:trino default:yes"
TERMS: Final = (
    ("changed:worse", "worse"),
    ("changed:fixed", "fixed"),
    ("is:wrong", "wrong now"),
    ("default:yes", "by default"),
)
"""Searches that are a button each."""
KINDS: Final = tuple(VERDICTS)


@dataclass(frozen=True, slots=True)
class CauseView:
    """A cause as the page shows it."""

    title: str
    css: str
    word: Word
    silent: bool
    by_default: bool
    extent: str
    witness: str
    to_do: str
    notes: tuple[str, ...]
    """Who meets it, and which component brings it about, where that is known."""
    settings: tuple[tuple[str, str], ...]
    """To paste, and where; empty where no setting helps."""
    because: str
    """Why it is accepted; empty where it is not."""
    steps: tuple[StepInfo, ...]
    at: int
    """The step after which the simplest answer was asked."""
    scenario: str
    yaml: str
    tables: Beside
    sql: str
    explain: str
    answers: int
    cells: tuple[VariantCells, ...]


@dataclass(frozen=True, slots=True)
class ClassView:
    """A class with its answers."""

    change: VerdictChange
    number: int
    meaning: str
    css: str
    href: str
    """Where its answers are told; empty where they are counted alone."""
    cells: tuple[VariantCells, ...]


def write(found: SideComparison, folder: Path) -> Path:
    """Write the page, complete or not at all."""
    return html_page.write(page(found), folder / FILE)


def page(found: SideComparison) -> str:
    """Return the whole page."""
    return html_page.rendered(
        "upgrade.html.j2",
        {
            "label": words.label(found),
            "reasons": words.reasons(found).lstrip(" ,:"),
            "colour": COLOURS[found.decision].value,
            "old": found.old,
            "new": found.new,
            "paste": list(words.to_paste(found.remedy)),
            "causes": [_cause(each, found) for each in found.relevant],
            "unmet": [_cause(each, found) for each in usage_words.irrelevant(found)],
            "own_tables": [each for each in list(words.own_tables(found))[:2] if each[1]],
            "accepted": [_accepted(each, found) for each in found.accepted.causes],
            "lines": list(words.line_texts(found.accepted)),
            "classes": list(_classes(found)),
            "scores": reader_scores(found.pairs),
            "kinds": KINDS,
            "became": words.became,
            "not_known": list(words.not_known(found)),
            "today": list(words.wrong_today(found)),
            "stays": found.counts[VerdictChange.WRONG_AS_BEFORE],
            "asked": upgrade_asked.asked(found),
            "words": VERDICTS,
            "finding_words": FINDINGS,
            "meanings": words.CHANGES,
            "in_full": IN_FULL,
            "notes": NOTES,
            "css": html_page.own("report.css", "upgrade.css"),
            **html_page.cells(upgrade_data.data(found), EXAMPLE, TERMS),
        },
    )


def _cause(cause: Regression, found: SideComparison, because: str = "") -> CauseView:
    run, key, verdict = found.new.run, cause.key, cause.first.either
    variant, finding = run.variant(verdict.variant), cause.key.finding
    case = shlex.quote(verdict.case)
    return CauseView(
        title=words.cause_title(cause),
        css=f"finding f-{finding.value}" if finding else key.symptom.kind.value,
        word=FINDINGS[finding] if finding else VERDICTS[key.symptom.kind],
        silent=cause.changes[0] is not VerdictChange.REGRESSED_LOUDLY,
        by_default=cause.by_default,
        extent=words.cause_extent(cause, run),
        witness=words.cause_witness(cause, run),
        to_do=words.what_to_do(cause, found),
        notes=tuple(words.cause_notes(cause, found)),
        settings=tuple(words.to_paste(words.remedy_of(cause, found))),
        because=because,
        steps=tuple(each for each in variant.steps if each.number <= verdict.step),
        at=verdict.step,
        scenario=variant.scenario,
        yaml=run.info.scenarios.get(variant.id, ""),
        tables=upgrade_tables.beside(cause.first, found),
        sql=verdict.sql,
        explain=f"harness explain {case} --run-dir {shlex.quote(str(run.folder))}",
        answers=len(cause.pairs),
        cells=upgrade_cells.lists(cause.pairs, found),
    )


def _accepted(each: AcceptedCause, found: SideComparison) -> CauseView:
    return _cause(each.cause, found, f"{each.by.because} ({each.by.place})")


def _classes(found: SideComparison) -> Iterator[ClassView]:
    for change, number, meaning in words.class_lines(found):
        worse, counted = change in WORSE, change is VerdictChange.RIGHT_AS_BEFORE
        pairs = () if worse or counted else found.of(change)
        own = "" if counted else f"#{str(change).replace(' ', '-')}"
        colour = CLASS_COLOURS.get(change)
        yield ClassView(
            change=change,
            number=number,
            meaning=meaning,
            css=colour.value if colour else str(change).replace(" ", "-"),
            href=_told_at(found) if worse else own,
            cells=upgrade_cells.lists(pairs, found),
        )


def _told_at(found: SideComparison) -> str:
    """Return where the first answers that are worse are told."""
    if found.relevant:
        return "#worse"
    return "#unmet" if found.regressions else "#accepted"
