"""Planted readers that show another past than they are asked for.

The view goes back to a step by chance: a plan would go to the newest write before a schema change.
"""

import random
from collections.abc import Callable
from dataclasses import replace

from harness.model.canonical import text_of
from harness.model.commit import AS_OF, INCREMENTAL
from harness.model.past_views import Past
from harness.model.schema import Schema
from harness.model.truth import Rows
from tests.builders.random_story import Plot
from tests.builders.simulated_reader import Reader
from tests.builders.table_story import Story
from tests.builders.traced_answer import Line, Seen, read
from tests.quality.planted import Twist, Way, filtered, free, plant, predicate

Then = Callable[[Story, int], Seen | None]
"""Reads a history, asked for the past of a step; None where there is nothing to get wrong."""


def ends(plot: Plot, by_chance: random.Random) -> Plot:
    """Let rows come, change and go before and after a schema change."""
    changes = ("add z string after ts", "add z int", "touch some")
    steps = f"{plot.steps}; insert 401..404; upsert 401; delete 402; {by_chance.choice(changes)}"
    last = by_chance.choice(
        ("insert 405", "upsert 401,403", "delete 401", "insert 405; delete 405")
    )
    return replace(plot, steps=f"{steps}; upsert 403; insert 406; {last}")


def _past(name: str, then: Then) -> Way:
    def answer(story: Story, by_chance: random.Random) -> Seen | None:
        step = by_chance.randrange(1, story.truth.step)
        seen = then(story, step)
        return seen and replace(seen, view=str(Past(name, step)))

    return answer


def _shown(
    story: Story, step: int, schema: Schema, then: int, reader: Reader | None = None
) -> Seen:
    """Read the files of a step for the columns of a schema; asked is for the columns of `then`."""
    return read(story, reader, step=step, schema=schema, asked=story.history[then].schema)


def _of(story: Story, step: int, then: int) -> Seen:
    return _shown(story, step, story.history[step].schema, then)


def as_of(name: str, then: Then, *, harmless: bool = False, twist: Twist = ends) -> None:
    plant(f"as of a step: {name}", _past(AS_OF, then), harmless=harmless, twist=twist)


def _columns_of_now(story: Story, step: int) -> Seen:
    """Show the columns of now: the catalog is that of the first step since that had them."""
    now = frozenset(story.truth.schema.fields)
    since = story.history[step + 1 :]
    made = next(version.step for version in since if frozenset(version.schema.fields) == now)
    return replace(_shown(story, step, story.truth.schema, step), catalog=made)


def _dropped(plot: Plot, by_chance: random.Random) -> Plot:
    """Let a column come and go again, or one that was always there go."""
    gone = by_chance.choice(("add y string after ts; insert 407; drop y", f"drop {free(plot)[0]}"))
    added = "add z string after ts; insert 408"
    return replace(plot, steps=f"{plot.steps}; insert 409; {added}; {gone}; insert 410")


as_of("just that (right)", lambda story, step: _of(story, step, step), harmless=True)
as_of("what is now", lambda story, step: _of(story, story.truth.step, step))
as_of("values of then under the columns of now", _columns_of_now)
as_of("columns of now, after a drop", _columns_of_now, twist=_dropped)
as_of(
    "values of now under the columns of then",
    lambda story, step: _shown(story, story.truth.step, story.history[step].schema, step),
)
as_of("one step too early", lambda story, step: _of(story, step - 1, step))
as_of("one step too late", lambda story, step: _of(story, step + 1, step))
as_of(
    "columns by position",
    lambda story, step: _shown(story, step, story.history[step].schema, step, Reader("position")),
)
as_of(
    "deletes ignored",
    lambda story, step: _shown(
        story, step, story.history[step].schema, step, Reader("id", logs="undeleted")
    ),
)


def _asked(story: Story, seen: Seen) -> Seen | None:
    """Filter what is shown by the predicate that a plan asks about the table of `story`."""
    query = predicate(story)
    return None if query is None else filtered(seen, query)


as_of(
    "rows that a predicate holds for (right)",
    lambda story, step: _asked(story.until(step), _of(story, step, step)),
    harmless=True,
)
as_of(
    "a predicate on values of now",
    lambda story, step: _asked(
        story.until(step), _shown(story, story.truth.step, story.history[step].schema, step)
    ),
)


def since(name: str, then: Then, *, harmless: bool = False, twist: Twist = ends) -> None:
    plant(f"since a step: {name}", _past(INCREMENTAL, then), harmless=harmless, twist=twist)


