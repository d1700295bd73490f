"""Fingerprints (`model.fingerprint`) of a table whose read plan Spark carries out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness.audit.fingerprints import Groups, PlanFingerprints, sums_of
from harness.audit.projection import full_type
from harness.audit.spark_plan import MARK
from harness.audit.spark_reader import UNKNOWN_TABLE, SparkFaultError, SparkTable
from harness.audit.table_rows import TableRows
from harness.engines.arrow_values import canonical_type
from harness.engines.fingerprint_sql import FingerprintSql
from harness.engines.query_sql import NAN_FUNCTION, predicate
from harness.engines.spark.engine import FINGERPRINTS, HALF, NUMBER
from harness.formats.read_plan import ReadPlan
from harness.model.datatypes import DataType, Struct, parse_type
from harness.model.fingerprint import Fingerprint, FloatText
from harness.model.query import Query

WORDS: Final = replace(
    FINGERPRINTS,
    texts={**FINGERPRINTS.texts, "decimal": "cast({0} as string)"},
    hash="md5(cast({0} as binary))",
)
"""By ANSI's rules, which make no bytes of a text unasked, and write decimals without exponents."""
_CUT: Final = "cast(1000 * unix_millis(cast({0} as timestamp)) as string)"


@dataclass(frozen=True, slots=True)
class SparkFingerprints:
    table: SparkTable

    @classmethod
    def of(cls, table: SparkTable, plan: ReadPlan) -> SparkFingerprints:
        """Return who makes the sums of a table's plan, or of another way of reading it."""
        its_own = plan is table.plan.plan
        return cls(table if its_own else table.reader.table(plan, is_truth=False))

    @property
    def size(self) -> int:
        return self.table.size

    def sums(self, asked: Fingerprint, queries: Sequence[Query]) -> Sequence[Groups]:
        """Return the sums, of all queries out of one reading of the files."""
        if _is_for_python(asked):
            return PlanFingerprints(self.table.plan.plan).sums(asked, queries)
        groups: list[dict[str, tuple[int, ...]]] = [{} for _ in queries]
        for number, first, rows, *sums in self.table.run(self.sums_sql(asked, queries)).rows:
            pairs = zip(sums[::2], sums[1::2], strict=True)
            groups[number][first] = rows, *(high * HALF + low for high, low in pairs)
        return groups

    def rows(self, asked: Fingerprint, query: Query, sums: Groups) -> TableRows:
        """Return rows as PyArrow reads them, in places that Spark finds by what it groups by."""
        if _is_for_python(asked):
            return PlanFingerprints(self.table.plan.plan).rows(asked, query, sums)
        sql = self._words(asked)
        group = sql.joined(map(sql.part, asked.grouped_by))
        where = " and ".join([*_conditions(query), *sql.chosen(group)]) or "true"
        rows = self.table.arrow_rows(where)
        if sums_of(rows.files, replace(asked, rows=False), (query,)) != [sums]:
            for file in self.table.table_rows(where).files:
                self.table.check_rows(file.file, file.positions, file)
            by = self.table.reader.name
            raise SparkFaultError(f"{by} sums rows otherwise than PyArrow: {UNKNOWN_TABLE}")
        return rows

    def sums_sql(self, asked: Fingerprint, queries: Sequence[Query]) -> str:
        sql, parts = self._words(asked), range(len(asked.parts))
        taken = ", ".join(
            f"if({' and '.join(_conditions(query)) or 'true'}, {number}, null)"
            for number, query in enumerate(queries)
        )
        texts = ", ".join(f"{sql.part(at)} as p{at}" for at in parts)
        row, group = (sql.joined(f"p{at}" for at in chosen) for chosen in (parts, asked.grouped_by))
        of_parts = [(sql.hash_of(at, f"p{at}"), f"n{at}") for at in parts if asked.of_parts]
        hashes = (("r", "r"), *of_parts)
        numbers = ", ".join(f"{NUMBER.format(hash_)} as {name}" for hash_, name in hashes)
        sums = ", ".join(
            f"coalesce(sum({n} div {HALF}), 0), coalesce(sum({n} % {HALF}), 0)"
            for n in ("r", *(name for _, name in of_parts))
        )
        chosen = "".join(f" where {test}" for test in sql.chosen("g"))
        return (
            f"select q, substr(g, 1, {asked.digits}), count(*), {sums} from ("
            f"select g, {numbers}, explode(array_compact(q)) as q from ("
            f"select *, {group} as g, {row} as r from ("
            f"select {texts}, array({taken}) as q from {self.table.view})){chosen}) group by 1, 2"
        )

    def _words(self, asked: Fingerprint) -> FingerprintSql:
        parts = tuple(
            replace(part, shown=part.path, other=False, type=self._type(part.path))
            for part in asked.parts
        )
        cut = {"timestamp": _CUT} if asked.milliseconds else {}
        words = replace(WORDS, texts={**WORDS.texts, **cut})
        return FingerprintSql(replace(asked, parts=parts), MARK, words)

    def _type(self, path: Sequence[str]) -> DataType:
        plan = self.table.plan.plan
        (top,) = (part for part in plan.columns if part.name == path[0])
        type_ = parse_type(canonical_type(full_type(top, plan.arrow_type)))
        for name in path[1:]:
            type_ = dict(type_.fields)[name] if isinstance(type_, Struct) else type_
        return Struct(()) if isinstance(type_, Struct) else type_


def _is_for_python(asked: Fingerprint) -> bool:
    """Return whether numbers are to be texts that Spark does not make."""
    numbers = any(word in str(part.type) for part in asked.parts for word in ("float", "double"))
    return numbers and asked.floats is not FloatText.BITS


def _conditions(query: Query) -> Sequence[str]:
    return [predicate(condition, MARK, NAN_FUNCTION) for condition in query.conditions]
