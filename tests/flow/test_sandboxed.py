"""Whole runs behind the real wall: worker, validators and setup."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from support.commands import start
from support.evidence_story import LIGHT_FILES
from support.fleet_site import answer
from support.flow_site import Run, Site, accept, git, reject, solve, submit, task, write
from support.ignored_files import bundle, make_site
from support.light_gate import LIGHT
from support.messages_api import Answer, MessagesServer, Reply, Request, by_role, call
from support.sandbox_site import bubblewrap, real_wall

from tilth.config.settings import SandboxChoice

SECRET = "the word in the home"
# Root may do anything with any file unless it is told not to.
_RIGHTS = "--bounding-set=-dac_override,-dac_read_search"
AS_ANYBODY = ("setpriv", _RIGHTS) if os.geteuid() == 0 else ()
SRC_TEST = """\
from shop.prices import double


def test_doubles():
    assert double(2) == 4
"""


@pytest.fixture(autouse=True)
def _wall_needed() -> None:
    bubblewrap()


def bash(command: str) -> Answer:
    return call("bash", command=command)


def sandboxed(root: Path, files: dict[str, str] | None = None) -> Site:
    site = Site.make(root, files)
    site.settings = {"TILTH_SANDBOX": "auto"}
    return site


def light(line: str = "") -> dict[str, str]:
    """Give a project that asks next to nothing of its gate, with one more line of settings."""
    return {"pyproject.toml": LIGHT.replace("defaults = false\n", f"defaults = false\n{line}\n")}


def results(run: Run, tool: str = "bash") -> list[str]:
    """Give what each call of a tool was answered, in order."""
    return [item["content"] for item in run.of("tool_result") if item["name"] == tool]


def make_venv(place: Path) -> Path:
    """Make a virtual environment that borrows pytest from the one that runs this test."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    (site,) = place.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return site


def test_a_failing_validator_a_rejection_and_an_accept_behind_the_wall(tmp_path: Path) -> None:
    site = sandboxed(tmp_path)
    (site.root / "home").mkdir()
    (site.root / "home" / "note").write_text(SECRET)

    run = site.run(
        site.bundle(1),
        worker=[
            bash(f"cat {site.root}/home/note; ls {site.root}/home/sessions; git log --oneline"),
            write("feature1.py", "def add1(x):\n    return x\n"),
            submit(1),
            solve(1),
            bash("python -m pytest -q tests; touch /usr/x"),
            submit(1),
            write("feature1.py", 'def add1(x):\n    """Add one."""\n    return x + 1\n'),
            submit(1),
        ],
        evaluator=[reject(), accept()],
    )

    assert run.code == 0
    assert run.of("session_start")[0]["sandbox"] == "bwrap"
    assert [item["passed"] for item in run.of("validator_run") if item["name"] == "pytest"] == [
        *(False, False),
        *(True, True, True),
    ]
    assert [entry["verdict"] for entry in run.ledger(1)] == ["reject", "accept"]
    looked, proved = results(run)
    assert SECRET not in looked
    assert "seed: 1 task(s), 1 test(s)" in looked
    assert run.session.name in looked
    assert "1 passed" in proved
    assert "Read-only file system" in proved
    assert run.subjects[-1] == "T-001: Add feature 1"


def test_an_editable_install_of_a_src_layout_is_led_to_the_work(tmp_path: Path) -> None:
    site = sandboxed(tmp_path, {"src/shop/__init__.py": "", ".gitignore": ".venv\n"})
    packages = make_venv(site.repo / ".venv")
    (packages / "shop.pth").write_text(f"{site.repo}/src\n")
    folder = site.bundle(tasks=[task(1)])
    (folder / "tests" / "test_t001_double.py").write_text(SRC_TEST)
    case = {"ac_coverage": [{"criterion": "1", "addressed_by": "src/shop/prices.py:double"}]}

    run = site.run(
        folder,
        worker=[
            write("src/shop/prices.py", "def double(x):\n    return 2 * x\n"),
            # Without the search path that the worker's shell has besides.
            bash("cd / && python -E -c 'import shop.prices as s, sys; print(s, sys.prefix)'"),
            bash(f"echo x > {site.repo}/.venv/pyvenv.cfg"),
            submit(1, **case),
        ],
        evaluator=[accept()],
    )

    assert run.code == 0
    found, refused = results(run)
    assert f"{site.repo}/src/shop/prices.py" in found
    assert f"{site.repo}/.venv" in found
    assert "Read-only file system" in refused
    assert not (site.repo / "src" / "shop" / "prices.py").exists()


SETUP = f"""\
[tool.tilth]
setup = [
    "python -m venv --without-pip .venv",
    "echo {sysconfig.get_path("purelib")} > $(echo .venv/lib/python*/site-packages)/borrowed.pth",
]
"""


