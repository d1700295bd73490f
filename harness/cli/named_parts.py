"""What of a run stands on the command line, as texts: formats, writers, readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness import engines, formats
from harness.artifacts import distributions
from harness.core import runtime_names
from harness.core.errors import UsageProblem
from harness.core.problems import unknown_name
from harness.core.runtime_names import PROCESS
from harness.plan import Parts, ProfileReader, Writer, custom_distributions, distribution_support
from harness.plan.distribution_support import wrong_reader
from harness.scenario.cells import Reader, parse_reader, with_settings


@dataclass(frozen=True, slots=True)
class NamedParts:
    """What was said, as it was said; empty where nothing was."""

    formats: Sequence[str] = ()
    writers: Sequence[str] = ()
    readers: Sequence[str] = ()
    file: Path | None = None
    """It has readers too."""

    def read(self) -> Parts:
        """Return what these are; distributions of people's own are known by then.

        Raises:
            UsageProblem: one is not what it has to be, or is not there.
            ScenarioProblem: the file is wrong.

        """
        asked = (
            *self.readers,
            *(custom_distributions.register_file(self.file) if self.file else ()),
        )
        return Parts(
            tuple(dict.fromkeys(map(_format, self.formats))),
            tuple({text: writer(text) for text in self.writers}.values()),
            tuple(map(ProfileReader, dict.fromkeys(map(reader, asked)))),
        )


NONE = NamedParts()


def _format(name: str) -> str:
    if name not in formats.names():
        raise unknown_name("format", name, formats.names())
    return name


def writer(text: str) -> Writer:
    """Read a writer that exists from its text; which settings there are, the formats decide.

    Raises:
        UsageProblem: it is not a writer, or names a distribution that does not write.

    """
    try:
        name, settings = with_settings(text, "writer")
    except ValueError as wrong:
        raise UsageProblem(f"--writer: {wrong}") from wrong
    if why := distribution_support.why_not_writing(name, distributions.names()):
        raise UsageProblem(f"--writer: {why}")
    return Writer(runtime_names.with_default(name, PROCESS), dict(settings))


def reader(text: str) -> Reader:
    """Read a reader that exists from its text.

    Raises:
        UsageProblem: it is not a reader, or names a distribution or setting that does not exist.

    """
    try:
        result = parse_reader(text)
    except ValueError as wrong:
        raise wrong_reader(text, str(wrong)) from wrong
    check(result)
    distribution = runtime_names.with_default(result.distribution, PROCESS)
    return replace(result, distribution=distribution)


def check(reader: Reader) -> None:
    """Check that a reader's distribution exists, can be asked and knows its settings.

    Raises:
        UsageProblem: it does not.

    """
    distribution_support.check_reader(reader)
    allowed = engines.load(distributions.load(reader.distribution).engine).settings
    for name, value in reader.settings:
        if name not in allowed:
            known = ", ".join(allowed) or "none"
            raise wrong_reader(str(reader), f"there is no setting '{name}'; allowed: {known}")
        if value not in allowed[name]:
            values = ", ".join(allowed[name])
            request = f"'{value}' is not a value of {name}; allowed: {values}"
            raise wrong_reader(str(reader), request)
    distribution_support.check_combination(reader)
