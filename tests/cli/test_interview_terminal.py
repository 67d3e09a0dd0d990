"""An interview in a real terminal: the installed command, a scripted person and seeder."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

from support.flow_site import Run, Site, accept, read_lines, solve, submit
from support.interview_terminal import (
    PATIENCE_S,
    approve,
    command_environ,
    ended,
    prompt,
    terminal,
)
from support.interviews import ask, read, review, run_prepared, write_seed
from support.messages_api import Answer, MessagesServer, by_role
from support.warm_start import warm_tilth

QUESTION = ask("`README.md` names no module: where shall the functions live?", "feature1.py", "lib")
SCOPE = ask("What is out of scope?")
INTERVIEW: list[Answer] = [read("README.md"), QUESTION, SCOPE, write_seed(1, 2)]


def test_a_person_is_interviewed_and_the_result_runs(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    script = by_role(
        seeder=INTERVIEW,
        evaluator=[review(), accept(), accept()],
        worker=[solve(1), submit(1), solve(2), submit(2)],
    )
    with MessagesServer(script) as server:
        with terminal(site, server, "prep-feature", str(site.repo), "--brief", "adding") as child:
            child.expect(r"interview \d{8}-\d{6}-[0-9a-f]{6} with claude-sonnet-5-5")
            child.expect("read_file README.md")
            child.expect(r"turn 2 of 60 · \d+ tokens · \$0\.\d+")
            child.expect("where shall the functions live")
            child.expect(r"1\. feature1\.py\r\n  2\. lib\r\n  3\. in your own words")
            child.expect("> ")
            child.sendline("")
            child.expect("nothing was typed")
            child.sendline("1")
            child.expect("What is out of scope")
            child.expect("> ")
            child.send("floats,\\\rand [bold]text[/bold]\r")
            child.expect("tried on the last commit")
            child.expect("contract is being reviewed")
            child.expect_exact("T-001 Add feature 1\r\n    1. add1(x) gives x + 1")
            child.expect("contract review: no contradiction found")
            approve(child)
            child.expect(r"prepared \S+: Functions that add\.")
            child.expect("no contradiction found")
            child.expect(f"next: tilth run {site.repo}")
            assert ended(child) == 0
        sitting = Run(site, 0, tuple(server.requests))
        answers = [payload["content"] for payload in sitting.of("tool_result")][1:3]
        assert answers == ["feature1.py", "floats,\nand [bold]text[/bold]"]
        assert run_prepared(server, site) == 0
    assert sitting.subjects == [
        "seed: 2 task(s), 2 test(s)",
        "T-001: Add feature 1",
        "T-002: Add feature 2",
    ]


def test_ctrl_c_keeps_the_interview_and_the_picker_goes_on_with_it(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with MessagesServer(by_role(seeder=INTERVIEW)) as server:
        args = ("prep-feature", str(site.repo), "--no-review")
        with terminal(site, server, *args) as child:
            child.expect("where shall the functions live")
            child.expect("> ")
            child.sendintr()
            child.expect(f"go on with `tilth prep-feature {site.repo}`")
            assert ended(child) == 130
        with terminal(site, server, *args) as child:
            child.expect("1  go on with interrupted interview")
            child.sendline("1")
            child.expect("where shall the functions live")
            child.expect("> ")
            child.sendline("3")
            child.expect("an empty line ends it")
            child.send("in feature1.py\rand feature2.py\r\r")
            child.expect("What is out of scope")
            child.expect("> ")
            child.sendline("/skip")
            approve(child)
            child.expect("prepared ")
            assert ended(child) == 0
    log = read_lines(site.session() / "events.jsonl")
    results = [event["payload"] for event in log if event["type"] == "tool_result"]
    answers = [result["content"] for result in results if result["name"] == "ask_user"]
    assert answers[0] == "in feature1.py\nand feature2.py"
    assert answers[1].startswith("The user leaves this to you")
    assert len(list(site.sessions.iterdir())) == 1


def test_a_pasted_text_is_one_answer(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with MessagesServer(by_role(seeder=[SCOPE, write_seed(1)])) as server:
        args = ("prep-feature", str(site.repo), "--no-review")
        with terminal(site, server, *args) as child:
            child.expect("> ")
            child.send("one\rtwo\rthree\r")
            approve(child)
            child.expect("prepared ")
            assert ended(child) == 0
    log = read_lines(site.session() / "events.jsonl")
    results = [event["payload"]["content"] for event in log if event["type"] == "tool_result"]
    assert results[0] == "one\ntwo\nthree"


def test_what_the_seeder_says_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    evil = ask("Which \x1b]0;owned\x07[red]one[/red]?", "a\x1b[2J")
    with MessagesServer(by_role(seeder=[evil, write_seed(1)])) as server:
        args = ("prep-feature", str(site.repo), "--no-review")
        with terminal(site, server, *args) as child:
            child.expect_exact("Which ␛]0;owned␇[red]one[/red]?")
            child.expect_exact("1. a␛[2J")
            child.expect("> ")
            child.sendline("1")
            approve(child)
            child.expect("prepared ")
            assert ended(child) == 0


def test_answers_from_a_file_need_no_terminal(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    answers = tmp_path / "answers.json"
    answers.write_text('["feature1.py"]', encoding="utf-8")
    with MessagesServer(by_role(seeder=INTERVIEW)) as server:
        command = [
            str(warm_tilth()),
            "prep-feature",
            str(site.repo),
            "--no-review",
            "--answers",
            str(answers),
        ]
        done = subprocess.run(
            command,
            env=command_environ(site, server),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{site.session().name}\n"
    assert "answered: feature1.py" in done.stderr
    assert "answered: (left to the seeder)" in done.stderr
    assert "\x1b" not in done.stderr


def test_stdout_holds_the_id_alone_though_questions_are_asked(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with MessagesServer(by_role(seeder=[SCOPE, write_seed(1)])) as server:
        command = f'{warm_tilth()} prep-feature {site.repo} --no-review > "$PWD/out"'
        with terminal(site, server, "-c", command, program="/bin/sh") as child:
            child.expect("> ")
            child.sendline("floats")
            approve(child)
            assert ended(child) == 0
    assert (site.root / "out").read_text("utf-8") == f"{site.session().name}\n"


def test_a_terminal_that_knows_no_keys_is_sent_plain_lines(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    script = by_role(seeder=[QUESTION, SCOPE, write_seed(1)])
    with MessagesServer(script) as server:
        args = ("prep-feature", str(site.repo), "--no-review")
        with terminal(site, server, *args, TERM="dumb") as child:
            shown = io.StringIO()
            child.logfile_read = shown
            prompt(child, "where shall the functions live")
            child.send("3\r")
            child.expect("an empty line ends it")
            child.send("in feature1.py\r/help\r")
            child.expect("/quit  stop here")
            child.send("\x1b[Aor lib\r\r")
            prompt(child, "What is out of scope")
            child.send("floats,\\\rand more\r")
            approve(child)
            child.expect("prepared ")
            assert ended(child) == 0
    log = read_lines(site.session() / "events.jsonl")
    results = [event["payload"]["content"] for event in log if event["type"] == "tool_result"]
    assert results[:2] == ["in feature1.py\nor lib", "floats,\nand more"]
    assert "\x1b" not in shown.getvalue()
