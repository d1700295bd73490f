import shutil
from pathlib import Path

from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.core.runtime_names import WRITTEN_BUCKET
from harness.runtime.api import MetastoreUris
from harness.write.writer_pool import WriteContext, WriterPool


def pool(folder: Path) -> WriterPool:
    context = WriteContext(Cache(folder / "cache"), folder / "engines", Progress())
    return WriterPool(context, MetastoreUris("thrift://127.0.0.1:1"))


def test_each_table_is_in_the_bucket_under_the_name_of_its_database(tmp_path: Path) -> None:
    made = pool(tmp_path)
    first, second = made.target(), made.target()
    assert first.database != second.database
    bucket = tmp_path / "engines" / "buckets" / WRITTEN_BUCKET
    for write_target in (first, second):
        write_target.table.mkdir()
        assert (bucket / write_target.database).samefile(write_target.table)


def test_a_later_pool_shows_its_own_table_under_a_name_that_was_there(tmp_path: Path) -> None:
    earlier = pool(tmp_path).target()
    shutil.rmtree(earlier.folder)  # as it is once its last state is frozen
    later = pool(tmp_path).target()
    later.table.mkdir()
    assert later.database == earlier.database
    bucket = tmp_path / "engines" / "buckets" / WRITTEN_BUCKET
    assert (bucket / later.database).samefile(later.table)
