"""The task page: one task as data, from its criteria to its diff, round by round.

A round is a case and what came of it: the gate, probes and mutants, the verdict, the commit. Its
steps are told in the lines every other command shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import singledispatch
from typing import Any

from tilth.contract.evidence import ProbeOutcome
from tilth.contract.prd import Task
from tilth.contract.verdict import concern_id
from tilth.log.events import (
    BlockerRaised,
    CaseSubmitted,
    ChallengeMade,
    EvaluatorTool,
    EvaluatorVerdict,
    Event,
    ModelCall,
    MutantsTried,
    Payload,
    ProbeRun,
    PromptAssembled,
    SecondOpinion,
    ToolResulted,
)
from tilth.show import figures
from tilth.show.note import Tone
from tilth.show.report import TaskReport
from tilth.show.viewer.rows import kind_of, milliseconds, notes_on, shown, text_of

# What a round is made of; and what was said in a task's conversations.
ROUND_TYPES = frozenset(
    {
        "seed_already_green",
        "case_submitted",
        "case_parse_error",
        "validator_run",
        "seed_tampered",
        "gate_steered",
        "mutants",
        "challenge",
        "probe_run",
        "probe_failed",
        "evaluator_parse_error",
        "evaluator_verdict",
        "second_opinion",
        "landing_refused",
        "stagnation",
        "blocker_raised",
        "operator_request",
        "operator_word",
        "commit",
        "task_force_accepted",
        "task_failed",
        "task_done",
    }
)
TALK_TYPES = frozenset(
    {
        "prompt_assembled",
        "model_call",
        "tool_result",
        "nudge",
        "evaluator_tool",
        "evaluator_parse_error",
        "operator_word",
    }
)
EXCERPT = 1500

_TONES = {
    Tone.GOOD: "good",
    Tone.BAD: "failed",
    Tone.WARN: "doubt",
    Tone.LOUD: "doubt",
}
_OPENS = ("case_submitted", "blocker_raised")


def criteria(task: Task, report: TaskReport) -> list[dict[str, Any]]:
    """Give every criterion with what the last case says of it."""
    claims: dict[str, list[str]] = {}
    for claim in report.coverage:
        said = [claim.addressed_by, *([claim.evidence] if claim.evidence else [])]
        claims.setdefault(claim.criterion, []).extend(map(shown, said))
    return [
        {"text": shown(text), "evidence": claims.get(text, [])} for text in task.acceptance_criteria
    ]


def rounds(events: Iterable[Event]) -> list[dict[str, Any]]:
    """Group the steps of a task: what came before the first case, then case by case."""
    found: list[dict[str, Any]] = []
    number = verdicts = 0
    for event in events:
        if event.type in _OPENS or not found:
            number += event.type in _OPENS
            name = f"Round {number}" if event.type in _OPENS else "Before the work"
            found.append({"name": name, "at": milliseconds(event.ts), "steps": []})
        name = ""
        if isinstance(event.payload, EvaluatorVerdict):
            name, verdicts = concern_id(verdicts), verdicts + 1
        found[-1]["steps"].append(_step(event, name))
    return found


def _step(event: Event, name: str) -> dict[str, Any]:
    notes = notes_on(event)
    first = notes[0]
    said_so = (_TONES[note.tone] for note in notes if note.tone in _TONES)
    tone = _tone_of(event.payload) or next(said_so, "waiting")
    said = [*_details(event.payload)] or [
        *first.details,
        *(part for note in notes[1:] for part in (note.text, *note.details)),
    ]
    return {
        "seq": event.seq,
        "name": first.label or event.type,
        "title": f"{name} {first.text}".strip(),
        "tone": tone,
        "lines": [shown(line) for line in said],
        "open": tone in ("failed", "doubt") or isinstance(event.payload, EvaluatorVerdict),
    }


def _tone_of(payload: Payload) -> str:
    """Say how evidence is meant that its line tells without a tone."""
    match payload:
        case ChallengeMade(refused=refused, unnoticed=unnoticed, coarse=coarse):
            return "failed" if refused else "doubt" if unnoticed or coarse else "good"
        case MutantsTried(survived=survived):
            return "doubt" if survived else "good"
        case ProbeRun(outcome=ProbeOutcome.PASSED):
            return "good"
        case ProbeRun(outcome=outcome):
            return "failed" if outcome is ProbeOutcome.FAILED else "doubt"
    return ""


@singledispatch
def _details(payload: Payload) -> Iterator[str]:
    """Say whole what a line would cut; of a kind without more, nothing."""
    yield from ()


@_details.register
def _(tried: MutantsTried) -> Iterator[str]:
    yield from (f"no test notices: {item}" for item in tried.survived)


@_details.register
def _(made: ChallengeMade) -> Iterator[str]:
    yield from made.refused
    yield from (f"proves nothing: {item}" for item in made.unnoticed)
    yield from made.coarse
    yield from made.left_out


@_details.register
def _(run: ProbeRun) -> Iterator[str]:
    yield run.probe.strip("\n") + "\n"
    yield run.output.strip("\n") + "\n"


@_details.register
def _(submitted: CaseSubmitted) -> Iterator[str]:
    case = submitted.case
    for claim in case.ac_coverage:
        evidence = f" ({claim.evidence})" if claim.evidence else ""
        yield f"criterion {claim.criterion}: {claim.addressed_by}{evidence}"
    yield from (f"work-around: {text}" for text in case.work_arounds)
    yield from (f"unsure: {text}" for text in case.uncertainties)


@_details.register
def _(verdict: EvaluatorVerdict) -> Iterator[str]:
    yield from _ruled(verdict)
    if verdict.resolved:
        yield f"settles: {', '.join(verdict.resolved)}"


@_details.register
def _(said: SecondOpinion) -> Iterator[str]:
    yield from _ruled(said)
    if said.probe:
        yield said.probe.strip("\n") + "\n"


def _ruled(said: EvaluatorVerdict | SecondOpinion) -> Iterator[str]:
    yield said.concern
    yield from (f"evidence: {text}" for text in said.evidence)
    if said.next_step:
        yield f"next: {said.next_step}"


@_details.register
def _(raised: BlockerRaised) -> Iterator[str]:
    yield f"the worker says: {raised.blocker.reason}"
    if raised.blocker.evidence:
        yield f"evidence: {raised.blocker.evidence}"
    yield f"the ruling: {raised.ruling}"


def talk(event: Event) -> dict[str, Any]:
    """Give one entry of a task's conversations, its text cut if it is long."""
    text = text_of(event.payload)
    return {**talk_head(event), "text": text[:EXCERPT], "whole": len(text) <= EXCERPT}


def talk_head(event: Event) -> dict[str, Any]:
    """Say who speaks in an entry, and what it is."""
    return {"seq": event.seq, "who": kind_of(event.payload), "title": _title(event)}


def _title(event: Event) -> str:
    match event.payload:
        case PromptAssembled(second=True):
            return "what another reviewer is told"
        case PromptAssembled(role=role):
            return f"what the {role} is told"
        case ModelCall() as call:
            cost = "price unknown" if call.cost_usd is None else figures.money(call.cost_usd)
            spent = f"{figures.count(call.usage.counted)} tokens"
            turn = f"iteration {event.scope.iter}" if event.scope.iter else ""
            return figures.joined((turn, spent, cost, figures.seconds(call.latency_ms)))
        case ToolResulted() as result:
            ended = f"exit {result.exit_code}" if result.exit_code else ""
            failed = "error" if result.is_error else ""
            said = (
                f"result of {result.name}",
                ended or failed,
                figures.seconds(result.duration_ms),
            )
            return shown(figures.joined(said))
        case EvaluatorTool() as tool:
            return shown(
                figures.joined((f"looks with {tool.name}", figures.seconds(tool.duration_ms)))
            )
    return shown(event.type)
