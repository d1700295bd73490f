"""A line of a baseline: where it holds, and which wrong answer or refusal is known there."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import chain
from typing import Any, Final

from harness.core import reviewed_lines
from harness.core.problems import Problems, one_of
from harness.core.records import FindingKind
from harness.core.reviewed_lines import Day, ReviewedLine
from harness.core.yaml_reader import Document, KeyPath, make
from harness.model import query_shapes

READER: Final = "reader."
VARIANT: Final = "variant."
UNSET: Final = "unset"
"""The value of a reader's or variant's setting that is not given."""
STEP: Final = "step"
VIEW: Final = "view"
QUERY: Final = "query"
"""The text of a cell's question, `predicate(f1)`; a line without it is about every question."""
WRITE: Final = "write"
"""The view of a verdict on a step itself; only a line that names it is about steps."""
NAMES: Final = (
    *("engine", "format", VIEW, QUERY, STEP),
    *("version", "distribution", "twin", "writer"),
)
"""The conditions beside `reader.<setting>` and `variant.<setting>`."""

Properties = Mapping[str, str]
"""What is true of a cell, by the names of conditions; a setting that is not given is left out."""
When = tuple[tuple[str, str], ...]
"""Conditions, all of which must hold."""

_STEPS: Final = re.compile(
    r"(?P<only>\d{1,4})|>=(?P<since>\d{1,4})|(?P<low>\d{1,4})-(?P<high>\d{1,4})"
)
_LAST: Final = 10_000


class Support(StrEnum):
    """Whether the engine may be mended one day."""

    NEVER = "never"
    """The engine will not do it."""
    NOTYET = "notyet"
    """The engine does not do it yet."""
    NOTIMPL = "notimpl"
    """The harness does not do it yet."""


@dataclass(frozen=True, slots=True)
class Expect:
    """What a reader answers instead of the truth: exactly this; anything else is new.

    A refusal may have findings as well: those of the columns that were asked alone.
    """

    refused: str = ""
    """The kind of the refusal; empty for an answer."""
    kinds: frozenset[FindingKind] = frozenset()
    columns: frozenset[str] = frozenset()
    """Every column that a finding names; none for findings about whole rows."""

    def __str__(self) -> str:
        kinds = ", ".join(kind for kind in FindingKind if kind in self.kinds)
        columns = f" in {', '.join(sorted(self.columns))}" if self.columns else ""
        refused = f"refused: {self.refused}" if self.refused else ""
        return "; ".join(filter(None, (refused, f"{kinds}{columns}")))


@dataclass(frozen=True, slots=True)
class Known(ReviewedLine):
    when: When
    expect: Expect
    support: Support
    issue: str = ""


@cache
def steps(text: str) -> range:
    """Return the steps that `6`, `>=6` or `3-5` mean.

    Raises ValueError: it is none of these, or the first is after the last.
    """
    match = _STEPS.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' names no steps")
    first = int(match["since"] or match["only"] or match["low"])
    last = _LAST - 1 if match["since"] else int(match["only"] or match["high"])
    if first > last:
        raise ValueError(f"'{text}': the first step is after the last")
    return range(first, last + 1)


def holds(when: When, properties: Properties) -> bool:
    """Return whether all conditions hold of a cell.

    >>> holds((("engine", "hive"), ("step", ">=6")), {"engine": "hive", "step": "7"})
    True
    """
    if properties.get(VIEW) == WRITE and VIEW not in dict(when):
        return False
    return all(
        int(properties[STEP]) in steps(value)
        if name == STEP
        else properties.get(name, UNSET) == value
        for name, value in when
    )


CONDITIONS: Final = (*NAMES, f"{READER}<setting>", f"{VARIANT}<setting>")


@dataclass(frozen=True, slots=True)
class _Expect:
    """The keys of `expect`."""

    finding: FindingKind | tuple[FindingKind, ...] = ()
    columns: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True, slots=True)
class _Line:
    """The keys of a line; the conditions are looked at by themselves."""

    when: dict[str, Any]
    expect: _Expect
    support: Support
    because: str
    issue: str = ""
    until: Day | None = None


def parse(text: str, path: str) -> tuple[Known, ...]:
    """Read a baseline; an empty file has no lines.

    Raises ScenarioProblem: one line `file:line: what is wrong; what is allowed` for each problem.
    """
    document, lines = reviewed_lines.read(text, path, "when", _known)
    _check_hidden(lines, document.problems)
    document.problems.raise_if_any()
    return lines


def _known(data: object, at: KeyPath, document: Document) -> Known | None:
    given = data.get("when") if isinstance(data, dict) else None
    when = _when(given, (*at, "when"), document) if isinstance(given, dict) else ()
    form = make(_Line, data, document, at, "a line")
    if form is None:
        return None
    return Known(
        when=when,
        expect=_expect(form.expect, (*at, "expect"), document),
        support=form.support,
        because=form.because,
        issue=form.issue,
        until=form.until,
    )


def _when(data: Mapping[str, object], at: KeyPath, document: Document) -> When:
    result = []
    for name, value in data.items():
        setting = name.startswith((READER, VARIANT)) and not name.endswith(".")
        if name not in NAMES and not setting:
            document.note(
                (*at, name), f"there is no condition '{name}'; {one_of(name, CONDITIONS)}"
            )
            continue
        text, allowed = _text(name, value, setting=setting)
        if text is None:
            document.note((*at, name), f"{name}: {value!r} is given; allowed: {allowed}")
        else:
            result.append((name, text))
    return tuple(result)


