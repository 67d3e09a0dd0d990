"""The interview: the seeder reads the repository, asks one question at a time, and writes the seed.

It knows a frontend to ask and a sink to write to, never a terminal or a file. Every answer, result
and nudge is recorded as in any other conversation, so an interview can be taken up again.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from tilth.clock import stamp
from tilth.errors import Unreadable
from tilth.exchange.asking import ask
from tilth.messages import Role, ToolCall, ToolResult, Turn
from tilth.outcomes import StopReason
from tilth.payloads import Nudge, SeedCommitted, SessionPrepared, ToolCalled, ToolResulted
from tilth.seed import wording
from tilth.seed.contract import Outcome, Review, review_contract
from tilth.seed.draft import WRITE_SEED, parse_draft
from tilth.seed.frontend import SeedSummary
from tilth.seed.plain import MAX_TURNS
from tilth.seed.question import ASK_USER, COMPOUND, ONE_QUESTION, parse_question
from tilth.seed.sink import Seed, SeedRefused, Sown
from tilth.seed.table import Table, Talk
from tilth.values import canonical

MOST_NUDGES = 3
_SAME_CALL = 3
_WARN_LEFT = (10, 3)


@dataclass(frozen=True)
class InterviewEnd:
    """Say how an interview ended: with a seed, or without one for a reason."""

    sown: Sown | None = None
    reason: StopReason | None = None
    detail: str = ""


def hold(table: Table, talk: Talk) -> InterviewEnd:
    """Hold an interview to its end; what only interrupts it is raised."""
    while True:
        turn, talk.open_turn = talk.open_turn, None
        if turn is None:
            if talk.turns >= MAX_TURNS:
                detail = f"the seeder used its {MAX_TURNS} turns without a seed that holds"
                return InterviewEnd(reason=StopReason.ITER_CAP, detail=detail)
            turn = _next_turn(table, talk)
        end = _answer(table, talk, turn)
        if end is not None:
            return end


def _next_turn(table: Table, talk: Talk) -> Turn:
    emit = table.emit.bind(iter=talk.turns + 1, span_id=table.new_id())
    turn = ask(table, table.seeder, talk.conversation, emit)
    talk.turns += 1
    talk.emit = emit
    table.frontend.update_tokens(table.meter, talk.turns)
    return turn


def _answer(table: Table, talk: Talk, turn: Turn) -> InterviewEnd | None:
    """Act on one answer of the seeder; every call in it is answered in one message."""
    calls = turn.tool_calls
    if not calls:
        return _nudge(talk, turn)
    talk.quiet = 0
    results, talk.answered = dict(talk.answered), {}
    again, talk.taken_up = talk.taken_up, False
    asked, seed = False, None
    for call in calls:
        if call.id in results:
            asked = asked or call.name == ASK_USER.name
        elif turn.was_cut:
            results[call.id] = _give(table, talk, call, wording.CUT_CALL, is_error=True)
        elif call.name == ASK_USER.name:
            results[call.id] = _ask_user(table, talk, call, first=not asked)
            asked = True
        elif call.name != WRITE_SEED.name and again:
            results[call.id] = _give(table, talk, call, wording.INTERRUPTED, is_error=True)
        elif call.name != WRITE_SEED.name:
            results[call.id] = _read(table, talk, call)
        elif seed is None:
            seed = call
        else:
            results[call.id] = _give(table, talk, call, wording.ONE_SEED, is_error=True)
    if seed is not None:
        heard = _hear_seed(table, talk, seed, asked=asked)
        if isinstance(heard, InterviewEnd):
            return heard
        results[seed.id] = heard
    talk.conversation.reply([results[call.id].to_wire() for call in calls])
    return None


def _nudge(talk: Talk, turn: Turn) -> InterviewEnd | None:
    talk.quiet += 1
    if talk.quiet > MOST_NUDGES:
        detail = f"{talk.quiet} answers of the seeder in a row called no tool"
        return InterviewEnd(reason=StopReason.NO_CASE, detail=detail)
    text = wording.CUT_TEXT if turn.was_cut else wording.NUDGE
    talk.emit(Nudge(conversation=talk.conversation.id, text=text, in_a_row=talk.quiet))
    talk.conversation.say(text)
    return None


def _note(talk: Talk, call: ToolCall) -> None:
    talk.emit(
        ToolCalled(
            conversation=talk.conversation.id,
            call_id=call.id,
            name=call.name,
            arguments=call.arguments,
        )
    )


def _give(
    table: Table, talk: Talk, call: ToolCall, content: str, *, is_error: bool = False
) -> ToolResult:
    """Mask a result, record it, and give it in the form the seeder gets."""
    left = MAX_TURNS - talk.turns
    if left in _WARN_LEFT:
        content = f"{content}\n\n{wording.few_left(left)}"
    result = ToolResult(call_id=call.id, content=table.mask.result(content), is_error=is_error)
    talk.emit(
        ToolResulted(
            conversation=talk.conversation.id,
            call_id=call.id,
            name=call.name,
            content=result.content,
            is_error=is_error,
        )
    )
    return result


def _read(table: Table, talk: Talk, call: ToolCall) -> ToolResult:
    """Let the seeder look; the same look again and again is answered once."""
    _note(talk, call)
    key = f"{call.name} {canonical(call.arguments)}"
    talk.calls[key] += 1
    if talk.calls[key] >= _SAME_CALL:
        return _give(table, talk, call, wording.SAME_CALL, is_error=True)
    outcome = table.reader.run(call)
    return _give(table, talk, call, outcome.content, is_error=outcome.is_error)


def _ask_user(table: Table, talk: Talk, call: ToolCall, *, first: bool) -> ToolResult:
    """Put one question to the user; one that asks several things is held back once."""
    if not first:
        return _give(table, talk, call, ONE_QUESTION, is_error=True)
    try:
        question = parse_question(call.arguments)
    except Unreadable as error:
        return _give(table, talk, call, str(error), is_error=True)
    if question.is_compound and not talk.held_back:
        talk.held_back = True
        return _give(table, talk, call, COMPOUND, is_error=True)
    talk.held_back = False
    _note(talk, call)
    began = table.clock.monotonic()
    answer = table.frontend.ask(question)
    table.started += table.clock.monotonic() - began
    talk.asked += 1
    talk.disputed = None
    return _give(table, talk, call, answer)


def _hear_seed(
    table: Table, talk: Talk, call: ToolCall, *, asked: bool
) -> ToolResult | InterviewEnd:
    """Take a draft through its gates: readable, proven, reviewed; then write it."""
    if asked:
        return _give(table, talk, call, wording.ASKED_TOO, is_error=True)
    _note(talk, call)
    try:
        draft = parse_draft(call.arguments)
        if draft.digest == talk.disputed:
            return _give(table, talk, call, wording.UNANSWERED, is_error=True)
        seed = table.sink.prove(draft)
    except Unreadable as error:
        return _give(table, talk, call, str(error), is_error=True)
    except SeedRefused as error:
        return _give(table, talk, call, wording.refused(error.problems), is_error=True)
    review = _review(table, talk, seed)
    if review.contradictions and not talk.review_told:
        talk.review_told = True
        talk.disputed = draft.digest
        return _give(table, talk, call, wording.disputed(review.contradictions), is_error=True)
    return _write(table, talk, call, seed, review)


def _review(table: Table, talk: Talk, seed: Seed) -> Review:
    if talk.review is None and table.evaluator is not None:
        talk.review = review_contract(table, table.evaluator, seed, talk.emit, table.new_id)
    return talk.review or Review(outcome=Outcome.SKIPPED, note=table.no_review)


def _write(table: Table, talk: Talk, call: ToolCall, seed: Seed, review: Review) -> InterviewEnd:
    sown = table.sink.write(seed, _meta(table, talk, seed, review))
    _give(table, talk, call, wording.WRITTEN)
    table.emit(SeedCommitted(commit=sown.commit, files=sown.files))
    table.emit(
        SessionPrepared(tasks=len(seed.plan.tasks), tests=len(sown.files), commit=sown.commit)
    )
    table.frontend.show_summary(_summary(table, seed, review))
    return InterviewEnd(sown=sown)


def _meta(table: Table, talk: Talk, seed: Seed, review: Review) -> dict[str, object]:
    """Make the interview's record."""
    draft, spend = seed.draft, table.meter.by_role.get(Role.SEEDER)
    return {
        "model": talk.conversation.model,
        "started": talk.begun,
        "prepared": stamp(table.clock.now()),
        "turns": talk.turns,
        "questions": talk.asked,
        "tokens": spend.usage.model_dump(mode="json") if spend else {},
        "cost_usd": None if spend is None or spend.unpriced_calls else spend.cost_usd,
        "tldr": draft.tldr,
        "open_questions": list(draft.open_questions),
        "blockers": list(draft.blockers),
        "scope_notes": draft.scope_notes,
        "review": review.model_dump(mode="json"),
    }


def _summary(table: Table, seed: Seed, review: Review) -> SeedSummary:
    draft = seed.draft
    return SeedSummary(
        session=table.session,
        branch=table.branch,
        tldr=draft.tldr,
        tasks=tuple((t.id, t.title, len(t.acceptance_criteria)) for t in seed.plan.tasks),
        tests=len(seed.tests),
        open_questions=draft.open_questions,
        blockers=draft.blockers,
        scope_notes=draft.scope_notes,
        review=review.line(),
        next_command=f"tilth run {shlex.quote(str(table.source))}",
    )
