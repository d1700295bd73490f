"""What runs have shown already, in one file: the judged cells of each reader, to be looked up.

A ZIP file: the cells of a reader in a run are a member of their own, so that an upgrade reads those
of two readers and nothing else. Beside it lies its SHA-256, as `sha256sum` writes it.
"""

import dataclasses
import datetime
import hashlib
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Self

from harness.comparison import history
from harness.comparison.cell_pairs import CellPair, VerdictChange
from harness.comparison.history import StoredRun
from harness.comparison.result import ComparedSide, SideComparison, compare
from harness.core import jsonl
from harness.core.atomic_write import atomic_write
from harness.core.errors import UsageProblem
from harness.core.grouping import grouped
from harness.core.records import (
    Answer,
    Finding,
    Outcome,
    OutcomeKind,
    Refusal,
    StateRecord,
    Verdict,
    VerdictKind,
    Witness,
)
from harness.core.texts import counted
from harness.run.load_run import WRITE, Run, RunInfo, VariantInfo
from harness.scenario.cells import Cell, parse_reader

MODEL: Final = 1
"""Raised whenever the same answers would be judged otherwise, or the file is laid out otherwise."""
FILE: Final = Path(__file__).with_suffix(".zip")
"""The one that comes with the harness."""
DIGEST: Final = ".sha256"
VARIABLE: Final = "HARNESS_EVIDENCE"
_ABOUT: Final = "about.json"
_STEPS: Final = ""
"""Stands for a reader: what was judged of the steps themselves."""
_LONGEST: Final = 400
"""So much of an engine's error is in the file."""
_FOLDERS: Final = re.compile(r"(?<![\w/])(?:[a-z]+:)?/{1,3}(?:[\w.@+=-]+/)+")
Keep = Callable[[VariantInfo, Verdict], bool]
_RIGHT, _JUDGED, _ANSWERED = "=", "!", "-"
"""How the line of a right cell begins, of any other, and of the error that the latter had."""


@dataclass(frozen=True, eq=False, slots=True)
class Source:
    id: str
    profile: str
    started: str
    cells: int
    commit: str
    """Of the harness that ran it."""
    metastore: str
    """Empty: the usual one."""
    members: Mapping[str, str]
    """Where the cells of each reader are."""
    by_default: Sequence[str]
    """The readers whose every setting is the engine's own, whatever their name says."""
    plan: str
    states: str
    texts: str

    def __str__(self) -> str:
        return f"{self.profile} of {self.started[:10]} (harness at {self.commit[:8]})"


class Evidence:
    def __init__(self, path: Path, file: zipfile.ZipFile, about: Mapping[str, Any]) -> None:
        self.path, self._file = path, file
        self.version: str = about["version"]
        newest_first = sorted(about["runs"], key=lambda run: str(run["started"]), reverse=True)
        self.sources = tuple(Source(**run) for run in newest_first)
        self.plan = lru_cache(None)(self._plan)

    @cached_property
    def readers(self) -> Mapping[str, Sequence[Source]]:
        """The runs that asked each reader, the newest first."""
        pairs = ((name, source) for source in self.sources for name in source.members if name)
        return grouped(pairs)

    def named(self, name: str) -> tuple[str, ...]:
        """Return the readers that are meant; without a setting, also those by the engine's own."""
        reader = parse_reader(name)
        return tuple(
            other
            for other, sources in self.readers.items()
            if other == str(reader)
            or (
                not reader.settings
                and parse_reader(other).distribution == reader.distribution
                and any(other in source.by_default for source in sources)
            )
        )

    def _plan(self, source: Source) -> StoredRun:
        return history.RUN.validate_json(self._file.read(source.plan))

    def texts(self) -> Mapping[str, str]:
        """Return the texts of all scenarios by what stands for them in plans."""
        texts: dict[str, str] = {}
        for source in self.sources:
            texts |= json.loads(self._file.read(source.texts))
        return texts

    def states(self, source: Source) -> Iterator[StateRecord]:
        variants = self.plan(source).info.variants
        for line in self._file.read(source.states).splitlines():
            variant, step, kind, digest, version, refusal, sent = json.loads(line)
            error = Refusal(*refusal) if refusal else None
            outcome = Outcome(step, OutcomeKind(kind), refusal=error, statements=tuple(sent))
            yield StateRecord(variants[variant].id, outcome, digest, table_version=version)

    def cells(self, source: Source, reader: str) -> Iterator[tuple[Verdict, Answer | None]]:
        """Yield what is known of a reader, in the order of the plan."""
        variants, right = self.plan(source).info.variants, VerdictKind.CORRECT
        lines = self._file.read(source.members[reader]).decode().split("\n")
        for line, following in pairwise((*lines, "")):
            if line.startswith(_RIGHT):
                number, step, view, query, sql = json.loads(line[1:])
                info = variants[number]
                case = Cell(info.id, step, reader, view, query).case
                asked = case, info.scenario, info.id, step, reader, view, query
                yield Verdict(*asked, right, sql=sql), None
            elif line.startswith(_JUDGED):
                answered = following.startswith(_ANSWERED)
                answer = jsonl.parse(Answer, following[1:]) if answered else None
                yield jsonl.parse(Verdict, line[1:]), answer

    def run(
        self, readers: Collection[str], metastore: str | None = "", keep: Keep = lambda *_: True
    ) -> "KnownRun":
        """Return all that is known of these readers, as one run; of each cell what is newest.

        `metastore`: through which they were asked; None: any.
        """
        made = _NewestCells(self.path)
        for source in self.sources:
            named = [name for name in source.members if name in readers]
            if named and metastore in {None, source.metastore}:
                made.add(self, source, named, keep)
        return made.run()


