from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from harness.core.records import Outcome, OutcomeKind, Refusal
from harness.engines.api import RefusedError
from harness.engines.spark.session import Library
from harness.model.datatypes import parse_type
from harness.runtime.metastore_objects import CatalogEntry
from harness.scenario.definition import Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn
from harness.scenario.operations.row_writes import Insert
from harness.scenario.operations.services import Sync
from harness.write.writer_pool import WriteTarget
from tests.unit.write import test_write_variant
from tests.unit.write.test_write_variant import Simulated, refuse, sent, variant

place, catalog = test_write_variant.place, test_write_variant.catalog
ADD = AddColumn("N", parse_type("int"), after="id")
ERROR = Refusal("java.lang.X", "no")
OLD, NEW = ("id", "ts"), ("id", "n", "ts")
META = ("_hoodie_commit_time",)


def entry(name: str, columns: tuple[str, ...]) -> CatalogEntry:
    cols = [{"name": name, "type": "int"} for name in (*META, *columns)]
    return CatalogEntry(name, {"sd": {"cols": cols}})


@dataclass
class WithClient(Simulated):
    completes: bool = True
    fails: bool = False
    calls: list[Mapping[str, object]] = field(default_factory=list)

    def call(self, client: Library, request: Mapping[str, object], *, timeout_s: float) -> None:
        assert client is Library.HUDI
        assert timeout_s > 0
        self.calls.append(request)
        assert self.folder is not None
        name = "300.commit" if self.completes else "300.commit.requested"
        (self.folder / ".hoodie" / name).touch()
        if self.fails:
            raise RefusedError(ERROR, 0.1)


def outcome(write_target: WriteTarget, spark: Simulated, *last: Operation) -> Outcome:
    of = variant(steps=tuple(map(Step, (Insert(keys=(1,)), *last))))
    of = replace(of, settings={"schema_changes": "write_client"})
    return sent(write_target, spark, of).records[-1].outcome


def lists(monkeypatch: pytest.MonkeyPatch, *entries: CatalogEntry) -> None:
    monkeypatch.setattr(test_write_variant, "ENTRIES", entries)


def test_a_schema_change_is_applied_though_the_catalog_hears_nothing(place: WriteTarget) -> None:
    spark = WithClient()
    result = outcome(place, spark, ADD)
    assert (result.kind, result.instant) == (OutcomeKind.APPLIED, "300")
    assert result.statements == ("write client: addColumn('N', '\"int\"', '', 'id', 'AFTER')",)
    assert spark.calls[0]["method"] == "addColumn"
    assert spark.calls[0]["path"] == str(spark.folder)


def test_one_that_fails_after_its_commit_is_half_done_and_known(place: WriteTarget) -> None:
    result = outcome(place, WithClient(fails=True), ADD)
    assert (result.kind, result.refusal) == (OutcomeKind.APPLIED, ERROR)


@pytest.mark.parametrize("fails", [True, False])
def test_one_that_completes_nothing_is_refused(place: WriteTarget, *, fails: bool) -> None:
    result = outcome(place, WithClient(completes=False, fails=fails), ADD)
    assert result.kind is OutcomeKind.REFUSED
    assert result.refusal is not None
    assert (result.refusal == ERROR) is fails


@pytest.mark.parametrize("reply", [refuse("hive_sync"), lambda _: None])
@pytest.mark.parametrize(
    ("of_t", "of_rt", "kind"),
    [
        (NEW, NEW, OutcomeKind.APPLIED),
        (OLD, OLD, OutcomeKind.REFUSED),
        (NEW, OLD, OutcomeKind.REFUSED),
    ],
)
def test_a_sync_is_applied_where_every_entry_lists_the_columns_of_the_table(
    place: WriteTarget,
    monkeypatch: pytest.MonkeyPatch,
    reply: object,
    of_t: tuple[str, ...],
    of_rt: tuple[str, ...],
    kind: OutcomeKind,
) -> None:
    lists(monkeypatch, entry("t", of_t), entry("t_rt", of_rt))
    result = outcome(place, WithClient(reply=reply, makes=makes), ADD, Sync())  # type: ignore[arg-type]
    assert (result.kind, result.instant) == (kind, "")


def test_a_sync_that_says_all_is_well_and_leaves_an_entry_behind_names_it(
    place: WriteTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists(monkeypatch, entry("t", NEW), entry("t_rt", ("id", "ts", "n")))
    result = outcome(place, WithClient(makes=makes), ADD, Sync())
    assert result.refusal is not None
    assert result.refusal.kind == "did nothing"
    assert result.refusal.message.endswith("columns in their order: t_rt")


def test_a_sync_where_there_is_nothing_to_do_is_applied(
    place: WriteTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists(monkeypatch, entry("t", OLD))
    assert outcome(place, WithClient(makes=makes), Sync()).kind is OutcomeKind.APPLIED


def makes(sql: str) -> tuple[str, ...]:
    return () if "hive_sync" in sql else ("200.commit",)
