"""`[tool.tilth]`: what a target repository may say about itself, and nothing more.

A repository is not trusted. It may name validators, its suite, context files and set-up commands;
a key, an endpoint, an evaluator, the sandbox or a cap in it is refused. The bytes are handed in,
taken from the commit a session began from: nothing here reads a file. A repository whose
`pyproject.toml` has no such table, or that has no such file, says the same in a `tilth.toml`,
without the prefix.

    [tool.tilth]
    defaults = false                     # leave out the default validators, ruff and pytest
    suite = ["-m", "not slow"]           # pytest arguments of the project's own tests; false: none
    context_files = ["AGENTS.md"]
    setup = ["python -m venv .venv"]     # command lines, run in order before the first task
    carry = ["data/*.bin"]               # ignored files the tests need; taken if the user says so

    [tool.tilth.validators]
    mypy = "mypy src"                    # short for { command = "mypy src" }
    web = { command = ["npm", "test"], timeout = 60, covers = "the web client" }
    unit = { command = "make test", junit = "out/*.xml" }    # the JUnit report it writes

A validator called `ruff` or `pytest` replaces that default.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, NoReturn

from pydantic import BeforeValidator, Field, StrictBool, StringConstraints, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from tilth.base.errors import UserError
from tilth.base.foreign_text import read_toml
from tilth.base.values import Value
from tilth.config.readers import TimeoutSeconds, plain_names
from tilth.config.settings import BY_FIELD

PYPROJECT = "pyproject.toml"
TILTH_TOML = "tilth.toml"
# The default validator that runs the seed tests, among all of them.
SEED_RUN = "pytest"
DEFAULT_VALIDATORS = ("ruff", SEED_RUN, "suite")
_PREFIX = ("tool", "tilth")

_NOT_THE_REPOSITORYS = re.compile(
    r"key|token|secret|url|endpoint|header|model|evaluat|reviewer|judge|sandbox|network|max_|cap"
    r"|budget|threshold|exhausted|fail_open|home|sessions"
)


class NamedValidator(Value):
    """Describe one command that must pass; `covers` says what it proves.

    `junit` is where it writes its JUnit report, a path or a glob below the tree's root.
    """

    name: str
    command: tuple[str, ...]
    timeout_s: float | None = None
    covers: str | None = None
    junit: str | None = None


class ProjectFacts(Value):
    """Hold what a repository says about itself; `context_files` is None where it says nothing.

    `suite` is True where the project's own tests run as they are configured, the pytest arguments
    that choose them, or False where they are not to run. `file` is the one that was read.
    """

    validators: tuple[NamedValidator, ...] = ()
    suite: bool | tuple[str, ...] = True
    replace_defaults: bool = False
    context_files: tuple[str, ...] | None = None
    setup: tuple[str, ...] = ()
    carry: tuple[str, ...] = ()
    file: str = PYPROJECT

    @property
    def defaults_left_out(self) -> tuple[str, ...]:
        """Name the default validators that are left out, or that one of its own stands for."""
        own = {validator.name for validator in self.validators}
        return tuple(name for name in DEFAULT_VALIDATORS if self.replace_defaults or name in own)

    @property
    def suite_arguments(self) -> tuple[str, ...]:
        """Give what the repository wants pytest to be given for its own tests."""
        return self.suite if isinstance(self.suite, tuple) else ()

    def place_of(self, key: str) -> str:
        """Say where in the repository a key stands."""
        return f"tool.tilth.{key}" if self.file == PYPROJECT else f"{self.file}: {key}"


def find_project(read: Callable[[str], bytes | None]) -> ProjectFacts:
    """Ask a repository about itself; `read` gives a file's bytes, or None if there is none."""
    content = read(PYPROJECT)
    table = None if content is None else _table(read_toml(content, PYPROJECT))
    if table is not None:
        return _facts(table, PYPROJECT)
    content = read(TILTH_TOML)
    return ProjectFacts() if content is None else read_project(content, TILTH_TOML)


def read_project(content: bytes, file: str = PYPROJECT) -> ProjectFacts:
    """Read the bytes of a `pyproject.toml` or a `tilth.toml`."""
    document = read_toml(content, file)
    table = _table(document) if file == PYPROJECT else document
    return ProjectFacts(file=file) if table is None else _facts(table, file)


def _table(document: Any) -> Any:
    """Give what stands below `[tool.tilth]`, or None where nothing does."""
    for name in _PREFIX:
        document = document.get(name) if isinstance(document, dict) else None
    return document


