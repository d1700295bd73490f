"""`tools/deaths_runs.py`: whose sockets listen."""

from __future__ import annotations

import importlib
import os
import socket
from types import ModuleType, SimpleNamespace
from typing import Final

import psutil
import pytest

TABLE: Final = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 0 4711 1 0 100 0
   1: 0100007F:1F91 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000 0 4712 1 0 20 4
   2: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 7
"""


@pytest.fixture
def ports() -> ModuleType:
    return importlib.import_module("tools.deaths_runs")


def test_a_table_of_the_kernel_tells_who_listens_and_no_connection(ports: ModuleType) -> None:
    assert list(ports.parsed(TABLE)) == [ports.Port(8080, 4711), ports.Port(80, 7)]


@pytest.mark.parametrize("address", [("127.0.0.1", 0), ("::1", 0)])
def test_a_socket_is_its_holders_as_long_as_it_listens(
    ports: ModuleType, address: tuple[str, int]
) -> None:
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.create_server(address, family=family) as server:
        own = ports.Port(server.getsockname()[1], os.fstat(server.fileno()).st_ino)
        assert own in ports.ports_of([psutil.Process()])
        assert own not in ports.ports_of([psutil.Process(1), SimpleNamespace(pid=2**30)])
        assert own in ports.listening()
    assert own not in ports.listening()
