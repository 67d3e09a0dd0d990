"""The sink: where a seed goes, once it has proven itself.

It proves a draft as a whole and writes it as a whole: files, branch, worktree and one commit, or
nothing. Whatever is wrong comes back at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tilth.base.errors import BadPlan, TilthError
from tilth.base.safe_text import one_line
from tilth.config.secrets import Mask
from tilth.contract.prd import Plan, parse_plan
from tilth.git.commits import seed_message
from tilth.git.landed_ids import landed_ids
from tilth.git.workspace import Workspace
from tilth.interview import rules
from tilth.interview.draft import SeedDraft
from tilth.interview.files import drop_seed, save_seed
from tilth.interview.proof import Prover, prove
from tilth.session.session import Session

_FEATURE_CHARS = 120


class SeedRefused(TilthError):
    """Hold every problem of a seed, one line each."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


@dataclass(frozen=True)
class Seed:
    """Hold a seed that has proven itself."""

    draft: SeedDraft
    plan: Plan
    tests: Mapping[str, str]


@dataclass(frozen=True)
class WrittenSeed:
    """Say what was written."""

    commit: str
    files: tuple[str, ...]


class SeedSink(Protocol):
    """Prove a draft, and write it when it holds."""

    def prove(self, draft: SeedDraft) -> Seed:
        """Give the seed, or raise SeedRefused with every problem."""
        ...

    def write(self, seed: Seed, meta: Mapping[str, Any]) -> WrittenSeed:
        """Write everything, or nothing."""
        ...


class SessionSink:
    """Prove and write the seed of one session."""

    def __init__(self, session: Session, workspace: Workspace, prover: Prover, mask: Mask) -> None:
        self._session = session
        self._workspace = workspace
        self._prover = prover
        self._mask = mask

    def prove(self, draft: SeedDraft) -> Seed:
        """Check names, plan, texts and runs, as far as each can be checked."""
        plan, problems = _read_plan(draft)
        taken = self._workspace.files(self._prover.base)
        tests = dict(draft.test_files)
        problems += rules.name_problems(tests, plan, taken)
        if plan is None:
            problems += self._without_plan(draft)
            raise SeedRefused(problems)
        problems += rules.number_problems(plan, taken, landed_ids(self._workspace.source))
        owned = {name: text for name, text in tests.items() if _is_owned(plan, name)}
        problems += prove(self._prover, plan, owned, most_files=1).problems
        if problems:
            raise SeedRefused(list(dict.fromkeys(problems)))
        return Seed(draft, plan, tests)

    def _without_plan(self, draft: SeedDraft) -> list[str]:
        """Check the tests even though the plan cannot be read, so that all is said at once."""
        named = [n for n in draft.test_files if not rules.name_problems([n], None, ())]
        readings = self._prover.read({n: draft.test_files[n] for n in named})
        broken = {n: rules.text_problems(n, draft.test_files[n], readings[n]) for n in named}
        sound = {n: draft.test_files[n] for n in named if not broken[n]}
        tried = self._prover.try_out(sound, json.dumps(draft.prd_entries, ensure_ascii=False))
        found = [line for lines in broken.values() for line in lines]
        return [*found, *(line for proof in tried.values() for line in proof.problems)]

    def write(self, seed: Seed, meta: Mapping[str, Any]) -> WrittenSeed:
        """Write files, branch and commit; if one of them fails, take back the others."""
        tests = {name: text.encode("utf-8") for name, text in seed.tests.items()}
        files = {f"tests/{name}": content for name, content in tests.items()}
        message = seed_message(len(seed.plan.tasks), len(files), session=self._session.id)
        # A crash may have left a branch of an earlier try; the id makes it ours.
        self._workspace.remove()
        try:
            save_seed(self._session, seed.plan, tests, meta, self._mask)
            self._workspace.create(self._prover.base)
            commit = self._workspace.seed(files, message)
        except BaseException:
            self._workspace.remove()
            drop_seed(self._session)
            raise
        return WrittenSeed(commit, tuple(sorted(files)))


def _read_plan(draft: SeedDraft) -> tuple[Plan | None, list[str]]:
    document = {"feature": one_line(draft.tldr, _FEATURE_CHARS), "tasks": draft.prd_entries}
    try:
        return parse_plan(document, "write_seed"), []
    except BadPlan as error:
        return None, [f"prd_entries: {problem}" for problem in error.problems]


def _is_owned(plan: Plan, name: str) -> bool:
    return not rules.name_problems([name], plan, ())
