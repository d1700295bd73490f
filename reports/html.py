"""The HTML report: one file that needs no network, with every cell to open.

The page's script draws the matrix and the cells from data embedded as JSON; it only ever sets text,
and a content policy forbids it to load anything.
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from harness.core.counting import counted
from harness.core.records import FindingKind, Verdict
from harness.reports import agreement, html_data, pairs, summary, tolerance_counts
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
    path = folder / FILE
    part = path.with_suffix(".html.part")
    # A lone surrogate in an engine's text has no UTF-8 form.
    part.write_text(page(run), encoding="utf-8", errors="backslashreplace")
    part.replace(path)
    return path


def page(run: Run) -> str:
    """Return the whole page."""
    texts = tuple(enumerate(cause_texts(run)))
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            info=run.info,
            metastore=list(metastore_lines(run.info)),
            totals=summary.totals(run),
            scores=scoreboard(run),
            default=DEFAULT,
            known=[(at, each) for at, each in texts if each.known],
            new=[(at, each) for at, each in texts if not each.known],
            at_once=AT_ONCE,
            alarms_at_once=ALARMS_AT_ONCE,
            known_cells=sum(1 for each in run.verdicts if each.known),
            flaky=len(summary.flaky(run)),
            reused=sum(1 for each in run.verdicts if each.reused),
            explained=summary.explained(run),
            alarms=agreement.alarms(run),
            failed=list(summary.failed_steps(run)),
            half_done=list(summary.half_done_steps(run)),
            normalised=tolerance_counts.met(run.verdicts),
            pairs_said=pairs.said(run.info.pairs),
            partly_said=pairs.PARTLY,
            partly=pairs.asked(run.info.partly),
            pairs_impossible=pairs.impossible(run.info.pairs),
            crossings=pairs.crossings(run),
            findings=_findings(run.verdicts),
            words=VERDICTS,
            finding_words=FINDINGS,
            views=VIEWS,
            ways=WAYS,
            css=Markup(_text("report.css")),  # noqa: S704 - our own file
            script=Markup("\n".join(map(_text, SCRIPTS))),  # noqa: S704 - our own files
            data=embedded(html_data.data(run, [each.cause for _, each in texts])),
        )
    )


def embedded(data: object) -> Markup:
    r"""Return data as JSON that no parser of HTML finds an end or a comment in.

    >>> embedded(["</script>\u2028"])
    Markup('["\\u003c/script>\\u2028"]')
    """
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704 - escaped for where it goes


def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("harness.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["counted"] = counted
    return made


def _text(name: str) -> str:
    return (resources.files("harness.reports") / "templates" / name).read_text(encoding="utf-8")


def _findings(verdicts: tuple[Verdict, ...]) -> list[FindingKind]:
    seen = {each.kind for verdict in verdicts for each in verdict.findings}
    return [kind for kind in FindingKind if kind in seen]
