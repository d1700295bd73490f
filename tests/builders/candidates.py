"""Candidates whose readers are simulated: what each shows is known at once."""

from collections.abc import Callable
from dataclasses import replace

from harness.cli.reproduce.candidate import Candidate, begin
from harness.cli.reproduce.causes import Cause, Sign, signs
from harness.cli.reproduce.files import Observation
from harness.cli.reproduce.shrink import Search, Target, cell_of
from harness.core.records import Answer
from harness.judge.verdicts import judge
from harness.scenario.cells import parse_reader
from harness.scenario.definition import Scenario
from tests.builders import simulated_disk, simulated_reader
from tests.builders.judged_story import case_without_values, judged_answer
from tests.builders.simulated_reader import Reader
from tests.builders.table_story import Story

WRITER = "spark-3.5.8-hudi-0.15.0"
DIGEST = "0123456789abcdef" * 4
TRINO = "trino-476{use-column-names=false}"
SIGN = Sign("misaligned", ("by position",))
CAUSE = Cause("move_column", TRINO, "snapshot", "hudi-cow", SIGN)


def candidate_of(story: Story, view: str = "snapshot") -> Candidate:
    variant = case_without_values(story).variant
    writers = (WRITER,) * len(variant.writers)
    made = begin(variant, len(story.operations), view, ())
    return made.__class__(made.scenario, made.format, {}, writers, made.numbers)


def written_story(candidate: Candidate) -> Story:
    scenario, mor = candidate.scenario, candidate.format == "hudi-mor"
    history = scenario.truths(merge_on_read=mor).history()
    operations = candidate.operations
    disk = simulated_disk.written(scenario.table, operations, history, merge_on_read=mor)
    return Story(operations, history, disk)


def seen_by(reader: Reader, candidate: Candidate) -> frozenset[Sign]:
    story = written_story(candidate)
    return signs(judged_answer(story, simulated_reader.read(story.disk, story.truth, reader)), None)


def showing(reader: Reader, sign: Sign) -> Callable[[Candidate], bool]:
    return lambda candidate: sign.among(seen_by(reader, candidate))


def smallest(begin: Candidate, shows: Callable[[Candidate], bool]) -> Candidate | None:
    """Return the result of a whole search where `shows` answers at once."""
    search = Search(begin)
    while not search.over:
        search.record(map(shows, search.waiting))
    return search.smallest


def scenario_of(story: Story) -> Scenario:
    return case_without_values(story).variant.scenario


def target_of(reader: str = TRINO) -> Target:
    return Target(replace(CAUSE, suspect=reader), parse_reader(reader), "all")


def observation_of(
    candidate: Candidate,
    reader: str = TRINO,
    view: str = "snapshot",
    sql: str = 'select * from "hudi_by_position"."s_{0}"."t"',
) -> Observation:
    """Return what a simulated reader by position answers, as if an engine had."""
    story = written_story(candidate)
    cell = cell_of(candidate, reader, view, "all")
    assert cell is not None
    reply = simulated_reader.read(story.disk, story.truth, Reader("position"))
    answer = Answer(cell.case, sql.format(DIGEST[:16]), reply.columns, reply.rows)
    case = replace(case_without_values(story), variant=candidate.variant)
    (verdict,) = judge(case, [cell], {cell.case: answer})
    states = tuple(replace(state, digest=DIGEST) for state in case.states)
    return Observation(verdict, answer, states)
