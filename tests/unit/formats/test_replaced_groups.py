from __future__ import annotations

from pathlib import Path

import pytest

from harness.formats.api import FileFactError
from harness.formats.hudi import timeline

TIMELINES = Path(__file__).parent / "timelines"


@pytest.mark.parametrize(
    ("table", "groups"),
    [
        (
            "clustered_0.15.0",
            {"70ac19dd-e85a-4d89-b76c-8469ebd1b76c-0", "901ca801-ce8a-48d6-b598-ac8f96c3be1b-0"},
        ),
        (
            "clustered_1.0.2",
            {"247e6cc7-ca2a-4856-a8b5-c66083bf0f97-0", "3195795b-25fd-45be-94c4-4e40bcd2dea5-0"},
        ),
        ("committed_0.15.0", set()),
    ],
)
def test_a_completed_replacement_names_the_file_groups_in_either_layout(
    table: str, groups: set[str]
) -> None:
    assert timeline.replaced_groups(TIMELINES / table) == groups


def test_a_record_that_names_none_replaced_none() -> None:
    assert timeline.replaced_by(b"") == frozenset()
    assert timeline.replaced_by(b'{"partitionToReplaceFileIds": null}') == frozenset()


@pytest.mark.parametrize("data", [b"no record", b"[]", b"Obj\x01"])
def test_a_record_that_cannot_be_understood_is_an_error_that_names_it(data: bytes) -> None:
    with pytest.raises(FileFactError, match=r"^100\.replacecommit cannot be understood"):
        timeline.replaced_by(data, "100.replacecommit")
