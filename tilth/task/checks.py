"""Checks: which test and lint runs a command line holds, and whether they passed.

Pure: it reads a command and what it printed. A check is told by what is run, never by how it is
spelt: `pytest x`, `python -m pytest -q x | tail -3` and `cd . && uv run pytest x` are the same one.
Reading a file is no check, and a run whose end cannot be seen has not passed.
"""

from __future__ import annotations

import ast
import bisect
import re
import shlex
import sys
from collections.abc import Sequence
from enum import StrEnum

from tilth.base.quiet import parse_quietly
from tilth.base.values import Value


class CheckKind(StrEnum):
    """Say what a check looks at."""

    TESTS = "tests"
    LINT = "lint"
    FORMAT = "format"
    TYPES = "types"
    SMOKE = "smoke"
    VALIDATOR = "validator"


class Check(Value):
    """Hold one check: what is run, on what; nothing named means everything there is."""

    kind: CheckKind
    tool: str
    targets: frozenset[str] = frozenset()
    narrowed: bool = False

    def covers(self, other: Check) -> bool:
        """Tell whether passing this one shows already what the other would show."""
        if other.kind is CheckKind.SMOKE:
            return self.kind in (CheckKind.SMOKE, CheckKind.TESTS)
        if (self.kind, self.tool) != (other.kind, other.tool):
            return False
        return self == other or self.runs_all_of(other)

    def runs_all_of(self, other: Check) -> bool:
        """Tell whether this one runs at least what the other ran."""
        if (self.kind, self.tool) != (other.kind, other.tool) or self.narrowed:
            return False
        return not self.targets or (bool(other.targets) and other.targets <= self.targets)


_TOOLS = {
    "pytest": CheckKind.TESTS,
    "py.test": CheckKind.TESTS,
    "unittest": CheckKind.TESTS,
    "tox": CheckKind.TESTS,
    "nox": CheckKind.TESTS,
    "flake8": CheckKind.LINT,
    "pylint": CheckKind.LINT,
    "pyflakes": CheckKind.LINT,
    "compileall": CheckKind.LINT,
    "py_compile": CheckKind.LINT,
    "mypy": CheckKind.TYPES,
    "pyright": CheckKind.TYPES,
    "black": CheckKind.FORMAT,
}
_BEFORE = frozenset({"env", "time", "nice", "command", "exec", "uv", "poetry", "pdm", "hatch"})
_HERE = re.compile(r"<<-?\s*(['\"]?)(\w+)\1\Z")
_FIRST_WORD = re.compile(r"\s*(\w+)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*")
_PYTHON = re.compile(r"(?:.*/)?python(?:\d+(?:\.\d+)?)?")
_NARROWING = frozenset({"-k", "-m", "--deselect", "--lf", "--ff", "--last-failed", "-x"})
_TAKES_VALUE = frozenset(
    ("-k", "-m", "--deselect", "-n", "-p", "-c", "-o", "-W", "--tb", "--select", "--config", "-s")
)
_PASSED = re.compile(r"\b(\d+) passed\b")
_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_BAD = re.compile(r"\b[1-9]\d* (?:failed|errors?)\b|^FAILED \(|^Traceback ", re.MULTILINE)
_NO_TESTS = re.compile(r"\bno tests (?:ran|collected)\b|\bcollected 0 items\b|^NO TESTS RAN", re.M)


def checks_in(command: str, validators: Sequence[Sequence[str]] = ()) -> tuple[Check, ...]:
    """Give the checks a command line runs, in order; the project's own commands count too."""
    found = (_check(words, validators) for words in _simple_commands(command))
    return tuple(check for check in found if check is not None)


def passed(command: str, checks: Sequence[Check], exit_code: int, output: str) -> bool:
    """Tell whether every check of a command was seen to pass."""
    if exit_code != 0 or _BAD.search(output):
        return False
    if any(check.kind is CheckKind.TESTS for check in checks):
        return ran_tests(output) > 0
    # Behind a pipe or an `||` the exit code is another command's: only a word shows the end.
    hidden = re.search(r"\|", command) is not None
    return not hidden or all(
        check.kind is CheckKind.SMOKE or "All checks passed" in output or "no issues" in output
        for check in checks
    )


def ran_tests(output: str) -> int:
    """Give how many tests a run says it ran and passed."""
    counts = [int(count) for count in (*_PASSED.findall(output), *_RAN.findall(output))]
    return sum(counts)


def ran_none(checks: Sequence[Check], output: str) -> bool:
    """Tell whether a test command says of itself that it ran no test at all."""
    if not any(check.kind is CheckKind.TESTS for check in checks) or ran_tests(output):
        return False
    return bool(_NO_TESTS.search(output) or "0" in _RAN.findall(output))


