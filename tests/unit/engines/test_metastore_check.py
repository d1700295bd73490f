"""A server that cannot work is not to blame while its metastore does not answer."""

from __future__ import annotations

import pytest

from harness.core.errors import EnvironmentProblem
from harness.core.records import Refusal
from harness.engines.api import NoAnswerError
from harness.engines.engine_support import metastore_first
from harness.engines.hive.errors import HiveError
from harness.runtime import metastore_client, process
from harness.runtime.metastore_client import CatalogGoneProblem

NOBODY = f"thrift://{process.LOOPBACK}:{process.free_port()}"


def test_a_server_whose_metastore_is_gone_is_not_waited_for() -> None:
    with (
        pytest.raises(CatalogGoneProblem, match="does not answer"),
        metastore_first(NOBODY),
    ):
        raise NoAnswerError("not yet")


def test_a_server_whose_metastore_answers_is_just_not_ready(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(metastore_client, "check", lambda uri: None)
    with (
        pytest.raises(NoAnswerError, match="not yet"),
        metastore_first("thrift://x:1"),
    ):
        raise NoAnswerError("not yet")


def test_a_client_that_is_refused_as_it_connects_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(metastore_client, "check", lambda uri: None)
    with (
        pytest.raises(EnvironmentProblem, match="on its metastore: Semantic: no database default"),
        metastore_first("thrift://x:1"),
    ):
        raise HiveError(Refusal("Semantic", "no database default"))


def test_what_is_wrong_in_the_harness_stays_what_it_is() -> None:
    with pytest.raises(ZeroDivisionError), metastore_first(NOBODY):
        raise ZeroDivisionError


def test_a_server_that_is_ready_asks_nothing_of_the_metastore() -> None:
    with metastore_first(NOBODY):
        pass
