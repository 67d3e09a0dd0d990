"""The text editor: a person's own program, opened on a text and waited for.

It runs with the person's rights and terminal, and without Tilth's keys.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tilth.base.errors import UserError
from tilth.config.settings import SECRET_NAMES

_USUAL = ("nano", "vim", "vi")


def editor_of(environ: Mapping[str, str]) -> str:
    """Give the editor's command, as chosen or a usual one; empty if there is none."""
    chosen = environ.get("VISUAL", "").strip() or environ.get("EDITOR", "").strip()
    return chosen or next((name for name in _USUAL if shutil.which(name)), "")


def edit(text: str, name: str, environ: Mapping[str, str]) -> str:
    """Open a text in the editor and give it as it was saved, or raise UserError."""
    command = editor_of(environ)
    if not command:
        raise UserError("there is no editor: set EDITOR to one, such as EDITOR=nano")
    with tempfile.TemporaryDirectory(prefix="tilth-edit-") as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8")
        _run(command, path, environ)
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"what {command} saved cannot be read: {error}") from None


def _run(command: str, path: Path, environ: Mapping[str, str]) -> None:
    own = {name: value for name, value in environ.items() if name not in SECRET_NAMES}
    try:
        done = subprocess.run([*shlex.split(command), str(path)], env=own, check=False)
    except (OSError, ValueError) as error:
        raise UserError(f"the editor {command} cannot be started ({error}): set EDITOR") from None
    if done.returncode != 0:
        raise UserError(f"{command} ended with {done.returncode}, so nothing is taken from it")
