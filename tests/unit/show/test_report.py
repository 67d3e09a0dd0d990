"""The report's Markdown: short, ranked, and true to what was written."""

from __future__ import annotations

from typing import Any

import pytest
from support.event_samples import (
    SAMPLES,
    SESSION,
    SHA,
    Tape,
    case,
    commit,
    model_call,
    plan,
    rejection,
    session_start,
    stop,
    tool_result,
    validator,
    verdict,
)

from tilth.contract.case import Coverage
from tilth.contract.operator_requests import OperatorRequest
from tilth.contract.outcomes import StopReason
from tilth.contract.prd import Plan
from tilth.log.events import ModelCall, Payload, TaskDone
from tilth.log.state import SessionState, apply
from tilth.show.digest import digest
from tilth.show.doubt import Landed
from tilth.show.report import Material, Report, make_report
from tilth.show.report_markdown import code, markdown

DONE = TaskDone(commit=SHA, score=95, iterations=3, evaluated=True, verdict="accept")


def folded(*told: tuple[Payload, str | None]) -> SessionState:
    state, tape = SessionState(), Tape()
    iteration = 0
    for payload, task_id in told:
        iteration += isinstance(payload, ModelCall)
        state = apply(state, tape.event(payload, task_id, iteration))
    return state


def claims(count: int, **changes: Any) -> tuple[Coverage, ...]:
    given = {"criterion": "it works", "addressed_by": "words/slug.py:slugify"}
    return tuple(Coverage(**(given | changes)) for _ in range(count))


def report_on(state: SessionState, tasks: Plan, **changes: Any) -> Report:
    given = {"session": SESSION, "state": state, "plan": tasks, "branch": f"session/{SESSION}"}
    return make_report(Material(**(given | changes)))


def one_task(*payloads: Payload, **changes: Any) -> Report:
    told = [(payload, "T-001") for payload in payloads]
    return report_on(folded((session_start(), None), *told, (stop(), None)), plan("One"), **changes)


@pytest.mark.parametrize(
    ("named", "meant"), [("1 and 2", [0, 1]), ("AC-2", [1]), ("2: It is  quick.", [1])]
)
def test_a_claim_stands_under_the_criteria_it_names_however_it_names_them(
    named: str, meant: list[int]
) -> None:
    criteria = ("it works", "it is quick")
    task = plan("One").tasks[0].model_copy(update={"acceptance_criteria": criteria})
    told = (case(ac_coverage=claims(1, criterion=named)), "T-001")
    report = report_on(folded((session_start(), None), told), Plan(tasks=(task,)))
    found = [claim.criterion for claim in report.task("T-001").coverage]
    assert found == [criteria[each] for each in meant]


@pytest.mark.parametrize("criteria", [1, 3, 12])
def test_ten_tasks_fit_into_sixty_lines_whatever_speaks_against_them(criteria: int) -> None:
    tasks = plan(*(f"Task number {number}" for number in range(10)))
    told: list[tuple[Payload, str | None]] = [(session_start(), None)]
    for task in tasks.tasks:
        trouble = case(
            ac_coverage=claims(criteria, evidence="it ran\n" * 30),
            uncertainties=("first\nsecond " * 40,) * 4,
            work_arounds=("a short cut",) * 4,
        )
        worked = (SAMPLES["context_reset"], model_call(), SAMPLES["seed_tampered"], trouble)
        told += [(payload, task.id) for payload in (*worked, rejection(), verdict(), DONE)]
    questions = [
        OperatorRequest(ts="", request=f"R-{n:03d}", task_id="T-001", kind="blocked", text="a\nb")
        for n in range(10)
    ]
    state = folded(*told, (stop(StopReason.BLOCKED, 6, "waits"), None))
    text = markdown(report_on(state, tasks, questions=questions, next=("one", "two", "three")))
    assert len(text.splitlines()) <= 60
    assert text.index("## What to look at first") < text.index("## Tasks")
    assert text.splitlines().index("## What to look at first") < 10
    assert all(f"**T-{number:03d}**" in text for number in range(1, 11))


def test_the_most_doubtful_comes_first_and_the_clear_are_named() -> None:
    told: list[tuple[Payload, str | None]] = [(session_start(), None)]
    ended = {
        "T-001": (DONE,),
        "T-002": (case(uncertainties=("hm",)), DONE),
        "T-003": (SAMPLES["task_failed"],),
    }
    for task_id, payloads in ended.items():
        told += [(payload, task_id) for payload in (model_call(), *payloads)]
    report = report_on(folded(*told, (stop(), None)), plan("One", "Two", "Three"))
    assert report.look_first == ("T-003", "T-002")
    assert report.clear == ("T-001",)
    text = markdown(report)
    assert f"2. **T-002** Two, doubt 6: unsure: hm. `tilth show {SESSION} T-002`" in text
    assert "\nNothing speaks against T-001.\n" in text


def test_evidence_is_quoted_as_it_was_written_and_words_stay_whole() -> None:
    quoted = "assert 'max  size' == `x`  # <b> [a](b)"
    covered = claims(1, evidence=quoted)
    text = markdown(one_task(model_call(), case(ac_coverage=covered), validator(), DONE))
    assert f"(``{quoted}``)" in text
    assert set(code("many " * 100).strip("`").removesuffix("…").split()) == {"many"}
    assert code("first\nsecond") == "`first…`"


def test_what_a_model_wrote_becomes_no_link_tag_or_column() -> None:
    nasty = case(uncertainties=("<img src=x> [here](http://x) \x1b[31m",))
    text = markdown(one_task(model_call(), nasty, DONE))
    assert "\\<img" in text
    assert "](" not in text
    assert "\x1b" not in text


def test_it_says_what_landed_what_it_cost_and_where_iterations_went() -> None:
    edit = tool_result("edit_file")
    second = case().model_copy(update={"call_id": "c10"})
    first = (SAMPLES["context_reset"], model_call(), edit, model_call(), model_call(), case())
    again = (rejection(iter=3), model_call(), edit, model_call(), second, verdict(), commit(), DONE)
    landed = Landed(commit=SHA, subject="T-001: One", paths=("a.py", "b.py"), added=7, deleted=2)
    report = one_task(*first, SAMPLES["model_retry"], *again, landed={"T-001": landed})
    assert dict(report.effort) == {
        "iterations": 5,
        "work": 3,
        "rework": 2,
        "tail": 1,
        "retries": 1,
    }
    text = markdown(report)
    assert "Landed: 1 commit, 2 files, +7 -2 lines." in text
    assert "$0.10 · $0.10 per accepted task" in text
    assert "| 5 (2 rework) | $0.10 | 1a2b3c4 | +7 -2 | 2 |" in text


def test_a_repository_that_is_gone_costs_only_the_numbers() -> None:
    text = markdown(one_task(model_call(), DONE, git_fault="/repo is not a directory"))
    assert "What landed is not known: /repo is not a directory." in text


def test_the_digest_tells_each_round_with_whole_texts() -> None:
    concern = f"It {'really ' * 100}fails."
    told = [
        (payload, "T-001")
        for payload in (SAMPLES["context_reset"], model_call(), case(), rejection(concern=concern))
    ]
    state = folded((session_start(), None), *told, (stop(), None))
    text = digest(report_on(state, plan("One")), state)
    assert "T-001 One: unfinished" in text
    assert "    case: slugify() folds accents and joins words with dashes.\n" in text
    assert f"verdict C1 reject acceptance_gap by evaluator score=55: {concern} | next step" in text
