"""What is told of a change beyond its validators: what was put right, and what steers its proof.

The overlay puts back what a task may not change. What steers a gate and was changed all the same
(by permission, earlier, or for later sessions) is named here: to the evaluator, who judges by what
that gate says, and to the person. It refuses nothing and runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from posixpath import basename, normpath

from tilth.config.project import PYPROJECT, TILTH_TOML, NamedValidator, ProjectFacts
from tilth.config.secrets import Mask
from tilth.contract.prd import Plan, Status, Task
from tilth.gate.config_sections import differ
from tilth.gate.findings import Steering
from tilth.gate.overlay import DID, Trees, role_of
from tilth.gate.plain_sight import unseen
from tilth.gate.proof_notes import proof_notes
from tilth.gate.seed_proof import Proof
from tilth.gate.steering import fits_one, is_test_file
from tilth.gate.tampering import key_notes, shortened, tampering_notes
from tilth.git.kept_trees import KeptTrees, TreeSource

NO_TEST = "no test stands behind this task: only the evaluator does"
_BETWEEN = re.compile(r"[\s;|&()<>'\"`=:]+")
_NODE = frozenset({"npm", "npx", "yarn", "pnpm", "bun"})
_OWN = {PYPROJECT: re.compile(r"tool\.tilth"), TILTH_TOML: re.compile(".*")}
_LATER = (
    "it says what the gates of later sessions run (validators, defaults, set-up commands), and "
    "this session goes by what it began with"
)


@dataclass(frozen=True)
class ChangeNotes:
    """Tell of changes of one session; `start` is the commit that it began from."""

    trees: TreeSource
    kept: KeptTrees
    facts: ProjectFacts
    mask: Mask
    start: str | None

    def of(self, proof: Proof) -> tuple[str, ...]:
        """Name what worker and evaluator should know of a change."""
        trees, changes = proof.trees, proof.trees.changes
        untested = [] if proof.seeds.own else [f"{proof.task.id}: {NO_TEST}"]
        restored = tampering_notes(proof.overlay.found)
        told, read = self.facts.context_files or (), partial(self.kept.read, proof.tree)
        keys = key_notes(changes, read, self.mask)
        own = proof_notes(changes, trees.tree_files, trees.read_base, read)
        hidden = unseen(changes, read, told, partial(self.trees.attributes, proof.tree))
        return (*untested, *restored, *keys, *own, *hidden)

    def steering(self, proof: Proof, plan: Plan) -> Steering:
        """Name what steers the gate and is not as it was: by this change, or since the start."""
        own = steering_of(proof.trees, proof.task, self.facts.validators)
        earlier = self._earlier(proof, plan)
        notes = (*own.notes, *earlier.notes)
        return Steering(files=own.files, earlier=earlier.earlier, notes=notes)

    def _earlier(self, proof: Proof, plan: Plan) -> Steering:
        start, begun = self.start, plan.with_status(Status.DONE, Status.FAILED)
        if start is None or (not begun and proof.task.round == 1):
            return Steering()
        since = Trees(
            base_files=self.trees.files(start),
            tree_files=proof.trees.base_files,
            changes=self.trees.changes(start, proof.base),
            read_base=lambda path: self.trees.read(start, path),
            read_tree=proof.trees.read_base,
        )
        found = earlier_steering(since, plan, self.facts.validators)
        told = proof_notes(since.changes, since.tree_files, since.read_base, since.read_tree)
        earlier = tuple(f"by an earlier task of this session: {note}" for note in told)
        return found.model_copy(update={"notes": (*found.notes, *earlier)})


def steering_of(trees: Trees, task: Task, validators: Iterable[NamedValidator]) -> Steering:
    """Say what one change does to the gates it is proven by, and to those of later sessions."""
    own = " by permission of the plan, and the gate ran with it"

    def by(path: str) -> str:
        return own if fits_one(path, task.may_change) else ""

    found = _named(trees, tuple(validators), by, later=True)
    notes = [note for said in found.values() for note in said]
    return Steering(files=tuple(found), notes=shortened(notes))


def earlier_steering(trees: Trees, plan: Plan, validators: Iterable[NamedValidator]) -> Steering:
    """Say what of the gate this session's earlier tasks have changed before a task began."""
    done = plan.with_status(Status.DONE)

    def by(path: str) -> str:
        ids = ", ".join(task.id for task in done if fits_one(path, task.may_change))
        whom = f"by permission ({ids})" if ids else "though no task had permission"
        return f" earlier in this session, {whom}, and the gate of this task ran with that"

    found = _named(trees, tuple(validators), by, later=False)
    notes = [note for said in found.values() for note in said[:1]]
    return Steering(earlier=tuple(found), notes=shortened(notes))


def _named(
    trees: Trees, validators: tuple[NamedValidator, ...], by: Callable[[str], str], *, later: bool
) -> dict[str, list[str]]:
    """Say of each changed file what it is to a gate; `by` says whose doing it is, if not undone."""
    found = {}
    for change in trees.changes:
        path, whose = change.path, by(change.path)
        users = [f"`{each.name}`" for each in validators if _goes_by(each.command, path)]
        is_own = later and path in _OWN and differ(path, *trees.read(change), _OWN[path])
        role = role_of(change, trees) if whose and not is_test_file(path) else None
        used = f"the validator {', '.join(users)} runs it or goes by it" if users else None
        roles = filter(None, (role, used, _LATER if is_own else None))
        found[path] = [f"{path}: {each}; it was {DID[change.status]}{whose}" for each in roles]
    return {path: said for path, said in found.items() if said}


def _goes_by(command: Iterable[str], path: str) -> bool:
    """Tell whether a command names a file or its module, or a runner the file is named after."""
    words = {normpath(word) for whole in command for word in _BETWEEN.split(whole) if word}
    where, _, name = path.rpartition("/")
    module = path.removeprefix("src/").removesuffix(".py").removesuffix("/__main__")
    # make and its Makefile, tox and tox.ini, nox and noxfile.py, npm and package.json
    tools = {basename(word) for word in words} | ({"package"} if words & _NODE else set())
    runs = any(len(tool) > 2 and tool in name.partition(".")[0].lower() for tool in tools)
    is_there = not where or where in words
    return bool(words & {path, module.replace("/", ".")}) or (is_there and (runs or name in tools))
