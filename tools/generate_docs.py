"""Generate the parts of docs/ and of README.md that repeat what the code says.

A generated part stands between `<!-- generated: <name> -->` and `<!-- end -->`, in any page. Run
`python -m tools.generate_docs` after a change of what it is made from; with `--check` it only says
which pages are stale.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from tools import engine_docs

ROOT: Final = Path(__file__).parents[1]
_PART: Final = re.compile(r"(<!-- generated: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
PARTS: Final[Mapping[str, Callable[[], str]]] = {
    "engines": engine_docs.engines,
    "reader-settings": engine_docs.reader_settings,
    "tolerances": engine_docs.tolerances,
}
"""What makes each generated part, by its name."""


def stale_pages() -> Iterator[tuple[Path, str]]:
    """Yield the pages whose generated parts are stale, each with the text that it should have."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = page.read_text(encoding="utf-8")
        generated = _PART.sub(lambda part: f"{part[1]}{PARTS[part[2]]()}\n{part[3]}", text)
        if generated != text:
            yield page, generated


def main(arguments: list[str]) -> int:
    """Write the stale pages, or only name them."""
    stale = list(stale_pages())
    for page, text in stale:
        print(page.relative_to(ROOT))
        if "--check" not in arguments:
            page.write_text(text, encoding="utf-8")
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
