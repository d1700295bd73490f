from __future__ import annotations

import json

import pytest
from pymetastore.hive_metastore import ttypes

from harness.runtime.metastore_objects import decode, encode, entry, placed


def test_a_field_that_the_struct_does_not_have_is_not_dropped_silently() -> None:
    with pytest.raises(ValueError, match="FieldSchema has no field colour"):
        decode(ttypes.FieldSchema, {"name": "a", "colour": "red"})


def table(location: str, **parameters: str) -> ttypes.Table:
    return ttypes.Table(
        tableName="t",
        dbName="db",
        sd=ttypes.StorageDescriptor(
            cols=[ttypes.FieldSchema("id", "string", None)],
            location=location,
            serdeInfo=ttypes.SerDeInfo(
                parameters={"path": f"file://{location.removeprefix('file:')}"}
            ),
        ),
        partitionKeys=[ttypes.FieldSchema("day", "date", None)],
        parameters=parameters,
    )


def test_a_table_comes_back_from_json_as_it_was() -> None:
    whole = table("file:/data/t", **{"": "", "é": '"'})
    whole.temporary, whole.writeId, whole.sd.numBuckets = False, 5, -1
    whole.sd.sortCols = [ttypes.Order(col="id", order=0)]
    whole.sd.skewedInfo = ttypes.SkewedInfo(skewedColNames=[], skewedColValues=[["1", ""], []])
    assert decode(ttypes.Table, json.loads(json.dumps(encode(whole)))) == whole


def test_the_location_becomes_a_placeholder_wherever_it_stands() -> None:
    part = ttypes.Partition(
        values=["1"], dbName="db", sd=ttypes.StorageDescriptor(location="file:/data/t/day=1")
    )
    catalog_entry = entry(table("file:/data/t", base="/data/t/", meta="/data/t/.hoodie"), (part,))
    assert catalog_entry.table["sd"]["location"] == "file:{location}"
    assert catalog_entry.table["sd"]["serdeInfo"]["parameters"] == {"path": "file://{location}"}
    parameters = {"base": "{location}/", "meta": "{location}/.hoodie"}
    assert catalog_entry.table["parameters"] == parameters
    assert catalog_entry.partitions[0]["sd"]["location"] == "file:{location}/day=1"
    assert "dbName" not in catalog_entry.table
    assert "dbName" not in catalog_entry.partitions[0]
    assert catalog_entry.columns == (("id", "string"), ("day", "date"))


def test_a_table_of_sparks_own_lies_where_its_parameters_say() -> None:
    there = ttypes.SerDeInfo(parameters={"path": "file:/a/t"})
    storage = ttypes.StorageDescriptor(location="file:/w/d.db/t-__PLACEHOLDER__", serdeInfo=there)
    catalog_entry = entry(ttypes.Table(tableName="t", sd=storage)).table["sd"]
    assert catalog_entry["location"] == "file:{location}"
    assert catalog_entry["serdeInfo"]["parameters"]["path"] == "file:{location}"


def test_an_entry_is_placed_in_a_database_and_at_a_location() -> None:
    catalog_entry = entry(table("file:/data/t", meta="/data/t/.hoodie", schema='{"type":"struct"}'))
    there = placed(catalog_entry.table, "other", "/copies/t")
    assert there["dbName"] == "other"
    assert there["sd"]["location"] == "file:/copies/t"
    assert there["sd"]["serdeInfo"]["parameters"] == {"path": "file:///copies/t"}
    assert there["parameters"] == {"meta": "/copies/t/.hoodie", "schema": '{"type":"struct"}'}


def test_an_entry_in_an_object_store_has_a_url_in_the_place_of_each_path() -> None:
    catalog_entry = entry(table("file:/data/t", meta="/data/t/.hoodie"))
    there = placed(catalog_entry.table, "other", "s3a://states/t")
    assert there["sd"]["location"] == "s3a://states/t"
    assert there["sd"]["serdeInfo"]["parameters"] == {"path": "s3a://states/t"}
    assert there["parameters"] == {"meta": "s3a://states/t/.hoodie"}
    view = ttypes.Table(tableName="v", dbName="db", parameters={"a": "/x"})
    assert entry(view).table["parameters"] == {"a": "/x"}, "it has no location"
