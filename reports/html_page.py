"""What all HTML reports share: templates that escape whatever they are given, and how to write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Final
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from harness.core.atomic_write import atomic_write
from harness.core.counting import counted
from harness.reports.document import Block, Heading


def cell_address(page: Path, case: str) -> str:
    """Return the address of a cell, as the page's own links and scripts have it.

    >>> cell_address(Path("/runs/a b/report.html"), "hudi/move[hudi-cow]/s1/snapshot/all/trino-476")
    'file:///runs/a%20b/report.html#hudi%2Fmove%5Bhudi-cow%5D%2Fs1%2Fsnapshot%2Fall%2Ftrino-476'
    """
    return f"{page.absolute().as_uri()}#{quote(case, safe='')}"


def cause_address(page: Path, number: int) -> str:
    """Return the address of a cause, by its number from 1.

    >>> cause_address(Path("/runs/a/report.html"), 3)
    'file:///runs/a/report.html#cause-3'
    """
    return f"{page.absolute().as_uri()}#cause-{number}"


HIDDEN: Final = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u200b-\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff]"
)
"""What a browser hides, or what turns a text around: written out, as the pages' scripts do."""


SCRIPTS: Final = ("page.js", "query.js", "tables.js", "paste.js", "cell.js", "table.js", "view.js")


def rendered(template: str, values: dict[str, object]) -> str:
    """Return a page made of one of our own templates; every value in it is escaped."""
    environment = Environment(
        loader=PackageLoader("harness.reports"),
        autoescape=True,
        finalize=_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["counted"] = counted
    environment.filters["kind"] = lambda block: type(block).__name__
    return environment.get_template(template).render(values)


def parts(blocks: Iterable[Block]) -> list[tuple[str, list[Block]]]:
    headed: list[tuple[str, list[Block]]] = []
    for block in blocks:
        if isinstance(block, Heading):
            headed.append((block.text, []))
        else:
            headed[-1][1].append(block)
    return headed


def _visible(value: object) -> object:
    """Return a text without hidden characters; our own markup as it is."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", value)


def templates(*names: str) -> Markup:
    folder = resources.files("harness.reports") / "templates"
    texts = ((folder / name).read_text(encoding="utf-8") for name in names)
    return Markup("\n".join(texts))  # noqa: S704 - our own files


def embedded(data: object) -> Markup:
    r"""Return data as JSON that no parser of HTML finds an end or a comment in.

    >>> embedded(["</script>\u2028"])
    Markup('["\\u003c/script>\\u2028"]')
    """
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704 - escaped for where it goes


def cells(data: object, example: str, terms: Sequence[tuple[str, str]]) -> dict[str, object]:
    """Return what the templates of the table of cells ask for; `terms`: buttons with searches."""
    return {
        "data": embedded(data),
        "script": templates(*SCRIPTS),
        "example": example,
        "terms": terms,
    }


def write(page: str, path: Path) -> Path:
    with atomic_write(path) as part:
        # A lone surrogate in an engine's text has no UTF-8 form.
        part.write_text(page, encoding="utf-8", errors="backslashreplace")
    return path
