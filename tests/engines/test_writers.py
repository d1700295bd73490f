"""Versions of Hudi tables made as asked for, and a table that changes its writer on the way."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness import formats
from harness.core.records import OutcomeKind
from harness.model.canonical import to_json
from harness.model.truth import row_values
from harness.plan import Writer
from harness.runtime import metastore_client
from harness.scenario.cells import Variant
from harness.scenario.definition import Step
from harness.scenario.operations.row_writes import Insert
from harness.write import state_store, write_variants
from harness.write.send_step import WriterFor
from harness.write.state_records import VariantResult
from harness.write.writer_pool import WriteTarget
from tests.engines import everyone
from tests.engines.everyone import Running
from tests.engines.hudi_writers import NEW, NEWEST, OLD, Write, variant_of
from tests.engines.planned_run import shipped

pytestmark = pytest.mark.engines
nightly = pytest.mark.nightly

READER = f"{NEW}{{schema-on-read=on}}"
(MOVE,) = shipped("hudi/move")
ONE_ROW = replace(MOVE, steps=(Step(Insert(keys=(1,))),))
UPGRADED = {"schema change": 3, "write": 6}
"""The step of `hudi/move` that is the first one of the newer writer."""
ASKED = (
    (NEW, "6"),
    pytest.param(NEW, "8", marks=nightly),
    *(pytest.param(NEWEST, version, marks=nightly) for version in ("6", "8", "9")),
)


@pytest.mark.parametrize(("writer", "version"), ASKED, ids=str)
def test_a_table_has_the_version_that_was_asked_for(
    writer: str, version: str, write: Write
) -> None:
    written = write(ONE_ROW, "hudi-mor", Writer(writer, {"table_version": version}))
    assert [record.outcome.kind for record in written.records] == [OutcomeKind.APPLIED] * 2
    assert [record.table_version for record in written.records] == [version] * 2
    assert [fact.keys for fact in written.records[1].files] == [("1",)]


@pytest.mark.parametrize("readers", [(READER,)], indirect=True, ids=["spark"])
@pytest.mark.parametrize("first", UPGRADED)
@pytest.mark.parametrize("name", [pytest.param("hudi-cow", marks=nightly), "hudi-mor"])
def test_a_table_that_a_newer_writer_goes_on_with_is_upgraded_and_right(
    name: str, first: str, readers: Sequence[Running], writer_for: WriterFor, target: WriteTarget
) -> None:
    at = UPGRADED[first]
    variant = variant_of(MOVE, name, Writer(OLD, then=NEW, at=at))
    written = write_variants.write_variant(variant, target, writer_for)
    versions = [record.table_version for record in written.records]
    assert {record.outcome.kind for record in written.records} == {OutcomeKind.APPLIED}
    assert versions == ["6"] * at + ["8"] * (len(versions) - at)
    assert all(record.files and not record.layout for record in written.records[1:])
    with metastore_client.connect(target.metastore_uri) as client:
        for state in written.states.values():
            state_store.register(client, state)
    for step in range(1, len(versions)):
        assert outcomes(written, variant, step, readers) == expected(variant, step), f"step {step}"


def outcomes(
    written: VariantResult, variant: Variant, step: int, readers: Sequence[Running]
) -> dict[str, tuple[str, ...]]:
    state, shape = written.states[variant.id, step], formats.load(variant.format)
    result = everyone.ask(readers, state.database, state, variant.format)
    return {view: result[READER, shape.table_for(view)].rows for view in shape.views}


def expected(variant: Variant, step: int) -> dict[str, tuple[str, ...]]:
    shape = formats.load(variant.format)
    truth = variant.scenario.truths(merge_on_read=shape.merge_on_read).history()[step]
    result = {}
    for view in shape.views:
        rows = truth.base if view == "read_optimized" else truth.rows
        texts = (json.dumps(to_json(row_values(row, truth.schema))) for row in rows.values())
        result[view] = tuple(sorted(texts))
    return result
