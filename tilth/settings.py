"""`Settings`: one frozen value from flags, the environment and Tilth's own `.env`.

It knows where each value came from and never prints a key. It reads no `.env` but the one in
Tilth's home, and takes the environment as an argument: nothing here looks at the process's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from tilth.configuration.readers import (
    AbsolutePath,
    BaseUrl,
    FileNames,
    Headers,
    Interpreter,
    Key,
    ModelId,
    Switch,
    TimeoutSeconds,
    above_zero,
    choice,
    whole,
)
from tilth.configuration.sources import Found, Gathered, Layer, Origin, Source, gather
from tilth.configuration.variables import BY_FIELD, EXAMPLE_MODEL, VARIABLES, Kind, Variable
from tilth.errors import BadSetting
from tilth.messages import Role
from tilth.project import ProjectFacts
from tilth.values import Value

__all__ = [
    "VARIABLES",
    "Endpoint",
    "OnExhausted",
    "Origin",
    "SandboxChoice",
    "Settings",
    "Source",
    "known_secrets",
    "load",
    "masked",
]


# shorter texts stand in too many innocent places to be struck out
_SHORTEST_SECRET = 6
# A date or a flag name that may well stand in the code a worker writes.
_PUBLIC_HEADERS = frozenset({"anthropic-version", "anthropic-beta"})


class OnExhausted(StrEnum):
    """Say what becomes of a run when a task is exhausted."""

    HALT = "halt"
    SKIP = "skip"
    ACCEPT = "accept"


class SandboxChoice(StrEnum):
    """Say how commands are to be confined."""

    AUTO = "auto"
    BWRAP = "bwrap"
    LANDLOCK = "landlock"
    OFF = "off"


class Endpoint(Value):
    """Hold all it takes to reach one model."""

    model: str
    base_url: str | None
    api_key: SecretStr
    extra_headers: dict[str, SecretStr]

    def revealed_headers(self) -> dict[str, str]:
        """Give the headers in the clear, for the wire alone."""
        return {name: value.get_secret_value() for name, value in self.extra_headers.items()}


class Settings(BaseSettings):
    """Hold every setting, typed; build it with `load`, or by hand in tests."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    home: AbsolutePath
    sessions_dir: AbsolutePath = Field(default_factory=lambda data: data["home"] / "sessions")
    api_key: Key = None
    base_url: BaseUrl = None
    extra_headers: Headers = {}
    worker_model: ModelId = None
    evaluator_model: ModelId = Field(default_factory=lambda data: data.get("worker_model"))
    evaluator_base_url: BaseUrl = Field(default_factory=lambda data: data.get("base_url"))
    evaluator_api_key: Key = Field(default_factory=lambda data: data.get("api_key"))
    prep_model: ModelId = Field(default_factory=lambda data: data.get("worker_model"))
    prep_base_url: BaseUrl = Field(default_factory=lambda data: data.get("base_url"))
    prep_api_key: Key = Field(default_factory=lambda data: data.get("api_key"))
    max_iterations_per_task: Annotated[int, whole(1)] = 32
    iteration_bonus_per_rejection: Annotated[int, whole(0)] = 5
    max_evaluator_calls_per_task: Annotated[int, whole(0)] = 0
    max_wall_clock_minutes: Annotated[float, above_zero()] = 120
    max_tokens: Annotated[int, whole(1)] = 2_000_000
    max_cost_usd: Annotated[float, above_zero()] = 10
    evaluate: Switch = True
    eval_threshold: Annotated[int, whole(0, 100)] = 0
    on_exhausted: Annotated[OnExhausted, choice(OnExhausted)] = OnExhausted.HALT
    fail_open_on_unparsed: Switch = False
    context_files: FileNames = ("AGENTS.md", "CLAUDE.md")
    sandbox: Annotated[SandboxChoice, choice(SandboxChoice)] = SandboxChoice.AUTO
    sandbox_network: Switch = False
    max_output_tokens: Annotated[int, whole(1)] = 16_000
    tool_timeout_seconds: TimeoutSeconds = 120
    validator_timeout_seconds: TimeoutSeconds = 300
    python: Interpreter = None
    origins: Mapping[str, Origin] = Field(default={}, repr=False)
    unknown: tuple[str, ...] = ()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take what `load` hands in, and nothing from the process or the current directory."""
        if not isinstance(init_settings, InitSettingsSource):
            return (init_settings,)
        layers: tuple[PydanticBaseSettingsSource, ...] = init_settings.init_kwargs.pop("layers", ())
        return (init_settings, *layers)

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
            model=model, base_url=base_url, api_key=key, extra_headers=self.extra_headers
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
        origin = Origin(source=Source.PROJECT, variable="tool.tilth.context_files")
        origins = {**self.origins, name: origin}
        return self.model_copy(update={"context_files": facts.context_files, "origins": origins})

    def shown(self, variable: Variable) -> str:
        """Give a value as text for people, keys masked; blank where nothing is set."""
        value = getattr(self, variable.field)
        match value:
            case None:
                return "auto" if variable.kind is Kind.INTERPRETER else ""
            case SecretStr():
                return masked(value.get_secret_value())
            case dict():
                return ", ".join(f"{k}: {masked(v.get_secret_value())}" for k, v in value.items())
            case tuple():
                return ",".join(value)
            case bool():
                return "on" if value else "off"
            case float():
                return f"{value:.15g}"
        return str(value)


def masked(secret: str) -> str:
    """Shorten a secret to what tells it from another: its end, and only if it is long."""
    if len(secret) < 16:
        return "…"
    return ("sk-" if secret.startswith("sk-") else "") + "…" + secret[-4:]


def known_secrets(settings: Settings) -> tuple[str, ...]:
    """Give every value that must never be written anywhere, the longest first."""
    keys = (settings.api_key, settings.evaluator_api_key, settings.prep_api_key)
    headers = (v for k, v in settings.extra_headers.items() if k.lower() not in _PUBLIC_HEADERS)
    hidden = [*(key for key in keys if key is not None), *headers]
    texts = {secret.get_secret_value() for secret in hidden}
    return tuple(
        sorted(
            (text for text in texts if len(text) >= _SHORTEST_SECRET), key=lambda t: (-len(t), t)
        )
    )


def load(flags: Mapping[str, object], environ: Mapping[str, str]) -> Settings:
    """Read the settings in force, or raise BadSetting with one line for each problem."""
    gathered = gather(flags, environ)
    given: dict[str, Any] = {
        "layers": tuple(_LayerSource(layer) for layer in gathered.layers),
        "home": gathered.home,
        "origins": gathered.origins(),
        "unknown": gathered.unknown,
    }
    try:
        return Settings(**given)
    except ValidationError as error:
        # the cause holds the values that were read, keys among them
        raise BadSetting("\n".join(_problems(error, gathered))) from None


class _LayerSource(PydanticBaseSettingsSource):
    """Hand one layer to pydantic-settings, which merges them in order."""

    def __init__(self, layer: Layer) -> None:
        super().__init__(Settings)
        self._layer = layer

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        found = self._layer.found.get(field_name)
        return (None if found is None else found.value), field_name, False

    def __call__(self) -> dict[str, Any]:
        return {field: found.value for field, found in self._layer.found.items()}


def _problems(error: ValidationError, gathered: Gathered) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_input=False):
        field = str(problem["loc"][0])
        if problem["type"] == "default_factory_not_called":
            continue  # its source is a problem of its own
        hit = gathered.find(BY_FIELD[field])
        name = hit[1].name if hit else BY_FIELD[field].name
        place = f" (in {gathered.home / '.env'})" if hit and hit[0].source is Source.FILE else ""
        got = _got(hit[1], gathered) if hit else repr(str(gathered.home))
        yield f"{name} {problem['msg']}, got {got}{place}"


def _got(found: Found, gathered: Gathered) -> str:
    """Quote a value that could not be read, with everything that may be a secret left out."""
    if isinstance(found.value, SecretStr):
        return "a value that is not shown"
    text = found.written
    for layer in gathered.layers:
        for other in layer.found.values():
            if isinstance(other.value, SecretStr) and len(other.written) >= _SHORTEST_SECRET:
                text = text.replace(other.written, "…")
    text = re.sub(r"//.*@", "//…@", text)
    text = re.sub(r"\?.*", "?…", text)
    text = re.sub(r"sk-[\w-]{6,}", "sk-…", text)
    return repr(text if len(text) <= 60 else text[:59] + "…")
