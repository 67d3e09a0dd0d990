"""Tool runs: one call of the worker, through the guard, into the record."""

from __future__ import annotations

from tilth.bench import Bench
from tilth.exchange.attempt import Attempt
from tilth.messages import ToolCall, ToolResult
from tilth.payloads import HookRan, PreToolBlock, ToolCalled, ToolResulted
from tilth.tooling import Outcome
from tilth.values import digest


def run_tool(bench: Bench, attempt: Attempt, call: ToolCall) -> ToolResult:
    """Run one worktree tool unless the guard stops it, and record exactly what came of it."""
    note_call(attempt, call)
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
        attempt.emit(
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
        _reminded(bench, attempt, call, outcome),
        is_error=outcome.is_error,
        exit_code=outcome.exit_code,
        duration_ms=duration,
    )


def _reminded(bench: Bench, attempt: Attempt, call: ToolCall, outcome: Outcome) -> str:
    """Give an outcome's text, with a reminder when it only verifies again what was verified."""
    if call.name != "bash" or outcome.exit_code is None or outcome.is_error:
        return outcome.content
    command = str(call.arguments["command"])
    line = attempt.rounds.reminder(command, outcome.exit_code, bench.tree.fingerprint())
    return outcome.content if line is None else f"{outcome.content.rstrip()}\n{line}"


def note_call(attempt: Attempt, call: ToolCall) -> None:
    """Record that a call is about to be acted on; without a result it counts as interrupted."""
    attempt.emit(
        ToolCalled(
            conversation=attempt.conversation.id,
            call_id=call.id,
            name=call.name,
            arguments=call.arguments,
        )
    )


def give_result(
    bench: Bench,
    attempt: Attempt,
    call: ToolCall,
    content: str,
    *,
    is_error: bool,
    exit_code: int | None = None,
    duration_ms: int = 0,
    interrupted: bool = False,
) -> ToolResult:
    """Mask a result, record it, and give it in the form the model gets."""
    result = ToolResult(call_id=call.id, content=bench.mask.result(content), is_error=is_error)
    attempt.emit(
        ToolResulted(
            conversation=attempt.conversation.id,
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
