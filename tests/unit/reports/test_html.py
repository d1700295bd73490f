import json
import re
from collections import Counter
from dataclasses import replace
from itertools import accumulate
from typing import Any

import pytest

from harness.core.records import VerdictKind
from harness.model.file_facts import FileFact, FileKind
from harness.reports import html
from harness.reports.html import number_files
from harness.run.causes import causes
from harness.run.load_run import Run
from tests.builders import sample_run
from tests.builders.html_text import Page


@pytest.fixture(scope="module")
def text(sampled: Run, tmp_path_factory: pytest.TempPathFactory) -> str:
    return html.write(sampled, tmp_path_factory.mktemp("out")).read_text("utf-8")


@pytest.fixture(scope="module")
def data(text: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(Page(text).data)
    return result


def data_of(run: Run) -> dict[str, Any]:
    return html.data(run, html.run_cells(run, causes(run.verdicts, run)))


def cells(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells as the page's script puts them together."""
    return [
        question | cell | {"case": question["case"] + data["readers"][cell["r"]]["reader"]}
        for question in data["questions"]
        for cell in question["cells"]
    ]


def rows(data: dict[str, Any], table: int) -> list[list[str | None]]:
    return [data["pool"][row] for row in data["pool"][table]["rows"]]


def test_hostile_texts_make_no_elements_of_their_own(text: str) -> None:
    tags = [tag for tag, _ in Page(text).tags]
    assert tags.count("script") == 2
    assert "img" not in tags
    assert "<b>bold" not in text
    assert "\u2028" not in text
    assert sample_run.HOSTILE in [
        variant["about"] for variant in json.loads(Page(text).data)["variants"]
    ]


def test_the_page_reaches_for_nothing_outside_of_itself(text: str) -> None:
    loads = [
        (tag, name)
        for tag, attributes in Page(text).tags
        for name in attributes
        if name in {"src", "srcset", "data", "action"} or (name == "href" and tag == "link")
    ]
    assert loads == []
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|innerHTML|https?://", text)
    assert "default-src 'none'" in text


def test_every_cell_of_the_plan_is_on_the_page_once(sampled: Run, data: dict[str, Any]) -> None:
    assert [cell["case"] for cell in cells(data)] == [
        case for _, case in sorted((_at(sampled, c), c) for c in _cases(sampled))
    ]


def _cases(run: Run) -> list[str]:
    return [verdict.case for verdict in run.verdicts]


def _at(run: Run, case: str) -> tuple[int, int]:
    # Cells of one question stand together, in the order of the plan.
    order = [(v.variant, v.step, v.view, v.query) for v in run.verdicts]
    at = _cases(run).index(case)
    return order.index(order[at]), at


def test_nothing_has_the_number_0_and_something_never_has() -> None:
    pool = html.Pool()
    empty: tuple[object, ...] = ("", [], {}, None)
    assert [pool.add(item) for item in empty] == [0] * 4
    assert (pool.add("first"), pool.add(["second"]), pool.add("first")) == (1, 2, 1)
    assert pool.items == [None, "first", ["second"]]


def test_null_stays_null_and_the_text_null_stays_text(data: dict[str, Any]) -> None:
    hostile = next(c for c in cells(data) if c["case"].startswith("hostile") and c["s"] == 1)
    assert rows(data, hostile["got"]) == [["1", sample_run.HOSTILE, None], ["2", "NULL", None]]


def test_of_too_many_cells_each_cause_has_examples_and_the_rest_is_counted(
    sampled: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported = causes(sampled.verdicts, sampled)
    monkeypatch.setattr(html, "MOST_CELLS", 2 * len(reported))
    result = data_of(sampled)
    assert result["examples"] == 2
    shown = {cell["case"] for cell in cells(result)}
    assert shown == {case for cause in reported for case in cause.cases[:2]}
    whole = Counter(str(verdict.verdict) for verdict in sampled.verdicts)
    seen = Counter(cell["k"] for cell in cells(result))
    for *_, number, kind in result["counted"]:
        seen[kind] += number
    assert seen == whole
    assert seen["wrong"] > sum(cell["k"] == "wrong" for cell in cells(result))
    assert {variant["id"] for variant in result["variants"]} == {
        verdict.variant for verdict in sampled.verdicts if verdict.case in shown
    }
    assert "at most 2 checks of each cause" in html.page(sampled)


def test_files_tell_the_step_that_wrote_them_and_leave_out_meta_columns(
    data: dict[str, Any],
) -> None:
    step = next(s for s in data["variants"][1]["steps"] if s["number"] == 4)
    base, log = (data["pool"][item] for item in data["pool"][step["files"]])
    assert (base["step"], base["kind"], base["meta"]) == (1, "base", 2)
    assert (log["step"], log["kind"], log["keys"]) == (4, "log", ["1"])
    assert data["pool"][base["columns"]][0] == ["id", "string"]


def test_links_to_cells_lead_to_cases(text: str, data: dict[str, Any]) -> None:
    from urllib.parse import unquote  # noqa: PLC0415

    cases = {cell["case"] for cell in cells(data)}
    links = [a["href"] for tag, a in Page(text).tags if tag == "a" and a.get("href")]
    places = {f"#{a['id']}" for _, a in Page(text).tags if a.get("id")}
    of_cells = {link for link in links if link and not link.startswith("#q=")} - places
    assert of_cells
    assert {unquote(of_cell)[1:] for of_cell in of_cells} <= cases


def test_a_link_of_a_cause_shows_its_cells_and_no_others(
    sampled: Run, text: str, data: dict[str, Any]
) -> None:
    result = causes(sampled.verdicts, sampled)
    numbers = [list(accumulate(gaps)) for gaps in data["causes"]]
    shown = [[cells(data)[at]["case"] for at in number] for number in numbers]
    assert [sorted(item) for item in shown] == [sorted(cause.cases) for cause in result]
    assert all(f'href="#q=cause:{at}"' in text for at in range(1, len(result) + 1))
    assert all(f'data-copy="#cause-{at}"' in text for at in range(1, len(result) + 1))


def test_a_wrong_place_names_its_file_by_the_number_in_the_list(sampled: Run) -> None:
    wrong = next(verdict for verdict in sampled.verdicts if verdict.verdict is VerdictKind.WRONG)
    files = sampled.by_step[wrong.variant, wrong.step].files
    places = tuple(replace(witness, file=files[0].path) for witness in wrong.findings[0].witnesses)
    reported = replace(wrong, findings=(replace(wrong.findings[0], witnesses=places),))
    page = data_of(replace(sampled, recorded={**sampled.recorded, wrong.case: reported}))
    result: dict[str, Any] = json.loads(json.dumps(page))
    cell = next(cell for cell in cells(result) if cell["case"] == wrong.case)
    step = next(s for s in result["variants"][cell["v"]]["steps"] if s["number"] == cell["s"])
    listed = [result["pool"][item]["path"] for item in result["pool"][step["files"]]]
    number = listed.index(files[0].path) + 1
    notes = [result["pool"][item] for item in result["pool"][cell["marks"]]["notes"]]
    assert all(text.endswith(f"; read from file #{number}") for _, text, _ in notes)
    assert files[0].path not in json.dumps(notes)


def test_a_cell_says_that_it_is_declared_unsupported_and_was_answered_or_was_not_sent(
    sampled: Run,
) -> None:
    pool, files = html.Pool(), number_files((), {})
    right = next(verdict for verdict in sampled.verdicts if verdict.verdict is VerdictKind.CORRECT)
    reported = replace(right, disclaimed="it knows version 8")
    shown = html.cell(sampled, reported, [reported], files, pool)
    number = pool.items.index("declared unsupported (it knows version 8), but answered")
    assert shown["because"] == number
    spared = replace(
        sampled.answers[right.case], rows=(), not_applicable="it was not sent", probe="a case"
    )
    run = replace(sampled, answers={**sampled.answers, right.case: spared})
    result = html.cell(run, right, [right], files, pool)
    assert "got" not in result


STEPS_OF_INSTANTS = {"20": 1, "10": 2}


def fact(path: str, instant: str, group: str, kind: FileKind = FileKind.BASE) -> FileFact:
    return FileFact(path, kind, group, instant, (), ())


def test_files_are_numbered_by_the_step_that_wrote_them() -> None:
    late, other, early = fact("a", "10", "a"), fact("c", "20", "y"), fact("b", "20", "x")
    files = number_files([late, other, early], STEPS_OF_INSTANTS)
    assert files.facts == (early, other, late)
    assert [files.name(file_fact) for file_fact in (early, other, late)] == ["#1", "#2", "#3"]
    assert files.name(fact("z", "10", "z")) == files.name(None) == files.names("z") == ""


def test_a_log_file_has_a_number_for_each_of_its_blocks() -> None:
    blocks = [fact("log", "10", "a", FileKind.LOG) for _ in range(2)]
    files = number_files([*blocks, fact("a", "20", "a")], STEPS_OF_INSTANTS)
    assert [files.name(block) for block in blocks] == ["#2", "#3"]
    assert files.names("log") == "#2 or #3"
