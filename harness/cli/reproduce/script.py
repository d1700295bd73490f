"""A reproducer as a script of SQL statements that can be run by hand. Pure, but for lock data.

The statements are those that were sent, and the settings are those that the sessions were told.
What should be answered and what was seen stand in comments.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Final

from harness import engines, formats
from harness.artifacts import distributions
from harness.artifacts.distribution import Distribution
from harness.cli.reproduce.searches import Target
from harness.core.counting import counted
from harness.core.errors import printable
from harness.core.outcomes import half_done
from harness.core.records import Answer, Expected, OutcomeKind, StateRecord, Verdict
from harness.engines import time_travel
from harness.engines.api import METASTORE, PointInTime, Question
from harness.engines.spark.conf import COMMON
from harness.formats import other_writers
from harness.judge.recorded_variant import RecordedVariant
from harness.model import past_views
from harness.model.canonical import Value
from harness.model.commit import NAMED, ref_name
from harness.model.identifiers import TABLE
from harness.reports.findings import FINDINGS, finding_text
from harness.reports.sentences import refusal_text
from harness.reports.words import exact
from harness.run.load_run import WRITE
from harness.scenario.cells import Reader, Variant
from harness.scenario.operations.spark_sql import quoted
from harness.scenario.statements import (
    TRANSACTIONS,
    ClientCall,
    CommitSql,
    FrameWrite,
    IcebergCall,
    LockedSql,
    Mutation,
    RegisterInStore,
    SetColumns,
    Sql,
    Statement,
    TransactionSql,
    filled,
    instant_of,
    instants_in,
    recorded,
)
from harness.write.next_step import NextStep, VariantOutcomes
from harness.write.writer_pool import SPARK

DATABASE: Final = "reproducer"
LOCATION: Final = f"/tmp/reproducer/{TABLE}"  # noqa: S108 - whoever runs the script may name another one
CATALOG: Final = {
    "spark.sql.catalogImplementation": "hive",
    "spark.hadoop.hive.metastore.uris": METASTORE,
}
"""Spark's tables are those of the metastore."""
ZONE: Final = "spark.sql.session.timeZone"
MOMENT: Final = "MOMENT"
"""Stands for what the table of whoever runs the script has as the moment of a step."""
OWN: Final = "lib"
"""The role of an engine's own jars, dozens of them: whoever has the engine has these."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What an engine answered about a candidate, and all that was recorded on the way."""

    verdict: Verdict
    answer: Answer
    states: tuple[StateRecord, ...]


def script(variant: Variant, target: Target, seen: Observation) -> str:
    """Return the text of the script."""
    parts = [_head(variant, target, seen), _writing(variant, seen)]
    if seen.verdict.view != WRITE:
        parts.append(_reading(variant, target.reader, seen))
    return "\n".join(line for part in parts for line in part) + "\n"


def sent(variant: Variant, states: Sequence[StateRecord]) -> Iterator[NextStep]:
    """Yield what was sent to write a variant, as its records tell what came of each step."""
    recorded = {state.outcome.step: state.outcome for state in states}
    outcomes = VariantOutcomes(variant)
    while not outcomes.complete and len(outcomes.outcomes) in recorded:
        step = outcomes.next_step()
        yield step
        outcomes = outcomes.then(recorded[step.step])


def _head(variant: Variant, target: Target, seen: Observation) -> Iterator[str]:
    yield _comment(variant.scenario.about)
    for finding in seen.verdict.findings:
        word = FINDINGS[finding.kind]
        yield _comment(f"seen: {word.label}. {finding_text(finding)}")
    if seen.answer.refusal:
        yield _comment(f"seen: an error. {refusal_text(seen.answer.refusal)}")
    for way in seen.verdict.reproduces:
        yield _comment(f"a reader of this way gives the same answer: {way}")
    if seen.verdict.reproduces and seen.verdict.scant:
        yield _comment("but an answer this small proves nothing")
    yield "--"
    writers = tuple(dict.fromkeys(variant.writers))
    readers = () if seen.verdict.view == WRITE else (("reader", target.reader.distribution),)
    for what, name in (*(("writer", writer) for writer in writers), *readers):
        yield from _made_of(what, distributions.load(name))
    yield _comment(f"Both find the table through one Hive metastore. {LOCATION} is an empty folder")
    yield _comment("that both can reach; put another one in its place if you like.")
    if readers and not target.through.usual:
        yield _comment(f"The reader was asked through {target.through}.")


