"""Tool turns: one call of a model, through the guard, into the record."""

from __future__ import annotations

from contextlib import suppress
from typing import Protocol

from tilth.base.plain_file import read_plain
from tilth.base.values import digest
from tilth.contract.outcomes import FailReason, TaskEnd
from tilth.contract.rules import Rules
from tilth.log.events import Emit, HookRan, Nudge, PreToolBlock, ToolCalled, ToolResulted
from tilth.model.messages import Conversation, ToolCall, ToolResult, Turn
from tilth.task.asking import Account
from tilth.task.attempt import Attempt
from tilth.task.bench import Bench
from tilth.task.briefs import nudge as nudge_text
from tilth.task.checks import failure_in, runs_tests, shows_passing
from tilth.task.opening import seed_test_texts
from tilth.task.tool_outcome import ToolOutcome

QUIET_TURNS = 3


class CallExchange(Protocol):
    """Be a conversation whose calls are recorded: a worker's attempt, or an interview."""

    @property
    def conversation(self) -> Conversation: ...

    @property
    def emit(self) -> Emit: ...


def nudge(attempt: Attempt, turn: Turn) -> TaskEnd | None:
    """Ask for a tool call in answer to a turn without one; so many in a row end the task."""
    attempt.quiet += 1
    if attempt.quiet >= QUIET_TURNS:
        return TaskEnd(FailReason.NO_CASE, f"{attempt.quiet} answers in a row called no tool")
    text = nudge_text(turn, attempt.conversation.head["tools"])
    attempt.emit(Nudge(conversation=attempt.conversation.id, text=text, in_a_row=attempt.quiet))
    attempt.conversation.say(text)
    return None


def run_tool(bench: Bench, attempt: Attempt, call: ToolCall) -> ToolResult:
    """Run one worktree tool unless something stops it, and record exactly what came of it."""
    note_call(attempt, call)
    repeats = attempt.repeats
    again = repeats.count(call)
    if bench.rules >= Rules.PROGRESS and repeats.is_idle:
        return give_result(bench, attempt, call, repeats.refusal(), is_error=True)
    before = bench.tree.fingerprint() if again else None
    result = _run(bench, attempt, call)
    steady = before is not None and before == bench.tree.fingerprint()
    repeats.keep(result.content, changed_nothing=steady)
    return result


def _run(bench: Bench, attempt: Attempt, call: ToolCall) -> ToolResult:
    blocked = bench.tools.blocked(call)
    if blocked is not None:
        attempt.emit(
            PreToolBlock(call_id=call.id, name=call.name, rule=blocked.rule, reason=blocked.reason)
        )
        return give_result(bench, attempt, call, blocked.reason, is_error=True)
    started = bench.clock.monotonic()
    outcome = bench.tools.run(call)
    duration = int((bench.clock.monotonic() - started) * 1000)
    for hook in outcome.hooks:
        attempt.tell(
            HookRan(
                hook=hook.hook,
                subject=hook.path,
                exit_code=hook.exit_code,
                output=bench.mask.result(hook.output),
            )
        )
    return give_result(
        bench,
        attempt,
        call,
        _remarked(bench, attempt, call, outcome),
        is_error=outcome.is_error,
        exit_code=outcome.exit_code,
        duration_ms=duration,
    )


def _remarked(bench: Bench, attempt: Attempt, call: ToolCall, outcome: ToolOutcome) -> str:
    """Give an outcome's text, with a remark on a command that shows nothing new."""
    said, code = outcome.content, outcome.exit_code
    if call.name != "bash" or code is None:
        return said
    command = str(call.arguments["command"])
    ran = code == 0 and runs_tests(command)
    passing = ran and shows_passing(command, said, _own_tests(bench, attempt))
    failure = failure_in(command, code, said)
    if not (passing or failure or attempt.verified.has_passed):
        return said
    files = bench.tree.fingerprint()
    line = attempt.verified.remark(files, passing=passing, failure=failure)
    return said if line is None else f"{said.rstrip()}\n{line}"


def _own_tests(bench: Bench, attempt: Attempt) -> tuple[str, ...]:
    """Name the task's acceptance tests, unless the worktree has one of them otherwise."""
    tests = seed_test_texts(bench, attempt.task)
    for test in tests:
        with suppress(OSError):
            if read_plain(bench.tree.path / test.name).decode("utf-8", "replace") == test.text:
                continue
        return ()
    return tuple(test.name for test in tests)


def note_call(exchange: CallExchange, call: ToolCall) -> None:
    """Record that a call is about to be acted on; without a result it counts as interrupted."""
    exchange.emit(
        ToolCalled(
            conversation=exchange.conversation.id,
            call_id=call.id,
            name=call.name,
            arguments=call.arguments,
        )
    )


def give_result(
    bench: Account,
    exchange: CallExchange,
    call: ToolCall,
    content: str,
    *,
    is_error: bool = False,
    exit_code: int | None = None,
    duration_ms: int = 0,
    interrupted: bool = False,
) -> ToolResult:
    """Mask a result, record it, and give it in the form the model gets."""
    result = ToolResult(call_id=call.id, content=bench.mask.result(content), is_error=is_error)
    exchange.emit(
        ToolResulted(
            conversation=exchange.conversation.id,
            call_id=call.id,
            name=call.name,
            content=result.content,
            is_error=is_error,
            exit_code=exit_code,
            duration_ms=duration_ms,
            interrupted=interrupted,
            sha256=digest(result.content),
        )
    )
    return result
