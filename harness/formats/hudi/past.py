"""How readers are asked for the past of Hudi tables.

The kinds of begin of an incremental question follow from the library's version and the table's:

| library | table version | the begin is | source |
| --- | --- | --- | --- |
| any | up to 6 | the requested time of a write, exclusive | Hudi 0.15 documentation, `hoodie.datasource.read.begin.instanttime` |
| 1.0 | 8 | a time of completion, inclusive | the same of 1.0, "completion_time >= START_COMMIT"; apache/hudi#13982 |
| from 1.1 on | 8 and up | a time of completion, exclusive | apache/hudi#13982, #18954 |

For Hive's settings it is the requested time, exclusive: rows show that time in all versions.

Hive 3 is not asked for a table as it was. What the library has for it stands in no documentation:
`hoodie.<table>.consume.commit` (apache/hudi#2809), of which its maintainers say that it is no time
travel (apache/hudi#6479).
"""  # noqa: E501 - a table

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from harness.engines.format_facts import TimeTravel, Wording
from harness.engines.time_travel import COMPLETED, NEXT_COMPLETED, REQUESTED
from harness.formats.hudi import timeline
from harness.model.commit import AS_OF, INCREMENTAL
from harness.model.identifiers import SINCE

_CONSUME: Final = "set hoodie.{entry}.consume"
_WORDS: Final[Mapping[tuple[str, str], Wording | str]] = {
    ("spark", AS_OF): Wording("{table} timestamp as of '{instant}'"),
    ("spark", INCREMENTAL): Wording(
        "hudi_table_changes('{database}.{name}', 'latest_state', '{begin}')"
    ),
    # The settings choose files, in which there are older rows too; -1 is for all writes since.
    ("hive", INCREMENTAL): Wording(
        "(select * from {table} where `_hoodie_commit_time` > '{instant}')",
        (
            f"{_CONSUME}.mode=INCREMENTAL",
            f"{_CONSUME}.start.timestamp={{instant}}",
            f"{_CONSUME}.max.commits=-1",
        ),
        (f"{_CONSUME}.mode=SNAPSHOT",),
        alias=SINCE,
    ),
    ("hive", AS_OF): "Hive has no words for it before version 4",
    ("presto", AS_OF): "its connectors have no words for it",
    ("trino", AS_OF): "its connector has no words for it",
}
"""Hudi documentation, "SQL Queries", and "Incremental query" of Hive. Settings of Hive go by the
name that the table itself knows, without database and ending (engines notes)."""
_EXCLUSIVE_SINCE: Final = (1, 1)
_COMPLETION_SINCE: Final = 8


def begin(library: str, table_version: str) -> str:
    """Return what the begin of an incremental question that means all writes after one names of it.

    >>> begin("0.15.0", "6"), begin("1.2.0", "9")
    ('when the write of step {step} was requested', 'when the write of step {step} was completed')
    """
    if int(table_version) < _COMPLETION_SINCE:
        return REQUESTED
    return COMPLETED if _release(library) >= _EXCLUSIVE_SINCE else NEXT_COMPLETED


def _release(version: str) -> tuple[int, int]:
    major, minor = re.findall(r"\d+", version)[:2]
    return int(major), int(minor)


PAST: Final = TimeTravel(
    _WORDS,
    REQUESTED,
    begin,
    where=(
        "of those completed, by the last time in their names:",
        "{location}/.hoodie (or timeline in it) has files <requested>[_<completed>].<action>",
        f"of these actions: {', '.join(timeline.WRITES)}",
    ),
)
"""Where the moments of a table stand: Hudi's specification, "Timeline"."""
