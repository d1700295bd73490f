"""Profiles as they stand in a file, `scenarios/profiles.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from harness import formats
from harness.artifacts import result_cache
from harness.core.metastore_choice import USUAL, MetastoreChoice
from harness.core.problems import one_of
from harness.core.runtime_names import CONTAINER, PROCESS, RUNTIMES, WAREHOUSES, with_default
from harness.core.yaml_reader import Document, KeyPath, make, read
from harness.plan.profile import PLAIN, AskedSteps, Cover, Profile, ProfileReader, Writer
from harness.scenario.cells import QUERIES, AskedAgain, parse_reader
from harness.scenario.definition import AXES, PAST_VIEWS, VIEWS

T = TypeVar("T")

EVERY_STEP: Final = "every_step"

_Axes = Mapping[str, tuple[str, ...]]
_Choice = tuple[KeyPath, tuple[str, ...], tuple[str, ...]]
"""Where names stand, those given, those allowed."""


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
    cover: Cover = Cover.ALL
    ask_again: AskedAgain = AskedAgain.UNEXPLAINED
    runtime: str = PROCESS
    warehouse: str = ""
    metastore: dict[str, str] | str | None = None
    views: tuple[str, ...] = VIEWS
    queries: list[Any] | None = None


@dataclass(frozen=True, slots=True)
class _WriterForm:
    """The keys of a writer."""

    distribution: str = ""
    sequence: tuple[str, ...] = ()
    at: int | Literal["every_step"] = EVERY_STEP
    settings: dict[str, str] | None = None
    scenarios: tuple[str, ...] = ()
    axes: dict[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class _QueryForm:
    """The keys of a query."""

    query: str
    steps: AskedSteps = AskedSteps.ALL


@dataclass(frozen=True, slots=True)
class _MetastoreForm:
    """The keys of a metastore."""

    distribution: str
    upgraded_from: str = ""


@dataclass(frozen=True, slots=True)
class _ReaderForm:
    """The keys of a reader."""

    reader: str
    steps: AskedSteps = AskedSteps.ALL
    variants: Cover = Cover.ALL
    formats: tuple[str, ...] = ()


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
    document = result_cache.parse_yaml(text, path)
    problems = document.problems
    if not isinstance(document.data, dict) or not document.data:
        problems.stop(1, "there are no profiles; write `name: {scenarios: …, readers: …}`")
    for name in document.data:
        # It becomes part of the name of a run's folder.
        if not re.fullmatch(r"[\w.-]{1,100}", name):
            told = f"{name!r} is not a name for a profile; allowed: 1 to 100 letters, digits, _ . -"
            document.note((name,), told)
    problems.raise_if_any()
    found = {name: _profile(name, data, document) for name, data in document.data.items()}
    problems.raise_if_any()
    return {name: profile for name, profile in found.items() if profile is not None}


def _profile(name: str, data: object, document: Document) -> Profile | None:
    at: KeyPath = (name,)
    form = make(_Form, data, document, at, f"profile {name}")
    if form is None:
        return None
    for key in ("scenarios", "formats", "writers", "readers", "views", "queries"):
        if not getattr(form, key) and (key != "queries" or form.queries is not None):
            document.note((*at, key), f"profile {name}: {key} is empty; name one")
    if form.warehouse and form.runtime == CONTAINER:
        told = "containers reach no object store on loopback; leave out runtime, or warehouse"
        document.note((*at, "warehouse"), f"profile {name}: {told}")
    known = _known_axes(form.formats)
    for place, given, allowed in (
        ((*at, "views"), form.views, (*VIEWS, *PAST_VIEWS)),
        ((*at, "runtime"), (form.runtime,), RUNTIMES),
        ((*at, "warehouse"), filter(None, (form.warehouse,)), WAREHOUSES),
        *_axes(form.axes or {}, known, (*at, "axes")),
    ):
        _check_names(place, given, allowed, document)
    queries = _queries(form.queries, document, (*at, "queries"))
    return Profile(
        name=name,
        scenarios=form.scenarios,
        formats=form.formats,
        writers=_writers(form, known, document, (*at, "writers")),
        readers=_readers(form, document, (*at, "readers")),
        about=form.about,
        twins=form.twins,
        axes=form.axes or {},
        views=form.views,
        queries=tuple(queries),
        query_steps={q: steps for q, steps in queries.items() if steps is not AskedSteps.ALL},
        cover=form.cover,
        ask_again=form.ask_again,
        metastore=_metastore(form.metastore, document, (*at, "metastore")),
        document=document,
    )


def _known_axes(named: Iterable[str]) -> _Axes:
    """Return every axis there is: those of all scenarios, and the settings of the formats named."""
    there = [formats.load(name) for name in named if name in formats.names()]
    return {**AXES, **{name: values for each in there for name, values in each.settings.items()}}


def _axes(given: _Axes, known: _Axes, at: KeyPath) -> Iterator[_Choice]:
    """Yield what is to be checked of axes: their names, and the values of each."""
    yield at, tuple(given), tuple(known)
    for name, values in given.items():
        if name in known:
            yield (*at, name), values, known[name]


def _check_names(
    place: KeyPath, given: Iterable[str], allowed: Sequence[str], document: Document
) -> None:
    for value in given:
        if value not in allowed:
            label = ".".join(map(str, place))
            document.note(place, f"{label}: there is no '{value}'; {one_of(value, allowed)}")


def _forms(
    kind: type[T], what: str, key: str, data: list[Any], document: Document, at: KeyPath
) -> Iterator[tuple[KeyPath, T]]:
    """Yield each well-formed `what` of a list with its place; a text alone stands for its `key`."""
    for index, each in enumerate(data):
        place = (*at, index)
        written = {key: each} if isinstance(each, str) else each
        form = make(kind, written, document, place, what)
        if form is not None:
            yield place, form


def _metastore(
    given: Mapping[str, str] | str | None, document: Document, at: KeyPath
) -> MetastoreChoice:
    if given is None:
        return USUAL
    written = {"distribution": given} if isinstance(given, str) else given
    form = make(_MetastoreForm, written, document, at, "metastore")
    return MetastoreChoice(form.distribution, form.upgraded_from) if form else USUAL


def _queries(data: list[Any] | None, document: Document, at: KeyPath) -> dict[str, AskedSteps]:
    if data is None:
        return dict.fromkeys(PLAIN, AskedSteps.ALL)
    found = {}
    for _, form in _forms(_QueryForm, "query", "query", data, document, at):
        _check_names(at, [form.query], QUERIES, document)
        found[form.query] = form.steps
    return found


def _writers(profile: _Form, known: _Axes, document: Document, at: KeyPath) -> tuple[Writer, ...]:
    found, data = [], profile.writers
    for place, form in _forms(_WriterForm, "writer", "distribution", data, document, at):
        if wrong := _wrong_writer(form):
            document.note(place, f"writer: {wrong}")
            continue
        for choice in _axes(form.axes or {}, known, (*place, "axes")):
            _check_names(*choice, document)
        found.append(_writer(form, profile.runtime))
    return tuple(found)


def _wrong_writer(form: _WriterForm) -> str:
    if bool(form.distribution) == bool(form.sequence):
        return "give 'distribution', or 'sequence': the one that begins and the one that goes on"
    if form.sequence and (len(form.sequence) != 2 or len(set(form.sequence)) == 1):  # noqa: PLR2004
        return f"sequence: two different distributions; {len(form.sequence)} given"
    if form.at != EVERY_STEP and not form.sequence:
        return "at: only a sequence has it"
    if isinstance(form.at, int) and form.at < 1:
        return f"at: {form.at} is given; allowed: {EVERY_STEP} or the number of a step, from 1"
    return ""


def _writer(form: _WriterForm, runtime: str) -> Writer:
    every = form.sequence or (form.distribution,)
    begins, *then = (with_default(name, runtime) for name in every)
    return Writer(
        distribution=begins,
        settings=form.settings or {},
        then="".join(then),
        at=form.at if isinstance(form.at, int) else None,
        scenarios=form.scenarios,
        axes=form.axes or {},
    )


def _readers(profile: _Form, document: Document, at: KeyPath) -> tuple[ProfileReader, ...]:
    found: dict[str, ProfileReader] = {}
    for place, form in _forms(_ReaderForm, "reader", "reader", profile.readers, document, at):
        try:
            reader = parse_reader(form.reader)
        except ValueError as wrong:
            document.note(place, str(wrong))
            continue
        own = with_default(reader.distribution, profile.warehouse or profile.runtime)
        reader = replace(reader, distribution=own)
        if str(reader) in found:
            document.note(place, f"the reader {reader} stands twice; name it once")
        found[str(reader)] = ProfileReader(reader, form.steps, form.variants, form.formats)
    return tuple(found.values())
