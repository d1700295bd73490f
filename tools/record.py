"""Record a run's answers, so that every later change of a check is run against them.

    python tools/record.py RUN FOLDER
    python tools/record.py --accept FOLDER
    python tools/record.py --states RUN FOLDER

The first makes a recording of a finished run, with the verdicts of today, in place of what is in
the folder, and says what changed: outcomes and files of steps, answers, verdicts. The second leaves
what engines said as it is and accepts the verdicts of today. The third takes what older records
lack of the tables from a run that wrote them anew, and stands by the answers: where anything that
was recorded of a variant's tables is otherwise now, all of that variant stays. Review all with
`git diff`.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `tools` and `tests`

from harness.core import refusals
from harness.core.errors import UsageProblem
from harness.core.jsonl import dump
from harness.core.records import Answer, Part, StateRecord
from harness.model import partition_paths
from harness.model.canonical import text_of
from harness.model.file_facts import FileFact
from harness.run import load_run
from harness.scenario.cells import Cell
from tests.builders import recordings, replay, tidy_records
from tests.builders.recordings import Recorded, VerdictRecord

StateOrAnswer = TypeVar("StateOrAnswer", StateRecord, Answer)
SHOWN = 3
"""So many lines of a changed answer, before and after."""


def changes(before: Mapping[str, Recorded], after: Mapping[str, Recorded]) -> Iterator[str]:
    """Yield what differs between two recordings; verdicts that changed alike stand at the end."""
    was, now = dict[Cell, VerdictRecord](), dict[Cell, VerdictRecord]()
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            cells = len((old or after[name]).answers)
            yield f"{name}: {'new' if old is None else 'gone'}, {cells} cells"
            continue
        if _plan(old) != _plan(new):
            yield f"{name}: another scenario, setting or writer"
        yield from (f"{name}: {line}" for line in _states(old, new))
        yield from _answers(old.answers, new.answers)
        was |= old.verdicts
        now |= new.verdicts
    yield from replay.differences(was, now)


def _same(one: StateOrAnswer | None, other: StateOrAnswer | None) -> bool:
    """Return whether two records are alike; a NaN in them is like any other."""
    return one == other or bool(one and other and dump(one) == dump(other))


def _plan(recorded: Recorded) -> tuple[object, ...]:
    """Return what was planned; the scenario as its text, in which a NaN is like any other."""
    variant = recorded.variant
    return recorded.scenario, variant.format, variant.settings, variant.writers, variant.twin


def _states(old: Recorded, new: Recorded) -> Iterator[str]:
    was = {state.outcome.step: state for state in old.states}
    now = {state.outcome.step: state for state in new.states}
    for step in sorted(was.keys() | now.keys()):
        one, other = was.get(step), now.get(step)
        if one is None or other is None or one.outcome != other.outcome:
            before, after = (state.outcome.kind if state else "not there" for state in (one, other))
            yield f"step {step} was {before}, is {after}, or was sent otherwise"
        elif not _same(one, other):
            yield f"step {step}: other files, or other values in them"


def _answers(old: Mapping[Cell, Answer | None], new: Mapping[Cell, Answer | None]) -> Iterator[str]:
    for cell in dict.fromkeys((*old, *new)):
        if cell not in old or cell not in new:
            yield f"{cell.case}: {'no longer' if cell in old else 'newly'} asked"
        elif not _same(old[cell], new[cell]):
            yield f"{cell.case}: another answer"
            was, now = _lines(old[cell]), _lines(new[cell])
            for mark, one, other in (("-", was, now), ("+", now, was)):
                yield from [f"    {mark} {line}" for line in one if line not in other][:SHOWN]


def _lines(answer: Answer | None) -> list[str]:
    """Return an answer as lines; those of columns asked alone begin with the column."""
    if answer is None:
        return ["none"]
    lines = _content(answer)
    return lines + [f"{part.column}: {line}" for part in answer.parts for line in _content(part)]


def _content(answer: Answer | Part) -> list[str]:
    if answer.refusal or answer.unknown:
        return [refusals.text(answer.refusal) if answer.refusal else answer.unknown]
    columns = ", ".join(f"{column.name} {column.type}" for column in answer.columns)
    return [columns, *(", ".join(map(text_of, row)) for row in answer.rows)]


def filled(old: Recorded, written: Sequence[StateRecord]) -> tuple[Recorded, list[str]]:
    """Return a recording with what its states lacked, and lines about that.

    Raises:
        ValueError: a step's record is otherwise now.

    """
    names = tidy_records.names_of(written)
    new = {state.outcome.step: tidy_records.state(state, names) for state in written}
    states, lines = [], []
    for was in old.states:
        step = was.outcome.step
        now = new.get(step)
        lacks = [f.name for f in fields(was) if getattr(was, f.name) == f.default is not MISSING]
        taken = {name: getattr(now, name) for name in lacks} if now else {}
        states.append(replace(was, **{"files": tuple(map(_of_partition, was.files)), **taken}))
        if now is None or not _same(_uncounted(states[-1]), _uncounted(now)):
            raise ValueError(f"step {step}: what was recorded of it is not the same now")
        more = [name for name, value in taken.items() if value != getattr(was, name)]
        lines += [f"step {step}: {', '.join(more)}"] if more else []
    return replace(old, states=tuple(states)), lines


def _of_partition(fact: FileFact) -> FileFact:
    """Return a file with its file group as it is named today: older records have its id alone."""
    folder, group = partition_paths.folder_of(fact.path), fact.file_group
    return replace(fact, file_group=group if "/" in group else f"{folder}/{group}".lstrip("/"))


def _uncounted(state: StateRecord) -> StateRecord:
    """Return a state without what Hudi's writers count from their start on, row by row."""
    values = (
        replace(v, meta=tuple((time, None, *rest) for time, _, *rest in v.meta))
        for v in state.values
    )
    return replace(state, values=tuple(values))


