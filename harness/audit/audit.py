"""Hold what a reader shows of a table against the rows that the table's own files give."""

from __future__ import annotations

import datetime
import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from itertools import chain
from queue import SimpleQueue
from typing import Final

from harness import engines
from harness.artifacts import distributions
from harness.artifacts.distribution import Distribution
from harness.audit import arrow_answers, comparison, read_strategies, table_rows
from harness.audit.arrow_answers import HashedAnswers
from harness.audit.catalog_entry import catalog_entry
from harness.audit.columns_in_common import in_common
from harness.audit.comparison import Row, TableDifference, TableDifferenceKind
from harness.audit.file_rows import FileTable
from harness.audit.fingerprints import ExpectedFingerprints, PlanFingerprints
from harness.audit.large_tables import FingerprintReader, LargeTable
from harness.audit.limits import NO_LIMITS, AuditLimits
from harness.audit.plan_files import check_there, identity, wrong_sizes
from harness.audit.projection import full_type
from harness.audit.readers import AuditReaders, Entries, Servers
from harness.audit.records import AuditedAnswer, AuditedTable, ShownDifference
from harness.audit.spark_fingerprints import SparkFingerprints
from harness.audit.spark_reader import SparkReader
from harness.audit.table_rows import TableRows
from harness.audit.tables import PinnedTable
from harness.core import refusals, tolerances
from harness.core.errors import DEFECT, HarnessError
from harness.core.progress import Progress
from harness.core.records import VerdictKind, labelled
from harness.core.tolerances import LOWER, MILLISECONDS
from harness.engines.api import (
    Connection,
    Engine,
    NoAnswerError,
    Question,
    RefusedError,
    Reply,
    Server,
)
from harness.engines.arrow_values import canonical_type
from harness.engines.fingerprint_sql import FingerprintWords
from harness.engines.format_facts import FormatFacts
from harness.engines.python_library import LibraryConnection, PythonLibrary
from harness.formats.api import FileFactError
from harness.formats.files import arrow_file
from harness.formats.files.table_folder import UnreadableError
from harness.formats.read_plan import ReadPlan
from harness.judge.understand import milliseconds
from harness.model.canonical import Value, map_leaves, text_of
from harness.model.fingerprint import Fingerprint
from harness.model.identifiers import TABLE
from harness.model.query import ALL, Comparison, Condition, Query, literal_text
from harness.model.simulation.value_conversions import finer
from harness.runtime.metastore_objects import CatalogEntry
from harness.scenario.cells import Reader
from harness.usage.usage_file import UsedTable

LOG: Final = logging.getLogger(__name__)
MOST_SHOWN: Final = 50
"""So many differences of an answer are kept, with the number of all."""
MOST_COLUMNS: Final = 12
"""Of so many columns conditions are asked."""
SOME: Final = 100
"""Of so many rows of a large table the values of conditions are taken."""
SMALL: Final = 1 << 20
AT_ONCE: Final = 2
"""Of tables of so many bytes so many are looked at at once: one is judged while one is asked."""
MANY: Final = 100
"""Of so many, each of those at once has a process of a library of its own."""
NO_NAME: Final = "it has no name in a catalog; name the metastore or REST catalog that has it"
ENOUGH: Final = 2
"""Questions that a reader refuses first, all for one reason: then it refuses the table."""


