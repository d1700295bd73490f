"""Whether a reader has the settings that its engine has by itself; those are data of its lock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness import engines, formats
from harness.artifacts import distributions
from harness.artifacts.distribution import Default, Distribution
from harness.engines.format_facts import FormatFacts
from harness.scenario.cells import Reader, Unlike


def unlike_defaults(reader: Reader, format_names: Iterable[str]) -> tuple[Unlike, ...] | None:
    """Return what a reader has otherwise than its engine by itself, for tables of some formats.

    None: of a setting that concerns them, the default is not declared.
    """
    distribution, settings = distributions.load(reader.distribution), dict(reader.settings)
    facts = tuple(map(formats.facts, dict.fromkeys(format_names)))
    if not _declared(distribution, facts):
        return None
    concerned = (
        default
        for default in distribution.defaults
        if _concerns(distribution, default, settings, facts)
    )
    return tuple(_unlike(default, settings) for default in concerned if _differs(default, settings))


def settings_in_full(reader: Reader) -> frozenset[tuple[str, str]]:
    """Return the settings of a reader with those that it leaves out, where it is known what it has.

    >>> from harness.scenario.cells import parse_reader
    >>> by_name, unset = map(parse_reader, ("trino-476{use-column-names=true}", "trino-476"))
    >>> settings_in_full(by_name) == settings_in_full(unset)
    True
    """
    settings = dict(reader.settings)
    declared = distributions.load(reader.distribution).defaults
    left_out = {
        default.setting: _has(default, settings) for default in declared if not default.either
    }
    return frozenset((left_out | settings).items())


def _declared(distribution: Distribution, facts: tuple[FormatFacts, ...]) -> bool:
    """Return whether each setting that readers of these tables may name has a default."""
    known = {default.setting for default in distribution.defaults}
    there = engines.load(distribution.engine).settings
    return not any(
        _can_be_asked(distribution, name, {}, format_facts)
        for name in there.keys() - known
        for format_facts in facts
    )


def _concerns(
    distribution: Distribution,
    default: Default,
    settings: Mapping[str, str],
    facts: tuple[FormatFacts, ...],
) -> bool:
    if default.families:
        return any(format_facts.family in default.families for format_facts in facts)
    return any(
        _can_be_asked(distribution, default.setting, settings, format_facts)
        for format_facts in facts
    )


def _can_be_asked(
    distribution: Distribution, name: str, settings: Mapping[str, str], format_: FormatFacts
) -> bool:
    """Return whether a value of a setting says anything of such tables, beside other settings."""
    engine = engines.load(distribution.engine)
    others = {key: value for key, value in settings.items() if key != name}
    values = engine.settings.get(name, ())
    return any(not engine.cannot(distribution, others | {name: value}, format_) for value in values)


def _differs(default: Default, settings: Mapping[str, str]) -> bool:
    return not default.either and _has(default, settings) != default.value


def _has(default: Default, settings: Mapping[str, str]) -> str:
    return settings.get(default.setting, default.ours or default.value)


def _unlike(default: Default, settings: Mapping[str, str]) -> Unlike:
    named = default.setting in settings
    return Unlike(default.setting, _has(default, settings), default.value, named=named)
