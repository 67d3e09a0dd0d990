"""Which files a named validator runs or goes by, as far as its command tells."""

from __future__ import annotations

import shlex

import pytest

from tilth.config.project import NamedValidator
from tilth.gate.validator_files import users_of


def named(command: str, name: str = "lint") -> NamedValidator:
    return NamedValidator(name=name, command=tuple(shlex.split(command)))


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("python tools/lint.py", "tools/lint.py"),
        ("./check.sh --all", "check.sh"),
        ("tool --config=conf/rules.toml src", "conf/rules.toml"),
        ("pytest tests/test_a.py::test_one", "tests/test_a.py"),
        ("sh -c 'cd tools && python lint.py | tail -1'", "tools/lint.py"),
        ("python -m mylint", "mylint.py"),
        ("python -m tools.lint", "src/tools/lint/__main__.py"),
        ("make lint", "Makefile"),
        ("make lint", "build/rules.mk"),
        ("env CI=1 /usr/bin/make lint", "GNUmakefile"),
        ("make -C web lint", "web/makefile"),
        ("npm run lint", "package.json"),
        ("yarn --cwd web test", "web/package.json"),
        ("pnpm test", "package.json"),
        ("uv run tox -e py", "tox.ini"),
        ("nox -s tests", "noxfile.py"),
        ("just lint", "justfile"),
        ("task lint", "Taskfile.yml"),
    ],
)
def test_a_file_that_a_command_names_is_known_as_its_own(command: str, path: str) -> None:
    assert users_of(path, (named(command), named("true", "other"))) == ("lint",)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("python tools/lint.py", "lint.py"),
        ("python tools/lint.py src", "src/lint.py"),
        ("mypy src", "src/app.py"),
        ("mypy src", "Makefile"),
        ("make lint", "docs/Makefile"),
        ("python -m mylint", "tools/mylint.py"),
        ("python /opt/lint.py", "opt/lint.py"),
    ],
)
def test_another_file_is_not(command: str, path: str) -> None:
    assert users_of(path, (named(command),)) == ()
