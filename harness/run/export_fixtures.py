"""Frozen tables of a run with what must be read of them, in a folder that needs no harness.

Everything is written beside the folder first and renamed at last, so that it is whole or absent.
"""

from __future__ import annotations

import datetime
import decimal
import hashlib
import json
import math
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from pydantic import TypeAdapter

from harness import formats
from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.core.atomic_write import atomic_write
from harness.core.errors import UsageProblem
from harness.core.grouping import grouped
from harness.core.records import OutcomeKind, StateRecord
from harness.formats.iceberg import move
from harness.judge import answer_tables
from harness.judge.expectations import Expectations
from harness.judge.recorded_variant import RecordedVariant
from harness.model import past_views, query_shapes
from harness.model.canonical import MapValue, Value
from harness.model.query import Query
from harness.model.query_shapes import NoQuestionError
from harness.model.schema import Field
from harness.model.simulation import column_resolution
from harness.model.simulation.column_resolution import LayoutError
from harness.run import plan_record
from harness.run.load_run import Run, VariantInfo
from harness.run.pipeline import states_of
from harness.run.run_judge import case_of
from harness.runtime.metastore_objects import LOCATION
from harness.write.state_store import TABLE, State, States

FORMAT: Final = 1
"""Raised whenever a key gets another meaning."""
FILE: Final = "manifest.json"
EXPECTED: Final = "expected.json"
CATALOG: Final = "catalog.json"
SCENARIO: Final = "scenario.yaml"
_LONGEST: Final = 100
"""Characters of a variant's folder, before what tells it from others."""
_DIGITS: Final = 8


@dataclass(frozen=True, slots=True)
class FileSum:
    path: str
    """Relative to the folder that has the manifest."""
    size: int
    """In bytes."""
    sha256: str


@dataclass(frozen=True, slots=True)
class ExpectedSlice:
    """What a reader of now puts together: a base file, and the log files that came after it."""

    base: str | None
    """Relative to the table's folder."""
    logs: tuple[str, ...]
    """In the order in which they were written."""


@dataclass(frozen=True, slots=True)
class Fixture:
    """A table as it was after a step."""

    table: str
    """The table's folder."""
    moves: bool
    """Whether a copy can be read at any place; else its metadata name `location`."""
    location: str
    """The table's folder, as its own metadata name it; empty where a copy can be moved."""
    table_version: str
    """Where the format counts versions."""
    instants: Mapping[int, str]
    """By step: what it made on this table's timeline."""
    slices: tuple[ExpectedSlice, ...] | None
    """The files of now; None where `layout` says why they are not known."""
    layout: str
    expected: FileSum
    catalog: FileSum
    """What the metastore held of the table, which now lies in its exported folder."""
    files: tuple[FileSum, ...]
    folders: tuple[str, ...]
    """Empty ones, which some archives lose."""


@dataclass(frozen=True, slots=True)
class FixtureStep:
    """A step of a variant; the creation of the table is step 0."""

    step: int
    text: str
    writer: str
    outcome: str
    statements: tuple[str, ...]
    """As sent, with `{database}` and `{location}` as placeholders."""
    fixture: Fixture | None
    left_out: str
    """Why there is no fixture; empty where there is one."""


