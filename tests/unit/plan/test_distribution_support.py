"""Which settings a reader has otherwise than its engine by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness import engines, formats
from harness.artifacts import distributions
from harness.core.errors import UsageProblem
from harness.plan import distribution_support
from harness.plan.distribution_support import cannot, check_combination
from harness.scenario.cells import Reader, parse_reader

READERS = tuple(distribution.name for distribution in distribution_support.readers())


def differences(text: str, *format_names: str) -> list[str]:
    unlike = distribution_support.unlike_defaults(parse_reader(text), format_names)
    assert unlike is not None
    return [str(unlike) for unlike in unlike]


@pytest.mark.parametrize("name", READERS)
def test_every_setting_that_a_reader_may_name_has_a_default_that_is_a_value_of_it(
    name: str,
) -> None:
    for format_name in formats.names():
        if not distribution_support.cannot(Reader(name), format_name):
            unlike = distribution_support.unlike_defaults(Reader(name), (format_name,))
            assert unlike is not None, f"of a setting the lock data has no defaults: {format_name}"
    distribution = distributions.load(name)
    allowed = engines.load(distribution.engine).settings
    for setting, default in distribution.defaults.items():
        values = {value for value in (default.value, default.ours) if value}
        assert default.families or values <= set(allowed[setting])


@pytest.mark.parametrize(
    ("reader", "format_name"),
    [
        ("trino-476", "hudi-cow"),
        ("trino-476{use-column-names=true}", "hudi-cow"),
        ("spark-3.5.8-hudi-0.15.0{schema-on-read=off, data-skipping=off}", "hudi-mor"),
        ("spark-3.5.8-hudi-1.0.2{metadata-table=on}", "hudi-mor"),
        ("hive-3.1.3{path=fetch, vectorized=on, input-format=combine, statistics=on}", "hudi-cow"),
        ("prestodb-0.283{connector=hive}", "hudi-cow"),
    ],
)
def test_a_reader_with_every_default_differs_in_nothing(reader: str, format_name: str) -> None:
    assert differences(reader, format_name) == []


def test_what_the_harness_sets_for_all_is_told_apart_from_what_the_reader_names() -> None:
    assert differences(
        "hive-3.1.3{path=mapreduce, schema-on-read=on, statistics=off}", "hudi-cow"
    ) == [
        "schema-on-read=on (default: off)",
        "vectorized=off, set by the harness (default: on)",
        "input-format=plain, set by the harness (default: combine)",
        "statistics=off (default: on)",
    ]


def test_a_default_that_changed_from_one_version_to_the_next_is_each_versions_own() -> None:
    old, new = (
        f"spark-3.5.8-hudi-{setting}{{data-skipping=on}}" for setting in ("0.15.0", "1.0.2")
    )
    assert differences(old, "hudi-cow") == ["data-skipping=on (default: off)"]
    assert differences(new, "hudi-cow") == []


def test_nothing_is_reported_about_a_setting_whose_default_is_not_declared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    distribution = distributions.load("trino-476")
    fewer = {name: d for name, d in distribution.defaults.items() if name[:3] != "orc"}
    less = replace(distribution, defaults=fewer)
    monkeypatch.setattr(distributions, "load", lambda _: less)
    assert distribution_support.unlike_defaults(Reader("trino-476"), ("hudi-cow",)) == ()
    assert (
        distribution_support.unlike_defaults(Reader("trino-476"), ("hudi-cow", "hive-orc")) is None
    )


def test_what_a_reader_cannot_be_asked_is_reported_by_its_engine() -> None:
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
