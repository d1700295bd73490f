import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from pymetastore.hive_metastore import ttypes

from harness.runtime import metastore_client
from harness.runtime.metastore import Metastore
from harness.runtime.metastore_objects import CatalogEntry

pytestmark = pytest.mark.engines

PARQUET = "org.apache.hadoop.hive.ql.io.parquet"


def descriptor(location: str) -> ttypes.StorageDescriptor:
    return ttypes.StorageDescriptor(
        cols=[
            ttypes.FieldSchema("id", "string", "the key"),
            ttypes.FieldSchema("st", "struct<a:int,b:array<decimal(10,2)>>", None),
        ],
        location=location,
        inputFormat=f"{PARQUET}.MapredParquetInputFormat",
        outputFormat=f"{PARQUET}.MapredParquetOutputFormat",
        compressed=False,
        numBuckets=-1,
        serdeInfo=ttypes.SerDeInfo(
            serializationLib=f"{PARQUET}.serde.ParquetHiveSerDe",
            parameters={"path": location, "hoodie.query.as.ro.table": "true"},
        ),
        bucketCols=[],
        sortCols=[],
        parameters={},
    )


def managed_table(metastore: Metastore, database: str, folder: Path) -> None:
    """A partitioned managed table `t` as Spark would leave it, with a file in it."""
    (folder / "day=1").mkdir(parents=True)
    (folder / "day=1" / "data").write_text("x")
    schema = json.dumps({"type": "struct", "fields": [{"name": "id"}]})
    with metastore_client.connect(metastore.uri) as client:
        client.create_database(database)
        client.client.create_table(
            ttypes.Table(
                tableName="t",
                dbName=database,
                owner="somebody",
                sd=descriptor(f"file:{folder}"),
                partitionKeys=[ttypes.FieldSchema("day", "int", None)],
                parameters={"spark.sql.sources.schema.part.0": schema},
                tableType="MANAGED_TABLE",
            )
        )
        client.client.add_partition(
            ttypes.Partition(
                values=["1"],
                dbName=database,
                tableName="t",
                sd=descriptor(f"file:{folder}/day=1"),
                parameters={},
            )
        )


def entries(metastore: Metastore, database: str) -> tuple[CatalogEntry, ...]:
    with metastore_client.connect(metastore.uri) as client:
        return client.entries(database)


def timeless(data: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return entries without the times that the metastore itself sets."""
    if isinstance(data, dict):
        times = ("createTime", "transient_lastDdlTime")
        return {key: timeless(value) for key, value in data.items() if key not in times}
    return [timeless(value) for value in data] if isinstance(data, list | tuple) else data


def test_a_table_registered_elsewhere_keeps_everything_but_its_place(
    metastore: Metastore, database: str, tmp_path: Path
) -> None:
    managed_table(metastore, database, tmp_path / "original")
    (before,) = entries(metastore, database)
    copy = tmp_path / "copy"
    (copy / "day=1").mkdir(parents=True)
    with metastore_client.connect(metastore.uri) as client:
        client.register(f"{database}_fork", (before,), str(copy))
    (after,) = entries(metastore, f"{database}_fork")
    expected = timeless(asdict(before))
    expected["table"]["parameters"]["EXTERNAL"] = "TRUE"
    expected["table"]["tableType"] = "EXTERNAL_TABLE"
    assert timeless(asdict(after)) == expected
    with metastore_client.connect(metastore.uri) as client:
        table = client.client.get_table(f"{database}_fork", "t")
        (part,) = client.client.get_partitions(f"{database}_fork", "t", -1)
    assert table.sd.location == f"file:{copy}"
    assert table.sd.serdeInfo.parameters["path"] == f"file:{copy}"
    assert part.sd.location == f"file:{copy}/day=1"


def test_dropping_a_registered_table_deletes_no_file(
    metastore: Metastore, database: str, tmp_path: Path
) -> None:
    managed_table(metastore, database, tmp_path / "original")
    found_entries = entries(metastore, database)
    with metastore_client.connect(metastore.uri) as client:
        client.register(f"{database}_fork", found_entries, str(tmp_path / "original"))
        client.client.drop_table(f"{database}_fork", "t", True)  # noqa: FBT003 - Thrift's own call
    assert (tmp_path / "original" / "day=1" / "data").read_text() == "x"


def test_columns_are_replaced_in_the_table_and_only_with_cascade_in_its_partitions(
    metastore: Metastore, database: str, tmp_path: Path
) -> None:
    managed_table(metastore, database, tmp_path)
    columns = [("id", "string"), ("new", "bigint"), ("st2", "struct<a:int>")]
    with metastore_client.connect(metastore.uri) as client:
        client.alter_columns(database, "t", columns, cascade=False)
    (entry,) = entries(metastore, database)
    assert entry.columns == (*columns, ("day", "int"))
    assert [column["name"] for column in entry.partitions[0]["sd"]["cols"]] == ["id", "st"]
    assert entry.table["sd"]["cols"][0]["comment"] == "the key"
    with metastore_client.connect(metastore.uri) as client:
        client.alter_columns(database, "t", columns[:2], cascade=True)
    (entry,) = entries(metastore, database)
    assert [column["name"] for column in entry.partitions[0]["sd"]["cols"]] == ["id", "new"]
