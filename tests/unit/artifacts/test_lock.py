from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from harness.artifacts import lock
from harness.artifacts.distribution import CodePatch, Reads
from harness.core.errors import UsageProblem

if TYPE_CHECKING:
    from harness.artifacts.distribution import Distribution

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
"""
CODE = "code: {{find: {}, put: {}, text: x}}"


def no_other(name: str) -> Distribution:
    raise AssertionError(name)


def parse(text: str) -> Distribution:
    return lock.parse(text, "d.yaml", no_other)


def test_a_whole_file_becomes_a_distribution() -> None:
    found = parse(WHOLE)
    archive, reader = found.artifacts
    assert (found.name, found.engine, found.version, found.jre) == ("trino-1", "trino", "1", "25")
    assert archive.file_name == "server-1-bin.tar.gz"
    assert archive.coordinates.repository_path == "org/x/server/1/server-1-bin.tar.gz"
    assert archive.members == ("lib",)
    assert (reader.into, reader.size, reader.sha256) == ("plugin/hive", 20, SHA)
    assert found.patches[0].replace == (("old", "new"),)


def test_a_patch_of_instructions_is_read() -> None:
    found = parse(WHOLE.replace("replace: {old: new}", CODE.format("2a  .. ff", "13 tt tt")))
    assert found.patches[0].code == CodePatch(find="2a .. ff", put="13 tt tt", text="x")


def test_what_it_knows_of_tables_is_read_with_the_source() -> None:
    assert parse(WHOLE).reads == (Reads("hudi", 8, "the source of x 2"),)
    assert parse(WHOLE.partition("reads:")[0]).reads == ()


def test_settings_are_read_by_kind() -> None:
    found = parse(WHOLE)
    assert found.text("main") == "org.x.Main"
    assert found.options("config") == {"a.b": "1"}
    assert found.java_options == ("-Xmx1024m", "-XX:+UseSerialGC")


def test_a_setting_of_another_kind_or_unknown_is_named() -> None:
    found = parse(WHOLE)
    with pytest.raises(TypeError, match="'main' is not a list of texts"):
        found.texts("main")
    with pytest.raises(KeyError, match="has no setting 'mian'; it has: config, hudi, jvm, main"):
        found.text("mian")


def test_artifacts_from_takes_the_other_ones_artifacts_and_patches_first() -> None:
    base = parse(WHOLE)
    text = WHOLE.replace("patches:", "artifacts_from: trino-0\npatches:").replace("B$C", "D")
    found = lock.parse(text, "d.yaml", lambda name: base if name == "trino-0" else no_other(name))
    assert found.artifacts == base.artifacts * 2
    assert [patch.class_name for patch in found.patches] == ["a.B$C", "a.D"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('version: "1"', "version: 1", r"d\.yaml:3: version is 1; it must be a text"),
        ("fidelity: stock", "fidelity: patched", r"d\.yaml:4: fidelity is 'patched'; allowed are"),
        ("heap_mb: 1024", "heap_mb: lots", r"d\.yaml:6: heap_mb is 'lots'; it must be a whole"),
        ("heap_mb: 1024", "heap_mb: true", r"d\.yaml:6: heap_mb is True"),
        ("listens: loopback", "listen: loopback", r"d\.yaml:9: unknown key 'listen'; allowed are"),
        ("listens: loopback\n", "", r"d\.yaml:1: listens is missing"),
        (f"20, sha256: {SHA}", "20, sha256: abc", r"d\.yaml:14: sha256 is 'abc'; it must be 64"),
        ("org.x:reader:2:jar", "org.x:reader", r"d\.yaml:14: 'org.x:reader' is not group:artifact"),
        ("org.x:reader:2:jar", "org.x:../r:2:jar", r"d\.yaml:14: .* cannot be a file name"),
        ("plugin/hive:", "../hive:", r"d\.yaml:13: '\.\./hive' is not a role"),
        ("plugin/hive:", "/hive:", r"d\.yaml:13: '/hive' is not a role"),
        (f"20, sha256: {SHA}", f"20, sha256: {SHA}, members: [a]", r"d\.yaml:14: only what goes"),
        ("size: 20", "size: -1", r"d\.yaml:14: size is -1"),
        (", replace: {old: new}", "", r"d\.yaml:16: a patch has replace, or code, or both"),
        ("replace: {old: new}", CODE.format("2a", "13 00"), r"d\.yaml:16: put must be as long"),
        ("replace: {old: new}", CODE.format("2a zz", "1 2"), r"d\.yaml:16: find must be bytes"),
        ("replace: {old: new}", CODE.format("2a ..", "00 .."), r"d\.yaml:16: put must be bytes"),
        ("jvm: [-XX:+UseSerialGC]", "jvm: [1]", r"d\.yaml:19: jvm must be a list of texts"),
        (
            "hudi: {up_to",
            "hoodie: {up_to",
            r"d\.yaml:23: .*the library 'hoodie'",
        ),
        ("up_to: 8", 'up_to: "8"', r"d\.yaml:23: up_to is '8'; it must be a whole number"),
        ("up_to: 8, ", "", r"d\.yaml:23: up_to is missing"),
        ("up_to: 8, ", "up_to: 8, from: 2, ", r"d\.yaml:23: unknown key 'from'; allowed are: up"),
        (", source: the source of x 2", "", r"d\.yaml:23: source is missing"),
        ("hudi: {up_to: 8, source: the source of x 2}", "hudi: 8", r"d\.yaml:23: hudi must be a"),
        ("name: trino-1", "name: trino-1\nname: x", r"d\.yaml:2: not YAML: found duplicate key"),
        ("name: trino-1", "name: [", r"d\.yaml:\d+: not YAML"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(old: str, new: str, message: str) -> None:
    assert old in WHOLE
    with pytest.raises(UsageProblem, match=message):
        parse(WHOLE.replace(old, new, 1))


def test_a_file_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(UsageProblem, match=r"d\.yaml:1: the file must be a mapping"):
        parse("- a")
