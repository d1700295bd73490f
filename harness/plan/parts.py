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
from harness.plan import reader_support, writer_support
from harness.plan.axes import REWRITES
from harness.plan.profile import Parts, Profile, ProfileReader, Writer
from harness.scenario.definition import Scenario
from harness.scenario.operations.touch import Rewrites, Touch

T = TypeVar("T")

AD_HOC: Final = "ad-hoc"
"""What a run of named parts is called: it is of no profile."""


def _unserved(reasons: tuple[str, ...]) -> UsageProblem:
    return UsageProblem("\n".join(reasons))


def ad_hoc(parts: Parts, profiles: Sequence[Profile], scenarios: Sequence[Scenario]) -> Profile:
    """Return a profile of parts that were named; what was not named is chosen.

    `profiles`: from the first one that can serve them. The first one also says all the rest: axes,
    views, queries.
    """
    named = parts.formats or _formats(parts, profiles[0], scenarios)
    writers = parts.writers or tuple(_writers(named, profiles))
    readers = parts.readers or tuple(_readers(named, profiles))
    found = Parts(named, writers, readers)
    axes = {**profiles[0].axes, REWRITES: tuple(_rewrites(named, profiles[0]))}
    base = replace(profiles[0], name=AD_HOC, axes=axes, document=None)
    return replace(found.instead(base), given=parts.named, chosen=tuple(_chosen(parts, found)))


def _chosen(parts: Parts, found: Parts) -> Iterator[str]:
    told = {
        "formats": found.formats,
        "writers": found.writers,
        "readers": tuple(each.reader for each in found.readers),
    }
    for key, every in told.items():
        if every and key not in parts.named:
            yield f"{key} chosen, as none were named: {'; '.join(map(str, every))}"


def _rewrites(named: Sequence[str], profile: Profile) -> Iterator[str]:
    """Yield what a profile has a touch rewrite; nothing where a format can have none of these."""
    wanted = profile.axes.get(REWRITES, ())
    every = [formats.load(name) for name in named]
    able = {each: [f for f in every if not f.unsupported(Touch(Rewrites(each)))] for each in wanted}
    yield from (each for each in wanted if able[each])
    if wanted and not all(any(each in some for some in able.values()) for each in every):
        yield Rewrites.NONE.value


def _formats(parts: Parts, profile: Profile, scenarios: Sequence[Scenario]) -> tuple[str, ...]:
    """Return the formats of a profile that can be served, or where there is none all that can."""

    def served(name: str) -> bool:
        wanted = any(name in (each.formats or (name,)) for each in scenarios)
        written = not parts.writers or any(writes(each, name) for each in parts.writers)
        return (
            wanted
            and written
            and (not parts.readers or any(reads(each, name) for each in parts.readers))
        )

    some = (tuple(filter(served, names)) for names in (profile.formats, formats.names()))
    return next(filter(None, some), profile.formats)


def _writers(named: Sequence[str], profiles: Sequence[Profile]) -> Iterator[Writer]:
    found = _serving(named, [each.writers for each in profiles], writes)
    yield from map(Writer, dict.fromkeys(each.distribution for each in found))


def _readers(named: Sequence[str], profiles: Sequence[Profile]) -> Iterator[ProfileReader]:
    """Yield readers that are asked about what they can read, and about nothing else."""
    for each in _serving(named, [each.readers for each in profiles], reads):
        yield replace(each, formats=tuple(name for name in named if reads(each, name)))


def _serving(
    named: Sequence[str], choices: Sequence[Sequence[T]], serves: Callable[[T, str], bool]
) -> tuple[T, ...]:
    """Return for each format what serves it of the first choice in which anything does."""
    found: list[T] = []
    for name in named:
        able = ([each for each in choice if serves(each, name)] for choice in choices)
        found += (each for each in next(filter(None, able), []) if each not in found)
    return tuple(found)


def writes(writer: Writer, format_name: str) -> bool:
    """Return whether a writer can write tables of a format."""
    every = map(distributions.load, writer.distributions)
    return all(format_name in writer_support.written(each) for each in every)


def reads(asked: ProfileReader, format_name: str) -> bool:
    """Return whether a reader can be asked about tables of a format, and is to be."""
    wanted = format_name in (asked.formats or (format_name,))
    return wanted and not reader_support.cannot(asked.reader, format_name)


def check(profile: Profile) -> None:
    """Check that each part of a profile that was named is served by the others.

    What stands in a file is not looked at: what is left out of it the plan tells.

    Raises:
        UsageProblem: one is not.

    """
    if found := (*_writing(profile), *_reading(profile)):
        raise _unserved(found)


def _writing(profile: Profile) -> tuple[str, ...]:
    own = profile.writers if "writers" in profile.given else ()
    idle = [each for each in own if not any(writes(each, name) for name in profile.formats)]
    if idle:
        return tuple(_idle_writer(each, profile) for each in idle)
    return tuple(
        f"format {name}: {_whose(profile, 'writers')} writes it; --writer takes "
        f"{_or_none(writer_support.writers(name))}"
        for name in _named_formats(profile)
        if not any(writes(each, name) for each in profile.writers)
    )


def _reading(profile: Profile) -> tuple[str, ...]:
    own = profile.readers if "readers" in profile.given else ()
    idle = [each for each in own if not any(reads(each, name) for name in profile.formats)]
    if idle:
        return tuple(_idle_reader(each, profile) for each in idle)
    return tuple(
        f"format {name}: {_whose(profile, 'readers')} can be asked about it; --reader takes "
        f"{_or_none(reader_support.readers_of(name))}"
        for name in _named_formats(profile)
        if not any(reads(each, name) for each in profile.readers)
    )


def _named_formats(profile: Profile) -> tuple[str, ...]:
    return profile.formats if "formats" in profile.given else ()


def _whose(profile: Profile, key: str) -> str:
    return (
        f"none of the {key} named"
        if key in profile.given
        else f"no {key[:-1]} of profile {profile.name}"
    )


def _idle_writer(writer: Writer, profile: Profile) -> str:
    able = [name for name in formats.names() if writes(writer, name)]
    return (
        f"writer {writer}: it writes no {_either(profile)} tables; --format takes {_or_none(able)}"
    )


def _idle_reader(asked: ProfileReader, profile: Profile) -> str:
    able = [name for name in formats.names() if reads(asked, name)]
    why = reader_support.cannot(asked.reader, profile.formats[0])
    return (
        f"reader {asked.reader}: it cannot be asked about {_either(profile)} tables ({why}); "
        f"--format takes {_or_none(able)}"
    )


def _either(profile: Profile) -> str:
    return " or ".join(profile.formats)


def _or_none(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing here"
