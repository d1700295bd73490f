"""The files that an audit leaves, and a comparison of two readers on somebody's own tables."""

import json
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from harness.audit.records import Audit, unread
from harness.audit.result import AuditResult
from harness.comparison.table_changes import AnswerPair, TableComparison
from harness.core.atomic_write import atomic_write
from harness.reports import audit_report as report
from harness.reports import html, lines
from harness.reports.document import Heading
from harness.reports.markdown import markdown

AUDIT, UPGRADE = "audit", "upgrade"
FORMAT: Final = 1
_ADAPTER: Final = TypeAdapter(Audit)
_PAIRS: Final = TypeAdapter(tuple[AnswerPair, ...])
_OF_TABLE: Final = {"name", "format", "location", "version", "rows", "files"}
_OF_PAIR: Final = dict.fromkeys(("question", "old", "new", "change", "known"), True)


def write(result: AuditResult | TableComparison, folder: Path) -> dict[str, Path]:
    name = UPGRADE if isinstance(result, TableComparison) else AUDIT
    text = markdown(report.document(result))
    files = {
        "html": html.write_page(page(result), folder / f"{name}.html"),
        "text": lines.write(report.document(result), folder / f"{name}.txt"),
        "markdown": folder / f"{name}.md",
        "json": folder / f"{name}.json",
    }
    files["markdown"].write_text(text, encoding="utf-8", errors="backslashreplace")
    with atomic_write(files["json"]) as part:
        part.write_text(json.dumps(data(result), indent=1), encoding="ascii")
    return files


def page(result: AuditResult | TableComparison) -> str:
    line = report.headline(result)
    if isinstance(result, TableComparison):
        title = f"{result.old} → {result.new}"
    else:
        title = result.audit.address
    blocks = list(report.document(result))[1:]
    looked_at = Heading("What was audited"), report.asked(result)
    return html.rendered(
        "audit.html.j2",
        {
            "label": line.strong,
            "reasons": line.text.lstrip(" ,:"),
            "colour": report.tone(result).value,
            "title": title,
            "totals": report.totals(result),
            "panels_": html.parts([*blocks, *looked_at]),
            "css": html.templates("report.css", "upgrade.css"),
        },
    )


def data(result: AuditResult | TableComparison) -> dict[str, object]:
    answer = {"format": FORMAT, "answer": report.headline(result).whole, "status": result.status}
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