def _made_of(what: str, found: Distribution) -> Iterator[str]:
    yield _comment(f"{what}: {found.engine} {found.version}, {found.fidelity}")
    own = [artifact for artifact in found.artifacts if artifact.into == OWN]
    for artifact in found.artifacts:
        if artifact not in own:
            yield _comment(f"  {artifact.coordinates}")
    if own:
        yield _comment(f"  and {counted(len(own), 'jar')} that {found.engine} itself is made of")


def _writing(variant: Variant, seen: Observation) -> Iterator[str]:
    for writer, group in groupby(_written(variant, seen.states), key=itemgetter(0)):
        yield from ("", f"-- ===== in {_called(writer)} SQL: {writer} =====")
        yield from _session(writer, VariantOutcomes(variant))
        for _, lines in group:
            yield from lines


def _called(writer: str) -> str:
    return distributions.load(writer).engine.capitalize()


def _written(
    variant: Variant, states: Sequence[StateRecord]
) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield what each writer in turn is told."""
    for step in sent(variant, states):
        if step.handover:
            yield variant.writers[step.step - 1], _handover(variant, step)
        if not step.skipped:
            yield from _step(variant, step, states)


def _handover(variant: Variant, step: NextStep) -> Iterator[str]:
    text = f"before step {step.step}, which {variant.writers[step.step]} does"
    told = VariantOutcomes(variant).session(variant.writers[step.step - 1])
    yield from ("", _comment(text))
    for statement in step.handover:
        yield from _by_hand(statement, told)


def _session(writer: str, outcomes: VariantOutcomes) -> Iterator[str]:
    found, told = distributions.load(writer), dict(outcomes.session(writer))
    if found.engine == SPARK:
        conf = {**found.options("conf"), **CATALOG}
        yield "-- started with:"
        yield from (f"--   --conf {name}={value}" for name, value in conf.items())
        told = {ZONE: COMMON[ZONE], **told}
    yield from (f"set {name}={value};" for name, value in told.items())
    if other_writers.makes(found, outcomes.shape.reader_facts):
        yield f"create database if not exists {DATABASE};"


def _step(
    variant: Variant, step: NextStep, states: Sequence[StateRecord]
) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield what each writer is told in a step; the one that made the table may be told first."""
    own, outcomes = variant.writers[step.step], VariantOutcomes(variant)
    head = list(_head_of(variant, step, states))
    if not step.statements:
        yield own, [*head, "-- nothing to do for this table type"]
    for by_maker, group in groupby(step.statements, key=_by_maker):
        who = variant.writers[0] if by_maker else own
        told = outcomes.session(who)
        yield who, [*head, *(line for statement in group for line in _by_hand(statement, told))]
        head = ["", _comment(f"step {step.step}, which goes on")]


def _by_maker(statement: Statement) -> bool:
    return isinstance(statement, Sql) and statement.by_maker


def _head_of(variant: Variant, step: NextStep, states: Sequence[StateRecord]) -> Iterator[str]:
    number = step.step
    text = variant.scenario.steps[number - 1].operation.text() if number else "create the table"
    yield from ("", _comment(f"step {number}: {text}"))
    outcome = next(state.outcome for state in states if state.outcome.step == number)
    engine = _called(variant.writers[number])
    if outcome.kind is OutcomeKind.REFUSED and outcome.refusal:
        yield _comment(f"  {engine} refused it: {refusal_text(outcome.refusal)}")
    if half_done(outcome) and outcome.refusal:
        yield _comment(f"  {engine} committed it, then failed: {refusal_text(outcome.refusal)}")
    case = _case(variant, states)
    undone = case.history[number - 1].undone if number else frozenset[int]()
    for made in (number for text in step.texts for number in instants_in(text)):
        yield _comment(f"  {instant_of(made)} is in the table that you wrote.")
        yield from _place(case, made, undone)


def _in_pyspark(statement: FrameWrite, told: Mapping[str, str]) -> Iterator[str]:
    """Yield how a DataFrame is written: SQL cannot say it, and its writer reads no `set`."""
    yield "-- in PySpark:"
    yield f'--   frame = spark.sql("""{filled(statement.query, DATABASE, LOCATION)}""")'
    yield f'--   writer = frame.write.format("{statement.format}").mode("append")'
    for name, value in {**told, **dict(statement.options)}.items():
        yield f'--   writer = writer.option("{name}", "{filled(value, DATABASE, LOCATION)}")'
    yield f'--   writer.save("{LOCATION}")'


