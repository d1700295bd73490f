import dataclasses
from typing import Any

import pytest

from harness.artifacts import distributions
from harness.artifacts.distribution import (
    CodePatch,
    Default,
    Distribution,
    LockedFile,
    MainClass,
    Reads,
)
from harness.core.errors import ScenarioProblem, UsageProblem

SHA = "ab" * 32
WHOLE = f"""\
name: trino-1
engine: trino
version: "1"
fidelity: stock
jre: "25"
heap_mb: 1024
memory_mb: 900
disk_mb: 500
listens: loopback
artifacts:
  archive:
    - {{get: "org.x:server:1:bin:tar.gz", size: 10, sha256: {SHA}, members: [lib]}}
  plugin/hive:
    - {{get: "org.x:reader:2:jar", size: 20, sha256: {SHA}}}
patches:
  - {{jar: a.jar, class: a.B$C, replace: {{old: new}}}}
settings:
  main: org.x.Main
  jvm: [-XX:+UseSerialGC]
  config: {{a.b: "1"}}
  hudi: 1.0.2
reads:
  hudi: {{up_to: 8, source: the source of x 2}}
defaults:
  names: {{value: "on", ours: "off", source: log of x 1}}
  path: {{either: always, source: page of x 1}}
"""
READER = "lock data: artifacts.plugin/hive.0"
PATCH = "lock data: patches.0"
CODE = "code: {{find: {}, put: {}, text: x}}"


def parse(text: str) -> Distribution:
    return distributions.parse(text, "d.yaml")


def test_a_whole_file_becomes_a_distribution() -> None:
    parsed = parse(WHOLE)
    archive, reader = parsed.artifacts
    names = parsed.name, parsed.engine, parsed.version, parsed.jre
    assert names == ("trino-1", "trino", "1", "25")
    assert archive.file_name == "server-1-bin.tar.gz"
    assert archive.coordinates.repository_path == "org/x/server/1/server-1-bin.tar.gz"
    assert archive.members == ("lib",)
    assert (reader.into, reader.size, reader.sha256) == ("plugin/hive", 20, SHA)
    assert parsed.patches[0].replace == {"old": "new"}


def test_a_jar_of_several_folders_stands_there_once() -> None:
    parsed = parse(WHOLE.replace("plugin/hive:", "home/lib home/plugin/hive plugin/x:"))
    _, *readers = parsed.artifacts
    assert [(reader.into, reader.folder, reader.is_added) for reader in readers] == [
        ("home/lib", "lib", False),
        ("home/plugin/hive", "plugin/hive", False),
        ("plugin/x", "plugin/x", True),
    ]
    assert {reader.sha256 for reader in readers} == {SHA}
    assert all(artifact.in_tree for artifact in parsed.artifacts)


def test_what_is_made_of_a_server_is_read() -> None:
    made = (
        'main_class: {name: Begin, calls: org.x.Server.start, argument: "1"}\n'
        "services:\n  plugin/hive: {org.x.Plugin: org.x.HivePlugin}\n"
        "without_login: [plugin/hive/hdfs]\n"
    )
    parsed = parse(WHOLE + made)
    assert parsed.main_class == MainClass("Begin", "org.x.Server.start", "1")
    assert parsed.services == {"plugin/hive": {"org.x.Plugin": "org.x.HivePlugin"}}
    assert parsed.without_login == ("plugin/hive/hdfs",)
    without = parse(WHOLE)
    assert (without.main_class, without.services) == (None, {})
    with pytest.raises(ScenarioProblem, match="'start' is given; allowed: a method, such as a"):
        parse(WHOLE + made.replace("org.x.Server.start", "start"))


def test_a_patch_of_instructions_is_read() -> None:
    parsed = parse(WHOLE.replace("replace: {old: new}", CODE.format("2a .. ff", "13 tt tt")))
    assert parsed.patches[0].code == CodePatch(find="2a .. ff", put="13 tt tt", text="x")


def test_what_it_knows_of_tables_is_read_with_the_source() -> None:
    assert parse(WHOLE).reads == {"hudi": Reads(8, "the source of x 2")}
    assert parse(WHOLE.partition("reads:")[0]).reads == {}


def test_what_an_engine_does_by_itself_is_read_with_its_source() -> None:
    assert parse(WHOLE).defaults == {
        "names": Default("log of x 1", "on", ours="off"),
        "path": Default("page of x 1", either="always"),
    }
    assert parse(WHOLE.partition("defaults:")[0]).defaults == {}


