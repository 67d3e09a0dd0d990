"""The guard that keeps tests off the network."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

import pytest
from support.network_guard import BeyondLoopbackError, is_local


def test_a_connection_beyond_loopback_is_refused() -> None:
    with socket.socket() as client, pytest.raises(BeyondLoopbackError, match=r"192\.0\.2\.1"):
        client.connect(("192.0.2.1", 80))


def test_a_datagram_beyond_loopback_is_refused() -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client,
        pytest.raises(BeyondLoopbackError),
    ):
        client.sendto(b"x", ("192.0.2.1", 53))


def test_a_name_is_refused_before_it_is_looked_up() -> None:
    with pytest.raises(BeyondLoopbackError, match=r"example\.invalid"):
        socket.getaddrinfo("example.invalid", 443)
    with pytest.raises(BeyondLoopbackError):
        socket.create_connection(("example.invalid", 443))


def test_loopback_works() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(("localhost", server.getsockname()[1])) as client,
    ):
        assert client.getpeername() == server.getsockname()


def test_a_unix_socket_works(tmp_path: Path) -> None:
    with contextlib.chdir(tmp_path), socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        server.listen()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect("s")
            assert client.getpeername() == "s"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost", "", None, b"::1"])
def test_these_hosts_are_this_machine(host: object) -> None:
    assert is_local(host)


@pytest.mark.parametrize("host", ["10.0.0.1", "0.0.0.1", "localhost.example.invalid", "::2"])
def test_these_hosts_are_not(host: object) -> None:
    assert not is_local(host)


def test_no_setting_of_the_person_who_runs_the_tests_is_seen() -> None:
    assert [name for name in os.environ if name.startswith(("TILTH_", "ANTHROPIC_"))] == []