def _by_hand(statement: Statement, told: Mapping[str, str]) -> Iterator[str]:
    """Yield how a statement is sent; `told`: what the writer's session is told."""
    match statement:
        case Sql(text):
            if TRANSACTIONS in text:
                yield _comment(f"  {TRANSACTIONS}: what `show locks {DATABASE}.{TABLE}` names.")
            yield f"{filled(text, DATABASE, LOCATION)};"
        case LockedSql() | CommitSql() | TransactionSql():
            # Sent by hand it would be committed, and the table be another one.
            said = filled(recorded(statement), DATABASE, LOCATION)
            yield _comment(f"by a process of its own, {said};")
        case ClientCall():
            yield f"-- by Hudi's SparkRDDWriteClient of {LOCATION}: {recorded(statement)}"
        case IcebergCall() | Mutation():
            yield f"-- by a program, as no SQL says it: {recorded(statement)}"
        case FrameWrite():
            yield from _in_pyspark(statement, told)
        case RegisterInStore():
            yield f"-- {statement.record}"
        case SetColumns():
            yield _in_hive(statement)


def _in_hive(statement: SetColumns) -> str:
    columns = ", ".join(f"{quoted(name)} {type_}" for name, type_ in statement.columns)
    cascade = " cascade" if statement.cascade else ""
    # The harness tells the metastore itself; this is how HiveQL says the same.
    return f"-- in Hive: alter table {DATABASE}.{TABLE} replace columns ({columns}){cascade};"


def _reading(variant: Variant, reader: Reader, seen: Observation) -> Iterator[str]:
    found = distributions.load(reader.distribution)
    yield from ("", f"-- ===== the query: {reader} =====")
    facts = formats.facts(variant.format)
    yield from engines.load(found.engine).by_hand(found, dict(reader.settings), facts)
    yield from _query(variant, found, reader, seen)
    if seen.verdict.expected:
        yield from ("", "-- expected:", *_table(seen.verdict.expected))
    yield "-- seen:"
    if seen.answer.refusal:
        yield _comment(f"  {refusal_text(seen.answer.refusal, 1000)}")
        return
    columns = tuple((column.name, column.type) for column in seen.answer.columns)
    yield from _table(Expected(columns, seen.answer.rows))


def _query(
    variant: Variant, distribution: Distribution, reader: Reader, seen: Observation
) -> Iterator[str]:
    """Yield the query about the script's own database, and settings before it.

    Whoever runs the script writes another table: the moment of a view of the past is left open.
    """
    state = next(e for e in seen.states if e.outcome.step == seen.verdict.step)
    facts = formats.facts(variant.format)
    case = _case(variant, seen.states)
    back, past = case.past(seen.verdict.view, seen.verdict.step), None
    if back:
        moment = ref_name(back.step) if back.name in NAMED else MOMENT
        past = PointInTime(back.name, moment, moment)
    if back and back.name not in NAMED:
        step, undone = back.step, case.history[seen.verdict.step].undone
        told = time_travel.in_words(distribution, facts, back.name, state.table_version, step)
        yield _comment(f"{MOMENT}: {told}, in the table that you wrote.")
        yield from _place(case, step, undone)
    table = formats.load(variant.format).table_for(past_views.name_of(seen.verdict.view))
    key = variant.scenario.table.key
    question = Question(DATABASE, table, facts, seen.answer.question, past, key)
    engine = engines.load(distribution.engine)
    for statement in engine.statements(distribution, dict(reader.settings), question):
        yield f"{statement};"


def _case(variant: Variant, states: Sequence[StateRecord]) -> RecordedVariant:
    return RecordedVariant(variant, formats.load(variant.format).merge_on_read, states)


def _place(case: RecordedVariant, step: int, undone: Collection[int]) -> Iterator[str]:
    """Yield where the instant of a step is found."""
    where = formats.facts(case.variant.format).past.where
    first, *more = (filled(text, DATABASE, LOCATION) for text in where)
    number = _number(case.states, step, undone)
    yield _comment(f"  The write of step {step} is number {number} {first}")
    yield from (_comment(f"  {text}") for text in more)


def _number(states: Sequence[StateRecord], step: int, undone: Collection[int]) -> int:
    """Return which of the table's writes a step's own is, from 1, in the order of completion.

    Those of no step count as well: an upgrade's compaction, or what a refused step left behind.
    """
    standing = (state for state in states if state.outcome.step not in undone)
    until = [
        record for record in standing if record.outcome.step <= step and record.outcome.instant
    ]
    return len(until) + sum(len(record.others) for record in until[-1:])


def _table(table: Expected) -> Iterator[str]:
    heads = [f"{name} ({type_})" for name, type_ in table.columns]
    rows = [[_value(cellular) for cellular in row] for row in table.rows]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for line in (heads, *rows):
        cells = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        yield _comment(f"  {' | '.join(cells)}".rstrip())


def _value(value: Value) -> str:
    return printable(exact(value))


def _comment(text: str) -> str:
    return f"-- {printable(text)}"
