"""How the kept sessions are made: the real command against a scripted endpoint.

    .venv/bin/python tests/support/record_sessions.py [NAME …]

records what `fixtures/old_sessions` does not hold yet. It never replaces one that is there: they
are worth something only as long as they come from the version they were recorded with.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pexpect

from support import messages_api
from support.flow_site import accept, reject, seed_test, solution, solve, submit, task, write
from support.messages_api import Answer, MessagesServer, Reply, Request, call, error, say, stall
from support.old_sessions import KEPT, SUFFIX, OldSession, git, lay_out, replace

FILES = {
    "README.md": "# Sample\n",
    "AGENTS.md": "Every module has a docstring: \N{LEFT DOUBLE QUOTATION MARK}plain words.\n",
}
BROKEN = "def add{n}(x):\n    return x\n"
MENDED = '"""Adds {n}."""\n\n\ndef add{n}(x):\n    return x + {n}\n'
BLOCKER = call("raise_blocker", reason="Criterion 1 contradicts AGENTS.md.", evidence="AGENTS.md")
AT_FAULT = call("submit_ruling", contract_at_fault=True, reason="It does.")
QUESTION = call("ask_user", question="Where shall they live?", options=["feature1.py", "lib"])
SCOPE = call("ask_user", question="What is out of scope?", options=[])
CACHES = {"__pycache__", ".pytest_cache", ".ruff_cache"}


def seed(*numbers: int) -> Answer:
    return call(
        "write_seed",
        prd_entries=[task(number) for number in numbers],
        test_files={f"test_t{number:03d}_add.py": seed_test(number) for number in numbers},
        tldr="Functions that add.",
        open_questions=["Negative numbers? Taken as any other."],
        blockers=[],
        scope_notes="Nothing but integers.",
    )


class Stage:
    """Hold one new repository, one endpoint and the command."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.scripts: dict[str, list[Reply]] = {}
        self.server = MessagesServer(self._answer)
        self.machine = OldSession(root, root / "home", "", self.server.url)
        repo = self.machine.repo
        repo.mkdir(parents=True)
        git(repo, "init", "--quiet", "--initial-branch=main")
        for name, text in FILES.items():
            (repo / name).write_text(text, encoding="utf-8")
        git(repo, "add", "--all")
        git(repo, "commit", "--quiet", "--message=first")

    def _answer(self, request: Request) -> Reply:
        if not request.tools:
            return say("ok")
        return self.scripts[request.role].pop(0)

    def script(self, **scripts: list[Reply]) -> None:
        self.scripts = scripts

    def bundle(self, *tasks: dict[str, Any]) -> tuple[str, ...]:
        """Write a PRD and give the arguments that run it."""
        folder = self.root / "bundle"
        (folder / "tests").mkdir(parents=True)
        (folder / "prd.json").write_text(json.dumps(tasks), encoding="utf-8")
        for entry in tasks:
            number = int(entry["id"][2:])
            test = folder / "tests" / f"test_t{number:03d}_add.py"
            test.write_text(seed_test(number), encoding="utf-8")
        return ("run", str(folder), "--repo", str(self.machine.repo))

    def run(self, *args: str, code: int, **settings: str) -> None:
        done = self.machine.tilth(*args, **settings)
        if done.returncode != code:
            raise RuntimeError(f"{args} ended with {done.returncode}:\n{done.stderr}{done.stdout}")

    def end(self, *args: str, when: Callable[[], bool], by: signal.Signals) -> None:
        """Run and send a signal once something has come about."""
        child = subprocess.Popen(
            [sys.executable, "-m", "tilth", *args],
            env=self.machine.environ(),
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 60
        while not when():
            if child.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"it never came to that; the command gave {child.poll()}")
            time.sleep(0.01)
        if by is signal.SIGKILL:
            os.killpg(child.pid, by)
        else:
            child.send_signal(by)
        if child.wait(60) not in (130, -signal.SIGKILL):
            raise RuntimeError(f"the command ended with {child.returncode}")

    def in_workspace(self, name: str) -> Callable[[], bool]:
        places = self.root / "home" / "sessions"
        return lambda: any(places.glob(f"2*/workspace/{name}"))


def done(stage: Stage) -> None:
    """Three tasks: one fails its validators first, one is rejected first, one uses every tool."""
    stage.script(
        worker=[
            messages_api.think("It is small.")
            + say("I look around.")
            + call("bash", command="ls; cat *.md"),
            write("feature1.py", BROKEN.format(n=1)) + submit(1),
            write("feature1.py", solution(1)) + submit(1, learnings=["Adders live at the root."]),
            solve(2) + submit(2),
            write("feature2.py", MENDED.format(n=2)) + submit(2, uncertainties=["Floats?"]),
            call("glob", pattern="*.py") + call("grep", pattern="def add", path="."),
            write("feature3.py", BROKEN.format(n=3)) + call("read_file", path="feature2.py"),
            call("edit_file", path="feature3.py", old_string="x\n", new_string="x + 3\n"),
            call("bash", command="cat missing.txt; echo n\N{LATIN SMALL LETTER A WITH DIAERESIS}h"),
            say("It is all done."),
            submit(3),
        ],
        evaluator=[
            accept(score=90),
            reject("spec_violation", evidence=["feature2.py"], score=40),
            accept(score=88, resolved=["C1"]),
            accept(),
        ],
    )
    stage.run(*stage.bundle(*map(task, (1, 2, 3))), code=0)


