"""What is not right in a run, by its causes: who, how it is wrong, since which operation. Pure.

One engine shows one finding by several versions and settings, in several views and formats, after
every later step: all of that is one cause, with one `CauseKey` in all runs.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain, permutations
from pathlib import Path, PurePosixPath
from typing import Final

from harness.core import refusals
from harness.core.grouping import grouped
from harness.core.records import Answer, FindingKind, Refusal, Responsible, Verdict, VerdictKind
from harness.core.runtime_names import lock_name
from harness.model import past_views
from harness.run.load_run import Run
from harness.scenario.cells import parse_reader

ORDER: Final = (
    VerdictKind.WRONG,
    VerdictKind.REFUSED,
    VerdictKind.UNKNOWN,
    VerdictKind.OPEN,
    VerdictKind.UNSUPPORTED,
    VerdictKind.CORRECT,
)
"""The worst first: a silent wrong answer is worse than an error."""
OR: Final = " or "
"""Stands between operations of which nobody can say since which it is so."""


@dataclass(frozen=True, slots=True)
class Symptom:
    """How an answer is not right, whoever gave it."""

    kind: VerdictKind
    """Wrong also where a column shows it that was asked alone after the whole row was refused."""
    what: str
    """The finding's kind, what the refusal means, or why a cell is unknown, unsupported or open."""
    responsible: Responsible | None = None
    """Whose doing a finding is: the reader's and the writer's are never one cause."""


@dataclass(frozen=True, slots=True)
class CauseKey:
    engine: str
    """The product: `trino`."""
    symptom: Symptom
    operation: str
    """Since which it is so, in the words of scenario files: `rename_column`. Several, with `OR`
    between them, where nobody was asked between them. Empty where nothing was answered."""

    @property
    def finding(self) -> FindingKind | None:
        return FindingKind(self.symptom.what) if self.symptom.kind is VerdictKind.WRONG else None


@dataclass(frozen=True, slots=True)
class RunCause:
    key: CauseKey
    verdicts: tuple[Verdict, ...]
    """The first one speaks for all: by default settings if any, in the smallest scenario."""
    known: tuple[str, ...]
    """The baselines' reasons; empty when it is new. Known and new cells are causes of their own."""
    by_default: bool
    """Whether somebody meets it who has chosen no setting."""

    @property
    def cases(self) -> tuple[str, ...]:
        return tuple(verdict.case for verdict in self.verdicts)

    @property
    def first(self) -> Verdict:
        return self.verdicts[0]

    @property
    def readers(self) -> tuple[str, ...]:
        """Every reader that shows it, versions and settings in its name."""
        return tuple(dict.fromkeys(verdict.reader for verdict in self.verdicts))

    @property
    def views(self) -> tuple[str, ...]:
        """The views that show it, those of the past without their step."""
        return tuple(dict.fromkeys(past_views.name_of(verdict.view) for verdict in self.verdicts))

    @property
    def scenarios(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(verdict.scenario for verdict in self.verdicts))

    @property
    def columns(self) -> tuple[str, ...]:
        findings = (f for v in self.verdicts for f in v.findings if f.kind is self.key.finding)
        return tuple(dict.fromkeys(chain.from_iterable(finding.columns for finding in findings)))

    def formats(self, run: Run) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(run.info.variant(verdict.variant).format for verdict in self.verdicts)
        )


def causes(verdicts: Iterable[Verdict], run: Run) -> tuple[RunCause, ...]:
    """Return what is not right by its causes: new ones, default settings, silent ones first."""
    one: dict[_Since, _Since] = {}  # of a million cells each would have its own
    began = (pair for series in _series(verdicts) for pair in _began(series, run))
    shown = [(one.setdefault(since, since), verdict) for since, verdict in began]
    settled = _settled(one)
    keys = [((settled[since], bool(verdict.known)), verdict) for since, verdict in shown]
    causes_ = (_cause(key, of, run) for (key, _), of in grouped(keys).items())
    return tuple(sorted(causes_, key=_rank))


def right_in(verdicts: Iterable[Verdict], run: Run) -> tuple[str, ...]:
    """Return the other versions of the engine that were asked the same, and were always right."""
    right = dict[str, bool]()
    for verdict in verdicts:
        asked = run.info.reader(verdict.reader).distribution
        for other in run.by_question.get(verdict.question, ()):
            name = run.info.reader(other.reader).distribution
            if name != asked and engine(name) == engine(asked):
                is_right = other.verdict is VerdictKind.CORRECT
                right[name] = right.get(name, True) and is_right
    return tuple(name for name, always in right.items() if always)


