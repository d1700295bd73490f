from dataclasses import replace

from harness.core.records import Answer, FindingKind, Origin, Part, Refusal, Verdict, Witness
from harness.core.refusals import OTHER_TYPE
from harness.model.canonical import Value
from harness.model.file_facts import FileFact
from harness.model.query import Comparison, Condition, Query
from harness.model.simulation.strategies import ColumnMapping
from tests.builders.judged_story import COUNTED, READER, answer_of, case_of, verdict_on
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import Story, history

COLUMNS = "id string, a string, b string, c string, d string, e string, f string"
STORY = history("insert 1,2; insert 3", COLUMNS)
META_NAMES = (
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name",
)


def read(story: Story = STORY, **how: object) -> Reply:
    return story.read("position", meta_counts=True, **how)


def judged(story: Story, answer: Answer, *, bare: bool = True, reader: str = READER) -> Verdict:
    return verdict_on(case_of(story, bare=bare), answer, reader=reader)


def places(verdict: Verdict) -> dict[tuple[str, str], Witness]:
    return {
        (witness.key, witness.column): witness
        for one in verdict.findings
        for witness in one.witnesses
    }


def test_each_value_is_misaligned_and_says_whose_it_is() -> None:
    verdict = judged(STORY, answer_of(read()))
    assert {finding.kind for finding in verdict.findings} == {FindingKind.MISALIGNED}
    assert verdict.reproduces == (ColumnMapping.COUNTED,) == (COUNTED,)
    witnesses = places(verdict)
    assert {key for key, _ in witnesses} == {"1", "2", "3"}
    whose = [witnesses["2", name].origin for name in ("id", "a", "b", "c", "d")]
    assert whose == [Origin(-at, n, 1, "2") for at, n in enumerate(META_NAMES, start=1)]
    assert witnesses["2", "e"].origin == Origin(1, "id", 1, "2")
    assert (witnesses["3", "b"].actual, witnesses["3", "b"].origin) == (
        "3",
        Origin(-3, META_NAMES[2], 2, "3"),
    )
    assert witnesses["3", "d"].file == witnesses["3", "d"].actual


def test_nothing_is_claimed_where_the_catalog_lists_the_meta_columns() -> None:
    verdict = judged(STORY, answer_of(read()), bare=False)
    assert verdict.reproduces == ()
    assert FindingKind.UNEXPLAINED in {finding.kind for finding in verdict.findings}


def part(reply: Reply, *names: str) -> Part:
    at = [reply.names.index(name) for name in names]
    rows = tuple(tuple(row[index] for index in at) for row in reply.rows)
    return Part(names[-1], "select", tuple(reply.columns[index] for index in at), rows)


MAPPED = history(
    'rows [{"id":"1","a":null,"p":"x"},{"id":"2","a":"s","p":"x"},{"id":"3","a":"t","p":"y"}]',
    "id string, a string, p string",
    partition_by=("p",),
)
"""A table with column mapping: who looks in its files for the names of the table finds nothing."""


def named_anew(fact: FileFact) -> FileFact:
    inside = tuple(column for column in fact.columns if column[0] != "p")
    names = tuple(f"col-{name}" for name, _ in inside)
    return replace(fact, columns=inside, stored_names=names)


def by_names(*rows: tuple[Value, ...], query: Query | None = None) -> dict[str, set[str]]:
    """Return what an answer's findings are called, and where they are."""
    case = case_of(MAPPED, looked_at=False)
    states = (replace(s, files=tuple(map(named_anew, s.files))) for s in case.states)
    answer = answer_of(replace(MAPPED.read(), rows=rows), query)
    verdict = verdict_on(replace(case, states=tuple(states)), answer)
    return {
        str(finding.kind): {f"{at.key} {at.column}".strip() for at in finding.witnesses}
        for finding in verdict.findings
    }


def test_rows_of_nulls_and_partition_values_are_those_that_the_one_way_of_reading_gives() -> None:
    of_x, of_y = (None, None, "x"), (None, None, "y")
    assert by_names(of_y, of_x, of_x) == {"lost_value": {"1 id", "2 id", "2 a", "3 id", "3 a"}}
    lost = {"lost_row": {"1", "2", "3"}, "unexplained": {"NULL"}}
    assert by_names(of_x, of_x, of_x) == by_names(of_x, of_x, (None, None, None)) == lost


def test_rows_of_nulls_beyond_those_asked_for_are_those_that_way_shows_too_many() -> None:
    query = Query(where=Condition("a", Comparison.NULL, "", "string"))
    of_x, of_y = (None, None, "x"), (None, None, "y")
    wrong = by_names(of_x, of_y, of_x, query=query)
    assert {kind: len(places) for kind, places in wrong.items()} == {
        "lost_value": 1,
        "ghost_row": 2,
    }
    assert wrong["lost_value"] == {"1 id"}
    assert by_names(of_x, of_x, of_x, query=query) == {"lost_row": {"1"}, "unexplained": {"NULL"}}


def test_columns_asked_alone_are_reported_as_well() -> None:
    reply = read()
    parts = (part(reply, "id"), part(reply, "id", "b"), part(reply, "id", "e"))
    verdict = judged(STORY, Answer("", "select", refusal=Refusal("Error", "no"), parts=parts))
    cells = {
        at: witness.origin and witness.origin.field_id for at, witness in places(verdict).items()
    }
    assert {cells["1", "id"], cells["1", "b"], cells["1", "e"]} == {-1, -3, 1}


def test_a_refusal_for_a_type_that_only_counting_meets_says_so() -> None:
    story = history("insert 1,2", "id string, a long, b string")
    refused = Answer(
        "", "select", refusal=Refusal("GENERIC_INTERNAL_ERROR", "io.trino.spi.type.BigintType")
    )
    assert judged(story, refused).because == f"read {COUNTED}: {OTHER_TYPE}"
    assert judged(story, refused, bare=False).because == OTHER_TYPE


def test_a_value_that_may_be_of_several_is_what_the_strategy_of_the_whole_answer_reads() -> None:
    story = history(
        "row id=1 a=x b=y n=0 m=0; add c after a", "id string, a string, b string, n int, m int"
    )
    reply = story.read("position")
    [(key, _, _, b, n, m)] = reply.rows
    assert (key, b, n, m) == ("1", "0", 0, None)
    witness = places(judged(story, answer_of(reply), bare=False))["1", "b"]
    assert witness.origin == Origin(4, "n", 1, "1")


def test_a_value_that_may_be_of_several_is_nobodys_where_no_strategy_gives_the_answer() -> None:
    story = history(
        "row id=1 a=x b=y n=0 m=0; insert 2", "id string, a string, b string, n int, m int"
    )
    reply = story.read()
    rows = tuple((*row[:2], "0" if row[0] == "1" else row[2], *row[3:]) for row in reply.rows)
    verdict = judged(story, answer_of(replace(reply, rows=rows)), bare=False)
    assert places(verdict)["1", "b"].origin is None
