"""Bringing accepted work home and further: pushing, pull requests, and what neither may do."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from support.flow_site import Run, Site, git
from support.take_site import bring, copied, make, run_whole, state, taken

from tilth.base.errors import UserError


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Run one session whose tasks are all accepted: every test takes from a copy of its own."""
    made = make(tmp_path_factory.mktemp("whole"))
    run_whole(made)
    return made


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Give a place that is made by whoever fills it."""
    return Site(tmp_path / "site")


@pytest.fixture
def whole(site: Site, original: Site) -> Run:
    return copied(original, site.root)


def test_hooks_of_the_repository_are_not_run(site: Site, whole: Run) -> None:
    for name in ("post-checkout", "post-merge", "reference-transaction", "pre-push"):
        hook = site.repo / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {site.root}/ran-{name}\n", encoding="utf-8")
        hook.chmod(0o755)
    git(site.root, "init", "--quiet", "--bare", "far.git")
    git(site.repo, "remote", "add", "origin", str(site.root / "far.git"))
    for path in site.root.glob("ran-*"):
        path.unlink()
    assert bring(site, push="origin") == 0
    assert list(site.root.glob("ran-*")) == []


def test_push_pushes_the_branch(site: Site, whole: Run, capsys: pytest.CaptureFixture[str]) -> None:
    git(site.root, "init", "--quiet", "--bare", "far.git")
    git(site.repo, "remote", "add", "origin", str(site.root / "far.git"))
    assert bring(site, push="origin") == 0
    assert git(site.root / "far.git", "rev-parse", "main") == git(site.repo, "rev-parse", "main")
    assert "pushed to origin" in capsys.readouterr().out
    assert taken(whole)[0]["pushed"] == "origin"


def test_an_unknown_remote_is_refused_before_anything_is_done(site: Site, whole: Run) -> None:
    before = state(site)
    with pytest.raises(UserError, match=r"no remote 'origin' .* \(known: none\)"):
        bring(site, push="origin")
    assert state(site) == before


def test_a_remote_that_refuses_leaves_everything_as_it_was(
    site: Site, whole: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    git(site.root, "init", "--quiet", "--bare", "far.git")
    hook = site.root / "far.git" / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    git(site.repo, "remote", "add", "origin", str(site.root / "far.git"))
    before = state(site)
    capsys.readouterr()
    assert bring(site, push="origin") == 1
    assert state(site) == before
    assert taken(whole) == []
    line = capsys.readouterr().err.splitlines()[-1]
    assert "the remote refused it" in line
    assert "pre-receive hook declined" in line


def fake_gh(site: Site, code: int = 0, said: str = "https://example.org/pull/1") -> dict[str, str]:
    """Put a `gh` on PATH that keeps what it was given."""
    folder = site.root / "bin"
    folder.mkdir()
    program = folder / "gh"
    program.write_text(
        f'#!/bin/sh\necho "$@" > {site.root}/gh-args\ncat > {site.root}/gh-stdin\n'
        f"env > {site.root}/gh-env\necho no such thing >&2\n"
        f"echo {said}\nexit {code}\n",
        encoding="utf-8",
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def test_a_pull_request_carries_the_report(
    site: Site, whole: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    git(site.root, "init", "--quiet", "--bare", "far.git")
    git(site.repo, "remote", "add", "origin", str(site.root / "far.git"))
    git(site.repo, "branch", "feature")
    (whole.session / "report.md").write_text("# The night\n", encoding="utf-8")
    environ = fake_gh(site)
    assert bring(site, into="feature", push="origin", pull_request=True, environ=environ) == 0
    assert "--head feature" in (site.root / "gh-args").read_text(encoding="utf-8")
    assert (site.root / "gh-stdin").read_text(encoding="utf-8") == "# The night\n"
    assert "TILTH_" not in (site.root / "gh-env").read_text(encoding="utf-8")
    assert "https://example.org/pull/1" in capsys.readouterr().out


def test_a_pull_request_publishes_no_key_that_is_known_by_now(
    site: Site, whole: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    key, token = "Kp3mVt6yHc1xFw5rJd8q", "token-of-a-remote-1234"
    git(site.root, "init", "--quiet", "--bare", "far.git")
    git(site.repo, "remote", "add", "origin", str(site.root / "far.git"))
    git(site.repo, "remote", "add", "other", f"https://u:{token}@example.org/x.git")
    (site.root / "home" / "evaluators.toml").write_text(
        '[strict]\nmodel = "m"\nbase_url = "http://127.0.0.1:9"\napi_key_env = "STRICT_KEY"\n'
    )
    (whole.session / "report.md").write_text(f"# {key} and {token}\n", encoding="utf-8")
    plan = whole.session / "prd.json"
    told = json.loads(plan.read_text("utf-8")) | {"feature": f"Ask with {key}"}
    plan.write_text(json.dumps(told), encoding="utf-8")
    environ = {**fake_gh(site, said=f"near {key}"), "STRICT_KEY": key}
    capsys.readouterr()
    assert bring(site, push="origin", pull_request=True, environ=environ) == 0
    assert (site.root / "gh-stdin").read_text(encoding="utf-8") == (
        "# [hidden: 20 characters] and [hidden: 22 characters]\n"
    )
    assert "Ask with [hidden: 20 characters]" in (site.root / "gh-args").read_text("utf-8")
    assert "pull request: near [hidden: 20 characters]" in capsys.readouterr().out


def test_a_pull_request_that_fails_says_that_the_branch_was_taken(
    site: Site, whole: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    git(site.root, "init", "--quiet", "--bare", "far.git")
    git(site.repo, "remote", "add", "origin", str(site.root / "far.git"))
    environ = fake_gh(site, code=1)
    capsys.readouterr()
    assert bring(site, push="origin", pull_request=True, environ=environ) == 1
    assert "taken and pushed all the same" in capsys.readouterr().err
    assert len(taken(whole)) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pull_request": True}, "--push REMOTE"),
        ({"pull_request": True, "push": "origin", "environ": {"PATH": "/nonexistent"}}, "gh is"),
    ],
)
def test_a_pull_request_that_cannot_be_is_refused_first(
    site: Site, whole: Run, options: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(site.repo, "remote", "add", "origin", str(site.root / "far.git"))
    if "environ" in options:
        folder = site.root / "only-git"
        folder.mkdir()
        (folder / "git").symlink_to("/usr/bin/git")
        options["environ"] = {"PATH": str(folder)}
    before = state(site)
    with pytest.raises(UserError, match=said):
        bring(site, **options)
    assert state(site) == before
