"""Which scenarios and which profile a command means: the shipped ones, and people's own.

Own profiles stand in the folder of a scenario, or in the one above it. One of the name of a shipped
profile takes its place.
"""

import errno
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from harness import formats
from harness.artifacts import distributions
from harness.core.errors import UsageProblem
from harness.core.problems import unknown_name
from harness.plan import distribution_support
from harness.plan.profile import (
    Parts,
    Profile,
    ProfileReader,
    Writer,
    check_scenarios,
    load_profiles,
    named,
)
from harness.plan.shipped import PROFILES, beside, load_scenarios, profiles_file, scenarios_folder
from harness.scenario.definition import Scenario
from harness.scenario.load import load
from harness.scenario.operations.row_writes import REWRITES, Rewrites, Touch

T = TypeVar("T")
TABLES: Final = ("_delta_log", ".hoodie", "metadata")
"""Folders that a table of Delta, Hudi or Iceberg has."""
SHOWN: Final = 60
"""So many characters of a path that is too long are told."""


@dataclass(frozen=True, slots=True)
class FoundProfile:
    profile: Profile
    file: Path

    def governs(self, scenario: Path) -> bool:
        return scenario.resolve().is_relative_to(self.file.parent.resolve())

    def names(self, scenario: str) -> bool:
        return any(named(scenario, pattern) for pattern in self.profile.scenarios)


def choose(paths: Sequence[Path], profile: str) -> tuple[tuple[Scenario, ...], Profile]:
    """Return the scenarios that are meant and the profile, which then names all of them.

    Without paths they are the shipped ones that the profile names. A file is taken as it is. Of a
    folder that a profile governs those are taken that it names, of any other folder all.

    Raises UsageProblem: no such profile, file or folder; no scenario in it, or none that the
    profile names; two scenarios or own profiles of one name.
    Raises ScenarioProblem: every problem of the files, and of what the profile names.
    """
    for path in paths:
        try:
            path.exists()
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            request = "is no scenario file or folder: the path is too long"
            raise UsageProblem(f"{str(path)[:SHOWN]!r}… {request}") from error
    from_file = find(profile, paths)
    if not paths:
        shipped = load_scenarios(scenarios_folder(), from_file.names)
        check_scenarios(from_file.profile, shipped, from_file.file.parent)
        return shipped, from_file.profile
    by_name = _by_name(scenario for path in paths for scenario in _scenarios(path, from_file))
    scenarios = tuple(by_name.values())
    # A file that the profile does not name is taken all the same: the profile chooses nothing then.
    if any(from_file.names(s.name) and from_file.governs(Path(s.path)) for s in scenarios):
        check_scenarios(from_file.profile, scenarios, from_file.file.parent)
    return scenarios, replace(from_file.profile, scenarios=tuple(by_name))


def _by_name(scenarios: Iterable[Scenario]) -> dict[str, Scenario]:
    """Return each scenario once; two of one name would be taken for one another all the way."""
    by_name: dict[str, Scenario] = {}
    for scenario in scenarios:
        other = by_name.setdefault(scenario.name, scenario)
        if Path(other.path).resolve() != Path(scenario.path).resolve():
            raise UsageProblem(
                f"two scenarios are called {scenario.name}: {other.path} and {scenario.path}; the "
                "folder and the file make the name: rename one, or run them one by one"
            )
    return by_name


def find(name: str, paths: Iterable[Path]) -> FoundProfile:
    """Find a profile among the shipped ones and those beside own scenarios.

    Raises UsageProblem: there is none of that name; two files of people's own have it.
    Raises ScenarioProblem: a file of profiles is wrong.
    """
    paths = tuple(paths)
    nearest = (next(filter(Path.is_file, _places(path)), None) for path in paths)
    files = dict.fromkeys(file.resolve() for file in nearest if file)
    shipped = profiles_file()
    local = [file for file in files if file != shipped.resolve()]
    every = {file: load_profiles(file) for file in (shipped, *local)}
    having = [file for file in every if name in every[file]]
    if not having:
        names = tuple(dict.fromkeys(name for profiles in every.values() for name in profiles))
        raise unknown_name("profile", name, names, _looked_for(paths))
    if len(having) > 1 and shipped in having:
        having.remove(shipped)
    if len(having) > 1:
        files_text = " and ".join(map(str, having))
        raise UsageProblem(f"profile {name} stands in {files_text}; run them one by one")
    return FoundProfile(every[having[0]][name], having[0])


def _places(path: Path) -> tuple[Path, ...]:
    return tuple(path / PROFILES for path in beside(path))


