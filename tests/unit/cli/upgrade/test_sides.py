from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli import plan_options
from harness.cli.app import main
from harness.cli.named_parts import READER, WRITER, NamedParts
from harness.cli.plan_options import Change
from harness.cli.upgrade import rollout_runs, sides
from harness.core.errors import ScenarioProblem, UsageProblem
from harness.plan import Profile
from harness.scenario.cells import parse_reader
from tests.builders.scenario_texts import MOVED

TEXT = """\
now:
  writer: spark-3.5.8-hudi-0.15.0
  readers: [spark-3.5.8-hudi-0.15.0, "hive-3.1.3{path=fetch}"]
steps:
  - name: writers
    writer: "spark-3.5.8-hudi-1.0.2{table_version=6, auto_upgrade=off}"
  - name: readers
    readers: {spark-3.5.8-hudi-0.15.0: spark-3.5.8-hudi-1.0.2}
  - name: version
    writer: spark-3.5.8-hudi-1.0.2
"""


def read(folder: Path, text: str = TEXT) -> rollout_runs.PlannedRollout:
    file = folder / "steps.yaml"
    file.write_text(text, encoding="utf-8")
    return rollout_runs.read(file)


def test_a_state_has_the_changes_that_were_made_and_the_rest_as_it_was(tmp_path: Path) -> None:
    planned = read(tmp_path)
    after = planned.after({2})
    assert after.writer == planned.now.writer
    assert [str(reader) for reader in after.readers] == [
        "spark-3.5.8-hudi-1.0.2",
        "hive-3.1.3{path=fetch}",
    ]
    assert planned.name({2, 1}) == "readers"
    assert planned.name({3, 1}) == "writers and version alone"


def test_of_two_changes_of_the_same_the_later_counts(tmp_path: Path) -> None:
    writer = read(tmp_path).after({1, 3}).writer
    assert writer
    assert writer.settings == {}
    only = read(tmp_path).after({1}).writer
    assert only
    assert only.settings == {"table_version": "6", "auto_upgrade": "off"}


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("now:\n  writer", "now:\n  scribe", "has no 'scribe'"),
        ("writer: spark-3.5.8-hudi-0.15.0", "writer: trino-476", ":1: now: .*writes single steps"),
        ("{spark-3.5.8-hudi-0.15.0:", "{trino-476:", ":7: readers: .*no reader 'trino-476'"),
        ("    writer: spark-3.5.8-hudi-1.0.2", "    metastore: x", ":9: version: .*metastore 'x'"),
        ("steps:", "changes:", "'steps' is missing"),
    ],
)
def test_what_is_wrong_has_its_line(tmp_path: Path, old: str, new: str, problem: str) -> None:
    with pytest.raises(ScenarioProblem, match=problem):
        read(tmp_path, TEXT.replace(old, new, 1))


V3, V4 = "hive-metastore-3.1.3", "hive-metastore-4.0.1"


def test_a_name_is_a_reader_a_writer_or_a_metastore() -> None:
    assert sides.side(["trino-476{use-column-names=true}"]).parts == ("reader",)
    assert sides.side([V4]).parts == ("metastore",)
    assert sides.side(["spark-3.5.8-hudi-1.0.2{table_version=6}"], WRITER).parts == ("writer",)
    assert sides.side(["hive-3.1.3{path=fetch}", V4]).parts == ("reader", "metastore")
    assert str(sides.side(["hive-3.1.3{path=fetch}", V4])) == f"hive-3.1.3{{path=fetch}} with {V4}"


@pytest.mark.parametrize(
    ("names", "role", "problem"),
    [
        (["trino-999"], READER, "there is no lock data of trino-999"),
        (["trino-476{x=y}"], READER, "there is no setting 'x'"),
        (["trino-476"], WRITER, "trino-476 writes single steps"),
        (["trino-476", "trino-368"], READER, "a side has one reader"),
        ([V3, V4], READER, "a side has one metastore"),
    ],
)
def test_what_is_no_side_is_reported(names: list[str], role: str, problem: str) -> None:
    with pytest.raises(UsageProblem, match=problem):
        sides.side(names, role)


