"""A file that a table's records name and that is missing: one line, and the other tables go on."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.audit.audit import audit
from harness.audit.records import Audit
from harness.audit.result import AuditResult
from harness.audit.tables import pinned
from harness.core.progress import Progress
from harness.formats.files import table_folder
from harness.formats.hudi import read_plan as hudi_plan
from harness.judge.gate import UNKNOWN
from tests.audit.small_iceberg_tables import Made
from tests.audit.test_audit import READER, SimulatedReader
from tests.builders.delta_folder import DeltaFolder, add, field, metadata, protocol
from tests.builders.hudi_folder import KEY, HudiFolder
from tests.builders.iceberg_folder import EQUALITY_DELETES, Entry, IcebergFolder


def iceberg(path: Path) -> None:
    made = Made(IcebergFolder(path))
    files = [made.data(f"{at}.parquet", id=[at], a=[1], b=[1]) for at in (1, 2)]
    positions = made.files.deletes("positions.parquet", (files[0], 0))
    values = made.data("values.parquet", id=[7])
    made.files.commit(1, *map(Entry, files), made.vector("v.puffin", files[1], 0))
    deletes = Entry(positions, content=1), Entry(values, content=EQUALITY_DELETES)
    made.files.commit(2, *deletes)
    made.files.metadata(1, **made.metadata)


def delta(path: Path) -> None:
    table = DeltaFolder(path)
    files = [table.data(f"{at}.parquet", {"id": [at, at + 1]}) for at in (1, 2)]
    table.commit(protocol(3, "deletionVectors", "v2Checkpoint"), metadata(field("id", "long")))
    sidecar = table.checkpoint("_sidecars/1.parquet", add(files[0], vector=table.vector("u", 0)))
    named = {"path": sidecar, "sizeInBytes": 1, "modificationTime": 1}
    table.commit(add(files[1]))
    first = protocol(3, "deletionVectors", "v2Checkpoint"), metadata(field("id", "long"))
    table.checkpoint(f"{1:020}.checkpoint.parquet", *first, add(files[1]), {"sidecar": named})
    table.forget(0, 1)


def hudi(path: Path) -> None:
    table = HudiFolder(path, {"id": "long"})
    table.create()
    for at, group in enumerate("ab"):
        table.base(group, "1", {KEY: f"{at}", "id": at}, folder="p/")
    table.log("a", "1", table.rows("2", {KEY: "0", "id": 9}), folder="p/")
    for instant, names in {"1": ("a_0-1-1_1.parquet", "b_0-1-1_1.parquet"), "2": (LOG,)}.items():
        stats = [{"path": f"p/{name}"} for name in names]
        table.done(instant, record={"partitionToWriteStats": {"p": stats}})


LOG = ".a_1.log.1_0-1-1"
CASES: tuple[tuple[Callable[[Path], None], str], ...] = (
    (iceberg, "data/1.parquet"),
    (iceberg, "data/positions.parquet"),
    (iceberg, "data/values.parquet"),
    (iceberg, "data/v.puffin"),
    (iceberg, "metadata/m1.avro"),
    (iceberg, "metadata/snap-2.avro"),
    (delta, "1.parquet"),
    (delta, "dv/deletion_vector_*.bin"),
    (delta, "_delta_log/_sidecars/1.parquet"),
    (hudi, "p/a_0-1-1_1.parquet"),
    (hudi, "p/b_0-1-1_1.parquet"),
    (hudi, f"p/{LOG}"),
)


@pytest.mark.parametrize(("table", "gone"), CASES)
def test_a_missing_file_is_one_line_and_the_other_tables_go_on(
    table: Callable[[Path], None], gone: str, tmp_path: Path
) -> None:
    for name in ("broken", "whole"):
        table(tmp_path / name)
    (file,) = (tmp_path / "broken").glob(gone)
    file.unlink()
    tables = tuple(pinned(str(tmp_path), ()))
    audited = tuple(audit(tables, [READER], SimulatedReader(), Progress()))
    problems = {one.name: one.problem for one in audited}
    assert problems["whole"] == ""
    assert file.name in problems["broken"]
    assert "\n" not in problems["broken"]
    assert [one.name for one in audited if one.answers] == ["whole"]
    assert AuditResult(Audit("", (), audited)).status == UNKNOWN


def test_files_of_older_slices_and_of_replaced_groups_may_be_missing(tmp_path: Path) -> None:
    hudi(tmp_path)
    table = HudiFolder(tmp_path, {"id": "long"})
    table.base("a", "3", {KEY: "0", "id": 9}, folder="p/")
    record = {"partitionToReplaceFileIds": {"p": ["b"]}}
    table.done("3", "replacecommit", record=record)
    for gone in ("a_0-1-1_1.parquet", "b_0-1-1_1.parquet", LOG):
        (tmp_path / "p" / gone).unlink()
    plan = hudi_plan.plan(table_folder.at(str(tmp_path)))
    assert [file.path for file in plan.files] == ["p/a_0-1-1_3.parquet"]
