"""A pasted answer, in the forms in which engines' command lines print one."""

import csv
import io
from collections.abc import Callable, Sequence
from urllib.parse import quote

import pytest
from playwright.sync_api import Page

from harness.core.records import Answer, Verdict, VerdictKind
from harness.model.canonical import Value
from harness.reports.words import exact
from harness.run.load_run import Run

pytestmark = pytest.mark.browser

Printed = Callable[[Sequence[str], Sequence[Sequence[str | None]]], str]


def trino(names: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
    lines = [
        " | ".join(row) for row in (names, *(["NULL" if v is None else v for v in r] for r in rows))
    ]
    return "\n".join([f" {lines[0]} ", "-" * 8 + "+" + "-" * 8, *lines[1:], f"({len(rows)} rows)"])


def trino_csv(_: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([[v or "" for v in row] for row in rows])
    return out.getvalue()


def beeline(names: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
    rule = "+" + "+".join(["-----"] * len(names)) + "+"
    heads = f"| {' | '.join(f't.{name}' for name in names)} |"
    body = [f"| {' | '.join('NULL' if v is None else v for v in row)} |" for row in rows]
    return "\n".join([rule, heads, rule, *body, rule, f"{len(rows)} rows selected (0.1 seconds)"])


def spark_sql(_: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
    lines = ["\t".join("NULL" if v is None else v for v in row) for row in rows]
    return "\n".join([*lines, f"Time taken: 0.1 seconds, Fetched {len(rows)} row(s)"])


def spark_show(names: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
    return beeline(names, [["null" if v is None else v for v in row] for row in rows])


PRINTED: list[Printed] = [trino, trino_csv, beeline, spark_sql, spark_show]


def text(value: Value) -> str | None:
    return None if value is None else exact(value)


def printed(answer: Answer, form: Printed) -> str:
    rows = [[text(value) for value in row] for row in answer.rows]
    return form(answer.labels, rows)


def show(page: Page, case: str) -> None:
    page.evaluate("(hash) => { location.hash = hash; }", quote(case, safe=""))
    page.wait_for_function("(name) => state.cell === name", arg=case)


def paste(page: Page, answer: str) -> str:
    page.locator("#pasted").fill(answer)
    return page.locator(".pasted").inner_text()


def first(run: Run, chosen: Callable[[Verdict], bool]) -> Verdict:
    wrong = (verdict for verdict in run.verdicts if verdict.verdict is VerdictKind.WRONG)
    return next(
        verdict for verdict in wrong if len(run.answers[verdict.case].rows) > 1 and chosen(verdict)
    )


@pytest.mark.parametrize("form", PRINTED)
def test_the_one_way_that_gives_an_answer_is_named(page: Page, run: Run, form: Printed) -> None:
    verdict = first(run, lambda verdict: bool(verdict.claimed))
    show(page, verdict.case)
    answer_text = paste(page, printed(run.answers[verdict.case], form))
    assert "This is not the expected answer." in answer_text
    assert f"exactly the answer of a reader that reads {verdict.claimed}:" in answer_text
    assert verdict.reader in answer_text


def test_an_answer_of_nobody_has_no_way(page: Page, run: Run) -> None:
    verdict = first(run, lambda verdict: bool(verdict.claimed))
    show(page, verdict.case)
    answer = printed(run.answers[verdict.case], spark_sql)
    assert "None of the read strategies that were tried" in paste(page, f"{answer}\n{answer}")
    assert "not the columns of the question" in paste(
        page, "a,b,c,d,e,f,g,h,i,j\n1,2,3,4,5,6,7,8,9,0"
    )


def test_the_expected_answer_is_known_and_proves_no_way(page: Page, run: Run) -> None:
    verdict = first(run, lambda verdict: bool(verdict.claimed))
    right = verdict.expected
    assert right
    show(page, verdict.case)
    rows = [[text(value) for value in row] for row in right.rows]
    answer_text = paste(page, trino([name for name, _ in right.columns], rows))
    assert "This is the expected answer." in answer_text
    assert "exactly the answer of a reader" not in answer_text


def test_every_wrong_answer_of_the_run_is_found_by_the_ways_that_the_judge_found(
    page: Page, run: Run
) -> None:
    """The page's own comparison has the last word here, not the judge's."""
    result = page.evaluate(
        """(cases) => Object.fromEntries(cases.map(([name, text]) => {
          const cell = byCase.get(name);
          return [name, waysOf(cell, pastedRows(text))];
        }))""",
        [[verdict.case, printed(run.answers[verdict.case], beeline)] for verdict in _wrong(run)],
    )
    assert result == {verdict.case: list(verdict.reproduces) for verdict in _wrong(run)}


def _wrong(run: Run) -> list[Verdict]:
    wrong = (verdict for verdict in run.verdicts if verdict.verdict is VerdictKind.WRONG)
    return [verdict for verdict in wrong if run.answers[verdict.case].rows]


@pytest.mark.parametrize(
    ("shown", "pasted", "same"),
    [
        ("7.0", "7", True),
        ("12.50", "12.5", True),
        ("12.50", "12.05", False),
        ("{a: 'x', b: NULL}", '{"a":"x","b":null}', True),
        ("{a: 'x', b: NULL}", "{a=x, b=NULL}", True),
        ("{a: 'x', b: NULL}", "{a=NULL, b=x}", False),
        ("[1, 2]", "[2, 1]", False),
        ("2024-01-01 10:00:00.000000", "2024-01-01T10:00:00", True),
        ("2024-01-01 10:00:00", "2024-01-01 10:00:01", False),
        ("{'k' → 'v', 'l' → NULL}", "{k=v, l=NULL}", True),
        ("{'k' → 'v'}", '{"k":"v"}', True),
        ("{'k' → 'v'}", "{l=v}", False),
        ("10000000000.0", "1.0E10", True),
        ("nan", "NaN", True),
        (None, "NaN", False),
        ("inf", "Infinity", True),
        ("x", "X", False),
        (None, "\\N", True),
        (None, "", True),
        (None, "0", False),
        ("NULL", "NULL", True),
    ],
)
def test_a_value_is_the_same_however_it_is_spelt(
    page: Page, shown: str | None, pasted: str, *, same: bool
) -> None:
    assert page.evaluate("([a, b]) => sameValue(a, b)", [shown, pasted]) is same
