"""Which snapshots of a compacted table are read once more with the files of later."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from harness.core.records import Outcome, OutcomeKind
from harness.run.load_run import Run
from harness.write.table_state import Frozen, State
from tools.measure import old_snapshots

TEXTS = ("create the table", "insert 1 row", "compact", "update f of 1 row")


def test_each_step_before_a_compaction_is_read_with_its_files_and_with_the_last_ones() -> None:
    run = SimpleNamespace(
        info=SimpleNamespace(variants=[SimpleNamespace(id="v"), SimpleNamespace(id="plain")]),
        step=lambda variant, at: SimpleNamespace(text=TEXTS[at] if variant == "v" else "insert"),
    )
    states = {(v, at): state(v, at) for v in ("v", "plain") for at in range(len(TEXTS))}
    found = old_snapshots.snapshots(cast("Run", run), states)
    assert [(each.variant, each.step, each.files_of) for each in found] == [
        ("v", 1, 2),
        ("v", 1, 3),
        ("v", 2, 3),
    ]
    assert {each.database for each in found} == {"s_v1_v2", "s_v1_v3", "s_v2_v3"}


def test_what_comes_late_is_as_at_the_time_or_told_without_the_folder() -> None:
    assert old_snapshots.came("rows", "rows") == old_snapshots.SAME
    assert old_snapshots.came("rows", "refused: E: no file:/a/b/base_3 here") == (
        "refused: E: no FILE here"
    )
    assert old_snapshots.came("rows", "others") == "others, not rows"


def state(variant: str, step: int) -> State:
    frozen = Frozen(Outcome(step, OutcomeKind.APPLIED), (), ())
    return State(f"{variant}{step}", Path(), frozen)
