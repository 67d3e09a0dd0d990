"""Interviews for tests: a scripted seeder over the real SDK, and a scripted person."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from support.commands import start
from support.flow_site import Run, Site, git, seed_test, task
from support.messages_api import Answer, MessagesServer, Reply, by_role, call
from tilth.base.clock import SystemClock
from tilth.config.secrets import Mask
from tilth.config.settings import load
from tilth.interview.approval import Approval, SeedView, WentBack
from tilth.interview.prepare import PrepareOptions, go_on, prepare
from tilth.interview.question import Question
from tilth.session.session import Session


def read(path: str) -> Answer:
    return call("read_file", path=path)


def ask(question: str, *options: str) -> Answer:
    return call("ask_user", question=question, options=list(options))


def write_seed(*numbers: int, **changes: Any) -> Answer:
    """Hand in the tasks of `sites.task` with their tests."""
    seed = {
        "prd_entries": [task(number) for number in numbers],
        "test_files": {f"test_t{number:03d}_add.py": seed_test(number) for number in numbers},
        "tldr": "Functions that add.",
        "open_questions": ["Negative numbers? Taken as any other."],
        "blockers": [],
        "scope_notes": "Nothing but integers.",
        **changes,
    }
    return call("write_seed", **seed)


def review(*contradictions: str) -> Answer:
    """Answer a contract review."""
    found = [{"task": "T-001", "what": what} for what in contradictions]
    return call("submit_review", contradictions=found)


@dataclass
class Person:
    """Answer from a script, and keep what was asked and shown."""

    answers: list[str | WentBack] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)
    shown: list[Any] = field(default_factory=list)
    spent: list[int] = field(default_factory=list)
    leaves_at: int | None = None

    def ask(self, question: Question) -> str | WentBack:
        if self.leaves_at == len(self.asked):
            raise KeyboardInterrupt
        self.asked.append(question)
        return self.answers.pop(0)

    def update_tokens(self, meter: Any, turns: int) -> None:
        self.spent.append(meter.tokens)

    def show_summary(self, summary: Any) -> None:
        self.shown.append(summary)


@dataclass
class Reader(Person):
    """Be a person who is shown the seed before it is written."""

    says: list[Approval] = field(default_factory=list)
    views: list[SeedView] = field(default_factory=list)

    def approve(self, seed: SeedView) -> Approval:
        self.views.append(seed)
        if not self.says:
            raise KeyboardInterrupt
        return self.says.pop(0)


@dataclass(frozen=True)
class Sitting(Run):
    """Hold what one interview left behind."""

    person: Person = field(default_factory=Person)

    @property
    def results(self) -> list[str]:
        """Give what the seeder was given back, oldest first."""
        return [payload["content"] for payload in self.of("tool_result")]

    @property
    def left_nothing(self) -> bool:
        """Tell whether there is no branch, worktree, plan or test of the session."""
        names = {path.name for path in self.session.iterdir()}
        tests = list((self.session / "seed-tests").iterdir())
        branches = git(self.site.repo, "branch", "--list", "session/*")
        return not names & {"prd.json", "seed-meta.json", "workspace"} and not [*tests, *branches]


def sit(
    site: Site,
    seeder: Iterable[Reply] | Callable[..., Reply],
    *,
    evaluator: Iterable[Reply] = (),
    **how: Any,
) -> Sitting:
    """Hold an interview on a site's repository against a scripted endpoint."""
    script = seeder if callable(seeder) else by_role(seeder=seeder, evaluator=evaluator)
    with MessagesServer(script) as server:
        return sit_at(server, site, **how)


def sit_at(
    server: MessagesServer,
    site: Site,
    *,
    person: Person | None = None,
    options: PrepareOptions | None = None,
    environ: Mapping[str, str] | None = None,
) -> Sitting:
    """Hold an interview at a server that may serve others too."""
    person = person or Person()
    settings = {**site.environ(server.url), **(environ or {})}
    code = prepare(site.repo, options or without_review(), {}, environ=settings, frontend=person)
    return Sitting(site, code, tuple(server.requests), person)


def go_on_at(server: MessagesServer, site: Site, person: Person, **changes: Any) -> Sitting:
    """Go on with the latest interview of a site."""
    name = site.session().name
    session = Session.open_locked(site.sessions, name, clock=SystemClock(), mask=Mask())
    settings = load({}, site.environ(server.url))
    code = go_on(settings, session, without_review(**changes), frontend=person)
    return Sitting(site, code, tuple(server.requests), person)


def run_prepared(server: MessagesServer, site: Site) -> int:
    """Run what a repository has prepared, as `tilth run REPO` does."""
    return start(site.repo, None, {}, new=False, environ=site.environ(server.url))


def without_review(**changes: Any) -> PrepareOptions:
    return replace(PrepareOptions(brief="Functions that add.", review=False), **changes)


def files_of(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in sorted(folder.iterdir())}
