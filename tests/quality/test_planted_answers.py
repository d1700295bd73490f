"""Planted defects in small tables, one a line: what is answered, and the findings that this makes.

`PLANTED` says of each finding where it is: `f1 f2 @ 1 2` are cells, of all rows without `@`,
`row 2` is a whole row, `head g` a name or type of a column; a semicolon parts such groups.
"""

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Final

import pytest

from harness.core.records import Column, Origin
from harness.judge.name import CHECKS
from harness.model.canonical import MapValue, Value
from tests.builders.simulated_reader import Reply, columns_of
from tests.builders.table_story import COLUMNS, Story, cells, changed, diagnosed, history, named

Rows = Sequence[tuple[Value, ...]]
Answering = Callable[[Story], Reply]
Places = set[tuple[str, str]]


def reads(by: str = "id", **how: object) -> Answering:
    return lambda story: story.read(by, **how)


def sets(
    column: str,
    change: Callable[[Value], Value],
    *keys: str,
    reader: Answering | None = None,
) -> Answering:
    """Change the values of a column that are not NULL, in rows of some keys or all."""

    def answer(story: Story) -> Reply:
        reply = (reader or reads())(story)
        at = reply.names.index(column)

        def spoilt(row: tuple[Value, ...]) -> tuple[Value, ...]:
            if row[at] is None or (keys and row[0] not in keys):
                return row
            return (*row[:at], change(row[at]), *row[at + 1 :])

        return Reply(reply.columns, tuple(map(spoilt, reply.rows)))

    return answer


def fills(column: str, empty: Value, *keys: str) -> Answering:
    """Show something empty for NULL in a column, in rows of some keys or all."""

    def answer(story: Story) -> Reply:
        reply = story.read()
        at = reply.names.index(column)
        rows = (
            (*row[:at], empty, *row[at + 1 :])
            if row[at] is None and (not keys or row[0] in keys)
            else row
            for row in reply.rows
        )
        return Reply(reply.columns, tuple(rows))

    return answer


def shows(change: Callable[[Rows], Rows], reader: Answering | None = None) -> Answering:

    def answer(story: Story) -> Reply:
        reply = (reader or reads())(story)
        return Reply(reply.columns, tuple(change(reply.rows)))

    return answer


def declares(change: Callable[[Sequence[Column]], Sequence[Column]]) -> Answering:
    return lambda story: replace(story.read(), columns=tuple(change(story.read().columns)))


@dataclass(frozen=True)
class Planted:
    name: str
    steps: str
    answer: Answering
    finds: Mapping[str, str] = field(default_factory=dict)
    columns: str = COLUMNS
    mor: bool = False
    partition_by: tuple[str, ...] = ()
    view: str = "snapshot"
    origins: Mapping[str, Origin] = field(default_factory=dict)
    """Whose value it is at some places, by column and key."""

    def story(self) -> Story:
        return history(self.steps, self.columns, mor=self.mor, partition_by=self.partition_by)


README = "insert 1,2; add f3 after f1; touch; drop f2; rename f1 f1_new; touch"
LOGS = "insert 1..4; upsert 1; delete 2; add f3; upsert 3"
RENAMED = "insert 1..6; rename f1 g; upsert 1,2"
BOOLEANS = "id string, ts long, b1 boolean, b2 boolean, f1 string"
CONSTANT = "id string, ts long, b1 boolean, n int, x boolean"
PARTS = (
    "id string, ts long, s struct<a: string, b: int>, l array<string>, m map<string, long>, "
    "u struct<a: string, b: int>"
)
NOTHING_BESIDE = (
    'rows [{"id":"1","l":["a"],"s":{"a":"x","b":7}},{"id":"2","l":[],"s":null},'
    '{"id":"3","l":null,"s":null},{"id":"4","l":null,"s":{"a":null,"b":null}}]'
)
NUMBERS = "id string, ts long, n int, d double, c decimal(10, 2), day date, at timestamp, s string"
NULLS = (None, None, None, None)
DAY = datetime.timedelta(days=1)


