"""Sessions to take from: run once, then copied with their repository for every test."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from support.flow_site import Run, Site, accept, git, solve, submit
from support.light_gate import LIGHT
from tilth.session.proposal import Wishes
from tilth.session.take import TakeOptions
from tilth.show.take import take

NOWHERE = "http://127.0.0.1:9"


def bring(site: Site, *, as_json: bool = False, **options: Any) -> int:
    """Do what `tilth take` does."""
    wishes = {name: options.pop(name) for name in ("only", "clean", "squash") if name in options}
    environ = site.environ(NOWHERE, HOME=str(site.root), **options.pop("environ", {}))
    return take(
        options.pop("session", None),
        TakeOptions(wishes=Wishes(**wishes), **options),
        as_json=as_json,
        environ=environ,
    )


def subjects(site: Site, span: str) -> list[str]:
    return git(site.repo, "log", "--reverse", "--format=%s", span).splitlines()


def files(site: Site, rev: str = "main") -> set[str]:
    return set(git(site.repo, "ls-tree", "-r", "--name-only", rev).splitlines())


def commit(site: Site, name: str, text: str) -> str:
    (site.repo / name).write_text(text, encoding="utf-8")
    git(site.repo, "add", "--all")
    who = ("-c", "user.name=A User", "-c", "user.email=user@example.org")
    git(site.repo, *who, "commit", "--quiet", f"--message={name}")
    return git(site.repo, "rev-parse", "HEAD")


def taken(run: Run) -> list[dict[str, Any]]:
    """Give what the log says was taken."""
    return run.of("taken")


def state(site: Site) -> tuple[str, str, str]:
    """Give what must not change when a take is refused."""
    refs = git(site.repo, "for-each-ref", "--format=%(refname) %(objectname)")
    return refs, git(site.repo, "status", "--porcelain"), git(site.repo, "rev-parse", "HEAD")


def make(root: Path) -> Site:
    return Site.make(root, {"pyproject.toml": LIGHT, ".gitignore": "seen.txt\n"})


def run_whole(site: Site) -> None:
    """Run a session of which both tasks are accepted."""
    site.run(
        site.bundle(1, 2),
        worker=[solve(1) + submit(1), solve(2) + submit(2)],
        evaluator=[accept(), accept()],
    )


def run_partly(site: Site) -> None:
    """Run a session whose second task of three failed and was passed over."""
    site.run(
        site.bundle(1, 2, 3),
        worker=[solve(1) + submit(1), solve(2), solve(3) + submit(3)],
        evaluator=[accept(), accept()],
        TILTH_MAX_ITERATIONS_PER_TASK="1",
        TILTH_ON_EXHAUSTED="skip",
    )


def copied(original: Site, root: Path) -> Run:
    """Copy a repository with its session; only the worktree stays where it was."""
    shutil.copytree(original.root, root, dirs_exist_ok=True, symlinks=True)
    site = Site(root)
    path = site.session() / "checkpoint.json"
    told = path.read_text(encoding="utf-8").replace(str(original.repo), str(site.repo))
    path.write_text(told, encoding="utf-8")
    shutil.rmtree(site.repo / ".git" / "worktrees")
    return Run(site, 0, ())
