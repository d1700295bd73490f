"""Records on disk are read on demand; a line that is none is reported."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from harness.core import jsonl
from harness.core.jsonl import ByKey, RecordFile, VerdictParts
from harness.core.records import (
    Answer,
    Attempt,
    Expected,
    Finding,
    FindingKind,
    Verdict,
    VerdictKind,
    Witness,
)

ANSWERS = tuple(Answer(f'a "{number}" ü/s{number}', "select 1") for number in range(5))


def failed(line: int, problem: ValueError) -> Exception:
    return LookupError(f"{line}: {problem}")


def written(folder: Path, *answers: Answer) -> Path:
    path = folder / "answers.jsonl"
    jsonl.write_all(path, answers)
    return path


def opened(path: Path) -> RecordFile[Answer]:
    return RecordFile(path, Answer, failed)


def test_every_whole_line_is_a_record_wherever_blocks_of_the_file_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, *ANSWERS)
    path.write_bytes(path.read_bytes() + b'{"case":"cut o')
    for block in (1, 7, 1000):
        monkeypatch.setattr(jsonl, "_BLOCK", block)
        records = opened(path)
        assert (*records,) == ANSWERS
        assert records[1:3] == ANSWERS[1:3]
        assert records[-1] == ANSWERS[-1]
        assert [*records.cases()] == [answer.case for answer in ANSWERS]


def test_the_last_record_of_each_case_is_copied_in_the_order_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = replace(ANSWERS[1], sql="select 2")
    path = written(tmp_path, *ANSWERS, again)
    with monkeypatch.context() as unread:
        unread.delattr(jsonl, "parse")
        opened(path).copy(path, [ANSWERS[3].case, "never asked", again.case])
    assert (*opened(path),) == (ANSWERS[3], again)
    assert [path.name for path in tmp_path.iterdir()] == [path.name]


def test_a_file_that_is_missing_has_no_records(tmp_path: Path) -> None:
    records = opened(tmp_path / "none")
    assert (len(records), [*records.cases()], [*records.containing(b"x")]) == (0, [], [])
    with pytest.raises(IndexError):
        records[0]


def test_only_what_is_looked_at_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, parse = list[bytes](), jsonl.parse

    def counted(kind: type[Answer], line: bytes) -> Answer:
        read.append(line)
        return parse(kind, line)

    tried = replace(ANSWERS[3], attempts=(Attempt("it timed out"),))
    path = written(tmp_path, *ANSWERS[:3], tried)
    monkeypatch.setattr(jsonl, "parse", counted)
    records = opened(path)
    answers = ByKey(records, records.cases)
    assert (ANSWERS[1].case in answers, len(answers), read) == (True, 4, [])
    assert [*records.containing(b'"attempts":[{')] == [tried]
    assert (answers[ANSWERS[1].case], answers[ANSWERS[1].case]) == (ANSWERS[1], ANSWERS[1])
    assert len(read) == 2


def test_a_file_that_another_one_replaced_is_read_as_it_was(tmp_path: Path) -> None:
    records = opened(written(tmp_path, *ANSWERS))
    written(tmp_path, ANSWERS[0])
    assert records[4] == ANSWERS[4]


def test_a_line_that_is_no_record_is_reported_by_its_number(tmp_path: Path) -> None:
    path = written(tmp_path, *ANSWERS[:2])
    path.write_bytes(path.read_bytes() + b'{"case":"bad","sql":1}\n{"sql":""}\n')
    records = opened(path)
    with pytest.raises(LookupError, match=r"^3: "):
        records[2]
    answers = ByKey(records, records.cases)
    for _ in range(2):  # nor is what was not found taken for nothing the next time
        with pytest.raises(LookupError, match=r"^4: "):
            len(answers)


def test_the_last_record_of_a_key_counts_where_the_first_one_stood(tmp_path: Path) -> None:
    last = replace(ANSWERS[0], sql="select 2")
    records = opened(written(tmp_path, *ANSWERS[:2], last))
    answers = ByKey(records, records.cases)
    assert dict(answers) == {ANSWERS[0].case: last, ANSWERS[1].case: ANSWERS[1]}
    assert [*answers] == [ANSWERS[0].case, ANSWERS[1].case]


def verdict(reader: str, value: object = 1) -> Verdict:
    """Return a verdict of which nothing is shared with another one."""
    at = Witness("1", "f1", "a", value)
    one = Verdict(
        f"v/{reader}", "mine", "v", 1, reader, "snapshot", "all", VerdictKind.WRONG,
        findings=(Finding(FindingKind.STALE, ("f1",), at, (at,)),),
        expected=Expected((("id", "string"), ("f1", "string")), (("1", value), ("2", "x"))),
    )  # fmt: skip
    return jsonl.parse(Verdict, jsonl.dump(one))


def test_what_readers_of_a_table_are_reported_is_retained_once() -> None:
    share, (one, other) = VerdictParts(), (verdict("a"), verdict("b"))
    first, second = share(one), share(other)
    assert (first, second) == (one, other)
    assert first.expected is second.expected
    assert first.findings is second.findings
    assert first.findings[0].witness is first.findings[0].witnesses[0]


def test_a_step_later_the_rows_that_stayed_are_retained_once() -> None:
    share = VerdictParts()
    first, second = share(verdict("a", 1)), share(verdict("a", 2))
    assert first.expected
    assert second.expected
    assert first.expected.rows[0] != second.expected.rows[0]
    assert first.expected.rows[1] is second.expected.rows[1]


def test_equal_numbers_of_several_types_stay_what_they_are() -> None:
    share = VerdictParts()
    numbers = (1, 1.0, True, Decimal(1), Decimal("1.00"))
    verdicts = [
        share(replace(verdict("a"), expected=Expected((), ((number,),)))) for number in numbers
    ]
    assert [repr(shared.expected.rows[0][0]) for shared in verdicts if shared.expected] == [
        repr(number) for number in numbers
    ]
