"""A transactional table of Hive 3 is read by Hive 4: its metastore upgrades the transactions."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import formats
from harness.artifacts.cache import Cache
from harness.core.metastore_choice import MetastoreChoice
from harness.core.progress import Progress
from harness.core.records import VerdictKind
from harness.plan import Profile, ProfileReader, Writer, plan, scenarios_folder
from harness.scenario import load
from harness.scenario.cells import parse_reader
from tests.engines.planned_run import done

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

STORY = load.load(scenarios_folder() / "hive_acid" / "changed_rows.yaml")
UPGRADED = plan(
    [STORY],
    Profile(
        name="hive_acid_upgraded",
        scenarios=(STORY.name,),
        formats=("hive-acid",),
        writers=(Writer("hive-3.1.3"),),
        readers=tuple(
            ProfileReader(parse_reader(f"hive-4.0.1{{path={path}, transactions=on}}"))
            for path in ("fetch", "mapreduce")
        ),
        metastore=MetastoreChoice("hive-metastore-4.0.1", upgraded_from="hive-metastore-3.1.3"),
    ),
    map(formats.load, formats.names()),
)


def test_hive_4_shows_what_counts_and_a_renamed_column_by_its_place(
    tmp_path: Path, cache: Cache, progress: Progress
) -> None:
    run = done(UPGRADED, tmp_path / "run", cache, progress)
    mine = [each for each in run.verdicts if STORY.name in each.case]
    assert len(mine) == 2 * len(STORY.steps)
    assert {each.verdict for each in mine} == {VerdictKind.CORRECT}
