"""The files that a comparison, or a rollout, leaves in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness.comparison import acceptance_file
from harness.comparison.result import SideComparison
from harness.comparison.rollout import Rollout
from harness.core.records import VerdictKind
from harness.reports import html_page, lines, rollout_report, upgrade_json, upgrade_page
from harness.reports.document import Heading
from harness.reports.markdown_text import markdown
from harness.reports.upgrade_report import document

TEXT: Final = "upgrade.txt"
MARKDOWN: Final = "upgrade.md"
ROLLOUT: Final = "rollout"


def write(comparison: SideComparison, folder: Path) -> dict[str, Path]:
    """Write every report and return the files; `accept.yaml` once, for somebody fills it in."""
    text = folder / MARKDOWN
    text.write_text(markdown(document(comparison)), encoding="utf-8", errors="backslashreplace")
    files = {
        "html": upgrade_page.write(comparison, folder),
        "text": lines.write(document(comparison), folder / TEXT),
        "markdown": text,
        "json": upgrade_json.write(comparison, folder),
    }
    accept = folder / acceptance_file.FILE
    if comparison.relevant and not accept.exists():
        accepted = (cause.by for cause in comparison.accepted.causes)
        content = acceptance_file.dump(comparison.relevant, accepted)
        accept.write_text(content, encoding="utf-8")
        files["accept"] = accept
    return files


def write_rollout(rollout: Rollout, folder: Path) -> dict[str, Path]:
    """Write the reports of a rollout, and those of each state beside its run; return the former."""
    for state in rollout.judged:
        for comparison in state.comparisons:
            write(comparison, comparison.new.run.folder)
    text = lines.write(rollout_report.document(rollout, folder), folder / f"{ROLLOUT}.txt")
    page = html_page.write(rollout_page(rollout, folder), folder / f"{ROLLOUT}.html")
    return {"html": page, "text": text}


def rollout_page(rollout: Rollout, folder: Path) -> str:
    """Return a rollout as HTML, without a script: each state links to its own page."""
    blocks = [*rollout_report.document(rollout, folder)]
    first = next(at for at, block in enumerate(blocks) if isinstance(block, Heading))
    return html_page.rendered(
        "rollout.html.j2",
        {
            "headline": rollout_report.headline(rollout),
            "tone": VerdictKind.CORRECT if rollout.safe else VerdictKind.WRONG,
            "first": blocks[:first],
            "parts": html_page.parts(blocks[first:]),
            "css": html_page.templates("report.css", "upgrade.css"),
        },
    )
