"""Which system calls the kernel's filter refuses, by playing its program through."""

from __future__ import annotations

import errno
import socket
import struct

import pytest

from tilth.sandbox.syscalls import refusals

ALLOWED = 0x7FFF0000
X86, ARM = 0xC000003E, 0xC00000B7
OF_386 = 0x40000003


def answer(machine: str, audit: int, number: int, first: int = 0) -> int:
    """Play the program for one call, as the kernel does."""
    program = refusals(machine)
    assert program is not None
    words = {0: number, 4: audit, 16: first}
    steps = list(struct.iter_unpack("=HBBI", program))
    at = loaded = 0
    while True:
        code, yes, no, value = steps[at]
        at += 1
        match code:
            case 0x20:
                loaded = words[value]
            case 0x15:
                at += yes if loaded == value else no
            case 0x35:
                at += yes if loaded >= value else no
            case 0x06:
                return value


@pytest.mark.parametrize(
    ("machine", "audit", "number"), [("x86_64", X86, 41), ("aarch64", ARM, 198)]
)
def test_only_sockets_that_a_namespace_holds_can_be_made(
    machine: str, audit: int, number: int
) -> None:
    for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
        assert answer(machine, audit, number, family) == ALLOWED
    for family in (socket.AF_VSOCK, socket.AF_PACKET, socket.AF_ALG, 99):
        assert answer(machine, audit, number, family) & 0xFFFF == errno.EAFNOSUPPORT


@pytest.mark.parametrize(
    ("machine", "audit", "numbers"),
    [("x86_64", X86, (425, 248, 249, 250)), ("aarch64", ARM, (425, 217, 218, 219))],
)
def test_what_leads_past_the_namespaces_is_not_there(
    machine: str, audit: int, numbers: tuple[int, ...]
) -> None:
    for number in numbers:
        assert answer(machine, audit, number) & 0xFFFF == errno.ENOSYS
    for number in (0, 1, 40, 42, 53, 197, 199, 424, 426):
        assert answer(machine, audit, number, socket.AF_VSOCK) == ALLOWED


def test_a_program_that_calls_by_other_numbers_is_refused() -> None:
    assert answer("x86_64", OF_386, 1) & 0xFFFF == errno.ENOSYS
    assert answer("x86_64", X86, 0x40000000 + 41, socket.AF_INET) & 0xFFFF == errno.ENOSYS


def test_a_machine_whose_numbers_are_not_known_has_no_filter() -> None:
    assert refusals("s390x") is None
