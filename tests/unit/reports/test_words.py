import datetime
import decimal
from typing import Any

import pytest

from harness.core.records import (
    Finding,
    FindingKind,
    Origin,
    Refusal,
    Responsible,
    VerdictKind,
    Witness,
)
from harness.core.texts import printable
from harness.model.simulation.strategies import ColumnMapping, IncrementalRange, Logs, ReadStrategy
from harness.reports.findings import FINDINGS, engine_text, finding_text, witness_text
from harness.reports.words import (
    LITTLE,
    STRATEGIES,
    VERDICTS,
    exact,
    kind_of,
    mapping_text,
    refusal_text,
    short,
    strategy_text,
)


def test_each_verdict_and_each_finding_has_a_word() -> None:
    assert set(VERDICTS) == set(VerdictKind)
    assert set(FINDINGS) == set(FindingKind)


def test_no_two_words_look_alike_and_all_fit_a_narrow_column() -> None:
    words = [*VERDICTS.values(), *FINDINGS.values()]
    assert len({word.short for word in words}) == len(words)
    assert len({word.symbol for word in words}) == len(words)
    assert max(len(word.short) for word in words) <= 8


def test_no_digit_of_a_value_is_dropped() -> None:
    values = [7.0, -0.0, decimal.Decimal("12.50"), (1.0, "NULL", None), {"a": decimal.Decimal(1)}]
    assert [*map(exact, values)] == ["7.0", "-0.0", "12.50", "[1.0, 'NULL', NULL]", "{a: 1}"]


def test_a_long_text_is_cut_with_a_mark_and_stands_on_one_line() -> None:
    assert short("a\n b" + "c" * 200, longest=6) == "a bcc…"


@pytest.mark.parametrize("text", ["\x1b[31m", "\u202e", "\x00", "\ud800"])
def test_what_could_command_a_terminal_or_hide_is_written_out(text: str) -> None:
    assert printable(text).isascii()
    assert printable(text).startswith("\\")


def test_values_that_look_alike_are_told_apart_by_their_kind() -> None:
    same = [1, 1.0, True, "1", decimal.Decimal(1)]
    assert len({kind_of(value) for value in same}) == len(same)
    when = datetime.datetime(2024, 2, 29)  # noqa: DTZ001 - canonical timestamps have no zone
    assert (kind_of(when), kind_of(when.date())) == ("timestamp", "date")


@pytest.mark.parametrize("by", list(ColumnMapping))
@pytest.mark.parametrize("logs", list(Logs))
def test_every_part_of_every_way_of_reading_is_explained(by: ColumnMapping, logs: Logs) -> None:
    names = "listed", "stored", "cast", "cut", "overlaid", "rekeyed", "partless", "table_order"
    does: list[dict[str, Any]] = [{"pruned": ColumnMapping.NAME}, *({name: True} for name in names)]
    does += [
        {"incremental": incremental_range}
        for incremental_range in IncrementalRange
        if incremental_range is not IncrementalRange.SINCE
    ]
    more = (ReadStrategy(by, logs, **doe) for doe in does)
    for strategy in (ReadStrategy(by, logs), ReadStrategy(by, logs, 3), *more):
        sentences = strategy_text(str(strategy)).split("; ")
        assert len(sentences) == len(set(sentences)) == len(str(strategy).split(", "))
        assert set(sentences) <= set(STRATEGIES.values())


F2 = Origin(4, "f2", 1, "1")
F1 = Origin(3, "f1", 1, "1")
DROPPED = Origin(5, "g", 1, "1")
RESURRECTED = "in row 1, g shows 7, the value of the dropped column g written at step 1; expected 8"


