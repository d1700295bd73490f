from __future__ import annotations

from tools.generate_docs import stale_pages


def test_what_pages_repeat_of_the_code_is_what_the_code_says() -> None:
    stale = [page.name for page, _ in stale_pages()]
    assert not stale, "run python -m tools.generate_docs"
