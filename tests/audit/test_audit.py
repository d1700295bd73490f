"""What is said of a table and of simulated readers that were asked about it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.audit.audit import AnswerJudge, TableTruth, among_readers, audit, statements
from harness.audit.comparison import TableDifferenceKind
from harness.audit.limits import AuditLimits
from harness.audit.records import AuditedAnswer, AuditedTable
from harness.audit.tables import PinnedTable, pinned
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.core.records import Column, Refusal, VerdictKind
from harness.engines.api import NoAnswerError, Question, RefusedError, Reply
from harness.model.query import ALL, Query
from harness.scenario.cells import Reader
from harness.usage.usage_file import UsedFormat, UsedTable
from tests.builders.delta_folder import DeltaFolder, add, metadata, protocol
from tests.builders.delta_folder import field as column

READER = Reader("duckdb-1.5.5")
NAMES = ("id", "name")
MIDNIGHT = datetime(2024, 1, 1)  # noqa: DTZ001 - canonical moments have no zone
RIGHT = [(1, "a"), (2, None), (3, "c")]


@dataclass
class SimulatedReader:
    """Shows given rows of every table, and answers what is asked of them."""

    rows: Sequence[tuple[Any, ...]] = ()
    names: Sequence[str] = NAMES
    error: Exception | None = None
    cannot: str = ""
    asked: list[Question] = field(default_factory=list)

    def __call__(self, *_: object) -> Any:  # noqa: ANN401 - stands for AuditReaders
        return self

    reader = None

    def serve(self, name: str) -> tuple[Any, Any]:
        del name
        engine = SimpleNamespace(cannot=lambda *_: self.cannot, fingerprint_words=lambda _: None)
        return engine, SimpleNamespace(connect=lambda _: self)

    def ask(self, question: Question, *, timeout_s: float) -> Reply:
        assert timeout_s
        self.asked.append(question)
        if self.error:
            raise self.error
        labels = question.query.labels(self.names)
        rows = tuple(question.query.answer(self.names, self.rows))
        return Reply(tuple(Column(name, "") for name in labels), rows, 0.1, "the SQL")

    def close(self) -> None:
        pass


@pytest.fixture
def table(tmp_path: Path) -> DeltaFolder:
    folder = DeltaFolder(tmp_path / "orders")
    first = folder.data("1.parquet", {"id": [9, 1], "name": ["gone", "a"]})
    second = folder.data("2.parquet", {"id": [2, 3], "name": [None, "c"]})
    vector = folder.vector("i", 0)
    folder.commit(
        protocol(3, "deletionVectors"), metadata(column("id", "long"), column("name", "string"))
    )
    folder.commit(add(first, vector=vector), add(second))
    return folder


def audited(table: DeltaFolder, reader: SimulatedReader) -> AuditedTable:
    (result,) = audit(tuple(pinned(str(table.path), ())), [READER], reader, Progress())
    return result


def of_query(result: AuditedTable, query: str) -> AuditedAnswer:
    return next(answer for answer in result.answers if answer.question == query)


def test_a_reader_that_shows_what_the_files_give_is_right(table: DeltaFolder) -> None:
    result = audited(table, SimulatedReader(RIGHT))
    assert (result.name, result.version, result.rows, result.files) == ("orders", "1", 3, 2)
    assert {answer.verdict for answer in result.answers} == {VerdictKind.CORRECT}
    assert [answer.question for answer in result.answers] == [
        "all columns",
        "count(*)",
        "rows where id is null",
        "rows where id = 3",
        "rows where name is null",
        "rows where name = c",
    ]


def test_a_wrong_value_is_shown_with_its_file_and_position(table: DeltaFolder) -> None:
    result = audited(table, SimulatedReader([(1, "a"), (2, None), (3, "x")]))
    answer = of_query(result, "all columns")
    assert answer.verdict is VerdictKind.WRONG
    (shown,) = answer.differences
    assert (shown.column, shown.expected, shown.actual) == ("name", "c", "x")
    assert (shown.file, shown.position) == ("2.parquet", 1)
    assert of_query(result, "count(*)").verdict is VerdictKind.CORRECT


def test_the_way_of_reading_that_gives_a_wrong_answer_is_named(table: DeltaFolder) -> None:
    result = audited(table, SimulatedReader([(9, "gone"), *RIGHT]))
    answer = of_query(result, "all columns")
    assert answer.read_as == ("no deletes",)
    assert answer.differences[0].kind is TableDifferenceKind.EXTRA_ROW
    count = of_query(result, "count(*)")
    assert count.read_as == ("no deletes",)
    (shown,) = count.differences
    assert (shown.expected, shown.actual) == ("3", "4")
    assert (shown.row, shown.file, shown.position) == ("", "", None)


def test_what_only_a_condition_loses_is_found(table: DeltaFolder) -> None:
    @dataclass
    class LosesNulls(SimulatedReader):
        def ask(self, question: Question, *, timeout_s: float) -> Reply:
            reply = super().ask(question, timeout_s=timeout_s)
            where = question.query.where
            lost = where is not None and where.path == "name" and not where.literal
            return Reply(reply.columns, () if lost else reply.rows, 0.1)

    result = audited(table, LosesNulls(RIGHT))
    wrong = [answer.question for answer in result.answers if answer.verdict is VerdictKind.WRONG]
    assert wrong == ["rows where name is null"]


def test_a_reader_that_refuses_a_table_is_asked_no_more_of_it(table: DeltaFolder) -> None:
    reader = SimulatedReader(error=RefusedError(Refusal("Unsupported", "vectors"), 0.1))
    result = audited(table, reader)
    assert [answer.verdict for answer in result.answers] == [VerdictKind.REFUSED] * 2
    assert {answer.because for answer in result.answers} == {"Unsupported: vectors"}
    assert len(reader.asked) == 2


def test_nobody_is_blamed_for_what_the_rules_of_a_format_leave_open(table: DeltaFolder) -> None:
    moments = DeltaFolder(table.path.parent / "moments")
    at = column("at", "timestamp")
    moments.commit(protocol(1), metadata(column("id", "long"), at, partition=["at"]))
    text = {"at": "2024-01-01 00:00:00"}
    moments.commit(add(moments.data("1.parquet", {"id": [1]}), text))
    right = audited(moments, SimulatedReader([(1, MIDNIGHT)], ("id", "at")))
    assert {answer.verdict for answer in right.answers} == {VerdictKind.CORRECT}
    other = audited(moments, SimulatedReader([(1, MIDNIGHT.replace(hour=8))], ("id", "at")))
    answer = of_query(other, "all columns")
    assert answer.verdict is VerdictKind.UNKNOWN
    assert "leave open" in answer.because
    assert answer.differences


def test_readers_that_differ_where_nothing_is_decided_are_told_from_those_that_agree() -> None:
    asked = "", ALL, ""
    unknown = AuditedAnswer(*asked, VerdictKind.UNKNOWN, "left open", total=1, digest="1")
    one, other = replace(unknown, reader="one"), replace(unknown, reader="other")
    assert among_readers([one, other]) == [one, other]
    third = replace(
        one, reader="third", verdict=VerdictKind.CORRECT, because="", total=0, digest=""
    )
    made = among_readers([one, other, third])
    assert {answer.verdict for answer in made} == {VerdictKind.UNKNOWN}
    why = "the readers differ: one and other, third each show something else"
    assert [answer.because for answer in made] == [*[f"left open; {why}"] * 2, why]


def test_no_answer_is_not_known(table: DeltaFolder) -> None:
    result = audited(table, SimulatedReader(error=NoAnswerError("it died")))
    (answer,) = result.answers
    assert (answer.verdict, answer.because) == (VerdictKind.UNKNOWN, "it died")


def test_a_reader_without_a_connector_is_not_asked(table: DeltaFolder) -> None:
    reader = SimulatedReader(cannot="it has no reader for delta tables")
    (answer,) = audited(table, reader).answers
    assert (answer.verdict, answer.because) == (VerdictKind.UNSUPPORTED, reader.cannot)
    assert reader.asked == []


def test_nothing_is_said_of_answers_about_a_table_that_went_on(table: DeltaFolder) -> None:
    @dataclass
    class Meanwhile(SimulatedReader):
        def ask(self, question: Question, *, timeout_s: float) -> Reply:
            if not self.asked:
                table.commit(add(table.data("3.parquet", {"id": [4], "name": ["d"]})))
            return super().ask(question, timeout_s=timeout_s)

    result = audited(table, Meanwhile(RIGHT))
    assert {answer.verdict for answer in result.answers} == {VerdictKind.UNKNOWN}
    assert result.answers[0].because == ("the table went on from 1 to 2 while readers were asked")


def test_a_table_that_cannot_be_read_hides_no_other(table: DeltaFolder) -> None:
    broken = DeltaFolder(table.path.parent / "broken")
    broken.commit(protocol(1), metadata(column("id", "long")))
    broken.commit(add("absent.parquet"))
    unread = UsedTable("hidden", UsedFormat.OTHER, unread="no rights")
    tables = (*pinned(str(broken.path), ()), *pinned(str(table.path), ()), unread)
    made = {one.name: one for one in audit(tables, [READER], SimulatedReader(RIGHT), Progress())}
    assert "absent.parquet" in made["broken"].problem
    assert (made["broken"].answers, made["hidden"].problem) == ((), "no rights")
    assert made["orders"].problem == ""


def test_a_version_of_the_past_has_the_rows_of_then(table: DeltaFolder) -> None:
    (newest,) = pinned(str(table.path), ())
    assert isinstance(newest, PinnedTable)
    assert len(PinnedTable(newest.table, "0").plan().files) == 0
    assert len(newest.plan().files) == 2


def test_an_error_of_the_harness_in_judging_is_its_own(
    table: DeltaFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = AnswerJudge.judge

    def judge(self: AnswerJudge, query: Query, reply: Reply) -> AuditedAnswer:
        if query.count:
            raise KeyError("a place that nobody thought of")
        return right(self, query, reply)

    monkeypatch.setattr(AnswerJudge, "judge", judge)
    result = audited(table, SimulatedReader(RIGHT))
    assert result.problem == ""
    unknown = [answer for answer in result.answers if answer.verdict is VerdictKind.UNKNOWN]
    assert [answer.question for answer in unknown] == ["count(*)"]
    assert unknown[0].because.startswith("this is a defect of the harness; nothing is known of")
    assert "nobody thought of" in unknown[0].because

    def queries(_: object) -> tuple[Query, ...]:
        raise IndexError("nor of this")

    monkeypatch.setattr(TableTruth, "queries", property(queries))
    whole = audited(table, SimulatedReader(RIGHT))
    assert whole.problem.startswith("this is a defect of the harness")


def test_a_machine_that_has_too_little_ends_the_audit(table: DeltaFolder) -> None:
    with pytest.raises(EnvironmentProblem):
        audited(table, SimulatedReader(error=EnvironmentProblem("the disk is full")))


def test_files_that_go_meanwhile_are_not_laid_to_the_reader(table: DeltaFolder) -> None:
    @dataclass
    class Meanwhile(SimulatedReader):
        def ask(self, question: Question, *, timeout_s: float) -> Reply:
            (table.path / "2.parquet").unlink(missing_ok=True)
            return super().ask(question, timeout_s=timeout_s)

    lost = RefusedError(Refusal("IOError", "no such file"), 0.1)
    result = audited(table, Meanwhile(RIGHT, error=lost))
    assert result.problem == "it changed while readers were asked: 2.parquet is gone"


def test_a_file_that_is_not_what_the_metadata_say_is_told_in_a_line(table: DeltaFolder) -> None:
    file = table.path / "2.parquet"
    first = add("1.parquet", vector=table.vector("i", 0))
    table.commit(first, {"add": {**add("2.parquet")["add"], "size": 7}})
    result = audited(table, SimulatedReader(RIGHT))
    size = file.stat().st_size
    (note,) = result.notes
    assert note.startswith(
        f"its metadata are broken: by them 2.parquet has 7 bytes, and it has {size:,};"
    )
    assert {answer.verdict for answer in result.answers} == {VerdictKind.CORRECT}
    file.write_bytes(b"no such thing")
    assert audited(table, SimulatedReader(RIGHT)).problem == (
        "2.parquet: it is no Parquet, ORC or Avro file"
    )
    table.data("2.parquet", {"id": ["x"], "name": ["c"]})
    assert audited(table, SimulatedReader(RIGHT)).problem.startswith(
        "2.parquet: id is string in it, and no int64"
    )


def test_large_tables_are_read_after_small_ones(tmp_path: Path) -> None:
    for name, rows in {"a": 900, "b": 1}.items():
        plain(tmp_path / name, x=list(range(rows)))
    tables = tuple(pinned(str(tmp_path), ()))
    names = [one.name for one in audit(tables, [READER], SimulatedReader(), Progress())]
    assert names == ["b", "a"]


def test_of_small_tables_two_are_asked_about_at_once(tmp_path: Path) -> None:
    both = Barrier(2, timeout=60)

    @dataclass
    class Waiting(SimulatedReader):
        def ask(self, question: Question, *, timeout_s: float) -> Reply:
            if question.query == ALL:
                both.wait()
            return super().ask(question, timeout_s=timeout_s)

    for name in ("a", "b"):
        plain(tmp_path / name, x=[1])
    reader = Waiting([(1, "x")], ("id", "p"))
    result = audit(tuple(pinned(str(tmp_path), ())), [READER], reader, Progress())
    assert [table.answers[0].verdict for table in result] == [VerdictKind.CORRECT] * 2


def test_what_was_audited_before_is_asked_about_once_it_changed(table: DeltaFolder) -> None:
    reader, before = SimulatedReader(RIGHT), audited(table, SimulatedReader(RIGHT))

    def again() -> AuditedTable:
        tables = tuple(pinned(str(table.path), ()))
        known = lambda _, identity: before if identity == before.identity else None  # noqa: E731
        (result,) = audit(tables, [READER], reader, Progress(), audited=known)
        return result

    assert again() is before
    assert reader.asked == []
    table.commit(add(table.data("3.parquet", {"id": [4], "name": ["d"]})))
    assert again().rows == 4
    assert reader.asked


def plain(path: Path, **rows: list[int]) -> None:
    for folder, values in rows.items():
        (path / f"p={folder}").mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"id": values}), path / f"p={folder}" / "1.parquet")


def test_a_plain_table_that_is_written_over_meanwhile_is_not_judged(tmp_path: Path) -> None:
    plain(tmp_path / "plain", a=[1], b=[2])

    @dataclass
    class Meanwhile(SimulatedReader):
        def ask(self, question: Question, *, timeout_s: float) -> Reply:
            plain(tmp_path / "plain", b=[2, 3])
            return super().ask(question, timeout_s=timeout_s)

    tables = tuple(pinned(str(tmp_path / "plain"), ()))
    (result,) = audit(tables, [READER], Meanwhile([(1, "a"), (2, "b")], ("id", "p")), Progress())
    assert {answer.because for answer in result.answers} == {
        "the table went on while readers were asked"
    }


def test_the_identity_of_a_table_is_that_of_another_process(tmp_path: Path) -> None:
    plain(tmp_path, **{name: [1] for name in "abcdefgh"})
    code = (
        "import sys; from harness.audit.plan_files import identity; "
        "from harness.audit.tables import pinned; "
        "print(identity(next(pinned(sys.argv[1], ())).plan()))"
    )
    identities = {
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(identities) == 1


def test_a_plain_table_that_is_written_over_is_another_one(tmp_path: Path) -> None:
    path = tmp_path / "plain"
    path.mkdir()

    def identity_with(values: list[int]) -> str:
        pq.write_table(pa.table({"id": values}), path / "1.parquet")
        (result,) = audit(tuple(pinned(str(path), ())), [READER], SimulatedReader(), Progress())
        return result.identity

    assert identity_with([1]) != identity_with([1, 2])


def test_what_would_be_sent_is_known_before(table: DeltaFolder) -> None:
    readers = [Reader("trino-476"), Reader("hive-3.1.3")]
    pins = tuple(pinned(str(table.path), ()))
    (name, reader, sent), (_, other, why) = statements(pins, readers, AuditLimits())
    from_ = 'from "delta"."audit_1"."t"'
    assert (name, reader, other) == ("orders", "trino-476", "hive-3.1.3")
    assert sent == (
        f"select * {from_}",
        f"select count(*) {from_}",
        f'select * {from_} where "id" is null',
        f'select * {from_} where "id" = 3',
        f'select * {from_} where "name" is null',
        f"select * {from_} where \"name\" = 'c'",
    )
    assert why == ("hive-3.1.3 has no library for delta tables",)
    (first, *asked) = next(statements(pins, readers, AuditLimits(fetched=2)))[2]
    assert first == f"select * {from_} limit 1"
    assert all(from_ in sql for sql in asked)
    assert ["md5" in sql for sql in asked] == [True, False, True, True, True, True]
    others = [Reader("polars-2.1.0"), Reader("prestodb-0.283")]
    (*_, whole), (*_, no_sums) = statements(pins, others, AuditLimits(fetched=2))
    assert len(whole) == 1 + len(asked)  # a library is asked for the rows themselves
    assert whole[1] == "pl.scan_delta(table('audit_1', 't')).collect()"
    assert no_sums == ("it has more than 2 rows, and cannot be asked for fingerprints",)


def test_why_nothing_would_be_sent_is_said(table: DeltaFolder) -> None:
    pins = tuple(pinned(str(table.path), ()))
    (table.path / "1.parquet").unlink()
    ((name, reader, why),) = statements(pins, [READER], AuditLimits())
    assert (name, reader) == ("orders", "")
    assert "1.parquet" in why[0]
