import threading
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from harness.artifacts import distributions
from harness.core.errors import EnvironmentProblem
from harness.runtime import memory
from harness.runtime.memory import MACHINE, Free, free

MB = 1 << 20
TRINO = distributions.load("trino-476")


def group(folder: Path, most: str, used: int, inactive: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{most}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 5\ninactive_file {inactive}\n")


def process_group(tmp_path: Path, text: str) -> Path:
    (tmp_path / "cgroup").write_text(text)
    return tmp_path / "cgroup"


def test_without_control_groups_it_is_what_the_machine_has_free(tmp_path: Path) -> None:
    left = free(tmp_path / "none", tmp_path)
    assert left.where == MACHINE
    assert 0 < left.mb <= psutil.virtual_memory().total // MB


def test_what_a_control_group_leaves_counts_when_it_is_less(tmp_path: Path) -> None:
    groups = tmp_path / "groups"
    group(groups / "job", str(100 * MB), 90 * MB, inactive=30 * MB)
    left = free(process_group(tmp_path, "0::/job\n"), groups)
    assert left == Free(40, f"left of the 100 MB that {groups / 'job'} allows")


def test_the_narrowest_group_above_counts_and_in_a_container_its_own(tmp_path: Path) -> None:
    groups = tmp_path / "groups"
    group(groups / "all", str(80 * MB), 70 * MB)
    group(groups / "all" / "job", "max", 60 * MB)
    assert free(process_group(tmp_path, "0::/all/job\n"), groups).mb == 10
    group(groups, str(50 * MB), 20 * MB)
    assert free(process_group(tmp_path, "0::/path/on/the/host\n"), groups).mb == 30


def test_the_first_version_of_control_groups_is_read_too(tmp_path: Path) -> None:
    folder = tmp_path / "groups" / "memory" / "job"
    folder.mkdir(parents=True)
    (folder / "memory.limit_in_bytes").write_text(f"{64 * MB}\n")
    (folder / "memory.usage_in_bytes").write_text(f"{60 * MB}\n")
    (folder / "memory.stat").write_text(f"total_inactive_file {4 * MB}\n")
    text = "5:cpu,cpuacct:/job\n4:memory:/job\n"
    assert free(process_group(tmp_path, text), tmp_path / "groups").mb == 8


def test_a_server_that_does_not_fit_is_refused_with_the_figures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "free", lambda: Free(799, "left of the 900 MB that x allows"))
    memory.check(replace(TRINO, memory_mb=799))
    message = (
        "trino-476 is not started: it takes 800 MB of memory, and 799 MB are left of the 900 MB"
    )
    with pytest.raises(EnvironmentProblem, match=message):
        memory.check(replace(TRINO, memory_mb=800))
    budget = memory.MemoryBudget()  # where nothing else runs it does not wait
    waits = budget.wait_for(replace(TRINO, memory_mb=800))
    with pytest.raises(EnvironmentProblem, match=message), waits:
        pass
    with budget.wait_for(replace(TRINO, memory_mb=799)):
        pass


def test_a_server_waits_where_it_does_not_fit_beside_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "free", lambda: Free(1000, MACHINE))
    budget, order = memory.MemoryBudget(), []
    begun = threading.Event()

    def second() -> None:
        begun.set()
        with budget.wait_for(replace(TRINO, memory_mb=501)):
            order.append("second")

    thread = threading.Thread(target=second)
    with budget.wait_for(replace(TRINO, memory_mb=500)):
        thread.start()
        begun.wait(30)
        with budget.wait_for(replace(TRINO, memory_mb=400)):
            order.append("beside")
        order.append("first")
    thread.join(30)
    assert order == ["beside", "first", "second"]


def test_what_is_retained_for_a_writer_is_taken_and_nobody_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    budget, order, looked = memory.MemoryBudget(), list[str](), threading.Event()

    def free() -> Free:
        order.append("looked")
        looked.set()
        return Free(1000, MACHINE)

    def reads() -> None:
        with budget.wait_for(replace(TRINO, memory_mb=700)):
            order.append("reads")

    monkeypatch.setattr(memory, "free", free)
    thread = threading.Thread(target=reads)
    with budget.reserve(800):  # more than is left beside 700
        thread.start()
        assert looked.wait(30)
        with budget.reserve(800):  # who waits has released the lock
            order.append("written")
    thread.join(30)
    assert order[:2] == ["looked", "written"]
    assert order[-1] == "reads"
