"""What the HTML report shows of a variant: its steps, and the files that each of them left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from harness.core.outcomes import word
from harness.model.file_facts import FileFact
from harness.model.simulation.column_resolution import META
from harness.reports.file_numbers import number_files
from harness.reports.html_cells import JsonValue, Pool, refusal
from harness.run.load_run import Run
from harness.run.run_info import VariantInfo

CREATE: Final = "create_table"
"""What the page calls the first step."""


def variant_data(
    run: Run,
    variant: VariantInfo,
    numbers: Iterable[int],
    instants: Mapping[str, int],
    pool: Pool,
) -> JsonValue:
    """Return what the page shows of a variant.

    Args:
        run: what was recorded.
        variant: of its plan.
        numbers: of the steps.
        instants: the step that made each instant.
        pool: gets what is shared.

    """
    return {
        "id": variant.id,
        "scenario": variant.scenario,
        "format": variant.format,
        "settings": dict(variant.settings),
        "writers": list(dict.fromkeys(variant.writers)),
        "twin": variant.twin,
        "about": variant.about,
        "source": variant.source,
        "yaml": pool.add(run.info.scenarios.get(variant.id, "")),
        "created": _step(run, variant, 0, instants, pool),
        "steps": [_step(run, variant, number, instants, pool) for number in sorted(numbers)],
    }


def _step(
    run: Run, variant: VariantInfo, number: int, instants: Mapping[str, int], pool: Pool
) -> JsonValue:
    step = variant.step(number)
    state = run.by_step.get((variant.id, number))
    outcome = state.outcome if state else None
    return {
        "number": number,
        "text": step.text,
        "operation": step.operation if number else CREATE,
        "quiet": step.quiet,
        "changes": step.changes_schema,
        "outcome": word(outcome) if outcome else "",
        "because": outcome.because if outcome else "",
        "refusal": refusal(outcome.refusal, pool) if outcome else 0,
        "instant": outcome.instant if outcome else "",
        "statements": pool.add(list(outcome.statements) if outcome else []),
        "files": pool.add(_files(state.files if state else (), instants, pool)),
    }


def _files(files: Sequence[FileFact], instants: Mapping[str, int], pool: Pool) -> list[JsonValue]:
    """Return a state's files, the one numbered 1 first. Most were there a step before."""
    return [
        pool.add(_file(fact, instants.get(fact.instant), pool))
        for fact in number_files(files, instants).facts
    ]


def _file(fact: FileFact, step: int | None, pool: Pool) -> JsonValue:
    return {
        "path": fact.path,
        "kind": str(fact.kind),
        "group": fact.file_group,
        "instant": fact.instant,
        "step": step,
        "columns": pool.add([list(c) for c in fact.columns if c[0] not in META]),
        "meta": sum(name in META for name, _ in fact.columns),
        "keys": list(fact.keys),
        "deleted": list(fact.deleted),
    }