def test_a_program_of_python_has_wheels_by_machine_instead_of_a_jre() -> None:
    machines = f"{{any: {{size: 3, sha256: {SHA}}}}}"
    parsed = parse(WHOLE.replace('jre: "25"', f"wheels: {{some-lib==1.0.2: {machines}}}"))
    assert parsed.wheels == {"some-lib==1.0.2": {"any": LockedFile(3, SHA)}}
    assert parsed.jre == ""


def test_settings_are_read_by_kind() -> None:
    parsed = parse(WHOLE)
    assert parsed.text("main") == "org.x.Main"
    assert parsed.options("config") == {"a.b": "1"}
    assert parsed.java_options == ("-Xmx1024m", "-XX:+UseSerialGC")


def test_a_setting_of_another_kind_or_unknown_is_named() -> None:
    parsed = parse(WHOLE)
    with pytest.raises(TypeError, match="'main' is not a list of texts"):
        parsed.texts("main")
    with pytest.raises(KeyError, match="has no setting 'mian'; it has: config, hudi, jvm, main"):
        parsed.text("mian")


def test_artifacts_from_takes_the_other_ones_artifacts_and_patches_first() -> None:
    base = parse(WHOLE)
    distributions.register("trino-0", WHOLE.replace("trino-1", "trino-0"), "d.yaml")
    text = WHOLE.replace("patches:", "artifacts_from: trino-0\npatches:").replace("B$C", "D")
    both = parse(text)
    for role in ("archive", "plugin/hive"):
        first, second = (
            [a for a in distribution.artifacts if a.into == role] for distribution in (base, both)
        )
        assert second == first * 2
    assert [patch.class_ for patch in both.patches] == ["a.B$C", "a.D"]


