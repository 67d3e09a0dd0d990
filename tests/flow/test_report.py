"""The morning report stands after every stop, whatever ended the run."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.flow_site import Run, Site, accept, block, reject, solve, submit, write
from support.light_gate import light_site, whole_gate
from support.messages_api import MessagesServer, by_role, call

from tilth.contract.outcomes import ExitCode
from tilth.log.events import Event
from tilth.session.frontend import Frontend
from tilth.session.resume import resume
from tilth.session.session import Session
from tilth.session.start import start
from tilth.show.doubt import Ground
from tilth.show.report_view import view_report


@pytest.fixture
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Site:
    return light_site(tmp_path, request)


def report_of(run: Run) -> str:
    path = run.session / "report.md"
    assert path.stat().st_mode & 0o777 == 0o600
    return path.read_text(encoding="utf-8")


@whole_gate
def test_after_all_is_done_it_ranks_by_doubt_and_counts_what_landed(site: Site) -> None:
    run = site.run(
        site.bundle(1, 2),
        worker=[
            solve(1) + submit(1),
            call("bash", command="ls"),
            submit(1, uncertainties=["Is  zero a number?"]),
            solve(2),
            call("bash", command="ls"),
            submit(2),
        ],
        evaluator=[reject(), accept(score=95), accept(score=95)],
    )
    assert run.code == 0
    text = report_of(run)
    head, _, rest = text.partition("## What to look at first\n\n")
    assert "**Stopped: all tasks are done** (`all_done`, exit 0)" in head
    assert "Tasks: 2 done. Landed: 2 commits, 2 files, +4 -0 lines." in head
    first = rest.splitlines()[0]
    assert first.startswith("1. **T-001** Add feature 1, doubt 14: unsure: Is  zero a number?; ")
    assert "rejected once, since settled: Negative numbers are not handled." in first
    assert first.endswith(f"`tilth show {run.session.name} T-001`")
    assert "Nothing speaks against T-002." in rest
    assert "  - add1(x) gives x + 1: `feature1.py:add1`" in rest
    assert "6 iterations: 4 work, 2 rework after a rejection; of all, 1 between" in rest


@whole_gate
def test_a_failed_task_is_the_first_to_look_at(site: Site) -> None:
    run = site.run(site.bundle(1, 2), worker=[solve(1)], TILTH_MAX_ITERATIONS_PER_TASK="1")
    assert run.code == 1
    text = report_of(run)
    assert "**Stopped: a task used up its iterations** (`iter_cap`, exit 1)" in text
    assert "Tasks: 1 failed, 1 not begun. Nothing landed." in text
    assert "1. **T-001** Add feature 1, doubt 60: failed (iter_cap)." in text
    assert f"- `tilth resume {run.session.name}` goes on: failed tasks are tried again" in text


def test_a_cap_leaves_a_report_that_says_what_to_raise(site: Site) -> None:
    run = site.run(site.bundle(1), worker=[call("bash", command="ls")] * 3, TILTH_MAX_TOKENS="10")
    assert run.code == 3
    text = report_of(run)
    assert "the session's tokens are used up" in text
    assert "No task has ended yet." in text
    assert f"- `raise TILTH_MAX_TOKENS, then: tilth resume {run.session.name}` goes on" in text


class StopAtTheFirstResult:
    """Wish for a stop as Ctrl-C does."""

    def __init__(self) -> None:
        self.frontend = Frontend(sinks=(self,))

    def take(self, event: Event) -> None:
        if event.type == "tool_result":
            self.frontend.interrupt.wish()


def test_an_interrupt_leaves_a_report_and_the_resume_replaces_it(site: Site) -> None:
    target = site.bundle(1)
    script = by_role(worker=[solve(1), submit(1)], evaluator=[accept()])
    with MessagesServer(script) as server:
        environ = site.environ(server.url)
        frontend = StopAtTheFirstResult().frontend
        stopped = start(target, site.repo, environ=dict(environ), frontend=frontend)
        assert stopped.exit_code == ExitCode.INTERRUPTED
        path = stopped.directory / "report.md"
        assert "**Stopped: interrupted** (`interrupted`, exit 130)" in path.read_text("utf-8")
        resume(stopped.session, environ=dict(environ))
    text = path.read_text("utf-8")
    assert "**Stopped: all tasks are done**" in text
    assert "interrupted" not in text


def test_a_question_that_waits_stands_whole_with_its_command(site: Site) -> None:
    reason = f"Criterion 1 contradicts <b>AGENTS.md</b> in {'many ' * 80}ways."
    run = site.run(
        site.bundle(1),
        worker=[block(reason)],
        evaluator=[call("submit_ruling", contract_at_fault=True, reason="It does.")],
    )
    assert run.code == 6
    (line,) = [line for line in report_of(run).splitlines() if "**R-001** (T-001)" in line]
    assert "contradicts \\<b>AGENTS.md\\</b> in many many" in line
    assert "many ways." in line
    assert line.endswith(f'`tilth answer {run.session.name} R-001 "…"`')


@whole_gate
def test_what_the_evaluator_was_not_shown_is_what_the_report_says(site: Site) -> None:
    long = write("aaa.txt", "a line of text that is long enough\n" * 8000)
    run = site.run(
        site.bundle(1), worker=[long + solve(1) + submit(1)], evaluator=[accept(score=95)]
    )
    assert run.code == 0
    told = run.last_user_text("evaluator", 0)
    assert "THE DIFF IS CUT" in told
    [opened] = [each for each in run.of("prompt_assembled") if each["role"] == "evaluator"]
    assert opened["unshown"] == ["aaa.txt (+8000 -0), in part", "feature1.py (+2 -0)"]
    assert "\n".join(opened["unshown"]) in told
    [task] = view_report(Session.look(site.sessions, run.session.name)).report.tasks
    assert list(task.unshown) == opened["unshown"]
    assert task.landed is not None
    assert task.landed.cut
    assert [reason.ground for reason in task.reasons] == [Ground.CUT_DIFF, Ground.LARGE_DIFF]


@whole_gate
def test_a_test_that_patches_the_product_is_named_to_evaluator_and_person(site: Site) -> None:
    patch = "import feature1\n\nfeature1.add1 = abs\n\n\ndef test_a():\n    assert feature1\n"
    added = write("tests/test_zzz.py", patch)
    run = site.run(
        site.bundle(1), worker=[added + solve(1) + submit(1)], evaluator=[accept(score=95)]
    )
    assert run.code == 0
    said = "tests/test_zzz.py:3: changes what it imports, for others too"
    note = f"{said}: feature1.add1 = abs"
    assert f"- {note}\n" in run.last_user_text("evaluator", 0)
    assert note in report_of(run)
    [task] = view_report(Session.look(site.sessions, run.session.name)).report.tasks
    assert [reason.ground for reason in task.reasons] == [Ground.SUPPRESSION]