def engine(distribution: str) -> str:
    """Return the product that a distribution is of; people's own begin with it as well.

    >>> engine("spark-3.5.8-hudi-1.0.2"), engine("trino-ours@container")
    ('spark', 'trino')
    """
    return lock_name(distribution).partition("-")[0]


def symptoms(verdict: Verdict, answer: Answer | None) -> tuple[Symptom, ...]:
    """Return how an answer is not right; nothing where it is."""
    kind = verdict.verdict
    if kind in {VerdictKind.UNKNOWN, VerdictKind.UNSUPPORTED, VerdictKind.OPEN}:  # nobody accused
        return (Symptom(kind, verdict.because),)
    symptoms_ = [
        Symptom(VerdictKind.WRONG, finding.kind, finding.responsible)
        for finding in verdict.findings
    ]
    if kind is VerdictKind.REFUSED:
        symptoms_.append(Symptom(kind, meaning(answer.refusal if answer else None)))
    return tuple(dict.fromkeys(symptoms_))


def meaning(refusal: Refusal | None) -> str:
    """Return what a refusal means, else what the error is called, with its innermost cause.

    >>> meaning(Refusal("GENERIC_INTERNAL_ERROR", "x", cause="java.io.IOException: of s_1"))
    'GENERIC_INTERNAL_ERROR, IOException'
    """
    if refusal is None:
        return "an error"
    classes = (name.rpartition(".")[2] for name in (refusal.kind, refusal.cause.partition(":")[0]))
    return refusals.meaning(refusal) or ", ".join(dict.fromkeys(filter(None, classes)))


_Since = tuple[str, Symptom, tuple[str, ...]]
"""An engine, a symptom, and the operations of which one brought it about."""


def _series(verdicts: Iterable[Verdict]) -> Iterator[Mapping[int, list[Verdict]]]:
    """Yield what a reader answered to a view of a variant, step after step.

    All questions to the view are one series: those asked after few steps do not tell when it began.
    """
    pairs = [
        ((verdict.variant, verdict.reader, past_views.name_of(verdict.view)), verdict)
        for verdict in verdicts
    ]
    for series in grouped(pairs).values():
        steps = grouped([(verdict.step, verdict) for verdict in series])
        yield {step: steps[step] for step in sorted(steps)}


def _began(series: Mapping[int, Sequence[Verdict]], run: Run) -> Iterator[tuple[_Since, Verdict]]:
    """Yield each symptom in a series, with the operations of which one began it.

    What is seen again was there all the time, unless all was right between.
    """
    since: dict[Symptom, tuple[str, ...]] = {}
    known = 0
    for step, verdicts in series.items():
        if all(verdict.verdict is VerdictKind.CORRECT for verdict in verdicts):
            since.clear()
        variant = run.info.variant(verdicts[0].variant)
        steps = map(variant.step, range(min(known + 1, step), step + 1))
        between = tuple(dict.fromkeys(step.operation for step in steps))
        for verdict in verdicts:
            refused = verdict.verdict is VerdictKind.REFUSED
            answer = run.answers.get(verdict.case) if refused else None
            for symptom in symptoms(verdict, answer):
                answered = symptom.kind.is_bad
                began = since.setdefault(symptom, between) if answered else ()
                yield (
                    (engine(run.info.reader(verdict.reader).distribution), symptom, began),
                    verdict,
                )
        if any(verdict.verdict is not VerdictKind.UNKNOWN for verdict in verdicts):
            known = step


def _settled(seen: Iterable[_Since]) -> Mapping[_Since, CauseKey]:
    """Return the cause of each beginning.

    Of several operations it is the one that began it in another series of the engine, if it is one.
    """
    every = tuple(dict.fromkeys(seen))
    sure = grouped([((who, symptom), of[0]) for who, symptom, of in every if len(of) == 1])
    settled = {}
    for who, symptom, of in every:
        shown = [operation for operation in of if operation in sure.get((who, symptom), ())]
        operation = shown[0] if len(shown) == 1 else OR.join(of)
        settled[who, symptom, of] = CauseKey(who, symptom, operation)
    return settled


