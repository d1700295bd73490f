"""The extra metadata of the last step's commit: read from its file, and asked of the writer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from harness.core import refusals
from harness.core.errors import HarnessError
from harness.core.records import OutcomeKind
from harness.engines.api import NoAnswerError, RefusedError
from harness.model.commit import ExtraMetadata
from harness.scenario.operations.write_with_metadata import WriteWithMetadata
from harness.write import ask_writer
from harness.write.next_step import VariantOutcomes
from harness.write.send_step import WriterFor
from harness.write.writer_pool import WriteTarget

NAME: Final = "metadata_key"
VALUE: Final = "metadata_value"


def ask(
    outcomes: VariantOutcomes, target: WriteTarget, writer_for: WriterFor
) -> ExtraMetadata | None:
    """Return what the commit of the last step has; None where the step was told of no metadata.

    The writer is asked in a session of its own, so that its answer changes nothing of the writer's.
    No failure is one of the step: that is done.
    """
    last = outcomes.outcomes[-1]
    steps = outcomes.variant.scenario.steps
    has_metadata = last.step > 0 and isinstance(steps[last.step - 1].operation, WriteWithMetadata)
    if not has_metadata or last.kind is not OutcomeKind.APPLIED or not last.instant:
        return None
    kept_metadata = outcomes.shape.stored_metadata(target.table, last.instant)
    if kept_metadata is None:
        return None
    shown, why = dict[str, str](), ""
    try:
        rows = ask_writer.rows(outcomes, target, writer_for, kept_metadata.question)
        shown = {str(row[NAME]): str(row[VALUE]) for row in rows}
    except RefusedError as refused:
        why = refusals.text(refused.refusal)
    except (NoAnswerError, HarnessError) as problem:
        why = str(problem)
    return ExtraMetadata(
        _pairs(kept_metadata.stored, kept_metadata.own), _pairs(shown, kept_metadata.own), why
    )


def _pairs(of: Mapping[str, str], added: Collection[str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value) for name, value in of.items() if name not in added))