def _facts(table: Any, file: str) -> ProjectFacts:
    try:
        written = _Table.model_validate(table)
    except ValidationError as error:
        prefix = _PREFIX if file == PYPROJECT else ()
        raise UserError("\n".join(_problems(error, file, prefix))) from None
    return ProjectFacts(
        validators=tuple(
            NamedValidator(
                name=name, command=v.command, timeout_s=v.timeout, covers=v.covers, junit=v.junit
            )
            for name, v in written.validators.items()
        ),
        suite=written.suite,
        replace_defaults=not written.defaults,
        context_files=written.context_files,
        setup=written.setup,
        carry=written.carry,
        file=file,
    )


def _refuse(rule: str) -> NoReturn:
    raise PydanticCustomError("project", "{rule}", {"rule": rule})


def _argv(value: Any) -> tuple[str, ...]:
    try:
        words = shlex.split(value) if isinstance(value, str) else value
    except ValueError as error:
        _refuse(f"cannot be split into words: {str(error).lower()}")
    if not _is_texts(words) or not words or not words[0]:
        _refuse("must be a command line or a list of words, and not empty")
    return tuple(words)


def _command_lines(value: Any) -> tuple[str, ...]:
    lines = [value] if isinstance(value, str) else value
    if not _is_texts(lines) or not all(line.strip() for line in lines):
        _refuse("must be a command line or a list of command lines")
    return tuple(lines)


def _is_texts(value: Any) -> bool:
    return isinstance(value, Sequence) and all(
        isinstance(item, str) and "\0" not in item for item in value
    )


def _suite(value: Any) -> tuple[str, ...] | bool:
    """Read whether the project's own tests are run, or what to give to pytest for them."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) or not _is_texts(value) or not value:
        _refuse("must be true, false or a list of arguments for pytest")
    return tuple(value)


def _names(value: Any) -> tuple[str, ...]:
    names = plain_names(value) if isinstance(value, list) else None
    if names is None:
        _refuse("must be a list of relative file names without '..'")
    return names


def _report_path(value: Any) -> str:
    names = plain_names([value])
    if not names:
        _refuse("must be a relative path without '..', such as 'report.xml'")
    return names[0]


def _expanded(value: Any) -> Any:
    return {"command": value} if isinstance(value, str | list) else value


class _ValidatorTable(Value):
    command: Annotated[tuple[str, ...], BeforeValidator(_argv)]
    timeout: TimeoutSeconds | None = None
    covers: Annotated[str, StringConstraints(strict=True, min_length=1)] | None = None
    junit: Annotated[str, BeforeValidator(_report_path)] | None = None


class _Table(Value):
    defaults: StrictBool = True
    suite: Annotated[bool | tuple[str, ...], BeforeValidator(_suite)] = True
    context_files: Annotated[tuple[str, ...], BeforeValidator(_names)] | None = None
    setup: Annotated[tuple[str, ...], BeforeValidator(_command_lines)] = ()
    carry: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()
    validators: dict[
        Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$")],
        Annotated[_ValidatorTable, BeforeValidator(_expanded)],
    ] = Field(default_factory=dict)


def _problems(error: ValidationError, file: str, prefix: tuple[str, ...]) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_input=False):
        path = ".".join(_key(part) for part in (*prefix, *problem["loc"]))
        yield f"{file}: {path} {_rule(problem)}"


def _key(part: int | str) -> str:
    text = str(part)
    return text if text.isprintable() else repr(text)


def _rule(problem: ErrorDetails) -> str:
    match problem["type"]:
        case "extra_forbidden" if len(problem["loc"]) == 1:
            return _stranger(str(problem["loc"][0]))
        case "extra_forbidden":
            return f"is not known: a validator has {', '.join(_ValidatorTable.model_fields)}"
        case "model_type" | "dict_type":
            return "must be a table"
        case "string_pattern_mismatch":
            return "is no name: use letters, digits, '-' and '_', at most 40"
        case "missing":
            return "is missing"
        case "bool_type":
            return "must be true or false"
        case "string_type" | "string_too_short":
            return "must be a text that is not empty"
    return problem["msg"]


def _stranger(key: str) -> str:
    variable = BY_FIELD.get(key.lower().replace("-", "_").removeprefix("tilth_"))
    if variable is not None:
        return f"may not be set by a repository: set {variable.name} in the environment or .env"
    if _NOT_THE_REPOSITORYS.search(key.lower().replace("-", "_")):
        return "may not be set by a repository: only you choose keys, endpoints, sandbox and caps"
    return f"is not known: a repository may set {', '.join(_Table.model_fields)}"
