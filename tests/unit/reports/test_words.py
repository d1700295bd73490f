from __future__ import annotations

import datetime
import decimal
from typing import Any

import pytest

from harness.core.counting import counted
from harness.core.errors import printable
from harness.core.records import FindingKind, VerdictKind
from harness.model.simulation.strategies import ColumnMapping, IncrementalRange, Logs, ReadStrategy
from harness.reports.findings import FINDINGS
from harness.reports.words import STRATEGIES, VERDICTS, exact, kind_of, short, shown, strategy_text


def test_every_verdict_and_finding_is_in_the_legend() -> None:
    assert set(VERDICTS) == set(VerdictKind)
    assert set(FINDINGS) == set(FindingKind)


def test_no_two_words_look_alike_and_all_fit_a_narrow_column() -> None:
    words = [*VERDICTS.values(), *FINDINGS.values()]
    assert len({word.short for word in words}) == len(words)
    assert len({word.symbol for word in words}) == len(words)
    assert max(len(word.short) for word in words) <= 8


def test_null_and_the_text_null_are_shown_differently() -> None:
    assert (shown(None), shown("NULL")) == ("NULL", "'NULL'")


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


def test_large_numbers_are_readable() -> None:
    assert counted(5152, "cell") == "5,152 cells"


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
    for way in (ReadStrategy(by, logs), ReadStrategy(by, logs, 3), *more):
        said = strategy_text(str(way)).split("; ")
        assert len(said) == len(set(said)) == len(str(way).split(", "))
        assert set(said) <= set(STRATEGIES.values())


def test_a_way_in_any_case_is_not_taken_for_the_one_by_name() -> None:
    assert (
        strategy_text(ColumnMapping.FOLDED)
        == STRATEGIES[ColumnMapping.FOLDED]
        != STRATEGIES[ColumnMapping.NAME]
    )