def test_both_sides_name_the_same_parts() -> None:
    with pytest.raises(UsageProblem, match="the old side names reader, the new one metastore"):
        sides.check(sides.side(["trino-476"]), sides.side([V4]))


def test_a_side_is_not_compared_with_itself() -> None:
    by_position = sides.side(["trino-476{use-column-names=false}"])
    with pytest.raises(UsageProblem, match="--from and --to are the same, trino-476: nothing can"):
        sides.check(sides.side(["trino-476"]), sides.side(["trino-476"]))
    sides.check(sides.side(["trino-476"]), by_position)


def test_writers_without_a_format_in_common_are_refused_before_anything_starts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = ["--from", "spark-3.5.9-iceberg-1.12.0", "--to", "spark-4.1.4-delta-4.4.0"]
    assert main(["upgrade", "--as", "writer", *names]) == UsageProblem.exit_status
    result = " ".join(capsys.readouterr().err.split())
    assert (
        "no format is written by all: spark-3.5.9-iceberg-1.12.0 writes iceberg; spark-" in result
    )
    one, other = "spark-3.5.8-hudi-0.15.0", "spark-3.5.8-hudi-1.2.0"
    sides.check_writers([sides.side([name], WRITER) for name in (one, other)])


def test_a_newer_metastore_takes_over_the_database_of_the_older_one() -> None:
    result = sides.registered_first(sides.side([V3]), sides.side([V4]))
    assert str(result.metastore) == f"{V4}, upgraded from {V3}"
    back = sides.registered_first(sides.side([V4]), sides.side([V3]))
    assert str(back.metastore) == V3


def between(old: list[str], new: list[str], role: str = READER) -> dict[str, sides.Side | None]:
    result = sides.sides_between(sides.side(old, role), sides.side(new, role))
    return {swap.component: side for swap, side in result}


def test_sides_that_differ_in_one_component_have_none_between() -> None:
    assert between(["trino-368"], ["trino-476"]) == {}
    assert between(["trino-476"], ["trino-476{use-column-names=false}"]) == {}


def test_each_component_is_swapped_alone() -> None:
    result = between(["trino-368{use-column-names=true}"], ["trino-476{use-column-names=false}"])
    assert {name: str(side) for name, side in result.items()} == {
        sides.ENGINE: "trino-476{use-column-names=true}",
        "setting use-column-names": "trino-368{use-column-names=false}",
    }


def test_a_library_is_a_component_and_one_that_is_not_there_cannot_be_tried() -> None:
    old, new = sides.side(["hive-3.1.3-iceberg-1.4.3"]), sides.side(["hive-4.0.1-tez-0.10.4"])
    result = {swap.component: (swap, side) for swap, side in sides.sides_between(old, new)}
    assert result.keys() == {sides.ENGINE, sides.LIBRARY}
    swap, side = result[sides.ENGINE]
    assert side is None
    assert swap.why_not == "there is no hive-4.0.1-iceberg-1.4.3"


def test_a_metastore_is_a_component() -> None:
    result = between(["hive-3.1.3{path=fetch}", V3], ["hive-4.0.1{path=fetch}", V4])
    assert {name: str(side) for name, side in result.items()} == {
        sides.ENGINE: f"hive-4.0.1{{path=fetch}} with {V3}",
        "metastore": f"hive-3.1.3{{path=fetch}} with {V4}",
    }


