"""What the writers of a profile can write, as far as their distributions say."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from harness import formats
from harness.artifacts import distributions
from harness.artifacts.distribution import Distribution
from harness.core import runtime_names
from harness.core.errors import Fault
from harness.core.problems import one_of
from harness.formats import other_writers
from harness.formats.api import TABLE_VERSION
from harness.plan.capabilities import Maker, Makers
from harness.plan.profile import Profile, Writer
from harness.scenario.definition import Scenario

TABLE_VERSIONS: Final = "table_versions"
CANNOT: Final = "cannot"
"""Setting of a distribution: why it cannot make tables with a setting, by `setting=value`, or do a
step, by the operation's name."""


def makers_of(profile: Profile) -> Makers:
    """Return what each distribution that writes in a profile can write; each must be there."""
    names = {name for writer in profile.writers for name in writer.distributions}
    result = [distributions.load(name) for name in sorted(names)]
    return {distribution.name: _maker(distribution) for distribution in result}


def _maker(distribution: Distribution) -> Maker:
    versions = distribution.texts_if_any(TABLE_VERSIONS)
    return Maker(formats_written(distribution), versions, distribution.options_if_any(CANNOT))


def formats_written(distribution: Distribution) -> tuple[str, ...]:
    """Return the formats that a distribution writes."""
    facts = (formats.facts(name) for name in formats.names())
    return tuple(
        format_facts.name
        for format_facts in facts
        if other_writers.makes(distribution, format_facts)
    )


def wrong_writers(profile: Profile) -> Iterator[Fault]:
    """Yield writers of a profile that write nothing, or the table versions that none makes."""
    wrong = tuple(_wrong_writers(profile))
    yield from wrong
    if not wrong:
        yield from _wrong_versions(profile, makers_of(profile))


def _wrong_writers(profile: Profile) -> Iterator[Fault]:
    known = distributions.names()
    for number, writer in enumerate(profile.writers):
        for distribution, name in enumerate(writer.distributions):
            if message := why_not_writing(name, known):
                at = ("writers", number, "sequence", distribution)
                yield profile.fault(at, f"writer: {message}")


def wrong_steps(scenario: Scenario) -> Iterator[Fault]:
    """Yield an error for each step of a scenario that names a writer which there is not."""
    known = distributions.names()
    for number, step in enumerate(scenario.steps, start=1):
        if step.by and step.by not in known:
            message = f"step {number}: by: there is no '{step.by}'"
            allowed = one_of(step.by, filter(_writes_steps, known))
            yield Fault(scenario.path or scenario.name, step.line, f"{message}; {allowed}")


def why_not_writing(name: str, known: Collection[str]) -> str:
    """Return why a distribution cannot write; empty when it can. `known`: all distributions."""
    name_in_locks = runtime_names.lock_name(name)
    if runtime_names.given(name) in runtime_names.WAREHOUSES:
        return f"{name}: tables are written to the disk; allowed: {name_in_locks}"
    if why := distributions.why_not(name):
        return f"{name}: {why}"
    if not distributions.exists(name):
        return f"there is no '{name}'; {one_of(name_in_locks, filter(_writes, known))}"
    if not _writes(name):
        return f"{name} writes nothing; {one_of(name_in_locks, filter(_writes, known))}"
    return ""


def _writes(name: str) -> bool:
    return bool(distributions.load(name).texts_if_any(other_writers.WRITES))


def _writes_steps(name: str) -> bool:
    return _writes(name) or bool(distributions.load(name).texts_if_any(other_writers.WRITES_STEPS))


def writers_of(format_name: str) -> tuple[str, ...]:
    """Return the distributions that write tables of a format."""
    every = map(distributions.load, filter(_writes, distributions.names()))
    return tuple(
        distribution.name for distribution in every if format_name in formats_written(distribution)
    )


def _wrong_versions(profile: Profile, makers: Makers) -> Iterator[Fault]:
    for number, writer in enumerate(profile.writers):
        version = writer.settings.get(TABLE_VERSION, "")
        for name in writer.distributions if version else ():
            makes = makers[name].table_versions
            if makes and version not in makes:
                message = f"writer: {name} makes no tables of {TABLE_VERSION} {version}"
                at = ("writers", number, "settings", TABLE_VERSION)
                yield profile.fault(at, f"{message}; allowed: {', '.join(makes)}")
    for index, version in enumerate(profile.axes.get(TABLE_VERSION, ())):
        if not any(_makes(writer, version, makers) for writer in profile.writers):
            message = f"axes: no writer of the profile makes tables of {TABLE_VERSION} {version}"
            every = {v: None for name in makers for v in makers[name].table_versions}
            allowed = ", ".join(every) or "none"
            yield profile.fault(("axes", TABLE_VERSION, index), f"{message}; allowed: {allowed}")


def _makes(writer: Writer, version: str, makers: Makers) -> bool:
    """Return whether a writer can make tables of a version; what nothing is said of, it may."""
    every = [makers[name] for name in writer.distributions]
    versioned = all(any(map(_has_versions, maker.formats)) for maker in every)
    return versioned and all(version in (maker.table_versions or (version,)) for maker in every)


def _has_versions(format_name: str) -> bool:
    return TABLE_VERSION in formats.load(format_name).settings
