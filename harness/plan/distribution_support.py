"""What a reader, a writer or a metastore supports, as lock data and engines declare it."""

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Final

from packaging.version import Version

from harness import engines, formats
from harness.artifacts import distributions, version_rules
from harness.artifacts.distribution import Default, Distribution
from harness.core import runtime_names, tolerances
from harness.core.errors import Fault, UsageProblem
from harness.core.problems import one_of, unknown_name
from harness.core.runtime_names import (
    AT,
    CONTAINER,
    METASTORE,
    PROCESS,
    WAREHOUSES,
    MetastoreChoice,
    given,
    in_runtime,
    lock_name,
)
from harness.core.setting_values import TABLE_VERSION
from harness.core.tolerances import MILLISECONDS
from harness.engines import time_travel
from harness.engines.format_facts import FormatFacts
from harness.engines.python_library import PythonLibrary
from harness.formats import other_writers
from harness.model import past_views
from harness.model.query import MICROSECONDS, Condition
from harness.model.query_shapes import Shape
from harness.plan.profile import Maker, Makers, Profile, Writer
from harness.runtime.metastore import TOOL, oldest_for
from harness.scenario.cells import Reader, Unlike
from harness.scenario.definition import Scenario
from harness.scenario.operations.api import Operation
from harness.usage import own_tables


def readers() -> Iterator[Distribution]:
    """Return what can be asked, one by one: lock data of many jars take a while to read."""
    every = map(distributions.load, distributions.names())
    return (distribution for distribution in every if distribution.is_asked)


def check_reader(reader: Reader) -> None:
    """Check that there is a distribution for a reader, and that it can be asked.

    Raises UsageProblem: there is none.
    """
    if why := distributions.why_not(reader.distribution):
        raise UsageProblem(f"{reader}: {why}")
    name, there = lock_name(reader.distribution), distributions.exists(reader.distribution)
    if not (there and distributions.load(reader.distribution).is_asked):
        raise UsageProblem(f"{reader}: '{name}' is not a reader; {_of_that_product(name)}")


def _of_that_product(name: str) -> str:
    """Return which readers there are of the product that a name is of; of all if it is of none."""
    by_product: dict[str, list[str]] = {}
    for reader in readers():
        by_product.setdefault(reader.name.partition("-")[0], []).append(reader.name)
    near = difflib.get_close_matches(name.partition("-")[0], by_product, n=1, cutoff=0.8)
    allowed = one_of(name, chain.from_iterable(by_product[key] for key in near or by_product))
    if near and near[0] not in version_rules.products():
        return allowed
    others = version_rules.product_ranges(*near)
    return f"{allowed}; and other versions of {others} (harness engines add)"


def check_no_address(option: str, text: str, what: str, example: str) -> None:
    if "://" in text:
        raise UsageProblem(
            f"{option} {text}: this is an address, and the harness starts its {what} itself; name "
            f"a version, such as {example}; readers.yaml describes an engine set up as yours is "
            "(docs/engines.md), and harness audit asks one that runs already (docs/platform.md)"
        )


def cannot(reader: Reader, format_name: str) -> str:
    """Return why a reader cannot be asked about tables of a format; empty when it can.

    The reader's settings must exist. See `harness.engines.api.Engine.cannot`.
    """
    distribution, facts = distributions.load(reader.distribution), formats.facts(format_name)
    return _cannot(reader, format_name) or own_tables.cannot(distribution, facts)


def _cannot(reader: Reader, format_name: str) -> str:
    distribution, facts = distributions.load(reader.distribution), formats.facts(format_name)
    if distribution.warehouse and formats.load(format_name).absolute_paths:
        return f"{format_name} tables name their files by absolute paths, which no copy can have"
    return engines.load(distribution.engine).cannot(distribution, dict(reader.settings), facts)


def cannot_show(reader: Reader, format_name: str, view: str) -> str:
    """Return why a reader cannot be asked for a view, as a cell calls it; empty when it can."""
    distribution, facts = distributions.load(reader.distribution), formats.facts(format_name)
    return time_travel.cannot(distribution, facts, past_views.name_of(view))


def cannot_ask(reader: Reader, format_name: str, asked: Condition | Shape) -> str:
    """Return why a reader cannot be asked for what a condition needs, or so; empty when it can."""
    engine = engines.load(distributions.load(reader.distribution).engine)
    if isinstance(asked, Shape):
        calls = isinstance(engine, PythonLibrary) and engine.expressions(dict(reader.settings))
        return "it is asked by calls, and not in SQL" if calls else ""
    unasked = engine.unasked
    if MICROSECONDS in asked.needs:
        milliseconds = tolerances.declared_for_format(str(reader), format_name).get(MILLISECONDS)
        unasked = {**unasked, MICROSECONDS: f"it {milliseconds.what}"} if milliseconds else unasked
    return next((unasked[need] for need in asked.needs if need in unasked), "")


