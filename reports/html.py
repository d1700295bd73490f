"""The HTML report: one file that needs no network, with every cell to open.

The page's script draws the matrix and the cells from data embedded as JSON; it only ever sets text,
and a content policy forbids it to load anything.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from markupsafe import Markup

from harness.core.records import FindingKind, Verdict
from harness.reports import agreement, html_data, html_page, pairs, summary, tolerance_counts
from harness.reports.cause_texts import DEFAULT, cause_texts
from harness.reports.scoreboard import scoreboard
from harness.reports.sentences import metastore_lines
from harness.reports.words import FINDINGS, VERDICTS, VIEWS, WAYS
from harness.run.load_run import Run

NAME: Final = "html"
FILE: Final = "report.html"
AT_ONCE: Final = 8
"""So many causes are shown before the matrix; the others unfold."""
ALARMS_AT_ONCE: Final = 1
"""Further alarms unfold, so that the first screen shows more than alarms."""
SCRIPTS: Final = ("page.js", "tables.js", "cell.js", "matrix.js", "browse.js")


def write(run: Run, folder: Path) -> Path:
    """Write the report, `report.html`, complete or not at all."""
    return html_page.write(page(run), folder / FILE)


def page(run: Run) -> str:
    """Return the whole page."""
    texts = tuple(enumerate(cause_texts(run)))
    return html_page.rendered(
        "report.html.j2",
        {
            "info": run.info,
            "metastore": list(metastore_lines(run.info)),
            "totals": summary.totals(run),
            "scores": scoreboard(run),
            "default": DEFAULT,
            "known": [(at, each) for at, each in texts if each.known],
            "new": [(at, each) for at, each in texts if not each.known],
            "at_once": AT_ONCE,
            "alarms_at_once": ALARMS_AT_ONCE,
            "known_cells": sum(1 for each in run.verdicts if each.known),
            "flaky": len(summary.flaky(run)),
            "reused": sum(1 for each in run.verdicts if each.reused),
            "explained": summary.explained(run),
            "alarms": agreement.alarms(run),
            "failed": list(summary.failed_steps(run)),
            "half_done": list(summary.half_done_steps(run)),
            "normalised": tolerance_counts.met(run.verdicts),
            "pairs_said": pairs.said(run.info.pairs),
            "partly_said": pairs.PARTLY,
            "partly": pairs.asked(run.info.partly),
            "pairs_impossible": pairs.impossible(run.info.pairs),
            "crossings": pairs.crossings(run),
            "findings": _findings(run.verdicts),
            "words": VERDICTS,
            "finding_words": FINDINGS,
            "views": VIEWS,
            "ways": WAYS,
            "css": html_page.own("report.css"),
            "script": html_page.own(*SCRIPTS),
            "data": embedded(html_data.data(run, [each.cause for _, each in texts])),
        },
    )


def embedded(data: object) -> Markup:
    r"""Return data as JSON that no parser of HTML finds an end or a comment in.

    >>> embedded(["</script>\u2028"])
    Markup('["\\u003c/script>\\u2028"]')
    """
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704 - escaped for where it goes


def _findings(verdicts: tuple[Verdict, ...]) -> list[FindingKind]:
    seen = {each.kind for verdict in verdicts for each in verdict.findings}
    return [kind for kind in FindingKind if kind in seen]
