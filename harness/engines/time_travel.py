"""Which moment of a table's past a question names, and which engines can be asked about it.

"Since a step" means the same rows whether the engine's own bound is exclusive (that step's write)
or inclusive (the write after it), so that an engine that is off by one shows. Readers that show the
files of a step under today's columns are judged by the formats' promise: the columns of that step
(`harness.model.past_views`; trinodb/trino#12743, #12786; seen on 368).
"""

import datetime
from collections.abc import Callable, Mapping
from typing import Final

from harness import engines
from harness.artifacts.distribution import Distribution
from harness.engines.api import PointInTime, TimeTravelWords
from harness.engines.format_facts import FormatFacts
from harness.model.commit import OTHERS, Moment

_NO_WORDS: Final = "there are no words for it"
SNAPSHOT: Final = "the id of the snapshot that step {step} made"
VERSION: Final = "the version that step {step} made"
NEXT_VERSION: Final = "the version after that of step {step}"
REQUESTED: Final = "when the write of step {step} was requested"
COMPLETED: Final = "when the write of step {step} was completed"
NEXT_COMPLETED: Final = (
    "when the write after step {step} was completed; without one, 1 ms after that of {step}"
)
MEANINGS: Final[Mapping[str, Callable[[Moment], str]]] = {
    SNAPSHOT: lambda moment: moment.instant,
    VERSION: lambda moment: moment.instant,
    NEXT_VERSION: lambda moment: str(int(moment.instant) + 1),
    REQUESTED: lambda moment: moment.instant,
    COMPLETED: lambda moment: moment.completed,
    NEXT_COMPLETED: lambda moment: moment.following or _next(moment.completed),
}
"""What a question names of a write, in words for people who have a table of their own."""
_DIGITS: Final = "%Y%m%d%H%M%S"


def cannot(distribution: Distribution, format_: FormatFacts, view: str) -> str:
    words = _words(distribution, format_, view) if view in OTHERS else None
    return f"{distribution.name}: {words}" if isinstance(words, str) else ""


def _words(distribution: Distribution, format_: FormatFacts, view: str) -> TimeTravelWords | str:
    every = engines.load(distribution.engine).time_travel(distribution)
    return every.get((format_.family, view), _NO_WORDS)


def point_in_time(
    distribution: Distribution, format_: FormatFacts, view: str, moment: Moment, version: str
) -> PointInTime:
    """Return where a question goes back to. Raises LookupError: the reader `cannot` be asked."""
    meaning = _meaning(distribution, format_, view, version)
    return PointInTime(view, moment.instant, MEANINGS[meaning](moment) if meaning else "")


def _meaning(distribution: Distribution, format_: FormatFacts, view: str, version: str) -> str:
    """Return which moment of a write a question names, one of `MEANINGS`."""
    words = _words(distribution, format_, view)
    if isinstance(words, str):
        raise LookupError(f"{distribution.name}: {words}")  # noqa: TRY004 - it is no wrong type
    begin = format_.past.begin
    if begin is None or "{begin}" not in words.source:
        return format_.past.instant
    return begin(distribution.text(format_.family), version)


def in_words(
    distribution: Distribution, format_: FormatFacts, view: str, version: str, step: int
) -> str:
    """Return which moment a question about the past of a step names; raises as above."""
    return _meaning(distribution, format_, view, version).format(step=step)


def _next(instant: str) -> str:
    seconds, millis = instant[:14], instant[14:]
    then = datetime.datetime.strptime(seconds, _DIGITS)  # noqa: DTZ007 - of no zone, as it stands
    then += datetime.timedelta(milliseconds=int(millis or 0) + 1)
    return f"{then.strftime(_DIGITS)}{then.microsecond // 1000:03}"