def _cause(key: CauseKey, verdicts: Sequence[Verdict], run: Run) -> RunCause:
    def simplicity(verdict: Verdict) -> tuple[bool, bool, int, int]:
        asked_alone = verdict.verdict is not key.symptom.kind
        steps = len(run.info.variant(verdict.variant).steps)
        return not run.info.reader(verdict.reader).by_default, asked_alone, steps, verdict.step

    ordered = tuple(sorted(verdicts, key=simplicity))
    reasons = tuple(filter(None, dict.fromkeys(verdict.known for verdict in ordered)))
    return RunCause(key, ordered, reasons, run.info.reader(ordered[0].reader).by_default)


def _rank(cause: RunCause) -> tuple[bool, bool, int, int, int]:
    kinds = list(FindingKind)
    finding = cause.key.finding
    return (
        bool(cause.known),
        not cause.by_default,
        ORDER.index(cause.key.symptom.kind),
        -len(cause.scenarios),
        kinds.index(finding) if finding else len(kinds),
    )


SESSION: Final = "in the session"
_COMMENT: Final = "--"


@dataclass(frozen=True, slots=True)
class SettingLine:
    text: str
    """As the engine takes it: `hudi.parquet.use-column-names=true`."""
    place: str
    """Where it goes: `in etc/catalog/*.properties`, `in the session`; empty where unknown."""

    def __str__(self) -> str:
        return f"{self.text} ({self.place})" if self.place else self.text


@cache
def lines_of(reader: str, format_name: str) -> tuple[SettingLine, ...]:
    """Return what a reader's session is given before it is asked about tables of a format.

    Nothing where the distribution or the format is not there any longer.
    """
    from harness import engines, formats  # noqa: PLC0415 - who looks for settings can wait
    from harness.artifacts import distributions  # noqa: PLC0415

    asked = parse_reader(reader)
    if not distributions.exists(asked.distribution) or format_name not in formats.names():
        return ()
    distribution = distributions.load(asked.distribution)
    facts = formats.facts(format_name)
    lines = engines.load(distribution.engine).by_hand(distribution, dict(asked.settings), facts)
    where, result = SESSION, list[SettingLine]()
    for line in lines:
        text = line.removeprefix(_COMMENT).strip()
        if line.startswith(_COMMENT) and text.endswith(":"):
            where = _place(text[:-1])
        else:
            result.append(SettingLine(text, where if line.startswith(_COMMENT) else SESSION))
    return tuple(result)


def _place(head: str) -> str:
    """Return where lines stand that have such a head; a file is named by its folder and kind.

    >>> _place("etc/catalog/hudi_by_name.properties"), _place("In Python")
    ('in etc/catalog/*.properties', 'in Python')
    """
    path = PurePosixPath(head)
    if path.suffix:
        return f"in {path.with_name('*')}{path.suffix}"
    return head[:1].lower() + head[1:]


READERS: Final = frozenset({Responsible.READER, None})
"""Whose doing it must be that a reader's setting can help."""
Change = tuple[str, str, str]
"""The reader that is not right, the one of the same distribution that is, and the format."""


@dataclass(frozen=True, slots=True)
class HelpfulSetting:
    """Settings that cells of a cause were asked with as well, and came right."""

    settings: str
    """As a reader's name has them; empty where they are the engine's own."""
    lines: tuple[tuple[SettingLine, tuple[str, ...]], ...]
    """What to paste, each with the distributions that want it."""
    instead: tuple[SettingLine, ...]
    """What to take out, where there is nothing to paste."""
    right: int
    """So many of the cause's cells come right."""
    otherwise: int
    """So many of them are not right then either, but no longer by this cause."""
    spoilt: int
    """So many other cells of the same readers are right without and not with it."""


