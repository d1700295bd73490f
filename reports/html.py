"""The HTML report: one file that needs no network, with every cell to open.

The page's script draws the matrix and the cells from data embedded as JSON; it only ever sets text,
and a content policy forbids it to load anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from harness.core.counting import counted
from harness.core.records import VerdictKind
from harness.reports import agreement, html_data, html_page, summary
from harness.reports.cause_texts import DEFAULT, CauseText, cause_texts
from harness.reports.findings import FINDINGS
from harness.reports.reader_answers import reader_answers
from harness.reports.words import STRATEGIES, VERDICTS, VIEWS, metastore_lines
from harness.run.load_run import Run

NAME: Final = "html"
FILE: Final = "report.html"
AT_ONCE: Final = 8
"""So many causes are shown before the matrix; the others unfold."""
SINCE: Final = 4
"""Of more operations than these a reader's row names the worst."""
EXAMPLE: Final = "reader:trino kind:misaligned default:yes"
TERMS: Final = (
    ("is:wrong", "wrong"),
    ("is:refused", "refused"),
    ("is:new", "not correct, not known"),
    ("default:yes", "by default"),
)
"""Searches that are a button each."""


def write(run: Run, folder: Path) -> Path:
    return html_page.write(page(run), folder / FILE)


def page(run: Run) -> str:
    texts = cause_texts(run)
    cells = html_data.run_cells(run, [text.cause for text in texts])
    shown = html_data.data(run, cells, run.kept)
    return html_page.rendered(
        "report.html.j2",
        {
            "info": run.info,
            "answers": reader_answers(run, texts),
            "since": SINCE,
            "counted": shown["counted"],
            "examples": shown["examples"],
            "most_cells": html_data.MOST_CELLS,
            "at_once": AT_ONCE,
            **_causes(texts),
            **_run_values(run),
            **_words(),
            "css": html_page.templates("report.css"),
            **html_page.cells(shown, EXAMPLE, TERMS),
        },
    )


def _causes(texts: Sequence[CauseText]) -> dict[str, object]:
    numbered = tuple(enumerate(texts, 1))
    return {
        "known": [(at, text) for at, text in numbered if text.known],
        "new": [(at, text) for at, text in numbered if not text.known],
    }


def _run_values(run: Run) -> dict[str, object]:
    return {
        "headline": headline(run),
        "metastore": list(metastore_lines(run.info)),
        "totals": summary.totals(run),
        "known_cells": sum(1 for verdict in run.verdicts if verdict.known),
        "flaky": len(summary.flaky(run)),
        "reused": sum(1 for verdict in run.verdicts if verdict.reused),
        "explained": summary.explained(run),
        "alarms": agreement.alarms(run),
        "failed": list(summary.failed_steps(run)),
        "half_done": list(summary.half_done_steps(run)),
        "wrong_steps": list(summary.wrong_steps(run)),
        "normalised": summary.tolerance_counts(run.verdicts),
        "pairs_said": summary.covered_pairs(run.info.pairs),
        "partly_said": summary.PARTLY,
        "partly": summary.partly_asked(run.info.partly),
        "pairs_impossible": summary.impossible_pairs(run.info.pairs),
        "crossings": summary.crossings(run),
    }


def _words() -> dict[str, object]:
    return {
        "default": DEFAULT,
        "words": VERDICTS,
        "kinds": VerdictKind,
        "finding_words": FINDINGS,
        "views": VIEWS,
        "ways": STRATEGIES,
    }


def headline(run: Run) -> str:
    """Return in a sentence how many readers answer wrongly without saying so."""
    wrong = [verdict for verdict in run.verdicts if verdict.verdict is VerdictKind.WRONG]
    who = dict.fromkeys(verdict.reader for verdict in wrong)
    whole = counted(len(summary.readers(run)), "reader")
    if not wrong:
        return "No reader was seen to answer wrongly"
    return f"{len(who)} of {whole} silently gave {counted(len(wrong), 'wrong answer')}"
