"""What reports work out of a run's records: the cache has it for runs that recorded the same."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from harness.artifacts.result_cache import ResultCache
from harness.run import run_info
from harness.run.run_info import RunInfo

Plain = TypeVar("Plain")


def unmarked(records: str) -> str:
    """Return records, as JSON, as if none came from an earlier run.

    It is a fact of the run and not of what was seen. In texts of theirs quotes are escaped.
    """
    return records.replace('"reused":true', '"reused":false')


@dataclass(frozen=True, slots=True)
class ReportCache:
    """The data that were worked out of the same records before; without `results` there are none.

    The same but for the run's name and time, and for what was reused: none of it may be in them.
    """

    results: ResultCache | None = None
    records: str = ""
    """The digest of what was recorded."""

    @classmethod
    def of(cls, results: ResultCache | None, info: RunInfo, files: Iterable[Path]) -> ReportCache:
        """Return what is kept of a plan and of all that is in some files of records."""
        return cls(results, _digest(info, files)) if results else cls()

    def get(self, what: str, make: Callable[[], Plain]) -> Plain:
        """Return what `make` returns, or has returned for the same records.

        `what`: tells it from other data.
        """
        return self.results.data(what, [self.records], make) if self.results else make()


UNCACHED: Final = ReportCache()


def _digest(info: RunInfo, files: Iterable[Path]) -> str:
    plan = replace(info, id="", started=datetime.datetime.fromtimestamp(0, datetime.UTC))
    digest = hashlib.sha256(run_info.dump(plan))
    for path in filter(Path.exists, files):
        digest.update(f"{path.name}\n".encode())
        with path.open(encoding="utf-8", newline="\n") as lines:
            for line in lines:  # one after another: there may be a million
                digest.update(unmarked(line).encode())
    return digest.hexdigest()