@dataclass(frozen=True, slots=True)
class KnownRun:
    run: Run
    """Of several runs, with what each of their cells is in the newest that has it."""
    sources: Mapping[str, Source]
    """By case."""


@dataclass(slots=True)
class _NewestCells:
    path: Path
    infos: list[RunInfo] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    states: dict[tuple[str, int], StateRecord] = field(default_factory=dict)
    recorded: dict[str, Verdict] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)

    def add(self, evidence: Evidence, source: Source, readers: Iterable[str], keep: Keep) -> None:
        info = evidence.plan(source).info
        other = {
            name
            for name, text in info.scenarios.items()
            if self.texts.setdefault(name, text) != text
        }
        states = {(s.variant, s.outcome.step): s for s in evidence.states(source)}
        for at, state in states.items():
            self.states.setdefault(at, state)
        self.infos.append(info)
        for reader in (*readers, _STEPS):
            for verdict, answer in evidence.cells(source, reader):
                at = verdict.variant, verdict.step
                same = at not in states or states[at].digest == self.states[at].digest
                if (
                    verdict.variant in other
                    or not same
                    or not keep(info.variant(verdict.variant), verdict)
                ):
                    continue  # a question of the same name about another table
                if self.recorded.setdefault(verdict.case, verdict) is verdict:
                    self.sources[verdict.case] = source
                    if answer:
                        self.answers[verdict.case] = answer

    def run(self) -> KnownRun:
        asked = [verdict for verdict in self.recorded.values() if verdict.view != WRITE]
        used, names = {v.variant for v in asked}, {v.reader for v in asked}
        variants = {v.id: v for info in self.infos for v in info.variants if v.id in used}
        readers = {r.reader: r for info in self.infos for r in info.readers if r.reader in names}
        info = RunInfo(
            id=", ".join(dict.fromkeys(info.id for info in self.infos)),
            profile=", ".join(dict.fromkeys(info.profile for info in self.infos)),
            started=max(
                (info.started for info in self.infos),
                default=datetime.datetime.fromtimestamp(0, datetime.UTC),
            ),
            version=", ".join(dict.fromkeys(info.version for info in self.infos)),
            variants=tuple(variants.values()),
            readers=tuple(readers.values()),
            cells=tuple(Cell(v.variant, v.step, v.reader, v.view, v.query) for v in asked),
            scenarios=self.texts,
            metastore=next((info.metastore for info in self.infos), None),
        )
        states = [state for at, state in self.states.items() if at[0] in used]
        recorded = {case: v for case, v in self.recorded.items() if v.variant in used}
        profiles = {case: source.profile for case, source in self.sources.items()}
        run = Run(self.path, info, states, self.answers, recorded, profiles=profiles)
        return KnownRun(run, self.sources)


