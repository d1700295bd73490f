"""The figures of `make quality`: every planted defect by name and by whose doing it is, right
readers, and the second opinion.

Run as `python -m tests.quality.figures`; ends with status 1 on any miss and says its seed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from harness.cli.console.progress_display import for_stream
from harness.core.parties import Party
from harness.core.progress import Count
from tests.quality import clean, defects, opinions, own_mistakes, parties, survey
from tests.quality.defects import DEFECTS, REFUSALS
from tests.quality.own_mistakes import OWN
from tests.quality.parties import Blamed, Mapped
from tests.quality.survey import Result

SHOWN: Final = (
    ("visible", {Result.RIGHT, Result.UNDECIDABLE, Result.WRONG, Result.MISSED}),
    ("found", {Result.RIGHT, Result.UNDECIDABLE, Result.WRONG}),
    ("right", {Result.RIGHT}),
    ("undecidable", {Result.UNDECIDABLE}),
    ("wrong name", {Result.WRONG}),
)
Task = tuple[str, str, int, int]
"""What is counted, of which defect, and the seeds from and to."""
COUNTS: Final = {"histories": 300, "parties": 100, "clean": 15_000, "opinions": 1_000_000}
"""How many histories are counted of each, if nothing else is said."""
LEAST: Final = {"clean": ("comparisons", 100_000), "opinions": ("histories", 1_000_000)}
"""What has to come of so many, as the figures are promised."""
BLOCKS: Final = {"defect": 50, "refusal": 50, "party": 25, "own": 25, "clean": 50, "opinion": 500}


@dataclass(frozen=True, slots=True)
class Counted:
    """What came of a task."""

    what: str
    name: str
    counts: Counter[str]
    misses: tuple[str, ...]


def run(task: Task) -> Counted:
    """Do a task, in whatever process."""
    what, name, low, high = task
    counts, misses = TASKS[what](name, range(low, high))
    return Counted(what, name, counts, tuple(misses))


def _defect(name: str, seeds: range) -> tuple[Counter[str], list[str]]:
    counts, misses = survey.figures(DEFECTS[name], seeds)
    if DEFECTS[name].harmless:
        wrong = [seed for seed in seeds if survey.judge(DEFECTS[name], seed).result in SHOWN[0][1]]
        misses += [f"{name}, seed {seed}: a right answer has a finding" for seed in wrong]
    return Counter({str(result): number for result, number in counts.items()}), misses


def _refusal(name: str, seeds: range) -> tuple[Counter[str], list[str]]:
    bad = [f"{name}, seed {seed}: wrong verdict" for seed in seeds if not defects.right(name, seed)]
    return Counter({Result.RIGHT: len(seeds) - len(bad), Result.WRONG: len(bad)}), bad


def _party(name: str, seeds: range) -> tuple[Counter[str], list[str]]:
    return parties.figures(DEFECTS[name], seeds)


def _own(name: str, seeds: range) -> tuple[Counter[str], list[str]]:
    return own_mistakes.figures(name, seeds)


def _clean(_: str, seeds: range) -> tuple[Counter[str], list[str]]:
    return clean.figures(seeds)


def _opinion(_: str, seeds: range) -> tuple[Counter[str], list[str]]:
    bad = [f"seed {seed}: the opinions differ" for seed in seeds if not opinions.agree(seed)]
    return Counter(histories=len(seeds)), bad


TASKS: Final[dict[str, Callable[[str, range], tuple[Counter[str], list[str]]]]] = {
    "defect": _defect,
    "refusal": _refusal,
    "party": _party,
    "own": _own,
    "clean": _clean,
    "opinion": _opinion,
}


def _blocks(what: str, name: str, number: int, first: int) -> Iterator[Task]:
    step = BLOCKS[what]
    for low in range(first, first + number, step):
        yield what, name, low, min(low + step, first + number)


class Tally:
    """All that was counted."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], Counter[str]] = {}
        self.misses: list[str] = []

    def add(self, counted: Counted) -> None:
        """Take in what one task counted."""
        self.counts.setdefault((counted.what, counted.name), Counter()).update(counted.counts)
        for miss in counted.misses:
            self.miss(miss)

    def miss(self, miss: str) -> None:
        """Take in what is not as it has to be, and say it at once."""
        self.misses.append(miss)
        _say(f"MISS {miss}")

    def of(self, what: str) -> Iterator[tuple[str, Counter[str]]]:
        """Yield what was counted of one kind."""
        return ((name, counts) for (kind, name), counts in self.counts.items() if kind == what)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _table(tally: Tally, histories: int) -> None:
    names = [name for name, _ in SHOWN]
    _say(f"\n{'planted defect, ' + str(histories) + ' histories each':46}{'':2}{'  '.join(names)}")
    for name, counts in (*tally.of("defect"), *tally.of("refusal")):
        sums = [sum(counts[str(r)] for r in results) for _, results in SHOWN]
        cells = "  ".join(f"{n:>{len(label)}}" for label, n in zip(names, sums, strict=True))
        _say(f"{name:46}  {cells}")


