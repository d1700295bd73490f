"""A thin client of the Hive metastore: keep catalog entries, register them, alter columns."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

from pymetastore.hive_metastore import ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.Thrift import TApplicationException, TException
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException

from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.records import Refusal
from harness.core.runtime_names import DEFAULT_DATABASE
from harness.runtime.metastore_objects import CatalogEntry, WriteIds, decode, entry, placed

_SCHEME: Final = "thrift"
TIMEOUT_S: Final = 60.0
ANSWER_S: Final = 10.0
"""After so long a metastore counts as gone; it tells of a database within milliseconds."""
EXTERNAL: Final = {"tableType": "EXTERNAL_TABLE"}
"""How entries are registered: of an external table the metastore never deletes a file."""
ABLE: Final = ttypes.ClientCapabilities([ttypes.ClientCapability.INSERT_ONLY_TABLES])
"""What a client says that it knows: without it some tables are not told."""
NEVER: Final = 2**63 - 1
"""Stands for the oldest open transaction where there is none."""
AT_ONCE: Final = 1000
"""So many transactions a metastore begins by one call (`hive.txn.max.open.batch`)."""
WHO: Final = {"user": "harness", "hostname": "localhost"}

# Thrift logs every failed attempt to connect; the exceptions say the same to who waits for them.
logging.getLogger("thrift").addHandler(logging.NullHandler())


@dataclass(eq=False)
class CatalogGoneProblem(EnvironmentProblem):
    uri: str
    reason: str

    def __str__(self) -> str:
        return f"the metastore at {self.uri} does not answer: {self.reason}"


class CatalogRefusedError(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"{refusal.kind}: {refusal.message}")
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class Catalog:
    """One connection to a metastore; for one thread at a time. Made by `connect`.

    Every method raises CatalogRefusedError when the metastore answers with an error, and
    CatalogGoneProblem when it does not answer.
    """

    uri: str
    client: Any

    def has(self, database: str) -> bool:
        """Return whether there is a database of this name; it costs no more when there are many."""
        return self._if_any(self.client.get_database, database) is not None

    def databases(self) -> tuple[str, ...]:
        with _answered(self.uri):
            return tuple(sorted(self.client.get_all_databases()))

    def names(self, database: str) -> tuple[str, ...]:
        with _answered(self.uri):
            return tuple(sorted(self.client.get_all_tables(database)))

    def tables(self, database: str, names: Sequence[str]) -> tuple[Any, ...]:
        """Return those of some tables that there are, as the metastore holds them, by one call."""
        request = ttypes.GetTablesRequest(database, list(names), ABLE)
        with _answered(self.uri):
            try:
                return tuple(self.client.get_table_objects_by_name_req(request).tables)
            except TApplicationException:  # one older than Hive 2.3 does not know the call
                return tuple(self.client.get_table_objects_by_name(database, list(names)))

    def table(self, database: str, name: str) -> Any | None:  # noqa: ANN401 - Thrift's own class
        return self._if_any(self._table, database, name)

    def _if_any(self, ask: Callable[..., Any], *names: str) -> Any | None:  # noqa: ANN401
        """Return what a call is answered with; None where there is no such object."""
        try:
            with _answered(self.uri):
                return ask(*names)
        except CatalogRefusedError as refused:
            if refused.refusal.kind != ttypes.NoSuchObjectException.__name__:
                raise
            return None

    def entries(self, database: str) -> tuple[CatalogEntry, ...]:
        return tuple(self.entry(database, name) for name in self.names(database))

    def create_database(self, database: str) -> None:
        with _answered(self.uri), suppress(ttypes.AlreadyExistsException):
            self.client.create_database(ttypes.Database(name=database, parameters={}))

    def register(self, database: str, entries: Sequence[CatalogEntry], location: str) -> None:
        """Make external tables of entries at an absolute path; transactional ones, with writes."""
        self.create_database(database)
        with _answered(self.uri):
            for added in entries:
                table = placed(added.table, database, location)
                if added.write_ids is None:
                    table |= EXTERNAL
                    table["parameters"] = {**table.get("parameters", {}), "EXTERNAL": "TRUE"}
                self.client.create_table(decode(ttypes.Table, table))
                if added.partitions:
                    parts = (placed(part, database, location) for part in added.partitions)
                    decoded = [decode(ttypes.Partition, part) for part in parts]
                    self.client.add_partitions(decoded)
                if added.write_ids is not None:
                    repeat_writes(self.client, database, added.name, added.write_ids)

    def end_transactions(self, until: int) -> None:
        """Let all transactions up to a number be over: those that are to come begin and end."""
        with _answered(self.uri):
            while (left := until - self.client.get_open_txns().txn_high_water_mark) > 0:
                request = ttypes.OpenTxnRequest(min(left, AT_ONCE), **WHO)
                for id_ in self.client.open_txns(request).txn_ids:
                    self.client.commit_txn(ttypes.CommitTxnRequest(id_))

    def put(self, database: str, entries: Sequence[CatalogEntry], location: str) -> None:
        """Make external tables in a new database, whose own folder lies beside them.

        It is refused where there is one of this name.
        """
        folder = location if "://" in location else f"file:{location}"
        made = ttypes.Database(name=database, locationUri=f"{folder}.db", parameters={})
        with _answered(self.uri):
            self.client.create_database(made)
        self.register(database, entries, location)

    def drop(self, database: str) -> None:
        """Remove a database and the entries in it, and no file."""
        with _answered(self.uri), suppress(ttypes.NoSuchObjectException):
            self.client.drop_database(database, deleteData=False, cascade=True)

    def alter_columns(
        self, database: str, table: str, columns: Sequence[tuple[str, str]], *, cascade: bool
    ) -> None:
        """Replace the columns (name, Hive type), as Hive's ALTER TABLE does; not partition keys."""
        with _answered(self.uri):
            result = self._table(database, table)
            comments = {column.name: column.comment for column in result.sd.cols}
            result.sd.cols = [
                ttypes.FieldSchema(name=name, type=kind, comment=comments.get(name))
                for name, kind in columns
            ]
            self.client.alter_table_with_cascade(database, table, result, cascade)

    def point(self, database: str, table: str, parameter: str, before: str, after: str) -> None:
        """Let a parameter name `after`; it is refused where it does not name `before` any more."""
        with _answered(self.uri):
            result = self._table(database, table)
            now = result.parameters.get(parameter, "")
            if now != before:
                why = f"{parameter} is {now}, and was {before}"
                raise CatalogRefusedError(Refusal("CommitFailedException", why))
            result.parameters[parameter] = after
            if before:
                result.parameters[f"previous_{parameter}"] = before
            self.client.alter_table(database, table, result)

    def also_at(self, database: str, table: str, path: str) -> None:
        """Register a table in `default` too, for engines that go by the serde's path (Delta)."""
        with _answered(self.uri):
            result = self._table(database, table)
            result.dbName, result.tableName = DEFAULT_DATABASE, database
            result.sd.serdeInfo.parameters["path"] = path
            with suppress(ttypes.NoSuchObjectException):
                self.client.drop_table(DEFAULT_DATABASE, database, deleteData=False)
            self.client.create_table(result)

    def lock(self, database: str, table: str) -> int:
        kind, level = ttypes.LockType.EXCLUSIVE, ttypes.LockLevel.TABLE
        whole = ttypes.LockComponent(type=kind, level=level, dbname=database, tablename=table)
        with _answered(self.uri):
            return int(self.client.lock(ttypes.LockRequest([whole], **WHO)).lockid)

    def is_waited_for(self, database: str, table: str) -> bool:
        return any(e.state == ttypes.LockState.WAITING for e in self._locks(database, table))

    def unlock(self, database: str, table: str, only: int | None = None) -> None:
        """Take away one lock of a table, or all, also that of a writer that died as it waited."""
        for lock_entry in self._locks(database, table):
            if only not in {None, lock_entry.lockid}:
                continue
            # NoSuchLock: it ended by itself.
            with _answered(self.uri), suppress(ttypes.NoSuchLockException):
                self.client.unlock(ttypes.UnlockRequest(lock_entry.lockid))

    def transactions(self, database: str, table: str) -> tuple[int, ...]:
        """Return the numbers of the transactions that have locks of a table, or wait for some."""
        return tuple(sorted({e.txnid for e in self._locks(database, table) if e.txnid}))

    def _locks(self, database: str, table: str) -> list[Any]:
        request = ttypes.ShowLocksRequest(dbname=database, tablename=table)
        with _answered(self.uri):
            return list(self.client.show_locks(request).locks or ())

    def _table(self, database: str, name: str) -> Any:  # noqa: ANN401 - Thrift's own class
        try:
            return self.client.get_table(database, name)
        except TApplicationException:  # Hive 4 does not know the call
            request = ttypes.GetTableRequest(database, name, ABLE)
            return self.client.get_table_req(request).table

    def entry(self, database: str, name: str) -> CatalogEntry:
        """Return what the metastore has of a table, and of its partitions."""
        with _answered(self.uri):
            table = self._table(database, name)
            partitions = (
                self.client.get_partitions(database, name, -1) if table.partitionKeys else ()
            )
            transactional = str((table.parameters or {}).get("transactional", "")).lower() == "true"
            ids = write_ids(self.client, database, name) if transactional else None
            return replace(entry(table, tuple(partitions)), write_ids=ids)


