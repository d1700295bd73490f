"""Which settings a reader has otherwise than its engine by itself."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness import engines, formats
from harness.artifacts import distributions
from harness.cli import named_parts, plan_options
from harness.cli.plan_options import PlanOverrides
from harness.core.errors import ScenarioProblem, UsageProblem
from harness.core.runtime_names import USUAL_METASTORE, MetastoreChoice
from harness.plan import controls, distribution_support
from harness.plan.distribution_support import cannot, check_combination
from harness.run import pipeline
from harness.scenario.cells import CONTROL, Plan, Reader, parse_reader
from harness.write import write_variants

READERS = tuple(distribution.name for distribution in distribution_support.readers())


def differences(text: str, *format_names: str) -> list[str]:
    unlike = distribution_support.unlike_defaults(parse_reader(text), format_names)
    assert unlike is not None
    return [str(unlike) for unlike in unlike]


@pytest.mark.parametrize("name", READERS)
def test_every_setting_that_a_reader_may_name_has_a_default_that_is_a_value_of_it(
    name: str,
) -> None:
    for format_name in formats.names():
        if not distribution_support.cannot(Reader(name), format_name):
            unlike = distribution_support.unlike_defaults(Reader(name), (format_name,))
            assert unlike is not None, f"of a setting the lock data has no defaults: {format_name}"
    distribution = distributions.load(name)
    allowed = engines.load(distribution.engine).settings
    for setting, default in distribution.defaults.items():
        values = {value for value in (default.value, default.ours) if value}
        assert default.families or values <= set(allowed[setting])


@pytest.mark.parametrize(
    ("reader", "format_name"),
    [
        ("trino-476", "hudi-cow"),
        ("trino-476{use-column-names=true}", "hudi-cow"),
        ("spark-3.5.8-hudi-0.15.0{schema-on-read=off, data-skipping=off}", "hudi-mor"),
        ("spark-3.5.8-hudi-1.0.2{metadata-table=on}", "hudi-mor"),
        ("hive-3.1.3{path=fetch, vectorized=on, input-format=combine, statistics=on}", "hudi-cow"),
        ("prestodb-0.283{connector=hive}", "hudi-cow"),
    ],
)
def test_a_reader_with_every_default_differs_in_nothing(reader: str, format_name: str) -> None:
    assert differences(reader, format_name) == []


def test_what_the_harness_sets_for_all_is_told_apart_from_what_the_reader_names() -> None:
    assert differences(
        "hive-3.1.3{path=mapreduce, schema-on-read=on, statistics=off}", "hudi-cow"
    ) == [
        "schema-on-read=on (default: off)",
        "vectorized=off, set by the harness (default: on)",
        "input-format=plain, set by the harness (default: combine)",
        "statistics=off (default: on)",
    ]


def test_a_default_that_changed_from_one_version_to_the_next_is_each_versions_own() -> None:
    old, new = (
        f"spark-3.5.8-hudi-{setting}{{data-skipping=on}}" for setting in ("0.15.0", "1.0.2")
    )
    assert differences(old, "hudi-cow") == ["data-skipping=on (default: off)"]
    assert differences(new, "hudi-cow") == []


def test_nothing_is_reported_about_a_setting_whose_default_is_not_declared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    distribution = distributions.load("trino-476")
    fewer = {name: d for name, d in distribution.defaults.items() if name[:3] != "orc"}
    less = replace(distribution, defaults=fewer)
    monkeypatch.setattr(distributions, "load", lambda _: less)
    assert distribution_support.unlike_defaults(Reader("trino-476"), ("hudi-cow",)) == ()
    assert (
        distribution_support.unlike_defaults(Reader("trino-476"), ("hudi-cow", "hive-orc")) is None
    )


def test_what_a_reader_cannot_be_asked_is_reported_by_its_engine() -> None:
    by_name = parse_reader("trino-476{use-column-names=true}")
    assert cannot(by_name, "hudi-cow") == ""
    assert "no setting use-column-names" in cannot(by_name, "iceberg")


def test_settings_that_do_not_go_together_are_refused_with_each_reason_once() -> None:
    reader = "prestodb-0.283{connector=hudi, use-column-names=true}"
    with pytest.raises(UsageProblem) as caught:
        check_combination(parse_reader(reader))
    message = str(caught.value)
    assert message.startswith(f"{reader}: it can be asked")
    reason = "hudi-cow, hudi-mor: the hudi connector of prestodb-0.283 has no setting"
    assert message.count(reason) == 1


MINE = """\
mine:
  scenarios: [hudi/move]
  formats: [{of}]
  writers: [{writer}]
  readers: [{reader}]
  {line}
