"""Files that a writer spoilt, and answers that show timestamps as declared tolerances allow."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from harness.core.records import Verdict
from harness.model.canonical import Value
from tests.builders.judged_story import case_of, judged
from tests.builders.simulated_disk import File
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import Story, history
from tests.builders.traced_answer import Files, read

Record = dict[str, Value]
COLUMNS = "id string, ts long, n int, f1 string"
ZONELESS = "id string, ts long, at timestamp_ntz, s struct<at: timestamp_ntz, timestamp: timestamp>"
ONE = {"at": "timestamp", "s": "struct<at: timestamp, timestamp: timestamp>"}


def touched() -> Story:
    return history("insert 1..3; update 1 set f1; touch some")


def spoilt_rows(change: Callable[[str, Record], Record | None], *, step: int = 0) -> Files:

    def spoilt(file: File) -> File:
        changed = {key: change(str(key), dict(row)) for key, row in file.records.items()}
        remaining = {key: row for key, row in changed.items() if row is not None}
        return replace(file, records=remaining) if file.step >= step else file

    return spoilt


def empty_f1(key: str, row: Record) -> Record:
    return {**row, "f1": None} if key == "1" else row


def verdicts_on(
    story: Story, files: Files | None, *replies: Reply, looked_at: bool = True
) -> tuple[Verdict, ...]:
    return judged(case_of(story, files, looked_at=looked_at), replies)


def shown_as_filed(story: Story, files: Files) -> Reply:
    return read(story, files=files).reply


def spelled(_: str, row: Record) -> Record:
    return {**row, "n": f"{row['n']}.0"}


def cut(value: Value) -> Value:
    return value and value.replace(microsecond=value.microsecond // 1000 * 1000)


def typed(story: Story, types: Mapping[str, str], *, ours: bool = True) -> Reply:
    """Return the right answer with other column types: canonical ones, or the engine's own."""
    reply = story.read()
    columns = tuple(
        replace(column, type=types[column.name], canonical=types[column.name] if ours else "")
        if column.name in types
        else column
        for column in reply.columns
    )
    return Reply(columns, reply.rows)
