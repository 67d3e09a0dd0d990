"""A hostile repository: nothing hidden is shown because one of its files says so."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from support.flow_site import Run, accept, git, solve, submit
from support.hostile_world import REACHED, WORD, World, bash, open_world
from support.light_gate import LIGHT

from tilth.base.errors import UserError
from tilth.config.secrets import hidden
from tilth.git.source import open_source

TOKEN = "tok-9f8e7d6c5b4a39281706"
HEADER = "aGlkZGVuOmhlYWRlci12YWx1ZQ=="
HELPERS = "inline-5b4a39281706-word"
COOKIE = "baked-0a1b2c3d4e5f-word"


def venv(world: World, home: Path, leads_to: Path | None = None) -> Path:
    place = world.site.repo / ".venv"
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "python").symlink_to(leads_to or sys.executable)
    (place / "pyvenv.cfg").write_text(f"home = {home}\nversion = 3.11.0\n")
    return place


def a_base_in_the_home(world: World) -> None:
    venv(world, world.home / ".ssh" / "bin")


def a_base_in_tilths_home(world: World) -> None:
    venv(world, world.home / ".tilth" / "bin")


def a_python_that_leads_into_the_home(world: World) -> None:
    program = world.home / ".ssh" / "bin" / "python"
    program.parent.mkdir()
    program.symlink_to(sys.executable)
    venv(world, Path("/usr/bin"), program)
    program.unlink()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)


def an_environment_that_is_a_link(world: World) -> None:
    (world.home / "bin").mkdir()
    (world.home / "bin" / "python").symlink_to(sys.executable)
    (world.home / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (world.site.repo / ".venv").symlink_to(world.home)


def an_environment_that_is_tracked(world: World) -> None:
    a_base_in_the_home(world)
    commit(world.site.repo, ".venv")


def object_stores_in_the_home(world: World) -> None:
    info = world.site.repo / ".git" / "objects" / "info"
    lines = [world.home / ".ssh", world.home / ".tilth", world.home]
    (info / "alternates").write_text("".join(f"{line}\n" for line in lines))


def parts_of_git_that_are_links(world: World) -> None:
    git_dir = world.site.repo / ".git"
    (git_dir / "info" / "exclude").unlink()
    (git_dir / "info" / "exclude").symlink_to(world.home / ".netrc")
    (git_dir / "reftable").symlink_to(world.home / ".ssh")


def a_work_tree_and_includes_elsewhere(world: World) -> None:
    git(world.site.repo, "config", "core.worktree", str(world.home))
    git(world.site.repo, "config", "include.path", str(world.home / ".netrc"))


ENVIRONMENTS: tuple[Callable[[World], None], ...] = (
    a_base_in_the_home,
    a_base_in_tilths_home,
    a_python_that_leads_into_the_home,
    an_environment_that_is_a_link,
    an_environment_that_is_tracked,
)
PLANTS = (
    *ENVIRONMENTS,
    object_stores_in_the_home,
    parts_of_git_that_are_links,
    a_work_tree_and_includes_elsewhere,
)
LOOK = (
    "cat @home@/.ssh/id_rsa @home@/.netrc @tilth@/.env @sessions@/@other@/events.jsonl; "
    "grep -rs '@word@' @home@; cat .git $(git rev-parse --git-common-dir)/info/exclude"
)


def commit(repo: Path, *paths: str) -> None:
    git(repo, "add", "--force", "--", *paths)
    who = ("-c", "user.name=A User", "-c", "user.email=user@example.org")
    git(repo, *who, "commit", "--quiet", "--message=more")


def with_light_gate(world: World) -> None:
    """Ask next to nothing of the gate: what the worker sees, or is told of, is the subject."""
    (world.site.repo / "pyproject.toml").write_text(LIGHT)
    commit(world.site.repo, "pyproject.toml")


def play(world: World, line: str, **settings: str) -> Run:
    calls = world.filled(bash(line)) + solve(1) + submit(1)
    return world.site.run(world.site.bundle(1), worker=[calls], evaluator=[accept()], **settings)


def told(run: Run) -> str:
    """Give everything that was recorded and sent."""
    sent = "\n".join(request.raw.decode() for request in run.requests)
    return sent + (run.session / "events.jsonl").read_text()


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_nothing_hidden_is_shown_because_of(plant: Callable[[World], None]) -> None:
    with open_world("planted") as world:
        if plant not in ENVIRONMENTS:
            with_light_gate(world)
        plant(world)
        run = play(world, LOOK)

        (looked,) = [item for item in run.of("tool_result") if item["name"] == "bash"]
        # The command's own text is quoted nowhere in its result.
        assert WORD not in looked["content"]
        assert run.code == 0


def test_an_environment_that_is_passed_over_is_named_with_what_to_do(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with open_world("said") as world:
        with_light_gate(world)
        a_base_in_the_home(world)
        play(world, "true")
        python = world.site.repo / ".venv" / "bin" / "python"

    said = capfd.readouterr().err
    assert f"{python} is not used: its interpreter stands in a hidden place" in said
    assert f"TILTH_PYTHON={python}" in said


def test_an_environment_the_user_names_is_used_though_its_base_is_hidden() -> None:
    with open_world("named") as world:
        place = world.site.repo / ".venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
        (packages,) = place.glob("lib/python*/site-packages")
        (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
        line = f"{place}/bin/python -c 'import sys; print(sys.prefix)'; {LOOK}"

        run = world.site.run(
            world.site.bundle(1),
            worker=[world.filled(bash(line)) + solve(1) + submit(1)],
            evaluator=[accept()],
            TILTH_PYTHON=str(place / "bin" / "python"),
        )

        (looked,) = [item for item in run.of("tool_result") if item["name"] == "bash"]
        assert looked["content"].startswith(f"{place}\n")
        assert WORD not in looked["content"]


SETUP = """
[tool.tilth]
defaults = false
setup = [
    "cat @home@/.ssh/id_rsa @tilth@/.env; env; true",
    "python -c \\"import socket as s; print(s.create_connection(('localhost', @port@)).recv(9))\\"",
]

