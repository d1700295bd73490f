"""A comparison of two sides as one HTML file: it opens offline, and its text needs no script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from harness.comparison.cell_pairs import WORSE, CellPair, VerdictChange
from harness.comparison.regressions import Regression
from harness.comparison.result import SideComparison
from harness.core.counting import counted
from harness.core.errors import printable
from harness.core.grouping import grouped
from harness.core.records import Verdict, VerdictKind
from harness.reports import html, html_page
from harness.reports import upgrade_report as report
from harness.reports.document import Heading
from harness.reports.findings import FINDINGS, kinds_text, witness_text
from harness.reports.html import CauseCells, CellBefore, JsonValue, PageCells
from harness.reports.summary import numbers
from harness.reports.words import LONGEST, NOT_WORDED, VERDICTS, refusal_text, short, worded
from harness.run.causes import causes
from harness.run.load_run import Run

FILE: Final = "upgrade.html"
IN_FULL: Final = 3
MOST_TABLES: Final = 500
"""So many tables of a list are shown; of a million cells the rest would fill a browser's memory."""
NOT_ASKED: Final = "not asked"
CLASS_COLOURS: Final = {
    **dict.fromkeys(WORSE, VerdictKind.WRONG),
    VerdictChange.REGRESSED_LOUDLY: VerdictKind.REFUSED,
    VerdictChange.FIXED: VerdictKind.CORRECT,
    VerdictChange.REFUSED_NOW: VerdictKind.UNSUPPORTED,
    VerdictChange.RIGHT_AS_BEFORE: VerdictKind.CORRECT,
    VerdictChange.UNKNOWN: VerdictKind.UNKNOWN,
}
EXAMPLE: Final = "changed:worse reader:trino default:yes"
TERMS: Final = (
    ("changed:worse", "worse"),
    ("changed:fixed", "fixed"),
    ("is:wrong", "wrong now"),
    ("default:yes", "by default"),
)


class CellLine(NamedTuple):
    """The same change of the same question, after one step or several."""

    steps: str
    asked: str
    """The view, and the query where it is not the whole table."""
    reader: str
    old: str
    new: str
    example: str


CellLists = list[tuple[str, list[CellLine]]]


def write(comparison: SideComparison, folder: Path) -> Path:
    return html_page.write(page(comparison), folder / FILE)


def page(comparison: SideComparison) -> str:
    asked = Heading("What was asked, and what really ran"), report.asked_table(comparison)
    known = Heading("Readers"), report.scores(comparison), *report.known_limits(comparison)
    return html_page.rendered(
        "upgrade.html.j2",
        {
            "label": report.label(comparison),
            "reasons": report.reasons(comparison).lstrip(" ,:"),
            "colour": report.DECISION_TONES[comparison.decision].value,
            "old": comparison.old,
            "new": comparison.new,
            "paste": report.settings_of(comparison.remedy),
            "causes": [_cause(cause, comparison) for cause in comparison.relevant],
            "unmet": [_cause(cause, comparison) for cause in comparison.irrelevant],
            "users_tables": html_page.parts(report.users_tables(comparison)),
            "accepted": [
                _cause(cause.cause, comparison, f"{cause.by.because} ({cause.by.place})")
                for cause in comparison.accepted.causes
            ],
            "lines": list(report.line_texts(comparison)),
            "classes": list(_classes(comparison)),
            "known": html_page.parts(known),
            "asked": html_page.parts(asked),
            "finding_words": FINDINGS,
            "meanings": report.CHANGES,
            "in_full": IN_FULL,
            "css": html_page.templates("report.css", "upgrade.css"),
            **html_page.cells(data(comparison), EXAMPLE, TERMS),
        },
    )


def _cause(cause: Regression, comparison: SideComparison, because: str = "") -> dict[str, object]:
    run, verdict, finding = comparison.new.run, cause.first.either, cause.key.finding
    variant, kind = run.info.variant(verdict.variant), cause.key.symptom.kind
    return {
        "title": report.cause_title(cause),
        "css": f"finding f-{finding.value}" if finding else kind.value,
        "word": FINDINGS[finding] if finding else VERDICTS[kind],
        "silent": not cause.loud,
        "extent": report.cause_extent(cause, run),
        "witness": report.cause_witness(cause, run),
        "to_do": report.what_to_do(cause, comparison),
        "notes": tuple(report.cause_notes(cause, comparison)),
        "settings": report.settings_of(report.cause_remedy(cause, comparison)),
        "because": because,
        "steps": [step for step in variant.steps if step.number <= verdict.step],
        "at": verdict.step,
        "scenario": variant.scenario,
        "yaml": run.info.scenarios.get(variant.id, ""),
        "case": verdict.case,
        "sql": verdict.sql,
        "explain": report.explain_command(verdict, run),
        "answers": len(cause.pairs),
        "cells": cell_lists(cause.pairs, comparison),
    }


def _classes(comparison: SideComparison) -> Iterator[dict[str, object]]:
    """Yield each class with its answers, and where these are listed if it is not here."""
    for change, number, meaning in report.class_lines(comparison):
        css, colour = str(change).replace(" ", "-"), CLASS_COLOURS.get(change)
        pairs, href = comparison.pairs_of(change), f"#{css}"
        if change is VerdictChange.RIGHT_AS_BEFORE:
            pairs, href = (), ""
        elif change in WORSE:
            pairs = ()
            href = "#worse" if comparison.relevant else "#unmet"
            href = href if comparison.regressions else "#accepted"
        yield {
            "change": change,
            "number": number,
            "meaning": meaning,
            "css": colour.value if colour else css,
            "href": href,
            "cells": cell_lists(pairs, comparison),
        }


