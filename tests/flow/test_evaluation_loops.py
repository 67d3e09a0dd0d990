"""Verification loops: checking again what was seen to pass, and calling the same thing again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands import start
from support.flow_site import Run, Site, accept, reject, solve, submit, write
from support.light_gate import LIGHT
from support.messages_api import Answer, MessagesServer, Reply, Request, call

SEED = "tests/test_t001_add.py"
# So that a bare `pytest` finds the modules at the root.
ON_PATH = {"pyproject.toml": f"{LIGHT}\n[tool.pytest.ini_options]\npythonpath = ['.']\n"}
PYTEST = f"python -m pytest -q {SEED}"
REMINDER = "This task's acceptance tests passed on exactly these files."
UNCHANGED = "Nothing has changed since this failed the same way"
REWRITE = "cp feature1.py copy && mv copy feature1.py && touch -d '2001-01-01' feature1.py"


def bash(command: str, **more: object) -> Answer:
    return call("bash", command=command, **more)


def run_of(tmp_path: Path, *steps: Reply, files: dict[str, str] | None = None) -> Run:
    site = Site.make(tmp_path, ON_PATH | (files or {}))
    return site.run(site.bundle(1), worker=[*steps, submit(1)], evaluator=[accept()])


def reminded(run: Run) -> list[bool]:
    """Tell for every bash call whether its result carried the reminder."""
    return [
        REMINDER in result["content"]
        for result in run.of("tool_result")
        if result["name"] == "bash"
    ]


def smoke(value: int) -> Answer:
    """Try one input out by a here-document."""
    return bash(
        f"python - <<'EOF'\nfrom feature1 import add1\n\nassert add1({value}) == {value + 1}\nEOF"
    )


def tail_of(run: Run) -> int:
    summary = json.loads((run.session / "summary.json").read_text())
    return int(summary["tasks"]["T-001"]["verification_tail"])


PATTERN = (smoke(1), smoke(2), smoke(3), bash(PYTEST), bash(f"python -m pytest {SEED} -v"))


def test_the_pattern_that_costs_most_is_reminded_at_its_first_command(tmp_path: Path) -> None:
    """A fix whose tests pass, then three smoke tests by here-document and two runs of pytest."""
    run = run_of(tmp_path, solve(1) + bash(f"pytest -q {SEED}"), *PATTERN, bash("cat feature1.py"))
    assert run.code == 0
    assert reminded(run) == [False, True, True, True, True, True, True]
    line = f"[{REMINDER} If every criterion is met, call `submit_case`.]"
    assert line in run.last_user_text("worker", 2)
    assert tail_of(run) == 6


def test_a_worker_that_heeds_the_reminder_spends_one_command_on_verification(
    tmp_path: Path,
) -> None:
    def works(request: Request) -> Answer:
        sent = request.body["messages"]
        if request.role == "evaluator":
            return accept()
        if REMINDER in json.dumps(sent[-1]):
            return submit(1)
        steps = [solve(1) + bash(PYTEST), *PATTERN, submit(1)]
        return steps[len(sent) // 2]

    site = Site.make(tmp_path, ON_PATH)
    with MessagesServer(works) as server:
        environ = site.environ(server.url)
        code = start(site.bundle(1), site.repo, {}, new=True, environ=environ)
    run = Run(site, code, tuple(server.requests))
    assert run.code == 0
    assert tail_of(run) == 1


def test_the_reminder_is_true_of_every_command_and_every_check(tmp_path: Path) -> None:
    """Another assertion on the same files is no check that passed before, and is not called one."""
    failing = bash("python -c 'from feature1 import add1; assert add1(1) == 3'")
    run = run_of(tmp_path, solve(1), bash(PYTEST), failing, failing)
    assert reminded(run) == [False, True, True]
    told = [result["content"] for result in run.of("tool_result") if result["name"] == "bash"]
    assert "passed before" not in "".join(told)


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(
            [bash(PYTEST), write("feature1.py", "def add1(x):\n    return 1 + x\n"), smoke(1)],
            id="after an edit by a tool",
        ),
        pytest.param(
            [bash(PYTEST), bash("echo '# more' >> feature1.py"), smoke(1)],
            id="after an edit by a command",
        ),
        pytest.param([smoke(1), smoke(2), bash("cat feature1.py")], id="no test was run"),
        pytest.param([bash("exit 3"), bash("exit 3")], id="a failing command"),
        pytest.param(
            [bash("pytest -q tests/test_more.py"), smoke(1)], id="tests that are not the task's"
        ),
        pytest.param(
            [bash(f"cat {SEED}; pytest -q tests/test_more.py"), smoke(1)], id="a file that is shown"
        ),
        pytest.param([bash(f"pytest -q {SEED}::test_adds"), smoke(1)], id="one test of a file"),
        pytest.param([bash("pytest -q -k more"), smoke(1)], id="some of all tests"),
        pytest.param([bash("pytest -q tests/nothing.py | tail"), smoke(1)], id="a failing run"),
        pytest.param([bash(f"pytest --collect-only -q {SEED}"), smoke(1)], id="no run at all"),
        pytest.param(
            [write(SEED, "def test_adds():\n    pass\n") + bash(PYTEST), smoke(1)],
            id="other tests under the same name",
        ),
    ],
)
def test_it_does_not_come_where_the_tasks_tests_were_not_seen_to_pass(
    tmp_path: Path, steps: list[Answer]
) -> None:
    more = {"tests/test_more.py": "def test_more():\n    assert True\n"}
    run = run_of(tmp_path, solve(1), *steps, files=more)
    assert run.code == 0
    assert not any(reminded(run))


@pytest.mark.parametrize(
    "command",
    [
        "pytest",
        "pytest -v tests",
        f"cd . && PYTHONPATH=. timeout 60 python -m pytest -q ./{SEED} 2>&1 | tail -3",
        "pytest -q tests/test_t001_*.py",
        f'bash -c "pytest -q {SEED}"',
    ],
)
def test_the_tasks_tests_are_seen_to_pass_however_they_are_run(
    tmp_path: Path, command: str
) -> None:
    assert reminded(run_of(tmp_path, solve(1), bash(command), smoke(1))) == [False, True]


def test_what_was_sent_back_is_not_reminded_of_until_it_is_changed(tmp_path: Path) -> None:
    site = Site.make(tmp_path, ON_PATH)
    run = site.run(
        site.bundle(1),
        worker=[
            *(solve(1) + bash(PYTEST), submit(1), bash(PYTEST), bash("cat feature1.py")),
            *(write("feature1.py", "def add1(x):\n    return 1 + x\n") + bash(PYTEST), smoke(1)),
            submit(1),
        ],
        evaluator=[reject(), accept()],
    )
    assert run.code == 0
    assert reminded(run) == [False, False, False, False, True]


def test_a_check_that_fails_again_alike_is_told_that_nothing_changed(tmp_path: Path) -> None:
    wrong = write("feature1.py", "def add1(x):\n    return x\n")
    verbose = bash(f"python -m pytest {SEED} -v | tail -5")
    run = run_of(tmp_path, wrong, bash(PYTEST), verbose, solve(1), bash(PYTEST))
    told = [result["content"] for result in run.of("tool_result") if result["name"] == "bash"]
    assert [UNCHANGED in content for content in told] == [False, True, False]


def test_a_formatter_that_rewrites_the_same_content_changes_nothing(tmp_path: Path) -> None:
    run = run_of(tmp_path, solve(1) + bash(PYTEST), bash(REWRITE), bash(PYTEST))
    assert reminded(run) == [False, True, True]


def test_it_works_in_a_tree_of_many_files(tmp_path: Path) -> None:
    many = {f"data/{n % 50}/{n}.txt": "x\n" for n in range(4_100)}
    run = run_of(tmp_path, solve(1), bash(PYTEST), bash(PYTEST), files=many)
    assert reminded(run) == [False, True]


def test_a_command_that_timed_out_verifies_nothing(tmp_path: Path) -> None:
    slow = bash("sleep 9", timeout_seconds=1)
    assert reminded(run_of(tmp_path, solve(1) + slow, slow)) == [False, False]


def test_a_third_identical_call_is_answered_from_the_record(tmp_path: Path) -> None:
    site = Site.make(tmp_path, ON_PATH)
    marks = tmp_path / "marks"
    counted = bash(f"echo run >> {marks}; cat README.md")
    run = site.run(
        site.bundle(1),
        worker=[counted, counted, counted, counted, solve(1) + submit(1)],
        evaluator=[accept()],
    )
    assert run.code == 0
    assert marks.read_text() == "run\nrun\n"
    told = [result for result in run.of("tool_result") if result["name"] == "bash"]
    assert [result["is_error"] for result in told] == [False, False, True, True]
    assert "# Sample" in told[2]["content"]
    assert "Not run: this is call number 3 in a row" in told[2]["content"]


def test_the_sixth_identical_call_ends_the_task(tmp_path: Path) -> None:
    site = Site.make(tmp_path, ON_PATH)
    run = site.run(site.bundle(1), worker=[call("read_file", path="README.md")] * 9)
    assert run.code == 1
    (failed,) = run.of("task_failed")
    assert (failed["reason"], failed["iterations"]) == ("no_progress", 6)
    assert run.of("stop")[0]["reason"] == "no_progress"


def test_calls_that_change_files_or_have_others_between_them_are_never_refused(
    tmp_path: Path,
) -> None:
    grows, looks = bash("date >> log.txt"), bash("cat README.md")
    run = run_of(tmp_path, *[grows] * 7, *[looks, call("glob", pattern="*.py")] * 4, solve(1))
    assert run.code == 0
    assert not any("Not run" in result["content"] for result in run.of("tool_result"))


def test_the_tail_counts_only_what_lies_between_the_last_edit_and_its_case(tmp_path: Path) -> None:
    site = Site.make(tmp_path, ON_PATH)
    run = site.run(
        site.bundle(1),
        worker=[
            bash("ls"),
            solve(1),
            bash(PYTEST),
            bash("ls tests"),
            submit(1),
            write("feature1.py", "def add1(x):\n    return 1 + x\n") + submit(1),
        ],
        evaluator=[reject(), accept(resolved=["C1"])],
    )
    summary = json.loads((run.session / "summary.json").read_text())
    assert summary["tasks"]["T-001"]["verification_tail"] == 2
