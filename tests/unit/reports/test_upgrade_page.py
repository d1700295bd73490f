import re
from dataclasses import replace
from pathlib import Path

import pytest

from harness.comparison.cell_pairs import VerdictChange
from harness.reports import upgrade_files
from harness.reports import upgrade_report as report
from harness.run.load_run import Run
from tests.builders import comparisons, sample_run
from tests.builders.comparisons import BY_NAME, BY_POSITION, OLD, RIGHT, SILENT, compared
from tests.builders.html_text import Page

PAIRS = ((RIGHT, BY_POSITION), (RIGHT, OLD), (BY_NAME, OLD), (BY_POSITION, RIGHT), (RIGHT, SILENT))


@pytest.fixture(scope="module", params=PAIRS, ids=" to ".join)
def text(sampled: Run, request: pytest.FixtureRequest) -> str:
    return upgrade_files.page(compared(sampled, *request.param))


def page_of(run: Run, old: str, new: str) -> Page:
    return Page(upgrade_files.page(compared(run, old, new)))


def test_the_page_reaches_for_nothing_and_has_our_own_script_alone(text: str) -> None:
    page = Page(text)
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") == 2
    assert not {"img", "link", "iframe", "b>bold"} & set(tags)
    names = {name for _, attributes in page.tags for name in attributes}
    assert not {name for name in names if name.startswith("on")}
    assert not {"src", "srcset", "data", "action", "style"} & names
    assert not re.search(r"@import|url\(|https?://", text)
    assert "default-src 'none'" in text


def test_hostile_texts_stay_texts(sampled: Run) -> None:
    result = comparisons.accepting_all(compared(sampled, RIGHT, OLD))
    for comparison in (result, comparisons.healed(compared(sampled, RIGHT, OLD))):
        text = upgrade_files.page(comparison)
        assert "<b>bold" not in text
        assert text.count("</script>") == 2
        assert not set("\x1b\u2028\u202e") & set(text)
        assert sample_run.HOSTILE[:20] in Page(text).text


def test_names_lead_to_places_and_no_two_places_have_one_name(text: str) -> None:
    tags = Page(text).tags
    ids = [str(attributes["id"]) for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {str(attributes["href"]) for tag, attributes in tags if "href" in attributes}
    assert links
    of_places = {link for link in links if not link.startswith("#q=cause:")}
    assert {of_place.removeprefix("#") for of_place in of_places} <= set(ids)


def test_every_cause_is_reported_in_the_order_of_harm(sampled: Run) -> None:
    result = compared(sampled, BY_NAME, OLD)
    answer_text = page_of(sampled, BY_NAME, OLD).flat
    assert len(result.regressions) > 2
    places = [
        answer_text.index(f"{at}. {report.cause_title(regression)}")
        for at, regression in enumerate(result.regressions, start=1)
    ]
    assert places == sorted(places)
    for regression in result.regressions:
        assert " ".join(report.what_to_do(regression, result).split()) in answer_text
        assert f"harness explain {regression.first.either.case}" in answer_text.replace("'", "")


def test_the_answer_is_a_word_with_its_colour(sampled: Run) -> None:
    result = compared(sampled, RIGHT, BY_POSITION)
    text = upgrade_files.page(result)
    assert re.search(r'class="answer wrong">\s*<h1>Do not upgrade</h1>', text)
    healed = upgrade_files.page(comparisons.healed(result))
    assert re.search(r'class="answer refused">\s*<h1>Upgrade with this setting</h1>', healed)
    same = upgrade_files.page(compared(sampled, RIGHT, RIGHT))
    # A drop that the writer refuses in every format of the sample was tested by nobody.
    assert re.search(r'class="answer unknown">\s*<h1>In part: nothing changes</h1>', same)
    unknown = upgrade_files.page(compared(sampled, SILENT, SILENT))
    assert re.search(r'class="answer unknown">\s*<h1>Not known</h1>', unknown)


def test_accepted_causes_are_reported_with_their_reason_and_lines_that_no_longer_occur(
    sampled: Run,
) -> None:
    result = comparisons.accepting_all(compared(sampled, RIGHT, BY_POSITION), "nobody reads so")
    answer_text = Page(upgrade_files.page(result)).flat
    assert "Accepted: nobody reads so (accept.yaml:1)" in answer_text
    assert "accept.yaml:99: no longer occurs" in answer_text
    assert "What gets worse" not in answer_text


def test_the_simplest_answer_of_a_cause_has_its_place_and_both_sides(sampled: Run) -> None:
    result = compared(sampled, RIGHT, OLD)
    page, cells = page_of(sampled, RIGHT, OLD), upgrade_files.page_cells(result)
    cases = [
        str(attributes["data-cell"]) for _, attributes in page.tags if "data-cell" in attributes
    ]
    assert cases == [cause.first.either.case for cause in result.regressions]
    assert {cells.before[case].verdict is not None for case in cases} == {True}


def test_steps_after_which_the_same_was_seen_are_one_line(sampled: Run) -> None:
    result = compared(sampled, RIGHT, BY_POSITION)
    lists = upgrade_files.cell_lists(result.pairs_of(VerdictChange.REGRESSED), result)
    (line,) = next(lines for name, lines in lists if name.startswith("hudi/move[hudi-cow"))
    assert (line.steps, line.old, line.new) == ("steps 3, 4", "correct", "misaligned")
    assert line.reader == f"{RIGHT} → {BY_POSITION}"
    assert "expected" in line.example


def test_a_text_without_a_form_in_utf8_does_not_stop_the_page(sampled: Run, tmp_path: Path) -> None:
    odd = {name: replace(verdict, because="\ud800") for name, verdict in sampled.recorded.items()}
    result = compared(replace(sampled, recorded=odd), RIGHT, SILENT)
    assert "Not known" in upgrade_files.write_page(result, tmp_path).read_text("utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["upgrade.html"]
