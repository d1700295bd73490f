"""Entries of plain Hive tables in a metastore."""

from pathlib import Path

from harness.runtime import metastore_client
from harness.runtime.metastore_objects import CatalogEntry

IO = "org.apache.hadoop.hive.ql.io"
CLASSES = {
    "parquet": ("MapredParquetInputFormat", "MapredParquetOutputFormat", "serde.ParquetHiveSerDe"),
    "orc": ("OrcInputFormat", "OrcOutputFormat", "OrcSerde"),
}
"""Hive's input format, output format and serde of each kind of files."""


def register(
    metastore_uri: str,
    database: str,
    name: str,
    columns: list[tuple[str, str]],
    folder: Path,
    files: str = "parquet",
) -> None:
    reads, writes, serde = (f"{IO}.{files}.{class_}" for class_ in CLASSES[files])
    table = {
        "tableName": name,
        "owner": "test",
        "tableType": "EXTERNAL_TABLE",
        "partitionKeys": [],
        "parameters": {},
        "sd": {
            "cols": [{"name": column, "type": kind} for column, kind in columns],
            "location": "file:{location}",
            "inputFormat": reads,
            "outputFormat": writes,
            "compressed": False,
            "numBuckets": -1,
            "serdeInfo": {"serializationLib": serde, "parameters": {}},
            "bucketCols": [],
            "sortCols": [],
            "parameters": {},
        },
    }
    with metastore_client.connect(metastore_uri) as client:
        client.register(database, [CatalogEntry(name, table)], str(folder))
