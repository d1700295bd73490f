"""How questions about the past name the writes of Hudi tables.

The kinds of begin of an incremental question follow from the library's version and the table's:

| library | table version | the begin is | source |
| --- | --- | --- | --- |
| any | up to 6 | the requested time of a write, exclusive | Hudi 0.15 documentation, `hoodie.datasource.read.begin.instanttime` |
| 1.0 | 8 | a time of completion, inclusive | the same of 1.0, "completion_time >= START_COMMIT"; apache/hudi#13982 |
| from 1.1 on | 8 and up | a time of completion, exclusive | apache/hudi#13982, #18954 |

For Hive's settings it is the requested time, exclusive: rows show that time in all versions.
"""  # noqa: E501 - a table

from __future__ import annotations

import re
from typing import Final

from harness.engines.format_facts import Timeline
from harness.engines.time_travel import COMPLETED, NEXT_COMPLETED, REQUESTED
from harness.formats.hudi import timeline

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


PAST: Final = Timeline(
    REQUESTED,
    begin,
    where=(
        "of those completed, by the last time in their names:",
        "{location}/.hoodie (or timeline in it) has files <requested>[_<completed>].<action>",
        f"of these actions: {', '.join(timeline.WRITES)}",
    ),
)
"""Where the moments of a table stand: Hudi's specification, "Timeline"."""
