"""The ways of reading: what they are called, which is a part of which, how many are tried."""

from __future__ import annotations

from harness.model.simulation.strategies import AT_ONCE, Beyond, By, Logs, Way, ways

FINDERS = (By.ID, By.NAME, By.POSITION)


def test_a_way_is_called_by_how_it_finds_columns_and_what_it_does_beyond() -> None:
    assert str(Way(By.NAME)) == "by name"
    assert str(Way(By.NAME, Logs.IGNORED)) == "by name, base files only"
    assert str(Way(By.ID, catalog=3, pruned=By.NAME)) == (
        "by id, catalog of step 3, files left out by name"
    )
    assert str(Way(By.ID, listed=True)) == "by id, partitions by their own column lists"
    assert str(Way(By.POSITION, stored=True)) == "by position, values as they are stored"
    assert str(Way(By.ID, overlaid=True)) == "by id, three of Hudi's columns under others"
    assert str(Way(By.NAME, Logs.BY_ID, rekeyed=True)) == (
        "by name, log files by id, record keys from the third column"
    )
    assert str(Way(By.POSITION, cast=True)) == "by position, values converted to the column's type"
    assert str(Way(By.ID, Logs.BY_NAME, partless=True)) == (
        "by id, log files by name, structs without a part in the file are NULL"
    )
    assert str(Way(By.NAME, cast=True)) == "by name, texts that are no numbers are NULL"
    assert str(Way(By.RENUMBERED, cut=True)) == (
        "by id, ids given anew in each file, timestamps in milliseconds"
    )


def test_a_way_includes_those_that_find_columns_alike_and_do_less() -> None:
    whole = Way(By.NAME, Logs.IGNORED, catalog=2)
    assert whole.includes(Way(By.NAME))
    assert whole.includes(Way(By.NAME, Logs.IGNORED))
    assert not whole.includes(whole)
    assert not whole.includes(Way(By.NAME, Logs.UNDELETED))
    assert not whole.includes(Way(By.POSITION))


def test_without_log_files_schema_changes_and_predicate_only_finding_columns_differs() -> None:
    assert list(map(str, ways(FINDERS))) == ["by id", "by name", "by position"]


def test_smaller_ways_come_first_and_not_too_much_is_combined() -> None:
    found = ways(FINDERS, Beyond((Logs.IGNORED,), {By.NAME: (1, 2)}, prunes=True))
    sizes = [len(way.beyond) for way in found]
    assert sizes == sorted(sizes)
    assert max(sizes) == AT_ONCE
    assert len(set(found)) == len(found)


def test_no_way_is_tried_under_two_names() -> None:
    found = ways(FINDERS, Beyond((Logs.BY_ID,), prunes=True))
    assert all(way.by is not way.pruned for way in found)
    assert Way(By.ID, Logs.BY_ID) not in found
    assert Way(By.NAME, Logs.BY_ID) in found


def test_a_way_that_does_more_with_values_includes_the_one_that_does_not() -> None:
    assert Way(By.NAME, listed=True).includes(Way(By.NAME))
    assert Way(By.NAME, Logs.IGNORED, stored=True).includes(Way(By.NAME, stored=True))
    assert not Way(By.NAME, stored=True).includes(Way(By.NAME, listed=True))


def test_ways_in_which_no_engine_reads_are_not_tried() -> None:
    found = ways(
        FINDERS, Beyond((Logs.IGNORED,), {By.NAME: (1,)}, listed=True, stored=(By.ID, By.NAME))
    )
    assert {way.by for way in found if way.listed} == {By.ID, By.NAME}
    assert {way.by for way in found if way.stored} == {By.NAME}
    assert Way(By.NAME, Logs.IGNORED, listed=True) in found
    assert not any(way.listed and (way.stored or way.catalog) for way in found)
    assert not any(way.listed or way.stored for way in ways(FINDERS))


def test_hudis_columns_are_shown_under_others_only_by_id_with_log_files_merged() -> None:
    found = ways(
        FINDERS, Beyond((Logs.IGNORED,), {By.ID: (1,)}, prunes=True, listed=True, overlaid=True)
    )
    shown = {way for way in found if way.overlaid}
    assert shown == {Way(By.ID, overlaid=True), Way(By.ID, listed=True, overlaid=True)}
    assert Way(By.ID, overlaid=True).includes(Way(By.ID))
    assert not any(way.overlaid for way in ways(FINDERS))


def test_log_files_are_found_by_name_beside_base_files_by_id_in_the_catalog_of_today() -> None:
    found = ways(FINDERS, Beyond((Logs.BY_ID, Logs.BY_NAME), {By.ID: (1,)}, prunes=True))
    by_name = {way for way in found if way.logs is Logs.BY_NAME}
    assert {(way.by, way.catalog) for way in by_name} == {(By.ID, None)}
    assert Way(By.ID, Logs.BY_NAME, pruned=By.NAME) in by_name


def test_structs_without_a_part_make_a_way_of_each_that_may_lack_them() -> None:
    found = ways(FINDERS, Beyond(partless=(By.ID,)))
    assert {way for way in found if way.partless} == {Way(By.ID, partless=True)}
    assert Way(By.ID, partless=True).includes(Way(By.ID))


def test_who_takes_record_keys_from_the_third_column_does_nothing_else() -> None:
    every = Beyond((Logs.BY_ID, Logs.IGNORED), {By.ID: (1,)}, prunes=True, cut=True, rekeyed=True)
    found = {way for way in ways(FINDERS, every) if way.rekeyed}
    assert found == {Way(By.ID, rekeyed=True), Way(By.NAME, Logs.BY_ID, rekeyed=True)}
    assert Way(By.NAME, Logs.BY_ID, rekeyed=True).includes(Way(By.NAME, Logs.BY_ID))
    assert not any(way.rekeyed for way in ways(FINDERS))


def test_who_casts_or_cuts_or_gives_ids_anew_does_not_take_values_as_they_are_stored() -> None:
    finders, every = (By.ID, By.NAME, By.RENUMBERED), (By.NAME, By.RENUMBERED)
    catalogs = dict.fromkeys(finders, (1,))
    made = ways(finders, Beyond((), catalogs, prunes=True, stored=every, cast=(By.NAME,), cut=True))
    found = set(made)
    assert found > {Way(By.ID, cut=True), Way(By.NAME, cast=True), Way(By.RENUMBERED, cut=True)}
    assert not any(way.cast + way.cut + way.stored > 1 for way in found)
    anew = {way for way in found if way.by is By.RENUMBERED}
    assert not any(way.stored or way.catalog for way in anew)
    assert By.RENUMBERED not in {way.pruned for way in found}
