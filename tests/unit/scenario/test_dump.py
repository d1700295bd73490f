import datetime
from dataclasses import replace
from decimal import Decimal

from hypothesis import HealthCheck, given, settings

from harness.model.canonical import MapValue
from harness.scenario.definition import Scenario
from harness.scenario.derived import twin
from harness.scenario.dump import dump
from harness.scenario.load import loads
from harness.scenario.operations.row_writes import Insert
from tests.builders.random_scenarios import PATH, scenarios, without_lines
from tests.builders.scenarios import scenario_of


@settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(scenarios())
def test_every_scenario_is_read_back_from_its_text_and_so_is_its_twin(scenario: Scenario) -> None:
    for written in filter(None, (scenario, twin(scenario))):
        assert without_lines(loads(dump(written), PATH)) == written


def test_one_ordering_column_is_written_as_text_and_several_as_a_list() -> None:
    one = scenario_of(
        Insert((1,)), columns={"id": "string", "a": "int", "b": "string"}, order_by="a"
    )
    several = replace(one, table=replace(one.table, order_by=("a", "b")))
    for scenario, text in ((one, "order_by: a\n"), (several, "order_by: [a, b]\n")):
        assert text in dump(scenario)
        assert loads(dump(scenario), PATH).table == scenario.table


def test_values_without_a_form_in_yaml_become_text_and_mean_the_same() -> None:
    columns = {"id": "string", "d": "decimal(9, 2)", "on": "date", "m": "map<string, int>"}
    date = datetime.date(2024, 2, 29)
    row = {"id": "a", "d": Decimal("1.50"), "on": date, "m": MapValue.of([("k", 1)])}
    scenario = scenario_of(Insert(rows=(row,)), columns=columns)
    again = loads(dump(scenario), PATH).steps[0].operation
    assert again == Insert(rows=({"id": "a", "d": "1.50", "on": "2024-02-29", "m": {"k": 1}},))
