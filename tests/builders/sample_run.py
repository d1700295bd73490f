"""A run made by hand, for looking at reports: every verdict, every finding, hostile texts.

Nothing in it was ever answered by an engine.
"""

import datetime
import decimal
from dataclasses import dataclass, replace
from pathlib import Path

from harness.core import jsonl
from harness.core.records import (
    Answer,
    Attempt,
    Expected,
    FindingKind,
    Outcome,
    OutcomeKind,
    Part,
    Refusal,
    StateRecord,
    Verdict,
    VerdictKind,
)
from harness.model.file_facts import FileFact, FileKind
from harness.run import load_run
from harness.run.load_run import ReaderInfo, Run, RunInfo, StepInfo, VariantInfo
from harness.scenario.cells import Cell, Excluded
from tests.builders.spoilt_answers import Answered, spoil

HOSTILE = "</script><b>bold</b><img src=x onerror=alert(1)>\u2028\x1b[31m & 'quoted' \"too\""
SPARK, HIVE, TRINO = "spark-3.5.8-hudi-0.15.0", "hive-3.1.3", "trino-476"
READERS = (
    ReaderInfo(f"{SPARK}{{schema-on-read=on}}", SPARK, "stock", "loopback"),
    ReaderInfo(f"{SPARK}{{schema-on-read=off}}", SPARK, "stock", "loopback"),
    ReaderInfo(
        f"{HIVE}{{path=fetch}}", HIVE, "modified: one class patched for Java 17", "loopback"
    ),
    ReaderInfo(f"{HIVE}{{path=mapreduce}}", HIVE, "modified: one class patched for Java 17", ""),
    ReaderInfo(TRINO, TRINO, "stock", "loopback"),
    ReaderInfo(f"{TRINO}{{use-column-names=false}}", TRINO, "stock", "loopback"),
    ReaderInfo("prestosql-350", "prestosql-350", "repackaged: a bundle added", "all addresses"),
)
NAMES = tuple(reader.reader for reader in READERS)

MOVE = (
    StepInfo(1, "insert rows 1, 2"),
    StepInfo(2, "insert row 3", quiet=True),
    StepInfo(3, "move column f1 after f2", changes_schema=True),
    StepInfo(4, "update f2 of row 1"),
    StepInfo(5, "rename column f2 to f2_new", changes_schema=True),
    StepInfo(6, "compact", quiet=True),
)
DROP = (
    StepInfo(1, "insert rows 1, 2, 3"),
    StepInfo(2, "delete row 2"),
    StepInfo(3, "drop column f1", changes_schema=True),
    StepInfo(4, "add column f1 string after ts", changes_schema=True),
    StepInfo(5, "change type of n from int to long", changes_schema=True),
    StepInfo(6, "change type of n from long to int", changes_schema=True),
    StepInfo(7, "update n of row 1"),
)
SOURCE = """about: {about}
table:
  columns: {{id: string, ts: long, f1: string, f2: string}}
  key: id
steps:
  - insert: [1, 2]
"""


def variant(scenario: str, form: str, steps: tuple[StepInfo, ...], about: str) -> VariantInfo:
    return VariantInfo(
        id=f"{scenario}[{form},rewrites=some]@{SPARK}",
        scenario=scenario,
        format=form,
        steps=steps,
        settings={"rewrites": "some"},
        writers=(SPARK,) * (len(steps) + 1),
        key="id",
        about=about,
        source="engine notes",
    )


MOVED = "A column moves to another place; each value must follow its column."
DROPPED = "A column is dropped and its name is taken again; the old values must not come back."
VARIANTS = (
    variant("hudi/move", "hudi-cow", MOVE, MOVED),
    variant("hudi/move", "hudi-mor", MOVE, MOVED),
    variant("hudi/drop_and_add", "hudi-cow", DROP, DROPPED),
    variant("hudi/drop_and_add", "hudi-mor", DROP, DROPPED),
    variant(f"hostile/{HOSTILE[:20]}", "hive-parquet", MOVE[:3], HOSTILE),
)
BY_POSITION = (NAMES[5], NAMES[6])
POSITION = "read by position"