@dataclass(frozen=True)  # no slots: what is derived is kept
class TableTruth:
    """A table with the rows that its files give."""

    database: str
    """By which readers know it."""
    format: FormatFacts
    rows: TableRows
    name: str = TABLE

    @property
    def size(self) -> int:
        return len(self.rows.rows)

    @property
    def file_count(self) -> int:
        return len(self.rows.files)

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """What readers are asked: all, how many, and of each column what filters lose."""
        return (ALL, Query(count=True), *self._conditions())

    @cached_property
    def read_otherwise(self) -> Sequence[tuple[str, TableRows]]:
        """The rows that other ways of reading the table give, by their names."""
        made = []
        for name, plan in read_strategies.others(self.rows.plan).items():
            with suppress(FileFactError):  # nobody reads it so
                made.append((name, table_rows.read(plan)))
        return made

    def _conditions(self) -> Iterator[Query]:
        plan = self.rows.plan
        for at, part in enumerate(plan.columns[:MOST_COLUMNS]):
            type_ = canonical_type(full_type(part, plan.arrow_type))
            if part.parts or not type_ or "." in part.name:  # paths are dotted
                continue
            yield Query(where=Condition(part.name, Comparison.NULL))
            there = [row[at] for row in self.rows.rows if is_asked(row[at])]
            # Bytes have no literal in common; libraries of Iceberg differ in those of moments.
            asked = type_ != "binary" and (self.format.family, type_) != ("iceberg", "timestamp")
            if there and asked:
                text = literal_text(there[-1])
                yield Query(where=Condition(part.name, Comparison.EQUAL, text, type_))

    def place(self, row: int | None) -> tuple[str, int | None]:
        """Return the file of a row, and its position there, from 0."""
        if row is not None:
            for file in self.rows.files:
                if row < len(file.positions):
                    return file.file.path, file.positions[row]
                row -= len(file.positions)
        return "", None


class PartOfTable(TableTruth):
    """Some rows of a table, which say nothing of how it was read."""

    read_otherwise = ()


def ask(
    table: TableTruth | LargeTable,
    reader: Reader,
    engine: Engine,
    server: Server,
    limits: AuditLimits = NO_LIMITS,
    in_catalog: str = "",
) -> Iterator[AuditedAnswer]:
    """Yield what a reader shows of a table, question by question.

    `in_catalog`: how servers that run already know it, `database.table`; empty where they do not.
    """
    settings, distribution = dict(reader.settings), distributions.load(reader.distribution)
    table = _known_there(table, in_catalog, distribution)
    if why := _cannot(engine, distribution, reader, table):
        yield AuditedAnswer(str(reader), ALL, "", VerdictKind.UNSUPPORTED, why)
        return
    declared = tolerances.declared_for_format(str(reader), table.format.name)
    judge = partial(AnswerJudge, lower=LOWER in declared, milliseconds=MILLISECONDS in declared)
    try:
        connection = server.connect(settings)
    except NoAnswerError as lost:
        yield AuditedAnswer(str(reader), ALL, "", VerdictKind.UNKNOWN, str(lost))
        return
    with closing(connection):
        words = engine.fingerprint_words(settings)
        asker = _asker(table, words, connection, judge, limits)
        yield from _answers(table.queries, str(reader), asker, limits)


def _answers(
    queries: Sequence[Query],
    reader: str,
    ask_: Callable[[Query], AuditedAnswer],
    limits: AuditLimits,
) -> Iterator[AuditedAnswer]:
    refused, began = list[str](), time.monotonic()
    for query in queries:
        made = AuditedAnswer(reader, query, "", VerdictKind.UNKNOWN)
        if limits.seconds is not None and time.monotonic() - began > limits.seconds:
            yield replace(made, because=f"the {limits.seconds:g} s for a table are over")
            return
        try:
            answer = ask_(query)
        except RefusedError as problem:
            refused.append(refusals.text(problem.refusal))
            yield replace(made, verdict=VerdictKind.REFUSED, because=refused[-1])
            if len(refused) == ENOUGH and len(set(refused)) == 1:
                return  # it is the table that is refused, whatever is asked
        except NoAnswerError as lost:
            yield replace(made, because=str(lost))
            return
        except HarnessError:
            raise
        except Exception as problem:
            LOG.exception("%s: an answer cannot be judged", reader)
            yield replace(made, because=f"{DEFECT} ({problem!r})")
        else:
            yield replace(answer, reader=reader, query=query)


def _known_there(
    table: TableTruth | LargeTable, in_catalog: str, distribution: Distribution
) -> TableTruth | LargeTable:
    """Return a table as a server knows it: one that runs already by its name in the catalog."""
    database, _, name = in_catalog.rpartition(".")
    return replace(table, database=database, name=name) if distribution.endpoint else table


