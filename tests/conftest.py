"""No test reaches the network: only loopback may be connected to.

An audit hook sees every connection that Python makes, whichever library asks. A refused attempt is also
remembered, since code under test may take the error for an ordinary connection failure and go on.
"""

from __future__ import annotations

import ipaddress
import os
import sys
from collections.abc import Iterator

import pytest

_refused: list[str] = []


def _is_loopback(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        return False


def _guard(event: str, args: tuple[object, ...]) -> None:
    if event == "socket.getaddrinfo":
        host = args[0]
    elif event == "socket.connect" and isinstance(args[1], tuple):
        host = args[1][0]
    else:
        return
    if not _is_loopback(host):
        _refused.append(f"{event} {host}")
        raise OSError(f"a test tried to reach {host}: only loopback is open to tests")


sys.addaudithook(_guard)


@pytest.fixture(autouse=True)
def _loopback_only() -> Iterator[None]:
    """Fail a test that tried to leave this machine, even where the code under test swallowed the error."""
    _refused.clear()
    yield
    assert not _refused, f"tried to reach the network: {_refused}"


@pytest.fixture(autouse=True)
def _no_inherited_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own key and addresses never reach a test, nor a proxy that would see loopback calls."""
    for name in list(os.environ):
        if name.startswith("EXTRACT_") or name.upper() in {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}:
            monkeypatch.delenv(name)
