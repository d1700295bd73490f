"""What an engine answers otherwise than it was written, without being wrong: declared as data.

They lie beside the engine's code: `harness/engines/<product>/tolerances.yaml`, or
`tolerances-<product>.yaml`. What goes beyond a declaration is a finding.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

import harness
from harness.core.yaml_reader import load_yaml
from harness.model.canonical import Value, same

MILLISECONDS: Final = "timestamp-milliseconds"
"""The declaration of a product that cuts."""
LOWER: Final = "lower-case-names"
LISTS: Final = "columns-of-partitions"
"""A row is converted, column by column as they stand, from the list that the catalog keeps of its
partition to the table's; a column beyond the end of that list is NULL."""
NO_SETTINGS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Normalised:
    """A declared difference that is no error, and how often it was met."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Declaration:
    name: str
    """What code applies it by, and records name it by."""
    of: Literal["values", "columns"]
    """What is counted: values that were changed, or columns whose type was taken for ours."""
    types: tuple[str, ...]
    """The types it is about, in our words and without parameters; `any` alone for all."""
    what: str
    """What differs, a clause that follows the product's name."""
    form: str
    to: str
    limit: str
    """How far this goes; what goes further is a finding."""
    reason: str
    source: str
    """Specification, source code or observation; with the version that was looked at."""
    formats: tuple[str, ...] = ()
    """The formats whose tables it is about; empty for all."""
    when: Mapping[str, str] = field(default_factory=dict)
    """Settings that the tables have."""
    unless: Mapping[str, str] = field(default_factory=dict)
    """Settings that they do not have."""

    def holds_for(self, format_name: str, settings: Mapping[str, str]) -> bool:
        return (
            (not self.formats or format_name in self.formats)
            and self.when.items() <= settings.items()
            and not (self.unless and self.unless.items() <= settings.items())
        )


Declared = Mapping[str, Declaration]


@cache
def _files() -> Mapping[str, Path]:
    files = (Path(harness.__file__).parent / "engines").glob("*/tolerances*.yaml")
    return {
        file.stem.removeprefix("tolerances-") if "-" in file.stem else file.parent.name: file
        for file in sorted(files)
    }


def products() -> tuple[str, ...]:
    return tuple(sorted(_files()))


def product(reader: str) -> str:
    """Return the product of a reader, or of a distribution.

    >>> product("prestodb-0.283{connector=hive}"), product("hive-3.1.3-iceberg-1.4.3")
    ('prestodb', 'hive')
    >>> product("production-trino@endpoint")
    'trino'
    """
    parts = reader.partition("{")[0].partition("@")[0].split("-")
    return next((part for part in parts if part in _files()), parts[0])


def declared_for(reader: str) -> Declared:
    return _load(product(reader))


def declared_for_format(
    reader: str, format_name: str, settings: Mapping[str, str] = NO_SETTINGS
) -> Declared:
    return for_format(declared_for(reader), format_name, settings)


def for_format(
    declared: Declared, format_name: str, settings: Mapping[str, str] = NO_SETTINGS
) -> Declared:
    """Return what holds for the tables of a format; without a name, what holds for all."""
    return {
        name: declaration
        for name, declaration in declared.items()
        if declaration.holds_for(format_name, settings)
    }


@cache
def _load(name: str) -> Declared:
    if name not in _files():
        return {}
    text = _files()[name].read_text(encoding="utf-8")
    declarations, _ = load_yaml(tuple[Declaration, ...], text, f"{name}.yaml", "declarations")
    return {declaration.name: declaration for declaration in declarations}


@cache
def goes_by_catalog(engine: str) -> frozenset[str]:
    """Return what an engine goes by that the catalog has, whatever files hold.

    Declared beside its code, in `catalog.yaml`; who keeps the catalog is responsible for it.
    """
    file = Path(harness.__file__).parent / "engines" / engine / "catalog.yaml"
    text = file.read_text(encoding="utf-8") if file.is_file() else "{}"
    return frozenset(load_yaml(dict[str, dict[str, str]], text, str(file), "facts")[0])


def facts() -> str:
    """Return all that code applies, as one text, without what is for people alone."""
    every = (
        (name, declaration) for name in products() for declaration in declared_for(name).values()
    )
    applied = [(of, d.name, d.types, d.formats, d.when, d.unless) for of, d in every]
    return repr(applied)


class Tally:
    """What was applied to one answer, and how often."""

    def __init__(self, declared: Declared) -> None:
        """`declared`: what may be applied."""
        self._declared = declared
        self._counts: Counter[str] = Counter()

    def covers(self, name: str, type_: str) -> bool:
        """Return whether the declaration `name` is there, and covers the type."""
        return name in self._declared and type_ in self._declared[name].types

    def normalise(self, name: str, type_: str, raw: Value, normal: Value) -> Value:
        """Return and count `normal` where declaration `name` covers the type, else what came."""
        if not self.covers(name, type_):
            return raw
        self._counts[name] += not same(raw, normal)
        return normal

    def applied(self) -> tuple[Normalised, ...]:
        return tuple(Normalised(*count) for count in sorted(self._counts.items()) if count[1])


def merged(*applied: Iterable[Normalised]) -> tuple[Normalised, ...]:
    counts: Counter[str] = Counter()
    for one in chain(*applied):
        counts[one.name] += one.count
    return tuple(Normalised(*count) for count in sorted(counts.items()))
