"""Generate the parts of docs/ and of README.md that repeat what the code says.

A generated part stands between `<!-- generated: <name> -->` and `<!-- end -->`, in any page. Run
`python -m tools.generate_docs` after a change of what it is made from; with `--check` it only says
which pages are stale.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `harness`

from harness import formats
from harness.scenario.examples import scenario_of
from harness.scenario.operations import registry
from harness.scenario.operations.api import Operation
from tools import engine_docs

DOCS: Final = Path(__file__).parents[1] / "docs"
PAGES: Final = (DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md")))
_PART: Final = re.compile(r"(<!-- generated: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
_LABELS: Final = {"hive-acid": "transactional Hive", "iceberg": "Iceberg", "delta": "Delta"}


def operations() -> str:
    """Return the table of operations, with the formats that have each."""
    rows = ["| step | meaning | formats |", "| --- | --- | --- |"]
    for kind in registry().values():
        for example in kind.EXAMPLES:
            operation = scenario_of(example).steps[-1].operation
            rows.append(f"| `{example.step}` | {example.meaning} | {_formats(operation)} |")
    return "\n".join(rows)


def _formats(operation: Operation) -> str:
    """Return which formats have an operation, those of one family by its name."""
    having = {name for name in formats.names() if not formats.load(name).unsupported(operation)}
    families: dict[str, set[str]] = {}
    for name in formats.names():
        families.setdefault(_family(name), set()).add(name)
    lacking = [family for family, names in families.items() if not names & having]
    labels = [family for family, names in families.items() if names <= having]
    if len(labels) + len(lacking) == len(families) and len(lacking) <= 1:
        return " but ".join(["all", *lacking])
    whole = set().union(*(families[family] for family in labels))
    return ", ".join([*labels, *(f"`{name}`" for name in sorted(having - whole))])


def _family(name: str) -> str:
    family = name.partition("-")[0]
    return _LABELS.get(name) or {"hive": "plain Hive", "hudi": "Hudi"}.get(family, family)


PARTS: Final[Mapping[str, Callable[[], str]]] = {
    "engines": engine_docs.engines,
    "operations": operations,
    "reader-settings": engine_docs.reader_settings,
    "tolerances": engine_docs.tolerances,
}
"""What makes each generated part, by its name."""


def stale_pages() -> Iterator[tuple[Path, str]]:
    """Yield the pages whose generated parts are stale, each with the text that it should have."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        generated = _PART.sub(lambda part: f"{part[1]}{PARTS[part[2]]()}\n{part[3]}", text)
        if generated != text:
            yield page, generated


def main(arguments: list[str]) -> int:
    """Write the stale pages, or only name them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say which pages are stale")
    options = parser.parse_args(arguments)
    stale = list(stale_pages())
    for page, text in stale:
        print(page.relative_to(DOCS.parent))
        if not options.check:
            page.write_text(text, encoding="utf-8")
    return int(bool(stale) and options.check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