@contextmanager
def connect(uri: str, *, timeout_s: float = TIMEOUT_S) -> Iterator[Catalog]:
    """Connect to `thrift://host:port`; UsageProblem: another form, CatalogGoneProblem: nobody."""
    # A million characters of generated code, which few commands need.
    from pymetastore.hive_metastore import ThriftHiveMetastore  # noqa: PLC0415

    socket = TSocket(*_address(uri))
    socket.setTimeout(timeout_s * 1000)
    transport = TBufferedTransport(socket)
    with _answered(uri):
        transport.open()
    try:
        yield Catalog(uri, ThriftHiveMetastore.Client(TBinaryProtocolAccelerated(transport)))
    finally:
        transport.close()


def _address(uri: str) -> tuple[str, int]:
    try:
        address = urlsplit(uri if "://" in uri else f"{_SCHEME}://{uri}")
        if address.scheme == _SCHEME and address.hostname and address.port:
            return address.hostname, address.port
    except ValueError:  # a port that is no number, or too large a one
        pass
    raise UsageProblem(f"'{uri}' is not a metastore; allowed: thrift://host:port or host:port")


def check(uri: str) -> None:
    """Raise CatalogGoneProblem or CatalogRefusedError unless the metastore answers soon."""
    with connect(uri, timeout_s=ANSWER_S) as result:
        result.has(DEFAULT_DATABASE)


