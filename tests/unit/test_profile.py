from __future__ import annotations

import pytest

from harness.cells import Reader
from harness.errors import ScenarioProblem
from harness.plan import Asked, AskedSteps, Profile, Writer
from harness.plan.profile import loads_profiles

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
                Asked(Reader("trino-476", (("use-column-names", "true"),))),
                Asked(Reader("hive-3.1.3", (("path", "mapreduce"),)), AskedSteps.SCHEMA_CHANGES),
            ),
        )
    }


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("twins: true", "twins: maybe", '4: profile mine: twins: "maybe" is given; allowed: true'),
        ("twins:", "twin:", "4: profile mine has no 'twin'; did you mean 'twins'? allowed: scen"),
        ("  scenarios: [hudi/*]\n", "", "1: profile mine: 'scenarios' is missing; keys: scenari"),
        ("[hudi-cow]", "[]", "5: profile mine: formats is empty; name one"),
        ("rewrites", "rewrits", "6: mine.axes: there is no 'rewrits'; did you mean 'rewrites'?"),
        ("[some]", "[few]", "6: mine.axes.rewrites: there is no 'few'; allowed: none, some, all"),
        ("[snapshot]", "[snap]", "7: mine.views: there is no 'snap'; did you mean 'snapshot'?"),
        ("[all]", "[every]", "8: mine.queries: there is no 'every'; allowed: all, column"),
        ("distribution:", "name:", "11: writer has no 'name'; allowed: distribution, sequence"),
        ('"6"', "6", "11: writer: settings.table_version: 6 is given; allowed: text (quote it)"),
        ("=true}", "}", "13: 'trino-476{use-column-names}' is no reader; write distribution{"),
        ("=true}", "=}", "13: 'trino-476{use-column-names=}': each setting once, with a name"),
        ("schema_changes", "few", '14: reader: steps: "few": input should be'),
        ("hive-3.1.3{path=mapreduce}", "trino-476{use-column-names=true}", "14: the reader trino"),
    ],
)
def test_what_is_wrong_with_a_profile_is_told_with_its_line(old: str, new: str, told: str) -> None:
    with pytest.raises(ScenarioProblem) as wrong:
        loads_profiles(MINE.replace(old, new, 1), "p.yaml")
    assert [line for line in str(wrong.value).splitlines() if line.startswith(f"p.yaml:{told}")]


@pytest.mark.parametrize("text", ["", "- a\n", "{}\n"])
def test_a_file_without_profiles_is_told_what_one_looks_like(text: str) -> None:
    with pytest.raises(ScenarioProblem, match="there are no profiles; write `name:"):
        loads_profiles(text, "p.yaml")
