"""Why Hudi refused a write, where only the log of its process says so. Pure.

A record that cannot be written does not end Hudi's write: the write handle logs why, and what
fails at the end is the whole statement, with an exception that has no cause (Hudi 0.15.0 and 1.x:
`HoodieCreateHandle.doWrite`, `InsertIntoHoodieTableCommand.run`, `MergeIntoHoodieTableCommand`,
`DefaultSource.createRelation`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from harness.core.records import Refusal
from harness.engines.spark.worker import MAX_TEXT

SAYS_NOTHING: Final = frozenset(
    {
        "Insert Into to Hudi table failed",
        "Merge into Hoodie table command failed",
        "Failed to write to Hudi",
    }
)
"""What Hudi throws after it logged at least one record that it could not write."""

_EVENT: Final = re.compile(r"^(?=\d\d/\d\d/\d\d \d\d:\d\d:\d\d [A-Z]+ )", re.MULTILINE)
"""Where Spark's own layout begins an event: `%d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n%ex`."""
_RECORD: Final = re.compile(r"\S+ \S+ ERROR Hoodie\w*Handle: Error writing record\b")
_THROWN: Final = re.compile(r"^(?:Caused by: )?((?:[\w$]+\.)+[\w$]+(?:: .*)?)$", re.MULTILINE)


def explained(refusal: Refusal, log: str) -> Refusal:
    """Return a refusal with the innermost cause that the log names for it, where it has none.

    `log`: all that the process logged from before the statement until its refusal. Other
    statements may have run meanwhile; one cause must be this one's, of several none is claimed.
    """
    if refusal.cause or refusal.message not in SAYS_NOTHING:
        return refusal
    causes = tuple(dict.fromkeys(filter(None, map(_cause, _EVENT.split(log)))))
    several = "one or more of: " if len(causes) > 1 else ""
    return replace(refusal, cause=(several + "; ".join(causes))[:MAX_TEXT])


def _cause(event: str) -> str:
    """Return the innermost exception of an event that tells of a record, `class: message`."""
    thrown = _THROWN.findall(event) if _RECORD.match(event) else []
    return str(thrown[-1]) if thrown else ""
