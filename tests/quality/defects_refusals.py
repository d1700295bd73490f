"""Planted readers that answer with an error, or not at all: verdicts of their own, never a pass."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from harness.core.records import Answer, FindingKind, Part, Refusal, Verdict, VerdictKind
from harness.core.refusals import INTERNAL, OTHER_LIST, OTHER_TYPE
from harness.judge.verdicts import judge
from tests.builders import random_story
from tests.builders.columns_alone import HEADS, KEY, Spoil, spoilt
from tests.builders.judged_story import case_without_values, cell_at, judged_answer
from tests.builders.table_story import Story

LOST: Final = "connection lost"
LATE: Final = "time-out after 120 s"
TEXTS: Final[Mapping[str, tuple[Refusal, str]]] = {
    "refused: internal error": (
        Refusal("GENERIC_INTERNAL_ERROR", "io.trino.spi.type.VarcharType"),
        OTHER_TYPE,
    ),
    "refused: another type than the table's": (
        Refusal(
            "HIVE_PARTITION_SCHEMA_MISMATCH",
            "The column f1 of table t is declared as type string, but the Parquet file (f) "
            "declares the column as type INT64",
        ),
        OTHER_TYPE,
    ),
    "refused: another type in the catalog's partition": (
        Refusal(
            "HIVE_PARTITION_SCHEMA_MISMATCH",
            "There is a mismatch between the table and partition schemas. The column 'f1' in "
            "table 't' is declared as type 'double', but partition 'p=1' declared column 'f1' as "
            "type 'int'.",
        ),
        OTHER_LIST,
    ),
    "refused: a type that the file's column cannot have": (
        Refusal(
            "NOT_SUPPORTED",
            "Unsupported Trino column type (bigint) for Parquet column ([f1] optional binary f1)",
        ),
        OTHER_TYPE,
    ),
    "refused: a changed struct": (
        Refusal(
            "SparkUnsupportedOperationException",
            "[Required: group f] cannot be read in vectorized mode",
        ),
        "the vectorised reader cannot read changed structs",
    ),
    "refused: the server met an error in itself": (
        Refusal(INTERNAL, "com.fasterxml.jackson.databind.JsonMappingException: no", code="500"),
        "an internal error of the server, each time that it was asked",
    ),
    "refused: another type in the file": (
        Refusal("HIVE_BAD_DATA", "Field f1's type INT64 in parquet file is incompatible"),
        "",
    ),
    "refused: no such column": (Refusal("COLUMN_NOT_FOUND", "f1"), ""),
    "refused: a cast that fails": (
        Refusal("ClassCastException", "IntWritable cannot be cast to LongWritable"),
        "",
    ),
}
"""What an engine says, and what that means; nothing where its text does not tell."""


def _refused(refusal: Refusal) -> Callable[[Story, Answer], Answer]:
    return lambda story, answer: replace(answer, refusal=refusal)


def _unknown(why: str) -> Callable[[Story, Answer], Answer]:
    return lambda story, answer: replace(answer, unknown=why)


def _in_parts(story: Story, answer: Answer) -> Answer:
    reply = story.read()
    parts = tuple(
        Part(name, "select", refusal=Refusal("TYPE_MISMATCH", "no"))
        if name != story.history[0].table.key
        else Part(name, "select", reply.columns[at : at + 1], tuple((r[at],) for r in reply.rows))
        for at, name in enumerate(reply.names)
    )
    return replace(answer, refusal=Refusal("TYPE_MISMATCH", "no"), parts=parts)


def _crash_in_parts(story: Story, answer: Answer) -> Answer:
    """Let the columns be asked alone after a refusal, and the engine die midway."""
    refused = _in_parts(story, answer)
    middle = len(refused.parts) // 2
    dead = [Part(part.column, "select", unknown=LOST) for part in refused.parts]
    return replace(refused, parts=(*refused.parts[:middle], *dead[middle:]))


def _with_head(spoil: Spoil) -> Callable[[Story, Answer], Answer]:
    """Let one of the columns asked alone come with another head than it was asked for."""

    def answered(story: Story, answer: Answer) -> Answer:
        parts = spoilt(story.read(), spoil, *_spoilt_columns(story))
        return replace(answer, refusal=Refusal("TYPE_MISMATCH", "no"), parts=parts)

    return answered


def _spoilt_columns(story: Story) -> tuple[str, str]:
    """Return the column whose part has another head, and another one that it may be called by."""
    *_, middle, last = (name for name in story.truth.schema.names if name != KEY)
    return middle, last


ALONE: Final = {f"refused: in parts, one {name}": spoil for name, spoil in HEADS.items()}
REFUSALS: Final[Mapping[str, tuple[Callable[[Story, Answer], Answer | None], VerdictKind, str]]] = {
    **{
        name: (_refused(refusal), VerdictKind.REFUSED, means)
        for name, (refusal, means) in TEXTS.items()
    },
    "refused: in every column but the key": (_in_parts, VerdictKind.REFUSED, ""),
    "refused: crash midway in the columns asked alone": (_crash_in_parts, VerdictKind.REFUSED, ""),
    **{name: (_with_head(spoil), VerdictKind.REFUSED, "") for name, spoil in ALONE.items()},
    "unknown: crash midway": (_unknown(LOST), VerdictKind.UNKNOWN, LOST),
    "unknown: no answer in time": (_unknown(LATE), VerdictKind.UNKNOWN, LATE),
    "unknown: did not run": (lambda story, answer: None, VerdictKind.UNKNOWN, "did not run"),
}
"""What is answered, the verdict on it, and what the verdict says why."""


def right(name: str, seed: int) -> bool:
    story = random_story.story_of_seed(seed)
    cell = cell_at(story)
    answer, expected, because = REFUSALS[name]
    given = answer(story, Answer(cell.case, "select"))
    (verdict,) = judge(case_without_values(story), [cell], {cell.case: given} if given else {})
    # Where the files tell which way of reading meets another type, it is named first.
    named = because == OTHER_TYPE and verdict.because.startswith("read by ")
    why = verdict.because.partition(": ")[2] if named else verdict.because
    same = verdict.verdict is expected and not verdict.reproduces and why == because
    return same and (name not in ALONE or _as_whole(story, ALONE[name], verdict))


def _as_whole(story: Story, spoil: Spoil, verdict: Verdict) -> bool:
    """Return whether a head is found, under the names that it has in a whole answer."""
    whole = judged_answer(story, spoil(story.read(), *_spoilt_columns(story)))
    return bool(_heads(verdict)) and _heads(verdict) == _heads(whole)


def _heads(verdict: Verdict) -> set[tuple[FindingKind, str]]:
    wrong = ((finding.kind, place) for finding in verdict.findings for place in finding.witnesses)
    return {(kind, place.column) for kind, place in wrong if place.column and not place.key}
