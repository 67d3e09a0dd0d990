"""An interview in a pseudo-terminal: the installed command and a scripted person."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pexpect

from support.flow_site import Site
from support.messages_api import MessagesServer
from support.warm_start import warm_tilth

PATIENCE_S = 120


def command_environ(site: Site, server: MessagesServer) -> dict[str, str]:
    own = {**site.environ(server.url), "PATH": os.environ["PATH"], "TERM": "xterm"}
    return {**own, "HOME": str(site.root)}


@contextmanager
def terminal(
    site: Site, server: MessagesServer, *args: str, program: str = "", **environ: str
) -> Iterator[pexpect.spawn]:
    """Start the command in a pseudo-terminal; what is left of it is ended."""
    child = pexpect.spawn(
        program or str(warm_tilth()),
        [*args],
        env={**command_environ(site, server), **environ},
        cwd=str(site.root),
        encoding="utf-8",
        timeout=PATIENCE_S,
        dimensions=(40, 100),
    )
    try:
        yield child
    finally:
        child.close(force=True)


def ended(child: pexpect.spawn) -> int:
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus


def prompt(child: pexpect.spawn, said: str) -> None:
    """Wait for something to be shown, and for the prompt that follows it."""
    child.expect_exact(said)
    child.expect_exact("> ")


def approve(child: pexpect.spawn) -> None:
    """Approve the criteria, as the default."""
    prompt(child, "Nothing is written until you approve it")
    child.sendline("")