def declared(reader: str, format_name: str, table_version: str) -> str:
    """Return why a reader is declared not to know tables of a version; empty where it is not."""
    family = formats.facts(format_name).family
    return distributions.declared_unknown(reader, family, table_version)


def check_combination(reader: Reader) -> None:
    """Check that the settings of a reader, each of which exists, go together.

    Raises UsageProblem: there is no format that it can be asked about.
    """
    reasons: dict[str, list[str]] = {}
    for name in formats.names():
        reasons.setdefault(_cannot(reader, name), []).append(name)
    if "" not in reasons:
        why = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
        raise UsageProblem(f"{reader}: it can be asked about no format; {why}")


def readers_of(format_name: str) -> tuple[str, ...]:
    return tuple(d.name for d in readers() if _reads(d, format_name))


def family_name(format_name: str) -> str:
    """Return what people call the tables of a format and of those like it: `plain Hive`."""
    facts = formats.facts(format_name)
    return "transactional Hive" if facts.transactional else FAMILIES.get(facts.family, facts.family)


def uses(distribution: Distribution) -> Mapping[str, str]:
    """Return of each family by its name whether it `reads`, `writes`, or `reads, writes` such.

    Empty where it does neither; `reads (@container)` where the image of its version alone does. A
    family counts if one of its formats does.
    """
    has_image = distribution.is_asked and not distribution.wheels
    image = distributions.load(in_runtime(distribution.name, CONTAINER)) if has_image else None
    written = formats_written(distribution)
    words: dict[str, dict[str, None]] = {}
    for name in sorted(formats.names(), key=_place):
        of_family = words.setdefault(family_name(name), {})
        if distribution.is_asked and _reads(distribution, name):
            of_family["reads"] = None
        elif image and _reads(image, name):
            of_family[f"reads ({AT}{CONTAINER})"] = None
        if name in written:
            of_family["writes"] = None
    return {family: ", ".join(sorted(of_family)) for family, of_family in words.items()}


def _place(format_name: str) -> tuple[int, str]:
    """Return the order of formats in a table: those of packages come last."""
    facts = formats.facts(format_name)
    known = list(FAMILIES)
    at = known.index(facts.family) if facts.family in known else len(known)
    return at, f"{facts.transactional}{format_name}"


def check_format(format_name: str) -> None:
    """Check that there is a distribution that reads the tables of a format.

    Raises UsageProblem: there is none.
    """
    if any(_reads(distribution, format_name) for distribution in readers()):
        return
    read = (n for n in formats.names() if any(_reads(d, n) for d in readers()))
    families = dict.fromkeys(formats.facts(name).family for name in read)
    raise UsageProblem(
        f"no distribution reads tables of format '{format_name}', which are "
        f"{formats.facts(format_name).family} tables; there are distributions that read "
        f"{', '.join(families)} tables"
    )


def _reads(distribution: Distribution, format_name: str) -> bool:
    return not cannot(Reader(distribution.name), format_name)


FAMILIES: Final[Mapping[str, str]] = {
    "hive": "plain Hive",
    "hudi": "Hudi",
    "iceberg": "Iceberg",
    "delta": "Delta",
}
TABLE_VERSIONS: Final = "table_versions"
CANNOT: Final = "cannot"
"""Setting of a distribution: why it cannot make tables with a setting, by `setting=value`, or do a
step, by the operation's name."""


def makers_of(profile: Profile) -> Makers:
    """Return what each distribution that writes in a profile can write; each must be there."""
    names = {name for writer in profile.writers for name in writer.distributions}
    return {
        d.name: Maker(
            formats_written(d),
            d.texts_if_any(TABLE_VERSIONS),
            d.options_if_any(CANNOT),
            partial(_cannot_be_told, d),
        )
        for d in map(distributions.load, sorted(names))
    }


def _cannot_be_told(distribution: Distribution, format_name: str, operation: Operation) -> str:
    return other_writers.unsupported(distribution, formats.facts(format_name), operation)


def formats_written(distribution: Distribution) -> tuple[str, ...]:
    facts = map(formats.facts, formats.names())
    return tuple(written.name for written in facts if other_writers.makes(distribution, written))


