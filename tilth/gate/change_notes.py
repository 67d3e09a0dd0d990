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
from tilth.gate.plain_sight import unseen
from tilth.gate.proof_notes import proof_notes
from tilth.gate.seed_proof import Proof
from tilth.gate.steering_changes import Span, earlier_steering, steering_of
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
        trees, overlay, changes = proof.trees, proof.overlay, proof.trees.changes
        untested = [] if proof.seeds.own else [f"{proof.task.id}: {NO_TEST}"]
        restored = tampering_notes((*overlay.tampered, *overlay.weakened))
        told, read = self.facts.context_files or (), partial(self.kept.read, proof.tree)
        keys = key_notes(changes, read, self.mask)
        own = proof_notes(changes, trees.tree_files, trees.read_base, read)
        hidden = unseen(changes, read, told, partial(self.trees.attributes, proof.tree))
        return (*untested, *restored, *keys, *own, *hidden)

    def steering(self, proof: Proof, plan: Plan) -> Steering:
        """Name what steers the gate and is not as it was: by this change, or since the start."""
        trees = proof.trees
        span = Span(
            trees.changes, trees.read_base, trees.read_tree, trees.base_directories, trees.shadows
        )
        own = steering_of(span, proof.task, self.facts.validators)
        earlier = self._earlier(proof, plan)
        return earlier.model_copy(
            update={"files": own.files, "notes": (*own.notes, *earlier.notes)}
        )

    def _earlier(self, proof: Proof, plan: Plan) -> Steering:
        start, begun = self.start, plan.with_status(Status.DONE, Status.FAILED)
        if start is None or (not begun and proof.task.round == 1):
            return Steering()
        span = Span(
            self.trees.changes(start, proof.base),
            lambda path: self.trees.read(start, path),
            proof.trees.read_base,
            frozenset(path.rpartition("/")[0] for path in self.trees.files(start)),
        )
        found = earlier_steering(span, plan, self.facts.validators)
        told = proof_notes(span.changes, proof.trees.base_files, span.before, span.after)
        earlier = tuple(f"by an earlier task of this session: {note}" for note in told)
        return found.model_copy(update={"notes": (*found.notes, *earlier)})