def opened(path: Path) -> Evidence:
    """Open a file of evidence; raises UsageProblem: it is none, damaged, or of another model."""
    beside = path.with_name(path.name + DIGEST)
    try:
        content, digest = path.read_bytes(), beside.read_text(encoding="ascii").split()[0]
    except (OSError, ValueError, IndexError) as error:
        raise UsageProblem(f"{path}: the evidence or its {beside.name} is not there") from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise UsageProblem(f"{path} is damaged: its SHA-256 is not the one in {beside.name}")
    try:
        file = zipfile.ZipFile(io.BytesIO(content))
        about = json.loads(file.read(_ABOUT))
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise UsageProblem(f"{path} is no file of evidence: {error}") from error
    if about.get("model") != MODEL:
        made_by = f"harness {about.get('version')}, model {about.get('model')}"
        raise UsageProblem(f"{path} is of another model ({made_by}; this one has model {MODEL})")
    return Evidence(path, file, about)


class Builder:
    """Makes a file of evidence of runs, one after another."""

    def __init__(self, version: str) -> None:
        self._members: dict[str, bytes] = {}
        self._about: dict[str, Any] = {"model": MODEL, "version": version, "runs": []}

    def add(self, run: Run, commit: str) -> Self:
        at = str(len(self._about["runs"]))
        numbers = {variant.id: number for number, variant in enumerate(run.info.variants)}
        verdicts = grouped((verdict.reader, verdict) for verdict in run.verdicts)
        verdicts[_STEPS] = list(run.step_verdicts)
        members = {name: f"{at}/{number}.cells" for number, name in enumerate(verdicts)}
        for name, of_reader in verdicts.items():
            lines = (line for verdict in of_reader for line in _lines(verdict, run, numbers))
            self._members[members[name]] = "\n".join(lines).encode()
        states = (_state_line(state, numbers) for state in run.by_step.values())
        self._members[f"{at}/states"] = "\n".join(states).encode()
        self._members[f"{at}/plan.json"] = history.RUN.dump_json(history.stored_run(run))
        texts = {history.text_digest(text): text for text in run.info.scenarios.values()}
        self._members[f"{at}/texts.json"] = json.dumps(texts).encode()
        metastore = run.info.metastore.distribution if run.info.metastore else ""
        source = Source(
            run.info.id,
            run.info.profile,
            run.info.started.isoformat(),
            len(run.verdicts),
            commit,
            metastore,
            members,
            [reader.reader for reader in run.info.readers if reader.by_default],
            f"{at}/plan.json",
            f"{at}/states",
            f"{at}/texts.json",
        )
        self._about["runs"].append(dataclasses.asdict(source))
        return self

    def write(self, path: Path) -> None:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_LZMA) as file:
            about = json.dumps(self._about).encode()
            for name, content in {_ABOUT: about, **self._members}.items():
                # Without a time: the same runs make the same file.
                file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_LZMA)
        content = packed.getvalue()
        with atomic_write(path) as part:
            part.write_bytes(content)
        with atomic_write(path.with_name(path.name + DIGEST)) as part:
            digest = hashlib.sha256(content).hexdigest()
            part.write_text(f"{digest}  {path.name}\n", encoding="ascii")


def _lines(verdict: Verdict, run: Run, numbers: Mapping[str, int]) -> Iterator[str]:
    sql = _plain(verdict.sql)
    if verdict.verdict is VerdictKind.CORRECT:
        asked = numbers[verdict.variant], verdict.step, verdict.view, verdict.query, sql
        yield _RIGHT + json.dumps(asked)
        return
    slim = replace(
        verdict,
        findings=tuple(map(_slim, verdict.findings)),
        because=_plain(verdict.because.partition("\n")[0])[:_LONGEST],
        known="",
        expected=None,
        seconds=0.0,
        sql=sql,
        reused=False,
        normalised=(),
    )
    yield _JUDGED + jsonl.dump(slim)
    answer = run.answers.get(verdict.case)
    if answer and answer.refusal:
        yield _ANSWERED + jsonl.dump(Answer(verdict.case, "", refusal=_error(answer.refusal)))


def _slim(finding: Finding) -> Finding:
    """Return a finding whose places are what tells them from others, and not all about them."""
    places = (Witness(place.key, place.column, None, place.actual) for place in finding.witnesses)
    return replace(finding, witnesses=tuple(places))


def _state_line(state: StateRecord, numbers: Mapping[str, int]) -> str:
    outcome = state.outcome
    error = _error(outcome.refusal) if outcome.refusal else None
    fields = dataclasses.astuple(error) if error else None
    variant, sent = numbers[state.variant], list(map(_plain, outcome.statements))
    place = variant, outcome.step, outcome.kind, state.digest[:16], state.table_version
    return json.dumps([*place, fields, sent])