@pytest.mark.parametrize(
    ("kind", "witness", "text"),
    [
        (
            FindingKind.MISALIGNED,
            Witness("1", "f1", "f3s1r1", "f4s1r1", F2),
            "in row 1, f1 shows 'f4s1r1', the value of f2 written at step 1; expected 'f3s1r1'",
        ),
        (
            FindingKind.MISALIGNED,
            Witness("2", "f1", 0, "s4r1", F2),
            "in row 2, f1 shows 's4r1', the value of f2 of row 1 written at step 1; expected 0",
        ),
        (FindingKind.RESURRECTED, Witness("1", "g", 8, 7, DROPPED), RESURRECTED),
        (
            FindingKind.STALE,
            Witness("1", "f1", "f3s4r1", "f3s1r1", F1),
            "in row 1, f1 shows 'f3s1r1', the old value written at step 1; expected 'f3s4r1'",
        ),
        (
            FindingKind.STALE,
            Witness("1", "a.city", None, "city"),
            "column a.city should not be in the answer, or is there twice",
        ),
        (
            FindingKind.PREMATURE,
            Witness("1", "f1", "f3s1r1", "f3s4r1", Origin(3, "f1", 4, "1")),
            "in row 1, f1 shows 'f3s4r1', the newer value written at step 4; expected 'f3s1r1'",
        ),
        (
            FindingKind.PREMATURE,
            Witness("3", "", ("3", 7, None), None, Origin(1, "id", 4, "3")),
            "row 3 is missing, as in a newer table; the view should show ['3', 7, NULL]",
        ),
        (
            FindingKind.GHOST_ROW,
            Witness("2", "", None, "[2, 8]"),
            "row 2 is in the answer although it was deleted or is not asked for: [2, 8]",
        ),
        (FindingKind.LOST_ROW, Witness("", "count(*)", 3, 1), "the count is 1; expected 3"),
        (
            FindingKind.TYPE_DRIFT,
            Witness("1", "n", 7, 7.0),
            "in row 1, n shows 7.0 (floating-point number); expected 7 (integer)",
        ),
        (
            FindingKind.ORDER_DEPENDENT,
            Witness("1", "l", ({"z": None},), "x"),
            "in row 1, l: 'x' after other questions to the server, [{z: NULL}] on a fresh server",
        ),
        (
            FindingKind.ORDER_DEPENDENT,
            Witness("3", "", ("3", 7), None),
            "row 3: absent after other questions to the server, ['3', 7] on a fresh server",
        ),
    ],
)
def test_a_wrong_place_is_reported_in_one_sentence(
    kind: FindingKind, witness: Witness, text: str
) -> None:
    assert witness_text(kind, witness) == text


@pytest.mark.parametrize(
    ("raw", "expected"), [("", ""), ("7", ""), ("7.00", "the engine's own text: 7.00")]
)
def test_an_engine_s_own_text_is_reported_where_it_is_another_one(raw: str, expected: str) -> None:
    assert engine_text(Witness("1", "f", 8, 7, raw=raw)) == expected


def test_a_finding_says_how_many_places_more_it_explains() -> None:
    witness = Witness("1", "g", "a", None)
    assert finding_text(Finding(FindingKind.LOST_VALUE, ("g",), witness, (witness,))).endswith(
        "'a'"
    )
    three = Finding(FindingKind.LOST_VALUE, ("g",), witness, (witness, witness, witness))
    assert finding_text(three).endswith("expected 'a' (and 2 more places)")


def test_a_long_message_does_not_hide_the_cause() -> None:
    reported = refusal_text(Refusal("K", "Job aborted. " * 100, cause="x.Y: why"), 40)
    assert reported == "K: Job aborted. Job ab…; cause: x.Y: why"
    assert len(refusal_text(Refusal("K", "m" * 99, cause="c" * 99), 40)) == 40
    assert refusal_text(Refusal("K", "m", cause="c" * 30), 40) == f"K: m; cause: {'c' * 26}…"


def test_one_mapping_is_a_diagnosis_and_several_are_none() -> None:
    assert mapping_text((), "") == ""
    assert mapping_text(("by position",), "by position") == "reads by position"
    assert mapping_text(("by position",), "") == f"none is claimed: by position {LITTLE}"
    assert mapping_text(("by name", "by position"), "") == (
        "none is claimed: the same answer comes from by name; by position"
    )
    assert "none is claimed" in mapping_text(("by name", "by position", "by id", "by name, x"), "")


@pytest.mark.parametrize(
    ("responsible", "end"),
    [
        (Responsible.READER, "; the files hold what was written"),
        (Responsible.WRITER, "; the files hold the same: the writer is to blame"),
        (Responsible.MODEL, "; engines and files agree: check the expected table first"),
        (Responsible.UNSURE, "; the files hold the same: the mistake is the writer's or our own"),
        (None, "expected 'b'"),
    ],
)
def test_a_finding_says_whose_doing_it_is(responsible: Responsible | None, end: str) -> None:
    seen = Witness("1", "f1", "b", "a")
    assert finding_text(Finding(FindingKind.STALE, ("f1",), seen, (seen,), responsible)).endswith(
        end
    )


@pytest.mark.parametrize(
    ("kind", "witness", "text"),
    [
        (FindingKind.REUSED_ID, ("8", "f3", None, "f2"), "that of f2; expected an id of its own"),
        (FindingKind.REUSED_ID, ("8", "f3", "f3", "f2"), "that of f2; expected that of f3"),
        (FindingKind.REUSED_ID, ("", "", "", "2 versions"), "has 2 versions of one version_id"),
        (FindingKind.LOST_ID, ("9", "g", "f1", None), "has the new id 9; expected that of f1"),
        (FindingKind.LOST_VERSION, ("", "", "that of step 3", None), "lacks that of step 3"),
        (FindingKind.OTHER_SCHEMA, ("", "f3", "int", "absent"), "f3 is absent; expected int"),
    ],
)
def test_what_a_table_says_of_its_own_schema_has_a_sentence(
    kind: FindingKind, witness: tuple[str, str, str | None, str | None], text: str
) -> None:
    assert witness_text(kind, Witness(*witness)).endswith(text)
