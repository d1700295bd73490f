"""The page by an accessibility checker (axe), at the widths and in the colours that people have."""

import re
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize, expect

from harness.core.records import VerdictKind
from harness.reports import html
from harness.run.load_run import Run
from tests.builders import sample_run

pytestmark = pytest.mark.browser


def violations(page: Page) -> list[str]:
    """Return every violation, also those that axe calls minor."""
    result = Axe().run(page).response["violations"]
    return [
        f"{problem['impact']}: {problem['id']}: {problem['nodes'][0]['html'][:200]}"
        for problem in result
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 800, 390])
def test_no_part_of_the_page_shuts_anybody_out(
    browser: Browser, address: str, run: Run, width: int, scheme: str
) -> None:
    size = ViewportSize(width=width, height=900)
    wrong = next(verdict for verdict in run.verdicts if verdict.verdict is VerdictKind.WRONG)
    with browser.new_context(viewport=size) as context:
        page = context.new_page()
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.goto(address)
        page.get_by_text("How to search").click()
        page.locator("tr.operation button").first.click()
        page.locator("tr.scenario button").first.click()
        page.get_by_role("searchbox").fill("is:bad colour:red")
        assert violations(page) == []
        page.goto(f"{address}#{quote(wrong.case, safe='')}")
        page.locator("#pasted").fill("1\t2")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_nothing_of_a_text_runs(browser: Browser, tmp_path: Path) -> None:
    """The sample holds markup wherever an engine or a scenario can put a text."""
    with browser.new_context() as context:
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", lambda dialog: errors.append(dialog.message))
        page.goto(html.write(sample_run.make(tmp_path), tmp_path).as_uri())
        cases = page.evaluate("CELLS.map((cell) => cell.case)")
        for case in cases:
            page.evaluate("(hash) => { location.hash = hash; }", quote(case, safe=""))
            page.locator("#cell-title").wait_for()
        page.evaluate("(text) => lookFor(text)", '"<img src=x onerror=alert(1)>"')
        page.evaluate("(text) => lookFor(text)", "<img>:x <b>")
        assert page.locator("img, b script, main b b").count() == 0
        assert errors == []


def test_a_run_that_is_too_large_is_counted_where_it_is_right(
    browser: Browser, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "MOST_CELLS", 400)
    verdicts = Counter(verdict.verdict for verdict in run.verdicts)
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(html.write(run, tmp_path).as_uri())
        assert "more than 400 checks" in page.locator("main").inner_text()
        shown = page.evaluate("CELLS.length")
        right = page.evaluate("rows.reduce((sum, row) => sum + count(row.hits, 'correct'), 0)")
        assert shown == len(run.verdicts) - verdicts[VerdictKind.CORRECT]
        assert right == verdicts[VerdictKind.CORRECT]
        page.evaluate("(text) => lookFor(text)", "is:correct reader:trino")
        reported = page.locator("#count").inner_text()
        sums = page.locator("tr.operation a.sum")
        text = " ".join(sums.evaluate_all("all => all.map((a) => a.title)"))
        trino = sum(
            "trino" in verdict.reader for verdict in run.verdicts if verdict.verdict == "correct"
        )
        assert f"and {trino} that are only counted" in reported
        numbers = re.findall(r"([\d,]+) correct", text)
        assert sum(int(number.replace(",", "")) for number in numbers) == trino
        first = next(verdict for verdict in run.verdicts if verdict.verdict is VerdictKind.CORRECT)
        page.evaluate("(hash) => { location.hash = hash; }", quote(first.case, safe=""))
        expect(page.locator("#problems")).to_contain_text(
            "most of so large a run is only counted here"
        )
        wrong = next(verdict for verdict in run.verdicts if verdict.verdict is VerdictKind.WRONG)
        page.evaluate("(hash) => { location.hash = hash; }", quote(wrong.case, safe=""))
        page.locator("#cell-title").wait_for()
        assert page.locator("#pasted").count() == 0


def test_on_paper_causes_are_unfolded(browser: Browser, address: str) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(address)
        assert page.locator("section.print details:not([open])").count() > 0
        page.pdf()
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("section.print details:not([open])").count() == 0
        assert not page.locator("#search").is_visible()
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator("section.print details:not([open])").count() > 0