def _asker(
    table: TableTruth | LargeTable,
    words: FingerprintWords | None,
    connection: Connection,
    judge: partial[AnswerJudge],
    limits: AuditLimits,
) -> Callable[[Query], AuditedAnswer]:
    """Return what asks a question, and judges the answer."""

    def whole(query: Query) -> AuditedAnswer:
        question = Question(table.database, table.name, table.format, query)
        return judged.judge(query, connection.ask(question, timeout_s=limits.timeout_s))

    def some(rows: TableRows, query: Query, reply: Reply) -> AuditedAnswer:
        return judge(PartOfTable(table.database, table.format, rows)).judge(query, reply)

    if isinstance(table, TableTruth):
        judged = judge(table)
        return whole
    asked: Connection | HashedAnswers = connection
    if words is None and isinstance(connection, LibraryConnection):
        asked, words = HashedAnswers(connection), arrow_answers.WORDS
    if words is None:
        return lambda _: AuditedAnswer("", ALL, "", VerdictKind.UNKNOWN, _no_sums(limits))
    reader = FingerprintReader(table, asked, words, some, limits, **judge.keywords)
    return reader.answer


def _no_sums(limits: AuditLimits) -> str:
    return f"it has more than {limits.fetched:,} rows, and cannot be asked for fingerprints"


def among_readers(answers: Sequence[AuditedAnswer]) -> list[AuditedAnswer]:
    """Say where readers differ, of a table whose rows the rules leave open; none is to blame."""
    groups = dict[Query, dict[str, list[str]]]()
    for answer in filter(_is_of_rows, answers):
        groups.setdefault(answer.query, {}).setdefault(answer.digest, []).append(answer.reader)
    made = list[AuditedAnswer]()
    for answer in answers:
        readers = [" and ".join(equal) for equal in groups.get(answer.query, {}).values()]
        if len(readers) > 1 and _is_of_rows(answer):
            why = f"the readers differ: {', '.join(readers)} each show something else"
            because = f"{answer.because}; {why}" if answer.because else why
            made.append(replace(answer, verdict=VerdictKind.UNKNOWN, because=because))
        else:
            made.append(answer)
    return made


def _is_of_rows(answer: AuditedAnswer) -> bool:
    """Return whether a reader showed something; those of one digest, none too, show the same."""
    return answer.verdict is VerdictKind.CORRECT or answer.total > 0


def is_asked(value: Value) -> bool:
    """Return whether a value stands in a condition; NULL and NaN are equal to nothing."""
    return value is not None and not (isinstance(value, float) and not math.isfinite(value))


