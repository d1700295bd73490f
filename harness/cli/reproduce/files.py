"""The files of a reproducer: a scenario, the profile that runs it, and a script for people."""

import io
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML

from harness import engines, formats
from harness.artifacts import distributions
from harness.artifacts.distribution import Distribution
from harness.cli.reproduce.candidate import Candidate
from harness.cli.reproduce.shrink import Target
from harness.core.errors import unwritable
from harness.core.records import Answer, Expected, OutcomeKind, StateRecord, Verdict
from harness.core.texts import counted, printable
from harness.engines import time_travel
from harness.engines.api import METASTORE, PointInTime, Question
from harness.engines.spark.launch import COMMON
from harness.formats import other_writers
from harness.judge.recorded_variant import SNAPSHOT, RecordedVariant
from harness.model import past_views
from harness.model.commit import NAMED, ref_name
from harness.model.identifiers import TABLE
from harness.reports.findings import FINDINGS, finding_text
from harness.reports.words import exact, refusal_text
from harness.run.load_run import WRITE
from harness.scenario import statements as sent
from harness.scenario.cells import Variant
from harness.scenario.dump import dump
from harness.scenario.operations.spark_sql import quoted
from harness.write.next_step import NextStep, VariantOutcomes
from harness.write.writer_pool import SPARK

SCENARIO: Final = "scenario"
SCRIPT: Final = "reproduce.sql"
PROFILES: Final = "profiles.yaml"
DATABASE: Final = "reproducer"
LOCATION: Final = f"/tmp/reproducer/{TABLE}"  # noqa: S108 - whoever runs the script may name another one
CATALOG: Final = {
    "spark.sql.catalogImplementation": "hive",
    "spark.hadoop.hive.metastore.uris": METASTORE,
}
"""Spark's tables are those of the metastore."""
ZONE: Final = "spark.sql.session.timeZone"
MOMENT: Final = "MOMENT"
"""Stands for the moment of a step: whoever runs the script writes another table, with others."""
LIB: Final = "lib"
"""The role of an engine's own jars, dozens of them."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What an engine answered about a candidate, and all that was recorded on the way."""

    verdict: Verdict
    answer: Answer
    states: tuple[StateRecord, ...]


