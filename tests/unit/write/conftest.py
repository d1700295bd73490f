from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.artifacts.cache import Cache
from harness.write.writer_pool import WriteTarget
from tests.builders import written_variant


@pytest.fixture(autouse=True)
def catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def connect(_: str) -> Iterator[Any]:
        yield SimpleNamespace(
            create_database=lambda _: None, entries=lambda _: written_variant.ENTRIES
        )

    monkeypatch.setattr("harness.write.write_variants.metastore_client.connect", connect)


@pytest.fixture
def target(tmp_path: Path) -> WriteTarget:
    folder = tmp_path / "work"
    folder.mkdir()
    return WriteTarget(Cache(tmp_path / "cache"), "thrift://x", "db", folder)
