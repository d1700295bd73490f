"""`harness cache`."""

import re
import time
from typing import Annotated, Final

import typer

from harness.artifacts import cache_cleanup, distributions, python_index
from harness.artifacts.cache import Cache
from harness.cli import named_parts, options, plan_options
from harness.cli.output import OUT, say
from harness.core.errors import UsageProblem
from harness.core.progress import megabytes
from harness.core.texts import counted
from harness.reports import lines
from harness.reports.document import table
from harness.run import pipeline

DAY_S: Final = 86_400
_UNITS: Final = {"MB": 1_000_000, "GB": 1_000_000_000}
_SIZE: Final = re.compile(r"(?P<number>\d+(\.\d+)?) ?(?P<unit>MB|GB)", re.IGNORECASE)

app = typer.Typer(no_args_is_help=True)


@app.command()
def key(
    scenarios: options.ScenariosOption = None,
    profile: options.ProfileOption = named_parts.QUICK_START,
) -> None:
    """Print a digest of everything a profile downloads: a cache key for CI."""
    names = pipeline.needed_distributions(plan_options.make(scenarios, profile, ""))
    files = set[str]()
    for distribution in map(distributions.load, names):
        files |= {artifact.sha256 for artifact in distribution.artifacts}
        homes = python_index.homes(distribution)
        files |= {file.sha256 for home in homes for file in home.files}
    say(distributions.digest_of(sorted(files)))


@app.command(name="list")
def list_() -> None:
    """Show what the cache holds, and how large it is."""
    cache = Cache.default()
    result = cache_cleanup.sizes(cache)
    say(f"{cache.root}: {megabytes(sum(entry.size for entry in result))}")
    rows = ((entry.name, str(entry.files), megabytes(entry.size)) for entry in result)
    lines.render([table(("folder", "files", "size"), rows)], OUT)


@app.command()
def prune(
    older_than: Annotated[
        int, typer.Option(help="Remove what is older than this number of days.", min=0)
    ] = 30,
    to: Annotated[
        str,
        typer.Option(
            metavar="SIZE",
            help="Instead of by age: remove the oldest until the cache is as small as '5GB'.",
        ),
    ] = "",
) -> None:
    """Remove old table states, answers, verdicts and class archives. Do not use it during a run."""
    cache = Cache.default()
    if to:
        size = _bytes(to)
        result = cache_cleanup.prune_to(cache, size)
        left = sum(entry.size for entry in cache_cleanup.sizes(cache))
        what = f"removed the oldest; the cache has {megabytes(left)} now"
        if left > size:
            what += ", the rest of it engines: harness engines prune removes those that you name"
    else:
        result = cache_cleanup.prune(cache, time.time() - older_than * DAY_S)
        what = f"removed what is older than {counted(older_than, 'day')}"
    removed = ", ".join(f"{entry.files} {entry.name} ({megabytes(entry.size)})" for entry in result)
    say(f"{what}: {removed}")


def _bytes(text: str) -> int:
    if match := _SIZE.fullmatch(text):
        return int(float(match["number"]) * _UNITS[match["unit"].upper()])
    raise UsageProblem(f"--to {text}: not a size; allowed: such as 5GB or 800MB")
