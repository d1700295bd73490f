"""The page in a browser: the search, the address, the keyboard and links to copy."""

import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from harness.core.records import FindingKind, Verdict, VerdictKind
from harness.run.causes import causes
from harness.run.load_run import Run

pytestmark = pytest.mark.browser

ONE = "hive-3.1.3{path=fetch}"  # a part of another reader's name, up to the bracket
Chosen = Callable[[Run, Verdict], bool]
COUNT = re.compile(r"^([\d,]+) checks? of")


def search(page: Page, text: str) -> None:
    page.get_by_role("searchbox").fill(text)
    page.get_by_role("searchbox").press("Enter")


def count(page: Page) -> int:
    result = COUNT.match(page.locator("#count").inner_text())
    assert result
    return int(result[1].replace(",", ""))


def kinds(verdict: Verdict) -> set[FindingKind]:
    return {finding.kind for finding in verdict.findings}


QUERIES: list[tuple[str, Chosen]] = [
    ("", lambda _, v: True),
    ("is:wrong", lambda _, v: v.verdict is VerdictKind.WRONG),
    ("-is:wrong", lambda _, v: v.verdict is not VerdictKind.WRONG),
    ("is:wrong,refused", lambda _, v: v.verdict in {VerdictKind.WRONG, VerdictKind.REFUSED}),
    ("kind:misaligned", lambda _, v: FindingKind.MISALIGNED in kinds(v)),
    ("KIND:lost_value", lambda _, v: FindingKind.LOST_VALUE in kinds(v)),
    (
        "reader:trino default:yes",
        lambda r, v: "trino" in v.reader and r.info.reader(v.reader).by_default,
    ),
    ("-reader:hive is:bad", lambda _, v: "hive" not in v.reader and v.verdict != "correct"),
    (f'reader:"{ONE}"', lambda _, v: v.reader == ONE),
    ("step:3", lambda _, v: v.step == 3),
    ("view:read-optimized", lambda _, v: v.view == "read_optimized"),
    ("scenario:hudi/move", lambda _, v: v.scenario == "hudi/move"),
    ('"HUDI/MOVE[hudi-mor"', lambda _, v: "hudi/move[hudi-mor" in v.case),
    ("party:reader", lambda _, v: any(finding.responsible == "reader" for finding in v.findings)),
]


@pytest.mark.parametrize(("text", "chosen"), QUERIES)
def test_a_search_leaves_the_cells_that_it_names(
    page: Page, run: Run, text: str, chosen: Chosen
) -> None:
    search(page, text)
    assert count(page) == sum(chosen(run, verdict) for verdict in run.verdicts)
    assert page.locator("#problems").inner_text() == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour:red", "There is no key 'colour'; the keys are is, kind, reader"),
        ("changed:worse", "'harness compare' writes the page of two runs"),
        ("kind:sideways", "Nothing here has kind:sideways; kind can be"),
        ("reader:oracle is:wrong", "Nothing here has reader:oracle"),
        ("is: wrong", "After 'is:' a value is missing"),
        ('"not closed', "is not closed"),
    ],
)
def test_what_cannot_be_looked_for_is_reported_and_finds_nothing(
    page: Page, text: str, message: str
) -> None:
    search(page, text)
    expect(page.locator("#problems")).to_contain_text(message)
    assert count(page) == 0
    assert page.get_by_role("searchbox").get_attribute("aria-invalid") == "true"


def test_rows_are_closed_and_open_into_scenarios_and_then_cells(page: Page) -> None:
    assert page.locator("a.cell:not(.sum)").count() == 0
    assert page.locator("tr.scenario").count() == 0
    page.locator("tr.operation button").first.click()
    assert page.locator("tr.scenario").count() > 0
    assert page.locator("a.cell:not(.sum)").count() == 0
    page.locator("tr.scenario button").first.click()
    assert page.locator("a.cell:not(.sum)").count() > 0
    page.locator("tr.operation button").first.click()
    assert page.locator("tr.scenario").count() == 0


def test_the_rows_count_every_wrong_cell(page: Page, run: Run) -> None:
    rows = page.evaluate("rows.map((row) => [row.id, count(row.hits, 'wrong')])")
    cells: dict[str, set[str]] = {}
    for cause in causes(run.verdicts, run):
        wrong_cases = {v.case for v in cause.verdicts if v.verdict is VerdictKind.WRONG}
        cells.setdefault(cause.key.operation, set()).update(wrong_cases)
    assert {name: number for name, number in rows if number} == {
        name: len(wrong_cases) for name, wrong_cases in cells.items() if wrong_cases
    }