def cell_lists(pairs: Iterable[CellPair], comparison: SideComparison) -> CellLists:
    """Return all pairs, table by table: one line for the steps after which the same was seen."""
    variants = grouped((pair.either.variant, pair) for pair in pairs)
    lists = [(name, [*_lines(of, comparison)]) for name, of in list(variants.items())[:MOST_TABLES]]
    if (more := len(variants) - MOST_TABLES) > 0:
        lists.append((f"and {counted(more, 'more table')}: harness explain CASE", []))
    return lists


def _lines(pairs: Iterable[CellPair], comparison: SideComparison) -> Iterator[CellLine]:
    for key, of in grouped((_key(pair), pair) for pair in pairs).items():
        steps = sorted({pair.either.step for pair in of})
        example = worded(of[0].either.case, partial(_example, of[0], comparison), NOT_WORDED)
        yield CellLine(numbers(steps), *key, example)


def _key(pair: CellPair) -> tuple[str, str, str, str]:
    either, old, new = pair.either, _word(pair.old), _word(pair.new)
    if pair.is_step:
        return "the step itself", "", old, new
    query = "" if either.query == "all" else f" {either.query}"
    readers = [verdict.reader for verdict in (pair.old, pair.new) if verdict]
    reader = report.became(readers[0], readers[-1])
    return f"{either.view.replace('_', '-')}{query}", reader, old, new


def _word(verdict: Verdict | None) -> str:
    if verdict is None:
        return NOT_ASKED
    wrong = verdict.verdict is VerdictKind.WRONG
    return kinds_text(verdict) if wrong else VERDICTS[verdict.verdict].label


def _example(pair: CellPair, comparison: SideComparison) -> str:
    """Say why a side is not known, else what is wrong, the new side first."""
    both = (pair.new, comparison.new), (pair.old, comparison.old)
    sides = [(verdict, side) for verdict, side in both if verdict]
    for verdict, side in sides:
        if verdict.verdict is VerdictKind.UNKNOWN:
            return printable(f"{side.name}: {short(verdict.because)}")
    texts = filter(None, (_seen(verdict, side.run) for verdict, side in sides))
    return printable(next(texts, ""))


def _seen(verdict: Verdict, run: Run) -> str:
    if verdict.findings:
        return witness_text(verdict.findings[0].kind, verdict.findings[0].witness)
    answer = run.answers.get(verdict.case)
    refusal = refusal_text(answer.refusal, LONGEST) if answer and answer.refusal else ""
    return refusal or short(verdict.because)


def data(comparison: SideComparison) -> dict[str, JsonValue]:
    """Return everything that the page's script needs: what cells are, and what they were."""
    shown = html.data(comparison.new.run, page_cells(comparison))
    meanings = {
        str(change): {"meaning": meaning, "worse": change in WORSE}
        for change, meaning in report.CHANGES.items()
    }
    before = grouped((p.new.reader, p.old.reader) for p in comparison.pairs if p.new and p.old)
    names = {new: "; ".join(dict.fromkeys(old)) for new, old in before.items()}
    return {**shown, "changes": meanings, "before": names}


def page_cells(comparison: SideComparison) -> PageCells:
    """Return the new side's cells, but for those that are right as before, which are counted.

    Cells that only the old side has, and steps themselves, are no answers of the new one.
    """
    run, old = comparison.new.run, comparison.old.run
    pairs = {p.new.case: p for p in comparison.pairs if p.new and not p.is_step}
    # One set, which grows: of a million cells each takes 64 MB.
    left_out = {c for c, pair in pairs.items() if pair.change is VerdictChange.RIGHT_AS_BEFORE}
    counted_ = [verdict for verdict in run.verdicts if verdict.case in left_out]
    left_out.update(verdict.case for verdict in run.verdicts if verdict.case not in pairs)
    cells = PageCells(
        shown=html.left(run, left_out),
        counted=counted_,
        causes=_cause_cells(comparison),
        numbered=len(comparison.relevant),
        before={
            case: CellBefore(str(pair.change), old, pair.old)
            for case, pair in pairs.items()
            if case not in left_out
        },
        explains=False,
    )
    return html.with_examples(cells)


def _cause_cells(comparison: SideComparison) -> list[CauseCells]:
    """Return the causes that are listed, and then those of what is not worse and not right."""
    accepted = (cause.cause for cause in comparison.accepted.causes)
    by_key = {c.key: c for c in (*comparison.relevant, *comparison.regressions, *accepted)}
    listed = [
        CauseCells(key.operation, tuple(pair.new.case for pair in cause.pairs if pair.new))
        for key, cause in by_key.items()
    ]
    cases = set(chain.from_iterable(cells.cases for cells in listed))
    run = comparison.new.run
    rest = (
        CauseCells(cause.key.operation, tuple(case for case in cause.cases if case not in cases))
        for cause in causes(run.verdicts, run)
    )
    return [*listed, *(cells for cells in rest if cells.cases)]
