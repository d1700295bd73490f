"""The generated parts of the documentation say what the code says."""

from __future__ import annotations

from tools import generate_docs


def test_no_page_is_stale() -> None:
    stale = [page.name for page, _ in generate_docs.stale_pages()]
    assert not stale, "run: python -m tools.generate_docs"


def test_every_generated_part_stands_in_a_page() -> None:
    pages = "".join(path.read_text("utf-8") for path in generate_docs.PAGES)
    missing = [name for name in generate_docs.PARTS if f"<!-- generated: {name} -->" not in pages]
    assert not missing
