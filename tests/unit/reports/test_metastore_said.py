"""Reports say through which metastore the readers asked, where it is not the usual one."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from harness.reports import html, terminal
from harness.run.load_run import MetastoreInfo, Run
from tests.builders import sample_run

UPGRADED = MetastoreInfo("hive-metastore-3.1.3", "hive-metastore-2.3.10", {"tool": "modified: it"})
SAID = "all asked through hive-metastore-3.1.3, whose database hive-metastore-2.3.10 had made"


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return sample_run.make(tmp_path_factory.mktemp("run"))


def shown(run: Run) -> str:
    out = io.StringIO()
    terminal.render(run, Console(file=out, width=200), Path("report.html"))
    return out.getvalue()


def test_another_one_is_said_beside_what_the_readers_are(usual: Run) -> None:
    through = replace(usual, info=replace(usual.info, metastore=UPGRADED))
    for text in (shown(through), html.page(through)):
        assert f"{SAID} with the tables in it" in text
        assert "tool: modified: it" in text


def test_nothing_is_said_of_the_usual_one(usual: Run) -> None:
    assert "asked through" not in shown(usual)
    assert "asked through" not in html.page(usual)
