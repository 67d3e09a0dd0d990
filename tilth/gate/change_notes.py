"""What is told of a change beyond its validators: what was put right, and what steers its proof.

Puts together what the single readings of a change say. It runs and refuses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from tilth.config.project import ProjectFacts
from tilth.config.secrets import Mask
from tilth.contract.prd import Plan, Status
from tilth.gate.export import TreeSource
from tilth.gate.findings import Steering
from tilth.gate.kept_trees import KeptTrees
from tilth.gate.overlay import Trees
from tilth.gate.plain_sight import unseen
from tilth.gate.proof_notes import proof_notes
from tilth.gate.seed_proof import Proof
from tilth.gate.steering_changes import earlier_steering, steering_of
from tilth.gate.tampering import key_notes, tampering_notes

NO_TEST = "no test stands behind this task: only the evaluator does"


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
