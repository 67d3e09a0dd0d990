"""The contract review: the evaluator reads a seed once and names its contradictions."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from pydantic import ConfigDict, Field

from tilth.base.errors import Unreadable
from tilth.base.safe_text import folded
from tilth.base.values import Value
from tilth.contract.tool_arguments import read_arguments
from tilth.interview.sink import Seed
from tilth.log.events import Emit, EvaluatorParseError
from tilth.model.messages import Conversation, Model, Role, ToolSpec, Turn
from tilth.task.asking import Account, ask, open_conversation
from tilth.task.briefs import block_word, fence, render

_MOST_CHARS = 60_000


class Contradiction(Value):
    """Name one thing in a seed that cannot hold together with another."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    task: str = Field(description="The id of the task it stands in, like T-001.")
    what: str = Field(min_length=1, description="What contradicts what; quote both, briefly.")

    def line(self) -> str:
        return f"{folded(self.task)}: {folded(self.what)}"


class _Arguments(Value):
    model_config = ConfigDict(frozen=True, extra="ignore")

    contradictions: tuple[Contradiction, ...] = Field(
        max_length=20, description="Empty when the contract holds together."
    )


class ReviewOutcome(StrEnum):
    """Say how a contract review went."""

    SKIPPED = "skipped"
    CLEAN = "clean"
    CONTRADICTIONS = "contradictions"
    UNREADABLE = "unreadable"


class ContractReview(Value):
    """Hold what a contract review found."""

    outcome: ReviewOutcome
    contradictions: tuple[str, ...] = ()
    note: str = ""

    def line(self) -> str:
        """Say it in a line for the summary."""
        if self.outcome is ReviewOutcome.CONTRADICTIONS:
            return f"named {len(self.contradictions)} contradiction(s), answered by the seeder"
        return {
            ReviewOutcome.CLEAN: "no contradiction found",
            ReviewOutcome.UNREADABLE: f"could not be read ({self.note})",
            ReviewOutcome.SKIPPED: f"skipped ({self.note})",
        }[self.outcome]


SUBMIT_REVIEW = ToolSpec.of(
    "submit_review",
    "Name the contradictions in this contract. Call it exactly once; it is the only way to answer.",
    _Arguments,
)


def review_contract(
    account: Account, model: Model, seed: Seed, emit: Emit, new_id: Callable[[], str]
) -> ContractReview:
    """Have the evaluator read the seed once; an answer that cannot be read does not block."""
    conversation = Conversation(
        id=new_id(),
        role=Role.EVALUATOR,
        model=model.name,
        max_tokens=account.settings.max_output_tokens,
        system=render("contract"),
        tools=(SUBMIT_REVIEW,),
    )
    conversation.say(account.mask.result(_message(seed, block_word(new_id()))))
    open_conversation(conversation, model, emit)
    turn = ask(account, model, conversation, emit)
    try:
        return parse_review(turn)
    except Unreadable as error:
        emit(
            EvaluatorParseError(
                conversation=conversation.id, attempt=1, error=str(error), raw=list(turn.content)
            )
        )
        return ContractReview(outcome=ReviewOutcome.UNREADABLE, note=str(error))


def parse_review(turn: Turn) -> ContractReview:
    """Read the one review of an answer, or raise Unreadable."""
    calls = turn.tool_calls
    if turn.was_cut or len(calls) != 1 or calls[0].name != SUBMIT_REVIEW.name:
        raise Unreadable("the answer is not exactly one complete submit_review call")
    found = read_arguments(SUBMIT_REVIEW.name, _Arguments, calls[0].arguments).contradictions
    if not found:
        return ContractReview(outcome=ReviewOutcome.CLEAN)
    lines = tuple(contradiction.line() for contradiction in found)
    return ContractReview(outcome=ReviewOutcome.CONTRADICTIONS, contradictions=lines)


def _message(seed: Seed, nonce: str) -> str:
    block, draft = fence(nonce), seed.draft
    questions = "\n".join(f"- {question}" for question in draft.open_questions)
    return render(
        "contract_seed",
        nonce=nonce,
        tldr=block("feature", draft.tldr),
        scope=block("scope", draft.scope_notes or "(nothing was said)"),
        questions=block("open questions", questions or "(none)"),
        tasks="\n\n".join(block(task.id, _task(seed, task.id)) for task in seed.plan.tasks),
        tests="\n\n".join(block(f"tests/{n}", t[:_MOST_CHARS]) for n, t in seed.tests.items()),
    )


def _task(seed: Seed, task_id: str) -> str:
    task = seed.plan.task(task_id)
    if task is None:
        raise ValueError(f"{task_id} is not in the plan")
    criteria = enumerate(task.acceptance_criteria, start=1)
    listed = "\n".join(f"AC-{number}: {criterion}" for number, criterion in criteria)
    needs = f"\n\ndepends on: {', '.join(task.depends_on)}" if task.depends_on else ""
    return f"{task.id} {folded(task.title)}\n\n{task.description}\n\n{listed}{needs}"