PLANTED: Final = (
    Planted(
        "a text in capitals", "insert 1,2", sets("f1", str.upper, "1"), {"altered_value": "f1 @ 1"}
    ),
    Planted("a rename missed by name", README, reads("name"), {"missing_rename": "f1_new @ 1 2 3"}),
    Planted(
        "columns by position",
        README,
        reads("position"),
        {"misaligned": "f3 @ 1 2"},
        origins={"f3 1": Origin(4, "f2", 1, "1")},
    ),
    Planted(
        "a dropped column under one added with its name",
        "insert 1,2; drop f2; add f2; insert 3",
        reads("name"),
        {"resurrected": "f2 @ 1 2"},
        origins={"f2 2": Origin(4, "f2", 1, "2")},
    ),
    Planted(
        "a dropped column under its last name, written under another",
        "insert 1,2; rename f2 g; upsert 1; drop g; add g",
        reads("name"),
        {"resurrected": "g @ 1 2"},
    ),
    Planted(
        "a dropped column under one renamed to its name",
        "insert 1,2; drop f1; rename f2 f1",
        reads("name"),
        {"resurrected": "f1"},
    ),
    Planted(
        "names swapped by two renames",
        "insert 1..3; rename f1 t; rename f2 f1; rename t f2",
        reads("name"),
        {"misaligned": "f1 f2"},
        origins={"f1 1": Origin(3, "f1", 1, "1")},
    ),
    Planted(
        "a rename onto a freed name",
        "insert 1..3; rename f1 g; rename f2 f1",
        reads("name"),
        {"misaligned": "f1", "missing_rename": "g"},
    ),
    Planted(
        "a rename there and back, missed in files written between",
        "insert 1..3; rename f1 g; upsert 1; rename g f1",
        reads("name"),
        {"missing_rename": "f1"},
    ),
    Planted(
        "another column under the key",
        "insert 1..3; add n long first; insert 4",
        reads("position"),
        {"misaligned": "n id ts f1 @ 1 2 3", "lost_value": "f2 @ 1 2 3"},
    ),
    Planted(
        "a partition's value under the key",
        "insert 1..6",
        lambda story: changed(story.read(), {"id": lambda key: key % 2}),
        {"misaligned": "id @ 2 3 4 5 6"},
        "id long, f1 string, f2 string, p int",
        partition_by=("p",),
        origins={"id 2": Origin(4, "p", 1, "2")},
    ),
    Planted(
        "a NULL of the column that is really read",
        "insert 1..6; move f1 after f2",
        reads("position"),
        {"misaligned": "f1 f2"},
    ),
    Planted(
        "rows of nothing but NULLs",
        "insert 1..3; rename f1 g; insert 4",
        shows(lambda rows: (NULLS, NULLS, *rows[2:])),
        {"lost_value": "id ts g f2 @ 1 2"},
    ),
    Planted(
        "one row of NULLs for two",
        "insert 1..3; rename f1 g; insert 4",
        shows(lambda rows: (NULLS, *rows[2:])),
        {"lost_row": "row 1; row 2", "unexplained": "row NULL"},
    ),
    Planted(
        "NULL as an empty array, which another row has",
        NOTHING_BESIDE,
        fills("l", ()),
        {"altered_value": "l @ 3 4"},
        PARTS,
    ),
    Planted(
        "one NULL of two as an empty array, which another row has",
        NOTHING_BESIDE,
        fills("l", (), "3"),
        {"unexplained": "l @ 3"},
        PARTS,
    ),
    Planted(
        "NULL as an empty array, and arrays that are others",
        NOTHING_BESIDE,
        sets("l", lambda _: ("q",), "1", reader=fills("l", ())),
        {"unexplained": "l[0] @ 1; l @ 3 4"},
        PARTS,
    ),
    Planted(
        "NULL as an empty array, as the row had before",
        f"""{NOTHING_BESIDE}; rows [{{"id":"2","l":null,"s":null}}]""",
        fills("l", ()),
        {"unexplained": "l @ 2 3 4"},
        PARTS,
    ),
    Planted(
        "NULL as an empty text, which another column of the row has",
        """rows [{"id":"1","f1":"a","f2":""},{"id":"2","f1":null,"f2":""}]""",
        fills("f1", ""),
        {"unexplained": "f1 @ 2"},
    ),
    Planted(
        "NULL as an empty text, which another row has",
        """rows [{"id":"1","f1":"a"},{"id":"2","f1":null},{"id":"3","f1":""}]""",
        fills("f1", ""),
        {"unexplained": "f1 @ 2"},
    ),
    Planted(
        "NULL as an empty text that nobody had",
        """rows [{"id":"1","f1":null}]; insert 2""",
        fills("f1", ""),
        {"altered_value": "f1 @ 1"},
    ),
    Planted(
        "NULL as a struct of NULLs, which may be another column's without its parts",
        NOTHING_BESIDE,
        fills("s", {"a": None, "b": None}),
        {"unexplained": "s @ 2 3"},
        PARTS,
    ),
    Planted(
        "NULL as a struct of NULLs in the only column of structs",
        """rows [{"id":"1","s":null},{"id":"2","s":{"a":null}},{"id":"3","s":{"a":"x"}}]""",
        fills("s", {"a": None}),
        {"altered_value": "s @ 1"},
        "id string, s struct<a: string>",
    ),
    Planted(
        "NULL among elements as a struct of NULLs, as another one is",
        """rows [{"id":"1","l":[{"a":null},null]}]""",
        shows(lambda rows: [(rows[0][0], ({"a": None},) * 2)]),
        {"altered_value": "l[1] @ 1"},
        "id string, l array<struct<a: string>>",
    ),
    Planted(
        "elements in each other's places",
        """rows [{"id":"1","l":[{"a":null},null]}]""",
        shows(lambda rows: [(rows[0][0], (None, {"a": None}))]),
        {"unexplained": "l[1] @ 1", "lost_value": "l[0] @ 1"},
        "id string, l array<struct<a: string>>",
    ),
    Planted(
        "arrays without elements",
        """rows [{"id":"1","l":["a"]},{"id":"2","l":[]},{"id":"3","l":null}]""",
        shows(lambda rows: [(row[0], ()) for row in rows]),
        {"lost_value": "l @ 1", "altered_value": "l @ 3"},
        "id string, l array<string>",
    ),
    Planted(
        "one array of two without elements",
        """rows [{"id":"1","l":["a"]},{"id":"2","l":["b"]}]""",
        sets("l", lambda _: (), "1"),
        {"unexplained": "l @ 1"},
        "id string, l array<string>",
    ),
    Planted(
        "columns beyond the end of the file",
        "insert 1,2; add f3 after f1; insert 3",
        reads("position"),
        {"misaligned": "f3 @ 1 2", "lost_value": "f2 @ 1 2"},
    ),
    Planted(
        "a partition's value under an added column",
        "insert 1..4; add f2",
        reads("position"),
        {"misaligned": "f2"},
        "id string, ts long, f1 string, p string",
        partition_by=("p",),
        origins={"f2 2": Origin(4, "p", 1, "2")},
    ),
    Planted(
        "an integer partition's value, told from the key by its pattern",
        "insert 1..6; add f3 after ts",
        reads("position", partition_counts=True),
        {"misaligned": "f3 f1", "lost_value": "p"},
        "id long, ts long, f1 string, p int",
        partition_by=("p",),
        origins={"f1 1": Origin(4, "p", 1, "1")},
    ),
    Planted(
        "log files ignored, also where a row was NULL then",
        LOGS,
        reads(logs="ignored"),
        {"stale": "ts f1 f2 @ 1 3; f3 @ 3", "ghost_row": "row 2"},
        mor=True,
        origins={"f1 1": Origin(3, "f1", 1, "1")},
    ),
    Planted(
        "a row left out that only log files delete",
        "insert 1,2; delete 2; insert 3",
        reads(),
        {"premature": "row 2"},
        mor=True,
        view="read_optimized",
        origins={" 2": Origin(1, "id", 2, "2")},
    ),
    Planted(
        "a file left out whose rows log files delete",
        "insert 1,2; delete 2; insert 3",
        shows(lambda rows: [row for row in rows if row[0] == "3"], reads(logs="ignored")),
        {"lost_row": "row 1; row 2"},
        mor=True,
        view="read_optimized",
    ),
    Planted("an empty table (right)", "add f3; drop f1", reads()),
    Planted(
        "a NULL beside a file that is read by position",
        "insert 1..4; move f1 after f2; insert 5",
        shows(lambda rows: (*rows[:4], ("5", 203005, None, None)), reads("position")),
        {"misaligned": "f1 f2 @ 1 2 3 4", "lost_value": "f1 @ 5"},
    ),
    Planted(
        "a NULL in a stale row",
        "insert 1,2; upsert 1",
        lambda story: changed(
            story.read(logs="ignored"), {"f1": lambda v: v if v == "f3s1r2" else None}
        ),
        {"stale": "ts f2 @ 1", "lost_value": "f1 @ 1"},
        mor=True,
    ),
    Planted(
        "the old value of another row",
        "insert 1,2; add f3; upsert 1,2",
        shows(lambda rows: (("1", 203001, "f3s1r2", "f4s3r1", None), rows[1])),
        {"unexplained": "f1 @ 1", "lost_value": "f3 @ 1"},
    ),
    Planted(
        "four booleans are a pattern",
        "insert 1..4; move b1 after b2",
        reads("position"),
        {"misaligned": "*"},
        BOOLEANS,
    ),
    Planted(
        "nine booleans are a pattern",
        "insert 1..9; move b1 after b2",
        reads("position"),
        {"misaligned": "*"},
        BOOLEANS,
        origins={"b2 1": Origin(3, "b1", 1, "1")},
    ),
    Planted(
        "three booleans are no pattern",
        "insert 1..3; move b1 after b2",
        reads("position"),
        {"unexplained": "*"},
        BOOLEANS,
    ),
    Planted(
        "booleans negated",
        "insert 1..9",
        lambda story: changed(story.read(), {"b1": lambda v: None if v is None else not v}),
        {"unexplained": "b1"},
        BOOLEANS,
    ),
    Planted(
        "a constant",
        "insert 1..9",
        lambda story: changed(story.read(), {"b1": lambda _: False}),
        {"unexplained": "*"},
        BOOLEANS,
    ),
    Planted(
        "a constant that a column holds",
        "insert 1..3; insert 4..7",
        shows(lambda rows: [(*r[:2], True, *r[3:]) if r[0] > "3" else r for r in rows]),
        {"unexplained": "*"},
        CONSTANT,
    ),
    Planted(
        "two columns with one pattern",
        "insert 1..4; drop n",
        shows(lambda rows: [(*row[:3], row[2], row[4]) for row in rows]),
        {"unexplained": "*"},
        f"{CONSTANT}, b2 boolean",
    ),
    Planted(
        "a small decimal without its fraction, which may be the key",
        "insert 1..6",
        sets("c", lambda value: value.quantize(Decimal(1))),
        {"unexplained": "c"},
        "id string, ts long, c decimal(4, 2)",
    ),
    Planted(
        "the key under a column, as a NULL of the file tells",
        "insert 1,2; insert 3..5",
        shows(lambda rows: [(key, Decimal(key) if int(key) > 2 else c) for key, c in rows]),
        {"misaligned": "c @ 3 4 5"},
        "id string, c decimal(4, 2)",
    ),
    Planted(
        "a renamed part by name",
        "insert 1..3; add s.c string first; rename s.a a2; insert 4",
        reads("name"),
        {"missing_rename": "s.a2 @ 1 2 3"},
        PARTS,
    ),
    Planted(
        "a renamed struct by name",
        "insert 1..3; rename s t",
        reads("name"),
        {"missing_rename": "t.a t.b"},
        PARTS,
    ),
    Planted(
        "a dropped part by name",
        "insert 1..3; drop s.a; add s.a",
        reads("name"),
        {"resurrected": "s.a"},
        PARTS,
    ),
    Planted(
        "parts in another order",
        "insert 1,2",
        sets("s", lambda v: dict(reversed(v.items()))),
        {"type_drift": "s"},
        PARTS,
    ),
    Planted(
        "the parts of an earlier step",
        "insert 1,2; rename s.a a2",
        sets("s", lambda v: {"a": v["a2"], "b": v["b"]}),
        {"stale": "s.a s.a2"},
        PARTS,
    ),
    Planted(
        "structs by position",
        "insert 1..5; move s after u",
        reads("position"),
        {"misaligned": "*"},
        "id string, s struct<a: string, b: int>, u struct<a: string, b: int>",
    ),
    Planted(
        "NULL for a struct of NULLs",
        "insert 1..5",
        sets("s", lambda v: v if v["a"] else None),
        {"lost_value": "s @ 5"},
        "id string, n int, s struct<a: string>",
    ),
    Planted(
        "elements in another order",
        "insert 1,2",
        sets("l", lambda v: tuple(reversed(v))),
        {"unexplained": "l[0] l[1]"},
        PARTS,
    ),
    Planted(
        "a map's keys in another type",
        "insert 1,2",
        sets("m", lambda m: MapValue.of([(str(key), value) for key, value in m.pairs])),
        {"type_drift": "m"},
        "id string, m map<int, string>",
    ),
    Planted(
        "a map in another order (right)",
        "insert 1,2",
        sets("m", lambda m: MapValue.of(list(reversed(m.pairs)))),
        columns=PARTS,
    ),
    Planted(
        "a type that we have no name for",
        "insert 1,2",
        declares(lambda columns: (columns[0], Column("n", "tinyint"))),
        {"type_drift": "head n"},
        "id string, n int",
    ),
    Planted(
        "one day that is another row's",
        "insert 1..4",
        sets("day", lambda v: v + DAY, "2"),
        {"unexplained": "day @ 2"},
        "id string, n long, day date",
    ),
    Planted(
        "a dropped map as its text",
        "insert 1,2; drop s; add s string after ts",
        shows(lambda rows: (rows[0], (*rows[1][:2], "{f5s1r2 -> 601002}", *rows[1][3:]))),
        {"resurrected": "s @ 2"},
        "id string, ts long, s map<string, int>, f1 string",
    ),
    Planted(
        "a row twice, once as it was",
        RENAMED,
        shows(lambda rows: (("1", 201001, "f3s1r1", "f4s1r1"), *rows)),
        {"duplicate": "row 1"},
    ),
    Planted(
        "a row twice under keys of nobody",
        RENAMED,
        shows(lambda rows: [("?", *row[1:]) for row in (*rows, rows[3])]),
        {"duplicate": "row 4", "unexplained": "id"},
    ),
    Planted(
        "NULL under a new name, and where files have it",
        "insert 1..3; insert 4,5; rename f1 g; upsert 1",  # writes 2 and 3 again, too
        sets("g", lambda _: None),
        {"lost_value": "g @ 1 2 3", "missing_rename": "g @ 4 5"},
    ),
    Planted(
        "the columns of an earlier step",
        RENAMED,
        lambda story: Reply(columns_of(story.history[1].schema), story.read().rows),
        {"stale": "head g f1"},
        origins={"f1 ": Origin(3, "f1", 1, "")},
    ),
    Planted(
        "one number too great, the next row's",
        "insert 1..6; upsert 2",
        sets("n", lambda _: 301004, "3"),
        {"unexplained": "n @ 3"},
        NUMBERS,
    ),
    Planted(
        "NULL for the text NULL",
        "row id=1 f1=NULL f2=x",
        sets("f1", lambda _: None),
        {"lost_value": "f1"},
    ),
    Planted(
        "the text NULL for a text", "insert 5", sets("f2", lambda _: "NULL"), {"unexplained": "f2"}
    ),
    Planted(
        "the text NULL before a rename",
        "row id=1 f1=NULL f2=x; rename f1 g",
        reads("name"),
        {"missing_rename": "g"},
    ),
    # It may as well be NULL that is shown as a text: what its column shows elsewhere tells.
    Planted(
        "the text NULL of a dropped column alone",
        "row id=1 f1=NULL f2=x; drop f1; add f1",
        reads("name"),
        {"unexplained": "f1"},
    ),
    Planted(
        "the text NULL of a dropped column beside others",
        """rows [{"id":"1","f1":"NULL"},{"id":"2","f1":"a"}]; drop f1; add f1""",
        reads("name"),
        {"resurrected": "f1"},
    ),
    *(
        Planted(
            f"row {key} without its key, beside one called NULL",
            "insert 1,2; row id=NULL f1=a f2=b",
            sets("id", lambda _: None, key),
            {"lost_value": f"id @ {key}"},
        )
        for key in ("1", "NULL")
    ),
    Planted(
        "a row without a key that nobody wrote",
        "insert 1,2; row id=NULL f1=a f2=b",
        shows(lambda rows: (*rows, (None, 7, "nobody's", "nobody's"))),
        {"unexplained": "row "},
    ),
)


