"""Answers are found again by table state, reader and SQL; never an unknown one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from harness.artifacts.cache import Cache, sharded_path, write_sharded
from harness.core import jsonl
from harness.core.records import Answer


@dataclass(frozen=True, slots=True)
class AnswerCache:
    """The answers that runs have got, one file each."""

    folder: Path

    @classmethod
    def in_cache(cls, cache: Cache) -> AnswerCache:
        return cls(cache.root / "answers")

    def find(self, address: str, case: str) -> Answer | None:
        """Find the answer kept under an address, as the answer of a case."""
        try:
            answer = jsonl.parse(Answer, self._path(address).read_bytes())
        except FileNotFoundError:
            return None
        except ValueError:  # the machine went down before the disk had it: asked again
            return None
        return replace(answer, case=case, reused=True)

    def store(self, address: str, answer: Answer) -> None:
        """Keep an answer, complete or not at all; an unknown or flaky one is not kept.

        Nor is one that depends on what else the server was asked: what was kept before it came out
        is there no more.
        """
        path = self._path(address)
        if answer.earlier is not None:
            path.unlink(missing_ok=True)
        flaky = answer.attempts or any(part.unknown for part in answer.parts)
        if answer.unknown or answer.earlier is not None or flaky:
            return
        write_sharded(self.folder, path.name, f"{jsonl.dump(answer)}\n".encode())

    def _path(self, address: str) -> Path:
        return sharded_path(self.folder, f"{address}.json")
