"""The SQL of the Trino family for a table's past.

Source: manual of Trino, "Iceberg connector", "Delta Lake connector", "table_changes"; of PrestoDB,
"Delta Lake connector". The catalogs are called by the families (`connector_catalogs`).
"""

from __future__ import annotations

from typing import Final

from harness.artifacts.distribution import Distribution
from harness.engines.api import TimeTravel, TimeTravelWords
from harness.engines.query_sql import newest_changes
from harness.model.commit import AS_OF, BRANCH, INCREMENTAL, TAG

_IN_NAME: Final = TimeTravelWords("{table}", suffix="@{instant}")
_NO_NAMES: Final = "it has no words for a tag or a branch"
TRINO: Final[TimeTravel] = {
    ("iceberg", AS_OF): TimeTravelWords("{table} for version as of {instant}"),
    ("iceberg", TAG): TimeTravelWords("{table} for version as of '{instant}'"),
    ("iceberg", BRANCH): TimeTravelWords("{table} for version as of '{instant}'"),
    ("delta", AS_OF): TimeTravelWords("{table} for version as of {instant}"),
    ("delta", INCREMENTAL): newest_changes(
        'table("delta".system.table_changes('
        "schema_name => '{database}', table_name => '{name}', since_version => {instant}))"
    ),
    ("hudi", AS_OF): "its connector has no words for it",
}
PRESTO: Final[TimeTravel] = {
    # NOT_FOUND, `t@<snapshot>` of `HiveTableOperations`: the metastore is asked for all.
    ("iceberg", AS_OF): "it finds no table with a snapshot in its name (seen on 0.283)",
    ("iceberg", TAG): _NO_NAMES,
    ("iceberg", BRANCH): _NO_NAMES,
    ("delta", AS_OF): TimeTravelWords("{table}", suffix="@v{instant}"),
    ("hudi", AS_OF): "its connectors have no words for it",
}


def of_version(words: TimeTravel, distribution: Distribution) -> TimeTravel:
    """Return the words of a version.

    Lock data call by `snapshot_in_name` the families whose tables have a snapshot's id in their
    name, because this version has no words for it.
    """
    named = distribution.texts_if_any("snapshot_in_name")
    return {**words, **{(family, AS_OF): _IN_NAME for family in named}}
