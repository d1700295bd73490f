import json
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from pymetastore.hive_metastore import ttypes

from harness.runtime import metastore_client
from harness.runtime.metastore_client import CatalogRefusedError
from harness.runtime.metastore_objects import WriteIds, decode, encode, entry, placed


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


ABORTED_BITS = bytes([0b10])
"""Of the numbers that do not count, the second one is of a transaction that was aborted."""


class Simulated:
    """A metastore with one table: of its writes 1 to 4 the second is open, the third aborted."""

    def __init__(self) -> None:
        self.asked = ""
        self.ended: list[tuple[str, int]] = []

    def get_open_txns(self) -> SimpleNamespace:
        return SimpleNamespace(txn_high_water_mark=9, open_txns=[7, 8], abortedBits=ABORTED_BITS)

    def get_valid_write_ids(self, request: Any) -> SimpleNamespace:  # noqa: ANN401
        self.asked = request.validTxnList
        ids = {"invalidWriteIds": [2, 3], "abortedBits": ABORTED_BITS}
        return SimpleNamespace(tblValidWriteIds=[SimpleNamespace(writeIdHighWaterMark=4, **ids)])

    def open_txns(self, request: Any) -> SimpleNamespace:  # noqa: ANN401
        return SimpleNamespace(txn_ids=list(range(11, 11 + request.num_txns)))

    def allocate_table_write_ids(self, request: Any) -> SimpleNamespace:  # noqa: ANN401
        pairs = enumerate(request.txnIds, start=1)
        made = [SimpleNamespace(txnId=txn, writeId=number) for number, txn in pairs]
        return SimpleNamespace(txnToWriteIds=made)

    def commit_txn(self, request: Any) -> None:  # noqa: ANN401
        self.ended.append(("committed", request.txnid))

    def abort_txn(self, request: Any) -> None:  # noqa: ANN401
        self.ended.append(("aborted", request.txnid))


def test_open_and_aborted_writes_are_distinguished_by_their_bits() -> None:
    metastore = Simulated()
    ids = metastore_client.write_ids(metastore, "d", "t")
    assert ids == WriteIds(4, aborted=(3,), open=(2,))
    assert ids.committed == (1, 4)
    assert metastore.asked == "9:7:7:8", "as `ValidReadTxnList` writes it: open, then aborted"


def test_each_write_ends_as_it_did_and_an_open_one_does_not_end() -> None:
    metastore = Simulated()
    metastore_client.repeat_writes(metastore, "d", "t", WriteIds(4, aborted=(3,), open=(2,)))
    assert metastore.ended == [("committed", 11), ("aborted", 13), ("committed", 14)]


def test_transactions_are_over_up_to_the_last_one_that_a_folder_is_named_by() -> None:
    metastore = Counting()
    catalog = metastore_client.Catalog("thrift://x", metastore)
    catalog.end_transactions(9)
    assert metastore.ended == []
    catalog.end_transactions(2009)
    assert metastore.ended == [("committed", number) for number in range(10, 2010)]
    assert max(metastore.begun) <= 1000, "a metastore begins no more by one call"


class Counting(Simulated):
    def __init__(self) -> None:
        super().__init__()
        self.last = 9
        self.begun: list[int] = []

    def get_open_txns(self) -> SimpleNamespace:
        return SimpleNamespace(txn_high_water_mark=self.last)

    def open_txns(self, request: Any) -> SimpleNamespace:  # noqa: ANN401
        self.begun.append(request.num_txns)
        first, self.last = self.last + 1, self.last + request.num_txns
        return SimpleNamespace(txn_ids=list(range(first, self.last + 1)))


class SimulatedLocks:
    """A metastore: a transaction has two locks of the table, another waits, and one has none."""

    def show_locks(self, request: Any) -> SimpleNamespace:  # noqa: ANN401
        assert (request.dbname, request.tablename) == ("d", "t")
        states = ttypes.LockState.ACQUIRED, ttypes.LockState.ACQUIRED, ttypes.LockState.WAITING
        pairs = zip((9, 9, 4), states, strict=True)
        locks = [SimpleNamespace(lockid=1, txnid=number, state=state) for number, state in pairs]
        without = SimpleNamespace(lockid=2, txnid=0, state=ttypes.LockState.ACQUIRED)
        return SimpleNamespace(locks=[*locks, without])


def test_transactions_are_reported_once_and_a_lock_without_one_is_left_out() -> None:
    catalog = metastore_client.Catalog("thrift://x:1", SimulatedLocks())
    assert catalog.transactions("d", "t") == (4, 9)
    assert catalog.is_waited_for("d", "t")


@dataclass
class OneEntry:
    """Holds the parameters of one table."""

    parameters: dict[str, str]
    altered: bool = False

    def get_table(self, database: str, name: str) -> SimpleNamespace:
        assert (database, name) == ("d", "t")
        return SimpleNamespace(parameters=dict(self.parameters))

    def alter_table(self, database: str, name: str, table: SimpleNamespace) -> None:
        self.parameters, self.altered = table.parameters, True


def test_a_pointer_goes_on_from_what_its_writer_saw() -> None:
    entry = OneEntry({"metadata_location": "1.json", "owner": "x"})
    metastore_client.Catalog("thrift://x:1", entry).point(
        "d", "t", "metadata_location", "1.json", "2.json"
    )
    assert entry.parameters == {
        "metadata_location": "2.json",
        "previous_metadata_location": "1.json",
        "owner": "x",
    }


def test_a_pointer_that_another_writer_moved_is_a_refused_commit() -> None:
    entry = OneEntry({"metadata_location": "3.json"})
    catalog = metastore_client.Catalog("thrift://x:1", entry)
    with pytest.raises(CatalogRefusedError, match=r"is 3\.json, and was 1\.json"):
        catalog.point("d", "t", "metadata_location", "1.json", "2.json")
    assert not entry.altered
