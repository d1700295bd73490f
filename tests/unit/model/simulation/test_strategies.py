"""The ways of reading: what they are called, which is a part of which, how many are tried."""

from __future__ import annotations

from harness.model.simulation.strategies import (
    AT_ONCE,
    ColumnMapping,
    Deviation,
    Logs,
    ReadStrategy,
    read_strategies,
)

FINDERS = (ColumnMapping.ID, ColumnMapping.NAME, ColumnMapping.POSITION)


def test_a_way_is_called_by_how_it_finds_columns_and_what_it_does_beyond() -> None:
    assert str(ReadStrategy(ColumnMapping.NAME)) == "by name"
    assert str(ReadStrategy(ColumnMapping.NAME, Logs.IGNORED)) == "by name, base files only"
    assert str(ReadStrategy(ColumnMapping.ID, catalog=3, pruned=ColumnMapping.NAME)) == (
        "by id, catalog of step 3, files left out by name"
    )
    assert (
        str(ReadStrategy(ColumnMapping.ID, listed=True))
        == "by id, partitions by their own column lists"
    )
    assert (
        str(ReadStrategy(ColumnMapping.POSITION, stored=True))
        == "by position, values as they are stored"
    )
    assert (
        str(ReadStrategy(ColumnMapping.ID, overlaid=True))
        == "by id, three of Hudi's columns under others"
    )
    assert str(ReadStrategy(ColumnMapping.NAME, Logs.BY_ID, rekeyed=True)) == (
        "by name, log files by id, record keys from the third column"
    )
    assert (
        str(ReadStrategy(ColumnMapping.POSITION, cast=True))
        == "by position, values converted to the column's type"
    )
    assert str(ReadStrategy(ColumnMapping.ID, Logs.BY_NAME, partless=True)) == (
        "by id, log files by name, structs without a part in the file are NULL"
    )
    assert (
        str(ReadStrategy(ColumnMapping.NAME, cast=True))
        == "by name, texts that are no numbers are NULL"
    )
    assert str(ReadStrategy(ColumnMapping.RENUMBERED, cut=True)) == (
        "by id, ids given anew in each file, timestamps in milliseconds"
    )


def test_a_way_includes_those_that_find_columns_alike_and_do_less() -> None:
    whole = ReadStrategy(ColumnMapping.NAME, Logs.IGNORED, catalog=2)
    assert whole.includes(ReadStrategy(ColumnMapping.NAME))
    assert whole.includes(ReadStrategy(ColumnMapping.NAME, Logs.IGNORED))
    assert not whole.includes(whole)
    assert not whole.includes(ReadStrategy(ColumnMapping.NAME, Logs.UNDELETED))
    assert not whole.includes(ReadStrategy(ColumnMapping.POSITION))


def test_without_log_files_schema_changes_and_predicate_only_finding_columns_differs() -> None:
    assert list(map(str, read_strategies(FINDERS))) == ["by id", "by name", "by position"]


def test_smaller_ways_come_first_and_not_too_much_is_combined() -> None:
    found = read_strategies(
        FINDERS, Deviation((Logs.IGNORED,), {ColumnMapping.NAME: (1, 2)}, prunes=True)
    )
    sizes = [len(way.deviations) for way in found]
    assert sizes == sorted(sizes)
    assert max(sizes) == AT_ONCE
    assert len(set(found)) == len(found)


def test_no_way_is_tried_under_two_names() -> None:
    found = read_strategies(FINDERS, Deviation((Logs.BY_ID,), prunes=True))
    assert all(way.mapping is not way.pruned for way in found)
    assert ReadStrategy(ColumnMapping.ID, Logs.BY_ID) not in found
    assert ReadStrategy(ColumnMapping.NAME, Logs.BY_ID) in found


def test_a_way_that_does_more_with_values_includes_the_one_that_does_not() -> None:
    assert ReadStrategy(ColumnMapping.NAME, listed=True).includes(ReadStrategy(ColumnMapping.NAME))
    assert ReadStrategy(ColumnMapping.NAME, Logs.IGNORED, stored=True).includes(
        ReadStrategy(ColumnMapping.NAME, stored=True)
    )
    assert not ReadStrategy(ColumnMapping.NAME, stored=True).includes(
        ReadStrategy(ColumnMapping.NAME, listed=True)
    )


