"""The proposal: what a take would bring to a branch, as commits that no branch holds yet.

It reads the session's branch and writes objects. It moves nothing, runs no code of the project and
prints nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from tilth.base.values import Value
from tilth.contract.prd import Plan, Status
from tilth.git import picking, trees
from tilth.git.changes import ChangeSize
from tilth.git.commits import CommitRecord, squash_message
from tilth.git.history import open_history
from tilth.git.source import SourceRepo
from tilth.git.target import Target
from tilth.session.selection import AcceptedWork, Doubt, Selection, read_landed, select


class How(StrEnum):
    """Say in what way work comes to a branch."""

    FAST_FORWARD = "fast_forward"
    ANEW = "anew"
    SQUASH = "squash"
    ALREADY = "already"


class Size(Value):
    """Count what differs between two trees; a binary file has no lines."""

    files: int = 0
    added: int = 0
    removed: int = 0


class Coming(Value):
    """Hold one commit that comes; `origins` are the session's own that it stands for."""

    commit: str
    subject: str
    tasks: tuple[str, ...]
    origins: tuple[str, ...]
    size: Size = Size()
    doubt: Doubt | None = None


class Clash(Value):
    """Name the task whose change does not fit, and the files it does not fit in."""

    task: str
    origin: str
    subject: str
    files: tuple[str, ...]


class Proposal(Value):
    """Hold what would come, from the branch's tip to a new one; with a clash it is no result."""

    branch: str
    before: str
    after: str
    how: How
    commits: tuple[Coming, ...]
    selection: Selection
    size: Size = Size()
    clash: Clash | None = None


@dataclass(frozen=True)
class Branch:
    """Hold a session's branch as it was found."""

    source: SourceRepo
    session: str
    base: str
    tip: str
    plan: Plan
    records: tuple[CommitRecord, ...]
    finished: Collection[str]

    @property
    def seeds(self) -> Mapping[str, str]:
        """Give the path of every seed test that the session itself committed, with its task."""
        paths: dict[str, str] = {}
        for record in self.records:
            if record.task is None and record.parent is not None:
                for change in trees.changes(self.source, record.parent, record.id):
                    owner = _owner(self.plan, change.path)
                    if owner is not None:
                        paths[change.path] = owner
        return paths


@dataclass(frozen=True)
class Wishes:
    """Hold what the user asked for."""

    only: Sequence[str] = ()
    clean: bool = False
    squash: bool = False


def propose(
    branch: Branch, target: Target, wishes: Wishes, recorded: Iterable[str] = ()
) -> Proposal:
    """Work out what would come; `recorded` are commits that the log knows to be there."""
    landed = read_landed(branch.plan, branch.records, branch.finished)
    missing = _missing(branch, target, landed, recorded)
    there = frozenset(
        task for task, records in landed.items() if not any(r.id in missing for r in records)
    )
    accepted = AcceptedWork(plan=branch.plan, landed=landed, there=there)
    selection = select(accepted, only=wishes.only, clean=wishes.clean)
    records = [
        record
        for record in branch.records
        if record.task in selection.tasks and not record.failed and record.id in missing
    ]
    frame = Proposal(
        branch=target.branch,
        before=target.tip,
        after=target.tip,
        how=How.ALREADY,
        commits=(),
        selection=selection,
    )
    if not records:
        return frame
    if _can_fast_forward(branch, target, selection) and not wishes.squash:
        return _measured(branch.source, _forward(branch, frame, accepted))
    proposal = _anew(branch, frame, accepted, records)
    proposal = _squashed(branch, proposal, records) if wishes.squash else proposal
    return _measured(branch.source, proposal)


def _measured(source: SourceRepo, proposal: Proposal) -> Proposal:
    """Read from the commits themselves what each of them says and how large it is."""
    if proposal.clash:
        return proposal
    with open_history(source) as history:
        commits = []
        for coming in proposal.commits:
            record = history.commit(coming.commit)
            size = _size(history.size(record.parent or proposal.before, coming.commit))
            commits.append(coming.model_copy(update={"subject": record.subject, "size": size}))
        whole = _size(history.size(proposal.before, proposal.after))
    return proposal.model_copy(update={"commits": tuple(commits), "size": whole})


def _size(change: ChangeSize) -> Size:
    paths, added, removed = len(change.paths), change.added, change.deleted
    return Size(files=paths, added=added, removed=removed)


