"""The draft: a seed as the seeder wrote it, before anything of it is believed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, Field

from tilth.base.values import Value, canonical, digest, jsonable
from tilth.contract.tool_arguments import read_arguments
from tilth.model.messages import ToolSpec


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

    @property
    def digest(self) -> str:
        """Tell this draft from another."""
        return digest(canonical(jsonable(self)))


WRITE_SEED = ToolSpec.of(
    "write_seed",
    "Hand in the whole seed: all tasks and all tests at once. It is checked as a whole, and "
    "whatever is wrong with it comes back; nothing is written until all of it holds.",
    _Arguments,
)


def parse_draft(arguments: Any) -> SeedDraft:
    """Read a draft, or raise Unreadable."""
    return read_arguments(WRITE_SEED.name, SeedDraft, arguments)