@dataclass(frozen=True, slots=True)
class AnswerJudge:
    """Answers of one reader about one table."""

    table: TableTruth
    lower: bool
    """Whether the reader has all names of columns in lower case."""
    milliseconds: bool
    """Whether it shows moments by milliseconds."""

    def judge(self, query: Query, reply: Reply) -> AuditedAnswer:
        """Return the verdict on an answer; what it is wrong in, and how the table was read.

        Who asked what is left to who calls.
        """
        columns = labelled(query, reply.columns)
        names = tuple(column.name for column in columns)
        answered = AuditedAnswer("", query, reply.sent, VerdictKind.CORRECT, seconds=reply.seconds)
        wrong = self._differences(self.table.rows, query, names, reply.rows)
        if not wrong:
            return answered
        undecided = "; ".join(self.table.rows.plan.undecided)
        texts = (comparison.row_text((*_place(one), one.row, one.actual)) for one in wrong)
        return replace(
            answered,
            verdict=VerdictKind.UNKNOWN if undecided else VerdictKind.WRONG,
            because=f"it differs, and the format's rules leave open: {undecided}" * bool(undecided),
            differences=tuple(map(self._shown, wrong[:MOST_SHOWN])),
            total=len(wrong),
            places=tuple((*place, n) for place, n in Counter(map(_place, wrong)).items()),
            digest=sha256("\n".join(texts).encode()).hexdigest(),
            read_as=tuple(self._read_as(query, names, reply.rows)),
        )

    def _differences(
        self, rows: TableRows, query: Query, names: Sequence[str], shown: Sequence[Row]
    ) -> tuple[TableDifference, ...]:
        columns = tuple(part.name for part in rows.plan.columns)
        whole = not query.label
        taken = list(range(len(rows.rows)))
        for condition in query.conditions:  # of whole columns, see `TableTruth.queries`
            column = columns.index(condition.path)
            taken = [at for at in taken if condition.holds(rows.rows[at][column])]
        expected = [rows.rows[at] for at in taken] if whole else [(len(taken),)]
        labels = columns if whole else (query.label,)
        if self.lower:
            labels = tuple(name.lower() for name in labels)
        if self.milliseconds and not any(finer(value) for row in shown for value in row):
            expected = [tuple(map(_by_milliseconds, row)) for row in expected]
        wrong = comparison.differences(labels, expected, names, shown)
        if not whole and wrong and len(names) == len(shown) == 1:
            ((number,),) = shown
            return (TableDifference(TableDifferenceKind.VALUE, names[0], None, len(taken), number),)
        return tuple(
            one if one.row is None else replace(one, row=taken[one.row] if whole else None)
            for one in wrong
        )

    def _read_as(self, query: Query, names: Sequence[str], shown: Sequence[Row]) -> Iterator[str]:
        """Yield the ways of reading the table that give this very answer."""
        for name, rows in self.table.read_otherwise:
            if not self._differences(rows, query, names, shown):
                yield name

    def _shown(self, wrong: TableDifference) -> ShownDifference:
        file, position = self.table.place(wrong.row)
        whole = wrong.kind in {TableDifferenceKind.LOST_ROW, TableDifferenceKind.EXTRA_ROW}
        row: Value = wrong.actual if whole else None  # a number of rows is none of the table's
        if wrong.row is not None:
            row = self.table.rows.rows[wrong.row]
        return ShownDifference(
            wrong.kind,
            wrong.column,
            text_of(row) if row is not None else "",
            "" if whole else text_of(wrong.expected),
            "" if whole else text_of(wrong.actual),
            file,
            position,
        )


def _place(wrong: TableDifference) -> tuple[TableDifferenceKind, str]:
    return wrong.kind, wrong.column


def _by_milliseconds(value: Value) -> Value:
    return map_leaves(value, lambda v: milliseconds(v) if isinstance(v, datetime.datetime) else v)


_Audited = dict[str, AuditedTable]


def audit(
    tables: Sequence[PinnedTable | UsedTable],
    readers: Sequence[Reader],
    start: Callable[[Entries, ExitStack], AuditReaders],
    progress: Progress,
    limits: AuditLimits = NO_LIMITS,
    audited: Callable[[PinnedTable, str], AuditedTable | None] = lambda *_: None,
) -> Iterator[AuditedTable]:
    """Yield what readers show of tables; raises EnvironmentProblem where one does not start.

    `audited` returns what came of a table of that identity before; it is not asked about again.
    """
    named = {f"audit_{at}": table for at, table in enumerate(tables, 1)}
    plans, entries, before = dict[str, _Planned](), dict[str, CatalogEntry](), _Audited()
    for database, table in named.items():
        try:
            planned, entry = _pin(table)
            if known := audited(planned.table, planned.identity):
                before[database] = known
            else:
                plans[database], entries[database] = planned, entry
        except NotAuditedError as problem:
            before[database] = _unread(table, str(problem))
    with ExitStack() as stack:
        on = start(entries, stack)
        servers = [(reader, *on.serve(reader.distribution)) for reader in readers if entries]
        count = stack.enter_context(progress.count("audit tables", len(named)))
        yield from before.values()
        count.advance(len(before))
        # A large table holds up none but larger ones.
        waiting = sorted(plans, key=lambda database: plans[database].bytes)
        small = [database for database in waiting if plans[database].bytes <= SMALL]
        free = SimpleQueue[Servers]()
        for number in range(AT_ONCE):
            free.put(on.beside(servers) if number and len(small) >= MANY else servers)
        look = partial(_audited, plans, on.reader if plans else None, free, limits)
        pool = ThreadPoolExecutor(AT_ONCE)
        stack.callback(pool.shutdown, wait=False, cancel_futures=True)
        for done in chain(pool.map(look, small), map(look, waiting[len(small) :])):
            yield done
            count.advance()