[tool.tilth.validators.parses]
command = "git --version"
"""


def test_setup_reads_nothing_hidden_reaches_nothing_and_is_announced(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with open_world("setup") as world:
        text = SETUP
        for name, value in world.names().items():
            text = text.replace(f"@{name}@", value)
        (world.site.repo / "pyproject.toml").write_text(text)
        commit(world.site.repo, "pyproject.toml")

        run = play(world, "true")

        assert run.code == 2
        read, connected = [item for item in run.of("hook_run") if item["hook"] == "setup"]
        assert WORD not in read["output"]
        assert REACHED[:9] not in connected["output"]
        assert world.reached == []
        said = capfd.readouterr().err
        assert "asks, without network: cat " in said
        (stop,) = run.of("stop")
        assert "TILTH_SANDBOX_NETWORK=true" in stop["detail"]

        allowed = world.site.resume(
            worker=[solve(1) + submit(1)], evaluator=[accept()], TILTH_SANDBOX_NETWORK="true"
        )
        assert allowed.code == 0
        assert world.reached == ["tcp"]


def test_no_credential_of_the_repositorys_configuration_is_seen_or_recorded() -> None:
    with open_world("credentials") as world:
        with_light_gate(world)
        repo = world.site.repo
        git(repo, "config", "remote.origin.url", f"https://x-access-token:{TOKEN}@example.org/a")
        git(
            repo,
            "config",
            "http.https://example.org/.extraheader",
            f"AUTHORIZATION: basic {HEADER}",
        )
        git(repo, "config", "credential.helper", f"!f() {{ echo password={HELPERS}; }}; f")
        git(repo, "config", "http.cookie", f"sid={COOKIE}")
        (repo / ".git" / "more").write_text(f"[sendemail]\n\tsmtppass = {TOKEN[::-1]}\n")
        git(repo, "config", "include.path", "more")
        (repo / ".git" / "git-crypt").mkdir()
        (repo / ".git" / "git-crypt" / "key").write_text(WORD)
        printed_secrets = (TOKEN, HEADER, HELPERS, COOKIE)
        broken = [f"{secret[:9]}''{secret[9:]}" for secret in printed_secrets]
        line = (
            "cat $(git rev-parse --git-common-dir)/config; git config --list; git status --short; "
            f"git log -1 --format=%s; grep -rs '{WORD}' $(git rev-parse --git-common-dir); "
            f"echo {' '.join(broken)}"
        )

        run = play(world, line)

        (looked,) = [item for item in run.of("tool_result") if item["name"] == "bash"]
        seen, _, printed = looked["content"].rpartition("seed: 1 task(s), 1 test(s)")
        assert "repositoryformatversion" in seen
        assert "example.org" not in seen
        assert WORD not in looked["content"]
        # What a worker comes by in another way is hidden from the record all the same.
        assert printed.strip() == " ".join(hidden(secret) for secret in printed_secrets)
        everything = told(run)
        for secret in (*printed_secrets, TOKEN[::-1]):
            assert secret not in everything


def foreign_file(world: World, evil: Path) -> None:
    evil.mkdir()
    (evil / ".git").write_text(f"gitdir: {world.site.repo}/.git\n")


def foreign_link(world: World, evil: Path) -> None:
    evil.mkdir()
    (evil / ".git").symlink_to(world.site.repo / ".git")


def foreign_common(world: World, evil: Path) -> None:
    (evil / ".git").mkdir(parents=True)
    (evil / ".git" / "commondir").write_text(f"{world.site.repo}/.git\n")
    (evil / ".git" / "HEAD").write_text("ref: refs/heads/main\n")


def foreign_registration(world: World, evil: Path) -> None:
    git(world.site.repo, "worktree", "add", "--quiet", str(world.root / "honest"), "-b", "other")
    evil.mkdir()
    (evil / ".git").write_bytes((world.root / "honest" / ".git").read_bytes())


@pytest.mark.parametrize(
    "pretend", [foreign_file, foreign_link, foreign_common, foreign_registration]
)
def test_no_file_turns_another_repository_into_the_one_to_work_on(
    pretend: Callable[[World, Path], None],
) -> None:
    with open_world("foreign") as world:
        evil = world.root / "evil"
        pretend(world, evil)

        with pytest.raises(UserError, match=r"does not name .* as its checkout"):
            open_source(evil)


def test_what_is_rightly_linked_can_be_worked_on() -> None:
    with open_world("linked") as world:
        git(
            world.site.repo, "worktree", "add", "--quiet", str(world.root / "honest"), "-b", "other"
        )
        assert open_source(world.root / "honest").git_dir == world.site.repo / ".git"

        apart = world.root / "apart"
        git(
            world.root,
            "clone",
            "--quiet",
            f"--separate-git-dir={world.root}/store",
            str(world.site.repo),
            str(apart),
        )
        with pytest.raises(UserError, match=r"config core\.worktree"):
            open_source(apart)
        git(apart, "config", "core.worktree", str(apart))
        assert open_source(apart).root == apart
