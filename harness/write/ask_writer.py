"""What only the writer of the last step can say of the table, before the table is frozen.

It is asked in a session of its own, so that the question changes nothing of the writer's. An error
is none of the step, which is done.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from harness.core import refusals
from harness.core.errors import HarnessError
from harness.core.records import OutcomeKind
from harness.engines.api import NoAnswerError, RefusedError
from harness.formats.api import FileFactError
from harness.model.canonical import Value
from harness.model.column_statistics import IN_ORDER, StoredStatistics
from harness.model.commit import ExtraMetadata
from harness.model.file_facts import FileFact
from harness.scenario.operations.write_with_metadata import WriteWithMetadata
from harness.scenario.statements import filled
from harness.write.next_step import VariantOutcomes
from harness.write.send_step import WriterFor
from harness.write.writer_pool import WriteTarget

NAME: Final = "metadata_key"
VALUE: Final = "metadata_value"


def ask_metadata(
    outcomes: VariantOutcomes, target: WriteTarget, writer_for: WriterFor
) -> ExtraMetadata | None:
    """Return the extra metadata of the last step's commit; None where the step writes none."""
    last = outcomes.outcomes[-1]
    steps = outcomes.variant.scenario.steps
    has_metadata = last.step > 0 and isinstance(steps[last.step - 1].operation, WriteWithMetadata)
    if not has_metadata or last.kind is not OutcomeKind.APPLIED or not last.instant:
        return None
    stored_metadata = outcomes.shape.stored_metadata(target.table, last.instant)
    if stored_metadata is None:
        return None
    shown, why = dict[str, str](), ""
    try:
        rows = _rows(outcomes, target, writer_for, stored_metadata.question)
        shown = {str(row[NAME]): str(row[VALUE]) for row in rows}
    except RefusedError as refused:
        why = refusals.text(refused.refusal)
    except (NoAnswerError, HarnessError) as problem:
        why = str(problem)
    return ExtraMetadata(
        _pairs(stored_metadata.stored, stored_metadata.own), _pairs(shown, stored_metadata.own), why
    )


def _pairs(of: Mapping[str, str], added: Collection[str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value) for name, value in of.items() if name not in added))


def ask_statistics(
    outcomes: VariantOutcomes, target: WriteTarget, files: Sequence[FileFact], writer_for: WriterFor
) -> StoredStatistics:
    """Return what the writer of the last step says of the statistics, or why it is not known."""
    queried = outcomes.shape.queried_statistics(outcomes.variant.settings)
    if queried is None or not queried.exist(target.table):
        return IN_ORDER
    try:
        rows = _rows(outcomes, target, writer_for, queried.sql)
        return StoredStatistics(queried.parse(rows, files))
    except RefusedError as refused:
        return StoredStatistics(unknown=refusals.text(refused.refusal))
    except (NoAnswerError, HarnessError, FileFactError) as problem:
        return StoredStatistics(unknown=str(problem))


def _rows(
    outcomes: VariantOutcomes, target: WriteTarget, writer_for: WriterFor, question: str
) -> list[Mapping[str, Value]]:
    sql = filled(question, target.database, str(target.table))
    writer = outcomes.variant.writers[outcomes.outcomes[-1].step]
    session = writer_for(writer).open(outcomes.session(writer))
    try:
        answer = session.run(sql, timeout_s=target.timeout_s)
    finally:
        session.close()
    names = [name for name, _ in answer.columns]
    return [dict(zip(names, row, strict=True)) for row in answer.rows]