@dataclass(frozen=True, slots=True)
class Scripted:
    kind: VerdictKind = VerdictKind.CORRECT
    finding: FindingKind | None = None
    because: str = ""
    known: str = ""
    ways: tuple[str, ...] = ()


def wrong(finding: FindingKind, *ways: str, known: str = "") -> Scripted:
    return Scripted(VerdictKind.WRONG, finding, known=known, ways=ways)


PLOT: dict[tuple[str, int, str], Scripted] = {
    ("hudi/move", 3, NAMES[5]): wrong(FindingKind.MISALIGNED, "by position"),
    ("hudi/move", 4, NAMES[5]): wrong(FindingKind.MISALIGNED),
    ("hudi/move", 3, NAMES[6]): wrong(
        FindingKind.MISALIGNED,
        "by position",
        known="hive.parquet.use-column-names is false by default",
    ),
    ("hudi/move", 4, NAMES[6]): Scripted(VerdictKind.REFUSED, FindingKind.MISALIGNED, POSITION),
    ("hudi/move", 4, NAMES[4]): wrong(FindingKind.STALE, "by name, base files only"),
    ("hudi/move", 5, NAMES[1]): wrong(FindingKind.MISSING_RENAME, "by name"),
    ("hudi/move", 5, NAMES[2]): wrong(
        FindingKind.LOST_VALUE, "by name", "by name, base files only"
    ),
    ("hudi/move", 5, NAMES[4]): wrong(FindingKind.MISSING_RENAME, "by name"),
    ("hudi/move", 5, NAMES[6]): Scripted(VerdictKind.REFUSED, None, POSITION),
    ("hudi/move", 5, NAMES[3]): Scripted(
        VerdictKind.UNKNOWN, because="time-out after 120 s, twice: no answer at all"
    ),
    ("hudi/drop_and_add", 1, NAMES[3]): wrong(FindingKind.DUPLICATE),
    ("hudi/drop_and_add", 2, NAMES[3]): wrong(FindingKind.GHOST_ROW),
    ("hudi/drop_and_add", 2, NAMES[2]): wrong(FindingKind.LOST_ROW),
    ("hudi/drop_and_add", 3, NAMES[6]): Scripted(VerdictKind.REFUSED, None, "an internal error"),
    ("hudi/drop_and_add", 4, NAMES[4]): wrong(FindingKind.RESURRECTED),
    ("hudi/drop_and_add", 4, NAMES[1]): wrong(
        FindingKind.RESURRECTED, known="HUDI-0000: read by name"
    ),
    ("hudi/drop_and_add", 5, NAMES[2]): wrong(FindingKind.TYPE_DRIFT),
    ("hudi/drop_and_add", 5, NAMES[3]): wrong(FindingKind.ALTERED_VALUE),
    ("hudi/drop_and_add", 5, NAMES[6]): wrong(FindingKind.UNEXPLAINED),
    ("hudi/drop_and_add", 5, NAMES[4]): Scripted(
        VerdictKind.UNSUPPORTED, because="table version 8 is declared unreadable (release notes)"
    ),
    (VARIANTS[4].scenario, 3, NAMES[5]): wrong(FindingKind.UNEXPLAINED),
    (VARIANTS[4].scenario, 3, NAMES[6]): Scripted(VerdictKind.REFUSED, None, HOSTILE),
}
"""What is not correct, by scenario, step and reader; everything else is."""
NOT_ASKED = {("hudi/move", 4, NAMES[3])}
"""Planned, and without any record."""


