"""What the streamer's jar becomes, and what is noted of pipelines as evidence for claims."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest

from harness.artifacts import class_patch
from tools import claim_measured
from tools.claim_evidence import Standing
from tools.measure import streamer_jars
from tools.measure.pipelines import UNDISTURBED, Blow, noted
from tools.measured_evidence import PipelineBatches

MINE, OTHERS = "mine", "others"


def compiled(*texts: str) -> bytes:
    pool = b"".join(b"\x01" + struct.pack(">H", len(each)) + each.encode() for each in texts)
    return b"\xca\xfe\xba\xbe\x00\x00\x00\x34" + struct.pack(">H", len(texts) + 1) + pool


def test_names_that_the_bundle_has_moved_are_rewritten_wherever_they_stand(tmp_path: Path) -> None:
    described = "(Lorg/apache/spark/sql/avro/A;)Lcom/beust/jcommander/B;"
    with zipfile.ZipFile(tmp_path / "old.jar", "w") as jar:
        jar.writestr("A.class", compiled(described, "org/apache/spark/sql/Row"))
        jar.writestr("note.txt", "com/beust/jcommander/B")
    made = streamer_jars.rewritten(tmp_path / "old.jar", tmp_path / "new.jar")
    with zipfile.ZipFile(made) as jar:
        assert list(class_patch.texts(jar.read("A.class"))) == [
            described.replace("Lorg", "Lorg/apache/hudi/org").replace(
                "Lcom", "Lorg/apache/hudi/com"
            ),
            "org/apache/spark/sql/Row",
        ]
        assert jar.read("note.txt") == b"com/beust/jcommander/B"


def test_what_is_no_class_has_no_texts() -> None:
    with pytest.raises(ValueError, match="not a compiled Java class"):
        list(class_patch.texts(b"PK\x03\x04"))


def batches(folder: Path, *blows: Blow) -> claim_measured.NotedPart:
    file = folder / "pipelines.jsonl"
    lines = [*(noted(each, MINE, "COPY_ON_WRITE") for each in blows)]
    lines.append(noted(Blow(1, "made x", 1, committed=False, wrong="twice"), OTHERS, "x"))
    file.write_text("\n".join(lines), encoding="utf-8")
    return claim_measured.measured(PipelineBatches("program", (MINE,)), folder)


@pytest.mark.parametrize(
    ("at", "committed", "wrong", "came"),
    [
        ("made x", False, "", claim_measured.AGREES),
        ("made x", True, "", claim_measured.AGREES),
        (UNDISTURBED, True, "", claim_measured.AGREES),
        (UNDISTURBED, False, "", claim_measured.NONE),
        ("made x", True, "missing", claim_measured.OTHERWISE),
    ],
)
def test_a_batch_agrees_when_its_rows_are_right_and_one_that_was_over_has_its_checkpoint(
    tmp_path: Path, at: str, *, committed: bool, wrong: str, came: str
) -> None:
    found = batches(tmp_path, Blow(1, at, 1, committed=committed, wrong=wrong))
    assert dict(found.came) == {came: 1}
    assert found.standing is (
        Standing.AGREES if came == claim_measured.AGREES else Standing.DIFFERS
    )


def test_of_nobody_nothing_is_executed(tmp_path: Path) -> None:
    assert batches(tmp_path).standing is Standing.NOT_EXECUTED
    measured = PipelineBatches("program", (MINE,))
    assert claim_measured.measured(measured, tmp_path / "none").standing is Standing.NOT_EXECUTED
