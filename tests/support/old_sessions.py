"""Sessions that earlier versions left behind: kept below `fixtures/old_sessions`, laid out anew.

A kept session is what a machine would have: the session's directory, and every object and ref of
the repository it worked on. Paths of the machine it was recorded on stand as placeholders. This
file owns how a kept session is laid out, knows nothing of Tilth's own modules, and never changes
what is kept.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import repo_copy
from support.warm_start import warm_tilth, with_warm_gate

KEPT = Path(__file__).parents[1] / "fixtures" / "old_sessions"
NAMES = tuple(sorted(path.name for path in KEPT.iterdir())) if KEPT.is_dir() else ()
NOWHERE = "http://127.0.0.1:1"
# Python files carry it, so that neither pytest nor ruff takes them for files of this project.
SUFFIX = ".kept"
KEY = "sk-test-0123456789abcdef"
WHO = {
    f"GIT_{role}_{what}": said
    for role in ("AUTHOR", "COMMITTER")
    for what, said in (("NAME", "A User"), ("EMAIL", "user@example.org"))
}


@dataclass(frozen=True)
class OldSession:
    """Hold one session on a machine in small, and run the command there."""

    root: Path
    home: Path
    id: str
    endpoint: str

    @property
    def repo(self) -> Path:
        return self.root / "repo"

    @property
    def directory(self) -> Path:
        return self.home / "sessions" / self.id

    @property
    def places(self) -> dict[str, str]:
        """Give what differs by machine and the placeholder for it, inner ones first."""
        return {
            str(self.home / "sessions"): "@SESSIONS@",
            str(self.home): "@HOME@",
            str(self.repo): "@SOURCE@",
            str(self.root): "@ROOT@",
            self.endpoint: "@ENDPOINT@",
        }

    @property
    def branch(self) -> str:
        return f"session/{self.id}"

    @property
    def events(self) -> list[dict[str, Any]]:
        text = (self.directory / "events.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    @property
    def status(self) -> str:
        return str(self._read("checkpoint.json")["status"])

    @property
    def tasks(self) -> dict[str, str]:
        """Give each task's state."""
        return {task["id"]: task["status"] for task in self._read("prd.json")["tasks"]}

    @property
    def subjects(self) -> list[str]:
        """Give the subjects of the session's commits, oldest first."""
        span = f"main..{self.branch}"
        return git(self.repo, "log", "--reverse", "--format=%s", span).splitlines()

    def environ(self, **settings: str) -> dict[str, str]:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root),
            "TILTH_HOME": str(self.home),
            "TILTH_API_KEY": KEY,
            "TILTH_BASE_URL": self.endpoint,
            "TILTH_WORKER_MODEL": "claude-sonnet-5-5",
            "TILTH_SANDBOX": "off",
            **settings,
        }
        return with_warm_gate(environ)

    def tilth(self, *args: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run the installed command, where nobody can be asked."""
        return subprocess.run(
            [str(warm_tilth()), *args],
            env=self.environ(**settings),
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def _read(self, name: str) -> dict[str, Any]:
        return json.loads((self.directory / name).read_text(encoding="utf-8"))


def git(repo: Path, *args: str, stdin: bytes | None = None) -> str:
    """Ask git, with nobody's configuration."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    own = {"GIT_CONFIG_NOSYSTEM": "1", "HOME": str(repo.parent), **WHO}
    done = subprocess.run(
        ["git", *args], cwd=repo, env=clean | own, input=stdin, capture_output=True, timeout=120
    )
    if done.returncode:
        raise RuntimeError(f"git {' '.join(args)}: {done.stderr.decode()}")
    return done.stdout.decode().strip("\n")


def lay_out(
    name: str, root: Path, *, endpoint: str = NOWHERE, home: Path | None = None
) -> OldSession:
    """Lay a kept session out below `root`, as if it had been recorded there."""
    kept = KEPT / name
    facts = json.loads((kept / "kept.json").read_text(encoding="utf-8"))
    old = OldSession(root, home or root / "home", facts["session"], endpoint)
    repo_copy.lay_out(old.repo, lambda folder: _unpack(kept, folder), name)
    _lay_out_files(kept / "session", old)
    if facts["worktree"]:
        workspace = old.directory / "workspace"
        git(old.repo, "worktree", "add", "--quiet", str(workspace), old.branch)
        workspace.chmod(0o700)
        if (kept / "uncommitted").is_dir():
            _copy(kept / "uncommitted", workspace)
    return old


def _unpack(kept: Path, repo: Path) -> None:
    git(repo, "init", "--quiet", "--initial-branch=main")
    git(repo, "unpack-objects", "-q", stdin=(kept / "objects.pack").read_bytes())
    refs = (kept / "refs").read_text(encoding="utf-8").splitlines()
    moves = "".join(f"create {ref} {commit}\n" for commit, ref in map(str.split, refs))
    git(repo, "update-ref", "--stdin", stdin=moves.encode())
    git(repo, "reset", "--quiet", "--hard", "main")


def _lay_out_files(kept: Path, old: OldSession) -> None:
    _copy(kept, old.directory)
    for path in [old.directory, *old.directory.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
        if path.is_file():
            replace(path, {token: text for text, token in old.places.items()})


def _copy(kept: Path, to: Path) -> None:
    shutil.copytree(kept, to, dirs_exist_ok=True)
    for path in to.rglob(f"*{SUFFIX}"):
        path.rename(path.with_name(path.name.removesuffix(SUFFIX)))
    for packed in to.glob("*.gz"):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        packed.unlink()
    # git keeps no empty directory
    for empty in to.rglob(".empty"):
        empty.unlink()


def replace(path: Path, texts: dict[str, str]) -> None:
    """Replace texts in a file, in the order given."""
    content = path.read_bytes()
    for old, new in texts.items():
        content = content.replace(old.encode(), new.encode())
    path.write_bytes(content)
