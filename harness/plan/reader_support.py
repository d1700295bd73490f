"""Which reader can be asked about which format: what the engines' own data say."""

from __future__ import annotations

from collections.abc import Iterator

from harness import engines, formats
from harness.artifacts import distributions, version_rules
from harness.artifacts.distribution import Distribution
from harness.core.errors import UsageProblem
from harness.core.runtime_names import lock_name
from harness.engines import time_travel
from harness.model import past_views
from harness.scenario.cells import Reader


def wrong_reader(reader: str, reason: str) -> UsageProblem:
    """Return the problem of a reader that somebody named and that cannot be asked."""
    return UsageProblem(f"{reader}: {reason}")


def _no_reader(format_name: str, family: str, read: tuple[str, ...]) -> UsageProblem:
    return UsageProblem(
        f"no distribution reads tables of format '{format_name}', which are {family} "
        f"tables; there are distributions that read {', '.join(read)} tables"
    )


def readers() -> tuple[Distribution, ...]:
    """Return every distribution that can be asked: all but what serves them."""
    return tuple(_readers())


def _readers() -> Iterator[Distribution]:
    """Yield them one by one: the lock data of a server of many jars take a while to read."""
    map_ = map(distributions.load, distributions.names())
    return (distribution for distribution in map_ if distribution.is_asked)


def check_reader(reader: Reader) -> None:
    """Check that there is a distribution for a reader, and that it can be asked.

    Raises:
        UsageProblem: there is none.

    """
    if why := distributions.why_not(reader.distribution):
        raise wrong_reader(str(reader), why)
    name, there = lock_name(reader.distribution), distributions.exists(reader.distribution)
    if not (there and distributions.load(reader.distribution).is_asked):
        names = ", ".join(distribution.name for distribution in readers())
        others = f"and other versions of {version_rules.product_ranges()} (harness engines add)"
        request = f"'{name}' is not a reader; allowed: {names}; {others}"
        raise wrong_reader(str(reader), request)


def cannot(reader: Reader, format_name: str) -> str:
    """Return why a reader cannot be asked about tables of a format; empty when it can.

    The reader's settings must exist. See `harness.engines.api.Engine.cannot`.
    """
    distribution, facts = distributions.load(reader.distribution), formats.facts(format_name)
    if distribution.warehouse and formats.load(format_name).absolute_paths:
        return f"{format_name} tables name their files by absolute paths, which no copy can have"
    return engines.load(distribution.engine).cannot(distribution, dict(reader.settings), facts)


def cannot_show(reader: Reader, format_name: str, view: str) -> str:
    """Return why a reader cannot be asked for a view, as a cell calls it; empty when it can."""
    distribution, facts = distributions.load(reader.distribution), formats.facts(format_name)
    return time_travel.cannot(distribution, facts, past_views.name_of(view))


def declared(reader: str, format_name: str, table_version: str) -> str:
    """Return why a reader is declared not to know tables of a version; empty where it is not."""
    family = formats.facts(format_name).family
    return distributions.declared_unknown(reader, family, table_version)


def check_combination(reader: Reader) -> None:
    """Check that the settings of a reader, each of which exists, go together.

    Raises:
        UsageProblem: there is no format that it can be asked about.

    """
    reasons: dict[str, list[str]] = {}
    for name in formats.names():
        reasons.setdefault(cannot(reader, name), []).append(name)
    if "" not in reasons:
        why = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
        raise wrong_reader(str(reader), f"it can be asked about no format; {why}")


def readers_of(format_name: str) -> tuple[str, ...]:
    """Return the distributions that can be asked about tables of a format."""
    return tuple(d.name for d in _readers() if _reads(d, format_name))


def check_format(format_name: str) -> None:
    """Check that there is a distribution that reads the tables of a format.

    Raises:
        UsageProblem: there is none.

    """
    if any(_reads(distribution, format_name) for distribution in _readers()):
        return
    read = (n for n in formats.names() if any(_reads(d, n) for d in readers()))
    families = dict.fromkeys(formats.facts(name).family for name in read)
    raise _no_reader(format_name, formats.facts(format_name).family, tuple(families))


def _reads(distribution: Distribution, format_name: str) -> bool:
    return not cannot(Reader(distribution.name), format_name)
