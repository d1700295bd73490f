"""A frozen state answers as the live table did after the same step, whatever happens to it later.

Scenario A5 by its own writing code: every reader is asked in place right after each step, and later
the forks of all these steps, when the original has gone on.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from harness import formats
from harness.core.records import OutcomeKind
from harness.plan import Profile, Writer, plan, scenarios_folder
from harness.scenario import load
from harness.scenario.cells import Variant
from harness.scenario.definition import Step
from harness.scenario.operations.columns import RenameColumn
from harness.scenario.operations.row_writes import Upsert
from harness.write import state_store
from harness.write.send_step import WriterFor
from harness.write.state_store import State
from harness.write.writer_pool import WriteTarget
from tests.engines.everyone import Everyone, Running, Watch

pytestmark = pytest.mark.engines

SPARK = "spark-3.5.8-hudi-1.0.2{schema-on-read=on}"
TRINO = ("trino-476{use-column-names=true}", "trino-476{use-column-names=false}")
NO_VERSION_8 = "GENERIC_INTERNAL_ERROR 65536"
READERS = (SPARK, "hive-3.1.3{path=fetch, schema-on-read=on}", *TRINO)
WRITERS = (
    Writer("spark-3.5.8-hudi-0.15.0"),
    Writer("spark-3.5.8-hudi-1.0.2"),
    Writer("spark-3.5.8-hudi-1.0.2", {"table_version": "6"}),
)
A5 = load.load(scenarios_folder() / "hudi" / "a5.yaml")
LAST = len(A5.steps)
CHANGES = (Step(Upsert(keys=(1, 9))), Step(RenameColumn("f1_new", "f1_newer")))
"""What happens to the original when its forks are made."""


def variants() -> Sequence[Variant]:
    profile = Profile(
        name="forks",
        scenarios=(A5.name,),
        formats=("hudi-cow", "hudi-mor"),
        writers=WRITERS,
        readers=(),
        axes={"rewrites": ("some",)},
    )
    scenario = replace(A5, steps=(*A5.steps, *CHANGES))
    result = plan([scenario], profile, map(formats.load, formats.names())).variants
    return sorted(result, key=lambda variant: variant.writers)


def is_version_8(variant: Variant) -> bool:
    return variant.writers[0].endswith("1.0.2") and "table_version" not in variant.settings


def params() -> Iterator[pytest.ParameterSet]:
    """Yield each variant; by day the one that all readers know."""
    for variant in variants():
        by_day = (variant.format, variant.writers[0]) == ("hudi-cow", WRITERS[0].distribution)
        yield pytest.param(variant, id=variant.id, marks=() if by_day else pytest.mark.nightly)


@dataclass
class ForkedAtOnce(Watch):
    """Asks a fork of the last step of A5, too, before the original goes on."""

    fork_before: Everyone = field(default_factory=dict)

    def at_state(self, step: int, state: State) -> None:
        super().at_state(step, state)
        if step == LAST:
            self.fork_before = self.fork(state)


@pytest.mark.parametrize("readers", [READERS], indirect=True, ids=["all"])
@pytest.mark.parametrize("variant", list(params()))
def test_forks_answer_as_the_table_did_in_place_and_do_not_move_with_it(
    variant: Variant, readers: Sequence[Running], writer_for: WriterFor, target: WriteTarget
) -> None:
    watch = ForkedAtOnce(readers, target, variant.format)
    assert set(watch.write(variant, writer_for)) == {OutcomeKind.APPLIED}
    states = {step: state for step, state in watch.states.items() if step <= LAST}
    files = {step: state_store.file_list(state) for step, state in states.items()}
    forks = {step: watch.fork(state) for step, state in states.items()}

    assert sorted(forks) == list(range(LAST + 1))
    assert forks == {step: watch.in_place[step] for step in forks}
    assert forks[LAST] == watch.fork_before
    assert files == {step: state_store.file_list(state) for step, state in states.items()}
    see_what_changed(watch.in_place)
    see_who_refuses(forks, variant)


def see_what_changed(in_place: dict[int, Everyone]) -> None:
    """The changes after A5 are seen where forks are not asked, else no fork could have moved."""
    before, upserted, renamed = (
        {table: response for (reader, table), response in in_place[step].items() if reader == SPARK}
        for step in range(LAST, LAST + len(CHANGES) + 1)
    )
    for table in before:
        assert before[table].rows != upserted[table].rows
        assert [column.name for column in before[table].columns] == ["id", "ts", "f1_new", "f3"]
        assert [column.name for column in renamed[table].columns] == ["id", "ts", "f1_newer", "f3"]


def see_who_refuses(forks: Mapping[int, Everyone], variant: Variant) -> None:
    """Trino refuses every table of version 8, by name and by position; nothing else is refused.

    So refusals were compared too, and no row is equal only because nobody answered.
    """
    asked = [
        (reader, response)
        for everyone in forks.values()
        for (reader, _), response in everyone.items()
    ]
    version_8 = is_version_8(variant)
    refused = {(reader, response.refused) for reader, response in asked if response.refused}
    assert refused == ({(reader, NO_VERSION_8) for reader in TRINO} if version_8 else set())
    answering = {reader for reader, answer in asked if answer.rows}
    assert answering == set(READERS) - {reader for reader, _ in refused}
    if version_8:
        assert all(response.refused for reader, response in asked if reader in TRINO)