def test_ways_in_which_no_engine_reads_are_not_tried() -> None:
    found = read_strategies(
        FINDERS,
        Deviation(
            (Logs.IGNORED,),
            {ColumnMapping.NAME: (1,)},
            listed=True,
            stored=(ColumnMapping.ID, ColumnMapping.NAME),
        ),
    )
    assert {way.mapping for way in found if way.listed} == {ColumnMapping.ID, ColumnMapping.NAME}
    assert {way.mapping for way in found if way.stored} == {ColumnMapping.NAME}
    assert ReadStrategy(ColumnMapping.NAME, Logs.IGNORED, listed=True) in found
    assert not any(way.listed and (way.stored or way.catalog) for way in found)
    assert not any(way.listed or way.stored for way in read_strategies(FINDERS))


def test_hudis_columns_are_shown_under_others_only_by_id_with_log_files_merged() -> None:
    found = read_strategies(
        FINDERS,
        Deviation(
            (Logs.IGNORED,), {ColumnMapping.ID: (1,)}, prunes=True, listed=True, overlaid=True
        ),
    )
    shown = {way for way in found if way.overlaid}
    assert shown == {
        ReadStrategy(ColumnMapping.ID, overlaid=True),
        ReadStrategy(ColumnMapping.ID, listed=True, overlaid=True),
    }
    assert ReadStrategy(ColumnMapping.ID, overlaid=True).includes(ReadStrategy(ColumnMapping.ID))
    assert not any(way.overlaid for way in read_strategies(FINDERS))


def test_log_files_are_found_by_name_beside_base_files_by_id_in_the_catalog_of_today() -> None:
    found = read_strategies(
        FINDERS, Deviation((Logs.BY_ID, Logs.BY_NAME), {ColumnMapping.ID: (1,)}, prunes=True)
    )
    by_name = {way for way in found if way.logs is Logs.BY_NAME}
    assert {(way.mapping, way.catalog) for way in by_name} == {(ColumnMapping.ID, None)}
    assert ReadStrategy(ColumnMapping.ID, Logs.BY_NAME, pruned=ColumnMapping.NAME) in by_name


def test_structs_without_a_part_make_a_way_of_each_that_may_lack_them() -> None:
    found = read_strategies(FINDERS, Deviation(partless=(ColumnMapping.ID,)))
    assert {way for way in found if way.partless} == {ReadStrategy(ColumnMapping.ID, partless=True)}
    assert ReadStrategy(ColumnMapping.ID, partless=True).includes(ReadStrategy(ColumnMapping.ID))


def test_who_takes_record_keys_from_the_third_column_does_nothing_else() -> None:
    every = Deviation(
        (Logs.BY_ID, Logs.IGNORED), {ColumnMapping.ID: (1,)}, prunes=True, cut=True, rekeyed=True
    )
    found = {way for way in read_strategies(FINDERS, every) if way.rekeyed}
    assert found == {
        ReadStrategy(ColumnMapping.ID, rekeyed=True),
        ReadStrategy(ColumnMapping.NAME, Logs.BY_ID, rekeyed=True),
    }
    assert ReadStrategy(ColumnMapping.NAME, Logs.BY_ID, rekeyed=True).includes(
        ReadStrategy(ColumnMapping.NAME, Logs.BY_ID)
    )
    assert not any(way.rekeyed for way in read_strategies(FINDERS))


def test_who_casts_or_cuts_or_gives_ids_anew_does_not_take_values_as_they_are_stored() -> None:
    finders, every = (
        (ColumnMapping.ID, ColumnMapping.NAME, ColumnMapping.RENUMBERED),
        (ColumnMapping.NAME, ColumnMapping.RENUMBERED),
    )
    catalogs = dict.fromkeys(finders, (1,))
    made = read_strategies(
        finders,
        Deviation((), catalogs, prunes=True, stored=every, cast=(ColumnMapping.NAME,), cut=True),
    )
    found = set(made)
    assert found > {
        ReadStrategy(ColumnMapping.ID, cut=True),
        ReadStrategy(ColumnMapping.NAME, cast=True),
        ReadStrategy(ColumnMapping.RENUMBERED, cut=True),
    }
    assert not any(way.cast + way.cut + way.stored > 1 for way in found)
    anew = {way for way in found if way.mapping is ColumnMapping.RENUMBERED}
    assert not any(way.stored or way.catalog for way in anew)
    assert ColumnMapping.RENUMBERED not in {way.pruned for way in found}
