"""Entries of a metastore, as its Thrift clients see them."""

from pymetastore.hive_metastore import ttypes

PARQUET = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"
ORC = "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat"
AVRO = "org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat"
TEXT = "org.apache.hadoop.mapred.TextInputFormat"
DELIMITED = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
HUDI = "org.apache.hudi.hadoop.HoodieParquetInputFormat"
REALTIME = "org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat"
RO = {"hoodie.query.as.ro.table": "true"}


def metastore_table(
    name: str = "t",
    read_by: str = "",
    kind: str = "EXTERNAL_TABLE",
    serde: dict[str, str] | None = None,
    library: str | None = None,
    **parameters: str,
) -> ttypes.Table:
    properties = {text.replace("__", "."): value for text, value in parameters.items()}
    columns = [ttypes.FieldSchema("id", "string", None)]
    storage = ttypes.StorageDescriptor(
        cols=columns,
        location="file:/x",
        inputFormat=read_by,
        serdeInfo=ttypes.SerDeInfo(parameters=serde, serializationLib=library),
    )
    return ttypes.Table(
        tableName=name,
        dbName="d",
        sd=storage,
        parameters=properties,
        tableType=kind,
        partitionKeys=None,
    )
