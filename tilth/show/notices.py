"""Notices: one line of talk to the person, on stderr, beside whatever a command prints."""

from __future__ import annotations

import errno
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tilth.base.safe_text import inert
from tilth.show.pen import let_go, settle


def complain(message: str) -> None:
    """Print an error, one line for each problem, inert whatever it quotes."""
    for line in message.splitlines() or [message]:
        tell(f"tilth: {inert(line)}")


def tell(line: str) -> None:
    """Print one line of talk to stderr; a closed stderr is no reason to fail."""
    try:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
    except BlockingIOError:
        # A terminal that is full for a moment: what was held back comes with the next line.
        return
    except (OSError, ValueError):
        let_go(sys.stderr)


def tell_from_handler(line: str) -> None:
    """Print one line to stderr from a signal handler: whole or not at all, and without waiting.

    The stream may be in the middle of a write that was interrupted, and its pipe may be full.
    """
    try:
        descriptor = sys.stderr.fileno()
        if select.select([], [descriptor], [], 0)[1]:
            os.write(descriptor, f"{line}\n".encode())
    except (OSError, ValueError, AttributeError):
        return


@contextmanager
def after_the_fact() -> Iterator[None]:
    """Print what came of a change: output that fails is told, and changes nothing about it."""
    fault: OSError | None = None
    try:
        yield
    except OSError as error:
        fault = error
    late = settle(sys.stdout)
    fault = fault or late
    if fault is not None and fault.errno != errno.EPIPE:
        complain(f"it is done, but could not be printed: {fault.strerror or fault}")
