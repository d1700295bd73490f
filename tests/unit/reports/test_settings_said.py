"""Reports say which readers have the defaults of their engine, and what others have otherwise."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from harness.reports import html, html_data, summary, terminal
from harness.reports.cause_texts import cause_texts
from harness.run.load_run import DEFAULTS, NOT_COMPARED, Run
from harness.scenario.cells import Unlike
from tests.builders import sample_run

BY_POSITION = f"{sample_run.TRINO}{{use-column-names=false}}"
FETCH = f"{sample_run.HIVE}{{path=fetch}}"
UNLIKE = {
    sample_run.TRINO: (),
    BY_POSITION: (Unlike("use-column-names", "false", "true", named=True),),
    FETCH: (
        Unlike("vectorized", "off", "on", named=False),
        Unlike("input-format", "plain", "combine", named=False),
    ),
}
"""Of the others it is not known."""


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Run:
    made = sample_run.make(tmp_path_factory.mktemp("run"))
    readers = tuple(
        replace(reader, unlike=UNLIKE.get(reader.reader)) for reader in made.info.readers
    )
    return replace(made, info=replace(made.info, readers=readers))


def shown(run: Run) -> str:
    out = io.StringIO()
    terminal.render(run, Console(file=out, width=200), Path("report.html"))
    return " ".join(out.getvalue().split())


def test_a_reader_is_said_to_have_the_defaults_only_where_that_is_known(compared: Run) -> None:
    assert summary.settings(compared, sample_run.TRINO) == DEFAULTS
    assert summary.settings(compared, BY_POSITION) == "use-column-names=false (default: true)"
    assert summary.settings(compared, f"{sample_run.HIVE}{{path=mapreduce}}") == NOT_COMPARED
    assert summary.settings(compared, "nobody") == NOT_COMPARED


def test_the_legend_says_what_readers_have_otherwise_those_alike_together(compared: Run) -> None:
    text = shown(compared)
    assert f"trino 1: {DEFAULTS}" in text
    assert "trino 2: use-column-names=false (default: true)" in text
    assert (
        "hive 1: vectorized=off, set by the harness (default: on); "
        "input-format=plain, set by the harness (default: combine)"
    ) in text
    assert f"spark 1, spark 2, hive 2, prestos: {NOT_COMPARED}" in text


def test_only_what_somebody_meets_who_sets_nothing_is_marked(compared: Run) -> None:
    marked = {
        reader
        for cause_text in cause_texts(compared)
        if cause_text.mark
        for reader in cause_text.cause.readers
    }
    assert marked == {sample_run.TRINO, FETCH}
    stale = next(
        cause_text
        for cause_text in cause_texts(compared)
        if cause_text.cause.readers == (sample_run.TRINO,)
    )
    assert stale.headline.startswith("trino (default): ")
    assert stale.readers == f"{sample_run.TRINO} (default)"
    page = html.page(compared)
    assert f'<code>{sample_run.TRINO}</code> <span class="tag">default</span>' in page
    assert '<b>trino</b> <span class="tag">default</span>: ' in page


def test_a_cell_says_how_its_reader_is_set(compared: Run) -> None:
    told = html_data.data(compared, html_data.run_cells(compared))["readers"]
    assert isinstance(told, list)
    found = {reader["reader"]: reader["beside"] for reader in told if isinstance(reader, dict)}
    assert found[sample_run.TRINO] == DEFAULTS
    assert found[BY_POSITION] == "use-column-names=false (default: true)"
