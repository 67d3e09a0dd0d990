"""The edge: where an error becomes one line on stderr and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn

import typer

from tilth.errors import TilthError
from tilth.outcomes import ExitCode


def guarded(body: Callable[[], int]) -> NoReturn:
    """Run a command's body and leave with its exit code."""
    try:
        code = body()
    except TilthError as error:
        complain(str(error))
        code = ExitCode.USAGE
    except KeyboardInterrupt:
        complain("interrupted")
        code = ExitCode.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = ExitCode.DONE
    except OSError as error:
        complain(f"cannot go on: {error.strerror or error}{_named(error)}")
        code = ExitCode.USAGE
    # The edge: a fault of ours is one line too, with the place to look at.
    except Exception as error:  # noqa: BLE001
        complain(f"internal error: {type(error).__name__}: {error} ({_place(error)})")
        code = ExitCode.USAGE
    raise typer.Exit(code)


def complain(message: str) -> None:
    """Print an error, one line for each problem, inert whatever it quotes."""
    from tilth.inert import inert

    for line in message.splitlines() or [message]:
        tell(f"tilth: {inert(line)}")


def tell(line: str) -> None:
    """Print one line of talk to stderr; a closed stderr is no reason to fail."""
    try:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return


def _named(error: OSError) -> str:
    return f": {error.filename}" if error.filename else " (is the output full or closed?)"


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    return f"{os.path.basename(last.filename)}:{last.lineno}" if last else "unknown place"
