"""The generated parts of the documentation say what the code says."""

from __future__ import annotations

import shlex

import pytest

from harness.cli import app
from harness.core.records import FindingKind
from tools import generate_docs

SEEN = {kind: help_.see for kind, help_ in generate_docs.finding_help().items() if help_.see}


def test_no_page_is_stale() -> None:
    stale = [page.name for page, _ in generate_docs.stale_pages()]
    assert not stale, "run: python -m tools.generate_docs"


def test_every_generated_part_stands_in_a_page() -> None:
    pages = "".join(path.read_text("utf-8") for path in generate_docs.PAGES)
    missing = [name for name in generate_docs.PARTS if f"<!-- generated: {name} -->" not in pages]
    assert not missing


def test_every_kind_of_finding_says_what_to_do() -> None:
    assert generate_docs.finding_help().keys() == set(FindingKind)


@pytest.mark.parametrize("kind", SEEN)
def test_what_shows_a_kind_of_finding_can_be_typed(
    kind: FindingKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(generate_docs.DOCS.parent)
    verb, *options = shlex.split(SEEN[kind])
    assert verb == "run"
    assert app.main(["plan", *options]) == 0
