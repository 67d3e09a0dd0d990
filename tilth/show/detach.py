"""`--detach`: a run or resume without a screen, and how it is watched and stopped."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, MutableMapping, Sequence

from tilth.config.secrets import Mask
from tilth.session.beside import start_beside
from tilth.show.notices import tell
from tilth.show.tables import Page
from tilth.show.terminal import outlived

FLAG = "--detach"


def carry_out(body: Callable[[], int], *, detach: bool) -> int:
    """Do what a command does, whatever becomes of its terminal, or start it without one."""
    if detach:
        return start_detached(sys.argv[1:])
    with outlived():
        return body()


def start_detached(arguments: Sequence[str], environ: MutableMapping[str, str] = os.environ) -> int:
    """Start this very command without a screen, and say how to watch and stop it."""
    begun = start_beside([word for word in arguments if word != FLAG], environ, tell)
    if begun.session is not None:
        page = Page.out(environ, Mask())
        page.line(f"session {begun.session} runs in the background (process {begun.pid})")
        page.line(f"watch it  tilth events {begun.session} --follow")
        page.line(f"stop it   tilth stop {begun.session}")
    return begun.exit_code
