"""Past reviews: what was put to the evaluator when a task was last judged, and what it said.

From the log alone, so that another reviewer can be asked exactly the same. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tilth.contract.verdict import SUBMIT_VERDICT
from tilth.log.events import (
    CaseSubmitted,
    ContextReset,
    EvaluatorVerdict,
    Event,
    PromptAssembled,
)
from tilth.model.messages import Role


@dataclass(frozen=True)
class PastReview:
    """Hold one review that ended in a verdict, and the base its change stands on."""

    prompt: PromptAssembled
    base: str
    case: CaseSubmitted
    verdict: EvaluatorVerdict

    @property
    def tree(self) -> str:
        return self.case.tree

    @property
    def judge(self) -> tuple[str, str]:
        """Name who judged: the model, and where it was asked."""
        return str(self.prompt.head.get("model")), self.prompt.endpoint


def past_reviews(events: Iterable[Event]) -> dict[str, PastReview]:
    """Give the last review of every task that an evaluator has judged."""
    return {review.verdict.task_id: review for review in every_review(events)}


def every_review(events: Iterable[Event]) -> Iterator[PastReview]:
    """Give every review that ended in a verdict, oldest first."""
    bases: dict[str, str] = {}
    cases: dict[str, CaseSubmitted] = {}
    prompts: dict[str, PromptAssembled] = {}
    for event in events:
        task_id = event.task_id or ""
        match event.payload:
            case ContextReset(base=base):
                bases[task_id] = base
            case CaseSubmitted() as submitted:
                cases[task_id] = submitted
                prompts.pop(task_id, None)
            case PromptAssembled(role=Role.EVALUATOR, second=False) as prompt:
                if any(t.get("name") == SUBMIT_VERDICT.name for t in prompt.head.get("tools", ())):
                    prompts[task_id] = prompt
            case EvaluatorVerdict() as verdict if task_id in prompts and task_id in cases:
                base, put = bases.get(task_id, ""), prompts.pop(task_id)
                yield PastReview(put, base, cases[task_id], verdict)
