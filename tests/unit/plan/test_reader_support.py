from __future__ import annotations

import pytest

from harness.core.errors import UsageProblem
from harness.plan.distribution_support import cannot, check_combination
from harness.scenario.cells import parse_reader


def test_what_a_reader_cannot_be_asked_is_told_by_its_engine() -> None:
    by_name = parse_reader("trino-476{use-column-names=true}")
    assert cannot(by_name, "hudi-cow") == ""
    assert "no setting use-column-names" in cannot(by_name, "iceberg")


def test_settings_that_do_not_go_together_are_refused_with_each_reason_once() -> None:
    reader = "prestodb-0.283{connector=hudi, use-column-names=true}"
    with pytest.raises(UsageProblem) as caught:
        check_combination(parse_reader(reader))
    message = str(caught.value)
    assert message.startswith(f"{reader}: it can be asked")
    reason = "hudi-cow, hudi-mor: the hudi connector of prestodb-0.283 has no setting"
    assert message.count(reason) == 1
