from __future__ import annotations

import pytest
from pymetastore.hive_metastore import ttypes

from harness.usage.catalog_table import catalog_table
from harness.usage.usage_file import UsedFormat
from tests.builders.metastore_tables import (
    AVRO,
    DELIMITED,
    HUDI,
    ORC,
    PARQUET,
    REALTIME,
    RO,
    TEXT,
    metastore_table,
)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (metastore_table(read_by=PARQUET), UsedFormat.HIVE_PARQUET),
        (metastore_table(read_by=ORC, transactional="true"), UsedFormat.HIVE_ACID),
        (metastore_table(read_by=HUDI), UsedFormat.HUDI),
        (metastore_table(read_by=REALTIME), UsedFormat.HUDI_MOR),
        (metastore_table(read_by=PARQUET, spark__sql__sources__provider="HUDI"), UsedFormat.HUDI),
        (metastore_table(table_type="ICEBERG"), UsedFormat.ICEBERG),
        (metastore_table(read_by=PARQUET, spark__sql__sources__provider="delta"), UsedFormat.DELTA),
        (metastore_table(storage_handler="io.delta.hive.DeltaStorageHandler"), UsedFormat.DELTA),
        (metastore_table(kind="MATERIALIZED_VIEW", read_by=ORC), UsedFormat.VIEW),
        (metastore_table(read_by=AVRO), UsedFormat.HIVE_AVRO),
        (metastore_table(read_by=TEXT), UsedFormat.OTHER),
        (metastore_table(read_by=TEXT, library=DELIMITED), UsedFormat.HIVE_TEXT),
        (metastore_table(read_by=TEXT, library="a.JsonSerDe"), UsedFormat.OTHER),
        (ttypes.Table(tableName="t", dbName="d"), UsedFormat.OTHER),
    ],
)
def test_an_entry_tells_the_format(table: ttypes.Table, expected: UsedFormat) -> None:
    assert catalog_table(table).format is expected


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (metastore_table("t", REALTIME), "base_name"),
        (metastore_table("t_rt", REALTIME), "snapshot"),
        (metastore_table("t_ro", HUDI, serde=RO), "read_optimized"),
        (metastore_table("t", HUDI, serde=RO), "read_optimized"),  # hive_sync.skip_ro_suffix
        (metastore_table("t_rt", PARQUET), "snapshot"),  # none of Hudi's
    ],
)
def test_an_entry_of_a_merge_on_read_table_is_one_of_its_views(
    table: ttypes.Table, expected: str
) -> None:
    assert catalog_table(table).view == expected


def test_nothing_of_the_parameters_is_kept_but_what_is_needed() -> None:
    actual = catalog_table(
        metastore_table(
            read_by="my.CustomInputFormat",
            serde={"password": "secret"},
            secret="secret",  # noqa: S106 - it must not come out again
            transactional_properties="insert_only",
        )
    )
    assert "secret" not in repr(actual)
    assert actual.kind == "CustomInputFormat"
    assert actual.insert_only
