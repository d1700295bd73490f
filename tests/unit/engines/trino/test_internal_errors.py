"""An error that a server met in itself while it answered: what PrestoDB was seen to reply."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from harness.core.records import Refusal
from harness.engines.api import RefusedError
from harness.engines.trino.client import TrinoConnection
from tests.unit.engines.trino.test_client import Coordinator, column, listening

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


@pytest.fixture
def coordinator() -> Iterator[Coordinator]:
    with listening(Coordinator()) as running:
        yield running


@pytest.fixture
def connection(coordinator: Coordinator) -> Iterator[TrinoConnection]:
    with closing(TrinoConnection(("127.0.0.1", coordinator.port), "X-Presto", {})) as opened:
        yield opened


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
