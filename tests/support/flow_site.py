"""A building site for flow tests: a real repository, a real PRD, a scripted endpoint, one run.

Everything is real but the model: git, ruff, pytest, the SDK, the files. What the endpoint was sent,
what the log says and what git holds is what a test looks at.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.commands import resume, start
from support.messages_api import Answer, MessagesServer, Reply, Request, by_role, call
from support.repo_copy import lay_out
from support.warm_start import with_warm_gate

KEY = "sk-test-0123456789abcdef"


def task(number: int, **changes: Any) -> dict[str, Any]:
    """Give one task of a PRD."""
    return {
        "id": f"T-{number:03d}",
        "title": f"Add feature {number}",
        "description": f"The module feature{number} needs a function that adds {number}.",
        "acceptance_criteria": [f"add{number}(x) gives x + {number}"],
        **changes,
    }


def seed_test(number: int) -> str:
    """Give the seed test of `task(number)`."""
    return (
        f"from feature{number} import add{number}\n\n\n"
        f"def test_adds():\n    assert add{number}(1) == {1 + number}\n"
    )


def solution(number: int) -> str:
    """Give a module that meets `task(number)`."""
    return f"def add{number}(x):\n    return x + {number}\n"


def write(path: str, content: str) -> Answer:
    return call("write_file", path=path, content=content)


def solve(number: int) -> Answer:
    return write(f"feature{number}.py", solution(number))


def submit(number: int, **changes: Any) -> Answer:
    """Hand in `task(number)`."""
    case = {
        "summary": f"Added add{number}.",
        "ac_coverage": [{"criterion": "1", "addressed_by": f"feature{number}.py:add{number}"}],
        **changes,
    }
    return call("submit_case", **case)


def block(reason: str, **more: Any) -> Answer:
    """Raise a blocker after a try, so that it is put to the evaluator."""
    tried = call("bash", command="python -m pytest -q tests | tail -1")
    return tried + call("raise_blocker", reason=reason, **more)


def accept(**changes: Any) -> Answer:
    """Accept, and settle whatever was open; ids that nobody knows mean nothing."""
    verdict = {
        "verdict": "accept",
        "rejection_category": None,
        "concern": "Sound.",
        "resolved": [f"C{number}" for number in range(1, 10)],
        **changes,
    }
    return call("submit_verdict", **verdict)


def reject(category: str = "acceptance_gap", **changes: Any) -> Answer:
    verdict = {
        "verdict": "reject",
        "rejection_category": category,
        "concern": "Negative numbers are not handled.",
        "evidence": ["feature1.py:add1"],
        "next_step": "Handle negative numbers.",
        **changes,
    }
    return call("submit_verdict", **verdict)


def git(repo: Path, *args: str) -> str:
    """Ask git as a user would."""
    done = subprocess.run(
        ["git", *args], cwd=repo, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.strip()


def _commit_first(repo: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    git(repo, "init", "--quiet", "--initial-branch=main")
    git(repo, "add", "--all")
    who = ("-c", "user.name=A User", "-c", "user.email=user@example.org")
    git(repo, *who, "commit", "--quiet", "--message=first")


@dataclass
class Site:
    """Hold one repository and the sessions that were run on it."""

    root: Path
    settings: dict[str, str] = field(default_factory=dict)
    sessions_dir: Path | None = None

    @classmethod
    def make(cls, root: Path, files: Mapping[str, str] | None = None) -> Site:
        site = cls(root)
        files = {"README.md": "# Sample\n", **(files or {})}
        lay_out(site.repo, lambda folder: _commit_first(folder, files), *files.items())
        return site

    @property
    def repo(self) -> Path:
        return self.root / "repo"

    @property
    def sessions(self) -> Path:
        return self.sessions_dir or self.root / "home" / "sessions"

    def bundle(self, *numbers: int, tasks: list[dict[str, Any]] | None = None) -> Path:
        """Write a PRD for the numbered tasks, with their seed tests beside it."""
        folder = self.root / "bundle"
        (folder / "tests").mkdir(parents=True, exist_ok=True)
        plan = tasks if tasks is not None else [task(number) for number in numbers]
        (folder / "prd.json").write_text(json.dumps(plan), encoding="utf-8")
        for number in numbers:
            name = f"test_t{number:03d}_add.py"
            (folder / "tests" / name).write_text(seed_test(number), encoding="utf-8")
        return folder

    def environ(self, url: str, **settings: str) -> dict[str, str]:
        environ = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "TILTH_HOME": str(self.root / "home"),
            "TILTH_API_KEY": KEY,
            "TILTH_BASE_URL": url,
            "TILTH_WORKER_MODEL": "claude-sonnet-5-5",
            "TILTH_SANDBOX": "off",
            # A gate that hangs is told as that, long before the test itself would be ended.
            "TILTH_VALIDATOR_TIMEOUT_SECONDS": "90",
            # Mutants take time; the tests about them ask for it.
            "TILTH_MUTATION_SECONDS": "0",
            **self.settings,
            **settings,
        }
        return with_warm_gate(environ)

    def run(
        self,
        target: Path,
        *,
        worker: Iterable[Reply],
        evaluator: Iterable[Reply] = (),
        flags: Mapping[str, object] | None = None,
        renumber: bool = False,
        **settings: str,
    ) -> Run:
        """Run a target against a scripted endpoint and give what came of it."""
        with MessagesServer(by_role(worker=worker, evaluator=evaluator)) as server:
            environ = self.environ(server.url, **settings)
            how = {"new": True, "renumber": renumber, "environ": environ}
            code = start(target, self.repo, flags or {}, **how)
        return Run(self, code, tuple(server.requests))

    def resume(
        self,
        session: str | None = None,
        *,
        worker: Iterable[Reply] = (),
        evaluator: Iterable[Reply] = (),
        flags: Mapping[str, object] | None = None,
        fresh: bool = False,
        server: MessagesServer | None = None,
        **settings: str,
    ) -> Run:
        """Resume a session against a scripted endpoint, the same one if it is given."""
        with MessagesServer(by_role(worker=worker, evaluator=evaluator)) as own:
            environ = self.environ((server or own).url, **settings)
            code = resume(session, flags or {}, fresh=fresh, environ=environ)
        return Run(self, code, tuple(own.requests))

    def session(self) -> Path:
        """Give the directory of the latest session; of two of one second, the one made later."""
        made = (path for path in self.sessions.iterdir() if path.name[0] != ".")
        return max(made, key=lambda path: (path.name[:15], _made_at(path / "seed-tests")))


def _made_at(place: Path) -> int:
    return place.stat().st_ctime_ns if place.exists() else 0


@dataclass(frozen=True)
class Run:
    """Hold what one run left behind."""

    site: Site
    code: int
    requests: tuple[Request, ...]

    @property
    def session(self) -> Path:
        return self.site.session()

    @property
    def events(self) -> list[dict[str, Any]]:
        return read_lines(self.session / "events.jsonl")

    def of(self, *types: str) -> list[dict[str, Any]]:
        """Give the payloads of some types of events."""
        return [event["payload"] for event in self.events if event["type"] in types]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    def ledger(self, number: int) -> list[dict[str, Any]]:
        return read_lines(self.session / "ledger" / f"T-{number:03d}.jsonl")

    @property
    def tasks(self) -> dict[str, dict[str, Any]]:
        plan = json.loads((self.session / "prd.json").read_text(encoding="utf-8"))
        return {entry["id"]: entry for entry in plan["tasks"]}

    @property
    def checkpoint(self) -> dict[str, Any]:
        return json.loads((self.session / "checkpoint.json").read_text(encoding="utf-8"))

    @property
    def branch(self) -> str:
        return f"session/{self.session.name}"

    @property
    def subjects(self) -> list[str]:
        """Give the subjects of the session's commits, oldest first."""
        log = git(self.site.repo, "log", "--reverse", "--format=%s", f"main..{self.branch}")
        return log.splitlines()

    def asked(self, role: str) -> list[Request]:
        return [request for request in self.requests if request.role == role]

    def last_user_text(self, role: str, index: int) -> str:
        """Give the text of the last user message of a role's nth request."""
        content = self.asked(role)[index].body["messages"][-1]["content"]
        return "\n".join(str(block.get("text") or block.get("content")) for block in content)


def read_lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
