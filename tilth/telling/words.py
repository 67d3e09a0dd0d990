"""Words: what each kind of event says to a person.

One small function a kind. A kind that has none is not worth a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import singledispatch

from tilth.case import SUBMIT_CASE
from tilth.inert import first_lines, last_lines, one_line
from tilth.messages import Role, Turn
from tilth.outcomes import StopReason
from tilth.payloads import (
    TASK_STARTED,
    BlockerRaised,
    CapWarning,
    CaseParseError,
    CaseSubmitted,
    Committed,
    ContextReset,
    ContextTrimmed,
    EvaluatorParseError,
    EvaluatorVerdict,
    HookRan,
    MemoryLoad,
    ModelCall,
    ModelRetry,
    Nudge,
    OperatorRequested,
    Payload,
    PreToolBlock,
    ProposedLearnings,
    SeedAlreadyGreen,
    SeedCommitted,
    SeedTampered,
    SessionPrepared,
    SessionResume,
    SessionStart,
    Stagnation,
    TaskDone,
    TaskFailed,
    TaskForceAccepted,
    ToolResulted,
    ValidatorRun,
)
from tilth.telling import figures
from tilth.telling.cautions import cautions, kinships
from tilth.telling.note import Note, Tone
from tilth.telling.scene import Scene, describe_call

GOOD, BAD, WARN, LOUD, QUIET = Tone.GOOD, Tone.BAD, Tone.WARN, Tone.LOUD, Tone.QUIET
YES, NO, HEED = "✓", "✗", "!"

_CAP_NAMES = {
    StopReason.WALL_CLOCK.value: "the time for this start",
    StopReason.TOKEN_CAP.value: "the session's tokens",
    StopReason.COST_CAP.value: "the session's money",
}
_OUTPUT_LINES = 4
_QUIET_TURNS = 3
_SHOWN_CALLS = 4


def opening(scene: Scene) -> Note:
    """Announce the task that work turns to."""
    position = f"({scene.position})" if scene.position else ""
    name = " ".join(part for part in (scene.task_id or "", scene.title, position) if part)
    return Note("task", name, Tone.HEAD, opens=True)


@singledispatch
def tell(payload: Payload, scene: Scene) -> Iterator[Note]:
    """Say what happened; nothing for a kind that is not worth a line."""
    yield from ()


@tell.register
def _(start: SessionStart, scene: Scene) -> Iterator[Note]:
    evaluator = start.evaluator_model if start.evaluate else None
    details = [
        f"repo       {start.source}",
        f"branch     {start.branch}",
        f"files      {scene.context.directory}" if scene.context.directory else "",
        f"worker     {start.worker_model}",
        f"evaluator  {evaluator or 'none'}",
        *(f"reviewer   {name}: {model}" for name, model in start.reviewers.items()),
        f"sandbox    {start.sandbox}",
    ]
    about = f"{figures.counted(start.tasks, 'task')}"
    name = f"{scene.tally.whole.session}{figures.SEPARATOR}{about}"
    yield Note("session", name, Tone.HEAD, details=tuple(details), opens=True)
    if start.sandbox == "off":
        text = "SANDBOX OFF: what the model runs has your rights, your files and your network"
        yield Note("warning", text, LOUD, HEED)
    for text in cautions(start):
        yield Note("warning", one_line(text), LOUD, HEED)
    for text in kinships(start):
        yield Note("note", one_line(text), WARN)


@tell.register
def _(prepared: SessionPrepared, scene: Scene) -> Iterator[Note]:
    size = f"{figures.counted(prepared.tasks, 'task')}, {figures.counted(prepared.tests, 'test')}"
    yield Note("prepared", f"{size}, commit {figures.short_sha(prepared.commit)}", GOOD, YES)


@tell.register
def _(seed: SeedCommitted, scene: Scene) -> Iterator[Note]:
    files = figures.counted(len(seed.files), "acceptance test file")
    yield Note("seed", f"{figures.short_sha(seed.commit)} {files}", QUIET)


@tell.register
def _(resume: SessionResume, scene: Scene) -> Iterator[Note]:
    whole = scene.tally.whole
    after = f"goes on after {resume.last_stop}" if resume.last_stop else "goes on"
    details = [
        f"repo       {whole.source}" if whole.source else "",
        f"branch     {whole.branch}" if whole.branch else "",
        f"files      {scene.context.directory}" if scene.context.directory else "",
        f"reattached {resume.reattached}" if resume.reattached else "",
        f"tried anew {' '.join(resume.retried)}" if resume.retried else "",
        f"to do      {' '.join(resume.pending)}" if resume.pending else "",
        f"undone     {figures.short_sha(resume.unwound_commit)}" if resume.unwound_commit else "",
        *resume.notes,
    ]
    name = figures.joined((whole.session or "", after))
    yield Note("session", name, Tone.HEAD, details=tuple(details), opens=True)


@tell.register
def _(reset: ContextReset, scene: Scene) -> Iterator[Note]:
    if scene.started_over or reset.reason != TASK_STARTED:
        yield Note("worker", f"starts a fresh conversation: {reset.reason}", QUIET)


@tell.register
def _(memory: MemoryLoad, scene: Scene) -> Iterator[Note]:
    if memory.files:
        yield Note("context", f"conventions from {', '.join(memory.files)}", QUIET)


@tell.register
def _(call: ModelCall, scene: Scene) -> Iterator[Note]:
    if call.role is Role.WORKER:
        turn = Turn.model_construct(content=call.content, stop_reason=call.stop_reason)
        calls = [describe_call(each.name, each.arguments) for each in turn.tool_calls]
        if turn.was_cut:
            text = "the answer was cut off for want of room; none of its calls was run"
        elif calls:
            more = len(calls) - _SHOWN_CALLS
            calls = calls[:_SHOWN_CALLS] + ([f"and {more} more"] if more > 0 else [])
            text = figures.joined(calls)
        else:
            text = f"says: {one_line(turn.text) or 'nothing'}"
        yield Note("worker", text, mark=scene.progress)
    if scene.unpriced:
        text = f"price of model {scene.unpriced} is unknown: cost is not counted"
        yield Note("note", text, WARN, HEED)


@tell.register
def _(retry: ModelRetry, scene: Scene) -> Iterator[Note]:
    text = f"{one_line(retry.error)}, trying again in {figures.delay(retry.delay_s)}"
    again = f" (attempt {retry.attempt})" if retry.attempt > 1 else ""
    yield Note("endpoint", f"{text}{again}", WARN)


@tell.register
def _(nudge: Nudge, scene: Scene) -> Iterator[Note]:
    turns = f"quiet turn {nudge.in_a_row} of {_QUIET_TURNS}"
    yield Note("nudge", f"{turns}, the worker is reminded: {one_line(nudge.text, 120)}", WARN)


@tell.register
def _(result: ToolResulted, scene: Scene) -> Iterator[Note]:
    call = scene.answered
    if not call or result.name == SUBMIT_CASE.name:
        # A case that fails is told by the gate, the evaluator or its own parse error.
        return
    if result.interrupted:
        yield Note("", f"{call}: was interrupted, its effect is unknown", WARN, NO)
    elif result.is_error:
        said = " ".join(first_lines(result.content, 1))
        yield Note("", f"{one_line(call, 60)}: {said or 'failed'}", WARN, NO)
    elif result.exit_code:
        said = " ".join(last_lines(result.content, 1))
        yield Note("", f"{one_line(call, 60)}: exit {result.exit_code}, {said}", QUIET, NO)


@tell.register
def _(block: PreToolBlock, scene: Scene) -> Iterator[Note]:
    yield Note("blocked", f"{block.name}: {block.reason} ({block.rule})", WARN, NO)


@tell.register
def _(hook: HookRan, scene: Scene) -> Iterator[Note]:
    if hook.exit_code:
        said = " ".join(first_lines(hook.output, 1))
        yield Note("", f"{hook.hook} on {hook.subject}: {said}", QUIET, NO)


def _test_counts(tests: Mapping[str, int] | None) -> str:
    if not tests:
        return ""
    return ", ".join(f"{number} {name}" for name, number in tests.items() if number)


@tell.register
def _(run: ValidatorRun, scene: Scene) -> Iterator[Note]:
    counts = _test_counts(run.tests)
    took = figures.seconds(run.duration_ms)
    if run.phase == "base":
        text = f"{run.name} is {'green' if run.passed else 'red'} before the work begins"
        yield Note("base", figures.joined((text, counts, took)), QUIET)
    elif run.passed:
        yield Note("gate", figures.joined((run.name, counts or "passed", took)), GOOD, YES)
    else:
        failed = "failed" if run.exit_code is None else f"failed, exit {run.exit_code}"
        text = figures.joined((run.name, counts or failed, took))
        yield Note("gate", text, BAD, NO, _telling_lines(run.output))


def _telling_lines(output: str) -> tuple[str, ...]:
    """Pick what says most about a failure: pytest's own error lines, else the end of the output."""
    lines = output.splitlines()
    errors = [line for line in lines if line.startswith("E  ") and "Use -v to get" not in line]
    failed = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
    picked = [*errors[: _OUTPUT_LINES - 1], *failed[:1]] if errors else []
    return first_lines("\n".join(picked), _OUTPUT_LINES) or last_lines(output, _OUTPUT_LINES)


