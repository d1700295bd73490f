import pytest

from harness.artifacts import distributions, object_storage
from harness.core.errors import UsageProblem
from harness.runtime import metastore, provide

URL = "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("name", "where", "key"),
    [
        ("spark-3.5.8-hudi-1.0.2", "conf", "spark.hadoop.fs.s3a.endpoint"),
        ("hive-3.1.3", "site", "fs.s3a.endpoint"),
        ("hive-metastore-3.1.3", "site", "fs.s3a.endpoint"),
        ("trino-476", "hudi_catalog", "s3.endpoint"),
    ],
)
def test_an_engine_is_reported_the_url_of_the_store_once_it_is_known(
    name: str, where: str, key: str
) -> None:
    plain, stored = distributions.load(name), distributions.load(f"{name}@s3")
    reaching = object_storage.reaching(stored, URL)
    assert key not in plain.options_if_any(where)
    assert stored.options(where)[key] != URL
    assert reaching.options(where)[key] == URL
    assert reaching.options(where).items() >= plain.options_if_any(where).items()


@pytest.mark.parametrize(("name", "more"), [("hive-3.1.3", 2), ("trino-476", 0)])
def test_only_engines_on_the_client_of_hadoop_get_its_jars(name: str, more: int) -> None:
    plain, stored = distributions.load(name), distributions.load(f"{name}@s3")
    assert len(stored.artifacts) - len(plain.artifacts) == more
    assert stored.artifacts[: len(plain.artifacts)] == plain.artifacts


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("trino-368@s3", "versions >=458 of trino are set up for an object store, and this is 368"),
        ("prestosql-350@s3", "presto is not set up for an object store"),
        ("trino-476@s4", "there is no runtime 's4'"),
    ],
)
def test_an_engine_that_is_not_set_up_for_it_is_refused(name: str, why: str) -> None:
    assert why in distributions.why_not(name)
    with pytest.raises(UsageProblem, match=r"s3|s4"):
        distributions.load(name)


def test_a_writer_reaches_the_store_through_the_catalogs_of_what_it_writes_there_alone() -> None:
    plain = distributions.load("trino-476")
    writing = object_storage.reaching(object_storage.writing(plain), URL)
    assert object_storage.written(plain) == ("delta",)
    for name in ("trino-368", "spark-3.5.8-delta-3.3.2", "deltalake-1.6.6"):
        assert object_storage.written(distributions.load(name)) == ()
    options = writing.options("delta_catalog")
    assert options["s3.endpoint"] == URL
    assert options.items() > plain.options("delta_catalog").items()
    changed = {key for key, value in writing.settings.items() if value != plain.settings[key]}
    assert (changed, writing.name) == ({"delta_catalog"}, plain.name)


def test_answers_from_a_store_are_found_at_addresses_of_their_own() -> None:
    plain, stored = (distributions.load(name) for name in ("trino-476", "trino-476@s3"))
    assert provide.digest(plain) == distributions.digest(plain)
    assert provide.digest(stored) not in (provide.digest(plain), distributions.digest(stored))


@pytest.mark.parametrize(
    ("names", "needed"),
    [
        (("trino-476", "spark-3.5.8-hudi-0.15.0"), "hive-metastore-3.1.3"),
        (("trino-476@container", "spark-3.5.8"), "hive-metastore-3.1.3@container"),
        (("trino-476", "hive-3.1.3@s3"), "hive-metastore-3.1.3@s3"),
    ],
)
def test_the_metastore_is_one_that_all_engines_can_use(names: tuple[str, ...], needed: str) -> None:
    assert metastore.distribution_for(names) == needed
