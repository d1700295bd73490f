"""Statistics that only the writer's own Spark can read, asked of it before a table is frozen."""

from __future__ import annotations

from collections.abc import Sequence

from harness.core import refusals
from harness.core.errors import HarnessError
from harness.engines.api import NoAnswerError, RefusedError
from harness.formats.api import FileFactError
from harness.model.column_statistics import IN_ORDER, StoredStatistics
from harness.model.file_facts import FileFact
from harness.write import ask_writer
from harness.write.next_step import VariantOutcomes
from harness.write.send_step import WriterFor
from harness.write.writer_pool import WriteTarget


def ask(
    outcomes: VariantOutcomes, target: WriteTarget, files: Sequence[FileFact], writer_for: WriterFor
) -> StoredStatistics:
    """Return what the writer of the last step says of the statistics, or why that is not known.

    It is asked in a session of its own, so that its answer changes nothing of the writer's. No
    failure is one of the step: that is done.
    """
    asked = outcomes.shape.queried_statistics(outcomes.variant.settings)
    if asked is None or not asked.exist(target.table):
        return IN_ORDER
    try:
        rows = ask_writer.rows(outcomes, target, writer_for, asked.sql)
        return StoredStatistics(asked.parse(rows, files))
    except RefusedError as refused:
        return StoredStatistics(unknown=refusals.text(refused.refusal))
    except (NoAnswerError, HarnessError, FileFactError) as problem:
        return StoredStatistics(unknown=str(problem))