@dataclass(frozen=True, slots=True)
class FixtureVariant:
    id: str
    scenario: str
    text: FileSum
    """The scenario's file."""
    format: str
    settings: Mapping[str, str]
    steps: tuple[FixtureStep, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    fixtures: int
    """The version of this description."""
    harness: str
    run: str
    profile: str
    writers: Mapping[str, str]
    """What each writer is made of, by its name."""
    variants: tuple[FixtureVariant, ...]


_MANIFEST: Final = TypeAdapter(Manifest)


@dataclass(frozen=True, slots=True)
class Selection:
    text: str = ""
    """What `variant/s3` must contain."""
    formats: Collection[str] = ()
    """Empty: all of them."""

    def takes(self, variant: VariantInfo, step: int) -> bool:
        needed = not self.formats or variant.format in self.formats
        return needed and self.text in f"{variant.id}/s{step}"


def export(run: Run, cache: Cache, folder: Path, selection: Selection) -> Manifest:
    """Write the fixtures of a run into a folder that is not there, or empty.

    Raises UsageProblem: the folder is not empty, nothing is to be exported, or a table is no
    longer in the cache.
    Raises EnvironmentProblem: a file cannot be written.
    """
    to = folder.resolve()
    if to.exists() and not (to.is_dir() and not any(to.iterdir())):
        raise UsageProblem(f"{folder} is not empty; name a folder that is new, or empty")
    chosen = [
        record
        for record in run.by_step.values()
        if selection.takes(run.info.variant(record.variant), record.outcome.step)
        and not _why_not(record, run)
    ]
    if not chosen:
        raise UsageProblem(
            f"{run.folder}: no step is selected of which the table is known; leave out -k or "
            "--format, or look at the run's steps: harness report terminal"
        )
    states = states_of(chosen, cache)
    with atomic_write(to, to.with_name(f".{to.name}.part")) as part:
        part.mkdir(parents=True)
        manifest = _Export(run, part, to, states, selection).manifest()
        (part / FILE).write_bytes(_MANIFEST.dump_json(manifest, indent=1) + b"\n")
    return manifest


def _why_not(record: StateRecord, run: Run) -> str:
    """Return why there is no fixture of a step; empty where there is one."""
    outcome = record.outcome
    if outcome.kind is not OutcomeKind.APPLIED:
        why = outcome.because or (outcome.refusal.message if outcome.refusal else "")
        return ": ".join(filter(None, (str(outcome.kind), why)))
    before = (run.by_step.get((record.variant, at)) for at in range(outcome.step))
    if any(entry is None or entry.outcome.kind is OutcomeKind.UNKNOWN for entry in before):
        return "nothing is known of the table since an earlier step"
    return "" if record.digest else "no table was frozen"


class _Export:
    """Copies the chosen states of a run into a folder."""

    def __init__(
        self, run: Run, folder: Path, final: Path, states: States, selection: Selection
    ) -> None:
        self._run, self._folder, self._states = run, folder, states
        self._final, self._selection = final, selection
        questions = (entry.question for entry in run.info.cells)
        self._asked = grouped([((of, step), (view, query)) for of, step, view, query in questions])
        plan = plan_record.plan_of(run.info)
        self._variants = {entry.id: entry for entry in plan.variants}

    def manifest(self) -> Manifest:
        info, ids = self._run.info, {variant for variant, _ in self._states}
        chosen = [entry for entry in info.variants if entry.id in ids]
        writers = {name for entry in chosen for name in entry.writers}
        return Manifest(
            FORMAT,
            info.version,
            info.id,
            info.profile,
            {name: distributions.load(name).fidelity for name in sorted(writers)},
            tuple(self._variant(entry, name) for entry, name in _named(chosen)),
        )

    def _variant(self, info: VariantInfo, name: str) -> FixtureVariant:
        text = self._run.info.scenarios[info.id].encode()
        records = self._run.states_of(info.id)
        case = case_of(self._variants[info.id], records)
        steps = tuple(self._step(info, case, entry, name) for entry in records)
        written = self._write(PurePosixPath(name) / SCENARIO, text)
        return FixtureVariant(info.id, info.scenario, written, info.format, info.settings, steps)

    def _step(
        self, info: VariantInfo, case: RecordedVariant, record: StateRecord, name: str
    ) -> FixtureStep:
        step = record.outcome.step
        state = self._states.get((info.id, step))
        why = _why_not(record, self._run)
        if not (why or self._selection.takes(info, step)):
            why = "not selected"
        return FixtureStep(
            step,
            info.step(step).text,
            info.writers[step] if step < len(info.writers) else "",
            record.outcome.word,
            record.outcome.statements,
            self._fixture(case, step, state, PurePosixPath(name) / f"s{step}") if state else None,
            why,
        )

    def _fixture(
        self, case: RecordedVariant, step: int, state: State, to: PurePosixPath
    ) -> Fixture:
        shape, frozen = formats.load(case.variant.format), state.frozen
        asked = self._asked.get((case.variant.id, step), ())
        views = (*shape.views, *shape.past_views)
        tables = {entry: shape.table_for(entry) for entry in views}
        there = {view: table for view, table in tables.items() if table in state.columns}
        expected = expected_tables(case, step, there, asked)
        location = str(self._final / to / TABLE)
        entries = json.dumps([asdict(entry) for entry in frozen.entries], indent=1)
        entries = entries.replace(LOCATION, json.dumps(location)[1:-1])
        slices, why = _slices(case, step)
        files, folders = self._copied(state, to / TABLE)
        return Fixture(
            table=str(to / TABLE),
            moves=not frozen.home,
            location=location if frozen.home else "",
            table_version=frozen.table_version,
            instants={at: entry for at, entry in enumerate(frozen.instants) if entry},
            slices=slices,
            layout=why,
            expected=self._write(to / EXPECTED, _TABLES.dump_json(expected, indent=1) + b"\n"),
            catalog=self._write(to / CATALOG, f"{entries}\n".encode()),
            files=files,
            folders=folders,
        )

    def _copied(
        self, state: State, to: PurePosixPath
    ) -> tuple[tuple[FileSum, ...], tuple[str, ...]]:
        """Copy a table's files with their times; return them, and the folders that are empty."""
        names = [_inside(state, entry.path) for entry in state.frozen.listing]
        full = {parent for entry in names for parent in entry.parents}
        empty = [entry for entry in names if (state.table / entry).is_dir() and entry not in full]
        (self._folder / to).mkdir(parents=True, exist_ok=True)
        for entry in empty:
            (self._folder / to / entry).mkdir(parents=True, exist_ok=True)
        files = [entry for entry in names if not (state.table / entry).is_dir()]
        sums = tuple(self._copy(state.table / entry, to / entry) for entry in files)
        if state.frozen.home:  # only Iceberg's files name each other by absolute paths
            move.move(self._folder / to, str(self._final / to))
            sums = tuple(self._sum(PurePosixPath(file.path)) for file in sums)
        return sums, tuple(str(to / entry) for entry in empty)

    def _copy(self, source: Path, to: PurePosixPath) -> FileSum:
        written = self._write(to, source.read_bytes())
        seen = source.stat()
        os.utime(self._folder / to, ns=(seen.st_atime_ns, seen.st_mtime_ns))
        return written

    def _write(self, to: PurePosixPath, data: bytes) -> FileSum:
        path = self._folder / to
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return self._sum(to)

    def _sum(self, to: PurePosixPath) -> FileSum:
        data = (self._folder / to).read_bytes()
        return FileSum(str(to), len(data), hashlib.sha256(data).hexdigest())


def _inside(state: State, path: str) -> PurePosixPath:
    """Return a path of a state that stays in the table's folder, by itself and through links.

    Raises UsageProblem: it does not.
    """
    name, result = PurePosixPath(path), state.table / path
    if name.is_absolute() or ".." in name.parts or result.is_symlink():
        raise UsageProblem(
            f"{result} is a link, or leads out of its table; remove the state, and run the profile "
            "again"
        )
    return name


def _slices(case: RecordedVariant, step: int) -> tuple[tuple[ExpectedSlice, ...] | None, str]:
    """Return the files of a step, or why they are not known."""
    record = case.state_of[step]
    if record.layout:
        return None, record.layout
    try:
        result = column_resolution.slices(record.files, case.made(step))
        return tuple(
            ExpectedSlice(base.path if base else None, tuple(dict.fromkeys(e.path for e in logs)))
            for base, logs in result
        ), ""
    except LayoutError as problem:
        return None, str(problem)


def _named(variants: Sequence[VariantInfo]) -> Iterator[tuple[VariantInfo, str]]:
    """Yield each variant with the name of its folder, which any file system can hold."""
    plain = {entry.id: re.sub(r"[^\w.=-]+", "-", entry.id).strip("-.") for entry in variants}
    equal = grouped([(name.lower(), id_) for id_, name in plain.items()])
    for entry in variants:
        name = plain[entry.id]
        unlike = len(equal[name.lower()]) == 1 and len(name) <= _LONGEST
        digest = hashlib.sha256(entry.id.encode()).hexdigest()[:_DIGITS]
        yield entry, name if unlike else f"{name[:_LONGEST]}-{digest}"


def totals(manifest: Manifest) -> Mapping[str, int]:
    """Return how many fixtures, steps without one, files and bytes there are."""
    steps = [step for entry in manifest.variants for step in entry.steps]
    files = [file for step in steps if step.fixture for file in step.fixture.files]
    return {
        "fixtures": sum(step.fixture is not None for step in steps),
        "left_out": sum(step.fixture is None for step in steps),
        "files": len(files),
        "size": sum(entry.size for entry in files),
    }


WHOLE: Final = "all"
ANY: Final = "any"
"""No question asks for an order: rows stand by the text of their key here, and may come in any."""


@dataclass(frozen=True, slots=True)
class ExpectedField:
    """A column, or a part of one, of the table after the step."""

    id: int
    name: str
    type: str
    """In the words of scenario files."""
    fields: tuple[ExpectedField, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpectedColumn:
    """A column of an answer; `id` is None for what is counted."""

    name: str
    type: str
    id: int | None


@dataclass(frozen=True, slots=True)
class AskedCondition:
    column: str
    test: str
    value: object = None
    type: str = ""
    more: tuple[object, ...] = ()
    """The upper bound of `between`, the other values of a list."""


@dataclass(frozen=True, slots=True)
class ExpectedTable:
    """What one question must be answered with."""

    view: str
    query: str
    """As cases are called: `all`, `column(f1)`."""
    table: str
    """The catalog's entry that the question is put to."""
    columns: tuple[ExpectedColumn, ...]
    rows: tuple[tuple[object, ...], ...]
    order: str = ANY
    select: tuple[str, ...] = ()
    """Dotted paths; empty for all columns."""
    aggregate: str = ""
    """`count(*)`, `min(f1)`: what the one column is; empty where rows are asked for."""
    where: tuple[AskedCondition, ...] = ()
    """All of them must hold."""
    back_to: int | None = None
    """The step that a view of the past goes back to; its instant is in the manifest."""


@dataclass(frozen=True, slots=True)
class ExpectedTables:
    """All that must be answered after one step."""

    variant: str
    step: int
    key: str
    columns: tuple[ExpectedField, ...]
    """The table's schema, with its field ids."""
    questions: tuple[ExpectedTable, ...] = field(default=())


def expected_tables(
    case: RecordedVariant, step: int, tables: Mapping[str, str], asked: Iterable[tuple[str, str]]
) -> ExpectedTables:
    """Return what must be answered after a step of which the truth is known.

    `tables`: the catalog's entry of each view that can be asked. `asked`: more views, queries.
    """
    expectations = Expectations(case)
    every = dict.fromkeys([*((view, WHOLE) for view in tables), *asked])
    result = (_table(expectations, step, view, query, tables) for view, query in every)
    schema = case.history[step].schema
    return ExpectedTables(
        case.variant.id,
        step,
        case.variant.scenario.table.key,
        tuple(map(_field, schema.fields)),
        tuple(expected_table for expected_table in result if expected_table),
    )


def _table(
    expectations: Expectations, step: int, view: str, text: str, tables: Mapping[str, str]
) -> ExpectedTable | None:
    """Return what a question must be answered with; None where it cannot be put, or who knows."""
    name, past = past_views.name_of(view), expectations.case.past(view, step)
    if name not in tables or (past is not None and not past.step):
        return None
    expectations = answer_tables.expected(expectations, text, step)
    if expectations.unjudged(step, name):
        return None
    try:
        state = expectations.state(step, view)
        query = query_shapes.query(text, state.history[-1])
        if query.limit:
            return None  # any of several answers is right
        table = state.table(query)
    except (NoQuestionError, LayoutError):
        return None
    columns = (
        ExpectedColumn(name, type_, None if query.label else state.schema.find(name).id)
        for name, type_ in table.columns
    )
    return ExpectedTable(
        view,
        text,
        tables[name],
        tuple(columns),
        tuple(tuple(map(plain, row)) for row in table.rows),
        select=() if query.label else query.columns,
        aggregate=query.label,
        where=tuple(conditions(query)),
        back_to=past.step if past else None,
    )


def conditions(query: Query) -> Iterator[AskedCondition]:
    for condition in query.conditions:
        value, *more = map(plain, condition.values or (None,))
        yield AskedCondition(
            condition.path, str(condition.test), value, condition.type, tuple(more)
        )


def _field(of: Field) -> ExpectedField:
    return ExpectedField(of.id, of.name, str(of.type), tuple(map(_field, of.children)))


def plain(value: Value) -> object:
    r"""Return a value as JSON without tags; the column's type says what a text is.

    >>> plain(decimal.Decimal("1.10")), plain((1, None)), plain(float("nan"))
    ('1.10', [1, None], 'NaN')
    >>> plain(datetime.datetime(2024, 2, 29, 10)), plain(b"\x01\xff")
    ('2024-02-29 10:00:00.000000', '01ff')

    Raises TypeError: it is no canonical value.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            text = str(value).replace("inf", "Infinity").replace("nan", "NaN")
            return value if math.isfinite(value) else text
        case decimal.Decimal():
            return f"{value:f}"
        case datetime.datetime():
            return value.isoformat(sep=" ", timespec="microseconds")
        case datetime.date():
            return value.isoformat()
        case bytes():
            return value.hex()
        case tuple():
            return [plain(element) for element in value]
        case dict():
            return {str(name): plain(element) for name, element in value.items()}
        case MapValue():
            return [[plain(key), plain(pair)] for key, pair in value.pairs]
    raise TypeError(f"{value!r} is no canonical value")


_TABLES: Final = TypeAdapter(ExpectedTables)
