"""Which system calls a confined command is refused, as a program for the kernel's filter.

Namespaces do not hold everything. A socket to the host of a virtual machine, or to a radio, belongs
to no network namespace; the kernel's key rings belong to the user; and io_uring makes sockets that
no filter sees. So only sockets of families that a namespace does hold can be made, and the other
two are not there. Pure: it only builds the bytes.
"""

from __future__ import annotations

import errno
import functools
import platform
import socket
import struct
from dataclasses import dataclass

_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16)  # 16: netlink, to list addresses

# How the kernel's filter is written: load a word, jump if equal or not below, return.
_LOAD, _EQUAL, _NOT_BELOW, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
# Calls of another kind on the same machine, with numbers of their own.
_X32 = 0x40000000


@dataclass(frozen=True)
class _Machine:
    """Hold the numbers that a kind of processor gives to itself and to the calls."""

    audit: int
    socket: int
    absent: tuple[int, ...]


_MACHINES = {
    # io_uring_setup, add_key, request_key, keyctl
    "x86_64": _Machine(0xC000003E, 41, (425, 248, 249, 250)),
    "aarch64": _Machine(0xC00000B7, 198, (425, 217, 218, 219)),
}


@functools.cache
def refusals(machine: str | None = None) -> bytes | None:
    """Give the program for this kind of processor; None where its numbers are not known."""
    about = _MACHINES.get(machine or platform.machine())
    if about is None:
        return None
    absent, unsupported = _REFUSE | errno.ENOSYS, _REFUSE | errno.EAFNOSUPPORT
    checks = [
        *((_EQUAL, number, 0, 1, absent) for number in about.absent),
        (_NOT_BELOW, _X32, 0, 1, absent),
        (_EQUAL, about.socket, 1, 0, _ALLOW),
    ]
    program = [
        # A 32-bit program would call by other numbers.
        *((_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, about.audit), (_RETURN, 0, 0, absent)),
        (_LOAD, 0, 0, _NUMBER),
    ]
    for code, value, yes, no, answer in checks:
        program += [(code, yes, no, value), (_RETURN, 0, 0, answer)]
    program.append((_LOAD, 0, 0, _FIRST_ARGUMENT))
    for family in _FAMILIES:
        program += [(_EQUAL, 0, 1, int(family)), (_RETURN, 0, 0, _ALLOW)]
    program.append((_RETURN, 0, 0, unsupported))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