def _blame(tally: Tally) -> None:
    """Return how many visible defects were blamed on whom: of readers, of writers, and our own."""
    shown = [each for each in Blamed if each is not Blamed.INVISIBLE]
    for party in (Party.READER, Party.WRITER):
        of_it = [c for name, c in tally.of("party") if parties.right_of(DEFECTS[name]) is party]
        who = f"a planted {party} made wrong ({len(of_it)} defects), blamed on"
        _sums(f"answers that {who}", of_it, shown)
    own = [counts for _, counts in tally.of("own")]
    about = f"histories with a mistake of our own planted ({len(own)} mistakes), blamed is"
    _sums(about, own, ("nobody", "somebody"))


def _ways(tally: Tally) -> None:
    """Return how often a way is named, of all planted readers, and of those of a known way."""
    readers = [(n, c) for n, c in tally.of("party") if not n.startswith(parties.WRITER)]
    known = [(name, counts) for name, counts in readers if name in parties.MAPPED]
    for text, of_it in (("any planted reader", readers), ("one of a predicted way", known)):
        about = f"wrong answers of {text} ({len(of_it)} defects), ways that give them"
        _sums(about, [counts for _, counts in of_it], list(Mapped))


def _sums(about: str, counted: Sequence[Counter[str]], shown: Sequence[str]) -> None:
    sums = sum(counted, Counter[str]())
    story = ", ".join(f"{sums[each]:,} {each}" for each in shown)
    _say(f"{sum(sums[each] for each in shown):>12,} {about}: {story}")


def _right(tally: Tally, first: int) -> None:
    """Return how many right answers were looked at, and how many histories a second opinion had."""
    total = sum((counts for _, counts in tally.of("clean")), Counter[str]())
    number = total.pop("comparisons", 0)
    of_it = ", ".join(f"{n:,} {view}" for view, n in total.items())
    _say(f"{number:>12,} comparisons with a right reader: seeds {first} and on")
    _say(f"{total.total():>12,} of them through the judge: {of_it}")
    number = sum(counts.total() for _, counts in tally.of("opinion"))
    _say(f"{number:>12,} second opinions: seeds {first} and on")


def _never_seen(tally: Tally) -> Iterator[str]:
    """Tell of the harmful defects that no history showed: their figures say nothing."""
    for name, counts in tally.of("defect"):
        if not DEFECTS[name].harmless and not any(counts[str(each)] for each in SHOWN[0][1]):
            yield f"{name}: visible in none of {counts.total()} histories"


def _too_few(tally: Tally, given: argparse.Namespace) -> Iterator[str]:
    """Yield where as many histories as by default have less to show than has to be shown."""
    for option, (what, least) in LEAST.items():
        task = {"clean": "clean", "opinions": "opinion"}[option]
        number = sum(counts[what] for _, counts in tally.of(task))
        if getattr(given, option) >= COUNTS[option] and number < least:
            yield f"{number:,} {what}, not the {least:,} that there have to be"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.quality.figures", description=__doc__)
    for name, text in (
        ("histories", "for each planted defect"),
        ("parties", "for each planted defect, to see on whom it is blamed and how it reads"),
        ("clean", "histories that a right reader is asked everything about"),
        ("opinions", "histories of which a second opinion is asked"),
        ("first", "the first seed"),
        ("jobs", "processes at once"),
    ):
        default = {**COUNTS, "first": 0, "jobs": multiprocessing.cpu_count()}[name]
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{text} ({default})")
    return parser.parse_args()


def _tasks(given: argparse.Namespace) -> list[Task]:
    harmful = [name for name, defect in DEFECTS.items() if not defect.harmless]
    every = (
        *(("defect", name, given.histories) for name in DEFECTS),
        *(("refusal", name, given.histories) for name in REFUSALS),
        *(("party", name, given.parties) for name in harmful),
        *(("own", name, given.parties) for name in OWN),
        ("clean", "", given.clean),
        ("opinion", "", given.opinions),
    )
    return [task for what, name, n in every for task in _blocks(what, name, n, given.first)]


def _progress(tasks: Sequence[Task]) -> Count:
    """Begin to tell on standard error how many histories were looked at, and for what."""
    number = sum(high - low for _, _, low, high in tasks)
    return for_stream(sys.stderr).count("look at histories", number)


def main() -> int:
    """Count everything and print it; 1 on any miss."""
    given, started, tally = _arguments(), time.monotonic(), Tally()
    tasks = _tasks(given)
    with multiprocessing.Pool(given.jobs) as pool, _progress(tasks) as progress:
        for task, counted in zip(tasks, pool.imap(run, tasks), strict=True):
            tally.add(counted)
            what, name, low, high = task
            progress.count_result(f"{what} {name}".strip(), what, high - low)
    for miss in (*_never_seen(tally), *_too_few(tally, given)):
        tally.miss(miss)
    _table(tally, given.histories)
    _blame(tally)
    _ways(tally)
    _right(tally, given.first)
    _say(f"{len(tally.misses):>12,} misses, after {time.monotonic() - started:.0f} s")
    return 1 if tally.misses else 0


if __name__ == "__main__":
    sys.exit(main())