@tell.register
def _(tampered: SeedTampered, scene: Scene) -> Iterator[Note]:
    text = f"TAMPERING: the worker touched what steers the gate: {', '.join(tampered.files)}"
    kept = "the gate used its own copies; worker and evaluator are told"
    yield Note("warning", text, LOUD, HEED, (*tampered.notes, kept))


@tell.register
def _(green: SeedAlreadyGreen, scene: Scene) -> Iterator[Note]:
    text = f"ALREADY GREEN: passes before any work, so it proves nothing: {', '.join(green.tests)}"
    yield Note("warning", text, LOUD, HEED)


@tell.register
def _(error: CaseParseError, scene: Scene) -> Iterator[Note]:
    yield Note("case", f"could not be read: {error.error}", WARN, NO)


@tell.register
def _(submitted: CaseSubmitted, scene: Scene) -> Iterator[Note]:
    case = submitted.case
    details = [f"unsure: {one_line(doubt)}" for doubt in case.uncertainties]
    details += [f"work-around: {one_line(item)}" for item in case.work_arounds]
    yield Note("case", case.summary, Tone.HEAD, details=tuple(details))


@tell.register
def _(verdict: EvaluatorVerdict, scene: Scene) -> Iterator[Note]:
    score = "" if verdict.score is None else f"score {verdict.score}"
    concern = one_line(verdict.concern, 400)
    if verdict.accepted and verdict.parse_failed:
        yield Note("evaluator", "UNREAD and let pass: nobody judged this case", LOUD, HEED)
        return
    if verdict.accepted:
        yield Note("evaluator", figures.joined(("accepts", score)), GOOD, YES, (concern,))
        return
    category = str(verdict.rejection_category or "")
    below = "below the threshold" if verdict.below_threshold else ""
    unread = "verdict could not be read" if verdict.parse_failed else ""
    text = figures.joined(("rejects", category, score, below, unread))
    step = f"next: {one_line(verdict.next_step, 380)}" if verdict.next_step else ""
    yield Note(verdict.source, text, BAD, NO, (concern, step))


