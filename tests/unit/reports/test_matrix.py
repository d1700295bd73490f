"""The page of all that is known: what it holds, and in which order."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness.cli import app
from harness.comparison import evidence
from harness.comparison.evidence import Builder
from harness.core.records import FindingKind, VerdictKind
from harness.reports import matrix
from tests.builders.verdicts import finding, run, verdict

SHOWN = finding(FindingKind.STALE, ("1", "f1", "y"))
READERS = "trino-476", "trino-368", "duckdb-1.5.5", "trino-368{use-column-names=false}"


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    made = run(
        *(verdict(VerdictKind.CORRECT, reader=reader) for reader in READERS[1:]),
        verdict(VerdictKind.WRONG, SHOWN, reader=READERS[0]),
    )
    Builder("0.2.0").add(made, "c0ffee00").write(tmp_path / "e.zip")
    monkeypatch.setenv(evidence.VARIABLE, str(tmp_path / "e.zip"))
    assert app.main(["matrix", "--out", str(tmp_path / matrix.FILE)]) == 0
    return (tmp_path / matrix.FILE).read_text(encoding="utf-8")


def data(page: str) -> dict[str, list[dict[str, Any]]]:
    embedded = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert embedded
    return json.loads(embedded[1])  # type: ignore[no-any-return]


def test_the_page_has_every_answer_and_the_run_that_it_is_of(page: str) -> None:
    assert sum(len(q["cells"]) for q in data(page)["questions"]) == 4
    assert "p of 2026-01-01 (harness at c0ffee00)" in page


def test_versions_of_a_product_stand_beside_each_other_the_oldest_first(page: str) -> None:
    readers = [reader["reader"] for reader in data(page)["readers"]]
    assert readers == ["duckdb-1.5.5", READERS[1], READERS[3], "trino-476"]
    assert data(page)["versions"] == [{"name": "trino", "readers": [[1, "368"], [3, "476"]]}]
    settings = [[1, "its defaults"], [2, "use-column-names=false"]]
    assert data(page)["settings"] == [{"name": "trino-368", "readers": settings}]


def test_a_cause_leads_to_its_smallest_scenario(page: str) -> None:
    case = verdict(VerdictKind.WRONG, reader=READERS[0]).case
    assert '<li id="cause-1"' in page
    assert "The smallest scenario, and its SQL" in page
    assert case.replace("[", "%5B").replace("]", "%5D").replace("@", "%40") in page


def test_the_page_loads_nothing(page: str) -> None:
    assert "default-src 'none'" in page
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=", page)
