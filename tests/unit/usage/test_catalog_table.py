"""Which format the catalog's entry of a table is of."""

from __future__ import annotations

import pytest
from pymetastore.hive_metastore import ttypes

from harness.usage.catalog_table import catalog_table
from harness.usage.used_tables import UsedFormat

PARQUET = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"
ORC = "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat"
AVRO = "org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat"
TEXT = "org.apache.hadoop.mapred.TextInputFormat"
DELIMITED = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
HUDI = "org.apache.hudi.hadoop.HoodieParquetInputFormat"
REALTIME = "org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat"
RO = {"hoodie.query.as.ro.table": "true"}


def thrift(
    name: str = "t",
    read_by: str = "",
    kind: str = "EXTERNAL_TABLE",
    serde: dict[str, str] | None = None,
    library: str | None = None,
    **parameters: str,
) -> ttypes.Table:
    told = {text.replace("__", "."): value for text, value in parameters.items()}
    columns = [ttypes.FieldSchema("id", "string", None)]
    storage = ttypes.StorageDescriptor(
        cols=columns,
        location="file:/x",
        inputFormat=read_by,
        serdeInfo=ttypes.SerDeInfo(parameters=serde, serializationLib=library),
    )
    return ttypes.Table(
        tableName=name, dbName="d", sd=storage, parameters=told, tableType=kind, partitionKeys=None
    )


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (thrift(read_by=PARQUET), UsedFormat.HIVE_PARQUET),
        (thrift(read_by=ORC), UsedFormat.HIVE_ORC),
        (thrift(read_by=ORC, transactional="true"), UsedFormat.HIVE_ACID),
        (thrift(read_by=HUDI), UsedFormat.HUDI),
        (thrift(read_by=REALTIME), UsedFormat.HUDI_MOR),
        (thrift(read_by=PARQUET, spark__sql__sources__provider="HUDI"), UsedFormat.HUDI),
        (thrift(table_type="ICEBERG"), UsedFormat.ICEBERG),
        (thrift(read_by=PARQUET, spark__sql__sources__provider="delta"), UsedFormat.DELTA),
        (thrift(storage_handler="io.delta.hive.DeltaStorageHandler"), UsedFormat.DELTA),
        (thrift(kind="VIRTUAL_VIEW"), UsedFormat.VIEW),
        (thrift(kind="MATERIALIZED_VIEW", read_by=ORC), UsedFormat.VIEW),
        (thrift(read_by=AVRO), UsedFormat.HIVE_AVRO),
        (thrift(read_by=TEXT), UsedFormat.OTHER),
        (thrift(read_by=TEXT, library=DELIMITED), UsedFormat.HIVE_TEXT),
        (thrift(read_by=TEXT, library="org.apache.hive.hcatalog.data.JsonSerDe"), UsedFormat.OTHER),
        (ttypes.Table(tableName="t", dbName="d"), UsedFormat.OTHER),
    ],
)
def test_an_entry_tells_the_format(table: ttypes.Table, expected: UsedFormat) -> None:
    assert catalog_table(table).format is expected


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (thrift("t", REALTIME), "base_name"),
        (thrift("t_rt", REALTIME), "snapshot"),
        (thrift("t_ro", HUDI, serde=RO), "read_optimized"),
        (thrift("t", HUDI, serde=RO), "read_optimized"),  # hive_sync.skip_ro_suffix
        (thrift("t_rt", PARQUET), "snapshot"),  # none of Hudi's
    ],
)
def test_an_entry_of_a_merge_on_read_table_is_one_of_its_views(
    table: ttypes.Table, expected: str
) -> None:
    assert catalog_table(table).view == expected


def test_nothing_of_the_parameters_is_kept_but_what_is_needed() -> None:
    found = catalog_table(
        thrift(
            read_by="my.CustomInputFormat",
            serde={"password": "secret"},
            secret="secret",  # noqa: S106 - it must not come out again
            transactional_properties="insert_only",
        )
    )
    assert "secret" not in repr(found)
    assert found.kind == "CustomInputFormat"
    assert found.insert_only
