"""What of everything possible a run is to do: profiles as objects."""

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from harness import formats
from harness.artifacts import result_cache
from harness.core import runtime_names
from harness.core.errors import Fault, ScenarioProblem, UsageProblem
from harness.core.problems import one_of
from harness.core.runtime_names import (
    CONTAINER,
    PROCESS,
    RUNTIMES,
    USUAL_METASTORE,
    WAREHOUSES,
    MetastoreChoice,
    with_default,
)
from harness.core.yaml_reader import Document, KeyPath, NullText, make, read
from harness.formats.api import Format
from harness.model.query_shapes import why_no_shape
from harness.plan.shipped import scenario_files
from harness.scenario.cells import QUERIES, AskedAgain, Reader, parse_reader
from harness.scenario.definition import AXES, PAST_VIEWS, VIEWS, Scenario
from harness.scenario.load import check_each, load, name_of
from harness.scenario.operations.api import Operation

T = TypeVar("T")
EVERY_STEP: Final = "every_step"
_Axes = Mapping[str, tuple[str, ...]]
_Choice = tuple[KeyPath, tuple[str, ...], tuple[str, ...]]
"""Where names stand, those given, those allowed."""
PLAIN: Final = ("all",)
"""The queries of a profile that names none."""


class AskedSteps(StrEnum):
    """After which steps a reader is asked."""

    ALL = "all"
    SCHEMA_CHANGES = "schema_changes"
    """Only right after a step that changes the schema: for readers that take long."""


class Cover(StrEnum):
    """Which combinations of axis values there are: all, or as many as pairs or values need."""

    ALL = "all"
    PAIRS = "pairs"
    VALUES = "values"


@dataclass(frozen=True, slots=True)
class ProfileReader:
    reader: Reader
    steps: AskedSteps = AskedSteps.ALL
    variants: Cover = Cover.ALL
    """With `pairs`, so many of a scenario's that the reader meets every axis value."""
    formats: tuple[str, ...] = ()
    """About tables of which formats; empty for all that it can read."""


@dataclass(frozen=True, slots=True)
class Writer:
    """What writes the steps of a variant, and settings of the format, e.g. `table_version: "6"`."""

    distribution: str
    """It creates the table, and writes every step if nothing else goes on."""
    settings: Mapping[str, str] = field(default_factory=dict)
    then: str = ""
    """The distribution that goes on with the table, empty when none does."""
    at: int | None = None
    """From which step on it does; None makes a variant for each step."""
    in_turn: bool = False
    """Whether both write from then on, one step each: a fleet of two versions."""
    scenarios: tuple[str, ...] = ()
    """Names or patterns of the scenarios it writes; empty for all of them."""
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of these axes it takes only these values."""

    @property
    def distributions(self) -> tuple[str, ...]:
        return (self.distribution, self.then) if self.then else (self.distribution,)

    def __str__(self) -> str:
        """Write it as the command line takes it, without what only a file can say."""
        return str(Reader(self.distribution, tuple(self.settings.items())))


@dataclass(frozen=True, slots=True)
class Maker:
    formats: tuple[str, ...]
    table_versions: tuple[str, ...] = ()
    """Of the formats that have such; empty where nothing is said of them."""
    cannot: Mapping[str, str] = field(default_factory=dict)
    """Why it cannot make tables with a setting, by `setting=value`, or do a step, by operation."""
    unsupported: Callable[[str, Operation], str] = lambda *_: ""
    """Returns why it cannot be told a step of a table of a format; empty where it can."""


Makers = Mapping[str, Maker]
"""By the name of the distribution; one that is not there may write everything."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Everything whose product, less what cannot be, is the plan."""

    name: str
    scenarios: tuple[str, ...]
    """Names, or patterns with `*`."""
    formats: tuple[str, ...]
    writers: tuple[Writer, ...]
    readers: tuple[ProfileReader, ...]
    about: str = ""
    twins: bool = False
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The values wanted of a setting; a scenario that names fewer has only those."""
    views: tuple[str, ...] = VIEWS
    queries: tuple[str, ...] = PLAIN
    query_steps: Mapping[str, AskedSteps] = field(default_factory=dict)
    """When a query is asked that is not asked after every step."""
    cover: Cover = Cover.ALL
    """Which combinations become variants; with `pairs`, queries of some steps are asked in turn."""
    ask_again: AskedAgain = AskedAgain.UNEXPLAINED
    metastore: MetastoreChoice = USUAL_METASTORE
    """The one that the readers ask through."""
    given: frozenset[str] = frozenset()
    """The keys whose value is not the file's: `formats`, `writers`, `readers`."""
    chosen: tuple[str, ...] = ()
    """What was chosen because nobody named it, a sentence for each of these keys."""
    left_out: tuple[str, ...] = ()
    """What is not asked because it would take too long."""
    document: Document | None = field(default=None, compare=False, repr=False)
    """The file that it stands in; None for one made in Python."""

    def fault(self, at: KeyPath, wrong: str) -> Fault:
        """Return what is wrong at a place of the profile, with file and line if it is of a file."""
        if at[0] in self.given:
            return Fault("", 0, wrong)
        text = f"profile {self.name}: {wrong}"
        if self.document is None:
            return Fault("", 0, text)
        return Fault(self.document.path, self.document.line((self.name, *at)), text)


