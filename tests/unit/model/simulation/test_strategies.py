"""The ways of reading: what they are called, which is a part of which, how many are tried."""

import pytest

from harness.model.simulation.strategies import (
    AT_ONCE,
    ColumnMapping,
    Deviation,
    Logs,
    ReadStrategy,
    read_strategies,
)

ID, NAME, POSITION = ColumnMapping.ID, ColumnMapping.NAME, ColumnMapping.POSITION
FINDERS = (ID, NAME, POSITION)


@pytest.mark.parametrize(
    ("strategy", "text"),
    [
        (ReadStrategy(NAME, Logs.IGNORED), "by name, base files only"),
        (
            ReadStrategy(ID, catalog=3, pruned=NAME),
            "by id, catalog of step 3, files left out by name",
        ),
        (ReadStrategy(POSITION, stored=True), "by position, values as they are stored"),
        (
            ReadStrategy(NAME, Logs.BY_ID, rekeyed=True),
            "by name, log files by id, record keys from the third column",
        ),
        (ReadStrategy(POSITION, cast=True), "by position, values converted to the column's type"),
        (
            ReadStrategy(ID, Logs.BY_NAME, partless=True),
            "by id, log files by name, structs without a part in the file are NULL",
        ),
        (ReadStrategy(NAME, cast=True), "by name, texts that are no numbers are NULL"),
        (
            ReadStrategy(ColumnMapping.RENUMBERED, cut=True),
            "by id, ids given anew in each file, timestamps in milliseconds",
        ),
    ],
)
def test_a_strategy_is_called_by_how_it_finds_columns_and_what_it_does_beyond(
    strategy: ReadStrategy, text: str
) -> None:
    assert str(strategy) == text


def test_a_strategy_includes_those_that_find_columns_the_same_way_and_do_less() -> None:
    whole = ReadStrategy(NAME, Logs.IGNORED, catalog=2)
    assert whole.includes(ReadStrategy(NAME))
    assert whole.includes(ReadStrategy(NAME, Logs.IGNORED))
    assert not whole.includes(whole)
    assert not whole.includes(ReadStrategy(NAME, Logs.UNDELETED))
    assert not whole.includes(ReadStrategy(POSITION))


def test_without_log_files_schema_changes_and_predicate_only_finding_columns_differs() -> None:
    assert list(map(str, read_strategies(FINDERS))) == ["by id", "by name", "by position"]


def test_smaller_ways_come_first_and_not_too_much_is_combined() -> None:
    strategies = read_strategies(FINDERS, Deviation((Logs.IGNORED,), {NAME: (1, 2)}, prunes=True))
    sizes = [len(strategy.deviations) for strategy in strategies]
    assert sizes == sorted(sizes)
    assert max(sizes) == AT_ONCE
    assert len(set(strategies)) == len(strategies)


def test_ways_in_which_no_engine_reads_are_not_tried() -> None:
    can = Deviation((Logs.IGNORED,), {NAME: (1,)}, listed=True, stored=(ID, NAME))
    strategies = read_strategies(FINDERS, can)
    assert {strategy.mapping for strategy in strategies if strategy.listed} == {ID, NAME}
    assert {strategy.mapping for strategy in strategies if strategy.stored} == {NAME}
    assert ReadStrategy(NAME, Logs.IGNORED, listed=True) in strategies
    assert not any(
        strategy.listed and (strategy.stored or strategy.catalog) for strategy in strategies
    )
    assert not any(strategy.listed or strategy.stored for strategy in read_strategies(FINDERS))


def test_hudis_columns_are_shown_under_others_only_by_id_with_log_files_merged() -> None:
    can = Deviation((Logs.IGNORED,), {ID: (1,)}, prunes=True, listed=True, overlaid=True)
    shown = {strategy for strategy in read_strategies(FINDERS, can) if strategy.overlaid}
    assert shown == {ReadStrategy(ID, overlaid=True), ReadStrategy(ID, listed=True, overlaid=True)}
    assert ReadStrategy(ID, overlaid=True).includes(ReadStrategy(ID))
    assert not any(strategy.overlaid for strategy in read_strategies(FINDERS))


def test_who_takes_record_keys_from_the_third_column_does_nothing_else() -> None:
    every = Deviation((Logs.BY_ID, Logs.IGNORED), {ID: (1,)}, prunes=True, cut=True, rekeyed=True)
    result = {strategy for strategy in read_strategies(FINDERS, every) if strategy.rekeyed}
    assert result == {ReadStrategy(ID, rekeyed=True), ReadStrategy(NAME, Logs.BY_ID, rekeyed=True)}
    assert ReadStrategy(NAME, Logs.BY_ID, rekeyed=True).includes(ReadStrategy(NAME, Logs.BY_ID))
    assert not any(strategy.rekeyed for strategy in read_strategies(FINDERS))


def test_who_casts_or_cuts_or_gives_ids_anew_does_not_take_values_as_they_are_stored() -> None:
    finders = (ID, NAME, ColumnMapping.RENUMBERED)
    catalogs = dict.fromkeys(finders, (1,))
    can = Deviation((), catalogs, prunes=True, stored=finders[1:], cast=(NAME,), cut=True)
    strategies = set(read_strategies(finders, can))
    assert strategies > {
        ReadStrategy(ID, cut=True),
        ReadStrategy(NAME, cast=True),
        ReadStrategy(ColumnMapping.RENUMBERED, cut=True),
    }
    assert not any(strategy.cast + strategy.cut + strategy.stored > 1 for strategy in strategies)
    anew = {strategy for strategy in strategies if strategy.mapping is ColumnMapping.RENUMBERED}
    assert not any(strategy.stored or strategy.catalog for strategy in anew)
    assert ColumnMapping.RENUMBERED not in {strategy.pruned for strategy in strategies}
