"""What is kept of a run beside its records: the plan without its cells, and what each cell was."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from pydantic import TypeAdapter

from harness.core.grouping import grouped
from harness.core.records import VerdictKind
from harness.run.load_run import WRITE, Run
from harness.run.run_info import RunInfo
from harness.scenario.cells import Cell

_INFO: Final = TypeAdapter(RunInfo)
_DIGESTS: Final = TypeAdapter(dict[str, str])
_HALF: Final = 2**63
_EXPLAINS: Final = re.compile(r"^(about|source):.*\n( .*\n)*", re.MULTILINE)
"""What of a scenario's text no engine ever sees."""


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run that is kept, without its cells."""

    number: int
    name: str
    """Its id; where several have the same, with the time at which it began."""
    info: RunInfo
    """Without cells; of the texts of scenarios and of lock data it has digests."""
    written: Mapping[str, str]
    """A digest of what was written, by variant."""


@dataclass(frozen=True, slots=True)
class KeptCell:
    """What a run says of a cell."""

    variant: str
    step: int
    reader: str
    """Empty where it is about a step, and no reader was asked."""
    view: str
    query: str
    verdict: VerdictKind
    symptom: str = ""
    """How it is not right, in a few words."""
    places: frozenset[bytes] = frozenset()
    """A digest of each wrong place."""
    asked: int = 0
    """A digest of the statement; 0 where none was sent."""
    answered: int = 0
    """A digest of the answer; 0 where there is none."""

    @property
    def case(self) -> str:
        """Return the name that it has in its run."""
        if self.view == WRITE:
            return f"{self.variant}/s{self.step}/{self.view}"
        return Cell(self.variant, self.step, self.reader, self.view, self.query).case


def digest(text: str) -> bytes:
    """Return eight bytes that stand for a text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def digest_number(text: str) -> int:
    """Return the same as an integer of SQLite's; 0 for an empty text."""
    return int.from_bytes(digest(text)) - _HALF if text else 0


def packed(run: Run) -> tuple[bytes, bytes]:
    """Return what is kept of a plan, and of what was written."""
    info = run.info
    scenarios = {id_: digest(_EXPLAINS.sub("", text)).hex() for id_, text in info.scenarios.items()}
    locks = {name: digest(text).hex() for name, text in info.locks.items()}
    kept = replace(info, cells=(), excluded=(), pairs=(), partly=(), baselines={})
    kept = replace(kept, scenarios=scenarios, locks=locks)
    states = grouped((each.variant, each.digest) for each in run.states)
    written = {variant: digest(" ".join(of)).hex() for variant, of in states.items()}
    found = _INFO.dump_json(kept), _DIGESTS.dump_json(written)
    return zlib.compress(found[0]), zlib.compress(found[1])


def unpacked(info: bytes, written: bytes) -> tuple[RunInfo, Mapping[str, str]]:
    """Return what `packed` has made bytes of."""
    told = (zlib.decompress(each) for each in (info, written))
    return _INFO.validate_json(next(told)), _DIGESTS.validate_json(next(told))
