"""How engines are asked for the past of Iceberg tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.engines.format_facts import TimeTravel, Wording
from harness.engines.time_travel import SNAPSHOT
from harness.model.commit import AS_OF, BRANCH, TAG
from harness.model.identifiers import TABLE

_NO_NAMES: Final = "it has no words for a tag or a branch"
_BY_NAME: Final[Mapping[str, Wording | str]] = {
    "spark": Wording("{table} version as of '{instant}'"),
    "trino": Wording("{table} for version as of '{instant}'"),
    "pyiceberg": Wording(".use_ref('{instant}')"),
    "hive": _NO_NAMES,
    "presto": _NO_NAMES,
}
PAST: Final = TimeTravel(
    {
        **{(engine, view): words for view in (TAG, BRANCH) for engine, words in _BY_NAME.items()},
        ("spark", AS_OF): Wording("{table} version as of {instant}"),
        ("trino", AS_OF): Wording("{table} for version as of {instant}"),
        ("pyiceberg", AS_OF): Wording("snapshot_id={instant}"),  # an argument of `Table.scan`
        ("hive", AS_OF): "Hive has no words for it before version 4",
        # NOT_FOUND, `t@<snapshot>` of `HiveTableOperations`: the metastore is asked for all.
        ("presto", AS_OF): "it finds no table with a snapshot in its name (seen on 0.283)",
    },
    SNAPSHOT,
    where=(
        "of the snapshots, oldest first:",
        f"in Spark: select snapshot_id from {{database}}.{TABLE}.snapshots order by committed_at",
    ),
)
"""Iceberg documentation, "Spark Queries", "Branching and Tagging" and "Inspecting tables"; Trino
documentation, "Iceberg connector"; PyIceberg's `TableScan.use_ref`. What its library has for
Hive 3 stands in no documentation: `iceberg.mr.snapshot.id` (`IcebergInputFormat` of 1.4.3)."""
