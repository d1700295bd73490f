"""What the worker is given of a table, by the metastore's entry of it."""

import base64
from types import SimpleNamespace

import pyarrow as pa
import pytest

from harness.core.errors import HarnessError
from harness.engines.datafusion import engine
from harness.engines.python_library import Description

HUDI = "org.apache.hudi.hadoop"


def column(name: str, type_: str) -> SimpleNamespace:
    return SimpleNamespace(name=name, type=type_)


def entry(input_format: str, *columns: SimpleNamespace, **parameters: str) -> SimpleNamespace:
    serde = SimpleNamespace(parameters=parameters)
    storage = SimpleNamespace(
        location="file:/a b/t", inputFormat=input_format, cols=columns, serdeInfo=serde
    )
    return SimpleNamespace(sd=storage, partitionKeys=None)


def described(listing: SimpleNamespace) -> Description:
    return engine.describe("d", "t", listing, None)


def schema(text: str) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))


@pytest.mark.parametrize(
    ("says", "options"), [("true", {"hoodie.read.use.read_optimized.mode": "true"}), ("false", {})]
)
def test_log_files_are_left_out_where_the_entry_is_the_read_optimized_one(
    says: str, options: dict[str, str]
) -> None:
    parameters = {"hoodie.query.as.ro.table": says}
    result = entry(f"{HUDI}.realtime.HoodieParquetRealtimeInputFormat", **parameters)
    assert described(result)["options"] == options


def test_a_plain_table_has_the_columns_of_the_catalog() -> None:
    types = {
        "b": ("boolean", pa.bool_()),
        "l": ("bigint", pa.int64()),
        "dt": ("date", pa.date32()),
        "at": ("timestamp", pa.timestamp("us", "UTC")),
        "n": ("decimal(10,2)", pa.decimal128(10, 2)),
        "c": ("char(4)", pa.string()),
        "f": ("float", pa.float32()),
        "st": ("struct<a:int,m:map<string,array<double>>>", pa.struct(
            [("a", pa.int32()), ("m", pa.map_(pa.string(), pa.list_(pa.float64())))]
        )),
    }  # fmt: skip
    result = entry("MapredParquetInputFormat", *(column(n, t) for n, (t, _) in types.items()))
    result.partitionKeys = [column("p", "int")]
    description = described(result)
    assert schema(description["schema"]) == pa.schema([(n, kind) for n, (_, kind) in types.items()])
    assert schema(description["keys"]) == pa.schema([("p", pa.int32())])


def test_a_type_that_nobody_knows_is_no_refusal_of_the_engine() -> None:
    result = entry("MapredParquetInputFormat", column("u", "uniontype<int,string>"))
    with pytest.raises(HarnessError, match=r"the column u: .*uniontype<int,string>"):
        described(result)
