"""What engines share: the check of their metastore, the libraries they lack, the digest of code."""

import pytest

from harness import engines
from harness.artifacts import distributions
from harness.core.errors import EnvironmentProblem
from harness.core.records import Refusal
from harness.engines.api import NoAnswerError
from harness.engines.engine_support import metastore_first
from harness.engines.hive.errors import HiveError
from harness.formats import facts
from harness.runtime import metastore_client, process
from harness.runtime.metastore_client import CatalogGoneProblem

NOBODY = f"thrift://{process.LOOPBACK}:{process.free_port()}"


def test_a_server_whose_metastore_is_gone_is_not_waited_for() -> None:
    with pytest.raises(CatalogGoneProblem, match="does not answer"), metastore_first(NOBODY):
        raise NoAnswerError("not yet")


def test_a_server_whose_metastore_answers_is_just_not_ready(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(metastore_client, "check", lambda uri: None)
    with pytest.raises(NoAnswerError, match="not yet"), metastore_first("thrift://x:1"):
        raise NoAnswerError("not yet")


def test_a_client_that_is_refused_as_it_connects_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(metastore_client, "check", lambda uri: None)
    with (
        pytest.raises(EnvironmentProblem, match="on its metastore: Semantic: no database default"),
        metastore_first("thrift://x:1"),
    ):
        raise HiveError(Refusal("Semantic", "no database default"))


HUDI = ("spark-3.5.8-hudi-0.15.0", "hive-3.1.3")
ICEBERG = ("spark-3.5.8-iceberg-1.10.1", "hive-3.1.3-iceberg-1.4.3")


def cannot(name: str, format_name: str, **settings: str) -> str:
    distribution = distributions.load(name)
    named = {key.replace("_", "-"): value for key, value in settings.items()}
    return engines.load(distribution.engine).cannot(distribution, named, facts(format_name))


@pytest.mark.parametrize("name", HUDI)
def test_a_reader_with_hudis_library_reads_hudi_and_plain_tables(name: str) -> None:
    assert cannot(name, "hudi-mor") == cannot(name, "hive-parquet", schema_on_read="on") == ""
    assert cannot(name, "iceberg") == f"{name} has no library for iceberg tables"


@pytest.mark.parametrize("name", ICEBERG)
def test_a_reader_with_icebergs_library_reads_iceberg_and_plain_tables(name: str) -> None:
    assert cannot(name, "iceberg") == cannot(name, "hive-parquet") == ""
    assert cannot(name, "hudi-cow") == f"{name} has no library for hudi tables"
    assert "a setting of Hudi" in cannot(name, "iceberg", schema_on_read="on")


def test_hudis_own_settings_and_classes_are_asked_only_where_its_library_is() -> None:
    spark, hive = ICEBERG
    assert cannot(HUDI[0], "hudi-cow", data_skipping="on", metadata_table="on") == ""
    refused = cannot(spark, "iceberg", data_skipping="on")
    assert refused == f"data-skipping is a setting of Hudi, which {spark} does not have"
    assert cannot(HUDI[1], "hive-parquet", input_format="hudi-combine") == ""
    refused = cannot(hive, "iceberg", input_format="hudi-combine")
    assert refused == f"hudi-combine is a class of Hudi, which {hive} does not have"
    assert cannot(hive, "iceberg", input_format="combine") == ""
