"""Hive 4 writes a transactional table: only Hive 4 reads what it deletes and updates."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.core.records import FindingKind, OutcomeKind, VerdictKind
from harness.core.runtime_names import MetastoreChoice
from harness.run.load_run import Run
from harness.scenario.definition import Scenario
from tests.engines.planned_run import done, planned, shipped

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

STORY, COMPACTED = shipped("hive_acid/changed_rows", "hive_acid/compaction")
COMPACT = 5
TRINO, HIVE = "trino-476", "hive-3.1.3{path=fetch, transactions=on}"
HIVE_4, BY_TEZ = "hive-4.0.1", "hive-4.0.1-tez-0.10.4"
UPGRADED = MetastoreChoice("hive-metastore-4.0.1", upgraded_from="hive-metastore-3.1.3")


PLAN = planned([STORY, COMPACTED], ["hive-acid"], [HIVE_4], [TRINO, HIVE])
"""The second story once for each kind of compaction."""


def mine(run: Run, reader: str, story: Scenario = STORY) -> dict[int, set[VerdictKind]]:
    results = defaultdict[int, set[VerdictKind]](set)
    for verdict in run.verdicts:
        if str(verdict.reader) == reader and story.name in verdict.case:
            results[verdict.step].add(verdict.verdict)
    return results


def test_every_step_is_applied(run: Run) -> None:
    results = [state.outcome.kind for state in run.states]
    steps = len(STORY.steps) + 1 + 2 * (len(COMPACTED.steps) + 1)
    assert results == [OutcomeKind.APPLIED] * steps
    assert not any(state.layout for state in run.states)


def test_trino_shows_what_was_deleted_and_updated_as_it_was(run: Run) -> None:
    verdict_kinds = mine(run, TRINO)
    assert [verdict_kinds[number] for number in (1, 2, 3)] == [
        {VerdictKind.CORRECT},
        *[{VerdictKind.WRONG}] * 2,
    ]
    by_step = {e.step: e for e in run.verdicts if str(e.reader) == TRINO and STORY.name in e.case}
    kinds = [{one.kind for one in by_step[step].findings} for step in (2, 3)]
    assert kinds[0] == {FindingKind.DUPLICATE}
    assert FindingKind.GHOST_ROW in kinds[1]


def test_hive_3_refuses_its_files(run: Run) -> None:
    for story in (STORY, COMPACTED):
        assert set.union(*mine(run, HIVE, story).values()) == {VerdictKind.REFUSED}


def test_trino_is_right_again_once_a_compaction_of_either_kind_has_joined_the_files(
    run: Run,
) -> None:
    verdict_kinds = mine(run, TRINO, COMPACTED)
    assert verdict_kinds[COMPACT - 1] == {VerdictKind.WRONG}
    assert verdict_kinds[COMPACT] == {VerdictKind.CORRECT}
    assert verdict_kinds[COMPACT + 1] == {VerdictKind.WRONG}, "a merge writes as before"


@pytest.mark.parametrize(
    ("writer", "stories", "paths"),
    [
        (HIVE_4, (STORY, COMPACTED), ("fetch",)),
        (BY_TEZ, (COMPACTED,), ("fetch",)),
        ("hive-3.1.3", (STORY,), ("fetch", "mapreduce")),
    ],
)
def test_hive_4_shows_what_it_wrote_and_what_hive_3_wrote_before_an_upgrade(
    writer: str,
    stories: Sequence[Scenario],
    paths: Sequence[str],
    tmp_path: Path,
    cache: Cache,
    progress: Progress,
) -> None:
    readers = [f"{HIVE_4}{{path={path}, transactions=on}}" for path in paths]
    upgraded = planned(stories, ["hive-acid"], [writer], readers, metastore=UPGRADED)
    result = done(upgraded, tmp_path / "run", cache, progress)
    asked = sum(len(variant.scenario.steps) for variant in upgraded.variants) * len(readers)
    seen = [verdict.verdict for verdict in result.verdicts if "snapshot" in verdict.case]
    assert seen == [VerdictKind.CORRECT] * asked
