#!/usr/bin/env bash
# PyHive 0.7.0 over TLS, with thrift 0.25.0: whoever cannot reach a HiveServer2, or does not trust
# its certificate, is told of an attribute of None. The socket without TLS says why; that with TLS
# raises in close(), which PyHive calls after any failure, since it was never opened.
#
# Seen: TTransportException: Could not connect to any of [('127.0.0.1', …)] without TLS, and
# AttributeError: 'NoneType' object has no attribute 'settimeout' with it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib pyhive==0.7.0 thrift==0.25.0
PYTHONPATH=lib python3 - <<'PYTHON'
import logging
import socket
import ssl

from pyhive import hive
from thrift.transport.TSocket import TSocket
from thrift.transport.TSSLSocket import TSSLSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException

logging.disable()
with socket.socket() as unused:
    unused.bind(("127.0.0.1", 0))
    port = unused.getsockname()[1]


def failure(transport):
    try:
        hive.Connection(thrift_transport=TBufferedTransport(transport), username="somebody")
    except Exception as problem:
        print(f"{type(problem).__name__}: {problem}")
        return problem
    raise AssertionError("nobody listens there")


assert isinstance(failure(TSocket("127.0.0.1", port)), TTransportException)
hidden = failure(TSSLSocket("127.0.0.1", port, ssl_context=ssl.create_default_context()))
assert isinstance(hidden, AttributeError)
assert "settimeout" in str(hidden)
PYTHON
