"""The evaluator's turns: it looks, it rules, and is asked again where its word cannot stand.

One loop for every review, with or without tools. Asking, running and recording are handed in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tilth.base.errors import Unreadable
from tilth.base.values import Value, digest
from tilth.contract.evidence import Probed, bounded
from tilth.contract.open_concerns import lacking
from tilth.contract.rules import NEWEST_RULES, Rules
from tilth.contract.verdict import (
    SUBMIT_VERDICT,
    Decision,
    Proof,
    Verdict,
    parse_verdict,
    reject_in,
)
from tilth.log.events import EvaluatorParseError, EvaluatorTool
from tilth.model.messages import Block, ToolCall, ToolResult, Turn
from tilth.task.attempt import Review
from tilth.task.briefs import LACKING, LAST_TURN

VERDICT_TRIES = 2


class Reading(Value):
    """Hold the verdict that was read, if one could be, the model that gave it, and its proof."""

    verdict: Verdict | None
    model: str
    proof: Proof | None = None


class Terms(Value):
    """Hold what a verdict is read by: the bar, the concerns it must speak of, the rules."""

    tree: str
    threshold: int
    open_ids: tuple[str, ...] = ()
    rules: Rules = NEWEST_RULES


class Looking(Protocol):
    """Let an evaluator look at what it judges."""

    @property
    def turns(self) -> int: ...

    def look(self, conversation: str, call: ToolCall, note: str) -> ToolResult: ...

    def answer(self, conversation: str, call: ToolCall, text: str) -> ToolResult: ...

    def prove(self, probe: str) -> Probed: ...


def read_verdict(
    review: Review,
    answer: Callable[[], Turn],
    terms: Terms,
    emit: Callable[[EvaluatorParseError | EvaluatorTool], object],
    tools: Looking | None = None,
) -> Reading:
    """Have a verdict; one that cannot be read is asked for once more, with what was wrong.

    What one that can be read lacks is asked for once, too. Of answers that stay unreadable, the
    last that plainly rejects is taken as it is.
    """
    may_prove = tools is not None
    while len(review.unread) < VERDICT_TRIES:
        turn = _next(review, answer)
        if tools is not None and _looks(turn) and review.answers < tools.turns:
            _look(review, turn, tools)
            continue
        try:
            if tools is not None and _looks(turn):
                raise Unreadable("no answer is left for looking; call submit_verdict alone")
            verdict = parse_verdict(turn, terms.threshold, with_probe=may_prove, rules=terms.rules)
        except Unreadable as error:
            _ask_again(review, turn, error, emit)
            continue
        if _completes(review, turn, verdict, terms, emit):
            continue
        reading = _proven(review, turn, verdict, tools)
        if reading is not None:
            return reading
    rejects = [reject for turn in review.unread if (reject := reject_in(turn)) is not None]
    model = review.unread[-1].model
    if not rejects:
        return Reading(verdict=None, model=model)
    verdict = rejects[-1] if tools else rejects[-1].model_copy(update={"probe": None})
    return _ruled(review, verdict, model, tools)


def _next(review: Review, answer: Callable[[], Turn]) -> Turn:
    turn, review.pending = review.pending, None
    if turn is None:
        turn = answer()
        review.answers += 1
        review.given = {}
    return turn


def _looks(turn: Turn) -> bool:
    """Tell an answer that looks from one that rules; a ruling beside other calls cannot be read."""
    calls = turn.tool_calls
    return bool(calls) and all(call.name != SUBMIT_VERDICT.name for call in calls)


def _look(review: Review, turn: Turn, tools: Looking) -> None:
    results = []
    closing = f"\n\n{LAST_TURN}" if review.answers == tools.turns - 1 else ""
    for number, call in enumerate(turn.tool_calls, start=1):
        result = review.given.get(call.id)
        if result is None:
            note = closing if number == len(turn.tool_calls) else ""
            result = tools.look(review.conversation.id, call, note)
        results.append(result.to_wire())
    review.conversation.reply(results)


def _ask_again(
    review: Review,
    turn: Turn,
    error: Unreadable,
    emit: Callable[[EvaluatorParseError], object],
) -> None:
    review.unread.append(turn)
    again = len(review.unread) < VERDICT_TRIES
    reply = _correction(turn, error) if again else []
    emit(
        EvaluatorParseError(
            conversation=review.conversation.id,
            attempt=len(review.unread),
            error=str(error),
            raw=list(turn.content),
            reply=tuple(reply),
        )
    )
    if reply:
        review.conversation.reply(reply)


def _correction(turn: Turn, error: Unreadable) -> list[Block]:
    text = f"Your verdict could not be read: {error}. Call submit_verdict once more, corrected."
    results = [
        ToolResult(call_id=call.id, content=text, is_error=True).to_wire()
        for call in turn.tool_calls
    ]
    return results or [{"type": "text", "text": text}]


def _completes(
    review: Review,
    turn: Turn,
    verdict: Verdict,
    terms: Terms,
    emit: Callable[[EvaluatorTool], object],
) -> bool:
    """Ask once for all that a verdict lacks; tells whether there is another one to come."""
    lacks = lacking(verdict, terms.threshold, terms.open_ids)
    if not lacks or review.completed or terms.rules < Rules.EXCHANGE:
        return False
    review.completed = True
    listed = "\n".join(f"- {lack}" for lack in lacks)
    text = f"{LACKING}\n\n{listed}"
    call = turn.tool_calls[0]
    emit(
        EvaluatorTool(
            conversation=review.conversation.id,
            call_id=call.id,
            name=call.name,
            arguments=call.arguments,
            tree=terms.tree,
            content=text,
            is_error=True,
            sha256=digest(text),
            lacking=tuple(lack.partition(":")[0] for lack in lacks),
        )
    )
    result = ToolResult(call_id=call.id, content=text, is_error=True)
    review.conversation.reply([result.to_wire()])
    return True


def _proven(review: Review, turn: Turn, verdict: Verdict, tools: Looking | None) -> Reading | None:
    """Try a verdict's probe; one that does not fail is told once, and None asks for another."""
    if verdict.probe is None or tools is None or review.corrected:
        return _ruled(review, verdict, turn.model, tools)
    found = tools.prove(verdict.probe)
    if found.fails:
        return Reading(verdict=verdict, model=turn.model, proof=Proof.PROVEN)
    review.corrected = True
    text = (
        f"Your probe was run on this tree and does not prove the concern: {found.render()}\n\n"
        "Look again at what you hold against the change. Then call submit_verdict once more: with "
        "a probe that fails because of the concern, without one, or with another verdict."
    )
    call = turn.tool_calls[0]
    review.conversation.reply([tools.answer(review.conversation.id, call, text).to_wire()])
    return None


def _ruled(review: Review, verdict: Verdict, model: str, tools: Looking | None) -> Reading:
    """Take a verdict at its last word: a probe that proves nothing leaves it unproven."""
    if verdict.verdict is Decision.ACCEPT:
        return Reading(verdict=verdict, model=model)
    probe = verdict.probe
    if probe is None or tools is None:
        # A probe that was given and taken back has proven nothing either.
        unproven = Proof.UNPROVEN if review.corrected else None
        return Reading(verdict=verdict, model=model, proof=unproven)
    proof = Proof.PROVEN if tools.prove(probe).fails else Proof.UNPROVEN
    kept = verdict.model_copy(update={"probe": bounded(probe)})
    return Reading(verdict=kept, model=model, proof=proof)
