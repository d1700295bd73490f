"""A run whose tables a test writes with pyarrow: by the simulated writer, frozen in a cache."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from harness.artifacts.cache import Cache
from harness.core import jsonl
from harness.core.records import Outcome, OutcomeKind, Refusal, StateRecord
from harness.model.truth import History
from harness.run import load_run, plan_record
from harness.run.load_run import Run
from harness.runtime.metastore_objects import plain_entry
from harness.scenario import load
from harness.scenario.cells import Cell, Plan, Variant, parse_reader
from harness.write import state_store
from harness.write.state_store import Frozen
from tests.builders import simulated_disk
from tests.builders.simulated_disk import Disk, instant_of

WRITER: Final = "spark-3.5.8-hudi-0.15.0"
VARIANT: Final = f"own/orders[hudi-cow,rewrites=some]@{WRITER}"
TEXT: Final = """about: A column is renamed, and a later file knows it by its new name.
table:
  columns: {id: string, ts: long, price: "decimal(10,2)", day: date, at: timestamp, f1: string}
  key: id
  order_by: ts
formats: [hudi-cow]
steps:
  - insert: [1, 2]
  - upsert: {keys: [2, 3]}
  - rename_column: {name: f1, to: g}
  - insert: [4]
  - delete: [1]
"""
STEPS: Final = 5
TYPES: Final = {"price": pa.decimal128(10, 2), "at": pa.timestamp("us", tz="UTC")}
"""Those that pyarrow would not take by itself."""
STARTED: Final = datetime.datetime(2026, 1, 31, tzinfo=datetime.UTC)


def make(
    folder: Path, cache: Cache, kinds: Mapping[int, OutcomeKind] | None = None, home: str = ""
) -> Run:
    """Write the tables; `kinds`: of steps not applied, `home`: the path that their files name."""
    scenario = replace(load.loads(TEXT, "own/orders.yaml"), name="own/orders")
    variant = Variant(VARIANT, scenario, "hudi-cow", {"rewrites": "some"}, (WRITER,) * (STEPS + 1))
    outcomes = [_outcome(step, (kinds or {}).get(step)) for step in range(STEPS + 1)]
    applied = [outcome.kind is OutcomeKind.APPLIED for outcome in outcomes[1:]]
    history = scenario.truths(merge_on_read=False).history(applied)
    operations = [step.operation for step in scenario.steps]
    disk = simulated_disk.written(scenario.table, operations, history, merge_on_read=False)
    cells = tuple(
        Cell(VARIANT, step, "trino-476", "snapshot", query)
        for step in range(1, STEPS + 1)
        for query in ("all", "count_all", "column(f1)", "null(ts)")
    )
    plan = Plan("own", (variant,), (parse_reader("trino-476"),), cells)
    load_run.write_info(folder, plan_record.info_of(plan, folder.name, STARTED))
    records = [_frozen(disk, history, outcomes[: at + 1], cache, home) for at in range(STEPS + 1)]
    jsonl.write_all(folder / load_run.STATES, records)
    return load_run.load(folder)


def _outcome(step: int, kind: OutcomeKind | None) -> Outcome:
    statements = (f"step {step} of {{database}}.t",)
    if kind is OutcomeKind.REFUSED:
        return Outcome(step, kind, refusal=Refusal("X", "no such column"), statements=statements)
    if kind is not None:
        return Outcome(step, kind, because=f"{kind}: of step {step}")
    instant = instant_of(step) if step else ""
    return Outcome(step, OutcomeKind.APPLIED, instant, statements=statements)


def _frozen(
    disk: Disk, history: History, outcomes: Sequence[Outcome], cache: Cache, home: str
) -> StateRecord:
    now = outcomes[-1]
    if now.kind in {OutcomeKind.SKIPPED, OutcomeKind.UNKNOWN}:
        return StateRecord(VARIANT, now, "")
    files = disk.until(now.step)
    table = cache.root.parent / "written" / str(now.step)
    (table / ".hoodie" / "archived").mkdir(parents=True)
    (table / ".hoodie" / "hoodie.properties").write_text("hoodie.table.name=t\n", "utf-8")
    for file in files:
        rows = [dict(file.added(key)) | dict(row) for key, row in file.records.items()]
        names = list(rows[0]) if rows else list(file.names)
        columns = {n: pa.array([row[n] for row in rows], TYPES.get(n)) for n in names}
        pq.write_table(pa.table(columns), table / file.path)
    fields = history[now.step].schema.fields
    entry = plain_entry("t", [(field.name, str(field.type)) for field in fields])
    facts, instants = (
        tuple(file.fact() for file in files),
        tuple(outcome.instant for outcome in outcomes),
    )
    digest = f"{now.step:064x}"
    state_store.freeze(cache, digest, table, Frozen(now, (entry,), instants, home=home))
    return StateRecord(VARIANT, now, digest, facts, ("t",))
