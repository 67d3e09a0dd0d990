"""`[tool.tilth]`: what a repository may say, and what it is refused."""

from __future__ import annotations

import json

import pytest

from tilth.base.errors import UserError
from tilth.config.project import NamedValidator, ProjectFacts, find_project, read_project
from tilth.config.settings import VARIABLES


def problems(text: str) -> list[str]:
    with pytest.raises(UserError) as caught:
        read_project(text.encode())
    return [line.removeprefix("pyproject.toml: ") for line in str(caught.value).splitlines()]


def test_a_repository_without_a_file_has_the_defaults() -> None:
    assert find_project({}.get) == ProjectFacts()


def test_a_repository_without_a_pyproject_may_speak_in_a_tilth_toml() -> None:
    files = {"tilth.toml": b'suite = false\n[validators]\nweb = "npm test"\n'}
    facts = find_project(files.get)
    assert facts.suite is False
    assert facts.validators == (NamedValidator(name="web", command=("npm", "test")),)
    assert facts.file == "tilth.toml"


def test_a_pyproject_that_says_nothing_to_tilth_leaves_the_word_to_a_tilth_toml() -> None:
    files = {"tilth.toml": b"suite = false\n", "pyproject.toml": b"[project]\nname = 'x'\n"}
    assert find_project(files.get) == ProjectFacts(suite=False, file="tilth.toml")


@pytest.mark.parametrize("table", [b"[tool.tilth]\n", b"[tool.tilth.validators]\nv = 'make v'\n"])
def test_where_both_speak_the_pyproject_wins_whole(table: bytes) -> None:
    files = {"tilth.toml": b"suite = false\nnonsense = 1\n", "pyproject.toml": table}
    assert find_project(files.get) == read_project(table)


def test_a_fault_in_a_tilth_toml_is_named_without_the_prefix() -> None:
    with pytest.raises(UserError, match=r"^tilth.toml: sandbox may not be set by a repository"):
        find_project({"tilth.toml": b"sandbox = 'off'\n"}.get)


@pytest.mark.parametrize(
    ("text", "suite"),
    [
        ("", True),
        ("suite = true", True),
        ("suite = false", False),
        ("suite=['-k','a']", ("-k", "a")),
    ],
)
def test_a_repository_chooses_its_suite(text: str, suite: object) -> None:
    assert read_project(f"[tool.tilth]\n{text}\n".encode()).suite == suite


@pytest.mark.parametrize("content", [b"", b"[project]\nname = 'x'\n", b"tool = 3\n"])
def test_a_repository_that_says_nothing_has_the_defaults(content: bytes) -> None:
    facts = read_project(content)
    assert facts == ProjectFacts()
    assert not facts.replace_defaults
    assert facts.context_files is None


def test_everything_a_repository_may_say_is_read() -> None:
    facts = read_project(b"""\xef\xbb\xbf
[tool.tilth]
defaults = false
context_files = ["./AGENTS.md", "docs/STYLE.md"]
setup = ["python -m venv .venv", ".venv/bin/pip install -e ."]

[tool.tilth.validators]
mypy = "mypy 'my src'"
pytest = ["python", "-m", "pytest"]
web = { command = "npm test", timeout = 1.5, covers = "the web client" }
""")
    assert facts == ProjectFacts(
        validators=(
            NamedValidator(name="mypy", command=("mypy", "my src")),
            NamedValidator(name="pytest", command=("python", "-m", "pytest")),
            NamedValidator(
                name="web", command=("npm", "test"), timeout_s=1.5, covers="the web client"
            ),
        ),
        replace_defaults=True,
        context_files=("AGENTS.md", "docs/STYLE.md"),
        setup=("python -m venv .venv", ".venv/bin/pip install -e ."),
    )


def test_no_context_files_at_all_can_be_said() -> None:
    assert read_project(b"[tool.tilth]\ncontext_files = []\n").context_files == ()


@pytest.mark.parametrize(
    "variable",
    [item for item in VARIABLES if item.field not in ("context_files", "carry")],
    ids=lambda i: i.name,
)
def test_no_setting_of_the_user_can_be_made_by_a_repository(variable: object) -> None:
    item = next(entry for entry in VARIABLES if entry is variable)
    (problem,) = problems(f"[tool.tilth]\n{item.field} = 1\n")
    assert problem == (
        f"tool.tilth.{item.field} may not be set by a repository: "
        f"set {item.name} in the environment or .env"
    )