def in_runtime(profile: Profile, runtime: str) -> Profile:
    writers = tuple(
        replace(
            writer,
            distribution=runtime_names.in_runtime(writer.distribution, runtime),
            then=writer.then and runtime_names.in_runtime(writer.then, runtime),
        )
        for writer in profile.writers
    )
    return replace(in_warehouse(profile, runtime), writers=writers)


def in_warehouse(profile: Profile, name: str) -> Profile:
    """Return a profile all of whose readers find their tables there, or are run so.

    Raises UsageProblem: containers are to read from an object store.
    """
    readers = []
    for asked in profile.readers:
        both = {name, runtime_names.given(asked.reader.distribution)}
        stored = not both.isdisjoint(WAREHOUSES)
        if stored and CONTAINER in both:
            raise UsageProblem(
                f"profile {profile.name}: containers do not reach the object store, which listens "
                "on loopback; leave out the runtime, or the warehouse"
            )
        if not (stored and name == PROCESS):  # a process it is
            distribution = runtime_names.in_runtime(asked.reader.distribution, name)
            readers.append(replace(asked, reader=replace(asked.reader, distribution=distribution)))
        else:
            readers.append(asked)
    return replace(profile, readers=tuple(readers))


@dataclass(frozen=True, slots=True)
class Parts:
    """What somebody names in the place of what a profile has; empty where nobody does."""

    formats: tuple[str, ...] = ()
    writers: tuple[Writer, ...] = ()
    readers: tuple[ProfileReader, ...] = ()

    @property
    def named(self) -> frozenset[str]:
        return frozenset(field.name for field in fields(self) if getattr(self, field.name))

    def instead(self, profile: Profile) -> Profile:
        return replace(
            profile,
            formats=self.formats or profile.formats,
            writers=self.writers or profile.writers,
            readers=self.readers or profile.readers,
            given=self.named,
        )


def named(name: str, pattern: str) -> bool:
    """Whether a pattern of a profile names a scenario; `*` stands for any text, nothing else.

    >>> named("hudi/move", "hudi/*"), named("my/a [b]", "my/a [b]"), named("my/a b", "my/a [b]")
    (True, True, False)
    """
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None


