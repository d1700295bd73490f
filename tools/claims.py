"""What source documents claim, beside what recorded runs saw: one Markdown page.

    python tools/claims.py RUN… > docs/results/claims.md

The claims and what answers them are in `claims.yaml`. A run is the folder of a judged run, or the
name of a recording in `tests/recorded`; the cells of a claim may be in any of them.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter
from ruamel.yaml import YAML

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `tools`

from harness.core.errors import UsageProblem
from harness.run import load_run
from harness.run.load_run import Run
from tests.builders import recorded_run
from tools import claim_evidence, claim_measured
from tools.claim_evidence import SILENT, Asked, Claim, Evidence, Section, Sight, Standing
from tools.claim_measured import NotedPart
from tools.markdown_table import table

DATA: Final = Path(__file__).with_name("claims.yaml")
HEAD: Final = ("claim", "executed", "seen, and in how many cells", "versions", "agrees?")
ASKED: Final = {
    Asked.ANSWERS: "answers",
    Asked.STEP: "steps",
    Asked.RECORD: "what the commits have",
    Asked.SHOWN: "what the procedure shows of the commits",
    Asked.SCHEMA: "the table's history of its schema",
    Asked.FILES: "file groups",
    Asked.SCHEMA_FILES: "files under `.hoodie/.schema`",
}
UNEXPLAINED: Final = "not explained"
NOTHING_SAID: Final = "no run here has it, and the claims do not say what would answer it"


@dataclass(frozen=True)  # no slots: what is derived is kept
class Tried:
    """A claim and what the runs have of each part of its evidence."""

    claim: Claim
    seen: tuple[tuple[Sight, ...], ...]
    measured: tuple[NotedPart, ...] = ()
    """What is noted of each part of what was measured."""

    @cached_property
    def parts(self) -> tuple[Standing, ...]:
        """How each part of the evidence stands, what was measured last."""
        both = zip(self.seen, self.claim.evidence, strict=True)
        seen = (claim_evidence.standing(seen, each.expected) for seen, each in both)
        return (*seen, *(each.standing for each in self.measured))

    @property
    def whole(self) -> Standing:
        """How the claim stands; one that has more to it than its evidence agrees in part."""
        stands = claim_evidence.together(self.parts)
        partly = stands is Standing.AGREES and bool(self.claim.open)
        return Standing.IN_PART if partly else stands


def load(path: Path = DATA) -> tuple[Section, ...]:
    """Load the claims; raise `UsageProblem` with file and line where one is not well made."""
    text = path.read_text(encoding="utf-8")
    made = TypeAdapter(tuple[Section, ...]).validate_python(YAML(typ="safe").load(text))
    _refuse(path, claim_evidence.problems(made))
    return made


def tried(runs: Sequence[Run], section: Section) -> list[Tried]:
    """Return the claims of a section with what the runs have of each, differences first."""
    found = [
        Tried(
            claim,
            tuple(tuple(claim_evidence.sights(runs, e)) for e in claim.evidence),
            tuple(map(claim_measured.measured, claim.measured)),
        )
        for claim in section.claims
    ]
    return sorted(found, key=lambda each: list(Standing).index(each.whole))


def page(runs: Sequence[Run], found: Sequence[tuple[Section, list[Tried]]]) -> Iterator[str]:
    """Yield the lines of the page; `found` has what was tried of each section."""
    yield from ("# What source documents claim, and what runs saw", "", *_runs(runs), "")
    yield from (*_legend(), "", *_counts(found), "")
    for section, of in found:
        yield from _section(section, of)
    yield from ("## Readers", "", *_readers(runs, (each for _, of in found for each in of)))


def refuse_unused(found: Iterable[Tried], path: Path = DATA) -> None:
    """Raise `UsageProblem` where an explanation fits nothing that the runs have."""
    told = ((each.claim.number, claim_evidence.unused(each.claim, each.parts)) for each in found)
    _refuse(path, ((number, why) for number, why in told if why))


def _refuse(path: Path, wrong: Iterable[tuple[str, str]]) -> None:
    """Raise what is wrong with claims, each with the line that has its number."""
    lines = path.read_text(encoding="utf-8").splitlines()
    at = {line.partition("number: ")[2].strip(): n for n, line in enumerate(lines, start=1)}
    told = [f"{path}:{at.get(number, 1)}: claim {number}: {what}" for number, what in wrong]
    if told:
        raise UsageProblem("\n".join(told))


def _runs(runs: Iterable[Run]) -> Iterator[str]:
    told = (f"`{run.info.profile}` ({len(run.verdicts):,} cells)" for run in runs)
    yield f"From runs and recordings of the profiles {', '.join(told)}."


def _legend() -> Iterator[str]:
    yield "The source is a digest of four documents; each claim stands here in our own words."
    yield "A row is one part of the evidence: what became of steps, or what readers answered after"
    yield "them. What is **bold** is not what the claim says, with who showed it. What neither"
    yield "confirms nor refutes a claim (an unknown answer, one that shows wrong files as they are,"
    yield "a reader that does not support the table) has no say. What no run here has is *not"
    yield "executed*: it is not shown as agreeing."


def _counts(found: Sequence[tuple[Section, list[Tried]]]) -> Iterator[str]:
    heads = ("claims of", "in all", *map(str, Standing))
    rows = (_count(section.name, of) for section, of in found)
    yield from table(heads, (*rows, _count("all", [each for _, of in found for each in of])))


def _count(name: str, tries: Sequence[Tried]) -> tuple[str, ...]:
    of = Counter(each.whole for each in tries)
    return (name, str(len(tries)), *(str(of[kind]) for kind in Standing))


def _section(section: Section, tries: Sequence[Tried]) -> Iterator[str]:
    yield from (f"## {section.name}. {section.title}", "", f"Source: {section.source}.", "")
    yield from table(HEAD, (row for each in tries for row in _rows(each)))
    remarks = [remark for each in tries for remark in _remarks(each)]
    yield from ("", *remarks, "") if remarks else ("",)


def _remarks(one: Tried) -> Iterator[str]:
    claim = one.claim
    if one.whole is Standing.DIFFERS:
        yield f"- {claim.number} differs: {claim.explained or UNEXPLAINED}"
    if claim.note:
        yield f"- {claim.number}: {claim.note}"
    if one.parts and claim.open:
        yield f"- {claim.number}, what is still open: {claim.open}"


def _rows(one: Tried) -> Iterator[tuple[str, ...]]:
    claim = one.claim
    if not one.parts:
        yield _named(claim), claim.open, "", "", f"**{Standing.NOT_EXECUTED}**"
    seen = zip(claim.evidence, one.seen, strict=True)
    told = ((_executed(e, s, claim.open), _seen(e, s), _versions(s)) for e, s in seen)
    rows = (*told, *(_measured(each, claim.open) for each in one.measured))
    for at, (row, stands) in enumerate(zip(rows, one.parts, strict=True)):
        yield (_named(claim) if not at else claim.number), *row, f"**{stands}**"


def _measured(one: NotedPart, otherwise: str) -> tuple[str, str, str]:
    about = f"{one.of.about}: " if one.of.about else ""
    what = f"{about}{one.of.what}"
    if not one.came:
        return f"{what}: {otherwise or NOTHING_SAID}", "", ""
    marks = dict.fromkeys(one.allowed, "")
    came = (f"{m}{k}{m} ({n})" for k, n in one.came.most_common() for m in (marks.get(k, "**"),))
    return f"{what}: {one.of.seen_of}", "<br>".join(came), _names(one.writers)


def _named(claim: Claim) -> str:
    return f"**{claim.number}** {claim.says}"


def _executed(evidence: Evidence, seen: Sequence[Sight], otherwise: str) -> str:
    about = f"{evidence.about}: " if evidence.about else ""
    steps = ", ".join(map(str, evidence.steps))
    what = f"{about}`{evidence.scenario}`, step{'s' * (len(evidence.steps) > 1)} {steps}"
    if not seen:
        return f"{what}: {otherwise or NOTHING_SAID}"
    texts = "; ".join(dict.fromkeys(sight.step.partition(", rewrites")[0] for sight in seen))
    return f"{what} ({texts}): {ASKED[evidence.of]}{_selection(evidence)}"


def _selection(evidence: Evidence) -> str:
    words = {"": evidence.formats, "view ": evidence.views, "question ": evidence.queries}
    chosen = (f"{word}{' or '.join(of)}" for word, of in words.items() if of)
    set_so = (f"{name}={value}" for name, value in evidence.settings.items())
    return "".join(f"; {each}" for each in (*chosen, *set_so))


def _seen(evidence: Evidence, seen: Sequence[Sight]) -> str:
    times = Counter(sight.kinds for sight in seen)
    return "<br>".join(_kind(kinds, evidence, seen) for kinds, _ in times.most_common())


def _kind(kinds: tuple[str, ...], evidence: Evidence, seen: Sequence[Sight]) -> str:
    own = [sight for sight in seen if sight.kinds == kinds]
    what = " + ".join(kinds)
    if set(kinds) - SILENT <= set(evidence.expected):
        return f"{what} ({len(own)})"
    by = _names(sight.reader or sight.writer for sight in own)
    of = f" reading {_names(sight.writer for sight in own)}" if own[0].reader else ""
    return f"**{what}** ({len(own)}): {by}{of}"


def _versions(seen: Sequence[Sight]) -> str:
    readers = _names(sight.reader.partition("{")[0] for sight in seen if sight.reader)
    writers = _names(sight.writer for sight in seen)
    return f"{readers} reading {writers}" if readers else writers


def _names(of: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(set(of)))


def _readers(runs: Sequence[Run], tries: Iterable[Tried]) -> Iterator[str]:
    """Yield what the readers are that the page names."""
    asked = {s.reader for each in tries for seen in each.seen for s in seen}
    found = (each for run in runs for each in run.info.readers if each.reader in asked)
    told = {f"- `{each.distribution}`: {each.fidelity}" for each in found}
    yield from sorted(told)


def _run(name: str) -> Run:
    """Return the run of that folder, or the recording of that name."""
    folder = Path(name)
    return load_run.load(folder.resolve()) if folder.is_dir() else recorded_run.run_of(name)


def main() -> int:
    """Print the page of some runs; say what is wrong with the claims, if anything is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", nargs="+", metavar="RUN", help="folder of a run, or a recording")
    try:
        runs, sections = list(map(_run, parser.parse_args().runs)), load()
        found = [(section, tried(runs, section)) for section in sections]
        print("\n".join(page(runs, found)))
        refuse_unused(each for _, of in found for each in of)
    except UsageProblem as problem:
        print(problem, file=sys.stderr)
        return problem.exit_status
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
