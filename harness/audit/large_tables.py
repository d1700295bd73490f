"""Tables with too many rows to fetch: compared by fingerprints that each reader makes itself.

Where the sums differ, rows are divided into groups by the first digits of a hash until so few are
left that they are fetched and compared as those of a small table are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from hashlib import sha256
from itertools import chain, starmap
from typing import Final

from harness.audit import file_rows, read_strategies
from harness.audit.arrow_answers import HashedAnswers
from harness.audit.columns_in_common import ComparedColumns, in_common
from harness.audit.comparison import TableDifferenceKind, row_text
from harness.audit.fingerprints import ExpectedFingerprints, Groups, PlanFingerprints
from harness.audit.limits import AuditLimits
from harness.audit.projection import full_type
from harness.audit.records import AuditedAnswer, ShownDifference
from harness.audit.table_rows import TableRows
from harness.core import refusals
from harness.core.records import VerdictKind
from harness.engines.api import Connection, Question, RefusedError, Reply
from harness.engines.arrow_values import canonical_type
from harness.engines.fingerprint_sql import FingerprintWords
from harness.engines.format_facts import FormatFacts
from harness.formats.api import FileFactError
from harness.formats.read_plan import ReadPlan
from harness.model.canonical import text_of
from harness.model.fingerprint import Fingerprint, Sums
from harness.model.identifiers import TABLE
from harness.model.query import ALL, Query

DIGITS: Final = 3
"""All rows are summed in 4,096 groups, and so is a group that is divided."""
MANY_ROWS: Final = 500_000
"""So many are summed in 65,536 groups: then those of some dozen are few enough to be fetched."""
MOST_DIGITS: Final = 12
"""Then rows whose hashes are the same are the same rows."""
FEW_GROUPS: Final = 128
"""If no more groups differ, all of them are divided further, until their rows can be fetched."""
MOST_GROUPS: Final = 16
"""Of others so many are."""
MOST_FILES: Final = 8
"""Of so many a row is read again in other ways."""

Judge = Callable[[TableRows, Query, Reply], AuditedAnswer]
"""Returns the verdict on an answer of some rows, by these as they should be."""


@dataclass(slots=True)
class RowSums:
    """The sums of a table's rows in one way of reading, each made once."""

    made_by: ExpectedFingerprints
    queries: tuple[Query, ...]
    """Of these all come out of reading the files once."""
    made: dict[object, Sequence[Groups]] = field(default_factory=dict)

    def of(self, asked: Fingerprint, query: Query) -> Groups:
        alone = asked.of_parts or len(asked.by) > 1 or bool(asked.within)
        queries = (query,) if alone else self.queries
        paths = tuple(part.path for part in asked.parts)
        key = replace(asked, parts=()), paths, query if alone else None
        if key not in self.made:
            self.made[key] = self.made_by.sums(asked, queries)
        return self.made[key][queries.index(query)]


@dataclass(frozen=True)  # no slots: what is derived is kept
class LargeTable:
    """A table whose rows are not in memory."""

    database: str
    """By which readers know it."""
    format: FormatFacts
    plan: ReadPlan
    size: int
    """The number of rows."""
    file_count: int
    queries: tuple[Query, ...]
    carry_out: Callable[[ReadPlan], ExpectedFingerprints] = PlanFingerprints
    """Also plans of other ways of reading."""
    name: str = TABLE
    key: str = ""
    """A column that tells apart the rows that were looked at; empty if there is none."""

    @property
    def columns(self) -> Sequence[tuple[str, str]]:
        return [
            (part.name, canonical_type(full_type(part, self.plan.arrow_type)))
            for part in self.plan.columns
        ]

    @cached_property
    def truth(self) -> ExpectedFingerprints:
        return self.carry_out(self.plan)

    @cached_property
    def sums(self) -> RowSums:
        return self._sums_by(self.truth)

    @cached_property
    def others(self) -> Mapping[str, ReadPlan]:
        """Other ways of reading, by their names."""
        return read_strategies.others(self.plan)

    @cached_property
    def sums_otherwise(self) -> Callable[[str], RowSums]:
        """Returns what another way of reading gives; raises FileFactError if nobody reads so."""
        return cache(lambda name: self._sums_by(self.carry_out(self.others[name])))

    def _sums_by(self, made_by: ExpectedFingerprints) -> RowSums:
        return RowSums(made_by, tuple(query for query in self.queries if not query.count))


