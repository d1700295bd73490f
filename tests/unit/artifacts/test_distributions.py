from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from harness.artifacts import distributions
from harness.core.errors import UsageProblem

ALL = distributions.names()
JAVA = [name for name in ALL if distributions.load(name).jre]


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        UsageProblem, match=r"unknown distribution 'trino-0'; did .*allowed: .*trino-476"
    ):
        distributions.load("trino-0")


@pytest.mark.parametrize("name", ALL)
def test_every_lock_file_fits_together(name: str) -> None:
    distribution = distributions.load(name)
    paths = [(artifact.into, artifact.file_name) for artifact in distribution.artifacts]
    assert len(paths) == len(set(paths)), "each file is named once"
    assert {patch.jar for patch in distribution.patches} <= {file for _, file in paths}
    is_changed = any("/" in role for role, _ in paths) or bool(distribution.patches)
    assert not (is_changed and distribution.fidelity == "stock")


@pytest.mark.parametrize("name", JAVA)
def test_every_jvm_has_its_heap_first(name: str) -> None:
    distribution = distributions.load(name)
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
    of = dict(zip(ALL, trees, strict=True))
    assert of["hive-3.1.3"] == of["hive-metastore-3.1.3"]
    assert of["spark-3.5.8"] is None
    assert of["trino-476"] != of["prestosql-350"]


def test_what_the_plan_reads_or_a_session_is_reported_changes_no_digest() -> None:
    distribution = distributions.load("spark-3.5.8-hudi-1.0.2")
    assert {"writes", "table_versions"} <= set(distribution.settings)
    less = {key: value for key, value in distribution.settings.items() if key != "table_versions"}
    more = {**distribution.settings, "writes": ("hudi-cow",), "cannot": {}, "names": {"a": "b"}}
    for settings in (less, more):
        changed = dataclasses.replace(distribution, settings=settings)
        assert distributions.digest(changed) == distributions.digest(distribution)
