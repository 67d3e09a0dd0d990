"""The edge: where a command ends in an exit code, and an error in one line on stderr."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import typer

from tilth.base.errors import Interrupted, TilthError, fault_line
from tilth.contract.outcomes import ExitCode
from tilth.show.notices import complain


def guarded(command: Callable[..., int]) -> Callable[..., NoReturn]:
    """Have a command leave with the exit code it gives, or with the one of its error."""

    @functools.wraps(command)
    def leave(*args: Any, **options: Any) -> NoReturn:
        raise typer.Exit(_code(lambda: command(*args, **options)))

    return leave


def _code(body: Callable[[], int]) -> int:
    try:
        code = body()
        # A reader who went away, or a full disk, is noticed here and not at exit.
        sys.stdout.flush()
    except Interrupted as error:
        complain(str(error))
        return ExitCode.INTERRUPTED
    except TilthError as error:
        complain(str(error))
    except KeyboardInterrupt:
        complain("interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    except OSError as error:
        complain(f"cannot go on: {error.strerror or error}{_named(error)}")
    # The edge: a fault of ours is one line too, with the place to look at.
    except Exception as error:  # noqa: BLE001
        complain(fault_line(error))
    else:
        return code
    return ExitCode.USAGE


def _named(error: OSError) -> str:
    return f": {error.filename}" if error.filename else " (is the output full or closed?)"
