"""One variant: found in the cache, or written step by step and frozen after each."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.artifacts import table_homes
from harness.artifacts.cache import Cache
from harness.core import refusals
from harness.core.records import Outcome, OutcomeKind, Refusal
from harness.engines.spark.session import Session, Spark, SparkRefusal, SparkSilent
from harness.formats.api import FileFactError
from harness.formats.statements import TABLE, SetColumns, Sql, Statement, filled
from harness.model.file_facts import FileFact
from harness.runtime import metastore_client
from harness.runtime.metastore_client import Catalog, CatalogRefusedError
from harness.scenario.cells import Variant
from harness.write import state_records
from harness.write import state_store as freeze
from harness.write.next_step import Course, Sending
from harness.write.state_records import Written
from harness.write.table_state import Frozen, State

TIMEOUT_S: Final = 300.0
"""After so long a statement counts as unanswered, unless told; 2 s on a calm machine."""

DID_NOTHING: Final = "did nothing"
"""The kind of a refusal that no engine put into words."""

REFUSED: Final = (SparkRefusal, CatalogRefusedError)
"""A statement was answered with an error."""

SparkFor = Callable[[str], Spark]
"""Gives the running process of a distribution."""
AtState = Callable[[int, State], None]
"""Told a step and its state while the table itself still is in that state."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one variant is written."""

    cache: Cache
    metastore_uri: str
    database: str
    folder: Path
    """Its own; the table's folder is made in it, unless it has another home."""
    home: Path | None = None
    timeout_s: float = TIMEOUT_S
    """After so long a statement counts as unanswered."""

    @property
    def table(self) -> Path:
        """The table's folder."""
        return self.home or self.folder / TABLE


class WriterSilent(Exception):
    """The writer crashed or did not answer: nothing is known of the table since then."""

    def __init__(self, done: Written, outcome: Outcome) -> None:
        """`done`: the steps before; `outcome`: of the step that got no answer."""
        super().__init__(outcome.because)
        self.done = done
        self.outcome = outcome


def kept(variant: Variant, cache: Cache) -> Written | None:
    """Find the states of all steps in the cache; None when one is not there."""
    course, states = Course(variant), list[State | None]()
    while not course.over:
        sending = course.next()
        state = None if sending.skipped else freeze.load(cache, sending.address)
        if state is None and not sending.skipped:
            return None
        states.append(state)
        found = state.frozen.outcome if state else _skipped(sending)
        course = course.then(replace(found, step=sending.step))
    return state_records.of(course, states, reused=True)


def write(
    variant: Variant, place: Place, spark_for: SparkFor, at_state: AtState | None = None
) -> Written:
    """Write a variant from its creation on; `place.folder` is removed at the end.

    `at_state` is called right after each step that was frozen, before the next one is sent.

    Raises:
        WriterSilent: a statement got no answer.
        HarnessError: the metastore is gone, or the worker failed.

    """
    course, states = Course(variant), list[State | None]()
    own: AbstractContextManager[Path | None] = nullcontext()
    if course.shape.absolute_paths:
        own = table_homes.new(place.cache)
    with own as home, metastore_client.connect(place.metastore_uri) as client:
        place = replace(place, home=home)
        client.create_database(place.database)
        hand = _Hand(course, place, client, spark_for)
        while not course.over:
            outcome, state = hand.step(course)
            if outcome.kind is OutcomeKind.UNKNOWN:
                raise WriterSilent(state_records.of(course, states, reused=False), outcome)
            course = course.then(outcome)
            states.append(state)
            if state and at_state:
                at_state(outcome.step, state)
    shutil.rmtree(place.folder)
    return state_records.of(course, states, reused=False)


def _otherwise(state: State, outcome: Outcome) -> Outcome | None:
    """Compare with what came of the same statements when an earlier run froze this state."""
    before = state.frozen.outcome.kind
    if before is outcome.kind:
        return None
    why = f"{outcome.kind} now, but {before} when the same was written before ({state.folder})"
    return replace(outcome, kind=OutcomeKind.UNKNOWN, refusal=None, because=why)


def _skipped(sending: Sending) -> Outcome:
    return Outcome(sending.step, OutcomeKind.SKIPPED, because=sending.skipped)


