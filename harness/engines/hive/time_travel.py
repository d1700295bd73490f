"""HiveQL for a table's past: what was written to a Hudi table since an instant.

The settings choose files, in which there are older rows too, so a condition leaves those out. They
go by the name that the table itself knows, without database and ending (Hudi documentation,
"Incremental query" of Hive; notes of the engine).

Hive 3 is not asked for a table as it was. What the libraries have for it stands in no
documentation: Hudi's `hoodie.<table>.consume.commit` (apache/hudi#2809), of which its maintainers
say that it is no time travel (apache/hudi#6479), and Iceberg's `iceberg.mr.snapshot.id`
(`IcebergInputFormat` of 1.4.3).
"""

from __future__ import annotations

from typing import Final

from harness.engines.api import Question, TimeTravel, TimeTravelWords
from harness.model.commit import AS_OF, BRANCH, INCREMENTAL, TAG
from harness.model.identifiers import SINCE

_NOT_YET: Final = "Hive has no words for it before version 4"
_NO_NAMES: Final = "it has no words for a tag or a branch"
TIME_TRAVEL: Final[TimeTravel] = {
    ("hudi", INCREMENTAL): TimeTravelWords(
        "(select * from {table} where `_hoodie_commit_time` > '{instant}')", alias=SINCE
    ),
    ("hudi", AS_OF): _NOT_YET,
    ("iceberg", AS_OF): _NOT_YET,
    ("iceberg", TAG): _NO_NAMES,
    ("iceberg", BRANCH): _NO_NAMES,
}


def settings_before(question: Question) -> tuple[str, ...]:
    """Return the statements that a session needs before a question."""
    if question.past is None:
        return ()
    prefix = _prefix(question)
    return (
        f"{prefix}.mode=INCREMENTAL",
        f"{prefix}.start.timestamp={question.past.instant}",
        f"{prefix}.max.commits=-1",  # all writes since
    )


def settings_after(question: Question) -> tuple[str, ...]:
    """Return the statements that take those back."""
    return (f"{_prefix(question)}.mode=SNAPSHOT",) if question.past else ()


def _prefix(question: Question) -> str:
    return f"set hoodie.{question.table.partition('_')[0]}.consume"
