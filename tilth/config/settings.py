"""`Settings`: one frozen value from flags, the environment and Tilth's own `.env`.

It knows where each value came from and never prints a key. It reads no `.env` but the one in
Tilth's home, and takes the environment as an argument: nothing here looks at the process's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, ConfigDict, Field, SecretStr, ValidationError

from tilth.base.errors import BadSetting
from tilth.base.values import Value
from tilth.config.choices import OnExhausted, SandboxChoice
from tilth.config.readers import (
    GENERATED,
    LONGEST_TIMEOUT_S,
    AbsolutePath,
    BaseUrl,
    CarryWords,
    CommandLine,
    FileNames,
    Headers,
    Interpreter,
    Key,
    ModelId,
    SecretWords,
    Switch,
    TimeoutSeconds,
    above_zero,
    choice,
    from_zero,
    whole,
)
from tilth.config.secret_values import secret_texts
from tilth.config.secrets import SHORTEST, Mask, is_weak, shortened
from tilth.config.sources import DEFAULT_HOME, FoundValue, Gathered, Origin, Source, gather
from tilth.config.variables import (
    Variable,
    as_text,
    inherited,
    setting,
    variables_of,
    worked_out,
)
from tilth.model.messages import Role

if TYPE_CHECKING:
    from tilth.config.project import ProjectFacts

__all__ = [
    "BY_FIELD",
    "BY_NAME",
    "EXAMPLE_MODEL",
    "SECRET_NAMES",
    "VARIABLES",
    "Endpoint",
    "OnExhausted",
    "Origin",
    "SandboxChoice",
    "Settings",
    "Source",
    "Variable",
    "known_secrets",
    "load",
]

EXAMPLE_MODEL = "claude-sonnet-5-5"
MOST_JOBS = 16
DEFAULT_BASE_URL = "https://api.anthropic.com"


class Endpoint(Value):
    """Hold all it takes to reach one model."""

    model: str
    base_url: str | None
    api_key: SecretStr
    extra_headers: dict[str, SecretStr]
    stall_seconds: float

    @property
    def address(self) -> str:
        """Give where it is reached; the SDK's own place if nobody has said."""
        return self.base_url or DEFAULT_BASE_URL

    def revealed_headers(self) -> dict[str, str]:
        """Give the headers in the clear, for the wire alone."""
        return {name: value.get_secret_value() for name, value in self.extra_headers.items()}


