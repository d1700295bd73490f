"""A question to the writer of the last step, in a session of its own: it changes nothing there."""

from __future__ import annotations

from collections.abc import Mapping

from harness.model.canonical import Value
from harness.scenario.statements import filled
from harness.write.next_step import VariantOutcomes
from harness.write.send_step import WriterFor
from harness.write.writer_pool import WriteTarget


def rows(
    outcomes: VariantOutcomes, target: WriteTarget, writer_for: WriterFor, question: str
) -> list[Mapping[str, Value]]:
    """Return the rows that SQL gives, each by the names of its columns.

    Raises:
        RefusedError: Spark answered with an error.
        NoAnswerError: it did not answer in time, or died.
        HarnessError: the worker failed, or no process starts.

    """
    sql = filled(question, target.database, str(target.table))
    writer = outcomes.variant.writers[outcomes.outcomes[-1].step]
    session = writer_for(writer).open(outcomes.session(writer))
    try:
        answer = session.run(sql, timeout_s=target.timeout_s)
    finally:
        session.close()
    names = [name for name, _ in answer.columns]
    return [dict(zip(names, row, strict=True)) for row in answer.rows]
