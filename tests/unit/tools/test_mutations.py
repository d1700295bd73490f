"""What is noted of batches of mutations, as evidence for claims."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tools import claim_measured
from tools.claim_evidence import Standing
from tools.measure import mutations
from tools.measure.mutations import SentBatch
from tools.measured_evidence import MutationBatches

THROWN = {"kind": "BucketIdException", "message": "no\nat line 1"}
BATCH = SentBatch("says", "update 2", "1a 2a", (), (), (), "1a 2B", ())
APPLIED = "nothing is thrown; 1a 2B is seen"


def measured(folder: Path, *batches: SentBatch) -> claim_measured.NotedPart:
    lines = "".join(json.dumps(asdict(each)) + "\n" for each in batches)
    (folder / "mutations.jsonl").write_text(lines, encoding="utf-8")
    return claim_measured.measured(MutationBatches("p", ("update 2",), (APPLIED,)), folder)


@pytest.mark.parametrize(
    ("batch", "came"),
    [
        (BATCH, APPLIED),
        (
            replace(BATCH, thrown=(THROWN, THROWN), shown="1a 2a"),
            "BucketIdException; nothing of it is seen",
        ),
        (
            replace(BATCH, lost=(THROWN,)),
            "nothing is thrown; the listener is told BucketIdException; 1a 2B is seen",
        ),
        (replace(BATCH, then=("2B",)), f"{APPLIED}; 2B is seen at last"),
    ],
)
def test_a_batch_is_what_was_thrown_and_what_is_seen(
    tmp_path: Path, batch: SentBatch, came: str
) -> None:
    found = measured(tmp_path, batch)
    assert list(found.came) == [came]
    assert found.standing is (Standing.AGREES if came == APPLIED else Standing.DIFFERS)


def test_another_batch_says_nothing_of_a_claim(tmp_path: Path) -> None:
    assert measured(tmp_path, replace(BATCH, does="update 4")).standing is Standing.NOT_EXECUTED
    assert measured(tmp_path).standing is Standing.NOT_EXECUTED


def test_a_row_of_the_table_has_the_first_line_of_each_error_and_who_met_it() -> None:
    told = "`BucketIdException`: no; the other client: `BucketIdException`: no"
    batch = replace(BATCH, thrown=(THROWN,), others=(THROWN,), then=("2B",))
    assert mutations.row(batch) == ("says", "update 2", told, "`1a 2B`, then `2B`")
    assert mutations.row(BATCH)[2] == "nothing"
