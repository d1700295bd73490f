"""Which of somebody's tables can meet a cause of wrong answers. Pure.

>>> from harness.usage.usage_file import Usage, UsedTable
>>> mine = UsedTable("sales.orders", UsedFormat.HIVE_PARQUET)
>>> meets(Usage(1, "", "", (mine,)), Need(formats=frozenset({"hive-parquet"})))
('sales.orders',)
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.usage.usage_file import (
    Fact,
    OldFiles,
    SchemaChange,
    Usage,
    UsedChange,
    UsedFormat,
    UsedTable,
)


@dataclass(frozen=True, slots=True)
class Need:
    """What a table must be like to meet a cause; a field with its default rules no table out."""

    formats: frozenset[str] = frozenset()
    """The formats of the scenarios that show it, as profiles name them: any of these."""
    operation: str = ""
    """The operation since which it breaks, as steps name it: `rename_column`; files from before it
    must still be read. One that is no schema change (`insert`, `delete`, `compact` …) rules no
    table out."""
    table_versions: frozenset[str] = frozenset()
    """Any of these, as the format counts them."""
    partitioned: bool | None = None
    """Whether it must have partitions, or none."""
    views: frozenset[str] = frozenset()
    """The views of the cells that show it: `snapshot`, `read_optimized`, `base_name`; any."""
    features: frozenset[str] = frozenset()
    """The features that a table must have, all of them, as `usage.yaml` names them: `log-files`."""
    any_features: tuple[frozenset[str], ...] = ()
    """A table must have one feature of each set."""


def meets(usage: Usage, need: Need) -> tuple[str, ...]:
    """Return the names of the tables that can meet a cause, also those that cannot be ruled out."""
    return tuple(table.name for table in usage.tables if _answer(table, need) is not None)


def not_ruled_out(usage: Usage, need: Need) -> Mapping[str, str]:
    """Return the tables that may meet a cause, with the reason why they cannot be ruled out."""
    answers = {table.name: _answer(table, need) for table in usage.tables}
    return {name: f"cannot be ruled out: {why}" for name, why in answers.items() if why}


def _answer(table: UsedTable, need: Need) -> str | None:
    """Return None where a table cannot meet a cause, empty where it can, else what is unknown."""
    doubts = []
    for fact, answer in _answers(table, need):
        if answer is False:
            return None
        if answer is None:
            doubts.append(_unknown(table, fact))
    return "; ".join(dict.fromkeys(doubts))


def _answers(table: UsedTable, need: Need) -> Iterator[tuple[Fact, bool | None]]:
    """Yield for each fact whether it fits; None where that is unknown."""
    yield Fact.FORMAT, _fits_format(table, need)
    if need.views:  # the view of a Hudi entry depends on the type of its table
        fits = None if table.format is UsedFormat.HUDI else table.view in need.views
        yield Fact.FORMAT, fits
    if need.table_versions:
        fits = table.table_version in need.table_versions
        yield Fact.TABLE_VERSION, _known(table, Fact.TABLE_VERSION, fits=fits)
    if need.partitioned is not None:
        fits = table.partitioned is need.partitioned
        yield Fact.PARTITIONED, _known(table, Fact.PARTITIONED, fits=fits)
    if need.features:
        fits = need.features <= set(table.features)
        yield Fact.FEATURES, fits or _known(table, Fact.FEATURES, fits=False)
    for some in need.any_features:
        fits = not some.isdisjoint(table.features)
        yield Fact.FEATURES, fits or _known(table, Fact.FEATURES, fits=False)
    if need.operation in set(SchemaChange):
        yield Fact.SCHEMA_CHANGES, _changed(table, need)


def _known(table: UsedTable, fact: Fact, *, fits: bool) -> bool | None:
    return None if fact in table.unknown else fits


def _fits_format(table: UsedTable, need: Need) -> bool | None:
    if table.format is UsedFormat.VIEW:
        return False
    if not need.formats or table.format in need.formats:
        return _known(table, Fact.FORMAT, fits=True)
    is_hudi = table.format is UsedFormat.HUDI and any(e.startswith("hudi") for e in need.formats)
    return None if is_hudi or Fact.FORMAT in table.unknown else False


def _changed(table: UsedTable, need: Need) -> bool | None:
    """Return whether there was such a change; None where that is not known."""
    answers = [_fits(schema_change, need) for schema_change in table.schema_changes]
    if True in answers:
        return True
    return None if None in answers or Fact.SCHEMA_CHANGES in table.unknown else False


def _fits(change: UsedChange, need: Need) -> bool | None:
    if change.operation != need.operation or change.old_files is OldFiles.NO:
        return False
    return None if not change.sure or change.old_files is OldFiles.UNKNOWN else True


def _unknown(table: UsedTable, fact: Fact) -> str:
    why = table.unread or table.why
    if not why and fact is Fact.SCHEMA_CHANGES:
        why = "files do not tell a column that was renamed from one dropped and one added"
    return f"{fact.replace('_', ' ')} unknown{f' ({why})' if why else ''}"
