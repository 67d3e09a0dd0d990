"""What a person does in an interview beside answering: approve, change, edit, go back, leave."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pexpect
from support.flow_site import Site, accept, read_lines, solve, submit, task
from support.interview_terminal import PATIENCE_S, approve, ended, prompt, terminal
from support.interviews import ask, run_prepared, write_seed
from support.messages_api import Answer, MessagesServer, by_role

MENU = "Nothing is written until you approve it"
COLOUR = ask("Which colour?", "red", "blue")
SIZE = ask("Which size?")


def prep(site: Site) -> tuple[str, ...]:
    return ("prep-feature", str(site.repo), "--no-review", "--brief", "adding")


def results(site: Site, name: str) -> list[dict[str, Any]]:
    log = read_lines(site.session() / "events.jsonl")
    found = (event["payload"] for event in log if event["type"] == "tool_result")
    return [payload for payload in found if payload["name"] == name]


def reworded(text: str) -> Answer:
    return write_seed(1, prd_entries=[task(1, acceptance_criteria=[text])])


def editor(folder: Path, *steps: str) -> str:
    """Make an editor that does one step of Python to the text at each start."""
    script = folder / "editor.py"
    lines = [
        "import pathlib, sys",
        f"counter = pathlib.Path({str(folder / 'starts')!r})",
        "start = int(counter.read_text()) if counter.exists() else 0",
        "counter.write_text(str(start + 1))",
        "path = pathlib.Path(sys.argv[1])",
        "text = path.read_text()",
        f"text = [{', '.join(f'lambda text: {step}' for step in steps)}][start](text)",
        "path.write_text(text)",
    ]
    script.write_text("\n".join(lines), encoding="utf-8")
    return f"{sys.executable} {script}"


def test_a_change_in_own_words_goes_to_the_seeder_and_comes_back_for_approval(
    tmp_path: Path,
) -> None:
    site = Site.make(tmp_path)
    script = by_role(
        seeder=[write_seed(1), reworded("add1(x) gives exactly x + 1"), write_seed(1)],
        worker=[solve(1), submit(1)],
        evaluator=[accept()],
    )
    with MessagesServer(script) as server:
        with terminal(site, server, *prep(site)) as child:
            child.expect_exact("    1. add1(x) gives x + 1\r\n")
            prompt(child, MENU)
            child.sendline("2")
            child.expect("What is to be different")
            child.send("say exactly,\rplease\r\r")
            child.expect_exact("1. add1(x) gives exactly x + 1  [changed]")
            child.expect_exact("add1(x) gives x + 1  [no longer]")
            prompt(child, MENU)
            child.sendline("as it was, please")
            child.expect_exact("1. add1(x) gives x + 1  [changed]")
            approve(child)
            child.expect("prepared ")
            assert ended(child) == 0
        assert run_prepared(server, site) == 0
    first, second, last = results(site, "write_seed")
    assert "say exactly,\nplease" in first["content"]
    assert "as it was, please" in second["content"]
    assert [first["is_error"], second["is_error"], last["is_error"]] == [True, True, False]


def test_criteria_can_be_edited_and_the_seeder_gets_them_word_for_word(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    program = editor(
        tmp_path,
        "text",
        "'stray line\\n' + text",
        "text.replace('stray line', '').replace('gives x + 1', 'gives one more than x')",
    )
    script = by_role(seeder=[write_seed(1, 2), reworded("add1(x) gives one more than x")])
    with (
        MessagesServer(script) as server,
        terminal(site, server, *prep(site), EDITOR=program) as child,
    ):
        prompt(child, MENU)
        child.sendline("3")
        prompt(child, "nothing was changed")
        child.sendline("edit")
        child.expect("line 1 stands before the first task")
        prompt(child, "Enter opens it again")
        child.sendline("")
        # T-002 is gone from the second seed, and the edit is taken word for word.
        child.expect_exact("1. add1(x) gives one more than x\r\n")
        child.expect_exact("taken out:\r\n    - T-002")
        approve(child)
        child.expect("prepared ")
        assert ended(child) == 0
    told = results(site, "write_seed")[0]["content"]
    assert "T-001 Add feature 1\n1. add1(x) gives one more than x\n" in told
    assert "T-002" not in told


def test_an_editor_that_fails_changes_nothing(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with (
        MessagesServer(by_role(seeder=[write_seed(1)])) as server,
        terminal(site, server, *prep(site), EDITOR="false") as child,
    ):
        prompt(child, MENU)
        child.sendline("3")
        child.expect("false ended with 1, so nothing is taken from it")
        approve(child)
        assert ended(child) == 0
    assert len(results(site, "write_seed")) == 1


def test_an_editor_is_given_no_key(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    kept = tmp_path / "environ"
    program = editor(
        tmp_path,
        f"pathlib.Path({str(kept)!r}).write_text(repr(dict(__import__('os').environ))) and text",
    )
    with (
        MessagesServer(by_role(seeder=[write_seed(1)])) as server,
        terminal(site, server, *prep(site), EDITOR=program) as child,
    ):
        prompt(child, MENU)
        child.sendline("3")
        approve(child)
        assert ended(child) == 0
    assert "EDITOR" in kept.read_text("utf-8")
    assert "API_KEY" not in kept.read_text("utf-8")


def test_back_answers_an_earlier_question_anew(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    script = by_role(seeder=[COLOUR, SIZE, SIZE, write_seed(1), write_seed(1)])
    with MessagesServer(script) as server, terminal(site, server, *prep(site)) as child:
        prompt(child, "Which colour?")
        child.sendline("/back")
        child.expect("there is no earlier question")
        prompt(child, "Which colour?")
        child.sendline("1")
        prompt(child, "Which size?")
        child.sendline("/back")
        prompt(child, "your answer was: red")
        child.sendline("")
        prompt(child, "Which size?")
        child.sendline("/BACK")
        prompt(child, "your answer was: red")
        child.sendline("2")
        prompt(child, "Which size?")
        child.sendline("large")
        prompt(child, MENU)
        child.sendline("/back")
        prompt(child, "your answer was: large")
        child.sendline("/back")
        prompt(child, "your answer was: blue")
        child.sendline("green")
        approve(child)
        assert ended(child) == 0
    asked = results(site, "ask_user")
    assert [result["is_error"] for result in asked] == [False, True, False]
    assert "Which colour?" in asked[1]["content"]
    assert "now:\n\nblue" in asked[1]["content"]
    assert "now:\n\ngreen" in results(site, "write_seed")[0]["content"]


def test_help_and_quit_are_never_answers_and_a_kept_interview_remembers(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with MessagesServer(by_role(seeder=[COLOUR, SIZE, write_seed(1)])) as server:
        with terminal(site, server, *prep(site)) as child:
            prompt(child, "Which colour?")
            child.sendline("/help")
            prompt(child, "/quit  stop here")
            child.sendline("3")
            child.expect("an empty line ends it")
            child.sendline("half a thought")
            child.sendline("/help")
            child.expect("/quit  stop here")
            child.expect("half a thought")
            child.sendline("")
            child.sendline("")
            prompt(child, "Which size?")
            child.sendline("/quit")
            child.expect("go on with `tilth prep-feature")
            assert ended(child) == 130
        with terminal(site, server, *prep(site)) as child:
            child.expect("Enter takes 1, q leaves")
            child.sendline("")
            prompt(child, "Which size?")
            child.send("\x1b[A")
            child.expect("half a thought")
            child.send("\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[Dbig \r")
            approve(child)
            assert ended(child) == 0
    answers = [result["content"] for result in results(site, "ask_user")]
    assert answers == ["half a thought", "half a big thought"]


def test_no_control_character_reaches_the_seeder(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with MessagesServer(by_role(seeder=[COLOUR, write_seed(1)])) as server:
        with terminal(site, server, *prep(site)) as child:
            prompt(child, "Which colour?")
            pasted = "deep\x1b[31m red\x07\r\nor \x00none"
            child.send(f"\x1b[200~{pasted}\x1b[201~\r")
            approve(child)
            assert ended(child) == 0
        bodies = str([request.body for request in server.requests])
    assert results(site, "ask_user")[0]["content"] == "deep red\nor none"
    assert not [char for char in ("\\x1b", "\\x07", "\\x00") if char in bodies]


def test_a_spinner_turns_while_the_seeder_works(tmp_path: Path) -> None:
    site, seen = Site.make(tmp_path), threading.Event()

    def answer_once_it_turns(request: object) -> Answer:
        assert seen.wait(PATIENCE_S)
        return COLOUR

    with (
        MessagesServer(answer_once_it_turns) as server,
        terminal(site, server, *prep(site)) as child,
    ):
        child.expect("[^ ] the seeder is at work")
        child.expect("[^ ] the seeder is at work")
        seen.set()
        child.expect_exact("\r\x1b[K")
        prompt(child, "Which colour?")
        child.sendline("/quit")
        assert ended(child) == 130


def test_nothing_turns_where_no_animation_is_welcome(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with (
        MessagesServer(by_role(seeder=[COLOUR])) as server,
        terminal(site, server, *prep(site), NO_COLOR="1") as child,
    ):
        prompt(child, "Which colour?")
        assert "the seeder is at work" not in child.before
        child.sendline("/quit")
        assert ended(child) == 130


def test_a_key_hit_while_the_seeder_works_says_nothing_to_the_criteria(tmp_path: Path) -> None:
    site, typed = Site.make(tmp_path), threading.Event()

    def answer_once_typed(request: object) -> Answer:
        assert typed.wait(PATIENCE_S)
        return write_seed(1)

    with (
        MessagesServer(answer_once_typed) as server,
        terminal(site, server, *prep(site)) as child,
    ):
        child.expect("the seeder is at work")
        child.send("impatient")
        typed.set()
        approve(child)
        # Had it been kept, it would now be what is to change.
        assert child.expect_exact(["prepared ", MENU]) == 0
        assert ended(child) == 0
    assert len(server.requests) == 1


def test_a_kill_while_the_criteria_are_read_costs_nothing(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    script = by_role(seeder=[SIZE, write_seed(1), reworded("add1(x) gives x + 1, always")])
    with MessagesServer(script) as server:
        with terminal(site, server, *prep(site)) as child:
            prompt(child, "Which size?")
            child.sendline("large")
            prompt(child, MENU)
            child.kill(signal.SIGKILL)
            child.expect(pexpect.EOF)
        with terminal(site, server, *prep(site)) as child:
            child.expect("1  go on with interrupted interview")
            child.sendline("")
            prompt(child, MENU)
            child.sendline("2")
            child.expect("What is to be different")
            child.kill(signal.SIGKILL)
            child.expect(pexpect.EOF)
        with terminal(site, server, *prep(site)) as child:
            child.expect("1  go on with interrupted interview")
            child.sendline("1")
            prompt(child, MENU)
            child.sendline("/back")
            prompt(child, "your answer was: large")
            child.sendline("small")
            prompt(child, MENU)
            child.kill(signal.SIGKILL)
            child.expect(pexpect.EOF)
        with terminal(site, server, *prep(site)) as child:
            child.sendline("1")
            child.expect_exact("add1(x) gives x + 1, always")
            approve(child)
            child.expect("prepared ")
            assert ended(child) == 0
    assert len(server.requests) == 3
    assert len(list(site.sessions.iterdir())) == 1


def test_a_picker_is_left_by_q_and_leaves_everything_as_it_is(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with MessagesServer(by_role(seeder=[SIZE])) as server:
        with terminal(site, server, *prep(site)) as child:
            prompt(child, "Which size?")
            child.sendintr()
            assert ended(child) == 130
        before = (site.session() / "events.jsonl").read_bytes()
        with terminal(site, server, *prep(site)) as child:
            child.expect("q leaves: ")
            child.sendline("seven")
            child.expect("q leaves: ")
            child.sendline("q")
            child.expect("nothing was chosen")
            assert ended(child) == 130
    assert (site.session() / "events.jsonl").read_bytes() == before
    assert len(list(site.sessions.iterdir())) == 1
