"""The evaluator's tools: it may look at the judged tree and run probes on it, and change nothing.

Each call and what it was given is one event, so that a resume and a replay know it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from pydantic import Field

from tilth.base.errors import Unreadable
from tilth.base.hidden_characters import in_plain_sight
from tilth.base.values import Value, digest
from tilth.contract.evidence import Probed
from tilth.contract.rules import Rules
from tilth.contract.tool_arguments import read_arguments
from tilth.contract.verdict import SUBMIT_VERDICT, SUBMIT_VERDICT_AND_PROBE
from tilth.log.events import EvaluatorTool
from tilth.model.messages import Conversation, ToolCall, ToolResult, ToolSpec
from tilth.task.asking import check_stop
from tilth.task.attempt import Attempt
from tilth.task.bench import Bench, Tools
from tilth.task.evidence import run_probe
from tilth.task.tool_outcome import ToolOutcome


class ProbeArguments(Value):
    """Hold the text of one pytest file."""

    test: str = Field(description="Its whole text.")


RUN_PROBE = ToolSpec.of(
    "run_probe",
    "Run one pytest file in tests/ of a copy of the judged tree, as the checks were run. It can "
    "import the project and changes nothing. Gives what pytest reported.",
    ProbeArguments,
)


def offered_tools(readers: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """Give all that an evaluator who may look can call."""
    return (*readers, RUN_PROBE, SUBMIT_VERDICT_AND_PROBE)


class EvaluatorTools:
    """Do what the evaluator of one case asks for, and record it."""

    def __init__(self, bench: Bench, attempt: Attempt, tree: str) -> None:
        self._bench = bench
        self._attempt = attempt
        self._tree = tree

    @property
    def turns(self) -> int:
        return self._bench.settings.max_evaluator_turns

    @property
    def offered(self) -> tuple[ToolSpec, ...]:
        """Give what a new review may use: nothing, where settings or the session's rules say so."""
        bench = self._bench
        if not bench.settings.evaluator_tools or bench.rules < Rules.EVIDENCE:
            return ()
        return offered_tools(self._readers.specs)

    def were_offered(self, conversation: Conversation) -> bool:
        """Tell whether a review was begun with them: one that goes on keeps what it had."""
        return any(tool["name"] == RUN_PROBE.name for tool in conversation.head["tools"])

    def look(self, conversation: str, call: ToolCall, note: str) -> ToolResult:
        """Do one call; `note` is added to what it gives."""
        check_stop(self._bench)
        started = self._bench.clock.monotonic()
        outcome = self._outcome(call)
        duration = int((self._bench.clock.monotonic() - started) * 1000)
        content = outcome.content if outcome.content.endswith(note) else outcome.content + note
        result = self._give(conversation, call, content, outcome.is_error, duration)
        if call.name == RUN_PROBE.name and not outcome.is_error:
            self._bench.evidence.keep_told(self._tree, _test(call), result)
        return result

    def answer(self, conversation: str, call: ToolCall, text: str) -> ToolResult:
        """Answer a verdict that is not taken as it is."""
        return self._give(conversation, call, text, is_error=True, duration_ms=0)

    def prove(self, probe: str) -> Probed:
        """Run the probe of a verdict."""
        return run_probe(self._bench, self._attempt, self._tree, probe, phase="verdict")

    @cached_property
    def _readers(self) -> Tools:
        return self._bench.open_readers(self._bench.gate.files_of(self._tree))

    def _outcome(self, call: ToolCall) -> ToolOutcome:
        if call.name == RUN_PROBE.name:
            return self._probe(call)
        names = [spec.name for spec in self._readers.specs]
        if call.name not in names:
            every = ", ".join([*names, RUN_PROBE.name, SUBMIT_VERDICT.name])
            return ToolOutcome(content=f"there is no such tool: use one of {every}", is_error=True)
        outcome = self._readers.run(call)
        if self._bench.rules < Rules.CHALLENGE:
            return outcome
        # A key that is broken over two lines would not be found again.
        content = in_plain_sight(self._bench.mask.result(outcome.content))
        return outcome.model_copy(update={"content": content})

    def _probe(self, call: ToolCall) -> ToolOutcome:
        try:
            test = _test(call)
        except Unreadable as error:
            return ToolOutcome(content=str(error), is_error=True)
        known = self._bench.evidence.told(self._tree, test)
        if known is not None:
            return ToolOutcome(content=known.content)
        attempt, plan = self._attempt, self._bench.record.plan
        found = self._bench.gate.probe(attempt.task, plan, attempt.base, self._tree, test)
        return ToolOutcome(content=f"The probe was run: {found.render()}")

    def _give(
        self, conversation: str, call: ToolCall, content: str, is_error: bool, duration_ms: int
    ) -> ToolResult:
        content = self._bench.mask.result(content)
        self._attempt.emit(
            EvaluatorTool(
                conversation=conversation,
                call_id=call.id,
                name=call.name,
                arguments=call.arguments,
                tree=self._tree,
                content=content,
                is_error=is_error,
                duration_ms=duration_ms,
                sha256=digest(content),
            )
        )
        return ToolResult(call_id=call.id, content=content, is_error=is_error)


def _test(call: ToolCall) -> str:
    return read_arguments(RUN_PROBE.name, ProbeArguments, call.arguments).test