def test_a_view_is_the_same_again_from_its_address(page: Page, address: str) -> None:
    search(page, 'is:wrong reader:"trino-476"')
    page.get_by_role("button", name="Show all").click()
    search(page, "is:wrong default:yes")
    if page.locator("tr.operation button[aria-expanded=false]").count():
        page.locator("tr.operation button[aria-expanded=false]").first.click()
    if page.locator("tr.scenario button[aria-expanded=false]").count():
        page.locator("tr.scenario button[aria-expanded=false]").first.click()
    page.locator("a.cell.wrong:not(.sum, .off)").first.click()
    expect(page).to_have_url(re.compile("cell="))
    shown = _shown(page)
    where = page.url
    page.goto("about:blank")
    page.goto(where)
    assert where.startswith(address)
    expect(page.locator("dialog[open]")).to_have_count(1)
    assert _shown(page) == shown


def _shown(page: Page) -> list[str]:
    open_rows = page.locator("button[aria-expanded=true]").all_inner_texts()
    title = page.locator("#cell-title").inner_text()
    return [page.get_by_role("searchbox", include_hidden=True).input_value(), title, *open_rows]


def test_the_address_of_a_cell_opens_it_and_leaves_the_search(page: Page, run: Run) -> None:
    wrong = next(verdict for verdict in run.verdicts if verdict.verdict is VerdictKind.WRONG)
    search(page, "is:wrong")
    page.evaluate("(hash) => { location.hash = hash; }", quote(wrong.case, safe=""))
    expect(page.locator("#cell-title")).to_have_text(wrong.reader)
    expect(page).to_have_url(re.compile("q=is%3Awrong"))
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("cell="))


def test_an_address_without_a_cell_of_this_page_is_reported(page: Page) -> None:
    page.evaluate("location.hash = 'cell=hudi%2Fno_such_thing'")
    expect(page.locator("#problems")).to_contain_text("has no check 'hudi/no_such_thing'")


def test_a_link_is_copied_of_a_cell_a_cause_and_a_view(page: Page, address: str) -> None:
    page.locator("button.copy").first.click()
    expect(page.locator("#said")).to_have_text("The link is copied.")
    expect_copied(page, f"{address}#cause-1")
    search(page, "is:wrong")
    page.locator("[data-copy-view]").click()
    expect_copied(page, f"{address}#q=is%3Awrong")
    case = page.evaluate("CELLS.find((cell) => cell.k === 'wrong').case")
    page.evaluate("(hash) => { location.hash = hash; }", quote(case, safe=""))
    page.get_by_role("button", name="copy link", exact=True).click()
    expect_copied(page, f"{address}#{quote(case, safe='')}")


def expect_copied(page: Page, address: str) -> None:
    """Wait until the clipboard has an address."""
    there = "async (address) => await navigator.clipboard.readText() === address"
    page.wait_for_function(there, arg=address)


def test_a_cause_leads_to_its_cells_and_a_cell_to_its_cause(page: Page, run: Run) -> None:
    first = causes(run.verdicts, run)[0]
    page.locator("#cause-1 a[href^='#q=']").click()
    expect(page.get_by_role("searchbox")).not_to_have_value("")
    assert count(page) == len(first.cases)
    page.evaluate("(hash) => { location.hash = hash; }", quote(first.first.case, safe=""))
    page.locator("dialog a[href='#cause-1']").click()
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(page.locator("#cause-1")).to_be_in_viewport()


def test_everything_is_reached_by_the_keyboard(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("is:wrong")
    page.keyboard.press("Enter")
    page.locator("tr.operation button").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    expect(page.locator("tr.scenario button").first).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    expect(page.locator("a.cell:focus")).to_have_count(1)
    page.locator("a.cell:not(.sum, .off)").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("dialog[open]")).to_have_count(1)
    before = page.url
    page.keyboard.press("ArrowRight")
    expect(page).not_to_have_url(before)
    page.keyboard.press("Escape")
    expect(page.locator("a.cell:focus")).to_have_count(1)
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    expect(page.get_by_role("searchbox")).to_have_value("")
