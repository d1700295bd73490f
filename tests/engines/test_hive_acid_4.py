"""Hive 4 writes a transactional table: only Hive 4 reads what it deletes and updates."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.core.records import FindingKind, OutcomeKind, VerdictKind
from harness.core.runtime_names import MetastoreChoice
from harness.run.load_run import Run
from tests.engines.planned_run import done, planned, shipped

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

(STORY,) = shipped("hive_acid/changed_rows")
TRINO, HIVE = "trino-476", "hive-3.1.3{path=fetch, transactions=on}"
HIVE_4 = "hive-4.0.1"
UPGRADED = MetastoreChoice("hive-metastore-4.0.1", upgraded_from="hive-metastore-3.1.3")


PLAN = planned([STORY], ["hive-acid"], [HIVE_4], [TRINO, HIVE])


def mine(run: Run, reader: str) -> dict[int, VerdictKind]:
    results = [
        verdict for verdict in run.verdicts if verdict.variant in {one.id for one in PLAN.variants}
    ]
    return {verdict.step: verdict.verdict for verdict in results if str(verdict.reader) == reader}


def test_every_step_is_applied(run: Run) -> None:
    (variant,) = (variant.id for variant in PLAN.variants)
    results = [state.outcome.kind for state in run.states if state.variant == variant]
    assert results == [OutcomeKind.APPLIED] * (len(STORY.steps) + 1)


def test_trino_shows_what_was_deleted_and_updated_as_it_was(run: Run) -> None:
    verdict_kinds = mine(run, TRINO)
    assert [verdict_kinds[number] for number in (1, 2, 3)] == [
        VerdictKind.CORRECT,
        *[VerdictKind.WRONG] * 2,
    ]
    by_step = {e.step: e for e in run.verdicts if str(e.reader) == TRINO and STORY.name in e.case}
    kinds = [{one.kind for one in by_step[step].findings} for step in (2, 3)]
    assert kinds[0] == {FindingKind.DUPLICATE}
    assert FindingKind.GHOST_ROW in kinds[1]


def test_hive_3_refuses_its_files(run: Run) -> None:
    assert set(mine(run, HIVE).values()) == {VerdictKind.REFUSED}


@pytest.mark.parametrize(
    ("writer", "paths"), [(HIVE_4, ("fetch",)), ("hive-3.1.3", ("fetch", "mapreduce"))]
)
def test_hive_4_shows_what_it_wrote_and_what_hive_3_wrote_before_an_upgrade(
    writer: str, paths: Sequence[str], tmp_path: Path, cache: Cache, progress: Progress
) -> None:
    readers = [f"{HIVE_4}{{path={path}, transactions=on}}" for path in paths]
    upgraded = planned([STORY], ["hive-acid"], [writer], readers, metastore=UPGRADED)
    result = done(upgraded, tmp_path / "run", cache, progress)
    seen = [verdict.verdict for verdict in result.verdicts if STORY.name in verdict.case]
    assert seen == [VerdictKind.CORRECT] * len(STORY.steps) * len(readers)