"""
WRITERS = {"hudi-cow": "spark-3.5.8-hudi-0.15.0", "hive-acid": "hive-3.1.3"}
NEWER = "hive-metastore-4.0.1"
SCENARIO = Path(__file__).parents[3] / "scenarios" / "hudi" / "move.yaml"


def planned(
    folder: Path,
    message: str,
    reader: str = "trino-476",
    option: str = "",
    format_name: str = "hudi-cow",
    writer: str = "",
) -> Plan:
    """Return the plan of a profile of tables of a format that says this of its metastore."""
    (folder / "profiles.yaml").write_text(
        MINE.format(
            line=message, reader=reader, of=format_name, writer=writer or WRITERS[format_name]
        )
    )
    (folder / "hudi").mkdir()
    text = SCENARIO.read_text()
    (folder / "hudi" / "move.yaml").write_text(text.replace("hudi-cow, hudi-mor", format_name))
    return plan_options.make([folder], "mine", "", overrides=PlanOverrides(metastore=option))


@pytest.mark.parametrize(
    ("line", "option"),
    [("metastore: hive-metastore-4.0.1", ""), ("twins: false", "hive-metastore-4.0.1")],
)
def test_through_another_one_every_reader_has_a_control(
    tmp_path: Path, line: str, option: str
) -> None:
    made = planned(tmp_path, line, option=option)
    assert made.metastore == MetastoreChoice("hive-metastore-4.0.1")
    variants = {variant.id: variant for variant in made.variants}
    (control,) = (
        c for c in made.cells if controls.is_control(c, variants[c.variant], made.metastore)
    )
    assert control == made.cells[0]
    assert control.variant.startswith(CONTROL)


def test_tables_are_written_on_the_usual_one_and_read_through_the_other(tmp_path: Path) -> None:
    made = planned(tmp_path, "metastore: hive-metastore-4.0.1")
    assert pipeline.needed_distributions(made)[:2] == (
        "hive-metastore-3.1.3",
        "hive-metastore-4.0.1",
    )
    assert pipeline.metastore_of(made) == "hive-metastore-3.1.3"


def test_a_writer_that_is_too_new_for_the_usual_one_has_its_own(tmp_path: Path) -> None:
    made = planned(tmp_path, "twins: false", format_name="hive-acid", writer="hive-4.0.1")
    assert made.metastore == USUAL_METASTORE
    usual = pipeline.metastore_of(made)
    assert usual == USUAL_METASTORE.distribution
    assert {write_variants.metastore_of(variant, usual) for variant in made.variants} == {NEWER}
    assert set(pipeline.needed_distributions(made)[:2]) == {usual, NEWER}


def test_an_upgrade_needs_both_and_the_newer_ones_tool(tmp_path: Path) -> None:
    message = "{distribution: hive-metastore-4.0.1, upgraded_from: hive-metastore-2.3.10}"
    made = planned(tmp_path, f"metastore: {message}")
    assert made.metastore == MetastoreChoice("hive-metastore-4.0.1", "hive-metastore-2.3.10")
    assert str(made.metastore) == "hive-metastore-4.0.1, upgraded from hive-metastore-2.3.10"
    assert pipeline.needed_distributions(made)[:4] == (
        "hive-metastore-3.1.3",
        "hive-metastore-2.3.10",
        "hive-metastore-4.0.1",
        "hive-schematool-4.0.1",
    )


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("metastore: hive-metastore-9", "there is no 'hive-metastore-9'; did you mean"),
        ("metastore: hive-schematool-3.1.3", "there is no 'hive-schematool-3.1.3'"),
        (
            "metastore: {distribution: hive-metastore-3.1.3, upgraded_from: hive-metastore-4.0.1}",
            "upgraded_from: hive-metastore-4.0.1 is not older than hive-metastore-3.1.3",
        ),
        (
            "metastore: {distribution: hive-metastore-2.3.10, upgraded_from: hive-metastore-3.1.3}",
            "nothing upgrades a database to hive-metastore-2.3.10; allowed: hive-metastore-3.1.3",
        ),
        (
            "metastore: {distribution: a, from: b}",
            "metastore has no 'from'; did you mean 'upgraded_from'? allowed: distribution,",
        ),
    ],
)
def test_what_is_none_is_refused_with_its_line(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(ScenarioProblem) as wrong:
        planned(tmp_path, line)
    assert why in str(wrong.value)
    assert f"{tmp_path / 'profiles.yaml'}:6" in str(wrong.value)


def test_containers_ask_through_one_in_a_container(tmp_path: Path) -> None:
    message = "{distribution: hive-metastore-3.1.3, upgraded_from: hive-metastore-2.3.10}"
    made = planned(tmp_path, f"metastore: {message}", "trino-476@container")
    assert made.metastore.distributions == (
        "hive-metastore-2.3.10@container",
        "hive-metastore-3.1.3@container",
    )


@pytest.mark.parametrize("line", ["twins: false", "metastore: hive-metastore-2.3.10"])
def test_a_reader_that_needs_a_newer_one_is_reported_with_what_it_needs(
    tmp_path: Path, line: str
) -> None:
    with pytest.raises(
        ScenarioProblem, match=r"hive-4\.0\.1 cannot ask .* through hive-metastore-4\.0\.1 it can"
    ):
        planned(tmp_path, line, reader="hive-4.0.1")


@pytest.mark.parametrize(
    ("through", "why"),
    [
        ("hive-metastore-4.0.1", "only from Hive itself; name hive-metastore-3.1.3 under upgraded"),
        ("hive-metastore-2.3.10", "it does not number the writes"),
        ("{distribution: hive-metastore-3.1.3, upgraded_from: hive-metastore-2.3.10}", "number"),
    ],
)
def test_one_that_takes_no_transactional_table_is_reported(
    tmp_path: Path, through: str, why: str
) -> None:
    with pytest.raises(ScenarioProblem, match=f"cannot have hive-acid tables .*{why}"):
        planned(tmp_path, f"metastore: {through}", format_name="hive-acid")


def test_another_one_serves_no_object_store(tmp_path: Path) -> None:
    with pytest.raises(ScenarioProblem, match="on the disk, not s3 readers; ask all of one kind"):
        planned(tmp_path, "metastore: hive-metastore-4.0.1", "trino-476@s3")


def test_containers_and_readers_of_an_object_store_are_not_asked_in_one_run() -> None:
    both = named_parts.NamedParts(readers=["trino-476@s3", "trino-476@container"])
    with pytest.raises(UsageProblem, match="no one serves both trino-476@container and trino-476@"):
        plan_options.make(None, "first", "", named=both)
