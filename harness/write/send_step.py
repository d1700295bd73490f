"""Second stage of writing: the statements of a step are sent to its writer, and have an outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from harness.core import refusals
from harness.core.records import Outcome, OutcomeKind, Refusal
from harness.engines.spark.session import Session, Spark, SparkRefusal, SparkSilent
from harness.formats.statements import SetColumns, Sql, Statement, filled
from harness.model.file_facts import FileFact
from harness.model.identifiers import TABLE
from harness.runtime.metastore_client import Catalog, CatalogRefusedError
from harness.write.next_step import NextStep, VariantOutcomes
from harness.write.writer_pool import WriteTarget

DID_NOTHING: Final = "did nothing"
"""The kind of a refusal that no engine put into words."""

REFUSED: Final = (SparkRefusal, CatalogRefusedError)
"""A statement was answered with an error."""

SparkFor = Callable[[str], Spark]
"""Returns the running process of a distribution: `WriterPool.spark`, which stands before this
module; it is a parameter since a process that died is replaced between two statements."""


class StepSender:
    """Sends the steps of one variant, in one session for each writer in turn."""

    def __init__(
        self, outcomes: VariantOutcomes, target: WriteTarget, client: Catalog, spark_for: SparkFor
    ) -> None:
        """Open nothing yet; `client` is a connection to the target's metastore."""
        self._variant = outcomes.variant
        self._shape = outcomes.shape
        self._settings = outcomes.session()
        self._target = target
        self._client = client
        self._spark_for = spark_for
        self._session: tuple[str, Session] | None = None

    def send(self, step: NextStep, files: Sequence[FileFact]) -> Outcome:
        """Send a step; refusals and silence are outcomes.

        Args:
            step: what to send.
            files: what the table's files are before it.

        """
        began, before = time.monotonic(), self._shape.instants(self._target.table)
        kind, refusal, because = OutcomeKind.APPLIED, None, ""
        try:
            self._run_all(step.statements, self._variant.writers[step.step])
            refusal = self._made_wrong() if step.step == 0 else None
            refusal = refusal or self._left_undone(step, before, files)
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
            step=step.step,
            kind=kind,
            instant=made[-1] if made and kind is OutcomeKind.APPLIED else "",
            refusal=refusal,
            because=because,
            statements=step.texts,
            seconds=round(time.monotonic() - began, 3),
        )

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
        target = self._target
        match statement:
            case Sql(text):
                sql = filled(text, target.database, str(target.table))
                self._session_of(writer).run(sql, timeout_s=target.timeout_s)
            case SetColumns(columns, cascade):
                self._client.alter_columns(target.database, TABLE, columns, cascade=cascade)

    def _session_of(self, writer: str) -> Session:
        if self._session is None or self._session[0] != writer:
            self._session = writer, self._spark_for(writer).open(self._settings)
        return self._session[1]

    def _made_wrong(self) -> Refusal | None:
        wrong = self._shape.created_wrong(self._target.table, self._variant.settings)
        return Refusal("created otherwise", wrong) if wrong else None

    def _left_undone(
        self, step: NextStep, instants: Sequence[str], files: Sequence[FileFact]
    ) -> Refusal | None:
        """Return a refusal for a step that says all is well and did not do what there was to do."""
        if step.step == 0 or not step.statements or self._made_since(instants):
            return None
        operation = self._variant.scenario.steps[step.step - 1].operation
        undone = self._shape.left_undone(operation, files)
        return Refusal(DID_NOTHING, f"no error was answered; {undone}") if undone else None

    def _made_since(self, instants: Sequence[str]) -> list[str]:
        return [i for i in self._shape.instants(self._target.table) if i not in instants]
