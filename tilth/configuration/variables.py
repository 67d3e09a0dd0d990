"""The table of settings: every variable's name, kind, default and line of help.

It drives `.env.example`, `tilth init`, `tilth config` and the docs, so that they cannot drift
apart. It never reads a value, and imports nothing heavy.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

EXAMPLE_MODEL = "claude-sonnet-5-5"


class Kind(StrEnum):
    """Name what a variable's text is read as."""

    PATH = "path"
    INTERPRETER = "interpreter"
    KEY = "key"
    URL = "url"
    HEADERS = "headers"
    MODEL = "model"
    WHOLE = "whole number"
    NUMBER = "number"
    SWITCH = "switch"
    CHOICE = "choice"
    NAMES = "names"

    @property
    def hidden(self) -> bool:
        """Tell whether a value of this kind must never be printed."""
        return self in (Kind.KEY, Kind.HEADERS)


@dataclass(frozen=True)
class Variable:
    """Describe one setting.

    `default` is text as a user would write it; blank where there is none. `fallback` is another
    program's variable that is taken when this one is not set. `inherits` is the setting whose value
    this one takes when it is not set.
    """

    name: str
    kind: Kind
    default: str
    help: str
    fallback: str | None = None
    inherits: str | None = None
    flag: str | None = None

    @property
    def field(self) -> str:
        """Give the name of the attribute on `Settings`."""
        return self.name.removeprefix("TILTH_").lower()


VARIABLES: tuple[Variable, ...] = (
    Variable("TILTH_HOME", Kind.PATH, "~/.tilth", "where .env and sessions/ live"),
    Variable("TILTH_SESSIONS_DIR", Kind.PATH, "$TILTH_HOME/sessions", "where the sessions live"),
    Variable(
        "TILTH_API_KEY",
        Kind.KEY,
        "",
        "required: key of the worker's endpoint, else ANTHROPIC_API_KEY",
        fallback="ANTHROPIC_API_KEY",
    ),
    Variable(
        "TILTH_BASE_URL",
        Kind.URL,
        "",
        "any endpoint that speaks the Messages API, else ANTHROPIC_BASE_URL, else the SDK's",
        fallback="ANTHROPIC_BASE_URL",
    ),
    Variable(
        "TILTH_EXTRA_HEADERS",
        Kind.HEADERS,
        "",
        'JSON object of headers sent with every model call, e.g. {"x-api-key": "..."}',
    ),
    Variable(
        "TILTH_WORKER_MODEL",
        Kind.MODEL,
        "",
        f"required: the model that changes code, e.g. {EXAMPLE_MODEL}",
    ),
    Variable(
        "TILTH_EVALUATOR_MODEL",
        Kind.MODEL,
        "",
        "the model that judges the result; blank: the worker's",
        inherits="TILTH_WORKER_MODEL",
    ),
    Variable(
        "TILTH_EVALUATOR_BASE_URL",
        Kind.URL,
        "",
        "the evaluator's endpoint; blank: the worker's",
        inherits="TILTH_BASE_URL",
    ),
    Variable(
        "TILTH_EVALUATOR_API_KEY",
        Kind.KEY,
        "",
        "key of the evaluator's endpoint; blank: the worker's",
        inherits="TILTH_API_KEY",
    ),
    Variable(
        "TILTH_PREP_MODEL",
        Kind.MODEL,
        "",
        "the model that interviews you in prep-feature; blank: the worker's",
        inherits="TILTH_WORKER_MODEL",
    ),
    Variable(
        "TILTH_PREP_BASE_URL",
        Kind.URL,
        "",
        "the seeder's endpoint; blank: the worker's",
        inherits="TILTH_BASE_URL",
    ),
    Variable(
        "TILTH_PREP_API_KEY",
        Kind.KEY,
        "",
        "key of the seeder's endpoint; blank: the worker's",
        inherits="TILTH_API_KEY",
    ),
    Variable(
        "TILTH_MAX_ITERATIONS_PER_TASK",
        Kind.WHOLE,
        "32",
        "worker calls a task may spend, at least 1",
    ),
    Variable(
        "TILTH_ITERATION_BONUS_PER_REJECTION",
        Kind.WHOLE,
        "5",
        "extra iterations each evaluator rejection adds; together at most the budget itself",
    ),
    Variable(
        "TILTH_MAX_EVALUATOR_CALLS_PER_TASK",
        Kind.WHOLE,
        "0",
        "rejections before a task is exhausted; 0: no limit",
    ),
    Variable(
        "TILTH_MAX_WALL_CLOCK_MINUTES",
        Kind.NUMBER,
        "120",
        "minutes one start or resume may take",
    ),
    Variable(
        "TILTH_MAX_TOKENS",
        Kind.WHOLE,
        "2000000",
        "tokens a session may use over all roles and resumes; cache reads do not count",
    ),
    Variable(
        "TILTH_MAX_COST_USD",
        Kind.NUMBER,
        "10",
        "dollars a session may cost over all roles and resumes",
    ),
    Variable(
        "TILTH_EVALUATE",
        Kind.SWITCH,
        "on",
        "run the evaluator at all",
        flag="--no-eval",
    ),
    Variable(
        "TILTH_EVAL_THRESHOLD",
        Kind.WHOLE,
        "0",
        "score from 0 to 100 an accept must carry; 0: off",
        flag="--eval-threshold",
    ),
    Variable(
        "TILTH_ON_EXHAUSTED",
        Kind.CHOICE,
        "halt",
        "halt stops the run, skip goes on with independent tasks, accept takes it below the bar",
    ),
    Variable(
        "TILTH_FAIL_OPEN_ON_UNPARSED",
        Kind.SWITCH,
        "false",
        "let an unreadable verdict pass; only for set-ups with no real evaluator",
    ),
    Variable(
        "TILTH_CONTEXT_FILES",
        Kind.NAMES,
        "AGENTS.md,CLAUDE.md",
        "project conventions, read from the root of the task's base, never written",
    ),
    Variable(
        "TILTH_SANDBOX",
        Kind.CHOICE,
        "auto",
        "auto takes what works here or refuses; bwrap and landlock insist; off confines nothing",
        flag="--no-sandbox",
    ),
    Variable(
        "TILTH_SANDBOX_NETWORK",
        Kind.SWITCH,
        "false",
        "whether sandboxed commands may use the network",
    ),
    Variable("TILTH_MAX_OUTPUT_TOKENS", Kind.WHOLE, "16000", "max_tokens of one model call"),
    Variable("TILTH_TOOL_TIMEOUT_SECONDS", Kind.NUMBER, "120", "seconds one bash call may take"),
    Variable(
        "TILTH_VALIDATOR_TIMEOUT_SECONDS", Kind.NUMBER, "300", "seconds one validator may take"
    ),
    Variable(
        "TILTH_PYTHON",
        Kind.INTERPRETER,
        "auto",
        "interpreter for pytest and first on the worker's PATH; auto finds the project's own",
    ),
)

BY_NAME = {variable.name: variable for variable in VARIABLES}
BY_FIELD = {variable.field: variable for variable in VARIABLES}

_EXAMPLE_HEAD = """\
# Settings of Tilth, each with its default. `tilth init` writes this file to $TILTH_HOME/.env.
# Uncomment what you want to change: a flag beats the environment, the environment beats this file.
"""


def env_example() -> str:
    """Write the whole table as a commented `.env` file."""
    entries = (f"\n# {item.help}\n#{item.name}={item.default}\n" for item in VARIABLES)
    return _EXAMPLE_HEAD + "".join(entries)
