import pytest

from harness.core.errors import ScenarioProblem
from harness.plan import AskedSteps, Cover, Profile, ProfileReader, Writer
from harness.plan.profile import loads_profiles
from harness.scenario.cells import AskedAgain, Reader

MINE = """mine:
  about: For a test.
  scenarios: [hudi/*]
  twins: true
  formats: [hudi-cow]
  axes: {rewrites: [some]}
  views: [snapshot]
  queries: [all]
  writers:
    - spark-1
    - {distribution: spark-2, settings: {table_version: "6"}}
  readers:
    - trino-476{use-column-names=true}
    - {reader: "hive-3.1.3{path=mapreduce}", steps: schema_changes}
"""


def test_a_profile_is_read_as_it_stands() -> None:
    assert loads_profiles(MINE, "p.yaml") == {
        "mine": Profile(
            name="mine",
            about="For a test.",
            scenarios=("hudi/*",),
            twins=True,
            formats=("hudi-cow",),
            axes={"rewrites": ("some",)},
            views=("snapshot",),
            queries=("all",),
            writers=(Writer("spark-1"), Writer("spark-2", {"table_version": "6"})),
            readers=(
                ProfileReader(Reader("trino-476", (("use-column-names", "true"),))),
                ProfileReader(
                    Reader("hive-3.1.3", (("path", "mapreduce"),)), AskedSteps.SCHEMA_CHANGES
                ),
            ),
        )
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("twins: true", "twins: maybe", '4: profile mine: twins: "maybe" is given; allowed: true'),
        ("twins:", "twin:", "4: profile mine has no 'twin'; did you mean 'twins'? allowed: scen"),
        ("  scenarios: [hudi/*]\n", "", "1: profile mine: 'scenarios' is missing; keys: scenari"),
        ("[hudi-cow]", "[]", "5: profile mine: formats is empty; name one"),
        ("rewrites", "rewrits", "6: mine.axes: there is no 'rewrits'; did you mean 'rewrites'?"),
        ("[some]", "[few]", "6: mine.axes.rewrites: there is no 'few'; allowed: none, some, all"),
        ("[snapshot]", "[snap]", "7: mine.views: there is no 'snap'; did you mean 'snapshot'?"),
        ("mine:", "../up:", "1: '../up' is not a name for a profile; allowed: 1 to 100 letters"),
        (
            "twins: true",
            "warehouse: s3\n  runtime: container",
            "4: profile mine: containers reach no object store on loopback",
        ),
        ("[all]", "[every]", "8: mine.queries: there is no 'every'; allowed: all, column"),
        ('"6"', "6", "11: writer: settings.table_version: 6 is given; allowed: text (quote it)"),
        ("twins: true", "runtime: docker", "4: mine.runtime: there is no 'docker'; allowed: proc"),
        ("=true}", "}", "13: 'trino-476{use-column-names}' is not a reader; write distribution{"),
        ("schema_changes", "few", '14: reader: steps: "few": input should be'),
        ("hive-3.1.3{path=mapreduce}", "trino-476{use-column-names=true}", "14: the reader trino"),
    ],
)
def test_what_is_wrong_with_a_profile_is_reported_with_its_line(
    old: str, new: str, message: str
) -> None:
    with pytest.raises(ScenarioProblem) as wrong:
        loads_profiles(MINE.replace(old, new, 1), "p.yaml")
    assert [line for line in str(wrong.value).splitlines() if line.startswith(f"p.yaml:{message}")]


def test_a_runtime_is_that_of_all_engines_that_name_none() -> None:
    text = MINE.replace("twins: true", "runtime: container").replace("spark-1", "spark-1@process")
    text += "    - {reader: prestosql-350@container}\n    - prestosql-350@process\n"
    profile = loads_profiles(text, "p.yaml")["mine"]
    assert [writer.distribution for writer in profile.writers] == ["spark-1", "spark-2@container"]
    assert [asked_reader.reader.distribution for asked_reader in profile.readers] == [
        "trino-476@container",
        "hive-3.1.3@container",
        "prestosql-350@container",
        "prestosql-350",
    ]


