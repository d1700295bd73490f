"""PyIceberg: what it makes of tables that changed, in each shape of question and in the past."""

from __future__ import annotations

import pytest

from harness import formats
from harness.core.records import FindingKind, VerdictKind
from harness.plan import Profile, ProfileReader, Writer, load_scenarios, plan, scenarios_folder
from harness.run.load_run import Run
from harness.scenario.cells import QUERIES, Plan, parse_reader

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

READER = "pyiceberg-0.12.0"
STORY, VALUES, AGAIN = "iceberg/by_field_id", "iceberg/hard_values", "iceberg/name_given_again"
WRITER = "spark-3.5.8-iceberg-1.10.1"
DROPPED, ADDED = 2, 3
"""The steps of `AGAIN` by which a name loses its column, and gets another."""


def planned() -> Plan:
    profile = Profile(
        name="pyiceberg",
        scenarios=(STORY, VALUES, AGAIN),
        formats=("iceberg",),
        axes={"rewrites": ("some",)},
        writers=(Writer(WRITER), Writer(WRITER, {"delete_mode": "merge-on-read"})),
        readers=(ProfileReader(parse_reader(READER)),),
        queries=QUERIES,
        views=("snapshot", "as_of"),
    )
    every = load_scenarios(scenarios_folder())
    scenarios = [each for each in every if each.name in profile.scenarios]
    return plan(scenarios, profile, map(formats.load, formats.names()))


PLAN = planned()


def test_all_of_now_is_right(run: Run) -> None:
    now = [each for each in run.verdicts if each.view == "snapshot"]
    assert {each.verdict for each in now} == {VerdictKind.CORRECT}
    assert {each.query.partition("(")[0] for each in now} >= {"all", "predicate", "min", "both"}


def test_a_condition_on_the_past_goes_by_the_names_of_now(run: Run) -> None:
    past = [each for each in run.verdicts if each.scenario == AGAIN and each.view != "snapshot"]
    odd = {each.step: each for each in past if each.verdict != VerdictKind.CORRECT}
    assert {each.query for each in odd.values()} == {"unchanged(f1)"}
    assert odd.pop(DROPPED).verdict == VerdictKind.REFUSED
    assert {*odd} >= {ADDED}
    for each in odd.values():
        assert {found.kind for found in each.findings} == {FindingKind.LOST_ROW}
