import datetime

import pytest

from harness.core.errors import ScenarioProblem
from harness.core.records import FindingKind
from harness.core.reviewed_lines import placed
from harness.judge.baseline import EngineFacts, Expect, Known, Possible, Support, check, parse

PATH = "hudi/move.known.yaml"
LINE = """- when: {engine: hive, view: snapshot, step: ">=6", reader.schema-on-read: unset}
  expect: {finding: missing_rename, columns: [f1_new]}
  support: notyet
  because: the input format maps by the one current name of the metastore
"""


def problems(text: str) -> list[str]:
    with pytest.raises(ScenarioProblem) as caught:
        parse(text, PATH)
    return str(caught.value).splitlines()


def test_the_line_of_the_format_s_description_is_read() -> None:
    known = (
        Known(
            when=(
                ("engine", "hive"),
                ("view", "snapshot"),
                ("step", ">=6"),
                ("reader.schema-on-read", "unset"),
            ),
            expect=Expect("", frozenset({FindingKind.MISSING_RENAME}), frozenset({"f1_new"})),
            support=Support.NOTYET,
            because="the input format maps by the one current name of the metastore",
        ),
    )
    assert parse(LINE, PATH) == (placed(known[0], PATH, 1),)


def test_an_empty_file_has_no_lines() -> None:
    assert parse("", PATH) == ()
    assert parse("# nothing is known\n", PATH) == ()


def test_what_may_be_left_out_is_read_when_it_is_there() -> None:
    (line,) = parse(f'{LINE}  issue: "#7"\n  until: 2031-12-24\n', PATH)
    assert (line.issue, line.until) == ("#7", datetime.date(2031, 12, 24))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("step: 6", ("step", "6")),
        ('step: "3-5"', ("step", "3-5")),
        ("twin: true", ("twin", "true")),
        ("reader.use-column-names: false", ("reader.use-column-names", "false")),
        ("reader.schema-on-read: on", ("reader.schema-on-read", "on")),
        ("variant.table_version: 6", ("variant.table_version", "6")),
        ('version: "476"', ("version", "476")),
    ],
)
def test_conditions_are_read_as_text(written: str, read: tuple[str, str]) -> None:
    (line,) = parse(LINE[: LINE.index("{")] + f"{{{written}}}" + LINE[LINE.index("}") + 1 :], PATH)
    assert line.when[0] == read


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "engine: hive",
            "enginge: hive",
            ":1: there is no condition 'enginge'; did you mean 'engine'?",
        ),
        ("engine: hive", "reader.: hive", ":1: there is no condition 'reader.'"),
        ("engine: hive", "engine: 7", ":1: engine: 7 is given; allowed: text (quote it)"),
        ("engine: hive", "version: 476", ":1: version: 476 is given; allowed: text (quote it)"),
        ("engine: hive", "twin: some", ":1: twin: 'some' is given; allowed: true or false"),
        ('">=6"', '"5-3"', ":1: step: '5-3' is given; allowed: a step (6), a first one"),
        ('">=6"', '"<6"', ":1: step: '<6' is given; allowed: a step (6), a first one"),
        ('">=6"', "true", ":1: step: True is given; allowed: a step (6), a first one"),
        ("missing_rename", "lost", ":2: a line: expect.finding:"),
        (
            "finding: missing_rename, ",
            "",
            ":2: expect: nothing is expected; give finding or refused",
        ),
        ("[f1_new]", "[f1, f1]", ":2: expect: columns: 'f1' stands twice; name each once"),
        ("notyet", "soon", ":3: a line: support:"),
        ("because: the", "since: the", ":4: a line has no 'since'"),
        ("columns:", "colums:", ":2: a line: expect has no 'colums'; did you mean 'columns'? al"),
        ("because: the", "until: the", ":4: a line: until: "),
        ("  because: the input", "  # because: the input", ":1: a line: 'because' is missing"),
    ],
)
def test_what_is_wrong_is_reported_with_its_place_and_what_is_allowed(
    old: str, new: str, message: str
) -> None:
    if new.startswith("until"):
        new = f"because: x\n  {new}"
        message = message.replace(":4:", ":5:")
    assert any(
        problem.startswith(f"{PATH}{message}") for problem in problems(LINE.replace(old, new))
    )


