"""Verdicts planted for tests of the baselines; no engine ever gave them."""

import datetime
from collections.abc import Mapping

from harness.core.records import Finding, FindingKind, Verdict, VerdictKind, Witness
from harness.judge.baseline import Facts
from harness.model.datatypes import Primitive
from harness.model.schema import Table
from harness.scenario.cells import Cell, Variant
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.row_writes import Insert

TODAY = datetime.date(2031, 6, 1)
SPARK, HIVE, TRINO, OLD = "spark-3.5.8-hudi-1.0.2", "hive-3.1.3", "trino-476", "trino-368"
ENGINES = {
    SPARK: ("spark", "3.5.8"),
    HIVE: ("hive", "3.1.3"),
    TRINO: ("trino", "476"),
    OLD: ("trino", "368"),
}
TABLE = Table((("id", Primitive("string")), ("f1", Primitive("string"))), "id")
STORY = Scenario("mine/story", TABLE, (Step(Insert((1,))),) * 6)


def variant(form: str = "hudi-cow", *, rewrites: str = "some", twin: bool = False) -> Variant:
    settings = {"rewrites": rewrites}
    ending = ",twin" if twin else ""
    name = f"{STORY.name}[{form},rewrites={rewrites}{ending}]@{SPARK}"
    return Variant(name, STORY, form, settings, (SPARK,) * 7, twin)


def verdict(
    of_variant: Variant,
    step: int,
    reader: str,
    *kinds: tuple[FindingKind, str],
    view: str = "snapshot",
    kind: VerdictKind = VerdictKind.WRONG,
) -> Verdict:
    case = Cell(of_variant.id, step, reader, view, "all").case
    witness = Witness("1", "f1", "expected", "found")
    findings = tuple(
        Finding(k, (column,) if column else (), witness, (witness,)) for k, column in kinds
    )
    return Verdict(case, STORY.name, of_variant.id, step, reader, view, "all", kind, findings)


def correct(of_variant: Variant, step: int, reader: str, view: str = "snapshot") -> Verdict:
    return verdict(of_variant, step, reader, view=view, kind=VerdictKind.CORRECT)


def facts(
    *variants: Variant,
    refusals: Mapping[str, str] | None = None,
    applied: tuple[tuple[str, int], ...] = (),
) -> Facts:
    return Facts({variant.id: variant for variant in variants}, ENGINES, refusals or {}, applied)