def write(folder: Path, target: Target, candidate: Candidate, seen: Observation) -> Path:
    """Write a reproducer into its own folder below `folder`; return that one."""
    cause, scenario = target.cause, candidate.scenario
    source = "; ".join(filter(None, (scenario.source, f"made smaller from {scenario.name}")))
    named = replace(scenario, name=f"{cause.name}/{SCENARIO}", about=f"{cause}.", source=source)
    texts = {
        f"{SCENARIO}.yaml": dump(named),
        PROFILES: _profile(target, candidate),
        SCRIPT: script(replace(candidate.variant, scenario=named), target, seen),
    }
    path = folder / cause.name
    try:
        path.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (path / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(error, path) from error
    return path


def _profile(target: Target, candidate: Candidate) -> str:
    """Return the text of a profile that asks the one reader about the one table."""
    of_step = target.cause.view == WRITE
    about = f"Asks {target.reader} for what it was seen to answer wrongly."
    if of_step:
        seen = "refuse" if target.refusal else "record wrongly in the table itself"
        about = f"Writes what {target.reader} was seen to {seen}."
    form: dict[str, Any] = {
        "about": about,
        "scenarios": [f"{target.cause.name}/{SCENARIO}"],
        "formats": [candidate.format],
        "writers": [_writer(candidate)],
        "readers": [str(target.reader)],
        "views": [SNAPSHOT if of_step else target.cause.view],
        "queries": [target.shape],
    }
    if not target.through.usual:
        form["metastore"] = {k: v for k, v in asdict(target.through).items() if v}
    yaml, text = YAML(typ="safe", pure=True), io.StringIO()
    yaml.default_flow_style = False
    yaml.dump({target.cause.name: form}, text)
    return text.getvalue()


def _writer(candidate: Candidate) -> object:
    """Return the profile's entry for the writers of all steps that do not name theirs."""
    settings = {"settings": dict(candidate.settings)} if candidate.settings else {}
    by_step = ("", *(step.by for step in candidate.scenario.steps))
    unnamed = {at: name for at, name in enumerate(candidate.writers) if not by_step[at]}
    turns = [name for name, _ in groupby(unnamed.values())]
    if len(turns) == 1:
        return {"distribution": turns[0], **settings} if settings else turns[0]
    at = next(at for at, name in unnamed.items() if name == turns[1])
    return {"sequence": turns, "at": at, **settings}


def script(variant: Variant, target: Target, seen: Observation) -> str:
    """Return the statements that can be run by hand; what was expected and seen are comments."""
    return "\n".join(_Script(variant, target, seen).lines()) + "\n"


class _Script:
    """The lines of a script: the statements that were sent, with the settings of the sessions."""

    def __init__(self, variant: Variant, target: Target, seen: Observation) -> None:
        self.variant, self.target, self.seen = variant, target, seen
        self.format, self.facts = formats.load(variant.format), formats.facts(variant.format)
        self.records = RecordedVariant(variant, self.format.merge_on_read, seen.states)
        self.states = {state.outcome.step: state for state in seen.states}
        self.writers = VariantOutcomes(variant)
        """Nothing is written yet: says with which settings each writer begins."""

    def lines(self) -> Iterator[str]:
        yield from self._head()
        for writer, parts in groupby(self._parts(), key=itemgetter(0)):
            yield from ("", f"-- ===== in {_engine_name(writer)} SQL: {writer} =====")
            yield from self._session(writer)
            for _, lines in parts:
                yield from lines
        if self.seen.verdict.view != WRITE:
            yield from self._reading()

    def _head(self) -> Iterator[str]:
        verdict, target = self.seen.verdict, self.target
        yield _comment(self.variant.scenario.about)
        for finding in verdict.findings:
            yield _comment(f"seen: {FINDINGS[finding.kind].label}. {finding_text(finding)}")
        if self.seen.answer.refusal:
            yield _comment(f"seen: an error. {refusal_text(self.seen.answer.refusal)}")
        for strategy in verdict.reproduces:
            yield _comment(f"a reader with this strategy gives the same answer: {strategy}")
        if verdict.reproduces and verdict.inconclusive:
            yield _comment("but an answer this small proves nothing")
        yield "--"
        for writer in dict.fromkeys(self.variant.writers):
            yield from _components("writer", distributions.load(writer))
        if verdict.view != WRITE:
            yield from _components("reader", distributions.load(target.reader.distribution))
        yield _comment(
            f"Both find the table through one Hive metastore. {LOCATION} is an empty folder"
        )
        yield _comment("that both can reach; use another one if you like.")
        if verdict.view != WRITE and not target.through.usual:
            yield _comment(f"The reader was asked through {target.through}.")

    def _session(self, writer: str) -> Iterator[str]:
        distribution, settings = distributions.load(writer), self.writers.session(writer)
        if distribution.engine == SPARK:
            yield "-- started with:"
            for name, value in {**distribution.options("conf"), **CATALOG}.items():
                yield f"--   --conf {name}={value}"
            settings = {ZONE: COMMON[ZONE], **settings}
        yield from (f"set {name}={value};" for name, value in settings.items())
        if other_writers.makes(distribution, self.writers.shape.reader_facts):
            yield f"create database if not exists {DATABASE};"

    def _parts(self) -> Iterator[tuple[str, Iterable[str]]]:
        """Yield what each writer in turn is sent, as the records say what came of each step."""
        outcomes = self.writers
        while not outcomes.complete and len(outcomes.outcomes) in self.states:
            step = outcomes.next_step()
            outcomes = outcomes.then(self.states[step.step].outcome)
            if step.handover:
                writer = self.variant.writers[step.step - 1]
                text = f"before step {step.step}, which {self.variant.writers[step.step]} does"
                yield writer, ["", _comment(text), *self._by_hand(step.handover, writer)]
            if not step.skipped:
                yield from self._step(step)

    def _step(self, step: NextStep) -> Iterator[tuple[str, Iterable[str]]]:
        """Yield what each writer is sent in a step; the one that made the table may come first."""
        writer_of_step = self.variant.writers[step.step]
        head = ["", *self._step_head(step)]
        if not step.statements:
            yield writer_of_step, [*head, "-- nothing to do for this table type"]
        for by_maker, statements in groupby(
            step.statements,
            key=lambda statement: isinstance(statement, sent.Sql) and statement.by_maker,
        ):
            writer = self.variant.writers[0] if by_maker else writer_of_step
            yield writer, [*head, *self._by_hand(statements, writer)]
            head = ["", _comment(f"step {step.step}, which goes on")]

    def _step_head(self, step: NextStep) -> Iterator[str]:
        number, steps = step.step, self.variant.scenario.steps
        text = steps[number - 1].operation.text() if number else "create the table"
        yield _comment(f"step {number}: {text}")
        outcome = self.states[number].outcome
        engine = _engine_name(self.variant.writers[number])
        if outcome.refusal and (outcome.half_done or outcome.kind is OutcomeKind.REFUSED):
            happened = "committed it, then failed" if outcome.half_done else "refused it"
            yield _comment(f"  {engine} {happened}: {refusal_text(outcome.refusal)}")
        undone = self.records.history[number - 1].undone if number else frozenset[int]()
        for instant in (instant for text in step.texts for instant in sent.instants_in(text)):
            yield _comment(f"  {sent.instant_of(instant)} is in the table that you wrote.")
            yield from self._instant(instant, undone)

    def _by_hand(self, statements: Iterable[sent.Statement], writer: str) -> Iterator[str]:
        for statement in statements:
            match statement:
                case sent.Sql(text):
                    if sent.TRANSACTIONS in text:
                        locks = f"what `show locks {DATABASE}.{TABLE}` names."
                        yield _comment(f"  {sent.TRANSACTIONS}: {locks}")
                    yield f"{_filled(text)};"
                case sent.KilledSql():
                    # Sent by hand it would be committed, and the table be another one.
                    yield _comment(f"by a process of its own, {_filled(sent.recorded(statement))};")
                case sent.ClientCall():
                    call = sent.recorded(statement)
                    yield f"-- by Hudi's SparkRDDWriteClient of {LOCATION}: {call}"
                case sent.FrameWrite():
                    yield from _in_pyspark(statement, self.writers.session(writer))
                case sent.RegisterInStore():
                    yield f"-- {statement.record}"
                case sent.SetColumns(listed):
                    # The harness calls the metastore itself; this is how HiveQL says the same.
                    columns = ", ".join(f"{quoted(name)} {type_}" for name, type_ in listed)
                    change = f"replace columns ({columns}){' cascade' * statement.cascade}"
                    yield f"-- in Hive: alter table {DATABASE}.{TABLE} {change};"
                case _:
                    yield f"-- by a program, as no SQL says it: {sent.recorded(statement)}"

    def _reading(self) -> Iterator[str]:
        reader, seen = self.target.reader, self.seen
        distribution = distributions.load(reader.distribution)
        engine, settings = engines.load(distribution.engine), dict(reader.settings)
        yield from ("", f"-- ===== the query: {reader} =====")
        yield from engine.by_hand(distribution, settings, self.facts)
        view, step = seen.verdict.view, seen.verdict.step
        back, past = self.records.past(view, step), None
        if back:
            moment = ref_name(back.step) if back.name in NAMED else MOMENT
            past = PointInTime(back.name, moment, moment)
        if back and back.name not in NAMED:
            version = self.states[step].table_version
            moment = time_travel.in_words(distribution, self.facts, back.name, version, back.step)
            yield _comment(f"{MOMENT}: {moment}, in the table that you wrote.")
            yield from self._instant(back.step, self.records.history[step].undone)
        table = self.format.table_for(past_views.name_of(view))
        key = self.variant.scenario.table.key
        question = Question(DATABASE, table, self.facts, seen.answer.question, past, key)
        for statement in engine.statements(distribution, settings, question):
            yield f"{statement};"
        if seen.verdict.expected:
            yield from ("", "-- expected:", *_table(seen.verdict.expected))
        yield "-- seen:"
        if seen.answer.refusal:
            yield _comment(f"  {refusal_text(seen.answer.refusal, 1000)}")
        else:
            columns = tuple((column.name, column.type) for column in seen.answer.columns)
            yield from _table(Expected(columns, seen.answer.rows))

    def _instant(self, step: int, undone: Collection[int]) -> Iterator[str]:
        """Yield where a step's instant stands among all writes, those of no step included."""
        standing = (state for state in self.seen.states if state.outcome.step not in undone)
        until = [s for s in standing if s.outcome.step <= step and s.outcome.instant]
        number = len(until) + sum(len(state.others) for state in until[-1:])
        first, *more = map(_filled, self.facts.past.where)
        yield _comment(f"  The write of step {step} is number {number} {first}")
        yield from (_comment(f"  {text}") for text in more)


def _components(role: str, distribution: Distribution) -> Iterator[str]:
    engine, jars = distribution.engine, 0
    yield _comment(f"{role}: {engine} {distribution.version}, {distribution.fidelity}")
    for artifact in distribution.artifacts:
        jars += artifact.into == LIB
        if artifact.into != LIB:
            yield _comment(f"  {artifact.coordinates}")
    if jars:
        yield _comment(f"  and {counted(jars, 'jar')} that {engine} itself is made of")


def _engine_name(writer: str) -> str:
    return distributions.load(writer).engine.capitalize()


def _filled(text: str) -> str:
    return sent.filled(text, DATABASE, LOCATION)


def _in_pyspark(statement: sent.FrameWrite, settings: Mapping[str, str]) -> Iterator[str]:
    """Yield how a DataFrame is written: SQL cannot say it, and its writer reads no `set`."""
    yield "-- in PySpark:"
    yield f'--   frame = spark.sql("""{_filled(statement.query)}""")'
    yield f'--   writer = frame.write.format("{statement.format}").mode("append")'
    for name, value in {**settings, **dict(statement.options)}.items():
        yield f'--   writer = writer.option("{name}", "{_filled(value)}")'
    yield f'--   writer.save("{LOCATION}")'


def _table(table: Expected) -> Iterator[str]:
    heads = [f"{name} ({type_})" for name, type_ in table.columns]
    rows = [[printable(exact(value)) for value in row] for row in table.rows]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for line in (heads, *rows):
        texts = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        yield _comment(f"  {' | '.join(texts)}".rstrip())


def _comment(text: str) -> str:
    return f"-- {printable(text)}"
