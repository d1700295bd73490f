"""Generate the parts of docs/ and of README.md that repeat what the code says.

A generated part stands between `<!-- generated: <name> -->` and `<!-- end -->`, in any page. Run
`python -m tools.generate_docs` after a change of what it is made from; with `--check` it only says
which pages are stale.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `tools` and `tests`

from harness import engines as engine_registry
from harness import formats
from harness.artifacts import distributions
from harness.artifacts.distribution import Default, Distribution
from harness.core import tolerances as declared
from harness.core.setting_values import SettingValues
from harness.scenario.load import scenario_of
from harness.scenario.operations import registry
from harness.scenario.operations.api import Operation

_FAMILIES: Final = {
    "hive": "plain Hive",
    "hive-acid": "transactional Hive",
    "hudi": "Hudi",
    "iceberg": "Iceberg",
    "delta": "Delta",
}


def engines() -> str:
    """Return the table of the engines that are shipped."""
    lines = ["| engine | distributions | reads | writes |", "| --- | --- | --- | --- |"]
    for engine, versions in _versions().items():
        names = ", ".join(f"`{version.name}`" for version in versions)
        reads = _families(family for version in versions for family in _read_by(version))
        writes = _families(
            family for version in versions for family in version.texts_if_any("writes")
        )
        lines.append(f"| {engine} | {names} | {reads} | {writes} |")
    return "\n".join(lines)


def reader_settings() -> str:
    """Return the table of the settings that readers may have, with what engines do without."""
    lines = [
        "| engine | setting | values | meaning | by itself |",
        "| --- | --- | --- | --- | --- |",
    ]
    for engine, versions in _versions().items():
        for name, values in engine_registry.load(engine).settings.items():
            if defaults := _defaults(name, versions):
                lines.append(f"| {engine} | {_setting(name, values)} | {defaults} |")
    return "\n".join(lines)


def format_settings() -> str:
    """Return the table of the settings of tables, with the formats that have each."""
    having: dict[str, list[str]] = {}
    for format_ in map(formats.load, formats.names()):
        for name, values in format_.settings.items():
            having.setdefault(_setting(name, values), []).append(f"`{format_.NAME}`")
    rows = [f"| {', '.join(names)} | {setting} |" for setting, names in having.items()]
    head = ["| formats | setting | values | meaning |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *sorted(rows, key=lambda row: row.split(" | ")[0])])


def _setting(name: str, values: Sequence[str]) -> str:
    """Return the cells of a setting; a value in digits is written as text in YAML."""
    meaning = values.meaning if isinstance(values, SettingValues) else ""
    written = (f'`"{value}"`' if value.isdecimal() else f"`{value}`" for value in values)
    return f"`{name}` | {', '.join(written)} | {meaning}"


def tolerances() -> str:
    """Return the table of the differences that are no errors."""
    products: dict[str, list[str]] = {}
    first: dict[str, declared.Declaration] = {}
    for product in declared.products():
        for name, declaration in declared.declared_for(product).items():
            products.setdefault(name, []).append(product)
            if name not in first or not declaration.formats:
                first[name] = declaration
    lines = ["| declaration | products | what differs | how far |", "| --- | --- | --- | --- |"]
    for name, found in first.items():
        cells = (", ".join(products[name]), f"it {found.what}", found.limit)
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def _versions() -> Mapping[str, Sequence[Distribution]]:
    """Return the distributions of each engine that is asked."""
    every: dict[str, list[Distribution]] = {}
    for distribution in map(distributions.load, distributions.names()):
        if distribution.is_asked:
            every.setdefault(distribution.engine, []).append(distribution)
    return {engine: every[engine] for engine in sorted(every)}


def _read_by(distribution: Distribution) -> Iterator[str]:
    engine = engine_registry.load(distribution.engine)
    for name in formats.names():
        facts = formats.facts(name)
        if not engine.cannot(distribution, {}, facts):
            yield facts.family


def _families(names: Iterator[str]) -> str:
    found = set(names)
    known = [label for family, label in _FAMILIES.items() if family in found]
    return ", ".join([*known, *sorted(found - _FAMILIES.keys())])


def _defaults(setting: str, versions: Sequence[Distribution]) -> str:
    """Return what each version does by itself; which one it is where they differ."""
    by_text: dict[str, list[str]] = {}
    for version in versions:
        if default := version.defaults.get(setting):
            by_text.setdefault(_default(default), []).append(f"`{version.name}`")
    if len(by_text) == 1:
        return next(iter(by_text))
    return "; ".join(f"{text} ({', '.join(names)})" for text, names in by_text.items())


def _default(default: Default) -> str:
    ours = f", but readers that do not name it have `{default.ours}`" if default.ours else ""
    return f"{default.either or f'`{default.value}`'}{ours}".replace("\n", " ")


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
    "engines": engines,
    "format-settings": format_settings,
    "operations": operations,
    "reader-settings": reader_settings,
    "tolerances": tolerances,
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
