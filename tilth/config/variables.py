"""Variables: what one declaration on `Settings` says to people, as text.

A setting is declared once, as a field of `Settings`: its name, type, bounds, default and help. From
that field a `Variable` is made here, and from the variables `.env.example`, `tilth config`,
`tilth init` and the docs. Nothing here reads a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, Field, SecretStr
from pydantic.fields import FieldInfo


def setting(
    default: Any, help: str, *, written: str = "", fallback: str = "", flag: str = ""
) -> Any:
    """Declare a setting: its default and one line of help.

    `written` is the default as a person would write it, where the value itself does not tell.
    `fallback` is another program's variable that is taken when this one is not set.
    """
    about = {"written": written, "fallback": fallback, "flag": flag}
    return Field(default=default, description=help, json_schema_extra={**about})


def worked_out(make: Callable[[dict[str, Any]], Any], help: str, **about: str) -> Any:
    """Declare a setting whose default is made from those declared before it."""
    return Field(default_factory=make, description=help, json_schema_extra={**about})


def inherited(field: str, help: str) -> Any:
    """Declare a setting that takes another one's value when it is not set."""
    return worked_out(lambda data: data.get(field), help, inherits=_name(field))


@dataclass(frozen=True)
class Variable:
    """Describe one setting to people; `default` is text as a user would write it."""

    field: str
    default: str
    help: str
    fallback: str
    inherits: str
    flag: str
    is_secret: bool
    is_path: bool

    @property
    def name(self) -> str:
        """Give the name of the environment's variable."""
        return _name(self.field)


def variables_of(settings: type[BaseModel]) -> tuple[Variable, ...]:
    """Read the declarations; a field without a line of help is no setting."""
    fields = settings.model_fields.items()
    return tuple(_variable(name, field) for name, field in fields if field.description)


def as_text(value: Any) -> str:
    """Write a plain value as a person would; blank where there is none."""
    match value:
        case bool():
            return "on" if value else "off"
        case float():
            return f"{value:.15g}"
        case tuple():
            return ",".join(value)
        case StrEnum() | str() | int() | Path():
            return str(value)
    return ""


def _name(field: str) -> str:
    return f"TILTH_{field.upper()}"


def _variable(name: str, field: FieldInfo) -> Variable:
    about = field.json_schema_extra if isinstance(field.json_schema_extra, Mapping) else {}
    said = {key: str(about.get(key, "")) for key in ("fallback", "inherits", "flag")}
    # the contract writes a switch that is off as `false`
    default = "false" if field.default is False else as_text(field.default)
    return Variable(
        field=name,
        default=str(about.get("written", "")) or default,
        help=field.description or "",
        is_secret=_mentions(field.annotation, SecretStr),
        is_path=_mentions(field.annotation, Path),
        **said,
    )


def _mentions(annotation: Any, kind: type) -> bool:
    return annotation is kind or any(_mentions(part, kind) for part in get_args(annotation))