def wrong_writers(profile: Profile) -> Iterator[Fault]:
    """Yield writers of a profile that write nothing, or the table versions that none makes."""
    known = distributions.names()
    wrong = [
        profile.fault(("writers", number, "sequence", at), f"writer: {message}")
        for number, writer in enumerate(profile.writers)
        for at, name in enumerate(writer.distributions)
        if (message := why_not_writing(name, known))
    ]
    yield from wrong or _wrong_versions(profile, makers_of(profile))


def wrong_steps(scenario: Scenario) -> Iterator[Fault]:
    """Yield an error for each step of a scenario that names a writer which there is not."""
    known = distributions.names()
    for number, step in enumerate(scenario.steps, start=1):
        if step.by and step.by not in known:
            message = f"step {number}: by: there is no '{step.by}'"
            able = [name for name in known if _writes(name, other_writers.WRITES_STEPS)]
            allowed = one_of(step.by, able)
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
        steps = f"single steps (by: {name})" * _writes(name, other_writers.WRITES_STEPS)
        writers = one_of(name_in_locks, filter(_writes, known))
        return f"{name} writes {steps or 'nothing'}; {writers}"
    return ""


def _writes(name: str, *more: str) -> bool:
    """Return whether a distribution writes tables, or what `more` settings of it tell."""
    return any(map(distributions.load(name).texts_if_any, (other_writers.WRITES, *more)))


def writers_of(format_name: str) -> tuple[str, ...]:
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
    return all(
        any(TABLE_VERSION in formats.load(name).settings for name in maker.formats)
        and version in (maker.table_versions or (version,))
        for maker in every
    )


_SCHEMA: Final = "schema_sql"
"""What only a metastore has."""
_TRANSACTIONAL: Final = "transactional"
"""What lock data call tables whose writes the metastore numbers, where they say why it cannot."""


def metastores() -> tuple[str, ...]:
    return tuple(filter(_is_metastore, distributions.names()))


def _is_metastore(name: str) -> bool:
    """Return whether a name is a metastore's; all other lock data stay unread."""
    return name in distributions.names() and _SCHEMA in distributions.load(name).settings


def check_metastore(name: str) -> None:
    """Check that there is a metastore of this name; UsageProblem: there is none."""
    check_no_address("--metastore", name, "metastores", metastores()[-1])
    if not _is_metastore(name):
        raise unknown_name("metastore", name, metastores())


def not_upgraded(through: MetastoreChoice) -> str:
    """Return why there is no such upgrade; empty where there is, or none is asked for."""
    if not through.upgraded_from:
        return ""
    older, newer = (distributions.load(name) for name in through.distributions)
    if TOOL not in newer.settings:
        able = (name for name in metastores() if TOOL in distributions.load(name).settings)
        return f"nothing upgrades a database to {newer.name}; allowed: {', '.join(able)}"
    if Version(older.version) >= Version(newer.version):
        return f"upgraded_from: {older.name} is not older than {newer.name}"
    return ""


def wrong_metastore(profile: Profile) -> Iterator[Fault]:
    through, at = profile.metastore, ("metastore",)
    for name in through.distributions:
        if not _is_metastore(name):
            yield profile.fault(
                at, f"metastore: there is no '{name}'; {one_of(name, metastores())}"
            )
            return
    why = not_upgraded(through) or _out_of_reach(profile) or _too_old(profile)
    if why := why or _unregistered(profile) or _without_one_for_all(profile):
        yield profile.fault(at, f"metastore: {why}")


def _too_old(profile: Profile) -> str:
    """Return which reader cannot ask through a metastore so old; empty: each can."""
    for asked in profile.readers:
        if oldest := newer_metastore(asked.reader, profile.metastore):
            name, through = lock_name(asked.reader.distribution), profile.metastore.distribution
            why = f"{name} cannot ask through {through}; through {oldest} it can"
            return f"{why}: --metastore {oldest}, or beside it in --from or --to of an upgrade"
    return ""


def newer_metastore(reader: Reader, through: MetastoreChoice) -> str:
    """Return the oldest that a reader can ask, where a metastore is too old; empty: it can."""
    # What is not there is told elsewhere.
    there = distributions.exists(reader.distribution)
    oldest = oldest_for(distributions.load(reader.distribution)) if there else ""
    if not oldest:
        return ""
    given, needed = (distributions.load(name) for name in (through.distribution, oldest))
    return oldest if Version(given.version) < Version(needed.version) else ""