@dataclass(frozen=True)  # no slots: what is derived is kept
class SettingsAsked:
    """What the readers of a run answered with one setting and with another."""

    run: Run

    @cached_property
    def spoilt(self) -> Mapping[tuple[str, str], int]:
        """How many cells are right by the first reader and not by the second."""
        spoilt: Counter[tuple[str, str]] = Counter()
        for verdicts in self.run.by_question.values():
            for old, new in permutations(verdicts, 2):
                if old.verdict is VerdictKind.CORRECT and new.verdict.is_bad:
                    spoilt[old.reader, new.reader] += 1
        return spoilt

    def others(self, cause: RunCause) -> Iterator[tuple[Verdict, Verdict]]:
        """Yield each cell of a cause, with what its distribution made of it by other settings."""
        symptom = cause.key.symptom
        if not symptom.kind.is_bad or symptom.responsible not in READERS:
            return
        for verdict in cause.verdicts:
            distribution = self.run.info.reader(verdict.reader).distribution
            for other in self.run.by_question[verdict.question]:
                same = self.run.info.reader(other.reader).distribution == distribution
                if same and other.reader != verdict.reader:
                    yield verdict, other

    def helpful(self, cause: RunCause) -> HelpfulSetting | None:
        """Return the settings that help most against a cause; None where none do more than harm.

        Of those that help equally, the ones with the fewest lines.
        """
        pairs = [
            (settings_text(other.reader), (verdict, other)) for verdict, other in self.others(cause)
        ]
        made = (self._made(cause, name, of) for name, of in grouped(pairs).items())
        good = (setting for setting in made if setting.right > setting.spoilt)
        return min(
            good,
            key=lambda setting: (setting.spoilt - setting.right, len(setting.lines)),
            default=None,
        )

    def _made(
        self, cause: RunCause, settings: str, pairs: Sequence[tuple[Verdict, Verdict]]
    ) -> HelpfulSetting:
        right = [pair for pair in pairs if pair[1].verdict is VerdictKind.CORRECT]
        changes = tuple(
            dict.fromkeys(
                (old.reader, new.reader, self.run.info.variant(old.variant).format)
                for old, new in right
            )
        )
        lacking = grouped(
            [(line, self.run.info.reader(to).distribution) for line, to in _new_lines(changes)]
        )
        back = tuple((new, old, format_) for old, new, format_ in changes)
        return HelpfulSetting(
            settings,
            tuple((line, tuple(dict.fromkeys(names))) for line, names in lacking.items()),
            () if lacking else tuple(dict.fromkeys(line for line, _ in _new_lines(back))),
            len(right),
            sum(other.verdict.is_bad and not self._shows(cause, other) for _, other in pairs),
            sum(self.spoilt[pair] for pair in dict.fromkeys((old, new) for old, new, _ in changes)),
        )

    def _shows(self, cause: RunCause, other: Verdict) -> bool:
        return cause.key.symptom in symptoms(other, self.run.answers.get(other.case))


def settings_text(reader: str) -> str:
    """Return a reader's settings as its name has them; empty where it has none."""
    settings = parse_reader(reader).settings
    return ", ".join(f"{name}={value}" for name, value in settings)


def _new_lines(changes: Sequence[Change]) -> Iterator[tuple[SettingLine, str]]:
    for old, new, format_ in changes:
        for line in lines_of(new, format_):
            if line not in lines_of(old, format_):
                yield line, new


TOP: Final = 1
"""The line for what no line is known of."""


@dataclass(frozen=True, slots=True)
class ScenarioLine:
    """A line of a scenario's file, as it is now."""

    path: Path
    line: int


class ScenarioLines:
    """Finds the steps of a run in the files of its scenarios; each file is read once."""

    def __init__(self, run: Run) -> None:
        from harness.run.baseline_files import scenario_file  # noqa: PLC0415

        self._run = run
        self._files, self._steps = cache(partial(scenario_file, run.info)), cache(_steps)

    def of(self, variant: str, step: int) -> ScenarioLine | None:
        """Return where a step stands, the first line if the steps changed; None without a file."""
        info = self._run.info.variant(variant)
        path = self._files(info.scenario)
        if path is None:
            return None
        there = self._steps(path)
        known = [name for name, _ in there] == [step.operation for step in info.steps]
        return ScenarioLine(path, there[step - 1][1] if known and step else TOP)

    def of_cause(self, cause: RunCause) -> ScenarioLine | None:
        """Return where the step stands that began it, in the scenario that speaks for all."""
        first, names = cause.first, cause.key.operation.split(OR)
        steps = self._run.info.variant(first.variant).steps
        did = [s.number for s in steps if s.operation in names and s.number <= first.step]
        return self.of(first.variant, max(did, default=first.step))


def _steps(path: Path) -> Sequence[tuple[str, int]]:
    """Return the operation and the line of each step of a file; nothing where it is wrong."""
    from harness import formats  # noqa: PLC0415 - only annotations need the lines
    from harness.core.errors import ScenarioProblem  # noqa: PLC0415
    from harness.scenario import load  # noqa: PLC0415
    from harness.scenario.operations import name_of  # noqa: PLC0415

    try:
        scenario = load.load(path, formats.keeping_case())
    except ScenarioProblem:
        return ()
    return [(name_of(step.operation), step.line) for step in scenario.steps]