def expected(scenario: str, step: int) -> Expected:
    if scenario == "hudi/move":
        moved = (("id", "string"), ("ts", "long"), ("f1", "string"), ("f2", "string"))
        order = (0, 1, 3, 2) if step >= 3 else (0, 1, 2, 3)
        rows = [(str(r), 200000 + r, f"f3s1r{r}", f"f4s1r{r}") for r in (1, 2, 3)][: 1 + step]
        names = [moved[at] for at in order]
        renamed = [("f2_new" if name == "f2" and step > 4 else name, t) for name, t in names]
        return Expected(tuple(renamed), tuple(tuple(row[at] for at in order) for row in rows))
    if scenario.startswith("hostile"):
        rows_of = [(str(r), HOSTILE if r == 1 else "NULL", None) for r in (1, 2)]
        return Expected((("id", "string"), ("f1", "string"), ("f2", "string")), tuple(rows_of))
    columns = (("id", "string"), ("f1", "string"), ("n", "long"), ("d", "decimal(8,2)"))
    when = decimal.Decimal("12.50")
    return Expected(columns, tuple((str(r), f"f5s4r{r}", 300000 + r, when) for r in (1, 3)))


def planned() -> tuple[Cell, ...]:
    return tuple(
        Cell(variant.id, step.number, reader, view, "all")
        for variant in VARIANTS
        for step in variant.steps
        if not step.quiet
        for view in (("snapshot", "read_optimized") if "mor" in variant.format else ("snapshot",))
        for reader in NAMES
    )


def make(folder: Path) -> Run:
    cells = planned()
    info = RunInfo(
        id="20240229-101500-sample",
        profile="quick-start",
        started=datetime.datetime(2024, 2, 29, 10, 15, tzinfo=datetime.UTC),
        version="0.1.0",
        variants=VARIANTS,
        readers=READERS,
        cells=cells,
        excluded=(Excluded("hudi/move on prestosql-350, view base_name", "it has no such view"),),
        scenarios={variant.id: SOURCE.format(about=variant.about) for variant in VARIANTS},
    )
    load_run.write_info(folder, info)
    judged = [cell for cell in map(_answered, cells) if cell is not None]
    jsonl.write_all(
        folder / load_run.STATES,
        [_state(v, number) for v in VARIANTS for number in range(len(v.steps) + 1)],
    )
    jsonl.write_all(folder / load_run.ANSWERS, [answer for answer, _ in judged])
    refused = [_step_verdict(variant) for variant in VARIANTS if variant.steps == DROP]
    jsonl.write_all(folder / load_run.VERDICTS, [*(verdict for _, verdict in judged), *refused])
    return load_run.load(folder)


NO_CAST = Refusal("AnalysisException", "Cannot change column type from bigint to int", "42000")


def _state(of_run: VariantInfo, number: int) -> StateRecord:
    kind, because, refusal = OutcomeKind.APPLIED, "", None
    if of_run.steps == DROP and number == 6:
        kind, refusal = OutcomeKind.REFUSED, NO_CAST
    if of_run.steps == DROP and number == 7:
        kind, because = OutcomeKind.SKIPPED, "skipped: step 6 refused"
    instant = f"2024022910150{number}000"
    text = of_run.step(number).text
    outcome = Outcome(number, kind, instant, refusal, because, (f"-- {text}",), 1.2)
    return StateRecord(
        of_run.id, outcome, f"{number:064x}", _files(of_run, number), ("t", "t_ro", "t_rt")
    )


def _files(of_run: VariantInfo, number: int) -> tuple[FileFact, ...]:
    meta = (("_hoodie_commit_time", "string"), ("_hoodie_record_key", "string"))
    columns = (*meta, *expected(of_run.scenario, 1).columns)
    group = "6f1c2b7e-0d8c-4a6c-9d6e-3c9a2f4e5b60-0"
    base = FileFact(
        f"{group}_0-26-33_20240229101501000.parquet",
        FileKind.BASE,
        group,
        "20240229101501000",
        columns,
        ("1", "2"),
    )
    log = replace(
        base,
        path=f".{group}_20240229101501000.log.1_0-40-51",
        kind=FileKind.LOG,
        instant="20240229101504000",
        columns=(*meta, *expected(of_run.scenario, 4).columns),
        keys=("1",),
    )
    later = "mor" in of_run.format and number >= 4
    return ((base, log) if later else (base,)) if number else ()


