"""Sample events: one payload of every kind, and one short session told from start to stop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from support.night_samples import NIGHT_SAMPLES, SHA
from support.project_samples import PROJECT_SAMPLES
from tilth.contract.case import Blocker, Case
from tilth.contract.evidence import ProbeOutcome
from tilth.contract.operator_word import Verb
from tilth.contract.outcomes import FailReason, FreshReason, Refused, StopReason
from tilth.contract.prd import Plan, Task
from tilth.contract.verdict import Decision, RejectionCategory
from tilth.gate.challenged import ChallengeRun
from tilth.log.events import (
    BlockerRaised,
    CapWarning,
    CaseParseError,
    CaseSubmitted,
    ChallengeMade,
    Committed,
    ContextReset,
    ContextTrimmed,
    EvaluatorParseError,
    EvaluatorTool,
    EvaluatorVerdict,
    Event,
    GateSteered,
    HookRan,
    LandingRefused,
    LedgerAppended,
    MemoryLoad,
    ModelCall,
    ModelRetry,
    MutantsTried,
    Notified,
    Nudge,
    OperatorRequested,
    OperatorSpoke,
    Payload,
    PreToolBlock,
    ProbeFailed,
    ProbeRun,
    PromptAssembled,
    ProposedLearnings,
    Scope,
    SeedAlreadyGreen,
    SeedCommitted,
    SeedTampered,
    SessionPrepared,
    SessionResume,
    SessionStart,
    Stagnation,
    Stop,
    Taken,
    TaskDone,
    TaskFailed,
    TaskForceAccepted,
    ToolCalled,
    ToolResulted,
    ValidatorRun,
)
from tilth.model.messages import Role, Usage
from tilth.show.live import ConsoleContext
from tilth.task.budget import Allowance, Caps

SESSION = "20261116-221530-a1b2c3"
BRANCH = f"session/{SESSION}"


def plan(*titles: str) -> Plan:
    titles = titles or ("Add slugify", "Cut words at a limit", "Say so in the docs")
    tasks = (
        Task(id=f"T-{n:03d}", title=title, description="…", acceptance_criteria=("it works",))
        for n, title in enumerate(titles, start=1)
    )
    return Plan(tasks=tuple(tasks))


def context(**changes: Any) -> ConsoleContext:
    given: dict[str, Any] = {
        "plan": plan(),
        "caps": Caps(tokens=2_000_000, cost_usd=10, wall_clock_s=7200),
        "allowance": Allowance(budget=32, bonus=5),
        "directory": "~/.tilth/sessions/" + SESSION,
    }
    return ConsoleContext(**(given | changes))


def session_start(**changes: Any) -> SessionStart:
    given: dict[str, Any] = {
        "tilth_version": "0.1.0",
        "source": "~/code/words",
        "branch": BRANCH,
        "base_commit": SHA,
        "base_branch": "main",
        "feature": "slugs",
        "tasks": 3,
        "worker_model": "worker-model",
        "evaluator_model": "evaluator-model",
        "same_model": False,
        "evaluate": True,
        "sandbox": "bwrap",
        "settings": {},
    }
    return SessionStart(**(given | changes))


def uses(name: str, call_id: str = "c1", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def says(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def model_call(*content: dict[str, Any], **changes: Any) -> ModelCall:
    given: dict[str, Any] = {
        "conversation": "w1",
        "role": Role.WORKER,
        "request_sha256": "0" * 64,
        "content": content,
        "stop_reason": "tool_use",
        "usage": Usage(input_tokens=4000, output_tokens=500, cache_read_tokens=9000),
        "model": "worker-model",
        "latency_ms": 2100,
        "cost_usd": 0.02,
    }
    return ModelCall(**(given | changes))


def evaluator_call(**changes: Any) -> ModelCall:
    given = {"conversation": "e1", "role": Role.EVALUATOR, "model": "evaluator-model"}
    return model_call(**(given | changes))


def prompt(role: Role) -> PromptAssembled:
    return PromptAssembled(
        conversation=role[0] + "1", role=role, endpoint="http://127.0.0.1", head={}, messages=()
    )


def tool_call(name: str, call_id: str = "c1", **arguments: Any) -> ToolCalled:
    return ToolCalled(conversation="w1", call_id=call_id, name=name, arguments=arguments)


def tool_result(
    name: str, content: str = "ok", call_id: str = "c1", **changes: Any
) -> ToolResulted:
    given = {"conversation": "w1", "call_id": call_id, "name": name, "content": content}
    return ToolResulted(**({"is_error": False} | given | changes))


def validator(name: str = "pytest", **changes: Any) -> ValidatorRun:
    given: dict[str, Any] = {
        "name": name,
        "phase": "case",
        "passed": True,
        "exit_code": 0,
        "output": "",
        "duration_ms": 820,
        "tree": SHA,
        "tests": {"passed": 4} if name == "pytest" else None,
    }
    return ValidatorRun(**(given | changes))


def case(**changes: Any) -> CaseSubmitted:
    given = {"summary": "slugify() folds accents and joins words with dashes.", "ac_coverage": ()}
    whole = Case(**(given | changes))
    return CaseSubmitted(call_id="c9", case=whole, tree=SHA, diff_sha256="d" * 64)


def verdict(**changes: Any) -> EvaluatorVerdict:
    given: dict[str, Any] = {
        "call_id": "c9",
        "ts": "2026-11-16T22:16:00.000Z",
        "task_id": "T-001",
        "iter": 3,
        "verdict": Decision.ACCEPT,
        "rejection_category": None,
        "concern": "Accents, dashes and the empty string are all covered.",
        "evidence": (),
        "next_step": None,
        "score": 91,
        "resolved": (),
        "source": "evaluator",
        "parse_failed": False,
        "below_threshold": False,
        "model": "evaluator-model",
        "tree": SHA,
        "diff_sha256": "d" * 64,
        "validators": {"pytest": "passed"},
    }
    return EvaluatorVerdict(**(given | changes))


def rejection(**changes: Any) -> EvaluatorVerdict:
    given = {
        "verdict": Decision.REJECT,
        "rejection_category": RejectionCategory.ACCEPTANCE_GAP,
        "concern": "The empty string raises IndexError.",
        "next_step": "Return an empty slug for it.",
        "score": 55,
    }
    return verdict(**(given | changes))


def commit(task_id: str = "T-001", **changes: Any) -> Committed:
    given = {"commit": SHA, "tree": SHA, "parent": SHA, "kind": "done", "ref": BRANCH}
    return Committed(**({"subject": f"{task_id}: Add slugify"} | given | changes))


def stop(reason: StopReason = StopReason.ALL_DONE, exit_code: int = 0, detail: str = "") -> Stop:
    return Stop(reason=reason, exit_code=exit_code, detail=detail)


SAMPLES: dict[str, Payload] = {
    sample.type: sample
    for sample in (
        session_start(),
        SessionPrepared(tasks=3, tests=5, commit=SHA),
        SeedCommitted(commit=SHA, files=("tests/test_t001_slugify.py",)),
        SessionResume(
            last_stop="iter_cap", retried=("T-002",), pending=("T-003",), unwound_commit=SHA
        ),
        ContextReset(agent="worker-1", base=SHA, reason=FreshReason.TASK_STARTED),
        prompt(Role.WORKER),
        MemoryLoad(files=("AGENTS.md",), bytes=1200),
        model_call(uses("bash", command="pytest -q")),
        ModelRetry(
            conversation="w1", role=Role.WORKER, attempt=1, error="529 overloaded", delay_s=8
        ),
        Nudge(conversation="w1", text="Use a tool or submit_case.", in_a_row=1),
        tool_call("bash", command="pytest -q"),
        tool_result("bash", "1 failed in 0.1s", exit_code=1),
        PreToolBlock(call_id="c1", name="bash", rule="sudo", reason="sudo is not for a worker"),
        HookRan(hook="ruff", subject="slug.py", exit_code=1, output="F401 unused import"),
        validator(),
        SeedTampered(files=("conftest.py",), notes=("conftest.py was changed",)),
        GateSteered(files=("tests/conftest.py",), notes=("tests/conftest.py: it was changed",)),
        SeedAlreadyGreen(tests=("tests/test_t001_slugify.py",)),
        CaseParseError(call_id="c9", error="summary is empty"),
        case(),
        verdict(),
        EvaluatorParseError(conversation="e1", attempt=1, error="no verdict", raw=None),
        EvaluatorTool(
            conversation="e1",
            call_id="c4",
            name="read_file",
            arguments={"path": "slug.py"},
            tree="t" * 40,
            content="def slug(): ...",
            is_error=False,
        ),
        ProbeRun(
            phase="verdict",
            concern=None,
            probe="def test_it():\n    assert False\n",
            tree="t" * 40,
            outcome=ProbeOutcome.FAILED,
            output="1 failed",
            duration_ms=400,
        ),
        ProbeFailed(call_id="c3", tree="t" * 40, concerns=("C1",)),
        MutantsTried(
            tree="t" * 40,
            tried=3,
            killed=2,
            not_run=1,
            survived=("slug.py:3 x > 1 \u2192 x >= 1",),
        ),
        ChallengeMade(
            tree="t" * 40,
            validator="pytest",
            tests=("tests/test_t001_slug.py::test_a", "tests/test_t001_slug.py::test_b"),
            nonce="0a1b2c3d4e5f6071",
            tries=1,
            runs=(
                ChallengeRun(false="10", red="10"),
                ChallengeRun(false="01", red="00"),
            ),
            noticed=("tests/test_t001_slug.py::test_a",),
            unnoticed=("tests/test_t001_slug.py::test_b",),
            coarse=("tests/test_t001_slug.py::test_a stays green although 'a-b' was made 'A-b'",),
            duration_ms=900,
        ),
        LedgerAppended(entries=1),
        ContextTrimmed(conversation="w1", call_ids=("c1", "c2"), stub="(left out)"),
        Stagnation(category="weak_test", places=("slug.py",), times=3),
        BlockerRaised(
            call_id="c9",
            blocker=Blocker(reason="two criteria contradict each other"),
            contract_at_fault=True,
            ruling="They do.",
        ),
        OperatorSpoke(id="w1", verb=Verb.TELL, task="T-001", text="Mind the zero."),
        OperatorRequested(request="R-1", kind="blocked", text="Which criterion holds?"),
        commit(),
        TaskDone(commit=SHA, score=91, iterations=3, evaluated=True),
        TaskForceAccepted(score=61, reason=FailReason.ITER_CAP),
        TaskFailed(reason=FailReason.ITER_CAP, detail="32 of 32 spent", iterations=32),
        ProposedLearnings(learnings=("The tests run with -W error.",)),
        CapWarning(cap="cost_cap", used=8.1, limit=10),
        LandingRefused(
            cause=Refused.CONFLICT,
            onto=SHA,
            tree=SHA,
            told="Your change was accepted, but it cannot land as it is.",
            call_id="c9",
            files=("slugs.py",),
            report="CONFLICT (content): Merge conflict in slugs.py",
            merged_with=("T-001",),
        ),
        *NIGHT_SAMPLES,
        *PROJECT_SAMPLES,
        Notified(kind="end", channel="command", ok=True),
        Taken(branch="main", before=SHA, after=SHA, tasks=("T-001",), commits=(SHA,), how="anew"),
        stop(),
    )
}


class Tape:
    """Number payloads as a log would."""

    def __init__(self) -> None:
        self._seq = 0

    def event(
        self, payload: Payload, task_id: str | None = "T-001", iter: int | None = None
    ) -> Event:
        self._seq += 1
        ts = f"2026-11-16T22:{15 + self._seq // 60:02d}:{self._seq % 60:02d}.000Z"
        return Event(self._seq, ts, SESSION, Scope(task_id=task_id, iter=iter), payload)


def a_session() -> Iterator[Event]:
    """Tell of two tasks: one rejected and then accepted, one that runs out of iterations."""
    tape = Tape()
    yield tape.event(session_start(), None)
    yield tape.event(SAMPLES["seed_committed"], None)
    yield from (tape.event(payload, "T-001", number) for payload, number in _first_task())
    yield from (tape.event(payload, "T-002", number) for payload, number in _second_task())
    yield tape.event(stop(StopReason.ITER_CAP, 1, "T-002 used 37 of 37 iterations"), None)


def _first_task() -> Iterator[tuple[Payload, int | None]]:
    red = validator(phase="base", passed=False, exit_code=1, tests={"failed": 4})
    failing = validator(
        passed=False,
        exit_code=1,
        tests={"failed": 1, "passed": 3},
        output="…\nE   AssertionError: assert 'a--b' == 'a-b'\nFAILED tests/test_t001_slugify.py",
    )
    submit = uses("submit_case", "c9", summary="…")
    yield SAMPLES["context_reset"], None
    yield SAMPLES["memory_load"], None
    yield red, None
    yield prompt(Role.WORKER), None
    yield model_call(uses("read_file", path="words/slug.py"), uses("grep", pattern="def ")), 1
    yield SAMPLES["model_retry"], 2
    edit = uses("edit_file", path="words/slug.py")
    yield model_call(edit, uses("bash", "c2", command="pytest -q\ngit diff")), 2
    yield tool_call("bash", "c2", command="pytest -q\ngit diff"), 2
    yield tool_result("bash", "…\n1 failed, 3 passed in 0.11s", "c2", exit_code=1), 2
    yield model_call(submit), 3
    yield case(), 3
    yield validator("ruff", duration_ms=40), 3
    yield failing, 3
    yield model_call(edit), 4
    yield model_call(submit), 5
    yield case(uncertainties=("German ß becomes ss.",)), 5
    yield validator("ruff", duration_ms=41), 5
    yield validator(), 5
    yield prompt(Role.EVALUATOR), 5
    yield evaluator_call(), 5
    yield rejection(), 5
    yield model_call(edit, submit), 6
    yield case(), 6
    yield validator("ruff", duration_ms=39), 6
    yield validator(), 6
    yield evaluator_call(), 6
    yield verdict(iter=6), 6
    yield commit(), 6
    yield TaskDone(commit=SHA, score=91, iterations=6, evaluated=True), 6


def _second_task() -> Iterator[tuple[Payload, int | None]]:
    yield SAMPLES["context_reset"], None
    yield SAMPLES["seed_already_green"], None
    yield model_call(says("I think this is done."), stop_reason="end_turn"), 1
    yield SAMPLES["nudge"], 1
    yield SAMPLES["seed_tampered"], 2
    yield SAMPLES["cap_warning"], 2
    yield commit("T-002", kind="failed", subject="FAILED (iter_cap) T-002: Cut words"), 2
    yield SAMPLES["task_failed"], 2