@contextmanager
def _answered(uri: str) -> Iterator[None]:
    try:
        yield
    except (TTransportException, OSError) as problem:
        raise CatalogGoneProblem(uri, str(problem)) from problem
    except TException as answer:
        message = getattr(answer, "message", None) or str(answer)
        raise CatalogRefusedError(Refusal(type(answer).__name__, message)) from answer


def write_ids(client: Any, database: str, name: str) -> WriteIds:  # noqa: ANN401
    """Return which writes of a transactional table are committed by now.

    What an aborted transaction wrote stays in the folder; the metastore numbers the writes of each
    table (Hive documentation, "Hive Transactions"; Hive 3.1.3, `ValidReaderWriteIdList`).
    """
    now = client.get_open_txns()
    aborted, still = _parted(now.open_txns, now.abortedBits)
    lists = ":".join(",".join(map(str, numbers)) for numbers in (still, aborted))
    # As Hive writes which transactions count (`ValidReadTxnList`).
    snapshot = f"{now.txn_high_water_mark}:{min(still, default=NEVER)}:{lists}"
    request = ttypes.GetValidWriteIdsRequest([f"{database}.{name}"], snapshot)
    (result,) = client.get_valid_write_ids(request).tblValidWriteIds
    return WriteIds(
        result.writeIdHighWaterMark, *_parted(result.invalidWriteIds, result.abortedBits)
    )


def repeat_writes(client: Any, database: str, name: str, writes: WriteIds) -> None:  # noqa: ANN401
    """Give a new table the writes of another one: each in a transaction that ends as that did."""
    if not writes.highest:
        return
    opened = client.open_txns(ttypes.OpenTxnRequest(writes.highest, **WHO)).txn_ids
    request = ttypes.AllocateTableWriteIdsRequest(database, name, txnIds=opened)
    for pair in client.allocate_table_write_ids(request).txnToWriteIds:
        if pair.writeId in writes.aborted:
            client.abort_txn(ttypes.AbortTxnRequest(pair.txnId))
        elif pair.writeId not in writes.open:
            client.commit_txn(ttypes.CommitTxnRequest(pair.txnId))


def _parted(ids: Sequence[int], bits: bytes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ids whose bit is set (Java's `BitSet`, least of a byte first), and the rest."""
    flags = int.from_bytes(bits, "little")
    flagged = {id_ for at, id_ in enumerate(ids) if flags >> at & 1}
    return tuple(sorted(flagged)), tuple(sorted(set(ids) - flagged))
