from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from harness.artifacts import table_homes
from harness.artifacts.cache import Cache
from harness.artifacts.cache_cleanup import sweep

WRITE = (
    "import signal, sys; from pathlib import Path\n"
    "from harness.artifacts import cache, table_homes\n"
    "with table_homes.new(cache.Cache(Path(sys.argv[1]))) as home:\n"
    "    (home / 'data').mkdir(parents=True)\n"
    "    print(home, flush=True)\n"
    "    signal.pause()\n"
)


def broken_off(cache: Cache, *, wrote: bool) -> Path:
    with suppress(KeyboardInterrupt), table_homes.new(cache) as home:
        if wrote:
            (home / "data").mkdir(parents=True)
        raise KeyboardInterrupt
    return home


def left(cache: Cache) -> list[str]:
    there = (path.name for path in table_homes.folder(cache).iterdir())
    return [name for name in there if not name.endswith(".lock")]


def test_a_home_is_its_writers_as_long_as_that_lives_and_then_the_next_sweeps(
    tmp_path: Path,
) -> None:
    cache, command = Cache(tmp_path), [sys.executable, "-c", WRITE, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        home = Path(writer.stdout.readline().strip())
        swept, there = sweep(cache), (home / "data").is_dir()
        writer.kill()
    assert (swept, there) == ((), True)
    assert len(sweep(cache)) == 1
    assert left(cache) == []


def test_a_sweep_that_dies_is_gone_on_with_and_takes_nothing_that_is_read_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path)
    broken_off(cache, wrote=False)
    sweep(cache)
    assert left(cache) == []
    home = broken_off(cache, wrote=True)
    with monkeypatch.context() as died:
        died.setattr(table_homes, "remove", lambda _: None)
        sweep(cache)
    assert not home.exists()
    table_homes.keep(home)
    home.mkdir()
    sweep(cache)
    assert left(cache) == [home.name]