def _unregistered(profile: Profile) -> str:
    """Return which tables the metastore does not take; empty: it takes all."""
    first = distributions.load(profile.metastore.distributions[0])
    why = first.options_if_any("cannot").get(_TRANSACTIONAL, "")
    named = (format_ for format_ in profile.formats if format_ in formats.names())
    if not why or not (
        asked := [format_name for format_name in named if formats.facts(format_name).transactional]
    ):
        return ""
    return f"{first.name} cannot have {', '.join(asked)} tables registered in it: {why}"


def metastore_in_reach(profile: Profile) -> MetastoreChoice:
    """Return the metastore of a profile as its readers reach it: containers one in a container."""
    through = profile.metastore
    if through.usual or CONTAINER not in _runtimes(profile):
        return through
    return MetastoreChoice(
        in_runtime(through.distribution, CONTAINER),
        through.upgraded_from and in_runtime(through.upgraded_from, CONTAINER),
    )


def _runtimes(profile: Profile) -> set[str]:
    return {given(asked_reader.reader.distribution) or PROCESS for asked_reader in profile.readers}


def _out_of_reach(profile: Profile) -> str:
    """Return which readers another metastore does not serve: of two runtimes, or of objects."""
    runtimes = _runtimes(profile)
    if profile.metastore.usual or runtimes in ({PROCESS}, {CONTAINER}):
        return ""
    name = profile.metastore.distribution
    return (
        f"{name} serves either processes or containers, whose tables are on the disk, not "
        f"{', '.join(sorted(runtimes))} readers; ask all of one kind, or through {METASTORE}"
    )


def _without_one_for_all(profile: Profile) -> str:
    """Return why no metastore serves all engines; empty: one does.

    Containers reach a container's alone, and who reads from an object store a process's.
    """
    writers = (name for writer in profile.writers for name in writer.distributions)
    readers = (asked_reader.reader.distribution for asked_reader in profile.readers)
    named = tuple(dict.fromkeys((*writers, *readers)))
    contained = [name for name in named if given(name) == CONTAINER]
    stored = [name for name in named if given(name) in WAREHOUSES]
    if not (contained and stored):
        return ""
    message = f"no one serves both {', '.join(contained)} and {', '.join(stored)}"
    return (
        f"{message}: containers do not reach an object store on loopback; ask them in separate runs"
    )


def unlike_defaults(reader: Reader, format_names: Iterable[str]) -> tuple[Unlike, ...] | None:
    """Return what a reader has otherwise than its engine by itself, for tables of some formats.

    None: of a setting that concerns them, the default is not declared.
    """
    distribution, settings = distributions.load(reader.distribution), dict(reader.settings)
    facts = tuple(map(formats.facts, dict.fromkeys(format_names)))
    if not _declared(distribution, facts):
        return None
    return tuple(
        Unlike(name, value, default.value, named=name in settings)
        for name, default in distribution.defaults.items()
        if not default.either
        if any(
            table.family in default.families
            if default.families
            else _can_be_asked(distribution, name, settings, table)
            for table in facts
        )
        if (value := _value(name, default, settings)) != default.value
    )


def settings_in_full(reader: Reader) -> frozenset[tuple[str, str]]:
    """Return the settings of a reader with the known ones that it leaves out.

    >>> from harness.scenario.cells import parse_reader
    >>> by_name, unset = map(parse_reader, ("trino-476{use-column-names=true}", "trino-476"))
    >>> settings_in_full(by_name) == settings_in_full(unset)
    True
    """
    settings = dict(reader.settings)
    declared = distributions.load(reader.distribution).defaults
    left_out = {
        name: _value(name, default, settings)
        for name, default in declared.items()
        if not default.either
    }
    return frozenset((left_out | settings).items())


def _declared(distribution: Distribution, facts: tuple[FormatFacts, ...]) -> bool:
    """Return whether each setting that readers of these tables may name has a default."""
    there = engines.load(distribution.engine).settings
    return not any(
        _can_be_asked(distribution, name, {}, table)
        for name in there.keys() - distribution.defaults.keys()
        for table in facts
    )


def _can_be_asked(
    distribution: Distribution, name: str, settings: Mapping[str, str], format_: FormatFacts
) -> bool:
    """Return whether a value of a setting says anything of such tables, beside other settings."""
    engine = engines.load(distribution.engine)
    others = {key: value for key, value in settings.items() if key != name}
    values = engine.settings.get(name, ())
    return any(not engine.cannot(distribution, others | {name: value}, format_) for value in values)


def _value(name: str, default: Default, settings: Mapping[str, str]) -> str:
    return settings.get(name, default.ours or default.value)
