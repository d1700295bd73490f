"""Baseline files, read strictly: every problem of a file is told at once, with its line."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from harness.core.problems import Problems, one_of
from harness.core.records import FindingKind
from harness.core.yaml_reader import Document, KeyPath, make
from harness.core.yaml_reader import parse as parse_yaml
from harness.judge.baseline.known import (
    NAMES,
    READER,
    STEP,
    VARIANT,
    VIEW,
    WRITE,
    Expect,
    Known,
    Support,
    When,
    steps,
)

CONDITIONS: Final = (*NAMES, f"{READER}<setting>", f"{VARIANT}<setting>")
_STEPS: Final = 'a step (6), a first one (">=6") or the first and the last ("3-5")'


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
    until: str = ""


def parse(text: str, path: str) -> tuple[Known, ...]:
    """Read a baseline; an empty file has no lines.

    Raises:
        ScenarioProblem: one line `file:line: what is wrong; what is allowed` for each problem.

    """
    document = parse_yaml(text, path)
    problems = document.problems
    if document.data is None:
        return ()
    if not isinstance(document.data, list):
        problems.stop(1, "a baseline is a list; write `- when: …` for each line")
    result = [_known(each, (at,), document) for at, each in enumerate(document.data)]
    lines = tuple(known for known in result if known is not None)
    _check_hidden(lines, problems)
    problems.raise_if_any()
    return lines


def _known(data: object, at: KeyPath, document: Document) -> Known | None:
    given = data.get("when") if isinstance(data, dict) else None
    when = _when(given, (*at, "when"), document) if isinstance(given, dict) else ()
    form = make(_Line, data, document, at, "a line")
    if form is None:
        return None
    if not form.because.strip():
        document.note((*at, "because"), "because is empty; say why this is known")
    return Known(
        when=when,
        expect=_expect(form.expect, (*at, "expect"), document),
        support=form.support,
        because=form.because,
        issue=form.issue,
        until=until_of(form.until, (*at, "until"), document),
        path=document.path,
        line=document.line(at),
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
        text = _text(name, value, free=setting)
        if text is None:
            allowed = _allowed(name, setting=setting)
            document.note((*at, name), f"{name}: {value!r} is given; allowed: {allowed}")
            continue
        result.append((name, text))
    return tuple(result)


def _text(name: str, value: object, *, free: bool) -> str | None:
    """Return a condition's value as text; None when it cannot be one."""
    if name == STEP:
        return _steps(value)
    if isinstance(value, bool):
        return str(value).lower() if free or name == "twin" else None
    if isinstance(value, int):
        return str(value) if free else None
    return value if isinstance(value, str) and value and name != "twin" else None


def _steps(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        steps(str(value))
    except ValueError:
        return None
    return str(value)


def _allowed(name: str, *, setting: bool) -> str:
    if name == STEP:
        return _STEPS
    if name == "twin":
        return "true or false"
    return "text, a whole number, true or false" if setting else "text (quote it)"


def _expect(form: _Expect, at: KeyPath, document: Document) -> Expect:
    kinds = form.finding if isinstance(form.finding, tuple) else (form.finding,)
    if not kinds and not form.refused:
        document.note(at, "expect: nothing is expected; give finding or refused")
    if FindingKind.UNEXPLAINED in kinds:
        document.note(
            at,
            "expect: finding: nobody knows what is unexplained, it always fails the gate; take it "
            "out and find out what it is (harness explain)",
        )
    if form.columns and not kinds:
        document.note(at, "expect: columns are those of a finding; give finding, too")
    _check_twice("finding", kinds, at, document)
    _check_twice("columns", form.columns, at, document)
    return Expect(form.refused, frozenset(kinds), frozenset(form.columns))


def _check_twice(label: str, names: Iterable[str], at: KeyPath, document: Document) -> None:
    given = list(names)
    for name in dict.fromkeys(given):
        if given.count(name) > 1:
            document.note(at, f"expect: {label}: '{name}' stands twice; name each once")


def until_of(text: str, at: KeyPath, document: Document) -> datetime.date | None:
    """Read the last day on which a line counts; None where there is none, or it is no date."""
    if not text:
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        document.note(at, f"until: '{text}' is not a date; write 2031-12-24")
        return None


def _check_hidden(lines: tuple[Known, ...], problems: Problems) -> None:
    """Note each line that can never be the first to match."""
    for at, line in enumerate(lines):
        before = (known for known in lines[:at] if _covers(known.when, line.when))
        hides = next((known for known in before if known.until is None), None)
        if hides is not None:
            problems.add(
                line.line,
                f"no cell can use this line: the one at {hides.place} matches first; "
                "put the one with fewer conditions last",
            )


def _covers(general: When, when: When) -> bool:
    about_steps = (VIEW, WRITE) in when and VIEW not in dict(general)
    return set(general) <= set(when) and not about_steps
