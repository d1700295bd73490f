"""Kill the harness, or something it started, at a random moment; go on; compare the verdicts.

    python tools/deaths.py --runs 200 --seed 1 --jobs 2 --folder build/deaths

What came of each run is kept in the folder (`deaths.jsonl`), as are the undisturbed runs: the same
command goes on where an earlier one ended, with the runs that are not there. So a folder belongs to
one state of the program. `--minutes 30` begins nothing more after half an hour; `--each 1 --only
'prestodb|trino-368'` does one run of each kind whose name matches, to see that they can be done.

A run that is over before the blow falls is done again with another moment, up to five times; where
nothing was struck even then, that is told apart, not counted, and left to the next go.

Each run takes one engine's cells of `deaths_scenarios`; where tables are written too, there are
several, so that the engine reads some while others are written. One process gets SIGKILL (or
SIGSTOP, for one that hangs) at a random moment of all the time that its like are there in an
undisturbed run; then `harness run --resume` must end with the verdicts of that run, times and names
of files apart. It is checked that no process and no socket that listens outlives a harness, that
no verdict of a disturbed run is other than the undisturbed one or unknown, also when what a death
left is judged as it is, and that nothing half-made is left. Prints a table: target, runs, what came
of them. Ends 1 if any failed.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from harness.run import load_run

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `tools` and `tests`

from harness.core.errors import UsageProblem
from harness.run import pipeline
from tools import deaths_outcomes
from tools.deaths_kinds import EVERY, DeathKind, planned
from tools.deaths_outcomes import FAILED, LATE, OutcomeLog, verdicts
from tools.deaths_runs import RunProcess, Struck, left, outlived, strike
from tools.deaths_undisturbed import Experiment, Undisturbed, prepare

TRIES: Final = 5
"""So many runs at most until one is struck."""


def until_struck(experiment: Experiment, kind: DeathKind, number: int) -> str:
    """Do runs until something was struck in one; give what came of that, or that none was."""
    # Of another go at the same number the moments are others.
    seed = f"{experiment.log.seed}-{number}-{experiment.log.goes(number)}"
    chance = random.Random(seed)  # noqa: S311 - to be repeated, not secret
    for _ in range(TRIES):
        experiment.clear(number)
        outcome = disturbed(experiment, kind, number, chance)
        if outcome != LATE:
            return outcome
    return LATE


def disturbed(experiment: Experiment, kind: DeathKind, number: int, chance: random.Random) -> str:
    """Do a run, strike its target, go on; give what came of it."""
    known = experiment.known[kind.reader, kind.writes]
    cache = experiment.cache(f"cache-{number}" if kind.writes else "cache")
    run = RunProcess(experiment.folder / f"run-{number}", cache, *kind.options)
    blow = signal.SIGSTOP if kind.stops else signal.SIGKILL
    hit = strike(run, kind.target, blow, known.wait_s(kind, chance), chance)
    status = run.finish()
    try:
        return _became(run, cache, kind, known, hit, status)
    except (UsageProblem, ValueError) as problem:
        print(f"{run.folder.name}: records that cannot be read: {problem}", file=sys.stderr)
        return deaths_outcomes.BROKEN


def _became(
    run: RunProcess,
    cache: Path,
    kind: DeathKind,
    known: Undisturbed,
    hit: Struck | None,
    status: int,
) -> str:
    """Return what came of a run that ended with a status; `hit`: what there was at the blow."""
    if hit is None:
        return LATE if verdicts(run.folder) == known.verdicts else deaths_outcomes.DIFFERS
    if outlived(run, hit):
        return deaths_outcomes.SURVIVED
    if _says_otherwise(run.folder, known):
        return deaths_outcomes.DIFFERS
    return _ended(run, cache, kind, known, status)


def _ended(run: RunProcess, cache: Path, kind: DeathKind, known: Undisturbed, status: int) -> str:
    """Return what came of a run after the blow; one that ended otherwise is gone on with."""
    outcome, again = deaths_outcomes.WENT_ON, status != known.status
    if again:
        outcome = _gone_on(run, cache, kind, known, status)
    if outcome in FAILED:
        return outcome
    if verdicts(run.folder) != known.verdicts:
        return deaths_outcomes.DIFFERS
    return deaths_outcomes.LEFT_OVER if left(run.folder, cache, again=again) else outcome


def _gone_on(run: RunProcess, cache: Path, kind: DeathKind, known: Undisturbed, status: int) -> str:
    """Go on with a run that ended otherwise; begin it again where it had not begun."""
    begun = (run.folder / load_run.INFO).exists()
    again = RunProcess(run.folder, cache, *(["--resume"] if begun else kind.options))
    if again.finish() != known.status:
        return deaths_outcomes.BROKEN
    if outlived(again, Struck((), ())):
        return deaths_outcomes.SURVIVED
    return f"{deaths_outcomes.RESUMED if begun else deaths_outcomes.BEGUN} after {status}"


def _says_otherwise(folder: Path, known: Undisturbed) -> bool:
    """Return whether a disturbed run says anything else of a cell than `unknown`, or the same."""
    recorded = [*verdicts(folder).items()]
    if (folder / load_run.INFO).exists():  # what is there may be judged before it is gone on with
        pipeline.judge_run(folder)
        recorded += verdicts(folder).items()
    others = (verdict for case, verdict in recorded if known.verdicts.get(case) != verdict)
    return any(not other.startswith("unknown") for other in others)


def one(experiment: Experiment, kind: DeathKind, number: int) -> None:
    """Do one disturbed run and clean up unless it failed."""
    began = time.monotonic()
    outcome = until_struck(experiment, kind, number)
    experiment.log.note(number, kind, outcome, time.monotonic() - began)
    if outcome not in FAILED:
        experiment.clear(number)


def main() -> int:
    """Do the runs that are left; give the exit status."""
    options = _options()
    options.folder.mkdir(parents=True, exist_ok=True)
    folder = options.folder.resolve()
    experiment = Experiment(folder, OutcomeLog(folder, options.seed))
    kinds = planned(options.runs, options.seed, options.only, options.each)
    waiting = deaths_outcomes.due(kinds, experiment.log.done())
    print(
        f"seed {options.seed}, {len(waiting)} of {len(kinds)} runs, {options.jobs} at once",
        flush=True,
    )
    prepare(experiment, list(waiting.values()), options.jobs)
    until = time.monotonic() + options.minutes * 60

    def do(number: int, kind: DeathKind) -> None:
        if time.monotonic() < until:
            one(experiment, kind, number)

    with ThreadPoolExecutor(options.jobs) as threads:
        for job in [threads.submit(do, *item) for item in waiting.items()]:
            job.result()
    noted = experiment.log.done().items()
    done = [(kinds[number], outcome) for number, outcome in noted if number in kinds]
    outcomes = [outcome for _, outcome in done]
    total = deaths_outcomes.total(outcomes, len(kinds))
    print("\n".join([*deaths_outcomes.table(done), "", total]))
    return int(any(outcome in FAILED for outcome in outcomes))


def _options() -> argparse.Namespace:
    options_ = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options_.add_argument("--runs", type=int, default=200)
    options_.add_argument("--seed", type=int, default=1)
    options_.add_argument("--jobs", type=int, default=2, help="so many runs at once")
    options_.add_argument("--only", default="", help="of these runs only kinds whose name matches")
    options_.add_argument("--each", type=int, default=EVERY, help="of every kind so many at most")
    options_.add_argument("--minutes", type=float, default=1e6, help="then begin no more")
    options_.add_argument("--folder", type=Path, required=True, help="new, or to go on in")
    return options_.parse_args()


if __name__ == "__main__":
    sys.exit(main())
