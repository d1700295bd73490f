"""The files that an audit leaves, and a comparison of two readers on somebody's own tables."""

import json
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from harness.audit.records import Audit, unread
from harness.comparison.table_changes import AnswerPair, TableComparison
from harness.core.atomic_write import atomic_write
from harness.reports import html, lines
from harness.reports.audit_report import AuditReport
from harness.reports.document import Heading
from harness.reports.markdown import markdown

AUDIT, UPGRADE = "audit", "upgrade"
FORMAT: Final = 1
_ADAPTER: Final = TypeAdapter(Audit)
_PAIRS: Final = TypeAdapter(tuple[AnswerPair, ...])
_OF_TABLE: Final = {"name", "format", "location", "version", "rows", "files"}
_OF_PAIR: Final = dict.fromkeys(("question", "old", "new", "change", "known"), True)


def write(report: AuditReport, folder: Path) -> dict[str, Path]:
    name = UPGRADE if isinstance(report.result, TableComparison) else AUDIT
    text = markdown(report.document())
    files = {
        "html": html.write_page(page(report), folder / f"{name}.html"),
        "text": lines.write(report.document(), folder / f"{name}.txt"),
        "markdown": folder / f"{name}.md",
        "json": folder / f"{name}.json",
    }
    files["markdown"].write_text(text, encoding="utf-8", errors="backslashreplace")
    with atomic_write(files["json"]) as part:
        part.write_text(json.dumps(data(report)), encoding="ascii")
    return files


def page(report: AuditReport) -> str:
    line, result = report.headline, report.result
    if isinstance(result, TableComparison):
        title = f"{result.old} → {result.new}"
    else:
        title = result.audit.address
    looked_at = Heading("What was audited"), report.asked()
    return html.rendered(
        "audit.html.j2",
        {
            "label": line.strong,
            "reasons": line.text.lstrip(" ,:"),
            "colour": report.tone.value,
            "title": title,
            "totals": report.totals,
            "panels_": html.parts([*[*report.document()][1:], *looked_at]),
            "css": html.templates("report.css", "upgrade.css"),
        },
    )


def data(report: AuditReport) -> dict[str, object]:
    result = report.result
    answer = {"format": FORMAT, "answer": report.headline.whole, "status": result.status}
    if not isinstance(result, TableComparison):
        audit: dict[str, object] = _ADAPTER.dump_python(result.audit, mode="json")
        return {**answer, **audit, "lines": list(result.line_problems)}
    return {
        **answer,
        "decision": str(result.decision),
        "old": result.old,
        "new": result.new,
        "counts": {str(change): number for change, number in result.counts.items()},
        "unread": {one.name: one.problem for one in unread(result.tables)},
        "lines": list(result.line_problems),
        "pairs": _PAIRS.dump_python(
            result.pairs, mode="json", include={"__all__": {**_OF_PAIR, "table": _OF_TABLE}}
        ),
    }
