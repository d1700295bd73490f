"""Which formats Spark and Hive can be asked about."""

from __future__ import annotations

import pytest

from harness import engines
from harness.artifacts import distributions
from harness.formats import facts

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