def test_what_setup_makes_is_used_and_cannot_be_changed(tmp_path: Path) -> None:
    site = sandboxed(tmp_path, {"pyproject.toml": SETUP})

    run = site.run(
        site.bundle(1),
        worker=[
            bash("python -c 'import sys; print(sys.prefix)'; head -c 60 .venv/pyvenv.cfg"),
            bash("rm -rf .venv; echo x > .venv/planted; echo x > $(dirname $(which python))/x"),
            bash("git status --porcelain"),
            solve(1),
            submit(1),
        ],
        evaluator=[accept()],
    )

    assert run.code == 0
    setup = [item for item in run.of("hook_run") if item["hook"] == "setup"]
    assert [item["exit_code"] for item in setup] == [0, 0]
    assert setup[0]["subject"] == "python -m venv --without-pip .venv"
    used, refused, status = results(run)
    assert used.startswith(str(run.session / "setup" / "venv"))
    assert "home = " in used
    assert refused.count("Read-only file system") >= 3
    assert (run.session / "setup" / "venv" / "pyvenv.cfg").exists()
    assert ".venv" not in status
    changed = subprocess.run(
        ["git", "diff", "--name-only", f"main..{run.branch}"],
        cwd=site.repo,
        capture_output=True,
        text=True,
        check=True,
    )
    assert changed.stdout.split() == ["feature1.py", "tests/test_t001_add.py"]


def test_a_setup_that_fails_stops_the_run_and_is_run_again_by_resume(tmp_path: Path) -> None:
    flag = tmp_path / "repo" / ".git" / "info" / "ready"
    site = sandboxed(tmp_path, light(f'setup = ["echo first", "test -e {flag}"]'))

    stopped = site.run(site.bundle(1), worker=[])

    assert stopped.code == 2
    assert stopped.requests == ()
    (stop,) = stopped.of("stop")
    assert stop["reason"] == "error"
    assert "setup command" in stop["detail"]
    assert "tilth resume" in stop["detail"]

    flag.touch()
    resumed = site.resume(worker=[solve(1), submit(1)], evaluator=[accept()])

    assert resumed.code == 0
    ran = [(e["subject"], e["exit_code"]) for e in resumed.of("hook_run") if e["hook"] == "setup"]
    assert [code for _, code in ran] == [0, 1, 0, 0]


def test_setup_that_is_done_is_not_run_again(tmp_path: Path) -> None:
    site = sandboxed(tmp_path, light('setup = "echo once"'))
    failed = site.run(
        site.bundle(1),
        worker=[solve(1), submit(1)],
        evaluator=[reject()],
        TILTH_MAX_EVALUATOR_CALLS_PER_TASK="1",
    )
    assert failed.code == 1

    resumed = site.resume(worker=[submit(1)], evaluator=[accept()])

    assert resumed.code == 0
    assert len([e for e in resumed.of("hook_run") if e["hook"] == "setup"]) == 1


def test_what_a_worker_leaves_in_its_home_does_not_reach_the_validators(tmp_path: Path) -> None:
    validator = "[tool.tilth.validators]\nhome = \"sh -c 'ls -A $HOME; test ! -e $HOME/planted'\"\n"
    site = sandboxed(tmp_path, {"pyproject.toml": "[tool.tilth]\ndefaults = false\n" + validator})

    run = site.run(
        site.bundle(1),
        worker=[bash("touch ~/planted && ls -A ~"), solve(1), submit(1)],
        evaluator=[accept()],
    )

    assert run.code == 0
    assert "planted" in results(run)[0]
    assert "planted" not in run.of("validator_run")[-1]["output"]


