"""The pre_tool guard: command lines that are plainly a mistake, refused before they run.

A courtesy, not a wall: it reads a command line the way a hurried colleague would, and the sandbox
stands behind it. Pure: it runs nothing and looks at no file.
"""

from __future__ import annotations

import bisect
import itertools
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tilth.task.tool_outcome import Blocked

_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish"})
_INTERPRETERS = re.compile(r"(?:python[\d.]*|perl|ruby|node)\Z")
_RESERVED = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "time"})
_WRAPPERS = frozenset(
    {"builtin", "command", "env", "exec", "nice", "nohup", "setsid", "stdbuf", "timeout", "xargs"}
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_DURATION = re.compile(r"\d+(?:\.\d+)?[smhd]?\Z")
_VITAL = re.compile(
    r"(?:~|\$HOME|\$\{HOME\}|"
    r"/+(?:bin|boot|dev|etc|home|lib\d*|opt|proc|root|sbin|sys|usr|var)?)/*\.?\*?\Z"
)
_FORK_BOMB = re.compile(
    r"(?<![\w:])(?P<name>[\w:]+)\s*\(\)\s*\{\s*(?P=name)\s*\|\s*(?P=name)\s*&\s*\}"
)
_DEVICES_TO_WRITE = re.compile(r"of=/dev/(?!null\b|zero\b|stdout\b|stderr\b|fd/)")
_HEREDOC = re.compile(r"(?<!<)<<(?!<)(-?)[ \t]*\\?(['\"]?)([A-Za-z_]\w*)\2")
_TOKEN = re.compile(
    r"""
      (?P<space>   [ \t\r]+ | \\\n )
    | (?P<comment> \#[^\n]* )
    | (?P<redirect> \d*&?[<>]+&?\d*-?(?!\() )
    | (?P<pipe>    \|&? (?!\|) )
    | (?P<end>     \|\| | &&? | ;+ | \n | [()`] | \$\( | [<>]\( )
    | (?P<word>    (?: \$\{[^}]{0,500}\} | \$(?!\() | [^\s;&|()<>`'"\\$] | \\.
                     | '[^']*' | "(?:[^"\\]|\\.)*" )+ )
    """,
    re.VERBOSE | re.DOTALL,
)
_PLAIN = re.compile(
    r"(?:^|[;&|(\n])[ \t]*(?P<line>(?:sudo|su|doas|shutdown|reboot|mkfs|git\s+push)\b[^;&|\n]*)"
)
_MAX_NESTING = 3
# Beyond this only the beginnings of lines are looked at: no command line may hold up the harness.
_LONGEST = 40_000

_PUSH = Blocked(rule="git-push", reason="pushing is left to a person: leave the work in the files")
_COMMIT = Blocked(
    rule="git-commit", reason="the harness commits: leave the changes in the files and go on"
)
_WORKTREE = Blocked(
    rule="git-worktree", reason="worktrees belong to the harness: work in the one you are in"
)
_CONFIG = Blocked(
    rule="git-config", reason="git's global configuration is off limits: pass -c name=value instead"
)
_SUDO = Blocked(rule="sudo", reason="no other user can be had here: do without more rights")
_PIPE = Blocked(
    rule="pipe-to-shell", reason="never run what was just downloaded: use what is installed"
)
_RM = Blocked(rule="rm-root", reason="this would delete the system or the home: name the files")
_DISK = Blocked(rule="raw-disk", reason="disks are off limits: write to a file in the worktree")
_POWER = Blocked(rule="power", reason="the machine must stay up: stop only what you started")
_BOMB = Blocked(rule="fork-bomb", reason="this is a fork bomb: it would only exhaust the machine")


@dataclass(frozen=True)
class _Simple:
    """Hold one simple command, and whether a pipe feeds it."""

    words: tuple[str, ...]
    is_fed: bool


def check(command: str, nesting: int = 0) -> Blocked | None:
    """Say why a command line should not run, or None."""
    text = _without_heredocs(command)
    commands = _parsed(text) if len(text) <= _LONGEST else None
    if commands is None:
        return _check_plainly(text)
    if _FORK_BOMB.search(text) and not any(_FORK_BOMB.search(w) for c in commands for w in c.words):
        return _BOMB
    downloads = False
    for simple in commands:
        words = _unwrapped(simple.words)
        downloads = downloads and simple.is_fed
        blocked = _check_words(words, nesting)
        if blocked is None and downloads and _reads_program(words):
            blocked = _PIPE
        if blocked is not None:
            return blocked
        downloads = downloads or words[:1] in (("curl",), ("wget",))
    return None


def _check_words(words: Sequence[str], nesting: int) -> Blocked | None:
    if not words:
        return None
    program, arguments = words[0], tuple(words[1:])
    if program in ("sudo", "su", "doas"):
        return _SUDO
    if program == "git":
        return _check_git(arguments)
    if program == "rm":
        return _check_rm(arguments)
    if program == "mkfs" or program.startswith("mkfs."):
        return _DISK
    if program == "dd" and any(map(_DEVICES_TO_WRITE.match, arguments)):
        return _DISK
    if program in ("shutdown", "reboot", "halt", "poweroff"):
        return _POWER
    if program == "systemctl" and {"poweroff", "reboot", "halt"} & set(arguments):
        return _POWER
    if program in _SHELLS or program == "eval":
        return _check_shell(program, arguments, nesting)
    return None


def _check_git(arguments: Sequence[str]) -> Blocked | None:
    words = list(arguments)
    while words and words[0].startswith("-"):
        takes_value = words.pop(0) in ("-C", "-c", "--git-dir", "--work-tree", "--namespace")
        if takes_value and words:
            words.pop(0)
    verb, rest = (words[0], set(words[1:])) if words else ("", set())
    if verb == "push":
        return _PUSH
    if verb == "commit":
        return _COMMIT
    if verb == "worktree" and "list" not in rest:
        return _WORKTREE
    reads = {"--get", "--get-all", "--get-regexp", "--list", "-l"}
    if verb == "config" and rest & {"--global", "--system"} and not rest & reads:
        return _CONFIG
    return None


def _check_rm(arguments: Sequence[str]) -> Blocked | None:
    short = "".join(word for word in arguments if re.match(r"-\w", word))
    recursive = "r" in short.lower() or "--recursive" in arguments
    return _RM if recursive and any(map(_VITAL.match, arguments)) else None


def _check_shell(program: str, arguments: Sequence[str], nesting: int) -> Blocked | None:
    """Read a command line that stands inside another."""
    if any(re.search(r"(?:\$\(|`)\s*(?:curl|wget)\b", word) for word in arguments):
        return _PIPE
    if nesting >= _MAX_NESTING:
        return None
    if program == "eval":
        return check(" ".join(arguments), nesting + 1)
    for flag, line in itertools.pairwise(arguments):
        if re.match(r"-\w*c\Z", flag):
            return check(line, nesting + 1)
    return None


def _reads_program(words: Sequence[str]) -> bool:
    """Tell whether a command runs what it is fed."""
    if not words:
        return False
    if words[0] not in _SHELLS and not _INTERPRETERS.match(words[0]):
        return False
    options = [word for word in words[1:] if word.startswith("-")]
    if "-" in options or "-s" in options:
        return True
    has_own = any(re.match(r"-\w*[cme]\Z", word) for word in options)
    return not has_own and len(options) == len(words) - 1


def _unwrapped(words: Sequence[str]) -> tuple[str, ...]:
    """Drop what only stands in front of a program: assignments, reserved words, wrappers."""
    rest = list(words)
    wrapped = False
    while rest:
        word = rest[0]
        if word == "command" and rest[1:2] in (["-v"], ["-V"]):
            break  # asks where a program is, and runs nothing
        is_option = wrapped and (word.startswith("-") or _DURATION.match(word))
        if not (word in _RESERVED or word in _WRAPPERS or _ASSIGNMENT.match(word) or is_option):
            break
        wrapped = wrapped or word in _WRAPPERS
        rest.pop(0)
    return (rest[0].rpartition("/")[2], *rest[1:]) if rest else ()


def _parsed(text: str) -> list[_Simple] | None:
    """Split a command line into its simple commands, or None if it cannot be read."""
    commands: list[_Simple] = []
    words: list[str] = []
    is_fed = False
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            return None
        position = token.end()
        if token.lastgroup == "word":
            words.append(_unquoted(token[0]))
        elif token.lastgroup in ("pipe", "end"):
            commands.append(_Simple(tuple(words), is_fed))
            words, is_fed = [], token.lastgroup == "pipe"
    commands.append(_Simple(tuple(words), is_fed))
    return [command for command in commands if command.words]


def _unquoted(word: str) -> str:
    return "".join(shlex.split(word)) if re.search(r"['\"\\]", word) else word


def _without_heredocs(text: str) -> str:
    """Drop the bodies of here-documents: they are text, not commands."""
    lines = text.split("\n")
    ends = _numbered(lines), _numbered(line.lstrip("\t") for line in lines)
    kept: list[str] = []
    at = 0
    while at < len(lines):
        kept.append(_HEREDOC.sub("", lines[at]))
        at += 1
        for match in _HEREDOC.finditer(lines[at - 1]):
            found = ends[bool(match[1])].get(match[3], [])
            following = bisect.bisect_left(found, at)
            # Without its end it is no here-document, just a shift in somebody's quoted code.
            if following < len(found):
                at = found[following] + 1
    return "\n".join(kept)


def _numbered(lines: Iterable[str]) -> dict[str, list[int]]:
    """Say at which numbers each line stands."""
    found: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        found.setdefault(line, []).append(number)
    return found


def _check_plainly(text: str) -> Blocked | None:
    """Judge what cannot be parsed by how its lines begin."""
    for match in _PLAIN.finditer(text):
        blocked = _check_words(tuple(match["line"].split()), _MAX_NESTING)
        if blocked is not None:
            return blocked
    return None