@pytest.mark.parametrize("key", ["evaluators", "api-key-env", "endpoint", "token_cap", "judge"])
def test_what_looks_like_a_key_endpoint_or_cap_is_refused_with_the_reason(key: str) -> None:
    (problem,) = problems(f"[tool.tilth]\n{key} = 1\n")
    assert problem == (
        f"tool.tilth.{key} may not be set by a repository: "
        "only you choose keys, endpoints, sandbox and caps"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("colour = 1", "colour is not known: a repository may set defaults, suite, "),
        ("defaults = 0", "defaults must be true or false"),
        ("context_files = 'A.md'", "context_files must be a list of relative file names"),
        ("context_files = ['../A']", "context_files must be a list of relative file names"),
        ("context_files = [1]", "context_files must be a list of relative file names"),
        ("suite = 1", "suite must be true, false or a list of arguments for pytest"),
        ("suite = []", "suite must be true, false or a list of arguments for pytest"),
        ("suite = 'tests'", "suite must be true, false or a list of arguments for pytest"),
        ("setup = [1]", "setup must be a command line or a list of command lines"),
        ("setup = ['']", "setup must be a command line or a list of command lines"),
        ("validators = 1", "validators must be a table"),
        ("validators.x = 1", "validators.x must be a table"),
        ("validators.x = ''", "validators.x.command must be a command line or a list of words"),
        ("validators.x = []", "validators.x.command must be a command line or a list of words"),
        ('validators.x = "a \'b"', "validators.x.command cannot be split into words: no closing"),
        ("validators.x.command = [1]", "validators.x.command must be a command line or a list"),
        ('validators.x = ["a\\u0000"]', "validators.x.command must be a command line or a list"),
        ("validators.x = {}", "validators.x.command is missing"),
        ("validators.x = {command = 'a', timeout = 0}", "validators.x.timeout must be a number"),
        ("validators.x = {command = 'a', timeout = nan}", "validators.x.timeout must be a number"),
        ("validators.x = {command = 'a', timeout = true}", "validators.x.timeout must be a number"),
        ("validators.x = {command = 'a', covers = 1}", "validators.x.covers must be a text"),
        ("validators.x = {command = 'a', shell = 1}", "validators.x.shell is not known: a valid"),
        ("validators.'a/b' = 'c'", "validators.a/b.[key] is no name"),
    ],
)
def test_a_fault_is_named_where_it_stands(text: str, problem: str) -> None:
    (found,) = problems(f"[tool.tilth]\n{text}\n")
    assert found.startswith(f"tool.tilth.{problem}")


def test_all_faults_are_told_at_once() -> None:
    assert len(problems("[tool.tilth]\ndefaults = 1\nsandbox = 'off'\nsetup = 1\n")) == 3


def test_a_table_of_another_kind_is_refused() -> None:
    assert problems("[tool]\ntilth = 1\n") == ["tool.tilth must be a table"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[tool.tilth]\nx = \n", r"not TOML: .*\(at line 2, column 5\)$"),
        (b"a = '\xff'", r"not UTF-8 at byte 5; save it as UTF-8$"),
        (b"a = " + b"[" * 100_000, r"nested too deeply to be read$"),
        (b"a = " + b"1" * 6_000, r"not TOML: Exceeds the limit \(4300 digits\)"),
    ],
)
def test_a_file_that_is_no_toml_is_one_line_with_the_place(content: bytes, said: str) -> None:
    with pytest.raises(UserError, match=f"^pyproject.toml: {said}"):
        read_project(content)


def test_a_validator_may_name_the_junit_report_it_writes() -> None:
    facts = read_project(
        b"[validators]\nweb = { command = 'npm test', junit = './out/*.xml' }\n", "tilth.toml"
    )
    assert facts.validators[0].junit == "out/*.xml"


@pytest.mark.parametrize("path", ["../x.xml", "/x.xml", "", " ", "~/x.xml", "a\\b", 3, ["x.xml"]])
def test_a_junit_report_outside_the_tree_is_refused(path: object) -> None:
    text = f"[tool.tilth.validators.v]\ncommand = 'v'\njunit = {json.dumps(path)}\n"
    assert problems(text) == [
        "tool.tilth.validators.v.junit must be a relative path without '..', such as 'report.xml'"
    ]
