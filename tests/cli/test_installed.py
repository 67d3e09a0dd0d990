"""Tilth as it is installed: from its wheel, in an empty environment, outside any checkout."""

from __future__ import annotations

import email
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.composite_action import Action
from support.flow_site import KEY, Site, accept, git, solve, submit
from support.installed import ROOT, Installed, build
from support.messages_api import MessagesServer, by_role

MOST_BYTES = 2_000_000
# What the program opens beside its modules.
CARRIED = (
    "tilth/demo/events.jsonl",
    "tilth/evalcheck/suite/",
    "tilth/prompts/",
    "tilth/show/viewer/page/",
    "tilth/py.typed",
)
QUICK = "defaults = false\n[validators]\nv = 'git --version'\n"
EXTRAS = {"landlock", "notify", "fleet", "otel", "dev"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed.make(tmp_path_factory.mktemp("installed"))


def tracked(*places: str) -> set[str]:
    """Name the files that git knows below some places of this checkout."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", *places]
    done = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in done.stdout.split("\0") if name and (ROOT / name).exists()}


def test_the_wheel_holds_the_whole_package_and_nothing_else(installed: Installed) -> None:
    names = set(zipfile.ZipFile(installed.wheel).namelist())
    own = {name for name in names if ".dist-info/" not in name}
    assert own == tracked("tilth")
    for place in CARRIED:
        assert any(name.startswith(place) for name in own), place
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert installed.wheel.stat().st_size < MOST_BYTES


def test_the_wheel_says_what_it_is(installed: Installed) -> None:
    wheel = zipfile.ZipFile(installed.wheel)
    (name,) = [name for name in wheel.namelist() if name.endswith("/METADATA")]
    about = email.message_from_bytes(wheel.read(name))
    assert set(about.get_all("Provides-Extra") or ()) >= EXTRAS
    assert about["Requires-Python"] == ">=3.11"
    assert about["License-Expression"] == "MIT"
    assert about["Keywords"]
    versions = [
        line.rpartition(" ")[2]
        for line in about.get_all("Classifier") or ()
        if re.search(r"Python :: 3\.\d+$", line)
    ]
    assert versions[0] == "3.11"


def test_the_sdist_can_be_built_and_tested_from(tmp_path: Path) -> None:
    made = build("sdist", tmp_path)
    with tarfile.open(made) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "Makefile", "constraints.txt"} <= names
    assert {"tilth/__init__.py", "tests/conftest.py", "docs/project.md"} <= names
    assert not any(name.startswith((".git/", ".venv/", "dist/")) for name in names)


def test_a_newcomer_sees_a_demo_opens_it_in_a_browser_and_can_prove_it(
    installed: Installed,
) -> None:
    shown = installed.run("tilth", "demo", "--fast", "--keep")
    assert shown.returncode == 0, shown.stderr
    assert "no key" in shown.stderr
    assert "all tasks are done" in shown.stdout
    assert [path.name for path in installed.home.iterdir()] == [".tilth"]
    [log] = installed.home.glob(".tilth/demo/*/sessions/*/events.jsonl")
    place = log.parents[2]
    assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{6}", place.name)
    assert f"~/.tilth/demo/{place.name}" in shown.stdout
    assert oct(log.stat().st_mode & 0o777) == "0o600"
    [replay] = re.findall(r"(?m)^  (\S+ .* replay \S+.*)$", shown.stdout)
    proven = subprocess.run(
        ["/bin/sh", "-c", replay],
        cwd=installed.root,
        env=installed.environ(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert proven.returncode == 0, proven.stderr
    assert "13/13 requests identical" in proven.stdout
    page = installed.root / "night.html"
    written = installed.run("tilth", "visualize", "--export", str(page), TILTH_HOME=str(place))
    assert written.returncode == 0, written.stderr
    assert "tests_pass_but_wrong" in page.read_text("utf-8")


def test_it_runs_the_code_of_the_wheel(installed: Installed) -> None:
    found = installed.run("python", "-c", "import tilth; print(tilth.__file__)")
    assert found.stdout.strip() == str(installed.packages / "tilth" / "__init__.py")


@pytest.fixture(scope="module")
def played(installed: Installed) -> Iterator[Action]:
    """Run the action's steps on a small repository, against a scripted endpoint."""
    site = Site.make(installed.root / "checkout", {"tilth.toml": QUICK})
    site.bundle(1).rename(site.repo / "bundle")
    script = by_role(worker=[solve(1) + submit(1)], evaluator=[accept()])
    with MessagesServer(script) as server:
        given = {
            "prd": "bundle",
            "api-key": KEY,
            "worker-model": "claude-sonnet-5-5",
            "base-url": server.url,
            "package": str(installed.wheel),
            "args": "--eval-threshold 0",
        }
        environ = installed.environ(PIP_NO_INDEX="1", TILTH_MUTATION_SECONDS="0")
        temp = installed.root / "runner"
        action = Action(ROOT / "action.yml", given, site.repo, temp, environ)
        assert action.run() == 0, action.log
        yield action


def test_the_action_runs_a_prd_and_says_how_it_ended(played: Action) -> None:
    said = {name: played.value(one["value"]) for name, one in played.document["outputs"].items()}
    assert said["exit-code"] == "0"
    assert said["branch"] == f"session/{said['session']}"
    assert "## What to look at first" in played.summary
    assert KEY not in played.log + played.summary


def test_the_action_keeps_report_viewer_and_work(played: Action, tmp_path: Path) -> None:
    kept = Path(played.outputs["keep"]["directory"])
    assert sorted(path.name for path in kept.iterdir()) == [
        "report.md",
        "session.bundle",
        "session.html",
    ]
    elsewhere = Site.make(tmp_path)
    git(elsewhere.repo, "fetch", "--quiet", str(played.workspace), "main")
    branch = played.outputs["keep"]["branch"]
    git(elsewhere.repo, "fetch", "--quiet", str(kept / "session.bundle"), f"{branch}:night")
    assert git(elsewhere.repo, "log", "-1", "--format=%s", "night") == "T-001: Add feature 1"


def test_the_action_ends_as_a_refused_run_ends(played: Action, tmp_path: Path) -> None:
    given = {**played.given, "prd": "nowhere; exit 0"}
    runner = tmp_path / "runner"
    runner.mkdir()
    # A home that was kept: what another night has made there is not this one's.
    (runner / "tilth").symlink_to(played.temp / "tilth")
    again = Action(played.path, given, played.workspace, runner, played.environ)
    assert again.run() == 2, again.log
    assert again.outputs["run"] == {"exit-code": "2", "session": ""}
    assert "session" not in again.outputs["keep"]


def test_the_actions_foreign_steps_are_pinned_to_a_version(played: Action) -> None:
    used = [step["uses"] for step in played.document["runs"]["steps"] if "uses" in step]
    assert used
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", name) for name in used)


def test_the_image_runs_as_a_user_and_holds_what_a_run_needs() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
    steps = [line.split() for line in lines if line and not line.startswith("#")]
    assert {step[0] for step in steps} == {
        *("FROM", "RUN", "COPY", "USER", "ENV", "WORKDIR", "ENTRYPOINT", "CMD")
    }
    assert [step[1] for step in steps if step[0] == "USER"] == ["1000"]
    installs = next(line for line in lines if "apt-get install" in line)
    assert "bubblewrap" in installs
    assert "git" in installs
    for step in steps:
        if step[0] == "COPY":
            assert all((ROOT / name).exists() for name in step[1:-1])