def interrupted(stage: Stage) -> None:
    """Ctrl-C in the second task, after a rejection and with work that no commit holds."""
    stage.script(
        worker=[
            solve(1) + submit(1),
            solve(2) + submit(2),
            write("feature2.py", MENDED.format(n=2))
            + call("bash", command="echo begun > notes.txt; sleep 1; echo ended >> notes.txt"),
        ],
        evaluator=[accept(score=90), reject(evidence=["feature2.py"], score=40)],
    )
    seen = stage.in_workspace("notes.txt")
    stage.end(*stage.bundle(*map(task, (1, 2))), when=seen, by=signal.SIGINT)


def killed(stage: Stage) -> None:
    """Killed in the middle of a tool call."""
    stage.script(
        worker=[solve(1) + call("bash", command="echo begun > notes.txt; exec sleep 5")],
        evaluator=[],
    )
    seen = stage.in_workspace("notes.txt")
    stage.end(*stage.bundle(task(1)), when=seen, by=signal.SIGKILL)


def killed_in_review(stage: Stage) -> None:
    """Killed while the evaluator was thinking."""
    stage.script(worker=[solve(1) + submit(1)], evaluator=[stall()])
    stage.end(
        *stage.bundle(task(1)),
        when=lambda: any(request.role == "evaluator" for request in stage.server.requests),
        by=signal.SIGKILL,
    )


def waiting(stage: Stage) -> None:
    """The second task's blocker was upheld and waits for a person."""
    stage.script(
        worker=[
            solve(1) + submit(1),
            write("feature2.py", BROKEN.format(n=2)) + call("bash", command="cat AGENTS.md"),
            BLOCKER,
        ],
        evaluator=[accept(score=90), AT_FAULT],
    )
    stage.run(*stage.bundle(*map(task, (1, 2))), code=6)


def failed(stage: Stage) -> None:
    """The second task ran out of iterations."""
    stage.script(
        worker=[
            solve(1) + submit(1),
            write("feature2.py", BROKEN.format(n=2)),
            submit(2),
            call("bash", command="cat feature2.py"),
        ],
        evaluator=[accept(score=90)],
    )
    plan = stage.bundle(*map(task, (1, 2)))
    stage.run(*plan, code=1, TILTH_MAX_ITERATIONS_PER_TASK="3")


def skipped(stage: Stage) -> None:
    """A failed task was set aside under `skip`, and one that does not need it went on."""
    stage.script(
        worker=[write("feature1.py", BROKEN.format(n=1)), solve(3) + submit(3)],
        evaluator=[accept(score=90)],
    )
    plan = stage.bundle(task(1), task(2, depends_on=["T-001"]), task(3))
    caps = {"TILTH_MAX_ITERATIONS_PER_TASK": "1", "TILTH_ON_EXHAUSTED": "skip"}
    stage.run(*plan, code=1, **caps)


def below_bar(stage: Stage) -> None:
    """The first of two tasks was accepted below the bar."""
    stage.script(
        worker=[
            solve(1) + submit(1),
            write("feature1.py", BROKEN.format(n=1)) + submit(1),
            solve(2) + submit(2),
        ],
        evaluator=[reject(score=40), accept(score=90)],
    )
    stage.run(
        *stage.bundle(task(1), task(2, depends_on=["T-001"])),
        code=4,
        TILTH_ITERATION_BONUS_PER_REJECTION="0",
        TILTH_MAX_ITERATIONS_PER_TASK="2",
        TILTH_ON_EXHAUSTED="accept",
    )


def troubled(stage: Stage) -> None:
    """Everything that can go wrong on the way to done, a stop at a cap and a resume among it."""
    too_long = error(400, "prompt is too long: 300000 tokens > 200000", "invalid_request_error")
    looks = [call("bash", command=f"seq {n} 150") for n in range(8)]
    tampered = write("tests/test_t001_add.py", "def test_adds():\n    pass\n")
    dear = {"input_tokens": 900, "output_tokens": 5}
    stage.script(
        worker=[
            error(529, "overloaded", "overloaded_error", retry_after="0"),
            call("bash", command="git push"),
            *looks,
            too_long,
            call("bash", command="touch cut.txt").but(stop_reason="max_tokens"),
            solve(1) + call("submit_case", summary="Done"),
            (tampered + submit(1)).but(usage=dear),
        ],
        evaluator=[say("Fine."), reject(score=40)],
    )
    plan = stage.bundle(task(1))
    stage.run(*plan, code=3, TILTH_MAX_TOKENS="1095")
    stage.script(
        worker=[write("feature1.py", MENDED.format(n=1)) + submit(1)],
        evaluator=[accept(score=90, resolved=["C1"])],
    )
    stage.run("resume", code=0)