@tell.register
def _(error: EvaluatorParseError, scene: Scene) -> Iterator[Note]:
    text = f"answer {error.attempt} could not be read: {error.error}"
    yield Note("evaluator", text, WARN)


@tell.register
def _(trimmed: ContextTrimmed, scene: Scene) -> Iterator[Note]:
    results = figures.counted(len(trimmed.call_ids), "old tool result")
    yield Note("context", f"{results} left out to make room", QUIET)


@tell.register
def _(stuck: Stagnation, scene: Scene) -> Iterator[Note]:
    where = f" in {', '.join(stuck.places)}" if stuck.places else ""
    yield Note("stuck", f"rejected {stuck.times} times for {stuck.category}{where}", WARN, HEED)


@tell.register
def _(raised: BlockerRaised, scene: Scene) -> Iterator[Note]:
    if raised.contract_at_fault is None:
        text = f"says the task cannot be met as written: {raised.blocker.reason}"
        yield Note("worker", text, WARN, HEED)
        return
    view = "agrees, the contract is at fault" if raised.contract_at_fault else "disagrees"
    said = f": {raised.ruling}" if raised.ruling else ""
    reason = f"worker's blocker: {one_line(raised.blocker.reason)}"
    yield Note("evaluator", f"{view}{said}", WARN, HEED, (reason,))


