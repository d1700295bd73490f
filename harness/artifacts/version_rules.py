"""What the versions of a product have in common: rules over ranges of versions, as data. Pure.

A file for each product (`rules/trino.yaml`) lists rules, whose facts are keys of lock data. Those
that hold for a version are put together; the later one counts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, reduce
from importlib import resources
from typing import Annotated, Any, Final

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version
from pydantic import AfterValidator, Field

from harness.artifacts import result_cache
from harness.artifacts.distribution import ARCHIVE
from harness.core import yaml_reader
from harness.core.problems import unknown_name

WHEELS: Final = "wheels"
OTHERS_OF: Final = "others_of"
_ENDING: Final = ".yaml"
_PART: Final = re.compile(r"([a-z]+)-([0-9].*?)(?=-[a-z]+-[0-9]|$)")

Data = dict[str, Any]
"""What a part of a YAML file says."""


def _range(text: str) -> str:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise ValueError(f"{text!r} is given; allowed: versions such as '>=359,<398'") from None
    return text


@dataclass(frozen=True, slots=True)
class VersionRule:
    """Facts, and the versions that they hold for."""

    facts: Data = field(default_factory=dict)
    """Keys of lock data, in which `{trino}` stands for the version of that product."""
    download: Data = field(default_factory=dict)
    """By role the coordinates of what is fetched for a version, and the members of an archive; a
    list where it is several files. A program of Python has `wheels`, what pip is asked for, and
    `others_of`, the distribution whose other wheels it takes."""
    when: dict[str, Annotated[str, AfterValidator(_range)]] = field(default_factory=dict)
    """By product the range of its versions; a name without that product has other rules."""
    source: str = ""

    def __post_init__(self) -> None:
        if not (self.facts or self.download):
            raise ValueError("a rule has facts, or download, or both")

    def holds(self, versions: Mapping[str, Version]) -> bool:
        return all(
            name in versions and SpecifierSet(allowed).contains(versions[name], prereleases=True)
            for name, allowed in self.when.items()
        )


@dataclass(frozen=True, slots=True)
class VersionRules:
    looked_at: dict[str, Annotated[tuple[str, ...], Field(min_length=2, max_length=2)]]
    """By product the oldest version that the rules are about, and the newest that was run."""
    rules: tuple[VersionRule, ...]


def products() -> tuple[str, ...]:
    files = (entry.name for entry in (resources.files(__package__) / "rules").iterdir())
    return tuple(sorted(name.removesuffix(_ENDING) for name in files if name.endswith(_ENDING)))


def versions(name: str) -> dict[str, str]:
    """Return the versions that stand in the name of a distribution, by product.

    >>> versions("spark-3.5.8-hudi-1.2.1-rc2")
    {'spark': '3.5.8', 'hudi': '1.2.1-rc2'}
    """
    return dict(_PART.findall(name))


def facts(name: str) -> Data:
    """Return the lock data that rules say of a distribution; UsageProblem: its product has none."""
    return _put_together(name, (rule.facts for rule in _holding(name)))


def downloads(name: str) -> Data:
    """Return what makes an installation of a distribution, by role; raises as `facts` does."""
    return _put_together(name, (rule.download for rule in _holding(name)))


def lacks_jars(name: str) -> str:
    """Return the roles of jars, such as Hudi's bundle, that neither image nor rules bring."""
    return ", ".join(role for role in downloads(name) if role != ARCHIVE)


def knows(name: str) -> bool:
    """Return whether rules are about a distribution: all its products, and it is old enough."""
    if next(iter(versions(name)), "") not in products() or not is_whole(name):
        return False
    ranges = tuple(_ranges(name))
    known = len(ranges) == len(versions(name))
    return known and all(version >= Version(oldest) for _, (oldest, _), version in ranges)


