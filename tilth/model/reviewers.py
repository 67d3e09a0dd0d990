"""The reviewers: named evaluators that the user defines and a task may ask for.

They stand in `evaluators.toml` in Tilth's home and nowhere else: a repository or a PRD can name
one, never define one. A key is named by its variable and never stands in the file.

    [strict]
    model = "claude-opus-5"
    base_url = "https://gateway.example.org"   # left out: the default evaluator's endpoint and key
    api_key_env = "STRICT_REVIEWER_KEY"        # required with a base_url
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, SecretStr, StringConstraints, ValidationError

from tilth.base.errors import BadSetting, UserError
from tilth.base.foreign_text import LARGEST_CONFIG, read_toml
from tilth.base.plain_file import read_plain
from tilth.base.values import Value
from tilth.config.env_file import read_env_file
from tilth.config.readers import BaseUrl
from tilth.config.secrets import Mask, conceal
from tilth.config.settings import SECRET_NAMES, Endpoint, Settings, known_secrets
from tilth.contract.prd import Plan
from tilth.model.messages import Role

FILE_NAME = "evaluators.toml"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be one line of printable characters")
    return text


_Line = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(_printable)
]
_Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class Reviewer(Value):
    """Hold one table of the file."""

    model: _Line
    base_url: BaseUrl = None
    api_key_env: _Variable | None = Field(default=None)


@dataclass(frozen=True)
class Reviewers:
    """Hold every reviewer the user has defined, and the keys that were found for them."""

    source: Path
    defined: Mapping[str, Reviewer] = field(default_factory=dict)
    keys: Mapping[str, SecretStr] = field(default_factory=dict)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Give every key found, for the mask."""
        return tuple(key.get_secret_value() for key in self.keys.values())

    def mask(self, settings: Settings) -> Mask:
        """Mask every key there is: these and the settings' own."""
        return Mask((*known_secrets(settings), *self.secrets))

    def conceal(self, environ: MutableMapping[str, str]) -> None:
        """Leave no key in the environment: these and the settings' own."""
        conceal(environ, (*SECRET_NAMES, *self.keys))

    def choose(self, plan: Plan, settings: Settings, *, second_opinions: bool = False) -> Panel:
        """Find the evaluators a plan asks for; a name nobody defined falls to the default one."""
        named = dict.fromkeys(task.reviewer for task in plan.tasks if task.reviewer)
        if not settings.evaluate:
            return Panel(secrets=self.secrets)
        return Panel(
            by_name={name: self.endpoint(name, settings) for name in named if name in self.defined},
            unknown=tuple(name for name in named if name not in self.defined),
            others=self._others(settings) if second_opinions else {},
            secrets=self.secrets,
        )

    def _others(self, settings: Settings) -> dict[str, Endpoint]:
        """Give the reviewers whose opinion would be another than worker's and evaluator's."""
        known = [settings.require_endpoint(role) for role in (Role.WORKER, Role.EVALUATOR)]
        found = {name: self.endpoint(name, settings) for name in self.defined}
        return {
            name: endpoint
            for name, endpoint in found.items()
            if not any(is_same_model(endpoint, each) for each in known)
        }

    def chosen(self, name: str | None, settings: Settings) -> Endpoint:
        """Give the reviewer a user names, else the default evaluator."""
        if name is None:
            return settings.require_endpoint(Role.EVALUATOR)
        if name not in self.defined:
            known = ", ".join(self.defined) or "none"
            raise UserError(f"{self.source} defines no reviewer {name!r}; it has: {known}")
        return self.endpoint(name, settings)

    def endpoint(self, name: str, settings: Settings) -> Endpoint:
        """Give all it takes to reach a reviewer that is defined."""
        reviewer = self.defined[name]
        default = settings.require_endpoint(Role.EVALUATOR)
        return Endpoint(
            model=reviewer.model,
            base_url=reviewer.base_url or default.base_url,
            api_key=self._key(name, reviewer) or default.api_key,
            extra_headers=settings.extra_headers,
            stall_seconds=settings.stall_seconds,
        )

    def _key(self, name: str, reviewer: Reviewer) -> SecretStr | None:
        if reviewer.api_key_env is None:
            return None
        if reviewer.api_key_env not in self.keys:
            raise BadSetting(
                f"{self.source}: [{name}] takes its key from {reviewer.api_key_env}, which is not "
                f"set: set it in the environment or in {self.source.with_name('.env')}"
            )
        return self.keys[reviewer.api_key_env]