def test_what_all_sides_have_decides_what_each_is_asked(tmp_path: Path) -> None:
    parts = sides.parts_of((sides.side(["trino-368"]), sides.side(["trino-476", V3])))
    assert [str(asked.reader) for asked in parts.readers] == ["trino-368", "trino-476"]
    assert not parts.writers
    file = tmp_path / "steps.yaml"
    file.write_text(
        "now: {writer: spark-3.5.8-hudi-0.15.0, readers: [trino-368]}\n"
        "steps:\n"
        "  - {name: readers, readers: {trino-368: trino-476}}\n"
        "  - {name: writer, writer: spark-3.5.8-hudi-1.0.2}\n",
        encoding="utf-8",
    )
    on_the_way = sides.parts_of(rollout_runs.read(file).sides)
    assert [str(asked.reader) for asked in on_the_way.readers] == ["trino-368", "trino-476"]
    assert [str(writer) for writer in on_the_way.writers] == [
        "spark-3.5.8-hudi-0.15.0",
        "spark-3.5.8-hudi-1.0.2",
    ]


def test_sides_that_need_metastores_of_their_own_are_planned_through_them(tmp_path: Path) -> None:
    path = tmp_path / "my.yaml"
    path.write_text(MOVED, encoding="utf-8")
    old = sides.side(["hive-3.1.3", "hive-metastore-3.1.3"], READER)
    new = sides.side(["hive-4.2.1", "hive-metastore-4.0.1"], READER)
    for side in (old, new):

        def made(profile: Profile, _: object, side: sides.Side = side) -> Profile:
            return side.apply(profile)

        change = Change(made, sides.parts_of((old, new)))
        plan = plan_options.make([path], None, "", change=change)
        assert plan.metastore == side.metastore


@pytest.mark.parametrize(
    ("named", "profile", "lacking", "unasked"),
    [
        (("iceberg", "delta"), None, {"delta"}, {"delta"}),
        (("iceberg",), None, set[str](), set[str]()),
        ((), None, set[str](), set[str]()),
        ((), "quick-start-delta", {"delta"}, {"delta"}),
        ((), "quick-start", set[str](), set[str]()),
    ],
)
def test_a_format_that_one_side_does_not_read_is_known_before_anything_starts(
    named: tuple[str, ...], profile: str | None, lacking: set[str], unasked: set[str]
) -> None:
    names, stated = plan_options.formats_named(None, profile, NamedParts(formats=named))
    every = sides.side(["trino-476"]), sides.side(["trino-483"])
    reasons, nobody = sides.unread(every, names, stated=stated)
    assert (set(reasons), set(nobody)) == (lacking, unasked)
    for why in reasons.values():
        assert why.startswith("trino-483 has no connector for delta tables")


def test_what_another_reader_of_the_side_still_reads_is_asked_all_the_same() -> None:
    before, after = (
        replace(sides.Side(), readers=tuple(map(parse_reader, names)))
        for names in (("trino-476", "duckdb-1.5.5"), ("trino-483", "duckdb-1.5.5"))
    )
    reasons, nobody = sides.unread((before, after), ("delta", "hudi-cow"), stated=True)
    assert (set(reasons), nobody) == ({"delta"}, frozenset())


@pytest.mark.parametrize(
    ("old", "new", "role", "reason"),
    [
        ("duckdb-1.5.5", "duckdb-2.0.1", "reader", "duckdb-2.0.1 has no reader for delta tables"),
        ("spark-3.5.8", "spark-3.5.9", "reader", ""),
        ("spark-3.5.9-iceberg-1.12.0", "spark-4.1.4-iceberg-1.12.0", "writer", ""),
        ("spark-3.5.8-delta-3.3.2", "spark-4.1.4-delta-4.4.0", "writer", None),
        ("hive-metastore-3.1.3", "hive-metastore-4.0.1", "reader", None),
    ],
)
def test_a_format_of_no_side_is_no_reason_to_know_nothing_and_one_of_one_side_is(
    old: str, new: str, role: str, reason: str | None
) -> None:
    both = [sides.side([name], role) for name in (old, new)]
    assert sides.lacking(both, ["delta"]).get("delta") == reason
