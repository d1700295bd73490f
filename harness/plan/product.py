"""The product of a profile's axes, less what cannot be, each exclusion with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness.core.errors import Fault
from harness.plan import (
    axes,
    cell_choice,
    check_names,
    metastore_support,
    pairs,
    writer_support,
)
from harness.plan.axes import Combination, Makings, variant
from harness.plan.capabilities import (
    Cannot,
    CannotShow,
    Capabilities,
    Makers,
    anything,
    every_view,
)
from harness.plan.cell_choice import VariantValues
from harness.plan.constraints import impossible
from harness.plan.profile import Cover, Profile, named
from harness.scenario.cells import Cell, Excluded, Pairs, Plan, Variant
from harness.scenario.definition import Scenario


def plan(
    scenarios: Sequence[Scenario],
    profile: Profile,
    formats: Iterable[Capabilities],
    makers: Makers | None = None,
    cannot: Cannot = anything,
    cannot_show: CannotShow = every_view,
) -> Plan:
    """Return everything a run of the profile will do; nothing is decided later.

    Raises:
        ScenarioProblem: the profile or a scenario names something that there is not.

    """
    known = {format_.NAME: format_ for format_ in formats}
    chosen = _chosen(scenarios, profile)
    _check(chosen, profile, known)
    excluded: list[Excluded] = []
    variants: list[Variant] = []
    cells: list[Cell] = []
    covered: list[Pairs] = []
    for scenario in chosen:
        product = axes.combinations(scenario, profile, known, makers or {}, excluded)
        if profile.cover is Cover.PAIRS:
            result, pairs = _by_pairs(scenario, product, makers or {})
            covered.append(pairs)
        else:
            result = _all(scenario, product, makers or {}, excluded)
        variants += (variant for variant, _ in result)
        cells += cell_choice.cells(result, profile, known, cannot, cannot_show, excluded)
    return Plan(
        profile=profile.name,
        variants=tuple(variants),
        readers=tuple(asked_reader.reader for asked_reader in profile.readers),
        cells=tuple(cells),
        excluded=tuple(dict.fromkeys(excluded)),
        pairs=tuple(covered),
        partly=tuple(cell_choice.partly(profile, variants, cells, cannot)),
        ask_again=profile.ask_again,
        metastore=metastore_support.metastore_in_reach(profile),
        chosen=profile.chosen,
    )


def _chosen(scenarios: Sequence[Scenario], profile: Profile) -> tuple[Scenario, ...]:
    check_names.raise_if_any(
        check_names.wrong_scenarios(profile, check_names.given_scenarios(scenarios))
    )
    return tuple(
        scenario
        for scenario in scenarios
        if any(named(scenario.name, pattern) for pattern in profile.scenarios)
    )


def _check(
    scenarios: Sequence[Scenario], profile: Profile, known: Mapping[str, Capabilities]
) -> None:
    wrong: tuple[Fault, ...] = (
        *check_names.wrong_formats(profile, known),
        *check_names.wrong_settings(profile, known),
    )
    for scenario in scenarios:
        wrong += (
            *check_names.unknown_formats(scenario, known),
            *check_names.wrong_axes(scenario, known),
        )
        wrong += tuple(writer_support.wrong_steps(scenario))
    check_names.raise_if_any(wrong)


def _all(
    scenario: Scenario,
    product: Sequence[Combination],
    makers: Makers,
    excluded: list[Excluded],
) -> list[VariantValues]:
    makings = Makings(scenario)
    variants: dict[str, VariantValues] = {}
    for combination in product:
        made = variant(combination, makings)
        if why := impossible(combination, made.scenario, makers):
            excluded.append(Excluded(made.id, why))
        else:
            variants[made.id] = made, combination.values
    return list(variants.values())


def _by_pairs(
    scenario: Scenario, product: Sequence[Combination], makers: Makers
) -> tuple[list[VariantValues], Pairs]:
    """Return the variants that cover all pairs which can be, and say what cannot."""
    makings = Makings(scenario)
    can: list[Combination] = []
    reasons: dict[pairs.AxisPair, str] = {}
    for combination in product:
        why = impossible(combination, makings.scenario(combination), makers)
        if not why:
            can.append(combination)
        for pair in pairs.pairs_of(combination.values) if why else ():
            reasons.setdefault(pair, why)
    values = [combination.values for combination in can]
    chosen = [can[at] for at in pairs.cover(values)]
    covered = pairs.all_pairs(values)
    lacking = [pair for pair in reasons if pair not in frozenset(covered)]
    result = Pairs(
        scenario=scenario.name,
        axes={name: tuple(axis) for name, axis in _axes(values).items()},
        variants=len(chosen),
        combinations=len(can),
        covered=len(covered),
        cannot=tuple(Excluded(_text(pair), reasons[pair]) for pair in lacking),
    )
    made = ((variant(combination, makings), combination.values) for combination in chosen)
    return list({pair[0].id: pair for pair in made}.values()), result


def _axes(combinations: Iterable[Mapping[str, str]]) -> Mapping[str, dict[str, None]]:
    reasons: dict[str, dict[str, None]] = {}
    for combination in combinations:
        for name, value in combination.items():
            reasons.setdefault(name, {})[value] = None
    return reasons


def _text(pair: pairs.AxisPair) -> str:
    return " with ".join(f"{name}={value}" for name, value in pair)
