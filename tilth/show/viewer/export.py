"""The export: the viewer's page with one session's data, in a single file that needs no server.

The modules are joined into one script, whose hash is the only script the page may run. Data stands
in blocks that no browser executes; no `<` is left in them, so that nothing can end them early.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from tilth.base.errors import DiskError
from tilth.config.settings import Settings
from tilth.session.session import Session
from tilth.session.shown_mask import Masks
from tilth.show.viewer import page_files
from tilth.show.viewer.library import Library
from tilth.show.viewer.redact import Redaction

_IMPORT = re.compile(r'^import \{[^}]*\} from "[^"]*";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class)\b)", re.MULTILINE)
_EXPORTED = re.compile(r"^export \{[^}]*\};\n", re.MULTILINE)
_CHARSET, _STYLE_LINK = '<meta charset="utf-8" />', '<link rel="stylesheet" href="style.css" />'
_VENDOR_END = re.compile(r"export\s*\{([^}]*)\};?\s*$")


def write_export(
    settings: Settings, session: Session, path: Path, environ: Mapping[str, str], *, redact: bool
) -> None:
    """Write one session into one file, whole or not at all."""
    hide = Masks(settings, environ).put_on(session).mask.data
    inside = (Path(session.checkpoint.source), session.workspace, session.directory)
    redaction = Redaction(inside) if redact else None
    alter = redaction.event if redaction else None
    library = Library(settings, session.id, alter, environ)

    def change(said: Any) -> Any:
        # Keys first: what else is left out must not tear one apart.
        return redaction.data(hide(said)) if redaction else hide(said)

    handle, staged = -1, ""
    try:
        place = _place(path)
        handle, staged = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            for part in _parts(library, session.id, change):
                file.write(part)
        os.replace(staged, place)
    except OSError as error:
        _remove(staged)
        raise DiskError(f"cannot write {path}: {error.strerror}") from error
    except BaseException:
        _remove(staged)
        raise


def _place(path: Path) -> Path:
    """Follow links to the file to write; a device or a pipe must not be replaced by one."""
    if path.exists() and not path.is_file():
        raise DiskError(f"cannot write {path}: it is no ordinary file; name another")
    return Path(os.path.realpath(path))


def _remove(staged: str) -> None:
    if staged:
        Path(staged).unlink(missing_ok=True)


def _parts(library: Library, session: str, change: Callable[[Any], Any]) -> Iterator[str]:
    """Give the file piece by piece; a long session is never held whole."""
    overview = {**library.overview(session), "running": False}
    tasks = {
        task["id"]: library.task(session, task["id"])
        | {"entries": library.talk(session, task["id"])}
        for task in overview["tasks"]
    }
    style, script = page_files.text_of(page_files.STYLE), joined_script()
    yield _head(style, script)
    yield _block("session-data", [encoded(change({"overview": overview, "tasks": tasks}))])
    rows: list[str] = []
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="backslashreplace") as bodies:
        for row, body in library.whole(session):
            rows.append(encoded(change(row)))
            bodies.write(encoded(change(body)) + "\n")
        yield _block("session-rows", rows)
        yield '<script type="application/json" id="session-bodies">'
        yield from _copied(bodies)
        yield "</script>\n"
    yield f'<script type="module">{script}</script>\n</body>\n</html>\n'


def _copied(file: TextIO) -> Iterator[str]:
    file.seek(0)
    while piece := file.read(1 << 20):
        yield piece


def _block(name: str, lines: Iterable[str]) -> str:
    text = "\n".join(lines)
    return f'<script type="application/json" id="{name}">{text}</script>\n'


def encoded(said: Any) -> str:
    """Write data as one line of JSON without `<`: no tag, comment or script can begin in it."""
    text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _head(style: str, script: str) -> str:
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    said = f'<meta http-equiv="Content-Security-Policy" content="{policy}" />'
    page = page_files.text_of(page_files.PAGE).partition("<script")[0]
    head = page.replace(_CHARSET, f"{_CHARSET}\n    {said}")
    return head.replace(_STYLE_LINK, f"<style>{style}</style>") + "\n"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def joined_script() -> str:
    """Join the page's modules into one script without imports."""
    vendor, *own = (page_files.text_of(name) for name in page_files.MODULES)
    licences = "\n".join(page_files.text_of(name) for name in page_files.LICENCES)
    notice = f"/* preact and htm:\n{licences.replace('*/', '* /')}\n*/\n"
    parts = [notice, _wrapped(vendor), *map(_without_imports, own)]
    return "\n".join(parts).replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _wrapped(vendor: str) -> str:
    """Make what a minified module exports the names of the page, and keep its own inside."""
    exported = _VENDOR_END.search(vendor)
    if exported is None:
        raise ValueError("the vendored module ends in no export")
    pairs = [name.strip().split(" as ") for name in exported[1].split(",")]
    names = ", ".join(pair[-1] for pair in pairs)
    given = ", ".join(f"{pair[-1]}: {pair[0]}" for pair in pairs)
    body = vendor[: exported.start()]
    return f"const {{ {names} }} = (() => {{\n{body}\nreturn {{ {given} }};\n}})();"


def _without_imports(module: str) -> str:
    return _EXPORTED.sub("", _EXPORT.sub("", _IMPORT.sub("", module)))