class Settings(Value):
    """Declare every setting; build it with `load`, or by hand in tests.

    One field is one setting: `max_tokens` is the variable `TILTH_MAX_TOKENS`, its type says how the
    text is read, within which bounds and whether it is secret, and `setting` adds default and help.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    home: AbsolutePath = setting(..., "where .env and sessions/ live", written=DEFAULT_HOME)
    sessions_dir: AbsolutePath = worked_out(
        lambda data: data["home"] / "sessions",
        "where the sessions live",
        written="$TILTH_HOME/sessions",
    )
    api_key: Key = setting(
        None,
        "required: key of the worker's endpoint, else ANTHROPIC_API_KEY",
        fallback="ANTHROPIC_API_KEY",
    )
    base_url: BaseUrl = setting(
        None,
        "any endpoint that speaks the Messages API, else ANTHROPIC_BASE_URL, else the SDK's",
        fallback="ANTHROPIC_BASE_URL",
    )
    extra_headers: Headers = setting(
        {}, 'JSON object of headers sent with every model call, e.g. {"x-api-key": "..."}'
    )
    worker_model: ModelId = setting(
        None, f"required: the model that changes code, e.g. {EXAMPLE_MODEL}"
    )
    evaluator_model: ModelId = inherited(
        "worker_model", "the model that judges the result; blank: the worker's"
    )
    evaluator_base_url: BaseUrl = inherited(
        "base_url", "the evaluator's endpoint; blank: the worker's"
    )
    evaluator_api_key: Key = inherited(
        "api_key", "key of the evaluator's endpoint; blank: the worker's"
    )
    prep_model: ModelId = inherited(
        "worker_model", "the model that interviews you in prep-feature; blank: the worker's"
    )
    prep_base_url: BaseUrl = inherited("base_url", "the seeder's endpoint; blank: the worker's")
    prep_api_key: Key = inherited("api_key", "key of the seeder's endpoint; blank: the worker's")
    max_iterations_per_task: Annotated[int, whole(1)] = setting(
        32, "worker calls a task may spend, at least 1"
    )
    iteration_bonus_per_rejection: Annotated[int, whole(0)] = setting(
        5, "extra iterations each evaluator rejection adds; together at most the budget itself"
    )
    max_evaluator_calls_per_task: Annotated[int, whole(0)] = setting(
        0, "rejections before a task is exhausted; 0: no limit"
    )
    max_wall_clock_minutes: Annotated[float, above_zero()] = setting(
        120, "minutes one start or resume may take"
    )
    max_tokens: Annotated[int, whole(1)] = setting(
        2_000_000, "tokens a session may use over all roles and resumes; cache reads do not count"
    )
    max_cost_usd: Annotated[float, above_zero()] = setting(
        10, "dollars a session may cost over all roles and resumes"
    )
    evaluate: Switch = setting(True, "run the evaluator at all", flag="--no-eval")
    eval_threshold: Annotated[int, whole(0, 100)] = setting(
        0, "score from 0 to 100 an accept must carry; 0: off", flag="--eval-threshold"
    )
    evaluator_tools: Switch = setting(
        True, "let the evaluator read the judged tree and run probes on it"
    )
    max_evaluator_turns: Annotated[int, whole(1)] = setting(
        12, "evaluator calls one review may spend before it must give its verdict"
    )
    mutation_seconds: Annotated[float, from_zero(LONGEST_TIMEOUT_S)] = setting(
        30, "seconds the gate may spend on mutants of the change; 0: none"
    )
    challenge_seconds: Annotated[float, from_zero(LONGEST_TIMEOUT_S)] = setting(
        60, "seconds the gate may spend on challenging the project's own tests; 0: none"
    )
    jobs: Annotated[int, whole(1), AfterValidator(lambda jobs: min(jobs, MOST_JOBS))] = setting(
        1, f"tasks worked on at the same time, at most {MOST_JOBS}", flag="--jobs"
    )
    wait_for_quota_minutes: Annotated[float, from_zero(LONGEST_TIMEOUT_S / 60)] = setting(
        360, "minutes a run may sleep for a limit whose reset time the endpoint names; 0: never"
    )
    notify: SecretWords = setting(
        (), "where to send word at the end and when a person is needed: Apprise URLs, spaced"
    )
    notify_command: CommandLine = setting(
        "", "a program that gets the same word as one JSON on stdin; no shell"
    )
    on_exhausted: Annotated[OnExhausted, choice(OnExhausted)] = setting(
        OnExhausted.AUTO,
        "halt stops the run, skip goes on with independent tasks, accept takes it below the bar; "
        "auto: skip for a plan with any depends_on, else halt",
    )
    fail_open_on_unparsed: Switch = setting(
        False, "let an unreadable verdict pass; only for set-ups with no real evaluator"
    )
    context_files: FileNames = setting(
        ("AGENTS.md", "CLAUDE.md"),
        "project conventions, read from the root of the session's start, never written",
    )
    sandbox: Annotated[SandboxChoice, choice(SandboxChoice)] = setting(
        SandboxChoice.AUTO,
        "auto takes what works here or refuses; bwrap and landlock insist; off confines nothing",
        flag="--no-sandbox",
    )
    sandbox_network: Switch = setting(False, "whether sandboxed commands may use the network")
    carry: CarryWords = setting(
        (GENERATED,),
        "ignored files that worker and gate are given: off, generated, project, or a comma list of "
        "globs beside the generated kinds",
        flag="--carry",
    )
    max_output_tokens: Annotated[int, whole(1)] = setting(16_000, "max_tokens of one model call")
    stall_seconds: TimeoutSeconds = setting(
        120, "seconds a model may send nothing before a try counts as failed; local ones need more"
    )
    tool_timeout_seconds: TimeoutSeconds = setting(120, "seconds one bash call may take")
    validator_timeout_seconds: TimeoutSeconds = setting(300, "seconds one validator may take")
    python: Interpreter = setting(
        None,
        "interpreter for pytest and first on the worker's PATH; auto finds the project's own",
        written="auto",
    )
    origins: Mapping[str, Origin] = Field(default={}, repr=False)
    overruled: tuple[SecretStr, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def env_file(self) -> Path:
        """Give the one `.env` file that is read."""
        return self.home / ".env"

    def endpoint(self, role: Role) -> Endpoint | None:
        """Give the role's endpoint, or None while its key or model is not set."""
        model, base_url, key = self._endpoint_parts(role)
        if model is None or key is None:
            return None
        return Endpoint(
            model=model,
            base_url=base_url,
            api_key=key,
            extra_headers=self.extra_headers,
            stall_seconds=self.stall_seconds,
        )

    def require_endpoint(self, role: Role) -> Endpoint:
        """Give the role's endpoint, or say which variables to set."""
        endpoint = self.endpoint(role)
        if endpoint is not None:
            return endpoint
        model, _, key = self._endpoint_parts(role)
        where = f"in the environment or in {self.env_file}"
        missing = []
        if key is None:
            missing.append(f"TILTH_API_KEY is not set: set it (or ANTHROPIC_API_KEY) {where}")
        if model is None:
            example = f"TILTH_WORKER_MODEL={EXAMPLE_MODEL}"
            missing.append(f"TILTH_WORKER_MODEL is not set: set it, e.g. {example}, {where}")
        raise BadSetting("\n".join(missing))

    def _endpoint_parts(self, role: Role) -> tuple[str | None, str | None, SecretStr | None]:
        match role:
            case Role.WORKER:
                return self.worker_model, self.base_url, self.api_key
            case Role.EVALUATOR:
                return self.evaluator_model, self.evaluator_base_url, self.evaluator_api_key
            case Role.SEEDER:
                return self.prep_model, self.prep_base_url, self.prep_api_key

    def under(self, facts: ProjectFacts) -> Settings:
        """Fill in what the project says where the user said nothing."""
        name = "TILTH_CONTEXT_FILES"
        said = self.origins.get(name, Origin(source=Source.DEFAULT, variable=name))
        if facts.context_files is None or said.source is not Source.DEFAULT:
            return self
        origin = Origin(source=Source.PROJECT, variable=facts.place_of("context_files"))
        origins = {**self.origins, name: origin}
        return self.model_copy(update={"context_files": facts.context_files, "origins": origins})

    def shown(self, variable: Variable) -> str:
        """Give a value as text for people, keys masked; blank where nothing is set."""
        match getattr(self, variable.field):
            case SecretStr() as value:
                return shortened(value.get_secret_value())
            case dict() as headers:
                shown = (f"{k}: {shortened(v.get_secret_value())}" for k, v in headers.items())
                return ", ".join(shown)
            case (SecretStr(), *_) as secrets:
                return " ".join(shortened(value.get_secret_value()) for value in secrets)
            case None:
                return variable.default if variable.is_path else ""
            case value:
                return as_text(value)


