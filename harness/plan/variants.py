"""From a combination of axis values to the variant: its scenario, its id, its writers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from harness.plan.axes import Combination, follows_axis
from harness.scenario.cells import Variant
from harness.scenario.definition import Partitioned, Scenario, Step
from harness.scenario.operations.row_writes import Rewrites, Touch
from harness.scenario.partitions import partitioned
from harness.scenario.twin import twin


@dataclass(frozen=True, slots=True)
class Makings:
    """A scenario in the forms that its variants take, each made once."""

    own: Scenario
    _forms: dict[tuple[bool, Partitioned], Scenario] = field(default_factory=dict)

    def scenario(self, combination: Combination) -> Scenario:
        """Return the scenario with the combination's axes in its table and its operations."""
        how = combination.partitioned or Partitioned.NONE
        form = combination.twin, how
        if form not in self._forms:
            made = partitioned(self.own, how)
            self._forms[form] = (twin(made) or made) if combination.twin else made
        form_scenario = self._forms[form]
        steps = tuple(_with_axis(step, combination.rewrites) for step in form_scenario.steps)
        mode = combination.merge_mode or form_scenario.table.merge_mode
        return replace(
            form_scenario, steps=steps, table=replace(form_scenario.table, merge_mode=mode)
        )


def variant(combination: Combination, makings: Makings) -> Variant:
    """Return the variant of a combination."""
    scenario = makings.scenario(combination)
    settings = combination.settings
    shown = [combination.format.NAME, *(f"{name}={v}" for name, v in settings.items())]
    shown += ["twin"] if combination.twin else []
    return Variant(
        id=f"{scenario.name}[{','.join(shown)}]@{combination.sequence}",
        scenario=scenario,
        format=combination.format.NAME,
        settings=settings,
        writers=_writers(combination, scenario),
        twin=combination.twin,
    )


def _writers(combination: Combination, scenario: Scenario) -> tuple[str, ...]:
    """Return the distribution of each step, the creation first: a step may name its own."""
    creation, *others = combination.sequence.distributions(len(scenario.steps))
    writers = (step.by or other for step, other in zip(scenario.steps, others, strict=True))
    return (creation, *writers)


def _with_axis(step: Step, value: Rewrites | None) -> Step:
    if value is None or not follows_axis(step.operation):
        return step
    return replace(step, operation=Touch(value))
