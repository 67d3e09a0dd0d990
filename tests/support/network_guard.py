"""The network guard: refuses every address beyond loopback, for as long as the process lives.

It is an audit hook, so it sees what any library in this process tries. A child process is not
covered.
"""

from __future__ import annotations

import ipaddress
import sys
from typing import Any

_ADDRESS_LAST = {"socket.connect", "socket.sendto", "socket.sendmsg"}
_HOST_FIRST = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}


class BeyondLoopbackError(RuntimeError):
    """Name the address a test tried to reach; no OSError, so that no retry swallows it."""


def install() -> None:
    """Start to refuse; it cannot be undone."""
    sys.addaudithook(_refuse_beyond_loopback)


def is_local(host: object) -> bool:
    """Tell whether a host is this machine; an empty one means the wildcard or none."""
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if text is None or text in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(text)).is_loopback
    except ValueError:
        return False


def _refuse_beyond_loopback(event: str, args: tuple[Any, ...]) -> None:
    if event in _ADDRESS_LAST:
        address = args[1]
        # a Unix socket's address is a text; sendmsg on a connected socket has none
        host = address[0] if isinstance(address, tuple) else None
    elif event in _HOST_FIRST:
        host = args[0]
    else:
        return
    if not is_local(host):
        raise BeyondLoopbackError(f"tests may reach loopback only, not {host!r}")