VARIABLES = variables_of(Settings)
BY_NAME = {variable.name: variable for variable in VARIABLES}
BY_FIELD = {variable.field: variable for variable in VARIABLES}
_SECRET = tuple(variable for variable in VARIABLES if variable.is_secret)
SECRET_NAMES = tuple(
    name for variable in _SECRET for name in (variable.name, variable.fallback) if name
)


def known_secrets(settings: Settings) -> tuple[str, ...]:
    """Give every value that must never be written anywhere, the longest first."""
    values = (settings.overruled, *(getattr(settings, variable.field) for variable in _SECRET))
    texts = {text for value in values for text in secret_texts(value)}
    return tuple(
        sorted((text for text in texts if len(text) >= SHORTEST), key=lambda t: (-len(t), t))
    )


def _overruled(gathered: Gathered) -> Iterator[SecretStr]:
    """Give the secrets that are set and have no effect: they are somebody's keys all the same."""
    for found in gathered.all():
        if not isinstance(found.value, SecretStr) or found in map(gathered.find, _SECRET):
            continue
        field = next(v.field for v in _SECRET if found.name in (v.name, v.fallback, v.flag))
        try:
            weaker = Settings.model_validate({"home": gathered.home, field: found.value})
            yield from map(SecretStr, secret_texts(getattr(weaker, field)))
        except ValidationError:
            yield found.value


def load(flags: Mapping[str, object], environ: Mapping[str, str]) -> Settings:
    """Read the settings in force, or raise BadSetting with one line for each problem."""
    gathered = gather(flags, environ, VARIABLES)
    try:
        return Settings(
            **gathered.values(),
            home=gathered.home,
            origins=gathered.origins(),
            overruled=tuple(_overruled(gathered)),
            unknown=(*gathered.unknown, *_bounded(gathered), *_weak(gathered)),
        )
    except ValidationError as error:
        # the cause holds the values that were read, keys among them
        raise BadSetting("\n".join(_problems(error, gathered))) from None


def _bounded(gathered: Gathered) -> Iterator[str]:
    """Say which values are more than can be had; they are no error."""
    hit = gathered.find(BY_FIELD["jobs"])
    if hit and hit.written.isdecimal() and float(hit.written) > MOST_JOBS:
        asked = f"{hit.name} asks for {hit.written[:20]} tasks at the same time"
        yield f"{asked}; at most {MOST_JOBS} are worked on"


def _weak(gathered: Gathered) -> Iterator[str]:
    """Say which keys are too plain to be hidden everywhere."""
    for hit in filter(None, map(gathered.find, _SECRET)):
        if hit.name.endswith("_API_KEY") and is_weak(hit.written):
            yield (
                f"{hit.name} is short or a plain word: it is hidden only where it stands alone, "
                "so use a longer key where one matters"
            )


def _problems(error: ValidationError, gathered: Gathered) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_input=False):
        field = str(problem["loc"][0])
        if problem["type"] == "default_factory_not_called":
            continue  # its source is a problem of its own
        hit = gathered.find(BY_FIELD[field])
        name = hit.name if hit else BY_FIELD[field].name
        place = f" (in {gathered.home / '.env'})" if hit and hit.source is Source.FILE else ""
        got = _got(hit, gathered) if hit else repr(str(gathered.home))
        yield f"{name} {problem['msg']}, got {got}{place}"


def _got(found: FoundValue, gathered: Gathered) -> str:
    """Quote a value that could not be read, with everything that may be a secret left out."""
    if isinstance(found.value, SecretStr):
        return "a value that is not shown"
    secrets = (other.written for other in gathered.all() if isinstance(other.value, SecretStr))
    text = Mask(secrets).known(found.written)
    text = re.sub(r"//.*@", "//…@", text)
    text = re.sub(r"\?.*", "?…", text)
    text = re.sub(r"sk-[\w-]{6,}", "sk-…", text)
    return repr(text if len(text) <= 60 else text[:59] + "…")
