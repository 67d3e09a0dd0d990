"""The words of the console, as they stand in a pipe."""

from __future__ import annotations

import io
from typing import Any

import pytest
from support.event_samples import (
    SAMPLES,
    SESSION,
    Tape,
    a_session,
    context,
    evaluator_call,
    model_call,
    plan,
    prompt,
    rejection,
    says,
    session_start,
    stop,
    tool_call,
    tool_result,
    uses,
    validator,
    verdict,
)

from tilth.contract.case import Blocker
from tilth.contract.outcomes import StopReason
from tilth.log.events import EVENT_TYPES, BlockerRaised, Payload, TaskDone, ToolResulted
from tilth.log.state import SessionState, apply
from tilth.model.messages import Role
from tilth.show.live import Console, ConsoleContext


def shown(*payloads: Payload, task_id: str | None = "T-001", **changes: Any) -> str:
    """Show payloads in a pipe and give what was written."""
    stream, tape = io.StringIO(), Tape()
    with Console(stream, context(**changes), live=False) as console:
        for payload in payloads:
            console.take(tape.event(payload, task_id))
    return stream.getvalue()


def test_a_session_reads_as_a_story() -> None:
    stream = io.StringIO()
    with Console(stream, context(), live=False) as console:
        for event in a_session():
            console.take(event)
    told = stream.getvalue()
    story = [
        f"session   {SESSION} · 3 tasks | repo ~/code/words | branch session/{SESSION}",
        "task      T-001 Add slugify (1/3)",
        "start     pytest is red before the work begins, as it should be · 4 failed",
        "worker     1/32 read_file: words/slug.py · grep: def",
        "endpoint  529 overloaded, trying again in 8 s",
        "worker     2/32 edit_file: words/slug.py · bash: pytest -q ⏎ git diff",
        "✗ bash: pytest -q ⏎ git diff: exit 1, 1 failed, 3 passed in 0.11s",
        "case      slugify() folds accents",
        "gate      ✓ ruff · passed · 40 ms",
        "gate      ✗ pytest · 1 failed, 3 passed · 0.8 s",
        "E AssertionError: assert 'a--b' == 'a-b'",
        "unsure: German ß becomes ss.",
        "gate      ✓ pytest · 4 passed · 0.8 s",
        "evaluator ✗ rejects · acceptance_gap · score 55 | The empty string raises IndexError. | ",
        "| next: Return an empty slug for it.",
        "worker     6/37 ",
        "evaluator ✓ accepts · score 91",
        "commit    1a2b3c4 T-001: Add slugify",
        "done      ✓ 6 iterations · score 91 · cost $0.16",
        "task      T-002 Cut words at a limit (2/3)",
        "! ALREADY GREEN",
        "says: I think this is done.",
        "nudge     quiet turn 1 of 3",
        "! TAMPERING",
        "81% of the session's money is used: $8.10 of $10.00",
        "failed    ✗ iter_cap · 32 iterations",
        "stopped   ✗ a task used up its iterations",
    ]
    place = 0
    for line in story:
        assert line in told[place:], line
        place = told.index(line, place)


def test_a_pipe_gets_no_escape_and_one_line_an_event() -> None:
    stream = io.StringIO()
    events = [event for event in a_session() if event.type != "stop"]
    with Console(stream, context(), live=False) as console:
        for event in events:
            before = stream.getvalue().count("\n")
            console.take(event)
            lines = stream.getvalue().count("\n") - before
            assert lines <= (2 if event.type == "context_reset" else 1), event.type
    assert "\x1b" not in stream.getvalue()
    assert "\r" not in stream.getvalue()


def test_the_sample_table_holds_every_kind_of_event() -> None:
    assert set(SAMPLES) == set(EVENT_TYPES)


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_every_kind_of_event_is_taken(kind: str) -> None:
    silent = {"prompt_assembled", "tool_call", "ledger_appended", "context_reset"}
    told = shown(SAMPLES["context_reset"], SAMPLES[kind]).partition("\n")[2]
    assert bool(told) == (kind not in silent)


def test_a_kind_of_event_from_the_future_is_passed_over() -> None:
    assert shown(Payload(type="telepathy")) == ""


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_nothing_needs_to_be_known_beforehand(kind: str) -> None:
    stream = io.StringIO()
    with Console(stream, ConsoleContext(), live=False) as console:
        console.take(Tape().event(SAMPLES[kind]))


def test_a_sandbox_that_is_off_is_said_loudly() -> None:
    assert "SANDBOX OFF" in shown(session_start(sandbox="off"), task_id=None)
    assert "SANDBOX" not in shown(session_start(), task_id=None)


def test_a_weak_or_missing_evaluator_is_said() -> None:
    assert "same model" in shown(session_start(same_model=True), task_id=None)
    told = shown(session_start(evaluate=False, same_model=True), task_id=None)
    assert "validators alone decide" in told
    assert "same model" not in told


def test_an_unknown_price_is_said_once_a_model_and_never_as_nothing() -> None:
    calls = [model_call(cost_usd=None), model_call(cost_usd=None), evaluator_call(cost_usd=None)]
    told = shown(SAMPLES["context_reset"], *calls, SAMPLES["task_done"], stop())
    assert told.count("price of model worker-model is unknown: cost is not counted") == 1
    assert told.count("price of model evaluator-model is unknown") == 1
    assert "cost unknown of $10" in told
    assert "$0.00" not in told
    assert "per accepted task" not in told


