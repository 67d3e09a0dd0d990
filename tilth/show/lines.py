"""The lines: what each kind of event says to a person, once for all who tell of events.

One small function a kind, which gives notes. The console tells those that are a story (`told`);
`tilth events`, the report and the viewer say everything (`full`). A kind nobody knows still gets
its line there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import singledispatch

from tilth.base.safe_text import first_lines, last_lines, one_line
from tilth.base.values import canonical
from tilth.contract.case import SUBMIT_CASE
from tilth.contract.left_out import left_out_notes
from tilth.contract.operator_requests import RequestKind
from tilth.contract.outcomes import FreshReason
from tilth.log import events as ev
from tilth.log.events import Event, Payload
from tilth.model.messages import Role, Turn
from tilth.show import (
    evidence_lines,
    figures,
    handover_lines,
    lane_lines,
    night_lines,
    project_lines,
    session_lines,
)
from tilth.show.note import Note, Tone
from tilth.show.progress import Progress, describe_call
from tilth.show.reasons import SET_ASIDE, fresh_reason

GOOD, BAD, WARN, LOUD, QUIET = Tone.GOOD, Tone.BAD, Tone.WARN, Tone.LOUD, Tone.QUIET
YES, NO, HEED = "✓", "✗", "!"
FULL_LIMIT = 240

_QUIET_TURNS = 3
_UNSEEN = {"unparsed": "accepted unread", "person": "accepted by a person"}
_SHOWN_CALLS = 4


def told(event: Event, now: Progress) -> Iterator[Note]:
    """Tell the story of one event; nothing for one that is not worth a line."""
    return (note for note in lines(event.payload, now) if note.story)


def full(event: Event) -> str:
    """Say all that one event holds, in one line."""
    return in_full(lines(event.payload, Progress()))


def in_full(notes: Iterable[Note]) -> str:
    """Say all that the notes on one event hold, in one line."""
    parts = [part for note in notes for part in (note.text, *note.details, *note.more)]
    return one_line(figures.joined(parts), FULL_LIMIT)


def announced(now: Progress) -> Note:
    """Announce the task that work turns to."""
    position = f"({now.position})" if now.position else ""
    name = " ".join(part for part in (now.task_id or "", now.title, position) if part)
    return Note("task", name, Tone.HEAD, opens=True)


def test_counts(tests: Mapping[str, int] | None) -> str:
    """Write what became of the tests, leaving out what became of none."""
    said = {
        name: "error" if (name, n) == ("errors", 1) else name for name, n in (tests or {}).items()
    }
    return ", ".join(f"{number} {said[name]}" for name, number in (tests or {}).items() if number)


@singledispatch
def lines(payload: Payload, now: Progress) -> Iterator[Note]:
    """Say what happened; of a kind nobody knows, what it holds."""
    yield Note("", canonical(payload.to_data()), story=False)


@lines.register
def _(reset: ev.ContextReset, now: Progress) -> Iterator[Note]:
    aside = SET_ASIDE[reset.set_aside] if reset.set_aside else ""
    why = "; ".join(filter(None, (fresh_reason(reset.reason, reset.was, reset.now), aside)))
    story = now.started_over or reset.reason != FreshReason.TASK_STARTED or bool(aside)
    about = f"{reset.agent} on {figures.short_sha(reset.base)}"
    yield Note("worker", f"starts a fresh conversation: {why}", QUIET, more=(about,), story=story)


@lines.register
def _(prompt: ev.PromptAssembled, now: Progress) -> Iterator[Note]:
    size = len(canonical([prompt.head, list(prompt.messages)]))
    text = f"{prompt.role} at {prompt.endpoint}, {figures.count(size)} characters"
    yield Note("", text, story=False)


@lines.register
def _(memory: ev.MemoryLoad, now: Progress) -> Iterator[Note]:
    text = f"conventions from {', '.join(memory.files) or 'no file'}"
    size = f"{memory.bytes} bytes"
    yield Note("context", text, QUIET, more=(size,), story=bool(memory.files))


@lines.register
def _(call: ev.ModelCall, now: Progress) -> Iterator[Note]:
    turn = Turn.model_construct(content=call.content, stop_reason=call.stop_reason)
    calls = [describe_call(each.name, each.arguments) for each in turn.tool_calls]
    if turn.was_cut:
        text = "the answer was cut off for want of room; none of its calls was run"
    elif calls:
        more = len(calls) - _SHOWN_CALLS
        text = figures.joined(calls[:_SHOWN_CALLS] + ([f"and {more} more"] if more > 0 else []))
    else:
        text = f"says: {one_line(turn.text) or 'nothing'}"
    cost = "price unknown" if call.cost_usd is None else figures.money(call.cost_usd)
    spent = f"{figures.count(call.usage.counted)} tokens"
    took = figures.seconds(call.latency_ms)
    about = (str(call.role), spent, cost, took)
    works = call.role is Role.WORKER
    yield Note("worker", text, mark=now.iteration_mark, more=about, story=works)
    if now.unpriced:
        text = f"price of model {now.unpriced} is unknown: cost is not counted"
        yield Note("note", text, WARN, HEED)


@lines.register
def _(retry: ev.ModelRetry, now: Progress) -> Iterator[Note]:
    text = f"{one_line(retry.error)}, trying again in {figures.delay(retry.delay_s)}"
    again = f" (attempt {retry.attempt})" if retry.attempt > 1 else ""
    yield Note("endpoint", f"{text}{again}", WARN, more=(str(retry.role),))


@lines.register
def _(nudge: ev.Nudge, now: Progress) -> Iterator[Note]:
    turns = f"quiet turn {nudge.in_a_row} of {_QUIET_TURNS}"
    yield Note("nudge", f"{turns}, the worker is reminded: {one_line(nudge.text, 120)}", WARN)


@lines.register
def _(call: ev.ToolCalled, now: Progress) -> Iterator[Note]:
    yield Note("", describe_call(call.name, call.arguments), story=False)


@lines.register
def _(result: ev.ToolResulted, now: Progress) -> Iterator[Note]:
    # A blocked call has been told, and a case that fails is told by the gate, the evaluator or its
    # own parse error.
    story = now.answered != "" and result.name != SUBMIT_CASE.name
    call = now.answered or result.name
    size = f"{figures.count(len(result.content))} characters"
    about = (figures.seconds(result.duration_ms), size)
    if result.interrupted:
        text = f"{call}: was interrupted, its effect is unknown"
        yield Note("", text, WARN, NO, more=about, story=story)
    elif result.is_error:
        said = " ".join(first_lines(result.content, 1)) or "failed"
        yield Note("", f"{one_line(call, 60)}: {said}", WARN, NO, more=about, story=story)
    elif result.exit_code:
        said = " ".join(last_lines(result.content, 1))
        text = f"{one_line(call, 60)}: exit {result.exit_code}, {said}"
        yield Note("", text, QUIET, NO, more=about, story=story)
    else:
        text = f"{call}: {one_line(result.content, 100) or 'nothing'}"
        yield Note("", text, more=about, story=False)


@lines.register
def _(block: ev.PreToolBlock, now: Progress) -> Iterator[Note]:
    yield Note("blocked", f"{block.name}: {block.reason} ({block.rule})", WARN, NO)


@lines.register
def _(hook: ev.HookRan, now: Progress) -> Iterator[Note]:
    said = " ".join(first_lines(hook.output, 1)) or "clean"
    text = f"{hook.hook} on {hook.subject}: {said}"
    yield Note("", text, QUIET, NO, story=bool(hook.exit_code))


def _before(run: ev.ValidatorRun) -> str:
    if run.suite is not None:
        return f"the project's own tests are {'green' if run.passed else 'partly red'} on the base"
    if run.passed:
        return f"{run.name} is green before the work begins: its tests prove nothing about it"
    return f"{run.name} is red before the work begins, as it should be"


@lines.register
def _(run: ev.ValidatorRun, now: Progress) -> Iterator[Note]:
    counts = test_counts(run.tests)
    took = figures.seconds(run.duration_ms)
    if run.suite is not None and run.suite.not_run is not None:
        yield Note("base", f"{run.name} not run: {run.suite.not_run.words()}", QUIET)
    elif run.phase == "base":
        details = tuple(project_lines.suite_details(run.suite)) if run.suite else ()
        yield Note("start", figures.joined((_before(run), counts, took)), QUIET, "", details)
    elif run.passed:
        label = "landing" if run.phase == "landing" else "gate"
        yield Note(label, figures.joined((run.name, counts or "passed", took)), GOOD, YES)
    else:
        label = "landing" if run.phase == "landing" else "gate"
        failed = "failed" if run.exit_code is None else f"failed, exit {run.exit_code}"
        text = figures.joined((run.name, counts or failed, took))
        yield Note(label, text, BAD, NO, figures.telling_lines(run.output))


@lines.register
def _(tampered: ev.SeedTampered, now: Progress) -> Iterator[Note]:
    text = f"TAMPERING: the worker touched what steers the gate: {', '.join(tampered.files)}"
    kept = "the gate used its own copies; worker and evaluator are told"
    yield Note("warning", text, LOUD, HEED, (*tampered.notes, kept))


@lines.register
def _(steered: ev.GateSteered, now: Progress) -> Iterator[Note]:
    if steered.files:
        text = f"STEERING: the change reaches what steers a gate: {', '.join(steered.files)}"
        yield Note("warning", text, LOUD, HEED, steered.notes)
    if steered.earlier:
        text = f"proven by what an earlier task changed: {', '.join(steered.earlier)}"
        yield Note("warning", text, WARN, HEED, () if steered.files else steered.notes)


@lines.register
def _(green: ev.SeedAlreadyGreen, now: Progress) -> Iterator[Note]:
    text = f"ALREADY GREEN: passes before any work, so it proves nothing: {', '.join(green.tests)}"
    yield Note("warning", text, LOUD, HEED)


@lines.register
def _(error: ev.CaseParseError, now: Progress) -> Iterator[Note]:
    yield Note("case", f"could not be read: {error.error}", WARN, NO)


@lines.register
def _(submitted: ev.CaseSubmitted, now: Progress) -> Iterator[Note]:
    case = submitted.case
    details = [f"unsure: {one_line(doubt)}" for doubt in case.uncertainties]
    details += [f"work-around: {one_line(item)}" for item in case.work_arounds]
    details += [one_line(note, 400) for note in left_out_notes(submitted.left_out)]
    tree = f"tree {figures.short_sha(submitted.tree)}"
    yield Note("case", case.summary, Tone.HEAD, details=tuple(details), more=(tree,))


@lines.register
def _(verdict: ev.EvaluatorVerdict, now: Progress) -> Iterator[Note]:
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
    text = figures.joined(("rejects", category, score, below, unread, str(verdict.proof or "")))
    step = f"next: {one_line(verdict.next_step, 380)}" if verdict.next_step else ""
    yield Note(verdict.source, text, BAD, NO, (concern, step), more=(f"by {verdict.source}",))


@lines.register
def _(error: ev.EvaluatorParseError, now: Progress) -> Iterator[Note]:
    text = f"answer {error.attempt} could not be read: {error.error}"
    yield Note("evaluator", text, WARN)


@lines.register
def _(appended: ev.LedgerAppended, now: Progress) -> Iterator[Note]:
    yield Note("", f"{appended.entries} in the ledger", story=False)


@lines.register
def _(trimmed: ev.ContextTrimmed, now: Progress) -> Iterator[Note]:
    results = figures.counted(len(trimmed.call_ids), "old tool result")
    yield Note("context", f"{results} left out to make room", QUIET)


@lines.register
def _(stuck: ev.Stagnation, now: Progress) -> Iterator[Note]:
    where = f" in {', '.join(stuck.places)}" if stuck.places else ""
    yield Note("stuck", f"rejected {stuck.times} times for {stuck.category}{where}", WARN, HEED)


@lines.register
def _(raised: ev.BlockerRaised, now: Progress) -> Iterator[Note]:
    view = "agrees, the contract is at fault" if raised.contract_at_fault else "disagrees"
    said = f": {raised.ruling}" if raised.ruling else ""
    reason = f"worker's blocker: {one_line(raised.blocker.reason)}"
    yield Note("evaluator", f"{view}{said}", WARN, HEED, (reason,))


@lines.register
def _(word: ev.OperatorSpoke, now: Progress) -> Iterator[Note]:
    about = " ".join(filter(None, (word.verb, word.request or word.task)))
    refused = f"not done: {word.refused}" if word.refused else ""
    text = f"{about}: {one_line(word.text)}" if word.text else about
    yield Note("you", text, WARN if refused else GOOD, details=(refused,))


@lines.register
def _(request: ev.OperatorRequested, now: Progress) -> Iterator[Note]:
    if request.kind == RequestKind.ANSWER:
        yield Note("answer", f"{request.request}: {one_line(request.text)}", GOOD)
        return
    yield Note("for you", f"{request.request} ({request.kind}): {request.text}", LOUD, HEED)


@lines.register
def _(commit: ev.Committed, now: Progress) -> Iterator[Note]:
    yield Note("commit", f"{figures.short_sha(commit.commit)} {commit.subject}")


@lines.register
def _(done: ev.TaskDone, now: Progress) -> Iterator[Note]:
    score = "" if done.score is None else f"score {done.score}"
    unseen = "" if done.evaluated else _UNSEEN.get(done.verdict or "", "not evaluated")
    below = "below the bar" if done.below_bar or now.task.below_bar else ""
    took = figures.counted(done.iterations, "iteration")
    cost = f"cost {figures.cost(now.task.spent)}" if now.task.spend else ""
    text = figures.joined((took, score, below, unseen, cost))
    clean = done.evaluated and not below
    yield Note("done", text, GOOD if clean else WARN, YES if clean else HEED)


@lines.register
def _(forced: ev.TaskForceAccepted, now: Progress) -> Iterator[Note]:
    score = "unknown" if forced.score is None else str(forced.score)
    text = f"accepted BELOW THE BAR ({forced.reason}), score {score}: the evaluator did not agree"
    yield Note("warning", text, LOUD, HEED)


@lines.register
def _(failed: ev.TaskFailed, now: Progress) -> Iterator[Note]:
    took = figures.counted(failed.iterations, "iteration")
    yield Note(
        "failed",
        figures.joined((figures.failure(failed.reason, failed.obstacle), took, failed.detail)),
        BAD,
        NO,
    )


_KINDS = (session_lines, project_lines, evidence_lines, handover_lines, lane_lines, night_lines)
for _say in (say for kind in _KINDS for say in kind.LINES):
    lines.register(_say)
