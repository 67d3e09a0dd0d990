"""`tilth visualize`: the viewer served on loopback, or written into one file."""

from __future__ import annotations

import os
import socket
import sys
import webbrowser
from collections.abc import Mapping
from pathlib import Path

from tilth.base.errors import UserError
from tilth.config.settings import load
from tilth.contract.outcomes import ExitCode
from tilth.session.catalog import open_to_look
from tilth.show.notices import tell
from tilth.show.viewer.library import Library

_LOOPBACK = "127.0.0.1"


def visualize(
    wanted: str,
    *,
    port: int = 0,
    export: Path | None = None,
    redact: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> int:
    """Show a session in the browser, or write it down for one."""
    if redact and export is None:
        raise UserError("--redact is for --export FILE; the served page shows everything")
    settings = load({}, environ)
    session = open_to_look(settings, wanted)
    if export is not None:
        from tilth.show.viewer.export import write_export

        write_export(settings, session, export, environ, redact=redact)
        tell(f"written: {export}; open it in a browser, it needs no server and no network")
        return ExitCode.DONE
    library = Library(settings, session.id, environ=environ)
    # Read before anybody is invited: what is wrong with it is said here, and the page opens soon.
    library.overview(session.id)
    with _listen(port) as listening:
        _serve(library, listening, environ)
    return ExitCode.DONE


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((_LOOPBACK, port))
    except (OSError, OverflowError) as error:
        listening.close()
        raise UserError(f"port {port} cannot be used: {error}; choose another --port") from None
    listening.listen()
    return listening


def _serve(library: Library, listening: socket.socket, environ: Mapping[str, str]) -> None:
    from tilth.show.viewer.guard import Key
    from tilth.show.viewer.server import make_app, serve

    port = listening.getsockname()[1]
    key = Key.make(port)
    address = f"http://{_LOOPBACK}:{port}/?token={key.token}"
    app = make_app(library, key)
    try:
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()
        tell("the session viewer, for this machine alone; Ctrl-C ends it")
        if _is_desktop(environ):
            webbrowser.open(address)
        serve(app, listening)
    except KeyboardInterrupt:
        # How one leaves it.
        return


def _is_desktop(environ: Mapping[str, str]) -> bool:
    """Tell whether a browser can be opened for whoever sits here, and not at the far end of SSH."""
    if not sys.stdout.isatty() or environ.get("SSH_CONNECTION"):
        return False
    shown = environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    return bool(shown) or sys.platform in ("darwin", "win32")
