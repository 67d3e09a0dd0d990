"""Phrases: one line for each kind of event, from its payload alone.

Where the console tells a story and leaves much out, this says of every event what it holds. A kind
nobody knows, or a payload in a foreign shape, still gets its line.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import Any

from pydantic import ValidationError

from tilth import payloads as said
from tilth.events import parse_event
from tilth.inert import one_line
from tilth.messages import Turn
from tilth.telling import figures
from tilth.telling.scene import describe_call
from tilth.values import canonical

_LIMIT = 240


def describe(line: Mapping[str, Any]) -> str:
    """Say in one line what one event of the log holds."""
    try:
        return one_line(phrase(parse_event(line).payload), _LIMIT)
    except (ValidationError, KeyError, TypeError):
        # A later version may have written it: shown as it stands, never a reason to stop.
        return one_line(canonical(line.get("payload")), _LIMIT)


def outcome_counts(tests: Mapping[str, int] | None) -> str:
    """Write what became of the tests, leaving out what became of none."""
    return ", ".join(f"{number} {name}" for name, number in (tests or {}).items() if number)


@singledispatch
def phrase(payload: said.Payload) -> str:
    """Say what a payload holds."""
    return canonical(payload.model_dump(mode="json", exclude={"type"}))


@phrase.register
def _(start: said.SessionStart) -> str:
    evaluator = start.evaluator_model if start.evaluate else "no evaluator"
    models = f"{start.worker_model}, judged by {evaluator}"
    return figures.joined(
        (f"{start.tasks} tasks", start.source, models, f"sandbox {start.sandbox}")
    )


@phrase.register
def _(prepared: said.SessionPrepared) -> str:
    commit = figures.short_sha(prepared.commit)
    return f"{prepared.tasks} tasks, {prepared.tests} tests, commit {commit}"


@phrase.register
def _(seed: said.SeedCommitted) -> str:
    return f"{figures.short_sha(seed.commit)} {', '.join(seed.files)}"


@phrase.register
def _(resume: said.SessionResume) -> str:
    return figures.joined(
        (
            f"after {resume.last_stop or 'a crash'}",
            f"reattached {resume.reattached}" if resume.reattached else "",
            f"tried anew {', '.join(resume.retried)}" if resume.retried else "",
            f"to do {', '.join(resume.pending)}" if resume.pending else "",
            *resume.notes,
        )
    )


@phrase.register
def _(reset: said.ContextReset) -> str:
    return f"{reset.agent} on {figures.short_sha(reset.base)}: {reset.reason}"


@phrase.register
def _(prompt: said.PromptAssembled) -> str:
    size = len(canonical([prompt.head, list(prompt.messages)]))
    return f"{prompt.role} at {prompt.endpoint}, {figures.count(size)} characters"


@phrase.register
def _(memory: said.MemoryLoad) -> str:
    return f"{', '.join(memory.files) or 'no file'}, {memory.bytes} bytes"


@phrase.register
def _(call: said.ModelCall) -> str:
    turn = Turn.model_construct(content=call.content, stop_reason=call.stop_reason)
    calls = [describe_call(each.name, each.arguments) for each in turn.tool_calls]
    cost = "price unknown" if call.cost_usd is None else figures.money(call.cost_usd)
    return figures.joined(
        (
            str(call.role),
            f"{figures.count(call.usage.counted)} tokens",
            cost,
            figures.seconds(call.latency_ms),
            *(calls or [f"says: {one_line(turn.text, 120) or 'nothing'}"]),
        )
    )


@phrase.register
def _(retry: said.ModelRetry) -> str:
    again = f"again in {figures.delay(retry.delay_s)}"
    return f"{retry.role} attempt {retry.attempt}: {retry.error}, {again}"


@phrase.register
def _(nudge: said.Nudge) -> str:
    return f"quiet turn {nudge.in_a_row}: {nudge.text}"


@phrase.register
def _(call: said.ToolCalled) -> str:
    return describe_call(call.name, call.arguments)


@phrase.register
def _(result: said.ToolResulted) -> str:
    how = "interrupted" if result.interrupted else "error" if result.is_error else ""
    code = "" if result.exit_code is None else f"exit {result.exit_code}"
    size = f"{figures.count(len(result.content))} characters"
    first = one_line(result.content, 100)
    return figures.joined(
        (result.name, how, code, figures.seconds(result.duration_ms), size, first)
    )


@phrase.register
def _(block: said.PreToolBlock) -> str:
    return f"{block.name}: {block.reason} ({block.rule})"


@phrase.register
def _(hook: said.HookRan) -> str:
    return f"{hook.hook} on {hook.subject}: {one_line(hook.output, 160) or 'clean'}"


@phrase.register
def _(run: said.ValidatorRun) -> str:
    outcome = "passed" if run.passed else "failed"
    counts = outcome_counts(run.tests)
    when = "on the base" if run.phase == "base" else ""
    return figures.joined((f"{run.name} {outcome}", when, counts, figures.seconds(run.duration_ms)))


@phrase.register
def _(tampered: said.SeedTampered) -> str:
    return figures.joined((", ".join(tampered.files), *tampered.notes))


@phrase.register
def _(green: said.SeedAlreadyGreen) -> str:
    return ", ".join(green.tests)


@phrase.register
def _(error: said.CaseParseError) -> str:
    return error.error


@phrase.register
def _(submitted: said.CaseSubmitted) -> str:
    return f"tree {figures.short_sha(submitted.tree)}: {submitted.case.summary}"


@phrase.register
def _(verdict: said.EvaluatorVerdict) -> str:
    score = "" if verdict.score is None else f"score {verdict.score}"
    category = str(verdict.rejection_category or "")
    by = "" if verdict.source == "evaluator" else "by the harness"
    return figures.joined((str(verdict.verdict), category, score, by, verdict.concern))


@phrase.register
def _(error: said.EvaluatorParseError) -> str:
    return f"answer {error.attempt}: {error.error}"


@phrase.register
def _(appended: said.LedgerAppended) -> str:
    return f"{appended.entries} in the ledger"


@phrase.register
def _(trimmed: said.ContextTrimmed) -> str:
    return f"{figures.counted(len(trimmed.call_ids), 'old tool result')} left out"


@phrase.register
def _(stuck: said.Stagnation) -> str:
    return f"{stuck.category} {stuck.times} times in {', '.join(stuck.places)}"


@phrase.register
def _(raised: said.BlockerRaised) -> str:
    view = "contract at fault" if raised.contract_at_fault else "not agreed"
    return figures.joined((raised.blocker.reason, view, raised.ruling))


@phrase.register
def _(request: said.OperatorRequested) -> str:
    return f"{request.request} ({request.kind}): {request.text}"


@phrase.register
def _(commit: said.Committed) -> str:
    return f"{figures.short_sha(commit.commit)} {commit.subject}"


@phrase.register
def _(done: said.TaskDone) -> str:
    score = "" if done.score is None else f"score {done.score}"
    unseen = "" if done.evaluated else "not evaluated"
    return figures.joined((figures.counted(done.iterations, "iteration"), score, unseen))


@phrase.register
def _(forced: said.TaskForceAccepted) -> str:
    score = "unknown" if forced.score is None else str(forced.score)
    return f"BELOW THE BAR, score {score} ({forced.reason})"


@phrase.register
def _(failed: said.TaskFailed) -> str:
    took = figures.counted(failed.iterations, "iteration")
    return figures.joined((str(failed.reason), took, failed.detail))


@phrase.register
def _(learned: said.ProposedLearnings) -> str:
    return figures.joined(learned.learnings)


@phrase.register
def _(warning: said.CapWarning) -> str:
    return f"{warning.cap}: {warning.used:g} of {warning.limit:g}"


@phrase.register
def _(stop: said.Stop) -> str:
    return figures.joined((f"{stop.reason}, exit {stop.exit_code}", stop.detail))
