"""The interview: the seeder reads the repository, asks one question at a time, and writes the seed.

It knows a frontend to ask and a sink to write to, never a terminal or a file. Every answer, result
and nudge is recorded as in any other conversation, so an interview can be taken up again.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from tilth.base.clock import stamp
from tilth.base.errors import Unreadable
from tilth.base.values import canonical
from tilth.contract.outcomes import StopReason
from tilth.interview import replies
from tilth.interview.approval import (
    Approval,
    Approved,
    ChangeWanted,
    Rewritten,
    SeedView,
    SheetTask,
    WentBack,
)
from tilth.interview.bench import MAX_TURNS, InterviewBench, InterviewState
from tilth.interview.contract_review import ContractReview, ReviewOutcome, review_contract
from tilth.interview.draft import WRITE_SEED, parse_draft
from tilth.interview.frontend import SeedSummary
from tilth.interview.person_text import person_text
from tilth.interview.plan_graph import graph_lines, graph_of
from tilth.interview.question import (
    ASK_USER,
    COMPOUND,
    DECIDE_YOURSELF,
    ONE_QUESTION,
    parse_question,
)
from tilth.interview.sink import Seed, SeedRefused, WrittenSeed
from tilth.log.events import Nudge, SeedCommitted, SessionPrepared
from tilth.model.messages import Role, ToolCall, ToolResult, Turn
from tilth.task.asking import ask
from tilth.task.tool_turns import give_result, note_call

MOST_NUDGES = 3
_SAME_CALL = 3
_WARN_LEFT = (10, 3)


@dataclass(frozen=True)
class InterviewEnd:
    """Say how an interview ended: with a seed, or without one for a reason."""

    written: WrittenSeed | None = None
    reason: StopReason | None = None
    detail: str = ""


def hold(bench: InterviewBench, state: InterviewState) -> InterviewEnd:
    """Hold an interview to its end; what only interrupts it is raised."""
    while True:
        turn, state.open_turn = state.open_turn, None
        if turn is None:
            if state.turns >= MAX_TURNS:
                detail = f"the seeder used its {MAX_TURNS} turns without a seed that holds"
                return InterviewEnd(reason=StopReason.ITER_CAP, detail=detail)
            turn = _next_turn(bench, state)
        end = _answer(bench, state, turn)
        if end is not None:
            return end


def _next_turn(bench: InterviewBench, state: InterviewState) -> Turn:
    emit = bench.emit.bind(iter=state.turns + 1, span_id=bench.new_id())
    turn = ask(bench, bench.seeder, state.conversation, emit)
    state.turns += 1
    state.emit = emit
    bench.frontend.update_tokens(bench.meter, state.turns)
    return turn


def _answer(bench: InterviewBench, state: InterviewState, turn: Turn) -> InterviewEnd | None:
    """Act on one answer of the seeder; every call in it is answered in one message."""
    calls = turn.tool_calls
    if not calls:
        return _nudge(state, turn)
    state.quiet = 0
    results, state.answered = dict(state.answered), {}
    again, state.is_continued = state.is_continued, False
    asked, seed = False, None
    for call in calls:
        if call.id in results:
            asked = asked or call.name == ASK_USER.name
        elif turn.was_cut:
            results[call.id] = _give(bench, state, call, replies.CUT_CALL, is_error=True)
        elif call.name == ASK_USER.name:
            results[call.id] = _ask_user(bench, state, call, first=not asked)
            asked = True
        elif call.name != WRITE_SEED.name and again:
            results[call.id] = _give(bench, state, call, replies.INTERRUPTED, is_error=True)
        elif call.name != WRITE_SEED.name:
            results[call.id] = _read(bench, state, call)
        elif seed is None:
            seed = call
        else:
            results[call.id] = _give(bench, state, call, replies.ONE_SEED, is_error=True)
    if seed is not None:
        heard = _hear_seed(bench, state, seed, asked=asked)
        if isinstance(heard, InterviewEnd):
            return heard
        results[seed.id] = heard
    state.conversation.reply([results[call.id].to_wire() for call in calls])
    return None


def _nudge(state: InterviewState, turn: Turn) -> InterviewEnd | None:
    state.quiet += 1
    if state.quiet > MOST_NUDGES:
        detail = f"{state.quiet} answers of the seeder in a row called no tool"
        return InterviewEnd(reason=StopReason.NO_CASE, detail=detail)
    text = replies.CUT_TEXT if turn.was_cut else replies.NUDGE
    state.emit(Nudge(conversation=state.conversation.id, text=text, in_a_row=state.quiet))
    state.conversation.say(text)
    return None


def _give(
    bench: InterviewBench,
    state: InterviewState,
    call: ToolCall,
    content: str,
    *,
    is_error: bool = False,
) -> ToolResult:
    """Give a result, with a warning when few answers are left."""
    left = MAX_TURNS - state.turns
    if left in _WARN_LEFT:
        content = f"{content}\n\n{replies.few_left(left)}"
    return give_result(bench, state, call, content, is_error=is_error)


def _read(bench: InterviewBench, state: InterviewState, call: ToolCall) -> ToolResult:
    """Let the seeder look; the same look again and again is answered once."""
    note_call(state, call)
    key = f"{call.name} {canonical(call.arguments)}"
    state.calls[key] += 1
    if state.calls[key] >= _SAME_CALL:
        return _give(bench, state, call, replies.SAME_CALL, is_error=True)
    outcome = bench.reader.run(call)
    return _give(bench, state, call, outcome.content, is_error=outcome.is_error)


def _ask_user(
    bench: InterviewBench, state: InterviewState, call: ToolCall, *, first: bool
) -> ToolResult:
    """Put one question to the user; one that asks several things is held back once."""
    if not first:
        return _give(bench, state, call, ONE_QUESTION, is_error=True)
    try:
        question = parse_question(call.arguments)
    except Unreadable as error:
        return _give(bench, state, call, str(error), is_error=True)
    if question.is_compound and not state.held_back:
        state.held_back = True
        return _give(bench, state, call, COMPOUND, is_error=True)
    state.held_back = False
    note_call(state, call)
    began = bench.clock.monotonic()
    answer = bench.frontend.ask(question)
    bench.started += bench.clock.monotonic() - began
    state.disputed = None
    if isinstance(answer, WentBack):
        said = replies.went_back(_plain(answer), seed=False)
        return _give(bench, state, call, said, is_error=True)
    state.asked += 1
    return _give(bench, state, call, person_text(answer) or DECIDE_YOURSELF)


def _plain(back: WentBack) -> WentBack:
    return back.model_copy(update={"answer": person_text(back.answer) or DECIDE_YOURSELF})


def _hear_seed(
    bench: InterviewBench, state: InterviewState, call: ToolCall, *, asked: bool
) -> ToolResult | InterviewEnd:
    """Take a draft through its gates: readable, proven, reviewed, approved; then write it."""
    if asked:
        return _give(bench, state, call, replies.ASKED_TOO, is_error=True)
    note_call(state, call)
    try:
        draft = parse_draft(call.arguments)
        if draft.digest == state.disputed:
            return _give(bench, state, call, replies.UNANSWERED, is_error=True)
        seed = bench.sink.prove(draft)
    except Unreadable as error:
        return _give(bench, state, call, str(error), is_error=True)
    except SeedRefused as error:
        return _give(bench, state, call, replies.refused(error.problems), is_error=True)
    review = _review(bench, state, seed)
    if review.contradictions and not state.review_told:
        state.review_told = True
        state.disputed = draft.digest
        return _give(bench, state, call, replies.disputed(review.contradictions), is_error=True)
    wish = _approval(bench, state, seed, review)
    if wish is not None:
        return _give(bench, state, call, wish, is_error=True)
    return _write(bench, state, call, seed, review)


def _review(bench: InterviewBench, state: InterviewState, seed: Seed) -> ContractReview:
    if state.review is None and bench.evaluator is not None:
        state.review = review_contract(bench, bench.evaluator, seed, state.emit, bench.new_id)
    return state.review or ContractReview(outcome=ReviewOutcome.SKIPPED, note=bench.no_review)


def _approval(
    bench: InterviewBench, state: InterviewState, seed: Seed, review: ContractReview
) -> str | None:
    """Show the seed to the user, if there is one; give what they want to be different."""
    if bench.approver is None:
        return None
    draft, tasks = seed.draft, seed.plan.tasks
    view = SeedView(
        tldr=draft.tldr,
        tasks=tasks,
        scope_notes=draft.scope_notes,
        open_questions=draft.open_questions,
        blockers=draft.blockers,
        review=review.line(),
        before=state.seen,
        can_change=state.turns < MAX_TURNS,
    )
    state.seen = {task.id: task.acceptance_criteria for task in tasks}
    began = bench.clock.monotonic()
    said = bench.approver.approve(view)
    bench.started += bench.clock.monotonic() - began
    return _wish(state, said, [SheetTask.of(task) for task in tasks])


def _wish(state: InterviewState, said: Approval, shown: list[SheetTask]) -> str | None:
    match said:
        case Approved():
            return None
        case ChangeWanted(text=text):
            return replies.change_wanted(person_text(text))
        case Rewritten(tasks=tasks):
            state.seen = {task.id: task.criteria for task in tasks}
            return replies.rewritten(shown, tasks)
        case WentBack():
            return replies.went_back(_plain(said), seed=True)


def _write(
    bench: InterviewBench, state: InterviewState, call: ToolCall, seed: Seed, review: ContractReview
) -> InterviewEnd:
    written = bench.sink.write(seed, _meta(bench, state, seed, review))
    _give(bench, state, call, replies.WRITTEN)
    bench.emit(SeedCommitted(commit=written.commit, files=written.files))
    bench.emit(
        SessionPrepared(tasks=len(seed.plan.tasks), tests=len(written.files), commit=written.commit)
    )
    bench.frontend.show_summary(_summary(bench, seed, review))
    return InterviewEnd(written=written)


def _meta(
    bench: InterviewBench, state: InterviewState, seed: Seed, review: ContractReview
) -> dict[str, object]:
    """Make the interview's record."""
    draft, spend = seed.draft, bench.meter.by_role.get(Role.SEEDER)
    return {
        "model": state.conversation.model,
        "started": state.begun,
        "prepared": stamp(bench.clock.now()),
        "turns": state.turns,
        "questions": state.asked,
        "tokens": spend.usage.model_dump(mode="json") if spend else {},
        "cost_usd": None if spend is None or spend.unpriced_calls else spend.cost_usd,
        "tldr": draft.tldr,
        "open_questions": list(draft.open_questions),
        "blockers": list(draft.blockers),
        "scope_notes": draft.scope_notes,
        "review": review.model_dump(mode="json"),
    }


def _summary(bench: InterviewBench, seed: Seed, review: ContractReview) -> SeedSummary:
    draft = seed.draft
    return SeedSummary(
        session=bench.session,
        branch=bench.branch,
        tldr=draft.tldr,
        tasks=tuple((t.id, t.title, len(t.acceptance_criteria)) for t in seed.plan.tasks),
        tests=len(seed.tests),
        graph=tuple(graph_lines(graph_of(seed.plan, seed.tests))),
        open_questions=draft.open_questions,
        blockers=draft.blockers,
        scope_notes=draft.scope_notes,
        review=review.line(),
        next_command=f"tilth run {shlex.quote(str(bench.source))}",
    )