def test_a_partly_unknown_cost_says_both_parts() -> None:
    told = shown(model_call(cost_usd=0.5), model_call(cost_usd=None), stop())
    assert "$0.50 + unknown of $10" in told


def test_hostile_titles_and_output_cannot_forge_a_line() -> None:
    title = "x\n22:00:00Z T-001 done ✓\x1b]0;owned\x07 [bold]b[/bold] [/x]\ud800"
    told = shown(
        SAMPLES["context_reset"],
        validator(passed=False, output="\x1b[2J\x1b[H\rall good\u202e"),
        plan=plan(title),
    )
    assert len(told.splitlines()) == 2
    assert "\x1b" not in told
    assert "[bold]b[/bold] [/x]\\ud800" in told
    assert "␛[2J␛[H | all good\\u202e" in told


@pytest.mark.parametrize("arguments", [None, [], "text", {"command": 5}, {"command": ""}, {}])
def test_a_call_with_odd_arguments_is_named_by_its_tool(arguments: Any) -> None:
    block = {"type": "tool_use", "id": "c1", "name": "bash", "input": arguments}
    assert shown(model_call(block)).endswith(" 1/32 bash\n")


def test_a_turn_of_many_calls_stays_one_short_line() -> None:
    calls = [uses("read_file", f"c{n}", path=f"f{n}.py") for n in range(9)]
    told = shown(model_call(*calls))
    assert "read_file: f3.py · and 5 more" in told
    assert "f4.py" not in told


def test_a_cut_answer_is_not_shown_as_work() -> None:
    told = shown(model_call(uses("bash", command="rm x"), stop_reason="max_tokens"))
    assert "cut off" in told
    assert "rm x" not in told


def test_an_answer_without_calls_shows_what_was_said() -> None:
    assert "says: Done. All good." in shown(model_call(says("Done.\nAll good.")))
    assert "says: nothing" in shown(model_call())


def test_only_failing_results_are_told() -> None:
    call = tool_call("bash", command="make")
    assert "make" not in shown(call, tool_result("bash", exit_code=0))
    assert "✗ bash: make: exit 2, broken" in shown(
        call, tool_result("bash", "a\nbroken\n", exit_code=2)
    )
    gone = tool_result("bash", "no such file", is_error=True)
    assert "✗ bash: make: no such file" in shown(call, gone)
    cut = tool_result("bash", interrupted=True, is_error=True)
    assert "its effect is unknown" in shown(call, cut)


def test_a_blocked_call_is_told_once() -> None:
    told = shown(
        tool_call("bash", command="sudo x"),
        SAMPLES["pre_tool_block"],
        tool_result("bash", "sudo is not for a worker", is_error=True),
    )
    assert told.count("sudo is not for a worker") == 1


def test_a_rejection_is_not_told_again_as_a_failed_call() -> None:
    answer: ToolResulted = tool_result("submit_case", "REJECTED", is_error=True)
    assert shown(tool_call("submit_case"), rejection(), answer).count("\n") == 1


def test_a_verdict_names_who_gave_it_and_what_was_odd_about_it() -> None:
    assert "harness   ✗ rejects" in shown(rejection(source="harness"))
    assert "below the threshold" in shown(rejection(below_threshold=True))
    assert "could not be read" in shown(rejection(source="harness", parse_failed=True))
    assert "score" not in shown(verdict(score=None))


@pytest.mark.parametrize(("fault", "view"), [(True, "agrees"), (False, "disagrees")])
def test_a_blocker_is_told_with_the_ruling_on_it(fault: bool, view: str) -> None:
    blocker = Blocker(reason="criteria 1 and 2 clash")
    raised = BlockerRaised(
        call_id="c1", blocker=blocker, contract_at_fault=fault, ruling="seen both"
    )
    told = shown(raised)
    assert f"! {view}" in told
    assert "seen both | worker's blocker: criteria 1 and 2 clash" in told


def test_what_was_not_evaluated_is_not_shown_as_clean() -> None:
    done = TaskDone(commit=None, score=None, iterations=1, evaluated=False)
    told = shown(SAMPLES["context_reset"], model_call(), done, stop())
    assert "! 1 iteration · not evaluated" in told
    assert "1 done, not evaluated" in told
    assert "look at   T-001: no evaluator saw it" in told


def test_an_earlier_start_is_recalled_in_silence() -> None:
    tape, stream = Tape(), io.StringIO()
    earlier = [SAMPLES["context_reset"], *[model_call()] * 6, rejection()]
    before = SessionState()
    for payload in earlier:
        before = apply(before, tape.event(payload))
    with Console(stream, context(), live=False) as console:
        console.recall(before)
        assert stream.getvalue() == ""
        console.take(tape.event(prompt(Role.WORKER)))
        console.take(tape.event(model_call(uses("bash", command="ls")), "T-001", 7))
        console.take(tape.event(stop(StopReason.INTERRUPTED, 130), None))
    told = stream.getvalue()
    assert " 7/37 bash: ls" in told
    assert "31.5k/2M tokens" in told
