"""A repository's own configuration: what of it a command may see, and what in it is secret.

A remote's address, an extra header or a mail password may hold a token. Commands are shown a
configuration that is made anew from the few settings that say how the repository is stored. The
values that were left out and look like credentials are named, so that they can be masked wherever
they turn up. Nothing is written here.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from tilth.git.command import Git
from tilth.git.source import SourceRepo

_SHOWN = frozenset(
    (
        *("core.repositoryformatversion", "core.filemode", "core.symlinks", "core.ignorecase"),
        *("core.precomposeunicode", "core.autocrlf", "core.eol", "core.protecthfs"),
        *("core.protectntfs", "extensions.objectformat", "extensions.refstorage"),
    )
)
_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
# As in https://user:token@host/path; what stands before the @ is all that matters.
_IN_AN_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://([^/@\s]+)@")
_NAMES = r"(?:token|secret|passw|smtppass|cookie|api[-_]?key|private[-_]?key)"
_SECRET_NAME = re.compile(_NAMES, re.IGNORECASE)
# Of these the value says where a secret is, or what is done with it.
_NO_SECRET = re.compile(r"(?:file|path|helper|command|protected|savecookies)$", re.IGNORECASE)
# As in password=word, or in a header that a command line holds.
_SAID = re.compile(rf"({_NAMES}[\w-]*|authorization)\s*[=:]\s*(.+)", re.IGNORECASE | re.DOTALL)
_OPTION = re.compile(rf"--?[\w-]*{_NAMES}[\w-]*", re.IGNORECASE)
# A helper prints its lines with echo or printf.
_LINES = re.compile(r"\\n|\n")
_MOST_QUOTED = 4
_HEADER = re.compile(r"\.extraheader$", re.IGNORECASE)
# Who may log in anywhere is no secret.
_USUAL_NAMES = frozenset(("git", "oauth2", "x-access-token", "x-token-auth", "gitlab-ci-token"))
_SHORTEST = 6


def clean_configuration(source: SourceRepo) -> str:
    """Give a configuration that says how the repository is stored and nothing else."""
    lines = ["[core]\n\tbare = false\n"]
    for key, value in _entries(source.git_dir, includes=False):
        if key in _SHOWN and _PLAIN.fullmatch(value):
            section, _, name = key.partition(".")
            lines.append(f"[{section}]\n\t{name} = {value}\n")
    return "".join(lines)


def credentials(source: SourceRepo) -> tuple[str, ...]:
    """Give every value of the configuration that could let somebody in, with what it includes."""
    found = {
        secret
        for key, value in _entries(source.git_dir, includes=True)
        for secret in _secrets_in(key, value)
    }
    return tuple(sorted(secret for secret in found if len(secret) >= _SHORTEST))


def _secrets_in(key: str, value: str) -> Iterator[str]:
    # The address may stand in the name too: url.https://token@host/.insteadOf
    for text in (key, value):
        for login in _IN_AN_ADDRESS.findall(text):
            for part in (login, *login.split(":", 1)):
                if part.lower() not in _USUAL_NAMES:
                    yield from (part, unquote(part))
    if _HEADER.search(key):
        said = value.partition(":")[2].strip() or value
        scheme, _, token = said.rpartition(" ")
        yield from (said, token)
        if scheme.lower() == "basic":
            yield from _decoded(token)
    elif _is_secret(key.rpartition(".")[2]):
        yield value
        # A cookie turns up without its name too, and one of several without the others.
        yield from (cookie.partition("=")[2].strip() for cookie in value.split(";"))
    else:
        yield from _said_in(value)


def _is_secret(name: str) -> bool:
    return bool(_SECRET_NAME.search(name)) and not _NO_SECRET.search(name)


def _said_in(text: str, quoted: int = 0) -> Iterator[str]:
    """Find `password=word`, `--token word` and the like, as in a helper of one line of shell."""
    before = ""
    for word in _words(text):
        for line in _LINES.split(word):
            said = _SAID.search(line)
            name, found = said.groups() if said else (before, line)
            is_named = said or (_OPTION.fullmatch(before) and not line.startswith("-"))
            # What a shell would first have to look up is no secret yet.
            if is_named and not (_NO_SECRET.search(name) or found.startswith(("$", "`", "%"))):
                yield found
                yield found.rpartition(" ")[2]
        if len(word) < len(text) and quoted < _MOST_QUOTED:
            yield from _said_in(word, quoted + 1)
        before = word


def _words(text: str) -> list[str]:
    reading = shlex.shlex(text, posix=True, punctuation_chars=True)
    reading.whitespace_split, reading.commenters = True, ""
    # A backslash stays, so that the line ends of a printf can be told; quotes are taken off.
    reading.escape = ""
    try:
        return list(reading)
    except ValueError:  # no shell would take it either
        return text.split()


def _decoded(token: str) -> tuple[str, ...]:
    try:
        pair = base64.b64decode(token, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ()
    return (pair, pair.partition(":")[2])


def _entries(git_dir: Path, *, includes: bool) -> Iterator[tuple[str, str]]:
    """Read the repository's own files; one that git cannot read names nothing."""
    files = [git_dir / "config", git_dir / "config.worktree"]
    files += sorted((git_dir / "worktrees").glob("*/config.worktree"))
    files += sorted((git_dir / "modules").glob("**/config")) if includes else []
    git = Git(git_dir, git_dir)
    for file in files:
        if not file.is_file():
            continue
        follow = "--includes" if includes else "--no-includes"
        listing = ("config", "--file", os.fspath(file), follow, "--null", "--list")
        answer = git.ask(*listing, ok=(0, 1, 128))
        for entry in answer.out.decode("utf-8", "replace").split("\0"):
            key, _, value = entry.partition("\n")
            if key:
                yield key, value