def interview(stage: Stage) -> None:
    """Ctrl-C at the second question."""
    stage.script(seeder=[call("read_file", path="README.md"), QUESTION, SCOPE])
    child = pexpect.spawn(
        sys.executable,
        ["-m", "tilth", "prep-feature", str(stage.machine.repo), "--brief", "adding"],
        env={**stage.machine.environ(), "TERM": "xterm"},
        cwd=str(stage.root),
        encoding="utf-8",
        timeout=60,
        dimensions=(40, 100),
    )
    child.expect("Where shall they live")
    child.expect("> ")
    child.sendline("1")
    child.expect("What is out of scope")
    child.expect("> ")
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    if child.exitstatus != 130:
        raise RuntimeError(f"the interview ended with {child.exitstatus}")


def prepared(stage: Stage) -> None:
    """An interview that came to its end, with a review."""
    review = call("submit_review", contradictions=[])
    stage.script(
        seeder=[call("read_file", path="README.md"), QUESTION, seed(1, 2)], evaluator=[review]
    )
    answers = stage.root / "answers.json"
    answers.write_text('["feature1.py"]', encoding="utf-8")
    repo = str(stage.machine.repo)
    stage.run("prep-feature", repo, "--brief", "adding", "--answers", str(answers), code=0)


PLAYS = (
    done,
    interrupted,
    killed,
    killed_in_review,
    waiting,
    failed,
    skipped,
    below_bar,
    troubled,
    interview,
    prepared,
)


def record(play: Callable[[Stage], None]) -> None:
    """Play once and keep what it leaves."""
    with tempfile.TemporaryDirectory() as name:
        stage = Stage(Path(name).resolve() / "machine")
        with stage.server:
            play(stage)
        keep(stage, KEPT / play.__name__)
        prove(play.__name__, Path(name).resolve() / "again")


def keep(stage: Stage, kept: Path) -> None:
    """Store the session and its repository, free of this machine."""
    repo = stage.machine.repo
    [session] = (stage.root / "home" / "sessions").glob("2*")
    kept.mkdir(parents=True)
    refs = git(repo, "for-each-ref", "--format=%(objectname) %(refname)")
    (kept / "refs").write_text(f"{refs}\n", encoding="utf-8")
    every = git(repo, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    git(repo, "pack-objects", "-q", str(stage.root / "every"), stdin=f"{every}\n".encode())
    [pack] = stage.root.glob("every-*.pack")
    shutil.copyfile(pack, kept / "objects.pack")
    workspace = session / "workspace"
    facts = {"session": session.name, "worktree": workspace.exists()}
    (kept / "kept.json").write_text(f"{json.dumps(facts)}\n", encoding="utf-8")
    if workspace.exists():
        keep_uncommitted(workspace, kept / "uncommitted")
    shutil.copytree(session, kept / "session", ignore=lambda at, _: _left_out(at, session))
    for path in list((kept / "session").rglob("*")):
        if path.is_dir() and not any(path.iterdir()):
            (path / ".empty").touch()
        elif path.is_file():
            replace(path, {**stage.machine.places, sys.base_prefix: "/usr"})
    for path in kept.rglob("*.py"):
        path.rename(path.with_name(path.name + SUFFIX))
    log = kept / "session" / "events.jsonl"
    log.with_name("events.jsonl.gz").write_bytes(gzip.compress(log.read_bytes(), mtime=0))
    log.unlink()


def _left_out(at: str, session: Path) -> list[str]:
    return ["workspace"] if Path(at) == session else []


def keep_uncommitted(workspace: Path, to: Path) -> None:
    """Store what differs from the branch's tip; nothing may be missing from it."""
    status = git(workspace, "status", "--porcelain", "-z", "--untracked-files=all")
    for entry in filter(None, status.split("\0")):
        state, name = entry[:2], entry[3:]
        if CACHES & set(Path(name).parts):
            continue
        if state not in ("??", " M"):
            raise RuntimeError(f"{entry!r} cannot be kept")
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(workspace / name, to / name)


def prove(name: str, root: Path) -> None:
    """See that a kept session still holds once it is laid out elsewhere."""
    old = lay_out(name, root)
    done = old.tilth("replay", old.id, "--verify-only")
    if done.returncode:
        raise RuntimeError(f"{name} does not hold: {done.stdout}{done.stderr}")
    print(f"{name}: {done.stdout.strip()}")


if __name__ == "__main__":
    missing = [play for play in PLAYS if not (KEPT / play.__name__).exists()]
    for play in missing:
        if play.__name__ in (sys.argv[1:] or [play.__name__]):
            record(play)