class _Hand:
    """Sends the statements of one variant and freezes what came of them."""

    def __init__(self, course: Course, place: Place, client: Catalog, spark_for: SparkFor) -> None:
        self._variant = course.variant
        self._shape = course.shape
        self._settings = course.session()
        self._place = place
        self._client = client
        self._spark_for = spark_for
        self._session: tuple[str, Session] | None = None
        self._files: tuple[FileFact, ...] = ()
        self._others: dict[str, int] = {}

    def step(self, course: Course) -> tuple[Outcome, State | None]:
        """Send the next step and freeze what came of it; no state where nothing is known."""
        sending = course.next()
        if sending.skipped:
            return _skipped(sending), None
        outcome = self.send(sending)
        if outcome.kind is OutcomeKind.UNKNOWN:
            return outcome, None
        self._note_others(course.then(outcome))
        state = self.freeze(sending, course.then(outcome))
        doubt = _otherwise(state, outcome)
        return (doubt, None) if doubt else (outcome, state)

    def send(self, sending: Sending) -> Outcome:
        """Send a step; refusals and silence are outcomes."""
        began, before = time.monotonic(), self._shape.instants(self._place.table)
        kind, refusal, because = OutcomeKind.APPLIED, None, ""
        try:
            self._run_all(sending.statements, self._variant.writers[sending.step])
            refusal = self._made_wrong() if sending.step == 0 else None
            refusal = refusal or self._left_undone(sending, before)
        except REFUSED as answer:
            refusal = answer.refusal
        except SparkSilent as silence:
            kind, because = OutcomeKind.UNKNOWN, str(silence)
        if refusal is not None and (because := refusals.of_machine(refusal)):
            kind, refusal = OutcomeKind.UNKNOWN, None
        elif refusal is not None:
            kind = OutcomeKind.REFUSED
        made = self._made_since(before)
        return Outcome(
            step=sending.step,
            kind=kind,
            instant=made[-1] if made and kind is OutcomeKind.APPLIED else "",
            refusal=refusal,
            because=because,
            statements=sending.texts,
            seconds=round(time.monotonic() - began, 3),
        )

    def freeze(self, sending: Sending, course: Course) -> State:
        """Freeze the table after the last step of the course; an earlier run may have done so."""
        files, layout = self._facts()
        self._files = files
        entries = self._client.entries(self._place.database)
        instants = tuple(outcome.instant for outcome in course.outcomes)
        frozen = Frozen(
            course.outcomes[-1],
            entries,
            files,
            instants,
            layout,
            table_version=self._shape.table_version(self._place.table),
            home=str(self._place.home or ""),
            others=tuple(self._others.items()),
        )
        return freeze.freeze(self._place.cache, sending.address, self._place.table, frozen)

    def _run_all(self, statements: Sequence[Statement], writer: str) -> None:
        """Run statements up to the first one that is refused, and those meant for any case."""
        left = iter(statements)
        try:
            for statement in left:
                self._run(statement, writer)
        except REFUSED:
            for statement in left:
                if isinstance(statement, Sql) and statement.in_any_case:
                    self._run(statement, writer)
            raise

    def _run(self, statement: Statement, writer: str) -> None:
        place = self._place
        match statement:
            case Sql(text):
                sql = filled(text, place.database, str(place.table))
                self._session_of(writer).run(sql, timeout_s=place.timeout_s)
            case SetColumns(columns, cascade):
                self._client.alter_columns(place.database, TABLE, columns, cascade=cascade)

    def _session_of(self, writer: str) -> Session:
        if self._session is None or self._session[0] != writer:
            self._session = writer, self._spark_for(writer).open(self._settings)
        return self._session[1]

    def _made_wrong(self) -> Refusal | None:
        wrong = self._shape.created_wrong(self._place.table, self._variant.settings)
        return Refusal("created otherwise", wrong) if wrong else None

    def _note_others(self, course: Course) -> None:
        """Note the instants that the last step made beside its own."""
        if not course.outcomes[-1].instant:
            return
        own = {each.instant: each.step for each in course.outcomes if each.instant}
        for instant in self._shape.instants(self._place.table):
            if instant not in own and instant not in self._others:
                seen = self._shape.before(self._place.table, instant)
                self._others[instant] = max((own.get(each, 0) for each in seen), default=0)

    def _left_undone(self, sending: Sending, instants: Sequence[str]) -> Refusal | None:
        """Return a refusal for a step that says all is well and did not do what there was to do."""
        if sending.step == 0 or not sending.statements or self._made_since(instants):
            return None
        operation = self._variant.scenario.steps[sending.step - 1].operation
        undone = self._shape.left_undone(operation, self._files)
        return Refusal(DID_NOTHING, f"no error was answered; {undone}") if undone else None

    def _made_since(self, instants: Sequence[str]) -> list[str]:
        return [i for i in self._shape.instants(self._place.table) if i not in instants]

    def _facts(self) -> tuple[tuple[FileFact, ...], str]:
        try:
            return self._shape.facts(self._place.table, self._variant.scenario.table.key), ""
        except FileFactError as problem:
            return (), str(problem)
