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
from tilth.show.pen import let_go, settle


def guarded(command: Callable[..., int]) -> Callable[..., NoReturn]:
    """Have a command leave with the exit code it gives, or with the one of its error."""

    @functools.wraps(command)
    def leave(*args: Any, **options: Any) -> NoReturn:
        raise typer.Exit(_code(lambda: command(*args, **options)))

    return leave


def _code(body: Callable[[], int]) -> int:
    from tilth.show.hiding import hide_what_is_set

    hide_what_is_set(os.environ)
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
        # Whoever read our output has gone.
        let_go(sys.stdout)
        return ExitCode.DONE
    except OSError as error:
        complain_of_system(error)
    # The edge: a fault of ours is one line too, with the place to look at.
    except Exception as error:  # noqa: BLE001
        complain(fault_line(error))
    else:
        return code
    return ExitCode.USAGE


def complain_of_system(error: OSError) -> None:
    """Say what the system refused, and of what."""
    if isinstance(error, FileNotFoundError) and not error.filename and (gone := _directory_gone()):
        complain(f"{gone}; go to one that is there")
        return
    named = f": {error.filename}" if error.filename else " (is the output full or closed?)"
    complain(f"cannot go on: {error.strerror or error}{named}")
    # What was printed before is the reader's, unless it is the output itself that failed.
    settle(sys.stdout)


def _directory_gone() -> str:
    try:
        os.getcwd()
    except FileNotFoundError:
        return f"the current directory {os.environ.get('PWD', '')} is gone".replace("  ", " ")
    return ""