def _columns(plot: Plot, by_chance: random.Random) -> Plot:
    """Let columns change after rows came, in files that are not written anew."""
    rename = f"rename {by_chance.choice(free(plot))} renamed"
    changes = f"insert 401..404; {rename}; add placed string after ts"
    return replace(plot, steps=f"{plot.steps}; {changes}; insert 405")


def _written(story: Story, after: int, until: int) -> set[str]:
    """Return the rows that were written after a step, of those there are after a later one."""
    before: Rows = story.history[after].rows
    now = story.history[until].rows
    return {text_of(key) for key, row in now.items() if before.get(key) != row}


def _only(seen: Seen, keys: set[str]) -> Seen:
    return replace(seen, lines=tuple(line for line in seen.lines if line.key in keys))


def _since(story: Story, after: int) -> Seen:
    return _only(read(story), _written(story, after, story.truth.step))


def _last_write(story: Story) -> int:
    steps = range(1, len(story.history))
    return max(at for at in steps if story.history[at].rows != story.history[at - 1].rows)


def _end_before(story: Story, step: int) -> Seen | None:
    last = _last_write(story) - 1
    if last < step:
        return None
    return _only(
        _shown(story, last, story.truth.schema, story.truth.step), _written(story, step, last)
    )


def _newest_left_out(story: Story, step: int) -> Seen:
    """Leave out the rows of the newest write, of those there are now."""
    last = _last_write(story)
    newest = _written(story, last - 1, story.truth.step)
    seen = _since(story, step)
    return _only(seen, {line.key for line in seen.lines} - newest)


def _columns_of_then(story: Story, step: int) -> Seen:
    then = frozenset(story.history[step].schema.fields)
    made = [frozenset(truth.schema.fields) for truth in story.history].index(then)
    whole = read(story, schema=story.history[step].schema)
    return replace(_only(whole, _written(story, step, story.truth.step)), catalog=made)


def _committed(seen: Seen, after: int) -> Seen:
    lines = (line for line in seen.lines if _commit(seen.story, line) > after)
    return replace(seen, lines=tuple(lines))


def _commit(story: Story, line: Line) -> int:
    rows = {text_of(key): row for key, row in story.history[line.step].rows.items()}
    return max(rows[line.key].written.values())


def seen_since(answer: Way) -> Way:
    """Return what is shown, where only what was written since a step is asked for."""

    def seen(story: Story, by_chance: random.Random) -> Seen | None:
        whole, step = answer(story, by_chance), by_chance.randrange(1, story.truth.step)
        return whole and replace(_committed(whole, step), view=str(Past(INCREMENTAL, step)))

    return seen


def by(reader: Reader) -> Then:
    """Return how a reader reads that chooses rows as it should, by when they were committed."""
    return lambda story, step: _committed(read(story, reader), step)


def _deleted_too(story: Story, step: int) -> Seen | None:
    seen, lines = _since(story, step), []
    for key, at in story.truth.gone.items():
        if at > step:
            was = read(story, step=at - 1, schema=story.truth.schema)
            lines += [line for line in was.lines if line.key == text_of(key)]
    return replace(seen, lines=(*seen.lines, *lines)) if lines else None


since("just that (right)", _since, harmless=True)
since("everything", lambda story, _: read(story))
since(
    "rows that a predicate holds for (right)",
    lambda story, step: _asked(story, _since(story, step)),
    harmless=True,
)
since("everything that a predicate holds for", lambda story, _: _asked(story, read(story)))
since("everything, columns by position", lambda story, _: read(story, Reader("position")))
since("one write too many", lambda story, step: _since(story, step - 1))
since(
    "one write too many, columns by name",
    lambda story, step: _committed(read(story, Reader("name")), step - 1),
)
since("one write too few", lambda story, step: _since(story, step + 1))
since("nothing", lambda story, _: replace(read(story), lines=()))
since("columns by position", by(Reader("position")), twist=_columns)
since("columns by name", by(Reader("name")), twist=_columns)
since("log files ignored", by(Reader("id", logs="ignored")))
since("deletes ignored", by(Reader("id", logs="undeleted")))
since("nothing of the newest write", _end_before)
since("the rows of the newest write left out", _newest_left_out)
since("columns of then", _columns_of_then)
since("deleted rows too", _deleted_too)
since("the table as it was then", lambda story, step: _of(story, step, story.truth.step))
