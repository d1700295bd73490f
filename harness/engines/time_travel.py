"""How engines are asked for a table's past: in the words that a format has for each of them.

"Since a step" always means the same rows, whatever kind the begin is of: an exclusive one is that
step's own, an inclusive one that of the write which follows, so that a bound that is off by one
shows.

As of a step, some readers choose the files of then and show them under the columns of now, though
the formats promise those of then (see `harness.model.past_views`). They are judged by that promise
all the same: Trino before it was mended (trinodb/trino#12743, #12786; seen on 368).
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.engines.api import Connection, Engine, Question, ReaderSettings, Reply
from harness.engines.format_facts import FormatFacts, Wording
from harness.model.commit import AS_OF, OTHERS, Moment
from harness.model.query import ALL, Query

PLACE: Final = "{table}"
KEY: Final = "{key}"
NAMED: Final = "snapshot_in_name"
"""Setting of a distribution: the families of tables of which a snapshot's id stands in the table's
name, since it has no words for it."""
_IN_NAME: Final = Wording(PLACE, suffix="@{instant}")
_NO_WORDS: Final = "there are no words for it"
_MOMENT: Final = re.compile(
    r"(timestamp as of '|version as of |'latest_state', '|_commit_time` > '|\.timestamp="
    r"|\bsnapshot_id=|\bversion => |\bsince_version => |\btable_changes\('[^']*', )\d+"
    r'|(?<=@)v?\d+(?=")'
)
"""A moment after the words that name it in any of these."""
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
"""What a question names of a write, in words for whoever has a table of their own."""
_DIGITS: Final = "%Y%m%d%H%M%S"


def cannot(distribution: Distribution, format_: FormatFacts, view: str) -> str:
    """Return why a reader cannot be asked for a view of the past; empty when it can."""
    words = _words(distribution, format_, view) if view in OTHERS else None
    return f"{distribution.name}: {words}" if isinstance(words, str) else ""


def _words(distribution: Distribution, format_: FormatFacts, view: str) -> Wording | str:
    """Return a reader's words with marks to be filled, or why it has none."""
    if view == AS_OF and format_.family in distribution.texts_if_any(NAMED):
        return _IN_NAME
    return format_.past.words.get((distribution.engine, view), _NO_WORDS)


def _known_words(distribution: Distribution, format_: FormatFacts, view: str) -> Wording:
    found = _words(distribution, format_, view)
    if isinstance(found, str):
        raise LookupError(f"{distribution.name}: {found}")  # noqa: TRY004 - it is no wrong type
    return found


def wording(
    distribution: Distribution, question: Question, view: str, moment: Moment, version: str
) -> Wording:
    """Return how a reader is asked for a view of the past; `version`: of the table.

    Raises:
        LookupError: it `cannot` be asked.

    """
    found = _known_words(distribution, question.format, view)
    told = {
        "instant": moment.instant,
        "database": question.database,
        "name": question.table,
        "entry": question.table.partition("_")[0],
        "begin": MEANINGS[_meaning(distribution, question.format, found, version)](moment),
    }
    return replace(
        found,
        source=_filled(found.source, told),
        before=tuple(_filled(each, told) for each in found.before),
        after=tuple(_filled(each, told) for each in found.after),
        suffix=_filled(found.suffix, told),
    )


def _filled(text: str, told: Mapping[str, str]) -> str:
    for mark, value in told.items():
        text = text.replace(f"{{{mark}}}", value)
    return text


def _meaning(distribution: Distribution, format_: FormatFacts, words: Wording, version: str) -> str:
    """Return what of a write these words name, one of `MEANINGS`; `version`: of the table."""
    begin = format_.past.begin
    if begin is None or not words.mentions("{begin}"):
        return format_.past.instant
    return begin(distribution.text(format_.family), version)


def without_moment(text: str, mark: str) -> str:
    """Return what was sent with a mark for the moment: every table that is written has others.

    >>> without_moment("select * from t timestamp as of '20240101000000000'", "M")
    "select * from t timestamp as of 'M'"
    >>> without_moment('select * from "d"."t" at (version => 3)', "M")
    'select * from "d"."t" at (version => M)'
    """
    return _MOMENT.sub(lambda found: f"{found[1] or ''}{mark}", text)


def in_words(
    distribution: Distribution, format_: FormatFacts, view: str, version: str, step: int
) -> str:
    """Return which moment a question about the past of a step names; `version`: of the table.

    Raises:
        LookupError: the reader `cannot` be asked.

    """
    found = _known_words(distribution, format_, view)
    return _meaning(distribution, format_, found, version).format(step=step)


def meant(words: str, moment: Moment) -> str:
    """Return what `in_words` say of a write, as a question takes it.

    Raises:
        LookupError: these are none of its words.

    >>> meant("when the write of step 2 was completed", Moment("20240101", "20240109"))
    '20240109'
    """
    said = re.sub(r"\b(step|that of) \d+", r"\1 {step}", words)
    if said not in MEANINGS:
        raise LookupError(f"no words for a moment: {words}")
    return MEANINGS[said](moment)


def _next(instant: str) -> str:
    """Return the instant one millisecond later."""
    seconds, millis = instant[:14], instant[14:]
    then = datetime.datetime.strptime(seconds, _DIGITS)  # noqa: DTZ007 - of no zone, as it stands
    then += datetime.timedelta(milliseconds=int(millis or 0) + 1)
    return f"{then.strftime(_DIGITS)}{then.microsecond // 1000:03}"


def sql(engine: Engine, question: Question, settings: ReaderSettings) -> str:
    """Return a question in an engine's SQL, about the past where the question is."""
    past = question.past
    if past is None:
        return engine.sql(question, settings)
    named = replace(question, table=question.table + past.suffix)
    plain = engine.sql(named, settings)
    bare = replace(named, query=ALL, past=None)
    table = engine.sql(bare, settings).removeprefix("select * from ")
    source = past.source.replace(PLACE, table)
    if KEY in source:
        keyed = engine.sql(replace(bare, query=Query(columns=(question.key,))), settings)
        source = source.replace(KEY, keyed.removeprefix("select ").split(f" from {table}")[0])
    return plain.replace(f" from {table}", f" from {source}", 1)


def told(question: Question, query: str) -> str:
    """Return all that is sent for a question, in one line; `query`: its SQL."""
    before = question.past.before if question.past else ()
    return "; ".join((*before, query))


def ask(connection: Connection, question: Question, query: str, timeout_s: float) -> Reply:
    """Send a question's SQL, and around it what the session is told for it.

    Raises:
        RefusedError: the server answered with an error.
        NoAnswerError: it did not answer.

    """
    if question.past is None:
        return connection.ask(query, timeout_s=timeout_s)
    try:
        for each in question.past.before:
            connection.ask(each, timeout_s=timeout_s)
        return connection.ask(query, timeout_s=timeout_s)
    finally:
        for each in question.past.after:
            connection.ask(each, timeout_s=timeout_s)
