from __future__ import annotations

import pytest

from harness.core.progress import megabytes


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0.0 MB"), (120_286, "0.1 MB"), (9_940_000, "9.9 MB"), (10**7, "10 MB")]
)
def test_sizes_are_reported_in_decimal_megabytes(size: int, text: str) -> None:
    assert megabytes(size) == text