def test_off_is_said_loudly_and_recorded(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    site = sandboxed(tmp_path)

    run = site.run(
        site.bundle(1), worker=[solve(1), submit(1)], evaluator=[accept()], TILTH_SANDBOX="off"
    )

    assert run.code == 0
    assert run.of("session_start")[0]["sandbox"] == "off"
    assert "WARNING: no sandbox" in capfd.readouterr().err


def test_a_whole_run_behind_landlock(tmp_path: Path) -> None:
    private = tmp_path / "probe"
    private.mkdir()
    real_wall(SandboxChoice.LANDLOCK, private)
    site = sandboxed(tmp_path)

    run = site.run(
        site.bundle(1),
        worker=[solve(1), bash("python -m pytest -q tests; touch /usr/x"), submit(1)],
        evaluator=[accept()],
        TILTH_SANDBOX="landlock",
    )

    assert run.code == 0
    assert run.of("session_start")[0]["sandbox"] == "landlock"
    (said,) = results(run)
    assert "1 passed" in said
    assert "Permission denied" in said


def test_what_one_task_leaves_in_its_home_does_not_reach_the_next(tmp_path: Path) -> None:
    site = sandboxed(tmp_path, light())
    plant = "printf '[alias]\\n\\tst = !echo planted\\n' >> ~/.gitconfig; touch ~/left; ls -A ~"

    run = site.run(
        site.bundle(1, 2),
        worker=[
            bash(plant) + solve(1) + submit(1),
            bash("cat ~/.gitconfig; ls -A ~; git status --short") + solve(2) + submit(2),
        ],
        evaluator=[accept(), accept()],
    )

    assert run.code == 0
    first, second = results(run)
    assert "left" in first
    assert "left" not in second
    assert "planted" not in second
    assert "directory = *" in second


def test_lanes_stand_behind_the_wall_and_their_work_lands(tmp_path: Path) -> None:
    site = sandboxed(tmp_path, light())
    looks: list[str] = []

    def script(request: Request) -> Reply:
        if request.role == "worker":
            looks.extend(
                block["content"]
                for block in request.body["messages"][-1]["content"]
                if block["type"] == "tool_result"
            )
        first = request.role == "worker" and len(request.body["messages"]) == 1
        look = bash("touch /usr/x; ls -A ..") if first else Answer()
        return look + answer(request)

    with MessagesServer(script, at_once=True) as server:
        environ = site.environ(server.url, TILTH_JOBS="2")
        assert start(site.bundle(1, 2), site.repo, {}, new=True, environ=environ) == 0
    run = Run(site, 0, tuple(server.requests))
    assert run.of("session_start")[0]["sandbox"] == "bwrap"
    seen = [look.splitlines()[1:] for look in looks if "Read-only file system" in look]
    # Each sees its own worktree, and neither the other's nor anything else of the session.
    assert sorted(seen) == [["T-001"], ["T-002"]], looks
    assert run.subjects[-2:] == ["T-001: Add feature 1", "T-002: Add feature 2"]


def test_a_worktree_that_is_closed_to_its_owner_is_opened_again(tmp_path: Path) -> None:
    site = sandboxed(tmp_path, light())
    answers = [bash("chmod 000 .") + solve(1), bash("ls") + solve(1) + bash("chmod 0 ."), submit(1)]
    with MessagesServer(by_role(worker=answers, evaluator=[accept()])) as server:
        environ = {**site.environ(server.url), "HOME": str(tmp_path)}
        tilth = [
            sys.executable,
            "-m",
            "tilth",
            "run",
            str(site.bundle(1)),
            "--repo",
            str(site.repo),
        ]
        done = subprocess.run(
            [*AS_ANYBODY, *tilth], env=environ, capture_output=True, text=True, timeout=120
        )

    assert done.returncode == 0, done.stderr
    changed = git(site.repo, "diff", "--name-only", f"main..session/{site.session().name}")
    assert changed.split() == ["feature1.py", "tests/test_t001_add.py"]


def test_a_probe_of_the_evaluator_stands_behind_the_same_wall(tmp_path: Path) -> None:
    site = sandboxed(tmp_path, LIGHT_FILES)
    hidden = site.root / "home" / "secret.txt"
    hidden.parent.mkdir(exist_ok=True)
    hidden.write_text(SECRET)
    probe = (
        "import socket\n\n\n"
        f"def test_reads():\n    print(open({str(hidden)!r}).read())\n\n\n"
        "def test_fills():\n    open('big', 'wb').truncate(1 << 42)\n\n\n"
        "def test_calls():\n    socket.create_connection(('192.0.2.1', 80), timeout=5)\n"
    )
    run = site.run(
        site.bundle(1),
        worker=[solve(1), submit(1)],
        evaluator=[call("run_probe", test=probe), accept()],
    )
    assert run.code == 0
    (look,) = run.of("evaluator_tool")
    assert "3 failed" in look["content"]
    assert SECRET not in look["content"]
    assert "File too large" in look["content"]


def test_a_carried_file_is_read_only_to_the_worker(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    site.settings = {"TILTH_SANDBOX": "auto"}
    path = "src/pkg/_version.py"
    tries = bash(f"cat {path}; echo 'version = 2' > {path}; rm -f src/pkg/*.so")
    steps = [tries, write(path, "version = 3\n"), solve(1) + submit(1)]
    run = site.run(bundle(site), worker=steps, evaluator=[accept()])
    assert run.code == 0
    said = results(run)[0]
    assert "is given to you to be read" in results(run, "write_file")[0]
    assert "version = '1.2'" in said
    assert "Read-only file system" in said or "Permission denied" in said
    assert (run.session / "workspace/src/pkg/_version.py").read_text() == "version = '1.2'\n"