@dataclass(frozen=True)  # no slots: what is derived is kept
class FingerprintReader:
    """A reader that is asked for fingerprints of a table; all raises as `Connection.ask` does."""

    table: LargeTable
    connection: Connection | HashedAnswers
    words: FingerprintWords
    judge: Judge
    limits: AuditLimits
    lower: bool
    """Whether the reader has all names of columns in lower case."""
    milliseconds: bool
    """Whether it may cut moments to milliseconds."""

    def answer(self, query: Query) -> AuditedAnswer:
        """Ask for the fingerprint of what a query takes, and where it differs for rows."""
        if query.count:
            return self._count(query)
        heads = self._heads  # what is refused here is the table
        try:
            return self._by_sums(query)
        except RefusedError as problem:
            if isinstance(self.connection, HashedAnswers):  # it was asked for the rows
                raise
            why = refusals.text(problem.refusal)
            because = f"it refuses to make sums of hashes: {why}"
            return replace(heads, verdict=VerdictKind.UNKNOWN, because=because)

    def _by_sums(self, query: Query) -> AuditedAnswer:
        reply = self._ask(query, self._asked)
        shown = _groups(reply, self._asked)
        right = any(shown == self.table.sums.of(form, query) for form in self._forms)
        result = self._heads if right else self._narrowed(query, shown)
        if right and result.verdict is VerdictKind.CORRECT and self._columns.left_out:
            because = f"all else is right; not compared: {', '.join(self._columns.left_out)}"
            result = replace(result, verdict=VerdictKind.UNKNOWN, because=because)
        elif not right:
            read_as = self._read_as(query, shown, result.read_as)
            result = replace(result, read_as=tuple(read_as))
        digest = result.digest and sha256(repr(shown).encode()).hexdigest()
        return replace(result, sql=reply.sent, seconds=reply.seconds, digest=digest)

    def _read_as(self, query: Query, shown: Groups, possible: Iterable[str]) -> Iterator[str]:
        """Yield the ways of reading that give these very sums, of those that may."""
        rows = sum(size for size, *_ in shown.values())
        for name in possible:
            with suppress(FileFactError):
                sums = self.table.sums_otherwise(name)
                if not query.conditions and sums.made_by.size not in {None, rows}:
                    continue
                if sums.of(self._forms[0], query) == shown:
                    yield name

    @cached_property
    def _first(self) -> Reply:
        """Some row, for the columns."""
        return self._ask(Query(limit=1), None)

    @cached_property
    def _columns(self) -> ComparedColumns:
        shown = [(column.name, column.canonical) for column in self._first.columns]
        return in_common(self.table.columns, shown, self.words, lower=self.lower)

    @cached_property
    def _heads(self) -> AuditedAnswer:
        """What is wrong in the columns."""
        return self.judge(TableRows(self.table.plan, ()), ALL, replace(self._first, rows=()))

    @property
    def _asked(self) -> Fingerprint:
        """Rows are in groups by their key: then rows of a group are found by one column's hash."""
        parts, digits = self._columns.parts, DIGITS + (self.table.size > MANY_ROWS)
        key = tuple(at for at, part in enumerate(parts) if part.path == (self.table.key,))
        return Fingerprint(parts, by=key, digits=digits, floats=self.words.floats)

    @property
    def _forms(self) -> Sequence[Fingerprint]:
        """Of which of the table's values an answer is right, the likelier one first."""
        cut = (replace(self._asked, milliseconds=True),) if self.milliseconds else ()
        return (*cut, self._asked)

    def _ask(self, query: Query, asked: Fingerprint | None) -> Reply:
        table = self.table
        question = Question(table.database, table.name, table.format, query, fingerprint=asked)
        return self.connection.ask(question, timeout_s=self.limits.timeout_s)

    def _count(self, query: Query) -> AuditedAnswer:
        reply = self._ask(query, None)
        made = AuditedAnswer("", query, reply.sent, VerdictKind.CORRECT, seconds=reply.seconds)
        if reply.rows == ((self.table.size,),):
            return made
        texts = f"{self.table.size}", ", ".join(map(text_of, chain(*reply.rows)))
        wrong = ShownDifference(TableDifferenceKind.VALUE, query.label, texts[1], *texts)
        places = ((wrong.kind, wrong.column, 1),)
        return replace(
            made,
            verdict=VerdictKind.WRONG,
            differences=(wrong,),
            total=1,
            places=places,
            digest=sha256(repr(texts).encode()).hexdigest(),
        )

    def _narrowed(self, query: Query, shown: Groups) -> AuditedAnswer:
        """Return what is wrong in some rows of the groups that differ.

        Where these are few, all of them are looked at. Else rows are grouped by the parts whose
        sums are right: so one is in a group with what is shown instead of it. By a key that is
        right they are so already.
        """
        form = self._forms[0]
        few = self._differing(query, form, shown)
        by_key = form.by and _sizes(shown) == _sizes(self.table.sums.of(form, query))
        many = len(few) > FEW_GROUPS and not by_key and (same := self._right_parts(query))
        return (
            (self._regrouped(query, replace(form, by=same)) if many else None)
            or self._divided(query, form, few)
            or (self._regrouped(query, replace(form, by=())) if form.by else None)
            or self._unknown("its sums differ, and too many rows are equal to be fetched")
        )

    def _regrouped(self, query: Query, asked: Fingerprint) -> AuditedAnswer | None:
        shown = _groups(self._ask(query, asked), asked)
        return self._divided(query, asked, self._differing(query, asked, shown))

    def _right_parts(self, query: Query) -> tuple[int, ...]:
        """Return the numbers of the parts whose sums are right; none where rows are too many."""
        form, asked = (
            replace(of, of_parts=True, by=(), digits=0) for of in (self._forms[0], self._asked)
        )
        right, shown = self.table.sums.of(form, query), _groups(self._ask(query, asked), asked)
        return _same_parts(right.get("", ()), shown.get("", ()))

    def _differing(self, query: Query, asked: Fingerprint, groups: Groups) -> Mapping[str, int]:
        """Return the sizes of the groups whose sums are not right."""
        right = self.table.sums.of(asked, query)
        return {
            first: max(_size(right, first), _size(groups, first))
            for first in {**right, **groups}
            if right.get(first) != groups.get(first)
        }

    def _divided(
        self, query: Query, asked: Fingerprint, sizes: Mapping[str, int]
    ) -> AuditedAnswer | None:
        """Return what is wrong in groups that differ; None where they have too many equal rows."""
        total, largest, whole = len(sizes), self.table.size, True
        while sizes:
            chosen = _smallest(sizes, self.limits.fetched)
            few = len(sizes) <= FEW_GROUPS
            last = asked.digits >= MOST_DIGITS or max(sizes.values()) >= largest
            if len(chosen) == len(sizes) or (chosen and (last or not few)):
                in_part = not whole or len(chosen) < len(sizes)
                return replace(self._compared(query, asked, chosen, total), in_part=in_part)
            if last:
                return None
            largest, whole = max(sizes.values()), whole and few
            within = tuple(sorted(sizes))[: FEW_GROUPS if few else MOST_GROUPS]
            asked = replace(asked, within=within, digits=asked.digits + DIGITS)
            sizes = self._differing(query, asked, _groups(self._ask(query, asked), asked))
        return self._unknown("it showed something else when it was asked again")

    def _compared(
        self, query: Query, summed: Fingerprint, chosen: tuple[str, ...], total: int
    ) -> AuditedAnswer:
        """Compare the rows of some groups; `total`: how many differ at least."""
        sums, asked = self.table.sums.of(summed, query), replace(summed, within=chosen, rows=True)
        there = {first: sums[first] for first in chosen if first in sums}
        reply, right = self._ask(query, asked), self.table.truth.rows(asked, query, there)
        result = self.judge(right, ALL, reply)
        if result.verdict is VerdictKind.CORRECT:
            return self._unknown("its sums differ, and the rows that it shows do not")
        result = replace(result, read_as=tuple(self._possible(right, result)))
        if (shown := len(asked.within)) < total and not result.because:
            because = f"of at least {total:,} groups of rows that differ {shown:,} are shown"
            return replace(result, because=because)
        return result

    def _possible(self, right: TableRows, answer: AuditedAnswer) -> Iterator[str]:
        """Yield the other ways of reading but those that give a row which the answer has not.

        Such rows are read again, some in files of their own: to sum a whole table takes minutes.
        """
        lost = dict[str, int]()
        for one in answer.differences:
            if one.position is not None:
                lost.setdefault(one.file, one.position)
        every = list(_rows_by_place(right))
        times = Counter(text for _, _, text in every)
        rows = [
            (path, at, text)
            for path, at, text in every
            if lost.get(path) == at and times[text] == 1  # of two equal ones either may be lost
        ]
        for name, plan in self.table.others.items():
            if not any(starmap(partial(_has, plan), rows[:MOST_FILES])):
                yield name

    def _unknown(self, because: str) -> AuditedAnswer:
        heads, ways = self._heads, tuple(self.table.others)
        return replace(heads, verdict=VerdictKind.UNKNOWN, because=because, read_as=ways)


