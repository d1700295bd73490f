from dataclasses import replace

from harness.core.records import Answer, Finding
from harness.judge.verdicts import judge
from harness.model.canonical import OwnTexts, Value
from tests.builders.judged_story import case_without_values, cell_at, judged_answer
from tests.builders.table_story import history

STORY = history("insert 1..3", "id string, ts long, st struct<a: int, b: string>, n int")
RIGHT = STORY.read()
ST = RIGHT.names.index("st")
TEXTS = ('{"a":1,"b":"x"}', '{"a":2,"b":"y"}', '{"a":3,"b":"z"}')
SENT_TEXTS: OwnTexts = tuple((at, ST, text) for at, text in enumerate(TEXTS))


def spoilt(at: int, **wrong: Value) -> tuple[tuple[Value, ...], ...]:
    rows = [list(row) for row in RIGHT.rows]
    for name, value in wrong.items():
        rows[at][RIGHT.names.index(name)] = value
    return tuple(map(tuple, rows))


def struct(at: int, **wrong: Value) -> Value:
    return {**RIGHT.rows[at][ST], **wrong}


def findings(*answers: Answer) -> list[tuple[Finding, ...]]:
    """Let as many engines answer."""
    cells = [replace(cell_at(STORY), reader=f"engine-{at}") for at in range(len(answers))]
    by_case = {c.case: replace(a, case=c.case) for c, a in zip(cells, answers, strict=True)}
    return [verdict.findings for verdict in judge(case_without_values(STORY), cells, by_case)]


def answer(rows: tuple[tuple[Value, ...], ...], raw: OwnTexts = SENT_TEXTS) -> Answer:
    return Answer("", "select", RIGHT.columns, rows, raw=raw)


def texts(differences: tuple[Finding, ...]) -> dict[tuple[str, str], str]:
    assert all(finding.witness == finding.witnesses[0] for finding in differences)
    return {
        (place.key, place.column): place.raw
        for finding in differences
        for place in finding.witnesses
    }


def test_a_part_of_a_value_stands_with_the_text_of_the_whole_cell_in_whatever_row_it_came() -> None:
    rows = spoilt(1, st=struct(1, b="?"), n=-7)
    moved = tuple((2 - row, column, text) for row, column, text in SENT_TEXTS)
    expected = {("2", "st.b"): TEXTS[1], ("2", "n"): "-7"}
    assert list(map(texts, findings(answer(rows), answer(rows[::-1], moved)))) == [
        expected,
        expected,
    ]


def test_a_row_that_shows_no_key_of_its_own_is_known_all_the_same() -> None:
    rows = spoilt(2, id="no key", st=struct(2, b="?"))
    (result,) = findings(answer(rows, (*SENT_TEXTS, (2, 0, "NO KEY"))))
    assert texts(result) == {("3", "id"): "NO KEY", ("3", "st.b"): TEXTS[2]}


def test_of_two_rows_with_one_key_it_is_not_known_which_text_was_looked_at() -> None:
    rows = spoilt(0, st=struct(0, b="?"))
    twice = (*rows, spoilt(0, st=None, n=-7)[0])
    (result,) = findings(answer(twice, (*SENT_TEXTS, (3, ST, "another one"))))
    assert texts(result)["1", "st.b"] == "?"


def test_only_a_value_of_the_row_itself_has_the_file_that_the_row_lies_in() -> None:
    """Another row's was read from wherever that one is."""
    story = history("insert 1; insert 2")
    rows = [list(row) for row in story.read().rows]
    rows[0][2:] = [rows[1][2], "?"]
    verdict = judged_answer(story, replace(story.read(), rows=tuple(map(tuple, rows))))
    result = {place.column: place for finding in verdict.findings for place in finding.witnesses}
    assert result["f1"].origin is not None
    assert (result["f1"].origin.key, result["f1"].file) == ("2", "")
    assert result["f2"].file == story.disk.files[0].path