def _step_verdict(of_run: VariantInfo) -> Verdict:
    cell = Cell(of_run.id, 6, SPARK, load_run.WRITE, "step")
    why = f"{NO_CAST.kind} ({NO_CAST.code}): {NO_CAST.message}"
    return replace(_verdict(cell, Scripted(VerdictKind.REFUSED, because=why)), expected=None)


def _answered(cell: Cell) -> tuple[Answer, Verdict] | None:
    scenario = cell.variant.partition("[")[0]
    if (scenario, cell.step, cell.reader) in NOT_ASKED:
        return None
    if any(cell.variant == v.id and v.steps == DROP and cell.step > 6 for v in VARIANTS):
        return None
    scripted = PLOT.get((scenario, cell.step, cell.reader), Scripted())
    spoilt = spoil(expected(scenario, cell.step), scripted.finding)
    findings = (spoilt.finding,) if spoilt.finding else ()
    return _answer(cell, scripted, spoilt), replace(_verdict(cell, scripted), findings=findings)


def _verdict(cell: Cell, scripted: Scripted) -> Verdict:
    scenario = cell.variant.partition("[")[0]
    return Verdict(
        case=cell.case,
        scenario=scenario,
        variant=cell.variant,
        step=cell.step,
        reader=cell.reader,
        view=cell.view,
        query=cell.query,
        verdict=scripted.kind,
        reproduces=scripted.ways,
        because=scripted.because,
        known=scripted.known,
        expected=expected(scenario, cell.step),
        seconds=0.21,
        sql="SELECT * FROM state_1f.t",
        reused=cell.reader == NAMES[0],
    )


def _answer(cell: Cell, scripted: Scripted, spoilt: Answered) -> Answer:
    blank = Answer(cell.case, f"SELECT * FROM state_{cell.step}.t", seconds=0.21)
    if scripted.kind is VerdictKind.UNKNOWN:
        tries = (Attempt("time-out after 60 s"), Attempt("time-out after 60 s", f"log\n{HOSTILE}"))
        return replace(blank, unknown=scripted.because, attempts=tries)
    if scripted.kind is VerdictKind.REFUSED:
        return replace(blank, refusal=_refusal(scripted), parts=_parts(spoilt))
    if cell.reader == NAMES[2] and cell.step == 1:
        blank = replace(blank, attempts=(Attempt("connection lost", "Broken pipe"),))
    if scripted.kind is VerdictKind.UNSUPPORTED:
        return replace(blank, refusal=Refusal("HUDI_UNSUPPORTED", "unknown timeline layout 2"))
    confirmed = cell.reader.partition("{")[2].rstrip("}")
    return replace(blank, columns=spoilt.columns, rows=spoilt.rows, confirmed=confirmed)


def _refusal(scripted: Scripted) -> Refusal:
    text = "io.prestosql.spi.type.VarcharType" if scripted.because == POSITION else scripted.because
    cause = "java.lang.UnsupportedOperationException: io.prestosql.spi.type.VarcharType"
    return Refusal("GENERIC_INTERNAL_ERROR", text, "65536", cause)


def _parts(spoilt: Answered) -> tuple[Part, ...]:
    parts = []
    for at, column in enumerate(spoilt.columns[1:], start=1):
        sql = f"SELECT id, {column.name} FROM state_1f.t"
        rows = tuple((row[0], row[at]) for row in spoilt.rows)
        refusal = Refusal("GENERIC_INTERNAL_ERROR", "VarcharType") if at == 1 else None
        shown = () if refusal else rows
        parts.append(Part(column.name, sql, (spoilt.columns[0], column), shown, refusal))
    return (*parts, Part("gone", "SELECT id, gone FROM state_1f.t", unknown="connection lost"))
