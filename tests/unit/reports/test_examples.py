from __future__ import annotations

import doctest

import pytest

from harness.reports import html_page, page_address, words


@pytest.mark.parametrize("module", [html_page, page_address, words])
def test_examples_in_docstrings_are_there_and_true(module: object) -> None:
    results = doctest.testmod(module)  # type: ignore[arg-type]
    assert results.attempted > 0
    assert results.failed == 0