def _simple_commands(command: str) -> list[list[str]]:
    """Split a command line at its operators; quotes are kept whole, here-documents become `-c`."""
    lexer = shlex.shlex(_without_here_documents(command), posix=True, punctuation_chars=";|&\n")
    lexer.whitespace_split, lexer.commenters, lexer.whitespace = True, "", " \t\r"
    commands: list[list[str]] = [[]]
    try:
        for word in lexer:
            if set(word) <= set(";|&\n"):
                commands.append([])
            else:
                commands[-1].append(word)
    except ValueError:
        return []
    return [words for words in commands if words]


def _without_here_documents(command: str) -> str:
    """Give each here-document as `-c` and its text; every line is looked at once."""
    lines = command.split("\n")
    ends: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if word := _FIRST_WORD.match(line):
            ends.setdefault(word[1], []).append(number)
    kept = ""
    number = 0
    while number < len(lines):
        line = lines[number]
        while opened := _HERE.search(line):
            end = _end_of(number, ends.get(opened[2], []))
            if end is None:
                break
            text = "\n".join(lines[number + 1 : end])
            kept += f"{line[: opened.start()].rstrip().removesuffix('-')} -c {shlex.quote(text)}"
            line, number = lines[end].lstrip()[len(opened[2]) :], end
        kept += f"{line}\n"
        number += 1
    return kept[:-1]


def _end_of(start: int, places: Sequence[int]) -> int | None:
    """Give the line that ends a here-document; one of text, be it empty, stands before it."""
    after = bisect.bisect_left(places, start + 2)
    return places[after] if after < len(places) else None


def _check(words: list[str], validators: Sequence[Sequence[str]]) -> Check | None:
    words = _without_prefix([word for word in words if not re.fullmatch(r"\d?>.*|\d|<.*", word)])
    if not words:
        return None
    for validator in validators:
        if list(validator) == words[: len(validator)]:
            return Check(kind=CheckKind.VALIDATOR, tool=" ".join(validator))
    name, rest = words[0].rsplit("/", 1)[-1], words[1:]
    if _PYTHON.fullmatch(words[0]):
        return _python(rest)
    if name in ("bash", "sh") and rest[:1] == ["-c"] and len(rest) > 1:
        inner = checks_in(rest[1], validators)
        return inner[0] if inner else None
    return _known(name, rest)


def _without_prefix(words: list[str]) -> list[str]:
    """Leave out what only runs another command: assignments, `env`, `timeout 60`, `uv run`."""
    while words:
        if _ASSIGNMENT.fullmatch(words[0]) or words[0] in _BEFORE:
            words = words[1:]
            if words and words[0] == "run":
                words = words[1:]
        elif words[0] == "timeout":
            words = words[1:]
            while words and (words[0].startswith("-") or words[0][0].isdigit()):
                words = words[1:]
        else:
            break
    return words


def _python(rest: list[str]) -> Check | None:
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c", "-"):
        rest = rest[1:]
    if rest[:1] == ["-m"] and len(rest) > 1:
        return _known(rest[1], rest[2:])
    if rest[:1] == ["-c"] and len(rest) > 1 and _tries_code(rest[1]):
        return Check(kind=CheckKind.SMOKE, tool="python")
    return None


def _tries_code(source: str) -> bool:
    """Tell whether a snippet tries code out; one that only reads files imports none of it."""
    try:
        tree = parse_quietly(source)
    except (ValueError, SyntaxError, RecursionError):
        return False
    names = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    return bool(names - sys.stdlib_module_names)


def _known(name: str, rest: list[str]) -> Check | None:
    if name == "ruff":
        verb, rest = (rest[0], rest[1:]) if rest else ("", [])
        kind = {"check": CheckKind.LINT, "format": CheckKind.FORMAT}.get(verb)
        return None if kind is None else _on_targets(kind, "ruff", rest)
    kind = _TOOLS.get(name)
    tool = "pytest" if name == "py.test" else name
    return None if kind is None else _on_targets(kind, tool, rest)


def _on_targets(kind: CheckKind, tool: str, rest: list[str]) -> Check:
    targets, narrowed, skip = set[str](), False, False
    for word in rest:
        if skip:
            skip = False
        elif word.startswith("-"):
            narrowed = narrowed or (kind is CheckKind.TESTS and word.split("=")[0] in _NARROWING)
            skip = word in _TAKES_VALUE
        elif word not in (".", "./"):
            targets.add(word.removeprefix("./").rstrip("/"))
    return Check(kind=kind, tool=tool, targets=frozenset(targets), narrowed=narrowed)
