"""Spark's SQL for a table's past.

Source: Iceberg documentation, "Spark Queries" and "Branching and Tagging"; Delta documentation,
"Query an older snapshot of a table"; Hudi documentation, "SQL Queries".
"""

from __future__ import annotations

from typing import Final

from harness.engines.api import TimeTravel, TimeTravelWords
from harness.engines.query_sql import newest_changes
from harness.model.commit import AS_OF, BRANCH, INCREMENTAL, TAG

_BY_VERSION: Final = TimeTravelWords("{table} version as of {instant}")
_BY_NAME: Final = TimeTravelWords("{table} version as of '{instant}'")
TIME_TRAVEL: Final[TimeTravel] = {
    ("iceberg", AS_OF): _BY_VERSION,
    ("iceberg", TAG): _BY_NAME,
    ("iceberg", BRANCH): _BY_NAME,
    ("delta", AS_OF): _BY_VERSION,
    ("delta", INCREMENTAL): newest_changes("table_changes('{database}.{name}', {begin})"),
    ("hudi", AS_OF): TimeTravelWords("{table} timestamp as of '{instant}'"),
    ("hudi", INCREMENTAL): TimeTravelWords(
        "hudi_table_changes('{database}.{name}', 'latest_state', '{begin}')"
    ),
}
