"""Second opinions: done work put to another reviewer, with what is left of budget and time.

The other reviewer is asked exactly what the first was asked, the most doubtful task first. What it
says is recorded and changes nothing: no status, no ledger, no commit. What goes wrong on the way
ends the asking and never the run.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilth.base.errors import CapReached, ProviderError, WorkspaceError
from tilth.contract.prd import Status, Task
from tilth.contract.verdict import Judged, LedgerEntry, entry_of
from tilth.log.events import Emit, SecondOpinion
from tilth.log.past_reviews import PastReview
from tilth.model.messages import Conversation, Model, Role
from tilth.task.asking import ask, open_conversation
from tilth.task.attempt import Attempt, Review
from tilth.task.bench import Bench
from tilth.task.budget import Allowance
from tilth.task.evaluator_tools import EvaluatorTools
from tilth.task.leftovers import Leftovers
from tilth.task.review_turns import Reading, Terms, read_verdict


@dataclass(frozen=True)
class _Asked:
    """Name a task that is judged again, as it was judged before, and who is asked."""

    task: Task
    past: PastReview
    reviewer: str
    model: Model


def seek_opinion(bench: Bench) -> bool:
    """Have one more second opinion; tells whether there was one to have."""
    left = bench.leftovers
    if left is None or left.over:
        return False
    try:
        asked = _most_doubtful(bench, left)
        if asked is not None:
            _judge_again(bench, left, asked)
        return asked is not None
    except CapReached as cap:
        left.over = f"second opinions ended at a cap: {cap}"
    except (ProviderError, WorkspaceError) as error:
        left.over = f"second opinions ended: {error}"
    return False


def _most_doubtful(bench: Bench, left: Leftovers) -> _Asked | None:
    """Choose what is judged next; what was being judged when a start ended goes first."""
    reviews, doubt = left.reviews(), left.doubt()
    found = []
    for task in bench.record.plan.with_status(Status.DONE):
        past = reviews.get(task.id)
        if past is None or _was_asked(bench, task, past):
            continue
        other = _other(bench, left, past)
        if other is not None and (task.id in doubt or task.id in left.open):
            found.append(_Asked(task, past, *other))
    if not found:
        return None
    return min(found, key=lambda each: (each.task.id not in left.open, -doubt.get(each.task.id, 0)))


def _was_asked(bench: Bench, task: Task, past: PastReview) -> bool:
    opinions = bench.words.state.task(task.id).opinions
    return any(opinion.tree == past.tree for opinion in opinions)


def _other(bench: Bench, left: Leftovers, past: PastReview) -> tuple[str, Model] | None:
    """Find a reviewer who is neither the one who judged nor the worker itself."""
    known = (past.judge, (bench.worker.name, bench.worker.endpoint))
    return next(
        (each for each in left.others.items() if (each[1].name, each[1].endpoint) not in known),
        None,
    )


def _judge_again(bench: Bench, left: Leftovers, asked: _Asked) -> None:
    task, past, model = asked.task, asked.past, asked.model
    emit = bench.emit.bind(task_id=task.id, iter=past.verdict.iter, trace_id=bench.new_id())
    review = left.open.pop(task.id, None)
    if review is None or review.conversation.model != model.name:
        review = Review(put_again(past, model, bench.new_id()))
        open_conversation(review.conversation, model, emit, second=True)
    conversation = review.conversation
    tools = tools_again(bench, task, past, conversation, emit)
    reading = read_verdict(
        review,
        lambda: ask(bench, model, conversation, emit),
        Terms(tree=past.tree, threshold=bench.settings.eval_threshold, rules=bench.rules),
        emit,
        tools if tools.were_offered(conversation) else None,
    )
    emit(_opinion(bench, asked, reading))


def put_again(past: PastReview, model: Model, id: str) -> Conversation:
    """Put the same words to another model."""
    head = {**past.prompt.head, "model": model.name}
    conversation = Conversation.from_head(id, Role.EVALUATOR, head)
    for message in past.prompt.messages:
        conversation.reply(message["content"])
    return conversation


def tools_again(
    bench: Bench, task: Task, past: PastReview, conversation: Conversation, emit: Emit
) -> EvaluatorTools:
    """Give the tools to look and prove with, on the tree that was judged."""
    # They are told what they are about; nothing of it is worked on.
    about = Attempt(task, past.base, conversation, Allowance.of(bench.settings), emit)
    return EvaluatorTools(bench, about, past.tree)


def entry_again(past: PastReview, reading: Reading, threshold: int) -> LedgerEntry | None:
    """Give the entry that another verdict on the same work would be; None if it was unreadable."""
    if reading.verdict is None:
        return None
    about = Judged(**{name: getattr(past.verdict, name) for name in Judged.model_fields})
    return entry_of(
        reading.verdict, about, model=reading.model, threshold=threshold, proof=reading.proof
    )


def _opinion(bench: Bench, asked: _Asked, reading: Reading) -> SecondOpinion:
    first = asked.past.verdict
    entry = entry_again(asked.past, reading, bench.settings.eval_threshold)
    said = SecondOpinion(
        reviewer=asked.reviewer,
        model=reading.model,
        tree=asked.past.tree,
        first=first.verdict,
        verdict=None,
        agrees=None,
    )
    if entry is None:
        return said
    same = {name: getattr(entry, name) for name in _OF_THE_ENTRY}
    return said.model_copy(update={**same, "agrees": entry.verdict is first.verdict})


_OF_THE_ENTRY = (
    "verdict",
    "rejection_category",
    "concern",
    "evidence",
    "next_step",
    "score",
    "below_threshold",
    "probe",
    "proof",
)
