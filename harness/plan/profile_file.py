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
            message = (
                f"{name!r} is not a name for a profile; allowed: 1 to 100 letters, digits, _ . -"
            )
            document.note((name,), message)
    problems.raise_if_any()
    profiles = {name: _profile(name, data, document) for name, data in document.data.items()}
    problems.raise_if_any()
    return {name: profile for name, profile in profiles.items() if profile is not None}


def _profile(name: str, data: object, document: Document) -> Profile | None:
    at: KeyPath = (name,)
    form = make(_Form, data, document, at, f"profile {name}")
    if form is None:
        return None
    for key in ("scenarios", "formats", "writers", "readers", "views", "queries"):
        if not getattr(form, key) and (key != "queries" or form.queries is not None):
            document.note((*at, key), f"profile {name}: {key} is empty; name one")
    if form.warehouse and form.runtime == CONTAINER:
        message = "containers reach no object store on loopback; leave out runtime, or warehouse"
        document.note((*at, "warehouse"), f"profile {name}: {message}")
    known = _known_axes(form.formats)
    for where, values, allowed in (
        ((*at, "views"), form.views, (*VIEWS, *PAST_VIEWS)),
        ((*at, "runtime"), (form.runtime,), RUNTIMES),
        ((*at, "warehouse"), filter(None, (form.warehouse,)), WAREHOUSES),
        *_axes(form.axes or {}, known, (*at, "axes")),
    ):
        _check_names(where, values, allowed, document)
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
    return {
        **AXES,
        **{name: values for format_ in there for name, values in format_.settings.items()},
    }


def _axes(stated: _Axes, known: _Axes, at: KeyPath) -> Iterator[_Choice]:
    """Yield what is to be checked of axes: their names, and the values of each."""
    yield at, tuple(stated), tuple(known)
    for name, values in stated.items():
        if name in known:
            yield (*at, name), values, known[name]


def _check_names(
    where: KeyPath, values: Iterable[str], allowed: Sequence[str], document: Document
) -> None:
    for value in values:
        if value not in allowed:
            label = ".".join(map(str, where))
            document.note(where, f"{label}: there is no '{value}'; {one_of(value, allowed)}")


def _forms(
    kind: type[T], what: str, key: str, data: list[Any], document: Document, at: KeyPath
) -> Iterator[tuple[KeyPath, T]]:
    """Yield each well-formed `what` of a list with its place; a text alone stands for its `key`."""
    for index, item in enumerate(data):
        where = (*at, index)
        written = {key: item} if isinstance(item, str) else item
        form = make(kind, written, document, where, what)
        if form is not None:
            yield where, form


def _metastore(
    stated: Mapping[str, str] | str | None, document: Document, at: KeyPath
) -> MetastoreChoice:
    if stated is None:
        return USUAL
    written = {"distribution": stated} if isinstance(stated, str) else stated
    form = make(_MetastoreForm, written, document, at, "metastore")
    return MetastoreChoice(form.distribution, form.upgraded_from) if form else USUAL


def _queries(data: list[Any] | None, document: Document, at: KeyPath) -> dict[str, AskedSteps]:
    if data is None:
        return dict.fromkeys(PLAIN, AskedSteps.ALL)
    steps = {}
    for _, form in _forms(_QueryForm, "query", "query", data, document, at):
        _check_names(at, [form.query], QUERIES, document)
        steps[form.query] = form.steps
    return steps


def _writers(profile: _Form, known: _Axes, document: Document, at: KeyPath) -> tuple[Writer, ...]:
    writers, data = [], profile.writers
    for where, form in _forms(_WriterForm, "writer", "distribution", data, document, at):
        if wrong := _wrong_writer(form):
            document.note(where, f"writer: {wrong}")
            continue
        for choice in _axes(form.axes or {}, known, (*where, "axes")):
            _check_names(*choice, document)
        writers.append(_writer(form, profile.runtime))
    return tuple(writers)


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
    readers: dict[str, ProfileReader] = {}
    for where, form in _forms(_ReaderForm, "reader", "reader", profile.readers, document, at):
        try:
            reader = parse_reader(form.reader)
        except ValueError as wrong:
            document.note(where, str(wrong))
            continue
        distribution = with_default(reader.distribution, profile.warehouse or profile.runtime)
        reader = replace(reader, distribution=distribution)
        if str(reader) in readers:
            document.note(where, f"the reader {reader} stands twice; name it once")
        readers[str(reader)] = ProfileReader(reader, form.steps, form.variants, form.formats)
    return tuple(readers.values())
