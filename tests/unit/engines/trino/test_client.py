"""How replies are sorted, against a small HTTP server that says what servers were seen to say."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from harness.artifacts.endpoint import Endpoint
from harness.core.records import Refusal
from harness.engines.api import NoAnswerError, Question, RefusedError
from harness.engines.trino.client import TrinoConnection
from harness.formats import facts
from harness.model.canonical import MapValue
from harness.model.query import ALL

CATALOGS = {"hudi": "hudi"}


@dataclass
class Coordinator:
    """What is answered to each statement: a status and a body; what was asked, with headers."""

    replies: dict[str, tuple[int, str]] = field(default_factory=dict)
    seen: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    following: dict[str, str] = field(default_factory=dict)
    """What is replied to each path that a reply named."""
    statuses: dict[str, int] = field(default_factory=dict)
    """Of what is replied to such a path; 200 of most."""
    hangs: threading.Event = field(default_factory=threading.Event)
    """Paths that no reply was given for are answered when a query is cancelled."""
    cancelled: list[str] = field(default_factory=list)
    ends: set[str] = field(default_factory=set)
    """After these statements the connection is closed, without a word in the reply."""
    ended: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    connections: int = 0
    port: int = 0

    def says(self, sql: str, **body: Any) -> None:  # noqa: ANN401 - any JSON
        self.replies[sql] = (200, self.reply(**body))

    def goes_on(self, path: str, **body: Any) -> str:  # noqa: ANN401 - any JSON
        self.following[path] = self.reply(**body)
        return self.address(path)

    def replied(self, path: str) -> tuple[int, str]:
        return self.statuses.get(path, 200), self.following.get(path, "")

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def reply(self, **body: Any) -> str:  # noqa: ANN401 - any JSON
        return json.dumps({"id": "q1", "infoUri": "", "stats": {"state": "FINISHED"}, **body})

    def fails(
        self, sql: str, name: str, info: dict[str, Any] | None = None, kind: str = "X"
    ) -> None:
        error = {"message": "it said no", "errorCode": 7, "errorName": name, "errorType": kind}
        self.says(sql, error={**error, "failureInfo": info})


def handler(coordinator: Coordinator) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # connections are kept

        def setup(self) -> None:
            coordinator.connections += 1
            super().setup()

        def do_POST(self) -> None:
            sql = self.rfile.read(int(self.headers["Content-Length"])).decode()
            coordinator.seen.append((sql, dict(self.headers)))
            self.reply(*coordinator.replies[sql])
            self.close_connection = sql in coordinator.ends

        def finish(self) -> None:
            super().finish()
            with suppress(OSError):  # the client ended it first
                self.connection.shutdown(socket.SHUT_RDWR)
            coordinator.ended.release()

        def do_GET(self) -> None:
            if self.path not in coordinator.following:
                coordinator.hangs.wait()
            self.reply(*coordinator.replied(self.path))

        def do_DELETE(self) -> None:
            coordinator.cancelled.append(self.path)
            self.reply(204, "")
            coordinator.hangs.set()

        def reply(self, status: int, body: str) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextmanager
def listening(coordinator: Coordinator) -> Iterator[Coordinator]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(coordinator))
    coordinator.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield coordinator
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def coordinator() -> Iterator[Coordinator]:
    with listening(Coordinator()) as running:
        yield running


@pytest.fixture
def connection(coordinator: Coordinator) -> Iterator[TrinoConnection]:
    with closing(TrinoConnection(("127.0.0.1", coordinator.port), "X-Presto", {})) as opened:
        yield opened


def column(name: str, kind: str) -> dict[str, Any]:
    return {"name": name, "type": kind, "typeSignature": {"rawType": kind, "arguments": []}}


def test_rows_come_with_their_columns_and_without_those_that_hudi_adds(
    coordinator: Coordinator, connection: TrinoConnection
) -> None:
    columns = [column("_hoodie_commit_time", "varchar"), column("id", "bigint")]
    coordinator.says("select 1", columns=columns, data=[["2024", 5]])
    reply = connection.run("select 1", timeout_s=30)
    assert reply.rows == ((5,),)
    assert [(shown.name, shown.canonical) for shown in reply.columns] == [("id", "long")]
    assert [(hidden.name, values) for hidden, values in reply.left_out] == [
        ("_hoodie_commit_time", ("2024",))
    ]


def test_what_the_server_wrote_otherwise_than_it_is_taken_is_kept(
    coordinator: Coordinator, connection: TrinoConnection
) -> None:
    map_ = column("m", "map")
    inner = [column("", text)["typeSignature"] for text in ("bigint", "varchar")]
    map_["typeSignature"]["typeArguments"] = inner
    columns = [column("_hoodie_commit_time", "varchar"), column("d", "double"), map_]
    data = [["2024", 7.0, {"1": "ä"}], ["2024", "NaN", None]]
    coordinator.says("select 1", columns=columns, data=data)
    reply = connection.run("select 1", timeout_s=30)
    assert reply.rows[0] == (7.0, MapValue(((1, "ä"),)))
    assert reply.raw == ((0, 1, '{"1": "ä"}'), (1, 0, "NaN"))


def test_a_presto_server_is_sent_no_header_of_trino(
    coordinator: Coordinator, connection: TrinoConnection
) -> None:
    coordinator.says("select 1", columns=[column("id", "bigint")], data=[[5]])
    connection.run("select 1", timeout_s=30)
    ((_, headers),) = coordinator.seen
    assert headers["X-Presto-User"] == "harness"
    assert headers["X-Presto-Time-Zone"] == "UTC"
    assert not [name for name in headers if name.lower().startswith("x-trino")]


def test_an_error_of_the_server_is_a_refusal_with_the_innermost_cause(
    coordinator: Coordinator, connection: TrinoConnection
) -> None:
    inner = {"type": "java.lang.IllegalArgumentException", "message": None, "stack": ["a.B.c(B.java:1)"]}  # fmt: skip # noqa: E501
    outer = {"type": "io.trino.spi.TrinoException", "message": "Internal error", "cause": inner}
    coordinator.fails("select 1", "GENERIC_INTERNAL_ERROR", outer)
    with pytest.raises(RefusedError) as caught:
        connection.run("select 1", timeout_s=30)
    refusal = caught.value.refusal
    assert (refusal.kind, refusal.code, refusal.message) == (
        "GENERIC_INTERNAL_ERROR",
        "7",
        "it said no",
    )
    assert refusal.cause == "java.lang.IllegalArgumentException: None at a.B.c(B.java:1)"


GONE = {"type": "org.apache.thrift.transport.TTransportException", "message": "refused"}


@pytest.mark.parametrize(
    ("name", "kind", "cause", "why"),
    [
        ("SERVER_STARTING_UP", "X", None, "SERVER_STARTING_UP"),
        ("EXCEEDED_LOCAL_MEMORY_LIMIT", "INSUFFICIENT_RESOURCES", None, "too little for it"),
        ("HIVE_METASTORE_ERROR", "X", GONE, "cannot reach the metastore"),
    ],
)
def test_a_server_that_did_not_look_at_the_query_gave_no_answer(
    name: str,
    kind: str,
    cause: dict[str, Any] | None,
    why: str,
    coordinator: Coordinator,
    connection: TrinoConnection,
) -> None:
    coordinator.fails("select 1", name, cause, kind)
    with pytest.raises(NoAnswerError, match=why):
        connection.run("select 1", timeout_s=30)


@pytest.mark.parametrize("reply", [(503, ""), (502, "broken"), (200, ""), (200, "<html>"), (200, "{}")])  # fmt: skip # noqa: E501
def test_a_reply_that_is_none_is_no_answer_and_is_asked_once_only(
    reply: tuple[int, str], coordinator: Coordinator, connection: TrinoConnection
) -> None:
    coordinator.replies["select 1"] = reply
    with pytest.raises(NoAnswerError):
        connection.run("select 1", timeout_s=30)
    assert len(coordinator.seen) == 1


def test_a_value_with_parts_that_its_type_has_not_is_no_answer(
    coordinator: Coordinator, connection: TrinoConnection
) -> None:
    coordinator.says("select 1", columns=[column("n", "bigint")], data=[[[1]]])
    with pytest.raises(NoAnswerError, match="not of the protocol's form"):
        connection.run("select 1", timeout_s=30)


def test_an_error_after_rows_is_a_refusal_and_the_rows_are_no_answer(
    coordinator: Coordinator, connection: TrinoConnection
) -> None:
    error = {"message": "it said no", "errorName": "HIVE_BAD_DATA", "errorType": "EXTERNAL"}
    following = coordinator.goes_on("/v1/executing/1", error=error)
    coordinator.says("select 1", columns=[column("id", "bigint")], data=[[5]], nextUri=following)
    with pytest.raises(RefusedError, match="HIVE_BAD_DATA: it said no"):
        connection.run("select 1", timeout_s=30)


def test_a_query_that_outlasts_its_time_is_cancelled_and_is_no_answer(
    coordinator: Coordinator, connection: TrinoConnection
) -> None:
    path = "/v1/statement/q1/1"
    following = coordinator.address(path)
    coordinator.goes_on(path, nextUri=following, columns=[], data=[])
    coordinator.says("endless", nextUri=following)
    with pytest.raises(NoAnswerError, match="no answer after"):
        connection.run("endless", timeout_s=0.2)
    assert coordinator.cancelled == ["/v1/statement/q1/1"]


def test_a_reply_that_never_comes_is_no_answer_and_its_query_is_cancelled(
    coordinator: Coordinator, connection: TrinoConnection
) -> None:
    coordinator.says("silent", nextUri=coordinator.address("/v1/statement/q1/1"))
    with pytest.raises(NoAnswerError, match="timed out"):
        connection.run("silent", timeout_s=0.2)
    assert coordinator.cancelled == ["/v1/statement/q1/1"]


def test_the_rows_of_all_replies_come_in_order_over_one_connection(
    coordinator: Coordinator, connection: TrinoConnection
) -> None:
    columns = [column("id", "bigint")]
    last = coordinator.goes_on("/v1/executing/2?slug=a%2Fb", columns=columns, data=[[7]])
    first = coordinator.goes_on("/v1/executing/1", columns=columns, data=[[5], [6]], nextUri=last)
    coordinator.says("select 1", nextUri=coordinator.goes_on("/v1/queued/1", nextUri=first))
    for _ in range(2):
        assert connection.run("select 1", timeout_s=30).rows == ((5,), (6,), (7,))
    assert coordinator.connections == 1


def test_the_server_tells_how_a_catalog_reads_and_each_answer_says_so(
    coordinator: Coordinator,
) -> None:
    rows = [["hudi.use_parquet_column_names", "true"]]
    columns = [column("Name", "varchar"), column("Value", "varchar")]
    coordinator.says("show session like '%use%column_names'", columns=columns, data=rows)
    sql = 'select * from "hudi"."d"."t"'
    coordinator.says(sql, columns=[column("id", "bigint")], data=[])
    question = Question("d", "t", facts("hudi-cow"), ALL)
    address = ("127.0.0.1", coordinator.port)
    with closing(TrinoConnection(address, "X-Presto", {}, lambda _: ("hudi", sql))) as connection:
        connection.confirm(CATALOGS)
        reply = connection.ask(question, timeout_s=30)
    confirmed = "catalog hudi, connector hudi; use_parquet_column_names=true by show session"
    assert (reply.sent, reply.confirmed) == (sql, confirmed)


def test_a_server_that_does_not_tell_its_settings_gives_no_session(
    coordinator: Coordinator, connection: TrinoConnection
) -> None:
    coordinator.fails("show session like '%use%column_names'", "PERMISSION_DENIED")
    with pytest.raises(NoAnswerError, match="does not tell its settings"):
        connection.confirm(CATALOGS)


def test_a_connection_that_the_server_ended_meanwhile_is_made_anew(
    coordinator: Coordinator, connection: TrinoConnection
) -> None:
    coordinator.says("select 1", columns=[column("id", "bigint")], data=[[5]])
    coordinator.ends.add("select 1")
    for _ in range(2):
        assert connection.run("select 1", timeout_s=30).rows == ((5,),)
        coordinator.ended.acquire()
    assert coordinator.connections == 2


TRACE = """com.fasterxml.jackson.databind.JsonMappingException: Invalid position 1 in block \
(through reference chain: com.facebook.presto.client.QueryResults["data"])
\tat com.fasterxml.jackson.databind.JsonMappingException.wrapWithPath(JsonMappingException.java:402)
Caused by: java.lang.IllegalArgumentException: Invalid position 1 in block
\tat com.facebook.presto.common.block.BlockUtil.checkReadablePosition(BlockUtil.java:63)
\t... 60 more
"""
"""On a part of a NULL struct of Iceberg's, with most of the stack left out."""
THROWN = TRACE.partition("\n")[0]
CAUSE = "java.lang.IllegalArgumentException: Invalid position 1 in block"