@dataclass(frozen=True)
class Panel:
    """Hold the reviewers one plan asks for, and the names nobody has defined."""

    by_name: Mapping[str, Endpoint] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    # Those who may be asked for a second opinion.
    others: Mapping[str, Endpoint] = field(default_factory=dict)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def same_as(self, worker: Endpoint) -> tuple[str, ...]:
        """Name the reviewers that are the worker's own model on its own endpoint."""
        return tuple(
            name for name, endpoint in self.by_name.items() if is_same_model(endpoint, worker)
        )


def is_same_model(one: Endpoint, other: Endpoint) -> bool:
    """Tell whether two endpoints lead to the same model at the same place."""
    return (one.model, _address(one)) == (other.model, _address(other))


def _address(endpoint: Endpoint) -> str:
    return endpoint.address.rstrip("/").lower()


def read_reviewers(settings: Settings, environ: Mapping[str, str]) -> Reviewers:
    """Read the user's file, or raise BadSetting with one line for each problem."""
    path = settings.home / FILE_NAME
    problems: list[str] = []
    defined: dict[str, Reviewer] = {}
    for name, table in _tables(path).items():
        try:
            defined[name] = _reviewer(name, table)
        except ValidationError as error:
            problems += [f"{path}: [{name}] {_fault(fault)}" for fault in _faults(error)]
        except ValueError as error:
            problems.append(f"{path}: {error}")
    if problems:
        raise BadSetting("\n".join(problems))
    wanted = {reviewer.api_key_env for reviewer in defined.values() if reviewer.api_key_env}
    return Reviewers(path, defined, _found_keys(wanted, environ, settings))


def _tables(path: Path) -> dict[str, Any]:
    try:
        return read_toml(read_plain(path, LARGEST_CONFIG), f"{path} (see docs/evaluation.md)")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadSetting(f"{path} cannot be read: {error.strerror}") from None


def _reviewer(name: str, table: Any) -> Reviewer:
    if not _NAME.fullmatch(name):
        raise ValueError(f"[{name!r}] must be named with letters, digits, '-', '_' and '.'")
    if not isinstance(table, dict):
        raise ValueError(f"{name!r} must be a table: write [{name}] with model, base_url …")
    reviewer = Reviewer.model_validate(table)
    if reviewer.base_url is not None and reviewer.api_key_env is None:
        # Another host must never be sent a key that was given for this one.
        raise ValueError(f"[{name}] has a base_url and needs api_key_env, the variable of its key")
    return reviewer


def _faults(error: ValidationError) -> list[tuple[str, str, str]]:
    return [
        (str(fault["loc"][0]), fault["type"], fault["msg"])
        for fault in error.errors(include_url=False, include_input=False, include_context=False)
    ]


def _fault(fault: tuple[str, str, str]) -> str:
    # What stands in the file is never quoted: somebody may have put a key there.
    name, kind, message = fault
    if kind == "extra_forbidden":
        return f"{name!r} is not known: use model, base_url, api_key_env"
    if kind == "missing":
        return f"{name} is missing"
    if name == "api_key_env":
        return "api_key_env must be the name of an environment variable, not the key itself"
    return f"{name}: {message}"


def _found_keys(
    wanted: set[str], environ: Mapping[str, str], settings: Settings
) -> dict[str, SecretStr]:
    if not wanted:
        return {}
    texts = {**read_env_file(settings.env_file), **{k: v for k, v in environ.items() if v.strip()}}
    return {name: SecretStr(texts[name].strip()) for name in wanted if texts.get(name, "").strip()}
