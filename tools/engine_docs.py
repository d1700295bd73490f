"""The tables of docs/ and README.md that say what engines there are, for `generate_docs.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from harness import engines as registry
from harness import formats
from harness.artifacts import distributions
from harness.artifacts.distribution import Default, Distribution
from harness.core import tolerances as declared

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
    lines = ["| engine | setting | values | by itself |", "| --- | --- | --- | --- |"]
    for engine, versions in _versions().items():
        for setting, values in registry.load(engine).settings.items():
            allowed = ", ".join(f"`{value}`" for value in values)
            if defaults := _defaults(setting, versions):
                lines.append(f"| {engine} | `{setting}` | {allowed} | {defaults} |")
    return "\n".join(lines)


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
    engine = registry.load(distribution.engine)
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
        for default in version.defaults:
            if default.setting == setting:
                by_text.setdefault(_default(default), []).append(f"`{version.name}`")
    if len(by_text) == 1:
        return next(iter(by_text))
    return "; ".join(f"{text} ({', '.join(names)})" for text, names in by_text.items())


def _default(default: Default) -> str:
    ours = f", but readers that do not name it have `{default.ours}`" if default.ours else ""
    return f"{default.either or f'`{default.value}`'}{ours}".replace("\n", " ")