@dataclass(frozen=True, slots=True)
class _Form:
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
    distribution: str = ""
    sequence: tuple[str, ...] = ()
    at: int | Literal["every_step"] = EVERY_STEP
    settings: dict[str, str] | None = None
    scenarios: tuple[str, ...] = ()
    axes: dict[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class _QueryForm:
    query: NullText
    steps: AskedSteps = AskedSteps.ALL


@dataclass(frozen=True, slots=True)
class _MetastoreForm:
    distribution: str
    upgraded_from: str = ""


@dataclass(frozen=True, slots=True)
class _ReaderForm:
    reader: str
    steps: AskedSteps = AskedSteps.ALL
    variants: Cover = Cover.ALL
    formats: tuple[str, ...] = ()


def load_profiles(path: Path) -> Mapping[str, Profile]:
    """Read the profiles of a file, by name.

    Raises ScenarioProblem: one line `file:line: what is wrong; what is allowed` for each problem.
    """
    return loads_profiles(read(path), str(path))


def loads_profiles(text: str, path: str) -> Mapping[str, Profile]:
    """Read profiles from text; `path` stands in the messages.

    Raises ScenarioProblem: as for `load_profiles`.
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
    known: dict[str, tuple[str, ...]] = dict(AXES)
    for format_name in form.formats:
        if format_name in formats.names():
            known |= formats.load(format_name).settings
    for where, values, allowed in (
        ((*at, "views"), form.views, (*VIEWS, *PAST_VIEWS)),
        ((*at, "runtime"), (form.runtime,), RUNTIMES),
        ((*at, "warehouse"), (form.warehouse,) if form.warehouse else (), WAREHOUSES),
        *_axes(form.axes or {}, known, (*at, "axes")),
    ):
        check_each(where, values, allowed, document)
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


def _axes(stated: _Axes, known: _Axes, at: KeyPath) -> Iterator[_Choice]:
    """Yield what is to be checked of axes: their names, and the values of each."""
    yield at, tuple(stated), tuple(known)
    for name, values in stated.items():
        if name in known:
            yield (*at, name), values, known[name]


def _forms(
    kind: type[T], what: str, key: str, data: list[Any], document: Document, at: KeyPath
) -> Iterator[tuple[KeyPath, T]]:
    """Yield each well-formed `what` of a list with its place; a text alone stands for its `key`."""
    for index, item in enumerate(data):
        where = (*at, index)
        written = {key: item} if item is None or isinstance(item, str) else item
        form = make(kind, written, document, where, what)
        if form is not None:
            yield where, form


def _metastore(
    stated: Mapping[str, str] | str | None, document: Document, at: KeyPath
) -> MetastoreChoice:
    if stated is None:
        return USUAL_METASTORE
    written = {"distribution": stated} if isinstance(stated, str) else stated
    form = make(_MetastoreForm, written, document, at, "metastore")
    return MetastoreChoice(form.distribution, form.upgraded_from) if form else USUAL_METASTORE


def _queries(data: list[Any] | None, document: Document, at: KeyPath) -> dict[str, AskedSteps]:
    if data is None:
        return dict.fromkeys(PLAIN, AskedSteps.ALL)
    steps = {}
    for where, form in _forms(_QueryForm, "query", "query", data, document, at):
        if "(" not in form.query:
            check_each(at, [form.query], QUERIES, document)
        elif why := why_no_shape(form.query):
            document.note(where, why)
        steps[form.query] = form.steps
    return steps


def _writers(profile: _Form, known: _Axes, document: Document, at: KeyPath) -> tuple[Writer, ...]:
    writers, data = [], profile.writers
    for where, form in _forms(_WriterForm, "writer", "distribution", data, document, at):
        if wrong := _wrong_writer(form):
            document.note(where, f"writer: {wrong}")
            continue
        for choice in _axes(form.axes or {}, known, (*where, "axes")):
            check_each(*choice, document)
        every = form.sequence or (form.distribution,)
        begins, *then = (with_default(name, profile.runtime) for name in every)
        writer = Writer(
            distribution=begins,
            settings=form.settings or {},
            then="".join(then),
            at=form.at if isinstance(form.at, int) else None,
            scenarios=form.scenarios,
            axes=form.axes or {},
        )
        writers.append(writer)
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


@dataclass(frozen=True, slots=True)
class NamedScenario:
    names: tuple[str, ...]
    """What it can be called: its name depends on where its path is seen from."""
    source: Scenario | Path
    """A file is read only where its steps are asked for."""

    def called(self, patterns: Iterable[str]) -> bool:
        return any(named(name, pattern) for pattern in patterns for name in self.names)

    def steps(self) -> int:
        """Return its number of steps; unlimited for a file that is wrong."""
        if isinstance(self.source, Scenario):
            return len(self.source.steps)
        try:
            return len(load(self.source, formats.keeping_case()).steps)
        except ScenarioProblem:
            return sys.maxsize


def given_scenarios(scenarios: Iterable[Scenario]) -> list[NamedScenario]:
    return [NamedScenario((scenario.name,), scenario) for scenario in scenarios]


def check_scenarios(profile: Profile, scenarios: Sequence[Scenario], folder: Path) -> None:
    """Check that every scenario that a profile names exists, and each step at which writers change.

    `scenarios` may be some of those in `folder`. Raises ScenarioProblem: all that do not exist.
    """
    named_scenarios = given_scenarios(scenarios)
    if any(_wrong(profile, named_scenarios)):
        for path in scenario_files(folder.resolve())[0]:
            named_scenarios.append(NamedScenario((name_of(str(path)), path.stem), path))
    raise_if_any(_wrong(profile, named_scenarios))


def raise_if_any(wrong: Iterable[Fault]) -> None:
    """Raise one ScenarioProblem for everything that is wrong, if anything is."""
    if faults := tuple(dict.fromkeys(wrong)):
        raise ScenarioProblem(faults)


def _wrong(profile: Profile, scenarios: Sequence[NamedScenario]) -> Iterator[Fault]:
    yield from wrong_scenarios(profile, scenarios)
    chosen = [scenario for scenario in scenarios if scenario.called(profile.scenarios)]
    for number, writer in enumerate(profile.writers):
        at: KeyPath = ("writers", number)
        yield from _unnamed(profile, (*at, "scenarios"), writer.scenarios, chosen)
        if not writer.at:
            continue
        patterns = writer.scenarios or profile.scenarios
        most = max((s.steps() for s in chosen if s.called(patterns)), default=writer.at)
        if most < writer.at:
            message = f"writer: at: no scenario that it writes has a step {writer.at}"
            yield profile.fault((*at, "at"), f"{message}; allowed: 1 to {most}")


def wrong_scenarios(profile: Profile, scenarios: Sequence[NamedScenario]) -> Iterator[Fault]:
    yield from _unnamed(profile, ("scenarios",), profile.scenarios, scenarios)


def _unnamed(
    profile: Profile, at: KeyPath, patterns: Sequence[str], scenarios: Sequence[NamedScenario]
) -> Iterator[Fault]:
    names = dict.fromkeys(named_scenario.names[0] for named_scenario in scenarios)
    who = "writer: the profile has" if len(at) > 1 else "there is"
    for number, pattern in enumerate(patterns):
        if not any(named_scenario.called((pattern,)) for named_scenario in scenarios):
            message = f"{who} no scenario '{pattern}'; {one_of(pattern, names)}"
            yield profile.fault((*at, number), message)


def wrong_formats(profile: Profile, known: Collection[str]) -> Iterator[Fault]:
    every: list[tuple[KeyPath, str, Sequence[str]]] = [(("formats",), "", profile.formats)]
    for number, asked in enumerate(profile.readers):
        every.append((("readers", number, "formats"), f"{asked.reader}: ", asked.formats))
    for at, who, names in every:
        for number, name in enumerate(names):
            if name not in known:
                message = f"{who}there is no format '{name}'; {one_of(name, known)}"
                yield profile.fault((*at, number), message)


def wrong_settings(profile: Profile, known: Mapping[str, Format]) -> Iterator[Fault]:
    """Yield an error for each writer setting, or its value, that no format of the profile has."""
    values = _settings(profile.formats, known)
    # A file's writers may have settings of its own formats, in whose place others were named.
    others = "formats" in profile.given and "writers" not in profile.given
    for number, writer in enumerate(profile.writers):
        for setting, value in writer.settings.items():
            at = ("writers", number, "settings", setting)
            who = f"writer {writer.distribution}"
            if setting not in values and not others:
                message = f"no format of the profile has a setting '{setting}'"
                yield profile.fault(at, f"{who}: {message}; {one_of(setting, sorted(values))}")
            elif value not in values.get(setting, (value,)):
                message = f"{setting}: there is no '{value}'; {one_of(value, values[setting])}"
                yield profile.fault(at, f"{who}: {message}")


def unknown_formats(scenario: Scenario, known: Collection[str]) -> Iterator[Fault]:
    for at, name in enumerate(scenario.formats):
        if name not in known:
            (line,) = scenario.format_lines[at : at + 1] or (0,)
            message = f"there is no format '{name}'; {one_of(name, known)}"
            yield Fault(scenario.path or scenario.name, line, message)


def wrong_axes(scenario: Scenario, known: Mapping[str, Format]) -> Iterator[Fault]:
    """Yield an error for each setting of a scenario, or its value, that none of its formats has."""
    values = {**AXES, **_settings(scenario.formats or known, known)}
    for name, given_values in scenario.settings.items():
        at = scenario.path or scenario.name, scenario.setting_lines.get(name, 0)
        if name not in values:
            yield Fault(*at, f"there is no setting '{name}'; {one_of(name, sorted(values))}")
            continue
        for value in given_values:
            if value not in values[name]:
                yield Fault(
                    *at, f"settings.{name}: there is no '{value}'; {one_of(value, values[name])}"
                )


def _settings(names: Iterable[str], known: Mapping[str, Format]) -> Mapping[str, Collection[str]]:
    """Return the settings that some formats have, each with the values of all of them."""
    values: dict[str, dict[str, None]] = {}
    for name in filter(known.__contains__, names):
        for setting, allowed in known[name].settings.items():
            values.setdefault(setting, {}).update(dict.fromkeys(allowed))
    return values
