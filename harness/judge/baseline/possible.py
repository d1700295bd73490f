"""Whether any cell can use a line: a misspelt name must not pass as a finding that is gone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from harness.core.problems import Problems, one_of
from harness.judge.baseline.known import (
    QUERY,
    READER,
    STEP,
    UNSET,
    VARIANT,
    VIEW,
    WRITE,
    Known,
    steps,
)
from harness.model import query_shapes

OF_ENGINE: Final = ("engine", "version", "distribution")
WRITER: Final = "writer"

SettingValues = Mapping[str, tuple[str, ...]]
"""Each setting with every value it can take."""


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """A distribution that can be asked."""

    engine: str
    version: str
    distribution: str
    settings: SettingValues


@dataclass(frozen=True, slots=True)
class Possible:
    """What can be true of the cells of one scenario, in any profile."""

    engines: tuple[EngineFacts, ...]
    formats: Mapping[str, tuple[str, ...]]
    """The formats the scenario is for, each with its views."""
    variants: SettingValues
    """The settings of variants."""
    steps: int
    """How many the scenario has."""


def check(lines: Sequence[Known], possible: Possible) -> None:
    """Check that some cell can use each line; it need not be a cell of this run.

    Raises:
        ScenarioProblem: `file:line: no cell can use this line: why; what is allowed`, for each.

    """
    if not lines:
        return
    problems = Problems(lines[0].path)
    for line in lines:
        for why in _impossible(line, possible):
            problems.add(line.line, f"no cell can use this line: {why}")
    problems.raise_if_any()


def _impossible(line: Known, possible: Possible) -> list[str]:
    values = _values(possible)
    wrong = [why for pair in line.when for why in _condition(*pair, values, possible.steps)]
    # What is impossible by itself is told once.
    return wrong or list(_together(line, possible))


def _condition(name: str, value: str, values: Mapping[str, list[str]], last: int) -> Iterator[str]:
    if name == STEP:
        if steps(value).start > last:
            yield f"the scenario has no step {value}; allowed: 0 to {last}"
    elif name == QUERY:
        yield from _question(value)
    elif name not in values:
        settings = [value for value in values if value.startswith((READER, VARIANT))]
        yield f"there is no setting '{name}'; {one_of(name, settings)}"
    else:
        for part in value.split(", ") if name == WRITER else (value,):
            if part not in values[name]:
                yield f"{name}: there is no '{part}'; {one_of(part, values[name])}"


def _question(text: str) -> Iterator[str]:
    try:
        query_shapes.parse(text)
    except ValueError as wrong:
        yield f"query: {wrong}"


def _values(possible: Possible) -> dict[str, list[str]]:
    """Return the values that each condition can have."""
    engines = possible.engines
    distributions = _once(facts.distribution for facts in engines)
    values = {
        "engine": _once(engine_facts.engine for engine_facts in engines),
        "version": _once(engine_facts.version for engine_facts in engines),
        "distribution": distributions,
        WRITER: distributions,
        "format": list(possible.formats),
        VIEW: _once((*(view for views in possible.formats.values() for view in views), WRITE)),
        "twin": ["true", "false"],
    }
    for engine in engines:
        _add_settings(values, READER, engine.settings)
    _add_settings(values, VARIANT, possible.variants)
    return values


def _add_settings(values: dict[str, list[str]], prefix: str, settings: SettingValues) -> None:
    for name, allowed in settings.items():
        before = values.get(f"{prefix}{name}", [UNSET])
        values[f"{prefix}{name}"] = _once((*before, *allowed))


def _once(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _together(line: Known, possible: Possible) -> Iterator[str]:
    """Yield which conditions are possible one by one, and not together."""
    asked = [pair for pair in line.when if pair[0] in OF_ENGINE or pair[0].startswith(READER)]
    if not any(_has(engine, asked) for engine in possible.engines):
        yield f"no distribution has all of {_described(asked)}"
    when = dict(line.when)
    views = possible.formats.get(when.get("format", ""), (when.get(VIEW, WRITE),))
    if when.get(VIEW, WRITE) not in (*views, WRITE):
        allowed = ", ".join((*views, WRITE))
        yield f"{when['format']} has no view {when[VIEW]}; allowed: {allowed}"


def _has(engine: EngineFacts, asked: Iterable[tuple[str, str]]) -> bool:
    settings = {name: str(getattr(engine, name)) for name in OF_ENGINE}
    return all(
        settings[name] == value
        if name in settings
        else value in (UNSET, *engine.settings.get(name.removeprefix(READER), ()))
        for name, value in asked
    )


def _described(pairs: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in pairs)
