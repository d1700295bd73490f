"""What a source document claims of each engine, beside what a run saw: one Markdown table.

    python tools/claims.py RUN > docs/results/findings-a5.md

The claims are in `claims.yaml`; the run is one of the profile `findings-a5`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter
from ruamel.yaml import YAML

from harness.core.parties import Party

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `tools`

from harness.core.records import Verdict, VerdictKind
from harness.run import load_run
from harness.run.load_run import Run
from tools.markdown_table import table

DATA: Final = Path(__file__).with_name("claims.yaml")
NOT_ASKED: Final = "not asked in this run"
WRITERS: Final = "shown as the files have it, which is not what was expected"
"""What is seen of a reader in a cell whose findings are all of what the files hold."""
NOTHING_TOLD: Final = "nothing told"


@dataclass(frozen=True, slots=True)
class Change:
    """A kind of schema change, and the cells that show it."""

    scenario: str
    from_step: int
    to_step: int
    """The last step before which nothing heals what the change broke."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What the source says of one engine."""

    engine: str
    readers: tuple[str, ...]
    says: Mapping[str, str]
    claimed: Mapping[str, tuple[str, ...]]
    views: tuple[str, ...] = ()
    """Of merge-on-read tables; copy-on-write ones have the snapshot only. Empty for all."""
    formats: tuple[str, ...] = ()
    explained: str = ""
    """Why the run differs."""


@dataclass(frozen=True, slots=True)
class Claims:
    """All claims of one table."""

    title: str
    changes: Mapping[str, Change]
    rows: tuple[Claim, ...]


def text_of(run: Run, made: Claims) -> str:
    """Return the table as Markdown, differences explained below it."""
    heads = ("engine in the source", "readers asked", *made.changes)
    lines = [
        f"# {made.title}",
        "",
        f"From a run of the profile `{run.info.profile}`, harness {run.info.version}.",
        "Each cell: the source's claim, then what the run saw and in how many cells.",
        "",
        *table(heads, (_row(run, made, claim, at) for at, claim in enumerate(made.rows, start=1))),
        "",
        *_readers(run, made),
        "",
        "## Differences explained",
        "",
        *(f"{at}. {claim.explained}" for at, claim in enumerate(made.rows, 1) if claim.explained),
    ]
    return "\n".join(lines)


def _row(run: Run, made: Claims, claim: Claim, number: int) -> list[str]:
    note = f" ({number})" if claim.explained else ""
    readers = "<br>".join(f"`{reader}`" for reader in claim.readers)
    cells = (_cell(run, change, claim, name) for name, change in made.changes.items())
    return [f"{claim.engine}{note}", readers, *cells]


def _cell(run: Run, change: Change, claim: Claim, name: str) -> str:
    seen = Counter(_seen(verdict) for verdict in _verdicts(run, change, claim))
    if not seen:
        return f"{claim.says[name]}<br>{NOT_ASKED}"
    what = "; ".join(f"{' + '.join(kinds)} ({times})" for kinds, times in seen.most_common())
    return f"{claim.says[name]}<br>**{_agreement(seen, claim.claimed[name])}**: {what}"


def _agreement(seen: Iterable[tuple[str, ...]], claimed: Iterable[str]) -> str:
    """Whether what was seen of a reader is claimed; wrong files say nothing of any reader."""
    told = [kinds for kinds in seen if kinds != (WRITERS,)]
    if not told:
        return NOTHING_TOLD
    return "agrees" if all(set(kinds) <= set(claimed) for kinds in told) else "differs"


def _verdicts(run: Run, change: Change, claim: Claim) -> Iterator[Verdict]:
    for verdict in run.verdicts:
        shape = run.variants[verdict.variant].format
        if verdict.scenario != change.scenario or verdict.reader not in claim.readers:
            continue
        if not change.from_step <= verdict.step <= change.to_step:
            continue
        if claim.formats and shape not in claim.formats:
            continue
        if claim.views and shape == "hudi-mor" and verdict.view not in claim.views:
            continue
        yield verdict


def _seen(verdict: Verdict) -> tuple[str, ...]:
    if verdict.verdict is not VerdictKind.WRONG:
        return (str(verdict.verdict),)
    others = {Party.WRITER, Party.CATALOG, Party.STATISTICS, Party.UNSURE}
    found = [each for each in verdict.findings if each.party not in others]
    return tuple(str(each.kind) for each in found) or (WRITERS,)


def _readers(run: Run, made: Claims) -> Iterable[str]:
    asked = dict.fromkeys(reader for claim in made.rows for reader in claim.readers)
    found = (run.readers[reader] for reader in asked if reader in run.readers)
    yield from dict.fromkeys(f"- `{each.distribution}`: {each.fidelity}" for each in found)


def main() -> int:
    """Print the table of a run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", type=Path)
    run = load_run.load(parser.parse_args().run.resolve())
    made = TypeAdapter(Claims).validate_python(YAML(typ="safe").load(DATA))
    print(text_of(run, made))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
