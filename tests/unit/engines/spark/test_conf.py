from __future__ import annotations

from pathlib import Path

from harness.artifacts import distributions
from harness.engines.spark.conf import session_conf
from harness.runtime.api import Surroundings


def conf(name: str, folder: Path, *jvm: str) -> dict[str, str]:
    front = str(folder / "bundle.jar")
    around = Surroundings("127.0.0.1", 1, "thrift://127.0.0.1:9", folder, folder, front, jvm=jvm)
    return session_conf(distributions.load(name), around)


def test_the_bundle_is_on_the_class_path_and_nothing_is_copied(tmp_path: Path) -> None:
    found = conf("spark-3.5.8-hudi-0.15.0", tmp_path)
    assert found["spark.driver.extraClassPath"] == str(tmp_path / "bundle.jar")
    assert "spark.jars" not in found


def test_extensions_and_heap_come_from_the_distribution(tmp_path: Path) -> None:
    found = conf("spark-3.5.8-hudi-1.0.2", tmp_path)
    assert "HoodieSparkSessionExtension" in found["spark.sql.extensions"]
    heap = distributions.load("spark-3.5.8-hudi-1.0.2").heap_mb
    assert found["spark.driver.memory"] == f"{heap}m"
    assert "spark.sql.extensions" not in conf("spark-3.5.8", tmp_path)


def test_everything_stays_on_loopback_and_in_utc(tmp_path: Path) -> None:
    found = conf("spark-3.5.8", tmp_path)
    assert found["spark.driver.bindAddress"] == "127.0.0.1"
    assert found["spark.ui.enabled"] == "false"
    assert found["spark.sql.session.timeZone"] == "UTC"
    assert "-Duser.timezone=UTC" in found["spark.driver.extraJavaOptions"]


def test_code_generation_stays_on(tmp_path: Path) -> None:
    # Without it Hudi 0.15.0 fails on every read after a schema change.
    assert "spark.sql.codegen.wholeStage" not in conf("spark-3.5.8-hudi-0.15.0", tmp_path)


def test_options_beside_the_distributions_come_last(tmp_path: Path) -> None:
    found = conf("spark-3.5.8", tmp_path, "-Xshare:auto")
    assert found["spark.driver.extraJavaOptions"].endswith(' "-Xshare:auto"')
