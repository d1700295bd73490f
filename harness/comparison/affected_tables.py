"""Which of somebody's own tables can meet what is worse, and what is wrong already. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from harness.comparison.regressions import Regression
from harness.core.records import Verdict, VerdictKind
from harness.model import past_views
from harness.run import causes
from harness.run.causes import OR, CauseKey
from harness.run.load_run import WRITE, Run
from harness.usage.usage_file import (
    BASE_NAME,
    READ_OPTIMIZED,
    SNAPSHOT,
    Usage,
    UsedFormat,
    UsedTable,
)
from harness.usage.weigh import Need, meets, not_ruled_out

PARTITIONED: Final = "partitioned"
_NOW: Final = frozenset({SNAPSHOT, READ_OPTIMIZED, BASE_NAME})
"""The views that are entries of a catalog; any table can be asked about its past."""


@dataclass(frozen=True, slots=True)
class AffectedTables:
    """The tables that can meet a cause."""

    tables: tuple[str, ...]
    unsure: Mapping[str, str]
    """Those of them that can only not be ruled out, with the reason."""

    def __bool__(self) -> bool:
        return bool(self.tables)


def affected_tables(cause: Regression, run: Run, usage: Usage) -> AffectedTables:
    """Return the tables that can meet a cause of what is worse; `run`: of the new side."""
    return _affected(cause.key, [pair.either for pair in cause.pairs], run, usage)


def wrong_today(run: Run, usage: Usage) -> tuple[tuple[CauseKey, AffectedTables], ...]:
    """Return each cause of wrong answers in a run that tables can meet; `run`: of the old side."""
    affected = (
        (cause.key, _affected(cause.key, cause.verdicts, run, usage))
        for cause in causes.causes(run.verdicts, run)
        if cause.key.symptom.kind is VerdictKind.WRONG
    )
    return tuple((key, tables) for key, tables in affected if tables)


def not_covered(run: Run, usage: Usage) -> Mapping[str, str]:
    """Return the tables that are like none that was asked about, each with what was never asked."""
    versions = _asked_versions(run)
    operations = {step.operation for variant in run.info.variants for step in variant.steps}
    reasons = {table.name: _never_asked(table, versions, operations) for table in usage.tables}
    reasons |= {f"{name}.*": f"they were not listed: {why}" for name, why in usage.unlisted.items()}
    return {name: reason for name, reason in reasons.items() if reason}


def _asked_versions(run: Run) -> Mapping[str, set[str]]:
    """Return the versions of the tables of each format that readers were asked about."""
    versions: dict[str, set[str]] = {}
    for verdict in run.verdicts:
        if verdict.verdict is not VerdictKind.UNKNOWN:
            of_format = versions.setdefault(run.variant(verdict.variant).format, set())
            of_format |= _versions([verdict], run)
    return versions


def _never_asked(table: UsedTable, versions: Mapping[str, set[str]], operations: set[str]) -> str:
    if table.format is UsedFormat.VIEW:
        return ""
    if table.unread:
        return f"it could not be read: {table.unread}"
    if table.format not in versions:
        return f"no question was about {table.format} tables"
    if table.table_version and table.table_version not in versions[table.format]:
        return f"no question was about {table.format} tables of version {table.table_version}"
    lacking = {str(change.operation) for change in table.schema_changes} - operations
    return f"no question was about {', '.join(sorted(lacking))}" if lacking else ""


def _affected(key: CauseKey, verdicts: Sequence[Verdict], run: Run, usage: Usage) -> AffectedTables:
    tables: dict[str, None] = {}
    unsure: dict[str, str] = {}
    for operation in key.operation.split(OR):
        need = _need(operation, verdicts, run)
        tables |= dict.fromkeys(meets(usage, need))
        unsure |= not_ruled_out(usage, need)
    return AffectedTables(
        tuple(tables), {name: why for name, why in unsure.items() if name in tables}
    )


def _need(operation: str, verdicts: Sequence[Verdict], run: Run) -> Need:
    """Return what a table must be like: as those in which it was seen.

    Only what can be left out without a doubt is: all that showed it have partitions, say.
    """
    variants = [run.variant(name) for name in dict.fromkeys(v.variant for v in verdicts)]
    views = {past_views.name_of(verdict.view) for verdict in verdicts} - {WRITE}
    partitioned = all(PARTITIONED in variant.settings for variant in variants)
    return Need(
        formats=frozenset(variant.format for variant in variants),
        operation=operation,
        table_versions=_versions(verdicts, run),
        partitioned=True if partitioned else None,
        views=frozenset(views) if views <= _NOW else frozenset(),
    )


def _versions(verdicts: Iterable[Verdict], run: Run) -> frozenset[str]:
    """Return the versions of the tables that show it; none where one is not known."""
    states = (run.by_step.get((verdict.variant, verdict.step)) for verdict in verdicts)
    versions = {state.table_version if state else "" for state in states}
    return frozenset() if "" in versions else frozenset(versions)