def _looked_for(paths: Iterable[Path]) -> str:
    places = dict.fromkeys(str(file) for path in paths for file in _places(path))
    if not places:
        return f"name your scenarios or their folder, and {PROFILES} beside them is read too"
    return f"your own are looked for in {' and '.join(places)}"


def _scenarios(path: Path, profile_file: FoundProfile) -> tuple[Scenario, ...]:
    if not path.exists():
        raise UsageProblem(f"{path} is not there; name a scenario file, or a folder of them")
    if not path.is_dir():
        return (load(path, formats.keeping_case()),)
    every = load_scenarios(path)
    if not every:
        table = any((path / name).is_dir() for name in TABLES)
        hint = "; it is a table: harness scan looks at tables of yours" if table else ""
        raise UsageProblem(f"{path} has no scenario file (*.yaml){hint}")
    chosen = tuple(
        scenario
        for scenario in every
        if not profile_file.governs(Path(scenario.path)) or profile_file.names(scenario.name)
    )
    if not chosen:
        profile, names = profile_file.profile, ", ".join(scenario.name for scenario in every)
        raise UsageProblem(
            f"{path} has no scenario to take: profile {profile.name} of {profile_file.file} "
            f"names {', '.join(profile.scenarios)}, and none of these: {names}"
        )
    return chosen


AD_HOC: Final = "ad-hoc"
"""What a run of named parts is called: it is of no profile."""
NOTHING: Final = "nothing here"


def ad_hoc(parts: Parts, profiles: Sequence[Profile], scenarios: Sequence[Scenario]) -> Profile:
    """Return a profile of named parts; what was not named is of the first profile that serves them.

    The first of `profiles` also says all the rest: axes, views, queries.
    """
    named = parts.formats or _formats_in_reach(parts, profiles[0], scenarios)
    writers = parts.writers or tuple(writers_for(named, profiles))
    readers = parts.readers or tuple(_readers(named, profiles))
    result = Parts(named, writers, readers)
    axes = {**profiles[0].axes, REWRITES: tuple(rewrites_for(named, profiles[0]))}
    base = replace(profiles[0], name=AD_HOC, axes=axes, document=None)
    return replace(
        result.instead(base), given=parts.named, chosen=tuple(chosen_lines(parts, result))
    )


def chosen_lines(named: Parts, result: Parts, of_formats: str = "") -> Iterator[str]:
    """Yield a line for each part that was chosen because none was named.

    `of_formats`: a remark about the formats.
    """
    chosen = {
        "formats": result.formats,
        "writers": result.writers,
        "readers": tuple(asked_reader.reader for asked_reader in result.readers),
    }
    for key, every in chosen.items():
        if every and key not in named.named:
            remark = of_formats if key == "formats" else ""
            yield f"{key} chosen, as none were named: {'; '.join(map(str, every))}{remark}"


def rewrites_for(named: Sequence[str], profile: Profile) -> Iterator[str]:
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


def _formats_in_reach(
    parts: Parts, profile: Profile, scenarios: Sequence[Scenario]
) -> tuple[str, ...]:
    """Return the formats of a profile that can be served, or where there is none all that can."""

    def served(name: str) -> bool:
        asked_about = any(name in (scenario.formats or (name,)) for scenario in scenarios)
        written = not parts.writers or _any(writes, parts.writers, name)
        return asked_about and written and (not parts.readers or _any(reads, parts.readers, name))

    some = (tuple(filter(served, names)) for names in (profile.formats, formats.names()))
    return next(filter(None, some), profile.formats)


def writers_for(named: Sequence[str], profiles: Sequence[Profile]) -> Iterator[Writer]:
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


def check_parts(profile: Profile) -> None:
    """Check that each part of a profile that was named, not those of a file, is served by others.

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
        whose = _whose(profile, "readers")
        every = (distribution_support.cannot(asked.reader, name) for asked in profile.readers)
        reasons = "; ".join(dict.fromkeys(filter(None, every)))
        first = f"{reasons}; " if reasons else ""
        yield f"format {name}: {first}{whose} can be asked about it; {readers_text(name)}"


def readers_text(format_name: str) -> str:
    return f"--reader takes {', '.join(distribution_support.readers_of(format_name)) or NOTHING}"


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
    if key in profile.given:
        return f"none of the {key} named"
    adhoc = profile.name == AD_HOC
    return f"none of the {key}" if adhoc else f"no {key[:-1]} of profile {profile.name}"


def _tables(profile: Profile) -> str:
    return f"{' or '.join(profile.formats)} tables"


def _formats_for(part: T, serves: Callable[[T, str], bool]) -> str:
    able = [name for name in formats.names() if serves(part, name)]
    return f"--format takes {', '.join(able) or NOTHING}"