def statements(
    tables: Sequence[PinnedTable | UsedTable], readers: Sequence[Reader], limits: AuditLimits
) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield each table's name, each reader, and what it would be sent first; nothing is sent.

    The table is read for it. Instead of statements there may be why there are none.
    """
    for number, table in enumerate(tables, 1):
        try:
            planned, _ = _pin(table)
            with _named_problem():
                truth, _ = _truth(f"audit_{number}", planned, limits, None)
        except NotAuditedError as problem:
            yield _unread(table, "").name, "", (str(problem),)
            continue
        for reader in readers:
            distribution = distributions.load(reader.distribution)
            engine = engines.load(distribution.engine)
            there = _known_there(truth, planned.table.in_catalog, distribution)
            if why := _cannot(engine, distribution, reader, there):
                yield planned.table.table.name, str(reader), (why,)
                continue
            words = engine.fingerprint_words(dict(reader.settings))
            has_sums = words or isinstance(engine, PythonLibrary)
            if isinstance(there, LargeTable) and not has_sums:
                yield planned.table.table.name, str(reader), (_no_sums(limits),)
                continue
            sent = (
                engine.statements(distribution, dict(reader.settings), question)
                for question in _first_questions(there, words)
            )
            yield planned.table.table.name, str(reader), tuple(chain.from_iterable(sent))


def _first_questions(
    table: TableTruth | LargeTable, words: FingerprintWords | None
) -> Iterator[Question]:
    queries, asked = table.queries, None
    if isinstance(table, LargeTable):
        queries = (Query(limit=1), *queries)
        if words:  # else a library is asked for the rows themselves, see `HashedAnswers`
            parts = in_common(table.columns, table.columns, words, lower=False).parts
            asked = Fingerprint(parts)
    for query in queries:
        summed = None if query.count or query.limit else asked
        yield Question(table.database, table.name, table.format, query, fingerprint=summed)


def _cannot(
    engine: Engine, distribution: Distribution, reader: Reader, table: TableTruth | LargeTable
) -> str:
    why = engine.cannot(distribution, dict(reader.settings), table.format)
    return why or NO_NAME * (not table.name)


class NotAuditedError(Exception):
    """Nothing is known of a table; says why."""


@dataclass(frozen=True)  # no slots: what is derived is kept
class _Planned:
    table: PinnedTable
    plan: ReadPlan

    @cached_property
    def identity(self) -> str:
        return identity(self.plan)

    @cached_property
    def bytes(self) -> int:
        """Of its files, as far as these are there."""
        sizes = {file.location: file.size for file in self.plan.every_file}
        for location, size in sizes.items():
            if size is None:
                with suppress(FileFactError):  # whoever reads it meets the same
                    sizes[location] = arrow_file.size(location)
        return sum(filter(None, sizes.values()))


def _pin(table: PinnedTable | UsedTable) -> tuple[_Planned, CatalogEntry]:
    """Plan the version that is read now, and that readers are asked for."""
    if isinstance(table, UsedTable):
        raise NotAuditedError(table.unread)
    with _named_problem():
        planned = _Planned(table, table.plan())
        return planned, catalog_entry(table, planned.plan)


@contextmanager
def _named_problem(when: str = "") -> Iterator[None]:
    try:
        yield
    except (FileFactError, UnreadableError, ValueError, HarnessError) as problem:
        raise NotAuditedError(f"{when}{problem}") from problem
    except Exception as problem:
        LOG.exception("a table cannot be understood")
        why = f"its records cannot be understood, or the harness has a defect: {problem!r}"
        raise NotAuditedError(f"{when}{why}") from problem


def _unread(table: PinnedTable | UsedTable, why: str) -> AuditedTable:
    if isinstance(table, UsedTable):
        return AuditedTable(table.name, table.format, "", problem=why)
    return AuditedTable(table.table.name, table.table.format, table.table.location, problem=why)


def _truth(
    database: str, planned: _Planned, limits: AuditLimits, reader: SparkReader | None
) -> tuple[TableTruth | LargeTable, tuple[str, ...]]:
    """Read a table, whose rows are let go where they are too many; return notes about it too."""
    table, plan = planned.table, planned.plan
    if limits.size is not None and planned.bytes > limits.size:
        most = f"{limits.size:,} are the most"
        raise ValueError(f"its files have {planned.bytes:,} bytes, and {most}")
    notes = wrong_sizes(plan)
    carry_out: Callable[[ReadPlan], ExpectedFingerprints] = PlanFingerprints
    if reader and (read := reader.carried_out(plan)):
        notes, size, count = (*notes, *read.notes), read.size, len(list(plan.every_file))
        rows = read.table_rows(f"true limit {SOME}" if size > limits.fetched else "true")
        carry_out = partial(SparkFingerprints.of, read)
    else:
        size, count, files = 0, 0, list[FileTable]()
        for file in table_rows.files(plan):
            size, count = size + file.rows.num_rows, count + 1
            files = [*files, file] if size <= limits.fetched else [_begin((*files, file)[0])]
        rows = TableRows(plan, tuple(files))
    truth = TableTruth(database, table.facts, rows)
    if size <= limits.fetched:
        return truth, notes
    large = LargeTable(database, table.facts, plan, size, count, truth.queries, carry_out)
    key = comparison.key_column(rows.rows)
    return replace(large, key="" if key is None else plan.columns[key].name), notes


def _begin(file: FileTable) -> FileTable:
    """Return the first rows of a file."""
    return replace(file, rows=file.rows.slice(0, SOME), positions=file.positions[:SOME])


def _audited(
    plans: Mapping[str, _Planned],
    reader: SparkReader | None,
    free: SimpleQueue[Servers],
    limits: AuditLimits,
    database: str,
) -> AuditedTable:
    servers = free.get()
    try:
        return _answered(plans[database], reader, servers, limits, database)
    finally:
        free.put(servers)


def _answered(
    planned: _Planned,
    reader: SparkReader | None,
    servers: Servers,
    limits: AuditLimits,
    database: str,
) -> AuditedTable:
    table, plan = planned.table, planned.plan
    try:
        with _named_problem():
            truth, notes = _truth(database, planned, limits, reader)
        answers = [answer for on in servers for answer in ask(truth, *on, limits, table.in_catalog)]
        answers = among_readers(answers) if plan.undecided else answers
        with _named_problem("it changed while readers were asked: "):
            now = table.plan()
            went_on = identity(now) != planned.identity
            if any(answer.verdict is not VerdictKind.CORRECT for answer in answers):
                check_there(plan)
    except (NotAuditedError, FileFactError) as problem:
        return _unread(table, str(problem))
    except Exception as problem:
        if isinstance(problem, HarnessError):
            raise
        LOG.exception("%s cannot be audited", table.table.name)
        return _unread(table, f"{DEFECT} ({problem!r})")
    if went_on:
        went = f" from {plan.version} to {now.version}" if plan.version != now.version else ""
        why = f"the table went on{went} while readers were asked"
        answers = [replace(a, verdict=VerdictKind.UNKNOWN, because=why) for a in answers]
    return AuditedTable(
        table.table.name,
        table.table.format,
        table.table.location,
        plan.version,
        tuple((part.name, part.type) for part in plan.columns),
        truth.size,
        truth.file_count,
        plan.undecided,
        tuple(table.locations.moved),
        questions=truth.queries,
        notes=notes,
        identity=planned.identity,
        answers=tuple(answers),
    )
