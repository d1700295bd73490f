"""Advice on an answer: only what helps, and commands that a shell takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.records import Finding, FindingKind, Responsible, Verdict, VerdictKind, Witness
from harness.reports.cause_texts import advice

PLACE = Witness("1", "f1", "b", "a")


def verdict(reader: str, kind: VerdictKind, responsible: Responsible | None = None) -> Verdict:
    finding = Finding(FindingKind.STALE, ("f1",), PLACE, (PLACE,), responsible)
    findings = (finding,) if kind is VerdictKind.WRONG else ()
    case = f"a/b[x,y]/s1/snapshot/all/{reader}"
    return Verdict(case, "a/b", "a/b[x,y]", 1, reader, "snapshot", "all", kind, findings=findings)


WRONG = verdict("trino-476{names=false}", VerdictKind.WRONG, Responsible.READER)
OTHERS = (
    verdict("trino-476{names=true}", VerdictKind.CORRECT),
    verdict("trino-4761", VerdictKind.CORRECT),
    WRONG,
)


def test_settings_of_the_same_engine_that_answer_right_are_named() -> None:
    text = advice(WRONG, OTHERS)[0].text
    assert text == "With other settings this engine gets it right: trino-476{names=true}."


def test_settings_that_do_not_help_are_not_praised() -> None:
    others = [replace(other, verdict=VerdictKind.REFUSED) for other in OTHERS]
    assert advice(WRONG, others)[0].text == (
        "This engine does not get it right with its other settings either: trino-476{names=true}."
    )
    assert advice(WRONG, (WRONG,))[0].text.endswith("with any other settings.")


@pytest.mark.parametrize("responsible", [Responsible.WRITER, Responsible.MODEL, Responsible.UNSURE])
def test_no_setting_is_praised_where_the_reader_is_not_to_blame(responsible: Responsible) -> None:
    blamed = verdict(WRONG.reader, VerdictKind.WRONG, responsible)
    assert [hint.verb for hint in advice(blamed, OTHERS)] == ["reproduce", ""]


def test_of_a_refusal_as_much_is_reported_and_of_a_right_answer_nothing() -> None:
    refused = verdict(WRONG.reader, VerdictKind.REFUSED)
    assert advice(refused, OTHERS) == advice(WRONG, OTHERS)[:-1]
    assert advice(OTHERS[0], OTHERS) == advice(verdict("x", VerdictKind.UNKNOWN), OTHERS) == ()


def test_a_finding_leads_to_the_page_of_its_kind() -> None:
    assert advice(WRONG, OTHERS)[-1].text.endswith("what to do: docs/findings.md#stale")
