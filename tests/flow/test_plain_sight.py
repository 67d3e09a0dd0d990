"""Plain sight over a whole run: what the evaluator is shown, what fails, and that it replays."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.flow_site import Run, Site, accept, solution, solve, submit, write
from support.light_gate import light_site
from support.messages_api import call
from support.replays import say_of

KEY = "a-reviewers-key-0123456789-abcdef"
ODD = f"{solution(1)}{'#' * 220} {KEY}\nDATA = 1{' ' * 300}; \u0430dmin = 1  # \u202e\n"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return light_site(tmp_path)


def lines(run: Run, start: str) -> list[str]:
    shown = run.last_user_text("evaluator", 0)
    return [line for line in shown.splitlines() if line.startswith(start)]


def test_what_hides_is_shown_by_its_number_and_a_key_stays_hidden(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[write("feature1.py", ODD), submit(1)],
        evaluator=[call("read_file", path="feature1.py"), accept()],
        TILTH_EVALUATOR_API_KEY=KEY,
        TILTH_EVALUATOR_TOOLS="true",
    )
    assert run.code == 0
    assert lines(run, "+DATA") == ["+DATA = 1[… 300 blanks …]; \\u0430dmin = 1  # \\u202e"]
    [look] = run.of("evaluator_tool")
    assert "DATA = 1[… 300 blanks …]; \\u0430dmin = 1" in look["content"]
    sent = "".join(request.raw.decode() for request in run.asked("evaluator"))
    assert "↪" in run.last_user_text("evaluator", 0)
    assert KEY[:12] not in sent
    assert say_of(site)[0] == 0


def test_a_link_is_shown_with_what_it_leads_to(site: Site) -> None:
    make = "ln -s feature1.py again.py; ln -s . all; mkdir d; echo x > d/x; ln -s d e"
    run = site.run(
        site.bundle(1),
        worker=[solve(1), call("bash", command=make), submit(1)],
        evaluator=[accept()],
    )
    assert run.code == 0
    assert lines(run, "| ") == [
        "| again.py leads to feature1.py, which holds:",
        *(f"|   {line}" for line in [*solution(1).split("\n")]),
        "| all leads out of the project, to all of it, or nowhere",
        "| e leads to d, with 1 files below it:",
        "|   d/x",
    ]


def test_what_python_reads_otherwise_goes_back_to_the_worker(site: Site) -> None:
    hidden = f"# so\rimport os\n{solution(1)}"
    run = site.run(
        site.bundle(1),
        worker=[write("feature1.py", hidden), submit(1), solve(1), submit(1)],
        evaluator=[accept()],
    )
    assert run.code == 0
    said = [
        result["content"] for result in run.of("tool_result") if result["name"] == "submit_case"
    ]
    assert "## plain sight: FAILED\nfeature1.py:1: Python reads it otherwise" in said[0]
    assert len(run.asked("evaluator")) == 1
    assert say_of(site)[0] == 0