def test_a_warehouse_is_that_of_all_readers_and_of_no_writer() -> None:
    profile = loads_profiles(MINE.replace("twins: true", "warehouse: s3"), "p.yaml")["mine"]
    assert [writer.distribution for writer in profile.writers] == ["spark-1", "spark-2"]
    assert [asked_reader.reader.distribution for asked_reader in profile.readers] == [
        "trino-476@s3",
        "hive-3.1.3@s3",
    ]


ALL_OF_IT = """full:
  scenarios: [hudi/*]
  cover: pairs
  formats: [hudi-cow]
  axes: {partitioned: [none, two], meta_fields: [omitted]}
  queries:
    - all
    - {query: column, steps: schema_changes}
  writers:
    - {sequence: [spark-1, spark-2], scenarios: [hudi/a5], axes: {partitioned: [none]}}
    - {sequence: [spark-1, spark-2], at: 3}
  readers:
    - {reader: trino-476, variants: pairs, formats: [hudi-cow]}
"""


def test_a_profile_of_pairs_and_sequences_is_read_as_it_stands() -> None:
    profile = loads_profiles(ALL_OF_IT, "p.yaml")["full"]
    assert profile.cover is Cover.PAIRS
    assert profile.axes == {"partitioned": ("none", "two"), "meta_fields": ("omitted",)}
    assert profile.queries == ("all", "column")
    assert profile.query_steps == {"column": AskedSteps.SCHEMA_CHANGES}
    trino = Reader("trino-476")
    assert profile.readers == (ProfileReader(trino, variants=Cover.PAIRS, formats=("hudi-cow",)),)
    limits = {"partitioned": ("none",)}
    assert profile.writers == (
        Writer("spark-1", then="spark-2", scenarios=("hudi/a5",), axes=limits),
        Writer("spark-1", then="spark-2", at=3),
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cover: pairs", "cover: some", '3: profile full: cover: "some": input should be'),
        ("[none, two]", "[three]", "5: full.axes.partitioned: there is no 'three'; allowed: none"),
        ("meta_fields", "met_fields", "5: full.axes: there is no 'met_fields'; did you mean"),
        ("query: column", "query: row", "6: full.queries: there is no 'row'; allowed: all"),
        ("[spark-1, spark-2], s", "[spark-1], s", "10: writer: sequence: two different"),
        ("{sequence: [spark-1, spark-2], at: 3}", "{at: 3}", "11: writer: give 'distribution', or"),
        ("at: 3", "at: 0", "11: writer: at: 0 is given; allowed: every_step or the number"),
        ("sequence: [spark-1, spark-2], at", "distribution: s, at", "11: writer: at: only a seq"),
    ],
)
def test_what_is_wrong_with_pairs_and_sequences_is_reported(
    old: str, new: str, message: str
) -> None:
    assert old in ALL_OF_IT
    with pytest.raises(ScenarioProblem) as wrong:
        loads_profiles(ALL_OF_IT.replace(old, new, 1), "p.yaml")
    assert [line for line in str(wrong.value).splitlines() if line.startswith(f"p.yaml:{message}")]


def test_a_profile_may_ask_again_for_a_sample_of_the_right_answers() -> None:
    assert loads_profiles(MINE, "p.yaml")["mine"].ask_again is AskedAgain.UNEXPLAINED
    more = MINE.replace("  twins: true", "  twins: true\n  ask_again: sample")
    assert loads_profiles(more, "p.yaml")["mine"].ask_again is AskedAgain.SAMPLE
    with pytest.raises(ScenarioProblem, match=r"ask_again: .*unexplained.*sample"):
        loads_profiles(more.replace(": sample", ": all"), "p.yaml")