def _missing(
    branch: Branch,
    target: Target,
    landed: Mapping[str, tuple[CommitRecord, ...]],
    recorded: Iterable[str],
) -> frozenset[str]:
    """Give the accepted commits that are not on the target, in their own or in another form."""
    found = picking.made_anew(branch.source, branch.session, branch.base, target.tip)
    anew = {(task, record.round) for record in found for task in record.tasks if not record.failed}
    unreached = set(picking.unreached(branch.source, branch.tip, target.tip)) - set(recorded)
    return frozenset(
        record.id
        for records in landed.values()
        for record in records
        if record.id in unreached and (record.task, record.round) not in anew
    )


def _can_fast_forward(branch: Branch, target: Target, selection: Selection) -> bool:
    """Tell whether the whole branch may come as it is."""
    ours = {branch.base, *(record.id for record in branch.records)}
    return (
        selection.is_whole
        and all(task.status is Status.DONE for task in branch.plan.tasks)
        and not any(record.failed for record in branch.records)
        and target.tip in ours
    )


def _forward(branch: Branch, frame: Proposal, accepted: AcceptedWork) -> Proposal:
    new = set(picking.unreached(branch.source, branch.tip, frame.before))
    commits = tuple(
        _coming(accepted, record, record.id) for record in branch.records if record.id in new
    )
    update = {"after": branch.tip, "how": How.FAST_FORWARD, "commits": commits}
    return frame.model_copy(update=update)


def _anew(
    branch: Branch, frame: Proposal, accepted: AcceptedWork, records: Sequence[CommitRecord]
) -> Proposal:
    """Put each task's change onto the tip, with the seed tests of that task and of no other."""
    source, seeds = branch.source, branch.seeds
    tip, tree = frame.before, picking.tree_of(source, frame.before)
    placed, commits = set(accepted.there), []
    for record in records:
        task = record.task or ""
        cut = picking.Cut(
            plain=branch.base,
            before=_owned_by_others(seeds, placed),
            after=_owned_by_others(seeds, placed | {task}),
        )
        merged = picking.put_onto(source, record, tree, cut)
        if not merged.clean:
            files = merged.conflicted or tuple(p for c in merged.conflicts for p in c.paths)
            clash = Clash(task=task, origin=record.id, subject=record.subject, files=files)
            return frame.model_copy(update={"how": How.ANEW, "clash": clash})
        placed.add(task)
        commit = picking.pick(source, record, tree=merged.tree, parent=tip)
        commits.append(_coming(accepted, record, commit))
        tip, tree = commit, merged.tree
    changes = {"after": tip, "how": How.ANEW, "commits": tuple(commits)}
    return frame.model_copy(update=changes)


def _squashed(branch: Branch, proposal: Proposal, records: Sequence[CommitRecord]) -> Proposal:
    """Make one commit of all that would come."""
    if proposal.clash or len(proposal.commits) < 2:
        return proposal.model_copy(update={"how": How.SQUASH})
    tasks = tuple(dict.fromkeys(task for coming in proposal.commits for task in coming.tasks))
    subjects = [coming.subject for coming in proposal.commits]
    title = branch.plan.feature or f"{len(tasks)} tasks of session {branch.session}"
    commit = picking.squash(
        branch.source,
        records[-1],
        tree=picking.tree_of(branch.source, proposal.after),
        parent=proposal.before,
        text=squash_message(title, subjects, tasks, session=branch.session),
    )
    doubts = [coming.doubt for coming in proposal.commits if coming.doubt]
    one = Coming(
        commit=commit,
        subject=" ".join(title.split()),
        tasks=tasks,
        origins=tuple(origin for coming in proposal.commits for origin in coming.origins),
        doubt=doubts[0] if doubts else None,
    )
    return proposal.model_copy(update={"after": commit, "how": How.SQUASH, "commits": (one,)})


def _coming(accepted: AcceptedWork, record: CommitRecord, commit: str) -> Coming:
    return Coming(
        commit=commit,
        subject=record.subject,
        tasks=(record.task,) if record.task else (),
        origins=(record.id,),
        doubt=accepted.doubt(record.task) if record.task else None,
    )


def _owned_by_others(seeds: Mapping[str, str], tasks: Collection[str]) -> frozenset[str]:
    return frozenset(path for path, owner in seeds.items() if owner not in tasks)


def _owner(plan: Plan, path: str) -> str | None:
    name = PurePosixPath(path).name
    return next((task.id for task in plan.tasks if task.owns_test(name)), None)
