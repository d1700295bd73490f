"""Differences that are no errors are told: in one line, in a table, and for each cell."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace

import pytest
from markupsafe import escape
from rich.console import Console

from harness.core import tolerances
from harness.core.records import Verdict
from harness.core.tolerances import Normalised
from harness.reports import html, html_data, summary, terminal
from harness.run.load_run import Run
from tests.builders import sample_run

CUT, GONE = Normalised("timestamp-milliseconds", 2), Normalised("no-more", 1)


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = sample_run.make(tmp_path_factory.mktemp("run"))
    first, second, third, *rest = run.verdicts
    changed = (met(first, CUT), met(second, CUT, GONE), third)
    return with_verdicts(run, (*changed, *rest))


def with_verdicts(run: Run, verdicts: Iterable[Verdict]) -> Run:
    return replace(run, recorded={verdict.case: verdict for verdict in verdicts})


def met(verdict: Verdict, *applied: Normalised) -> Verdict:
    return replace(verdict, reader="prestodb-0.283{connector=hive}", normalised=applied)


def shown(run: Run) -> str:
    out = io.StringIO()
    terminal.render(run, Console(file=out, width=100, color_system=None))
    return " ".join(out.getvalue().split())


def test_what_was_met_is_added_up_over_the_cells_of_a_product(sampled: Run) -> None:
    gone, cut = summary.tolerance_counts(sampled.verdicts)
    assert (cut.product, cut.name, cut.count, cut.cells) == ("prestodb", CUT.name, 4, 2)
    assert cut.declared == tolerances.declared_for("prestodb")[CUT.name]
    assert (gone.name, gone.count, gone.declared) == ("no-more", 1, None)


def test_the_terminal_has_one_line_for_all(sampled: Run) -> None:
    assert (
        "Normalised, as declared: prestodb was normalised by 'no-more' (1 place); prestodb has "
        "timestamps of milliseconds and cuts off what is finer (4 values)."
    ) in shown(sampled)


def test_the_page_has_a_table_with_reason_and_source(sampled: Run) -> None:
    page, said = html.page(sampled), tolerances.declared_for("prestodb")[CUT.name]
    assert "Normalised: differences that are not errors" in page
    assert said.reason in page
    assert escape(said.source) in page
    assert "4 values in 2 cells" in page


def test_a_cell_of_the_page_tells_its_own(sampled: Run) -> None:
    questions = html_data.data(sampled, html_data.run_cells(sampled))["questions"]
    assert isinstance(questions, list)
    cells = [cell for question in questions for cell in question["cells"]]
    told = [cell["evened"] for cell in cells if "evened" in cell]
    assert sorted(map(len, told)) == [1, 2]


def test_a_run_in_which_nothing_was_met_says_nothing(sampled: Run) -> None:
    run = with_verdicts(sampled, (replace(verdict, normalised=()) for verdict in sampled.verdicts))
    assert "Normalised" not in shown(run)
    assert "Normalised: " not in html.page(run)
