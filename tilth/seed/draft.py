"""The draft: a seed as the seeder wrote it, before anything of it is believed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, Field, ValidationError, field_validator

from tilth.errors import Unreadable
from tilth.messages import ToolSpec
from tilth.values import Value, canonical, describe_faults, jsonable


class TaskEntry(Value):
    """Describe one task to the seeder; what it sends is read by the rules of every PRD."""

    id: str = Field(description="`T-` and at least three digits, from the first free number on.")
    title: str
    description: str = Field(
        description="What is wanted and why, with the modules and names it is about."
    )
    acceptance_criteria: list[str] = Field(
        description="Each can be checked by somebody who has not written the code."
    )
    depends_on: list[str] = Field(default=[])
    may_change: list[str] = Field(
        default=[],
        description="Globs of test or lint configuration this task must change; usually empty.",
    )


class _Arguments(Value):
    prd_entries: list[TaskEntry]
    test_files: dict[str, str] = Field(
        description="One file a task: `test_t001_<name>.py` for T-001, without a directory, and "
        "its whole text."
    )
    tldr: str = Field(description="The feature in one or two sentences.")
    open_questions: list[str] = Field(
        description="What nobody answered, each with what you decided instead."
    )
    blockers: list[str] = Field(description="What could stop the work: a secret, a service.")
    scope_notes: str = Field(description="What is out of scope, and what must stay as it is.")


class SeedDraft(Value):
    """Hold what one `write_seed` call says; its tasks and names are still unchecked."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    prd_entries: list[Any]
    test_files: Mapping[str, str]
    tldr: str = Field(min_length=1)
    open_questions: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    scope_notes: str = ""

    @field_validator("prd_entries", "test_files", mode="before")
    @classmethod
    def _unpacked(cls, value: Any) -> Any:
        """Take JSON that some models send as a string."""
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value

    @property
    def digest(self) -> str:
        """Tell this draft from another."""
        return hashlib.sha256(
            canonical(jsonable(self)).encode("utf-8", "surrogatepass")
        ).hexdigest()


WRITE_SEED = ToolSpec.of(
    "write_seed",
    "Hand in the whole seed: all tasks and all tests at once. It is checked as a whole, and "
    "whatever is wrong with it comes back; nothing is written until all of it holds.",
    _Arguments,
)


def parse_draft(arguments: Any) -> SeedDraft:
    """Read a draft, or raise Unreadable."""
    if not isinstance(arguments, dict):
        raise Unreadable("write_seed: the arguments must be one JSON object")
    try:
        return SeedDraft.model_validate(arguments)
    except ValidationError as error:
        raise Unreadable(f"write_seed: {describe_faults(error)}") from None