def is_whole(name: str) -> bool:
    """Return whether a name has a version of each product.

    >>> is_whole("spark-4.1.4-iceberg-1.12.0"), is_whole("spark-4.1.4-iceberg")
    (True, False)
    """
    given = versions(name)
    try:
        every = [Version(version) for version in given.values()]
    except InvalidVersion:
        return False
    whole = "-".join(f"{product}-{version}" for product, version in given.items())
    return bool(every) and whole == name


def same_versions(first: str, second: str) -> bool:
    """Return whether two different names have the same versions of the same products (PEP 440).

    >>> same_versions("polars-2.1.0", "polars-2.1"), same_versions("polars-2.1.0", "polars-2.1.1")
    (True, False)
    """
    if first == second or not is_whole(first) or not is_whole(second):
        return False
    one, other = (
        {product: Version(version) for product, version in versions(name).items()}
        for name in (first, second)
    )
    return one == other


def product_ranges(only: str = "") -> str:
    """Return which products have rules, from which version on, in words; of one if that has some.

    >>> product_ranges().split(", ")[-2:]
    ['spark from 3.1 on', 'trino from 351 on']
    """
    return ", ".join(
        f"{product} from {_load(product).looked_at[product][0]} on"
        for product in ([only] if only in products() else products())
    )


def combinations(name: str) -> str:
    """Return which versions of the products of a name rules know files of, in words.

    >>> combinations("spark-9.9-iceberg-1.12.0").split("; ")[0]
    'spark >=3.5,<3.6 with iceberg >=0'
    """
    given = versions(name)
    whens = (rule.when for rule in _load(next(iter(given))).rules if rule.download)
    texts = (
        " with ".join(f"{product} {when[product]}" for product in given)
        for when in whens
        if given.keys() == when.keys()
    )
    return "; ".join(texts)


def notice(name: str) -> str:
    """Return what is not sure of a distribution, as rules describe it; empty: nothing.

    >>> notice("trino-999")
    'trino 999 is newer than 483, the newest that was run: it is taken to be set up like that one'
    """
    for product, (_, newest), version in _ranges(name):
        if version > Version(newest):
            message = f"{product} {version} is newer than {newest}, the newest that was run"
            return f"{message}: it is taken to be set up like that one"
    return ""


def overlaid(base: Data, over: Data) -> Data:
    """Return data with other data on top: mappings are put together, anything else is replaced.

    >>> overlaid({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}, "d": 4})
    {'a': {'b': 1, 'c': 3}, 'd': 4}
    """
    both = {key: over[key] if key in over else base[key] for key in (*base, *over)}
    inside = (
        key for key in over if isinstance(base.get(key), dict) and isinstance(over[key], dict)
    )
    return {**both, **{key: overlaid(base[key], over[key]) for key in inside}}


def _put_together(name: str, parts: Iterable[Data]) -> Data:
    return reduce(overlaid, (_filled(part, versions(name)) for part in parts), {})


def _holding(name: str) -> Iterator[VersionRule]:
    given = {key: Version(text) for key, text in versions(name).items()}
    return (rule for rule in _load(next(iter(given))).rules if rule.holds(given))


def _filled(data: Any, given: Mapping[str, str]) -> Any:  # noqa: ANN401 - any part of a file
    if isinstance(data, dict):
        return {key: _filled(entry, given) for key, entry in data.items()}
    if isinstance(data, list):
        return [_filled(entry, given) for entry in data]
    for product, version in given.items() if isinstance(data, str) else ():
        data = data.replace(f"{{{product}}}", version)
    return data


def _ranges(name: str) -> Iterator[tuple[str, tuple[str, ...], Version]]:
    given = versions(name)
    looked_at = _load(next(iter(given))).looked_at
    yield from ((key, looked_at[key], Version(given[key])) for key in given if key in looked_at)


@cache
def _load(product: str) -> VersionRules:
    if product not in products():
        raise unknown_name("product", product, products())
    where = f"rules/{product}{_ENDING}"
    text = (resources.files(__package__) / where).read_text(encoding="utf-8")
    document = result_cache.parse_yaml(text, where)
    return yaml_reader.made(VersionRules, document.data, document, "rules")
