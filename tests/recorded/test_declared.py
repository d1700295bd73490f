"""What readers are declared not to know, compared with their recorded answers about all tables."""

import lzma
from pathlib import Path
from typing import Final

import pytest

from harness.core.records import Answer, VerdictKind
from harness.scenario.cells import Cell, parse_reader
from tests.builders import recorded_lines, recordings, replay
from tests.builders.recorded_lines import Lines
from tests.builders.recordings import VerdictRecord

ASKED: Final = Path(__file__).parent / "full" / "hudi" / "all_types"
"""One question of each reader, format and version is sent of all; some of them are here."""
REFUSAL: Final = "Unknown table versionCode:9"
"""What Hudi 1.0.2 says of a table of version 9."""
OLDER: Final = {"prestosql-350", "trino-368"}
"""Of what their Hudi knows of tables they name no version."""


@pytest.fixture(scope="module")
def judged() -> list[tuple[Cell, str, Answer, VerdictRecord]]:
    """Return each recorded cell with its table's version, what was answered, and its verdict."""
    results = []
    for recording in recordings.read(ASKED):
        versions = {state.outcome.step: state.table_version for state in recording.states}
        for cell, verdict in replay.judged(recording).items():
            answer = recording.answers.get(cell)
            if answer is not None:
                results.append((cell, versions[cell.step], answer, verdict))
    return results


def test_a_recorded_refusal_is_unsupported_where_hudi_names_the_version_and_nowhere_else(
    judged: list[tuple[Cell, str, Answer, VerdictRecord]],
) -> None:
    actual = [
        (REFUSAL in answer.refusal.message + answer.refusal.cause, verdict["verdict"])
        for cell, _, answer, verdict in judged
        if answer.refusal and parse_reader(cell.reader).distribution not in OLDER
    ]
    assert set(actual) == {(True, VerdictKind.UNSUPPORTED), (False, VerdictKind.REFUSED)}


def test_readers_that_know_older_timelines_refused_every_newer_table_and_read_older_ones(
    judged: list[tuple[Cell, str, Answer, VerdictRecord]],
) -> None:
    of_older = [
        verdict for verdict in judged if parse_reader(verdict[0].reader).distribution in OLDER
    ]
    newer = {verdict["verdict"] for _, version, _, verdict in of_older if version in {"8", "9"}}
    older = {verdict["verdict"] for _, version, _, verdict in of_older if version == "6"}
    assert newer == {VerdictKind.UNSUPPORTED}
    assert VerdictKind.UNSUPPORTED not in older
    assert VerdictKind.CORRECT in older


def test_no_recorded_answer_is_one_to_what_is_declared_unsupported(
    judged: list[tuple[Cell, str, Answer, VerdictRecord]],
) -> None:
    assert not [cell.case for cell, _, _, verdict in judged if verdict.get("disclaimed")]


VALUES = ("a", "a\nb", "\u2028", "\x85 \x0b \x1c", "größe", 5, None, [1.5, "NaN"])


def test_what_is_repeated_is_one_line_and_read_back_for_each_variant() -> None:
    made = Lines()
    for variant in ("first", "second"):
        made.add({"variant": variant})
        made.add({"named": [made.once("value", {"is": value}) for value in (*VALUES, *VALUES)]})
    read = recorded_lines.parse(made.text())
    assert len(made.lines) == len(VALUES) + 4
    for variant in ("first", "second"):
        [line] = read.variants[variant]
        assert [read.once[name]["is"] for name in line["named"]] == [*VALUES, *VALUES]


@pytest.mark.parametrize("name", ["some.jsonl", f"some.jsonl{recorded_lines.COMPRESSED}"])
def test_the_same_text_makes_the_same_bytes(name: str, tmp_path: Path) -> None:
    text = "größe\n" * 1000
    for folder in (tmp_path / "one", tmp_path / "other"):
        recorded_lines.write(folder / name, text)
        assert recorded_lines.find(folder, "some.jsonl") == folder / name
        assert recorded_lines.read(folder / name) == text
    one, other = ((tmp_path / folder / name).read_bytes() for folder in ("one", "other"))
    assert one == other
    assert (len(one) < len(text)) == name.endswith(recorded_lines.COMPRESSED)


def test_a_file_that_another_compressor_made_of_the_same_text_stays_as_it_is(
    tmp_path: Path,
) -> None:
    path, made = tmp_path / "some.jsonl.xz", lzma.compress(b"text", check=lzma.CHECK_NONE)
    path.write_bytes(made)
    recorded_lines.write(path, "text")
    assert path.read_bytes() == made
    recorded_lines.write(path, "other")
    assert recorded_lines.read(path) == "other"