def _error(refusal: Refusal) -> Refusal:
    message, cause = (_plain(text)[:_LONGEST] for text in (refusal.message, refusal.cause))
    return replace(refusal, message=message, cause=cause)


def _plain(text: str) -> str:
    """Return a text without the names of folders and databases of the run's machine.

    >>> _plain("cannot read file:/tmp/cache/states/s_0123456789abcdef/t/f.parquet")
    'cannot read …/f.parquet'
    """
    return _FOLDERS.sub("…/", history.DATABASE.sub("db", text))


@dataclass(frozen=True, slots=True)
class KnownComparison:
    comparison: SideComparison
    sources: tuple[Source, ...]
    """The runs that it is of, the newest first."""
    composed: int
    """Of so many questions the sides were asked in different runs, on the same states."""


def compare_known(
    evidence: Evidence, old: Sequence[str], new: Sequence[str], keep: Keep = lambda *_: True
) -> KnownComparison:
    """Compare what is known of two sides' readers; what one alone was asked counts as not tested.

    Through a metastore that is not the usual one answers are others: those of one are compared.
    """
    named = {*old, *new}  # a reader that one side names by its settings is not the other side's
    before, after = (
        tuple(
            dict.fromkeys(
                name
                for text in side
                for name in evidence.named(text)
                if name == text or name not in named
            )
        )
        for side in (old, new)
    )
    of_old, of_new = (
        {source.metastore for source in evidence.sources if not names.isdisjoint(source.members)}
        for names in (set(before), set(after))
    )
    metastore = min(of_old & of_new, default="")  # the usual one if both were asked through it
    was, now = (evidence.run(names, metastore, keep) for names in (before, after))
    same = _same_states(was.run, now.run)
    asked = {v.variant for v in was.run.verdicts} & {v.variant for v in now.run.verdicts}
    was, now = (_of_states(side, same, asked) for side in (was, now))
    pairs = (
        {now: old for old, now in zip(before, after, strict=True)}
        if len(before) == len(after) == 1
        else None
    )
    old_side, new_side = (
        ComparedSide(", ".join(side), known.run) for side, known in ((old, was), (new, now))
    )
    comparison = compare(old_side, new_side, pairs)
    both = tuple(pair for pair in comparison.pairs if pair.old and pair.new)
    sources = [_sources(pair, was, now) for pair in both if not pair.is_step]
    used = {id(source): source for pair in sources for source in pair}
    return KnownComparison(
        replace(comparison, pairs=both, unasked=tuple(_alone(comparison))),
        tuple(source for source in evidence.sources if id(source) in used),
        sum(one is not other for one, other in sources),
    )


def _same_states(one: Run, other: Run) -> Callable[[Verdict], bool]:
    texts = {
        name
        for name, text in one.info.scenarios.items()
        if other.info.scenarios.get(name, text) != text
    }
    states = {
        at
        for at, state in one.by_step.items()
        if at in other.by_step and other.by_step[at].digest != state.digest
    }
    return lambda verdict: (
        verdict.variant not in texts and (verdict.variant, verdict.step) not in states
    )


def _of_states(
    known: KnownRun, same: Callable[[Verdict], bool], asked: Collection[str]
) -> KnownRun:
    """Return what is of the same states; steps only of variants that both sides were `asked`."""
    recorded = {case: verdict for case, verdict in known.run.recorded.items() if same(verdict)}
    cells = tuple(cell for cell in known.run.info.cells if cell.case in recorded)
    states = [state for state in known.run.states if state.variant in asked]
    info = replace(known.run.info, cells=cells)
    run = replace(known.run, info=info, states=states, recorded=recorded)
    return replace(known, run=run)


def _sources(pair: CellPair, was: KnownRun, now: KnownRun) -> tuple[Source, Source]:
    old, new = pair.old or pair.either, pair.new or pair.either
    return was.sources[old.case], now.sources[new.case]


def _alone(comparison: SideComparison) -> Iterator[str]:
    """Yield of each format what one side alone was asked."""
    info = {VerdictChange.GONE: comparison.old, VerdictChange.NEW: comparison.new}
    counts = Counter(
        (info[pair.change].run.info.variant(pair.either.variant).format, pair.change)
        for pair in comparison.pairs
        if pair.change in info and not pair.is_step
    )
    for (format_name, change), number in counts.items():
        questions = counted(number, "question")
        yield f"{format_name} tables: {questions} asked of {info[change].name} alone"