def places(text: str, story: Story) -> Places:
    conf: Places = set()
    for group in text.split("; "):
        word, _, rest = group.partition(" ")
        if word == "row":
            conf.add((rest, ""))
        elif word == "head":
            conf |= {("", name) for name in rest.split()}
        else:
            names, _, keys = group.partition(" @ ")
            conf |= cells(story, names, keys.split() if keys else None)
    return conf


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
def test_a_planted_defect_is_found_where_it_is_under_its_name(planted: Planted) -> None:
    story = planted.story()
    reply = planted.answer(story)
    result = named(story, reply, planted.view)
    assert result.keys() == planted.finds.keys()
    exact = {kind: places(text, story) for kind, text in planted.finds.items() if text != "*"}
    assert {kind: result[kind] for kind in exact} == exact
    witnesses = [w for f in diagnosed(story, reply, planted.view) for w in f.witnesses]
    origins = {f"{witness.column} {witness.key}": witness.origin for witness in witnesses}
    assert {at: origins[at] for at in planted.origins} == planted.origins


def test_each_finding_about_an_answer_is_planted() -> None:
    planted = {kind for case in PLANTED for kind in case.finds}
    assert planted == set(map(str, CHECKS))


def test_a_number_one_too_great_that_no_row_has_is_altered() -> None:
    story = history("insert 1..6; upsert 2", NUMBERS)
    reply = shows(lambda rows: rows[-1:], sets("n", lambda v: v + 1))(story)
    assert named(story, reply)["altered_value"] == {("6", "n")}


@pytest.mark.parametrize(("column", "label"), [("l", "l.element"), ("m", "m.value")])
def test_a_null_array_or_map_is_lost_in_every_part_but_is_one_column(
    column: str, label: str
) -> None:
    story = history("insert 1,2", PARTS)
    (finding,) = diagnosed(story, changed(story.read(), {column: lambda _: None}))
    assert (finding.kind.value, finding.columns) == ("lost_value", (label,))


def test_a_snapshot_answer_is_never_premature() -> None:
    story = history("insert 1,2; upsert 1", mor=True)
    before = replace(story, history=story.history[:2])
    assert named(before, story.read()).keys() == {"unexplained"}


def test_a_value_written_before_and_after_the_expected_one_is_the_older() -> None:
    story = history("row id=1 f1=x; row id=1 f1=y; row id=1 f1=x", mor=True)
    wrong = changed(history("row id=1 f1=y", mor=True).read(), {"f1": lambda _: "x"})
    findings = diagnosed(replace(story, history=story.history[:3]), wrong)
    (witness,) = (w for f in findings if f.kind == "stale" for w in f.witnesses if w.column == "f1")
    assert witness.origin == Origin(3, "f1", 1, "1")