def test_all_problems_of_all_lines_are_reported_at_once() -> None:
    text = LINE.replace("hive", "7") + LINE.replace("notyet", "soon")
    errors = problems(text)
    assert [error.split(":")[1] for error in errors] == ["1", "7"]


def test_something_else_than_a_list_is_refused() -> None:
    assert problems("when: {}\n") == [
        f"{PATH}:1: this is a list of lines; write `- when: …` for each"
    ]


def test_a_line_that_an_earlier_one_always_hides_is_refused() -> None:
    (message,) = problems(LINE.replace(", view: snapshot", "") + LINE)
    assert message.startswith(
        f"{PATH}:5: no check can use this line: the one at {PATH}:1 matches first"
    )


def test_a_line_about_steps_is_hidden_only_by_one_that_is_about_steps_too() -> None:
    general = LINE.replace(", view: snapshot", "")
    assert len(parse(general + LINE.replace("snapshot", "write"), PATH)) == 2


POSSIBLE = Possible(
    engines=(
        EngineFacts("hive", "3.1.3", "hive-3.1.3", {"path": ("fetch", "mapreduce")}),
        EngineFacts("trino", "476", "trino-476", {"use-column-names": ("true", "false")}),
    ),
    formats={"hudi-cow": ("snapshot",), "hudi-mor": ("snapshot", "read_optimized")},
    variants={"rewrites": ("none", "some")},
    steps=6,
)


def unusable(when: str) -> str:
    text = f"- when: {{{when}}}\n  expect: {{finding: stale}}\n  support: never\n  because: x\n"
    try:
        check(parse(text, "a.known.yaml"), POSSIBLE)
    except ScenarioProblem as problem:
        return str(problem)
    return ""


@pytest.mark.parametrize(
    "when",
    [
        "",
        "engine: hive, version: 3.1.3, distribution: hive-3.1.3, reader.path: fetch",
        "engine: hive, reader.path: unset, reader.use-column-names: unset",
        "format: hudi-mor, view: read_optimized, twin: true, variant.rewrites: some",
        "view: read_optimized",
        "view: write, step: 0",
        "query: all",
        "query: predicate(f1)",
        'step: ">=6"',
        'writer: "hive-3.1.3, trino-476"',
        "variant.rewrites: unset",
    ],
)
def test_what_some_profile_may_ask_can_be_used(when: str) -> None:
    assert unusable(when) == ""


@pytest.mark.parametrize(
    ("when", "why"),
    [
        ("engine: hiv", "engine: there is no 'hiv'; did you mean 'hive'?"),
        ('version: "475"', "version: there is no '475'"),
        ("distribution: trino-368", "distribution: there is no 'trino-368'"),
        ("writer: spark-1", "writer: there is no 'spark-1'"),
        ("format: iceberg", "format: there is no 'iceberg'"),
        ("view: snapshots", "view: there is no 'snapshots'; did you mean 'snapshot'?"),
        ("query: predicate", "query: 'predicate' is not a query; allowed: all, column(<column>)"),
        ("query: every(f1)", "query: 'every(f1)' is not a query; allowed: all, column(<column>)"),
        ("step: 7", "the scenario has no step 7; allowed: 0 to 6"),
        ("reader.pth: fetch", "there is no setting 'reader.pth'; did you mean 'reader.path'?"),
        ("reader.path: spark", "reader.path: there is no 'spark'"),
        ("variant.rewrites: every", "variant.rewrites: there is no 'every'"),
        (
            "engine: trino, reader.path: fetch",
            "no distribution has all of engine: trino, reader.path",
        ),
        ("format: hudi-cow, view: read_optimized", "hudi-cow has no view read_optimized; allowed"),
    ],
)
def test_what_no_profile_can_ask_is_an_error_with_its_place(when: str, why: str) -> None:
    assert unusable(when).startswith(f"a.known.yaml:1: no check can use this line: {why}")
