"""A run of parts that somebody named: they fit together, and what was not named is chosen.

Chosen is what the first profile that can serve the rest has: of writers with the defaults of their
own, of readers as it asks them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from harness import formats
from harness.artifacts import distributions
from harness.core.errors import UsageProblem
from harness.plan import distribution_support
from harness.plan.product import REWRITES
from harness.plan.profile import Parts, Profile, ProfileReader, Writer
from harness.scenario.definition import Scenario
from harness.scenario.operations.row_writes import Rewrites, Touch

T = TypeVar("T")
AD_HOC: Final = "ad-hoc"
"""What a run of named parts is called: it is of no profile."""
NOTHING: Final = "nothing here"


def ad_hoc(parts: Parts, profiles: Sequence[Profile], scenarios: Sequence[Scenario]) -> Profile:
    """Return a profile of parts that were named; what was not named is chosen.

    `profiles`: from the first one that can serve them. The first one also says all the rest: axes,
    views, queries.
    """
    named = parts.formats or _formats(parts, profiles[0], scenarios)
    writers = parts.writers or tuple(_writers(named, profiles))
    readers = parts.readers or tuple(_readers(named, profiles))
    result = Parts(named, writers, readers)
    axes = {**profiles[0].axes, REWRITES: tuple(_rewrites(named, profiles[0]))}
    base = replace(profiles[0], name=AD_HOC, axes=axes, document=None)
    return replace(result.instead(base), given=parts.named, chosen=tuple(_chosen(parts, result)))


def _chosen(parts: Parts, named_parts: Parts) -> Iterator[str]:
    fields = {
        "formats": named_parts.formats,
        "writers": named_parts.writers,
        "readers": tuple(asked_reader.reader for asked_reader in named_parts.readers),
    }
    for key, every in fields.items():
        if every and key not in parts.named:
            yield f"{key} chosen, as none were named: {'; '.join(map(str, every))}"


def _rewrites(named: Sequence[str], profile: Profile) -> Iterator[str]:
    """Yield what a profile has a touch rewrite; nothing where a format can have none of these."""
    requested = profile.axes.get(REWRITES, ())
    every = [formats.load(name) for name in named]
    able = {
        rewrite: [f for f in every if not f.unsupported(Touch(Rewrites(rewrite)))]
        for rewrite in requested
    }
    yield from (rewrite for rewrite in requested if able[rewrite])
    if requested and not all(any(format_ in some for some in able.values()) for format_ in every):
        yield Rewrites.NONE.value


def _formats(parts: Parts, profile: Profile, scenarios: Sequence[Scenario]) -> tuple[str, ...]:
    """Return the formats of a profile that can be served, or where there is none all that can."""

    def served(name: str) -> bool:
        asked_about = any(name in (scenario.formats or (name,)) for scenario in scenarios)
        written = not parts.writers or _any(writes, parts.writers, name)
        return asked_about and written and (not parts.readers or _any(reads, parts.readers, name))

    some = (tuple(filter(served, names)) for names in (profile.formats, formats.names()))
    return next(filter(None, some), profile.formats)


def _writers(named: Sequence[str], profiles: Sequence[Profile]) -> Iterator[Writer]:
    writers = _serving(named, [profile.writers for profile in profiles], writes)
    yield from map(Writer, dict.fromkeys(writer.distribution for writer in writers))


def _readers(named: Sequence[str], profiles: Sequence[Profile]) -> Iterator[ProfileReader]:
    """Yield readers that are asked about what they can read, and about nothing else."""
    for asked_reader in _serving(named, [profile.readers for profile in profiles], reads):
        yield replace(
            asked_reader, formats=tuple(name for name in named if reads(asked_reader, name))
        )


def _serving(
    named: Sequence[str], choices: Sequence[Sequence[T]], serves: Callable[[T, str], bool]
) -> tuple[T, ...]:
    """Return for each format what serves it of the first choice in which anything does."""
    ts: list[T] = []
    for name in named:
        able = ([t for t in choice if serves(t, name)] for choice in choices)
        ts += (t for t in next(filter(None, able), []) if t not in ts)
    return tuple(ts)


def _any(serves: Callable[[T, str], bool], parts: Sequence[T], format_name: str) -> bool:
    return any(serves(part, format_name) for part in parts)


def writes(writer: Writer, format_name: str) -> bool:
    every = map(distributions.load, writer.distributions)
    return all(format_name in distribution_support.formats_written(written) for written in every)


def reads(asked: ProfileReader, format_name: str) -> bool:
    """Return whether a reader can be asked about tables of a format, and is to be."""
    asked_about = format_name in (asked.formats or (format_name,))
    return asked_about and not distribution_support.cannot(asked.reader, format_name)


def check(profile: Profile) -> None:
    """Check that each part of a profile that was named is served by the others.

    What stands in a file is not looked at: what is left out of it the plan tells.

    Raises UsageProblem: one is not.
    """
    if wrong := (*_writing(profile), *_reading(profile)):
        raise UsageProblem("\n".join(wrong))


def _writing(profile: Profile) -> Iterator[str]:
    unused, unserved = _without_partner(profile, "writers", profile.writers, writes)
    for writer in unused:
        yield f"writer {writer}: it writes no {_tables(profile)}; {_formats_for(writer, writes)}"
    for name in unserved:
        able = ", ".join(distribution_support.writers_of(name)) or NOTHING
        yield f"format {name}: {_whose(profile, 'writers')} writes it; --writer takes {able}"


def _reading(profile: Profile) -> Iterator[str]:
    unused, unserved = _without_partner(profile, "readers", profile.readers, reads)
    for asked in unused:
        why = distribution_support.cannot(asked.reader, profile.formats[0])
        wrong = f"it cannot be asked about {_tables(profile)} ({why})"
        yield f"reader {asked.reader}: {wrong}; {_formats_for(asked, reads)}"
    for name in unserved:
        able = ", ".join(distribution_support.readers_of(name)) or NOTHING
        whose = _whose(profile, "readers")
        yield f"format {name}: {whose} can be asked about it; --reader takes {able}"


def _without_partner(
    profile: Profile, key: str, parts: Sequence[T], serves: Callable[[T, str], bool]
) -> tuple[list[T], list[str]]:
    """Return the parts named under a key that serve no format, else the formats named in vain."""
    unused = [part for part in parts if not any(serves(part, name) for name in profile.formats)]
    if unused and key in profile.given:
        return unused, []
    named = profile.formats if "formats" in profile.given else ()
    return [], [name for name in named if not _any(serves, parts, name)]


def _whose(profile: Profile, key: str) -> str:
    named = key in profile.given
    return f"none of the {key} named" if named else f"no {key[:-1]} of profile {profile.name}"


def _tables(profile: Profile) -> str:
    return f"{' or '.join(profile.formats)} tables"


def _formats_for(part: T, serves: Callable[[T, str], bool]) -> str:
    able = [name for name in formats.names() if serves(part, name)]
    return f"--format takes {', '.join(able) or NOTHING}"