def _rows_by_place(table: TableRows) -> Iterator[tuple[str, int, str]]:
    """Yield the path of each row's file, its position there, and its text."""
    for of in table.files:
        for at, row in zip(of.positions, TableRows(table.plan, (of,)).rows, strict=True):
            yield of.file.path, at, row_text(row)


def _has(plan: ReadPlan, path: str, at: int, text: str) -> bool:
    """Return whether a plan surely gives this row in this place."""
    files = [of for of in plan.files if of.path == path]
    with suppress(FileFactError):
        for file in files if len(files) == 1 else ():
            there = file_rows.read(plan, replace(file, only=(at,)))[0]
            return (path, at, text) in _rows_by_place(TableRows(plan, (there,)))
    return False


def _same_parts(expected: Sums, shown: Sums) -> tuple[int, ...]:
    """Return the numbers of the parts whose sums are the same; none where rows are too many."""
    if expected[:1] != shown[:1]:
        return ()
    pairs = list(zip(expected[2:], shown[2:], strict=False))
    same = tuple(at for at, (one, other) in enumerate(pairs) if one == other)
    return same if len(same) < len(pairs) else ()


def _sizes(groups: Groups) -> Mapping[str, int]:
    return {first: size for first, (size, *_) in groups.items()}


def _size(groups: Groups, first: str) -> int:
    return groups[first][0] if first in groups else 0


def _smallest(sizes: Mapping[str, int], most: int) -> tuple[str, ...]:
    """Return the groups that together have no more rows than are fetched, the smallest first."""
    chosen = list[str]()
    for first in sorted(sizes, key=lambda name: (sizes[name], name)):
        most -= sizes[first]
        if most < 0:
            break
        chosen.append(first)
    return tuple(chosen)


def _groups(reply: Reply, asked: Fingerprint) -> Groups:
    """Return the sums of a reply; a sum of no values is NULL."""
    rows = [(*row,) if asked.digits else ("", *row) for row in reply.rows]
    return {first: tuple(int(value or 0) for value in sums) for first, *sums in rows if sums[0]}
