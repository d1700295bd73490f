"""The page of an audit: one file, which is read at any width, with each table's evidence."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ViewportSize, expect

from harness.audit.records import Audit, AuditedTable
from harness.audit.result import AuditResult
from harness.comparison.table_changes import TableComparison
from harness.reports import audit_files
from harness.reports.audit_report import AuditReport
from tests.builders.audited_answers import READER, REFUSED, RIGHT, WRONG, table

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m"
BROKEN = AuditedTable(HOSTILE, "delta", "/b", problem=f"{HOSTILE} is gone")
TABLES = (table(RIGHT, name="right"), table(WRONG, REFUSED, name="orders"), BROKEN)
AUDITED = AuditResult(Audit("/t", (READER,), TABLES))
COMPARED = TableComparison(READER, READER, TABLES)


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("result", [AUDITED, COMPARED])
def test_the_page_is_read_at_any_width(
    browser: Browser, tmp_path: Path, result: AuditResult | TableComparison, width: int
) -> None:
    address = audit_files.write(AuditReport(result), tmp_path)["html"].as_uri()
    with browser.new_context(viewport=ViewportSize(width=width, height=900)) as context:
        page = context.new_page()
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert requests == [address]
        evidence = page.get_by_text("name is NULL instead of a in [1, a]").first
        expect(evidence).to_be_hidden()
        orders = page.get_by_role("listitem").filter(has_text="orders")
        orders.get_by_text("More", exact=True).click()
        expect(evidence).to_be_visible()
        expect(page.get_by_text("is gone", exact=False)).to_contain_text("<img src=x")
        violations = Axe().run(page).response["violations"]
        assert [violation["id"] for violation in violations] == []


def test_the_worst_table_is_first(browser: Browser, tmp_path: Path) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(audit_files.write(AuditReport(AUDITED), tmp_path)["html"].as_uri())
        panel = page.get_by_role("region", name="Table by table")
        names = panel.get_by_role("listitem").locator("> b").all_inner_texts()
    assert names == ["orders", "right"]
