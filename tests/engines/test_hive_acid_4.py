"""Hive 4 writes a transactional table: only Hive 4 reads what it deletes and updates."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import formats
from harness.artifacts.cache import Cache
from harness.core.metastore_choice import USUAL, MetastoreChoice
from harness.core.progress import Progress
from harness.core.records import FindingKind, OutcomeKind, VerdictKind
from harness.plan import Profile, ProfileReader, Writer, plan, scenarios_folder
from harness.run.load_run import Run
from harness.scenario import load
from harness.scenario.cells import Plan, parse_reader
from tests.engines.planned_run import done

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

STORY = load.load(scenarios_folder() / "hive_acid" / "changed_rows.yaml")
TRINO, HIVE = "trino-476", "hive-3.1.3{path=fetch, transactions=on}"
UPGRADED = MetastoreChoice("hive-metastore-4.0.1", upgraded_from="hive-metastore-3.1.3")


def planned(readers: tuple[str, ...], metastore: MetastoreChoice = USUAL) -> Plan:
    profile = Profile(
        name="hive_acid_4",
        scenarios=(STORY.name,),
        formats=("hive-acid",),
        writers=(Writer("hive-4.0.1"),),
        readers=tuple(ProfileReader(parse_reader(each)) for each in readers),
        metastore=metastore,
    )
    return plan([STORY], profile, map(formats.load, formats.names()))


PLAN = planned((TRINO, HIVE))


def mine(run: Run, reader: str) -> dict[int, VerdictKind]:
    """The verdicts of a reader by step."""
    found = [each for each in run.verdicts if each.variant in {one.id for one in PLAN.variants}]
    return {each.step: each.verdict for each in found if str(each.reader) == reader}


def test_every_step_is_applied(run: Run) -> None:
    (variant,) = (each.id for each in PLAN.variants)
    found = [each.outcome.kind for each in run.states if each.variant == variant]
    assert found == [OutcomeKind.APPLIED] * (len(STORY.steps) + 1)


def test_trino_shows_what_was_deleted_and_updated_as_it_was(run: Run) -> None:
    found = mine(run, TRINO)
    assert [found[each] for each in (1, 2, 3)] == [VerdictKind.CORRECT, *[VerdictKind.WRONG] * 2]
    of = {e.step: e for e in run.verdicts if str(e.reader) == TRINO and STORY.name in e.case}
    kinds = [{one.kind for one in of[step].findings} for step in (2, 3)]
    assert kinds[0] == {FindingKind.DUPLICATE}
    assert FindingKind.GHOST_ROW in kinds[1]


def test_hive_3_refuses_its_files(run: Run) -> None:
    assert set(mine(run, HIVE).values()) == {VerdictKind.REFUSED}


def test_hive_4_shows_everything_that_it_wrote(
    tmp_path: Path, cache: Cache, progress: Progress
) -> None:
    readers = tuple(f"hive-4.0.1{{path={path}, transactions=on}}" for path in ("fetch",))
    found = done(planned(readers, UPGRADED), tmp_path / "run", cache, progress)
    seen = [each.verdict for each in found.verdicts if STORY.name in each.case]
    assert seen == [VerdictKind.CORRECT] * len(STORY.steps)