@pytest.mark.parametrize(
    ("body", "message", "cause"),
    [(TRACE, THROWN, CAUSE), ("it broke\nhere", "it broke", ""), ("", "", "")],
)
def test_such_an_error_is_a_refusal_of_a_kind_of_its_own_and_is_asked_once_only(
    body: str, message: str, cause: str, coordinator: Coordinator, connection: TrinoConnection
) -> None:
    coordinator.replies["select 1"] = (500, body)
    with pytest.raises(RefusedError) as caught:
        connection.run("select 1", timeout_s=30)
    assert caught.value.refusal == Refusal("INTERNAL_SERVER_ERROR", message, "500", cause)
    assert len(coordinator.seen) == 1


def test_a_login_that_a_server_elsewhere_does_not_take_is_said_in_one_line(
    coordinator: Coordinator,
) -> None:
    coordinator.replies["select 1"] = (401, "<html>\n<pre>Access Denied</pre>\n</html>")
    there = Endpoint("trino-476", f"http://127.0.0.1:{coordinator.port}", {}, "auditor")
    address = there.host_and_port
    with (
        closing(TrinoConnection(address, "X-Presto", {}, endpoint=there)) as connection,
        pytest.raises(NoAnswerError, match=r"it does not take the login of auditor \(error 401\)$"),
    ):
        connection.run("select 1", timeout_s=30)


def test_such_an_error_in_a_later_reply_is_a_refusal_too_and_the_session_goes_on(
    coordinator: Coordinator, connection: TrinoConnection
) -> None:
    path = "/v1/statement/q1/1"
    coordinator.following[path], coordinator.statuses[path] = TRACE, 500
    coordinator.says("select 1", nextUri=coordinator.address(path))
    with pytest.raises(RefusedError, match=r"INTERNAL_SERVER_ERROR: .*Invalid position 1 in block"):
        connection.run("select 1", timeout_s=30)
    coordinator.says("select 2", columns=[column("n", "bigint")], data=[[1]])
    assert connection.run("select 2", timeout_s=30).rows == ((1,),)
