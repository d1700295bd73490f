"""The judged cells of one scenario, and quick answers to which of them a condition holds of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.core.cached_method import cached_method
from harness.judge.baseline.known import READER, VIEW, WRITE, Expect, When, holds
from harness.judge.baseline.seen import Seen


class CellIndex:
    """Cells by their place in `seen`; a set of them is the bits of a number.

    Each condition is tried once on each cell; sets are then joined bit by bit.
    """

    def __init__(self, seen: Iterable[Seen]) -> None:
        self.seen = tuple(seen_ for seen_ in seen if seen_.judged)
        self.knowable = _bits(
            seen_cell.shown is not None and seen_cell.shown.knowable for seen_cell in self.seen
        )
        self._steps = _bits(seen_cell.properties[VIEW] == WRITE for seen_cell in self.seen)

    def cells(self, when: When) -> int:
        """Return the cells of which all conditions hold."""
        result = (1 << len(self.seen)) - 1
        for pair in when:
            result &= self._one(pair)
        return result if any(name == VIEW for name, _ in when) else result & ~self._steps

    @cached_method
    def _one(self, pair: tuple[str, str]) -> int:
        return _bits(_holds(pair, seen) for seen in self.seen)

    @cached_method
    def others(self, result: Expect) -> int:
        """Return the cells that do not answer so: the correct ones, and those wrong otherwise."""
        return _bits(seen.shown != result for seen in self.seen)

    def settings(self, engine: str) -> tuple[str, ...]:
        """Return the names of the settings that readers of an engine have."""
        readers = (seen.properties for seen in self.seen if seen.properties["engine"] == engine)
        return tuple(
            sorted({name for reader in readers for name in reader if name.startswith(READER)})
        )

    def places(self, cells: int) -> Iterator[int]:
        return (at for at in range(len(self.seen)) if cells >> at & 1)


def _holds(pair: tuple[str, str], seen: Seen) -> bool:
    # What `holds` says of steps is about the whole of the conditions; here is only one of them.
    return holds((pair, (VIEW, seen.properties[VIEW])), seen.properties)


def _bits(flags: Iterable[bool]) -> int:
    return sum(1 << at for at, flag in enumerate(flags) if flag)
