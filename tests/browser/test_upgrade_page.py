"""The page of two runs: the same table and search as a run's, and what became of each answer."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from harness.comparison.cell_pairs import WORSE, VerdictChange
from harness.comparison.result import SideComparison
from harness.reports import upgrade_files
from tests.browser.test_page import count, search
from tests.builders import sample_run
from tests.builders.comparisons import OLD, RIGHT, compared

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def compared_sides(tmp_path_factory: pytest.TempPathFactory) -> SideComparison:
    """Return two readers of the sample, the second of which is worse."""
    return compared(sample_run.make(tmp_path_factory.mktemp("run")), RIGHT, OLD)


@pytest.fixture
def upgrade(browser: Browser, compared_sides: SideComparison, tmp_path: Path) -> Iterator[Page]:
    """Return its page, opened; an error of its script fails the test."""
    with browser.new_context() as context:
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(upgrade_files.write_page(compared_sides, tmp_path).as_uri())
        yield page
        assert not errors


def test_a_search_knows_what_became_of_each_answer(
    upgrade: Page, compared_sides: SideComparison
) -> None:
    answers = [pair for pair in compared_sides.pairs if pair.new and not pair.is_step]
    result = Counter(answer.change for answer in answers)
    search(upgrade, "changed:worse")
    assert count(upgrade) == sum(result[literal] for literal in WORSE) > 0
    for change, number in result.items():
        search(upgrade, f'changed:"{change}"')
        right = change is VerdictChange.RIGHT_AS_BEFORE
        assert count(upgrade) == (0 if right else number)


def test_a_cell_shows_the_answers_of_both_sides(upgrade: Page) -> None:
    upgrade.goto(f"{upgrade.url.partition('#')[0]}#q=changed:regressed")
    expect(upgrade.get_by_role("searchbox")).to_have_value("changed:regressed")
    closed = upgrade.locator("button[aria-expanded=false]")
    while closed.count():
        closed.first.click()
    upgrade.locator("a.cell.wrong:not(.sum, .off)").first.click()
    expect(upgrade.locator("dialog")).to_contain_text(f"Before: {RIGHT}")
    expect(upgrade.locator("dialog")).to_contain_text("Answered before")
    assert Axe().run(upgrade).response["violations"] == []


def test_it_shuts_nobody_out(upgrade: Page) -> None:
    assert Axe().run(upgrade).response["violations"] == []
    assert upgrade.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_cause_leads_to_its_cells(upgrade: Page, compared_sides: SideComparison) -> None:
    search(upgrade, "cause:1")
    assert count(upgrade) == len(compared_sides.relevant[0].pairs)