def _fill(run: load_run.Run, before: Mapping[str, Recorded]) -> Iterator[Recorded]:
    for name, old in before.items():
        written = run.states_of(name)
        try:
            new, lines = filled(old, written) if written else (old, [])
        except ValueError as why:
            print(f"{name}: stays, {why}")
            new, lines = old, []
        for line in lines:
            print(f"{name}: {line}")
        yield replace(new, verdicts=replay.judged(new)) if lines else old


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--accept", action="store_true", help="only judge the recording anew")
    parser.add_argument("--states", action="store_true", help="take what states lack from a run")
    parser.add_argument("run", type=Path, nargs="?", help="a finished run's folder")
    parser.add_argument("folder", type=Path, help="of the recording: tests/recorded/quick_start")
    options = parser.parse_args()
    if options.accept == (options.run is not None):
        parser.error("give a run and a folder to record, or --accept and a folder")
    before = {recorded.variant.id: recorded for recorded in recordings.read_all(options.folder)}
    if options.accept and not before:
        parser.error(f"{options.folder} holds no recording: no {recordings.VARIANTS} is in it")
    if options.accept:
        new = [replace(record, verdicts=replay.judged(record)) for record in before.values()]
        recordings.write_verdicts(options.folder, new)
    elif options.states:
        new = list(_fill(load_run.recorded(options.run), before))
        recordings.write(options.folder, new)
    else:
        try:
            new = list(replay.recorded_from(load_run.load(options.run)))
        except (UsageProblem, ValueError) as wrong:
            parser.exit(2, f"{wrong}\n")
        recordings.write(options.folder, new)
    _say(before, new, options.folder)
    return 0


def _say(before: Mapping[str, Recorded], new: list[Recorded], folder: Path) -> None:
    for line in changes(before, {recorded.variant.id: recorded for recorded in new}):
        print(line)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    cells = sum(len(recorded.answers) for recorded in new)
    verdicts = ", ".join(f"{n} {kind}" for kind, n in replay.counts(new).most_common())
    print(f"{folder}: {len(new)} variants, {cells} cells ({verdicts}), {size / 1e3:.0f} kB")


if __name__ == "__main__":
    sys.exit(main())
