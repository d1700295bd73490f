"""Readers of somebody's own: a known engine with changes, in a file beside the profiles."""

from pathlib import Path
from textwrap import dedent

import pytest

from harness.artifacts import distributions
from harness.cli import plan_options
from harness.cli.named_parts import NamedParts
from harness.core.errors import ScenarioProblem
from harness.plan import custom_distributions, shipped

SHA = "ab" * 32
FILE = f"""\
    trino-patched:
      like: trino-480@container
      image: registry.example/trino:480-patched
      properties: {{query.max-memory: 1GB}}
      catalogs:
        hudi: {{hudi.table.resolve-column-name-casing.enabled: "true", hive.s3.secret-key: hidden}}
      heap_mb: 2048
    hive-newer-reader:
      like: hive-3.1.3
      properties: {{hive.support.quoted.identifiers: none}}
      jars:
        front:
          - {{get: "org.apache.hudi:hudi-presto-bundle:1.2.0:jar", size: 7, sha256: {SHA}}}
      java: "11"
    spark-nanos:
      like: spark-3.5.8-hudi-1.0.2
      properties: {{spark.sql.legacy.parquet.nanosAsLong: "false"}}
"""


def registered(folder: Path, text: str = FILE) -> tuple[str, ...]:
    file = folder / "readers.yaml"
    file.write_text(dedent(text))
    return custom_distributions.register_file(file)


def test_a_reader_is_a_known_engine_with_changes(tmp_path: Path) -> None:
    assert registered(tmp_path) == ("trino-patched", "hive-newer-reader", "spark-nanos")
    distribution, base = (
        distributions.load("trino-patched"),
        distributions.load("trino-480@container"),
    )
    assert (distribution.engine, distribution.version, distribution.runtime) == (
        "trino",
        "480",
        "container",
    )
    assert (distribution.image, distribution.heap_mb) == (
        "registry.example/trino:480-patched",
        2048,
    )
    assert distribution.options("config") == {**base.options("config"), "query.max-memory": "1GB"}
    assert distribution.options("hudi_catalog")["fs.hadoop.enabled"] == "true"
    assert (
        distribution.options("hudi_catalog")["hudi.table.resolve-column-name-casing.enabled"]
        == "true"
    )
    assert distribution.notice == base.notice


def test_what_was_changed_is_reported_and_no_secret(tmp_path: Path) -> None:
    registered(tmp_path)
    assert distributions.load("trino-patched").overlaid == (
        "with query.max-memory=1GB; hudi.table.resolve-column-name-casing.enabled=true in the "
        "catalog for hudi; hive.s3.secret-key=… in the catalog for hudi; a heap of 2048 MB"
    )
    assert distributions.load("hive-newer-reader").overlaid == (
        "with hive.support.quoted.identifiers=none; org.apache.hudi:hudi-presto-bundle:1.2.0:jar "
        "in front; Java 11"
    )


def test_a_jar_takes_the_place_of_another_version_of_it(tmp_path: Path) -> None:
    registered(tmp_path)
    distribution, base = distributions.load("hive-newer-reader"), distributions.load("hive-3.1.3")
    front, before = ([a for a in d.artifacts if a.into == "front"] for d in (distribution, base))
    assert [artifact.file_name for artifact in front] == [
        artifact.file_name.replace("hudi-presto-bundle-1.0.2", "hudi-presto-bundle-1.2.0")
        for artifact in before
    ]
    others = [artifact for artifact in base.artifacts if artifact.into != "front"]
    assert [artifact for artifact in distribution.artifacts if artifact.into != "front"] == others
    assert (distribution.jre, distribution.runtime) == ("11", "process")


def test_a_profile_and_the_command_line_can_name_it(tmp_path: Path) -> None:
    registered(tmp_path)
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        "about: x\ntable: {columns: {id: string, ts: long, f1: string}, key: id, order_by: ts}\n"
        "steps: [{insert: [1]}]\n"
    )
    distributions._custom.clear()
    made = plan_options.make([mine], "first", "", named=NamedParts(readers=["trino-patched"]))
    assert {cell.reader for cell in made.cells} == {"trino-patched"}
    assert any(variant.scenario.name == "control/unchanged" for variant in made.variants)


def test_a_run_keeps_what_its_readers_are(tmp_path: Path) -> None:
    registered(tmp_path)
    local = distributions.custom_locks(["trino-patched", "trino-476"])
    assert local.keys() == {"trino-patched"}
    distributions._custom.clear()
    for name, text in local.items():
        distributions.register(name, text, "run.json")
    assert distributions.load("trino-patched").heap_mb == 2048


WRONG = {
    "trino-x: {like: trino-340}": "trino-x: like: there is no 'trino-340'; harness engines",
    "mine: {like: trino-476}": "mine: its name must begin with its product, trino-",
    "trino-476: {like: trino-368}": "trino-476: a distribution that is shipped is called so",
    "trino-x: {like: trino-480}": "trino-x: there is no lock data of trino-480, and it cannot",
    "hive-x: {like: hive-3.1.3, catalogs: {hudi: {a: b}}}": "hive-x: catalogs: hive has none",
    "trino-x: {like: trino-476, property: {a: b}}": "readers: trino-x has no 'property'; did",
    "trino-x: {like: trino-476, properties: {a: 1}}": "readers: trino-x.properties.a: 1 is g",
    "trino-x: {image: a}": "readers: trino-x: 'like' is missing; keys: like, image, properties",
    "spark-x: {like: spark-3.5.8, jars: {front: [{get: x, size: 1}]}}": "readers: spark-x.ja",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items())
def test_what_is_wrong_is_reported_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioProblem) as problem:
        registered(tmp_path, text)
    assert str(problem.value).startswith(f"{tmp_path / 'readers.yaml'}:1: {message}")


def test_lock_data_and_readers_are_no_scenarios(tmp_path: Path) -> None:
    registered(tmp_path)
    (tmp_path / "distributions").mkdir()
    lock = "name: trino-470\nversion: '470'\nrules: trino\n"
    (tmp_path / "distributions" / "trino-470.yaml").write_text(lock)
    custom_distributions.register([tmp_path])
    assert distributions.load("trino-470").version == "470"
    paths, wrong = shipped.scenario_files(tmp_path)
    assert (paths, wrong) == ((), {})


def test_a_broken_file_above_a_folder_with_profiles_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "readers.yaml").write_text("a: {b: c}\n")
    (folder := tmp_path / "my").mkdir()
    with pytest.raises(ScenarioProblem):
        custom_distributions.register([folder])
    (folder / "profiles.yaml").touch()
    custom_distributions.register([folder])


def test_what_was_added_in_the_folder_of_a_command_is_known_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "distributions").mkdir()
    (folder / "trino-470.yaml").write_text("{name: trino-470, like: trino-476, version: '470'}")
    (folder / "of_somebody_else.yaml").write_text("no: lock data")
    monkeypatch.chdir(tmp_path)
    custom_distributions.register(())
    assert distributions.load("trino-470").version == "470"
    assert not distributions.exists("of_somebody_else")