def _text(name: str, value: object, *, setting: bool) -> tuple[str | None, str]:
    """Return a condition's value as text, None when it cannot be one, and what it can be."""
    if name == STEP:
        return _steps(value), 'a step (6), a first one (">=6") or the first and the last ("3-5")'
    if name == "twin":
        return str(value).lower() if isinstance(value, bool) else None, "true or false"
    text = value if isinstance(value, str) and value else None
    if not setting:
        return text, "text (quote it)"
    if isinstance(value, int):
        text = str(value).lower()
    return text, "text, a whole number, true or false"


def _steps(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        steps(str(value))
    except ValueError:
        return None
    return str(value)


def _expect(form: _Expect, at: KeyPath, document: Document) -> Expect:
    kinds = form.finding if isinstance(form.finding, tuple) else (form.finding,)
    if not kinds and not form.refused:
        document.note(at, "expect: nothing is expected; give finding or refused")
    if form.columns and not kinds:
        document.note(at, "expect: columns are those of a finding; give finding, too")
    for label, names in (("finding", kinds), ("columns", form.columns)):
        for name, times in Counter[str](names).items():
            if times > 1:
                document.note(at, f"expect: {label}: '{name}' stands twice; name each once")
    return Expect(form.refused, frozenset(kinds), frozenset(form.columns))


def _check_hidden(lines: tuple[Known, ...], problems: Problems) -> None:
    """Note each line that can never be the first to match."""
    for at, line in enumerate(lines):
        about_steps = (VIEW, WRITE) in line.when
        for known in lines[:at]:
            covers = set(known.when) <= set(line.when)
            if covers and known.until is None and (VIEW in dict(known.when) or not about_steps):
                problems.add(
                    line.line,
                    f"no check can use this line: the one at {known.location} matches first; "
                    "put the one with fewer conditions last",
                )
                break


OF_ENGINE: Final = ("engine", "version", "distribution")
WRITER: Final = "writer"

SettingValues = Mapping[str, tuple[str, ...]]
"""Each setting with every value it can take."""


@dataclass(frozen=True, slots=True)
class EngineFacts:
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

    Raises ScenarioProblem: `file:line: no check can use this line: why; what is allowed`, for each.
    """
    if not lines:
        return
    problems, values = Problems(lines[0].path), _values(possible)
    for line in lines:
        wrong = [why for pair in line.when for why in _condition(*pair, values, possible.steps)]
        # What is impossible by itself is told once.
        for why in wrong or _together(line, possible):
            problems.add(line.line, f"no check can use this line: {why}")
    problems.raise_if_any()


def _condition(name: str, value: str, values: Mapping[str, list[str]], last: int) -> Iterator[str]:
    if name == STEP:
        if steps(value).start > last:
            yield f"the scenario has no step {value}; allowed: 0 to {last}"
    elif name == QUERY:
        try:
            query_shapes.parse(value)
        except ValueError as wrong:
            yield f"query: {wrong}"
    elif name not in values:
        settings = [setting for setting in values if setting.startswith((READER, VARIANT))]
        yield f"there is no setting '{name}'; {one_of(name, settings)}"
    else:
        for part in value.split(", ") if name == WRITER else (value,):
            if part not in values[name]:
                yield f"{name}: there is no '{part}'; {one_of(part, values[name])}"


def _values(possible: Possible) -> dict[str, list[str]]:
    """Return the values that each condition can have, each once."""
    distributions = [engine.distribution for engine in possible.engines]
    values = {
        "engine": [engine.engine for engine in possible.engines],
        "version": [engine.version for engine in possible.engines],
        "distribution": distributions,
        WRITER: distributions,
        "format": list(possible.formats),
        VIEW: [*chain.from_iterable(possible.formats.values()), WRITE],
        "twin": ["true", "false"],
    }
    settings = [(READER, engine.settings) for engine in possible.engines]
    for prefix, of_prefix in (*settings, (VARIANT, possible.variants)):
        for name, allowed in of_prefix.items():
            values.setdefault(f"{prefix}{name}", [UNSET]).extend(allowed)
    return {name: list(dict.fromkeys(texts)) for name, texts in values.items()}


def _together(line: Known, possible: Possible) -> Iterator[str]:
    """Yield which conditions are possible one by one, and not together."""
    asked = [pair for pair in line.when if pair[0] in OF_ENGINE or pair[0].startswith(READER)]
    if not any(_has(engine, asked) for engine in possible.engines):
        described = ", ".join(f"{name}: {value}" for name, value in asked)
        yield f"no distribution has all of {described}"
    when = dict(line.when)
    view = when.get(VIEW, WRITE)
    views = (*possible.formats.get(when.get("format", ""), (view,)), WRITE)
    if view not in views:
        yield f"{when['format']} has no view {view}; allowed: {', '.join(views)}"


def _has(engine: EngineFacts, asked: Iterable[tuple[str, str]]) -> bool:
    settings = {name: str(getattr(engine, name)) for name in OF_ENGINE}
    return all(
        settings[name] == value
        if name in settings
        else value in (UNSET, *engine.settings.get(name.removeprefix(READER), ()))
        for name, value in asked
    )