WHEELS = f"wheels: {{{{{{}}: {{{{{{}}: {{{{size: 3, sha256: {SHA}}}}}}}}}}}}}"
"""A package and the machine that it is for are left open."""
GIVEN = "is given; allowed:"
PLUGIN = "plugin/hive:"
OLD = "replace: {old: new}"
JRE = 'jre: "25"'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('version: "1"', "version: 1", f"3: lock data: version: 1 {GIVEN} text"),
        ("fidelity: stock", "fidelity: patched", f"4: lock data: fidelity: 'patched' {GIVEN}"),
        ('jre: "25"\n', "", "1: lock data: a distribution has either jre or wheels"),
        (JRE, WHEELS.format("Lib==1", "any"), f"5: lock data: wheels.Lib==1: 'Lib==1' {GIVEN}"),
        (JRE, WHEELS.format("lib==1", "OS"), f"5: lock data: wheels.lib==1.OS: 'OS' {GIVEN}"),
        ("heap_mb: 1024", "heap_mb: lots", f'6: lock data: heap_mb: "lots" {GIVEN} a whole number'),
        ("listens: loopback", "listen: loopback", "9: lock data has no 'listen'; did you mean 'l"),
        ("listens: loopback\n", "", "1: lock data: 'listens' is missing; keys: name, engine, ver"),
        (f"20, sha256: {SHA}", "20, sha256: abc", f"14: {READER}.sha256: 'abc' {GIVEN} 64"),
        ("x:reader:2", "x:../r:2", f"14: {READER}.get: 'org.x:../r:2:jar' holds a part"),
        (PLUGIN, "../hive:", f"13: lock data: artifacts.../hive: '../hive' {GIVEN}"),
        (PLUGIN, "/hive:", f"13: lock data: artifacts./hive: '/hive' {GIVEN}"),
        ("size: 20", "members: [a], size: 20", "14: only what goes into 'archive'"),
        ("size: 20", "size: -1", f"14: {READER}.size: -1: input should be greater than or equal"),
        (", replace: {old: new}", "", f"16: {PATCH}: a patch has replace, or code, or both"),
        (OLD, CODE.format("2a", "13 00"), f"16: {PATCH}.code: put must be as long as find"),
        (OLD, CODE.format("2a zz", "1 2"), f"16: {PATCH}.code.find: '2a zz' {GIVEN}"),
        ("main: org.x.Main", 'main: ""', f"18: lock data: settings.main: '' {GIVEN} text"),
        ("hudi: {up_to", "hoodie: {up_to", "23: settings say no version of the library 'hoodie'"),
        ("up_to: 8, ", "", "23: lock data: reads.hudi: 'up_to' is missing; keys: up_to, source"),
        ('ours: "off"', 'ours: "on"', "25: lock data: defaults.names: ours is a value that is not"),
        ("either: always", "either: a, value: b", "26: lock data: defaults.path: a default has v"),
        ("name: trino-1", "name: trino-1\nname: x", "2: the key 'name' stands twice; give it once"),
        ("name: trino-1", "name: [", "3: not YAML: expected ',' or ']'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_reported_with_its_line(old: str, new: str, message: str) -> None:
    assert old in WHOLE
    with pytest.raises(UsageProblem) as wrong:
        parse(WHOLE.replace(old, new, 1))
    assert any(line.startswith(f"d.yaml:{message}") for line in str(wrong.value).splitlines())


def test_everything_that_is_wrong_is_reported_at_once() -> None:
    wrong = WHOLE.replace("name: trino-1", "name: 1").replace("size: 10", "size: ten")
    with pytest.raises(UsageProblem, match=r"d\.yaml:1: .*\nd\.yaml:12: "):
        parse(wrong)


def test_a_file_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(UsageProblem, match=r"d\.yaml:1: lock data: .* allowed: a mapping"):
        parse("- a")


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    known = r"unknown distribution 'trino-0'; did .*allowed: .*trino-476"
    with pytest.raises(UsageProblem, match=known):
        distributions.load("trino-0")


ALL = distributions.names()


@pytest.mark.parametrize("name", ALL)
def test_every_lock_file_fits_together_and_a_jvm_has_its_heap_first(name: str) -> None:
    distribution = distributions.load(name)
    paths = [(artifact.into, artifact.file_name) for artifact in distribution.artifacts]
    assert len(paths) == len(set(paths)), "each file is named once"
    assert {patch.jar for patch in distribution.patches} <= {file for _, file in paths}
    is_changed = any("/" in role for role, _ in paths) or bool(distribution.patches)
    assert not (is_changed and distribution.fidelity == "stock")
    if distribution.jre:
        assert distribution.java_options[0] == f"-Xmx{distribution.heap_mb}m"


DECISIVE = ("heap_mb", "jre", "version", "patches", "artifacts", "settings")
OTHER = ("name", "memory_mb", "disk_mb", "listens", "reads", "defaults")


@pytest.mark.parametrize("key", [*DECISIVE, *OTHER])
def test_the_digest_changes_with_what_can_change_an_answer_alone(key: str) -> None:
    values = {"heap_mb": 1, "memory_mb": 1, "disk_mb": 1, "jre": "11", "settings": {}}
    values |= {"version": "2", "name": "x", "listens": "x"}
    distribution = distributions.load("hive-3.1.3")
    changed = dataclasses.replace(distribution, **{key: values.get(key, ())})  # type: ignore[arg-type]
    is_other = distributions.digest(changed) != distributions.digest(distribution)
    assert is_other is (key in DECISIVE)


@pytest.mark.parametrize("change", [{"services": {}}, {"main_class": None}, {"without_login": ()}])
def test_what_is_made_of_a_server_changes_its_tree_and_the_digest(change: dict[str, Any]) -> None:
    distribution = distributions.load("trino-483")
    changed = dataclasses.replace(distribution, **change)
    assert distributions.digest(changed) != distributions.digest(distribution)
    assert distributions.tree_digest(changed) != distributions.tree_digest(distribution)


def test_distributions_that_unpack_the_same_share_a_tree() -> None:
    trees = [distributions.tree_digest(distributions.load(name)) for name in ALL]
    tree_of = dict(zip(ALL, trees, strict=True))
    assert tree_of["hive-3.1.3"] == tree_of["hive-metastore-3.1.3"]
    assert tree_of["spark-3.5.8"] is None
    assert tree_of["trino-476"] != tree_of["prestosql-350"]


def test_what_the_plan_reads_or_a_session_is_reported_changes_no_digest() -> None:
    distribution = distributions.load("spark-3.5.8-hudi-1.0.2")
    assert {"writes", "table_versions"} <= set(distribution.settings)
    less = {key: value for key, value in distribution.settings.items() if key != "table_versions"}
    more = {**distribution.settings, "writes": ("hudi-cow",), "cannot": {}, "names": {"a": "b"}}
    for settings in (less, more):
        changed = dataclasses.replace(distribution, settings=settings)
        assert distributions.digest(changed) == distributions.digest(distribution)
