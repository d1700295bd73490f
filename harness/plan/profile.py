"""Profiles: what of everything possible a run is to do. Read from `scenarios/profiles.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from harness.cells import QUERIES, Reader, parse_reader
from harness.scenario.definition import AXES, VIEWS
from harness.scenario.problems import Problems, one_of
from harness.scenario.text import Document, Place, parse, read
from harness.scenario.validation import make


class AskedSteps(StrEnum):
    """After which steps a reader is asked."""

    ALL = "all"
    SCHEMA_CHANGES = "schema_changes"
    """Only right after a step that changes the schema: for readers that take long."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A reader, and when it is asked."""

    reader: Reader
    steps: AskedSteps = AskedSteps.ALL


@dataclass(frozen=True, slots=True)
class Writer:
    """What writes all steps of a variant, and settings of the format, e.g. `table_version: "6"`."""

    distribution: str
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Profile:
    """Everything whose product, less what cannot be, is the plan."""

    name: str
    scenarios: tuple[str, ...]
    """Names, or patterns with `*`."""
    formats: tuple[str, ...]
    writers: tuple[Writer, ...]
    readers: tuple[Asked, ...]
    about: str = ""
    twins: bool = False
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The values wanted of a setting; a scenario that names fewer has only those."""
    views: tuple[str, ...] = VIEWS
    queries: tuple[str, ...] = QUERIES


@dataclass(frozen=True, slots=True)
class _Form:
    """The keys of a profile."""

    scenarios: tuple[str, ...]
    formats: tuple[str, ...]
    writers: list[Any]
    readers: list[Any]
    about: str = ""
    twins: bool = False
    axes: dict[str, tuple[str, ...]] | None = None
    views: tuple[str, ...] = VIEWS
    queries: tuple[str, ...] = QUERIES


@dataclass(frozen=True, slots=True)
class _WriterForm:
    """The keys of a writer."""

    distribution: str
    settings: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class _ReaderForm:
    """The keys of a reader."""

    reader: str
    steps: AskedSteps = AskedSteps.ALL


def load_profiles(path: Path) -> Mapping[str, Profile]:
    """Read the profiles of a file, by name.

    Raises:
        ScenarioProblem: one line `file:line: what is wrong; what is allowed` for each problem.

    """
    return loads_profiles(read(path), str(path))


def loads_profiles(text: str, path: str) -> Mapping[str, Profile]:
    """Read profiles from text; `path` stands in the messages.

    Raises:
        ScenarioProblem: as for `load_profiles`.

    """
    document = parse(text, path)
    problems = Problems(path)
    if not isinstance(document.data, dict) or not document.data:
        problems.stop(1, "there are no profiles; write `name: {scenarios: …, readers: …}`")
    found = {name: _profile(name, data, document, problems) for name, data in document.data.items()}
    problems.raise_if_any()
    return {name: profile for name, profile in found.items() if profile is not None}


def _profile(name: str, data: object, document: Document, problems: Problems) -> Profile | None:
    at: Place = (name,)
    form = make(_Form, data, document, at, problems, f"profile {name}")
    if form is None:
        return None
    for key in ("scenarios", "formats", "writers", "readers", "views", "queries"):
        if not getattr(form, key):
            problems.add(document.line((*at, key)), f"profile {name}: {key} is empty; name one")
    _check_names(form, document, at, problems)
    return Profile(
        name=name,
        scenarios=form.scenarios,
        formats=form.formats,
        writers=_writers(form.writers, document, (*at, "writers"), problems),
        readers=_readers(form.readers, document, (*at, "readers"), problems),
        about=form.about,
        twins=form.twins,
        axes=form.axes or {},
        views=form.views,
        queries=form.queries,
    )


def _check_names(form: _Form, document: Document, at: Place, problems: Problems) -> None:
    chosen: list[tuple[Place, tuple[str, ...], tuple[str, ...]]] = [
        (("views",), form.views, VIEWS),
        (("queries",), form.queries, QUERIES),
        (("axes",), tuple(form.axes or ()), tuple(AXES)),
    ]
    chosen += [
        (("axes", name), values, AXES[name])
        for name, values in (form.axes or {}).items()
        if name in AXES
    ]
    for place, given, allowed in chosen:
        for value in given:
            if value not in allowed:
                label = ".".join(map(str, (*at, *place)))
                text = f"{label}: there is no '{value}'; {one_of(value, allowed)}"
                problems.add(document.line((*at, *place)), text)


def _writers(
    data: list[Any], document: Document, at: Place, problems: Problems
) -> tuple[Writer, ...]:
    found = []
    for index, each in enumerate(data):
        written = {"distribution": each} if isinstance(each, str) else each
        form = make(_WriterForm, written, document, (*at, index), problems, "writer")
        if form is not None:
            found.append(Writer(form.distribution, form.settings or {}))
    return tuple(found)


def _readers(
    data: list[Any], document: Document, at: Place, problems: Problems
) -> tuple[Asked, ...]:
    found: dict[str, Asked] = {}
    for index, each in enumerate(data):
        place = (*at, index)
        written = {"reader": each} if isinstance(each, str) else each
        form = make(_ReaderForm, written, document, place, problems, "reader")
        if form is None:
            continue
        try:
            reader = parse_reader(form.reader)
        except ValueError as wrong:
            problems.add(document.line(place), str(wrong))
            continue
        if str(reader) in found:
            problems.add(document.line(place), f"the reader {reader} stands twice; name it once")
        found[str(reader)] = Asked(reader, form.steps)
    return tuple(found.values())
