"""How readers are asked for the past of Delta tables.

What was written since a version comes from the change data feed (Delta documentation, "Use Delta
Lake change data feed"; Trino, "Delta Lake connector", "table_changes"). The feed lists changes, a
row once for each; the view shows the rows of now. So of each row the newest change counts, and the
row is shown unless that deleted it. A version that overwrites a row has a deletion of it as well,
and one that updates it the row of before: of the changes of one version the one that writes counts.

Spark names the first version of which it shows the changes, Trino the last one of which it does
not. Neither DuckDB's extension nor the SQL of delta-rs has words for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.engines.format_facts import TimeTravel, Wording
from harness.engines.time_travel import NEXT_VERSION, VERSION
from harness.model.commit import AS_OF, INCREMENTAL
from harness.model.identifiers import CHANGE_COLUMNS, SINCE, TABLE

_IN_SPARK: Final = "table_changes('{database}.{name}', {begin})"
_IN_TRINO: Final = (
    'table("delta".system.table_changes('
    "schema_name => '{database}', table_name => '{name}', since_version => {instant}))"
)
"""The catalog's name is that of the family (`engines.trino.connector_catalogs`)."""
_WRITES: Final = "_change_type in ('insert', 'update_postimage')"


def _newest(changes: str) -> Wording:
    """Return words for the newest change of each row."""
    newest = f"select {{key}}, max(_commit_version) from {changes} group by {{key}}"
    is_newest = f"({{key}}, _commit_version) in ({newest})"
    return Wording(f"(select * from {changes} where {_WRITES} and {is_newest})", alias=SINCE)


_WORDS: Final[Mapping[tuple[str, str], Wording | str]] = {
    ("spark", AS_OF): Wording("{table} version as of {instant}"),
    ("trino", AS_OF): Wording("{table} for version as of {instant}"),
    ("presto", AS_OF): Wording("{table}", suffix="@v{instant}"),
    ("duckdb", AS_OF): Wording("{table} at (version => {instant})"),
    # An argument of `DeltaTable`, which the worker makes of the name.
    ("deltalake", AS_OF): Wording("{table}", suffix="@v{instant}"),
    ("spark", INCREMENTAL): _newest(_IN_SPARK),
    ("trino", INCREMENTAL): _newest(_IN_TRINO),
}
"""Delta documentation, "Query an older snapshot of a table"; of Trino and PrestoDB, "Delta Lake
connector"; of DuckDB, "Delta Extension"; of delta-rs, "Loading a Table"."""


def _begin(library: str, table_version: str) -> str:  # noqa: ARG001 - the same in all
    return NEXT_VERSION


PAST: Final = TimeTravel(
    _WORDS,
    VERSION,
    _begin,
    CHANGE_COLUMNS,
    (
        "of the versions, oldest first:",
        f"in Spark: select version from (describe history {{database}}.{TABLE}) order by version",
    ),
)