@tell.register
def _(request: OperatorRequested, scene: Scene) -> Iterator[Note]:
    if request.kind == "answer":
        yield Note("answer", f"{request.request}: {one_line(request.text)}", GOOD)
        return
    yield Note("for you", f"{request.request} ({request.kind}): {request.text}", LOUD, HEED)


@tell.register
def _(commit: Committed, scene: Scene) -> Iterator[Note]:
    yield Note("commit", f"{figures.short_sha(commit.commit)} {commit.subject}")


@tell.register
def _(done: TaskDone, scene: Scene) -> Iterator[Note]:
    score = "" if done.score is None else f"score {done.score}"
    unread = done.verdict == "unparsed"
    unseen = "" if done.evaluated else "accepted unread" if unread else "not evaluated"
    below = "below the bar" if scene.task.force_accepted else ""
    took = figures.counted(done.iterations, "iteration")
    text = figures.joined((took, score, below, unseen, f"cost {figures.cost(scene.task)}"))
    clean = done.evaluated and not below
    yield Note("done", text, GOOD if clean else WARN, YES if clean else HEED)


@tell.register
def _(forced: TaskForceAccepted, scene: Scene) -> Iterator[Note]:
    score = "unknown" if forced.score is None else str(forced.score)
    text = f"accepted BELOW THE BAR ({forced.reason}), score {score}: the evaluator did not agree"
    yield Note("warning", text, LOUD, HEED)


@tell.register
def _(failed: TaskFailed, scene: Scene) -> Iterator[Note]:
    took = figures.counted(failed.iterations, "iteration")
    yield Note("failed", figures.joined((str(failed.reason), took, failed.detail)), BAD, NO)


@tell.register
def _(learned: ProposedLearnings, scene: Scene) -> Iterator[Note]:
    if learned.learnings:
        lessons = figures.counted(len(learned.learnings), "lesson")
        yield Note("learned", f"{lessons} for you in proposed-learnings.md", QUIET)


@tell.register
def _(warning: CapWarning, scene: Scene) -> Iterator[Note]:
    share = f"{100 * warning.used / warning.limit:.0f}%" if warning.limit else "all"
    used, limit = (_of_cap(warning.cap, amount) for amount in (warning.used, warning.limit))
    name = _CAP_NAMES.get(warning.cap, warning.cap)
    yield Note("warning", f"{share} of {name} is used: {used} of {limit}", WARN, HEED)


def _of_cap(cap: str, amount: float) -> str:
    name = cap.lower()
    if "cost" in name:
        return figures.money(amount)
    if "token" in name:
        return figures.count(amount)
    return f"{amount:.0f} minutes" if "wall" in name else f"{amount:g}"
