from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from harness.core.records import OutcomeKind
from harness.formats.hudi.settings import ALLOW_DROPS
from harness.scenario.definition import Step
from harness.scenario.operations.row_writes import Insert
from harness.scenario.operations.write_frame import WriteFrame
from harness.write.writer_pool import WriteTarget
from tests.unit.write import test_write_variant
from tests.unit.write.test_write_variant import Simulated, refuse, sent, variant

catalog, place = test_write_variant.catalog, test_write_variant.place
FRAMED: Final = variant(steps=(Step(Insert(keys=(1,))), Step(WriteFrame((1, 2)))))


@dataclass
class Given(Simulated):
    frames: list[tuple[str, Mapping[str, str], str]] = field(default_factory=list)

    def append(
        self, query: str, format_: str, options: Mapping[str, str], path: str, *, timeout_s: float
    ) -> None:
        assert format_ == "hudi"
        self.frames.append((query, options, path))
        self.run(query, timeout_s=timeout_s)


def test_it_is_told_all_of_the_session_and_where_the_table_is(place: WriteTarget) -> None:
    spark = Given()
    outcome = sent(place, spark, FRAMED).records[-1].outcome
    ((query, options, path),) = spark.frames
    assert (outcome.kind, outcome.instant) == (OutcomeKind.APPLIED, "300")
    assert outcome.statements[0].startswith(f"DataFrame: {query}; append as hudi")
    assert path == str(spark.folder)
    assert options["hoodie.schema.on.read.enable"] == "true"
    assert options["hoodie.datasource.hive_sync.database"] == place.database
    assert options[ALLOW_DROPS] == "false"  # the session allows it


def test_one_that_is_refused_leaves_the_table_as_it_was(place: WriteTarget) -> None:
    spark = Given(reply=refuse("cast(202"))
    outcome = sent(place, spark, FRAMED).records[-1].outcome
    assert (outcome.kind, outcome.instant) == (OutcomeKind.REFUSED, "")
