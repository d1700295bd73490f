from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import pytest

from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.runtime import memory
from harness.runtime.api import MetastoreUris
from harness.runtime.memory import MACHINE, Free
from harness.write import write_variants
from harness.write.state_records import VariantResult
from harness.write.writer_pool import WriteContext
from tests.builders.calls import Call, called_back, calls_of
from tests.builders.written_variant import STEPS, Simulated, kinds, variant

WRITE: Final = "harness.write.write_variants"
STEP: Final = ("VariantOutcomes.next_step", "StepSender.send", "observe", "_frozen")


@pytest.fixture
def calls(catalog: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    writer = Simulated()

    @contextmanager
    def serve(*_: object, **__: object) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(uris=MetastoreUris("thrift://x"))

    @contextmanager
    def spark(*_: object) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(open=writer.open, alive=lambda: True)

    monkeypatch.setattr("harness.runtime.provide.start_metastore", serve)
    monkeypatch.setattr("harness.runtime.provide.runtime", lambda *_: None)
    monkeypatch.setattr("harness.write.writer_pool.launch.spark", spark)
    monkeypatch.setattr(memory, "free", lambda: Free(10_000, MACHINE))
    context = WriteContext(Cache(tmp_path / "cache"), tmp_path / "run", Progress())
    results: list[VariantResult] = []
    made = calls_of(lambda: results.extend(write_variants.write([variant()], context)))
    assert [kinds(result.records) for result in results] == [[], ["applied"] * (len(STEPS) + 1)]
    return made


def test_each_stage_is_called_once_for_each_step_and_in_order(calls: list[Call]) -> None:
    order = (*STEP * (len(STEPS) + 1), "record")
    stages = [
        call
        for call in calls
        if (call.caller == WRITE and call.function in order)
        and call.callee != "harness.write.state_store"
    ]
    at_last = [call.function for call in stages][-len(order) :]
    assert at_last == list(order)
    assert len(stages) - len(order) == 1, "the first step is looked for in the cache before"


def test_nothing_that_writing_uses_calls_it_back(calls: list[Call]) -> None:
    assert called_back(calls, "write") == set()
