"""Taking: accepted work brought from a session's branch onto a branch of the user's.

What would come is worked out, said and proven by the gate first. Then the branch moves in one step,
and the log says so. Red, in conflict or refused by a remote, everything stays as it was.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from tilth.base.clock import SystemClock
from tilth.base.errors import UserError
from tilth.base.failpoint import reach
from tilth.base.plain_file import read_plain
from tilth.config.secrets import Mask
from tilth.config.settings import Settings, load
from tilth.contract.outcomes import ExitCode
from tilth.contract.prd import Plan, Status, Task
from tilth.gate.findings import Validation
from tilth.git import remote
from tilth.git.picking import contains
from tilth.git.source import SourceRepo, open_source
from tilth.git.target import Target, bring_in_step, move, open_target, require_room
from tilth.git.workspace import Workspace
from tilth.log.events import Taken
from tilth.log.state import SessionState, fold
from tilth.log.summary import summary
from tilth.log.writer import Emitter
from tilth.session.branch import check_branch
from tilth.session.catalog import find_session
from tilth.session.frontend import Frontend
from tilth.session.lost_log import require_start
from tilth.session.parts import open_parts, read_facts
from tilth.session.proposal import Branch, How, Proposal, Wishes, propose
from tilth.session.resting_log import resting_log
from tilth.session.selection import Behind
from tilth.session.session import Session
from tilth.session.shown_mask import Masks
from tilth.session.store import read_json, replace_json

INTENT = "take.json"


class TakeEnd(StrEnum):
    """Say how a take ended."""

    TAKEN = "taken"
    PLANNED = "planned"
    ALREADY = "already"
    CLASH = "clash"
    RED = "red"
    PUSH_REFUSED = "push_refused"
    NO_PULL_REQUEST = "no_pull_request"


_FINE = frozenset({TakeEnd.TAKEN, TakeEnd.PLANNED, TakeEnd.ALREADY})
_DOUBTED = frozenset({Behind.IN_DOUBT, Behind.BUILT_ON_DOUBT})


@dataclass(frozen=True)
class TakeOptions:
    """Hold what was asked of a take."""

    into: str | None = None
    wishes: Wishes = field(default_factory=Wishes)
    push: str | None = None
    pull_request: bool = False
    dry_run: bool = False


@dataclass(frozen=True)
class TakeResult:
    """Hold what a take came to; `said` is a remote's own word."""

    session: str
    end: TakeEnd
    proposal: Proposal
    validation: Validation | None = None
    said: str = ""
    # False: something of the user's stood in the checkout when a cut-off take was finished.
    in_step: bool = True
    pushed: str | None = None

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode.DONE if self.end in _FINE else ExitCode.TASK_FAILED


Announce = Callable[[str, Proposal], None]


def take(
    wanted: str,
    options: TakeOptions,
    *,
    announce: Announce = lambda session, proposal: None,
    environ: Mapping[str, str] = os.environ,
    frontend: Frontend | None = None,
) -> TakeResult:
    """Bring a session's accepted work home; `announce` hears what will come before it does."""
    settings = load({}, environ)
    frontend = frontend or Frontend()
    masks = Masks(settings, environ)
    name = find_session(settings.sessions_dir, wanted)
    session = Session.open_locked(
        settings.sessions_dir, name, clock=SystemClock(), mask=masks.of_settings()
    )
    try:
        mask = masks.put_on(session).mask
        source = open_source(Path(session.checkpoint.source))
        in_step = _finish_cut_off(session, source)
        # What was cut off may have left the checkout behind its branch.
        source = open_source(source.root)
        memory = fold(session.events())
        require_start(session, memory)
        taking = _Taking(settings, session, source, options, environ, mask, memory, frontend)
        taking.check_remote()
        target = open_target(source, taking.into())
        proposal = taking.propose(target)
        announce(session.id, proposal)
        result = TakeResult(session.id, TakeEnd.PLANNED, proposal, in_step=in_step)
        if proposal.clash:
            return replace(result, end=TakeEnd.CLASH)
        require_room(source, target, proposal.after)
        return result if options.dry_run else taking.carry_out(target, result)
    finally:
        session.release()


@dataclass(frozen=True)
class _Taking:
    """Hold one take on its way."""

    settings: Settings
    session: Session
    source: SourceRepo
    options: TakeOptions
    environ: Mapping[str, str]
    mask: Mask
    memory: SessionState
    frontend: Frontend

    def check_remote(self) -> None:
        """Refuse what cannot be pushed or opened, before anything else is done."""
        options = self.options
        if options.pull_request and options.push is None:
            raise UserError("--pr needs the remote the branch is pushed to: add --push REMOTE")
        if options.push is not None:
            remote.require_remote(self.source, options.push, self.environ)
        if options.pull_request:
            remote.require_gh(self.environ)

    def into(self) -> str:
        """Name the branch: the one asked for, else the one the session began from."""
        began = self.options.into or self.session.checkpoint.base_branch
        if began:
            return began
        if self.source.branch is None:
            raise UserError("the session does not say which branch it began from: add --into")
        self.frontend.tell(
            "note: the session does not say which branch it began from; it is taken into "
            f"{self.source.branch}, on which {self.source.root} stands"
        )
        return self.source.branch

    def propose(self, target: Target) -> Proposal:
        """Work out what would come, or refuse where nothing can."""
        workspace = self._workspace()
        tip = workspace.tip()
        if not self.session.has_plan or tip is None or not self.memory.started:
            raise UserError(f"session {self.session.id} has no accepted task yet: nothing to take")
        check_branch(self.session, workspace, self.memory)
        base = self.session.checkpoint.base_commit
        branch = Branch(
            source=self.source,
            session=self.session.id,
            base=base,
            tip=tip,
            plan=self.session.plan,
            records=workspace.commits(base),
            finished={task.id for task in self.memory.tasks.values() if task.id and task.done},
        )
        proposal = propose(branch, target, self.options.wishes, self._recorded(target))
        if not proposal.commits and not proposal.clash and not proposal.selection.there:
            raise UserError(_nothing(self.session.id, proposal, self.options.wishes))
        return proposal

    def carry_out(self, target: Target, result: TakeResult) -> TakeResult:
        """Prove the result, then bring it."""
        if result.proposal.how is How.ALREADY:
            return self._bring(target, result)
        validation = self._prove(result.proposal)
        result = replace(result, validation=validation)
        return (
            self._bring(target, result) if validation.passed else replace(result, end=TakeEnd.RED)
        )

    def _prove(self, proposal: Proposal) -> Validation:
        """Let the gate judge the result as a whole: all that was taken counts as done."""
        taken = {*proposal.selection.tasks, *proposal.selection.there}
        plan = _as_taken(self.session.plan, taken)
        last = [task for task in plan.tasks if task.id in proposal.selection.tasks][-1]
        allowed = {glob for task in plan.tasks if task.id in taken for glob in task.may_change}
        whole = last.model_copy(update={"may_change": tuple(sorted(allowed))})
        source = self.source
        facts = read_facts(source, self.session.checkpoint.base_commit)
        settings = self.settings.under(facts)
        with open_parts(
            settings, source, facts, self.frontend, command_environ=self.environ
        ) as parts:
            known = {record.tree: record for record in self.memory.suites}
            gate = parts.gate(self.session, self._workspace(), suites=known)
            baseline = gate.baseline(whole, plan, proposal.before)
            # The tests of what is to come are red there, of course: that excuses nothing here.
            strict = baseline.model_copy(update={"red_elsewhere": ()})
            return gate.validate(whole, plan, proposal.before, proposal.after, strict)

    def _bring(self, target: Target, result: TakeResult) -> TakeResult:
        """Push first, so that a refusal moves nothing; then move the branch and record it."""
        proposal, to = result.proposal, self.options.push
        if to is not None:
            reply = remote.push(self.source, to, proposal.after, target.branch, self.environ)
            if not reply.ok:
                said = self.mask.known(reply.said)
                return replace(result, end=TakeEnd.PUSH_REFUSED, said=said)
            result = replace(result, pushed=to)
        end = TakeEnd.ALREADY
        if proposal.how is not How.ALREADY:
            end = TakeEnd.TAKEN
            _intend(self.session, target, proposal)
            move(self.source, target, proposal.after)
        self._record(proposal)
        (self.session.directory / INTENT).unlink(missing_ok=True)
        return self._opened(replace(result, end=end))

    def _opened(self, result: TakeResult) -> TakeResult:
        if not self.options.pull_request:
            return result
        proposal, plan = result.proposal, self.session.plan
        report = self.session.directory / "report.md"
        text = (
            read_plain(report).decode("utf-8", "replace")
            if report.is_file()
            else _listing(proposal)
        )
        # A report was masked when it was written; what goes out hides what is known since.
        title = " ".join(self.mask.known(plan.feature or f"Session {self.session.id}").split())
        reply = remote.open_pull_request(
            self.source, proposal.branch, title[:200], self.mask.known(text), self.environ
        )
        end = result.end if reply.ok else TakeEnd.NO_PULL_REQUEST
        return replace(result, end=end, said=self.mask.known(reply.said))

    def _workspace(self) -> Workspace:
        return Workspace(self.source, self.session.workspace, self.session.id, SystemClock())

    def _recorded(self, target: Target) -> set[str]:
        """Give the commits that the log says were taken, where their result still stands."""
        standing = [
            event for event in self._told() if contains(self.source, target.tip, [event.after])
        ]
        return {commit for event in standing for commit in event.commits}

    def _record(self, proposal: Proposal) -> None:
        """Put a take on record: in the log, which is the truth, then where a list reads it."""
        tasks = (*proposal.selection.there, *proposal.selection.tasks)
        reach("before recording the take")
        told = {task for event in self._told() for task in event.tasks}
        if proposal.how is not How.ALREADY or not told.issuperset(tasks):
            self._append(proposal, tasks)
        checkpoint = self.session.checkpoint
        if not set(checkpoint.taken).issuperset(tasks):
            taken = tuple(sorted({*checkpoint.taken, *tasks}))
            self.session.save_checkpoint(checkpoint.status, taken=taken)
        self.session.save_summary(summary(fold(self.session.events())))

    def _append(self, proposal: Proposal, tasks: tuple[str, ...]) -> None:
        event = Taken(
            branch=proposal.branch,
            before=proposal.before,
            after=proposal.after,
            tasks=proposal.selection.tasks or tasks,
            commits=tuple(origin for coming in proposal.commits for origin in coming.origins),
            how=proposal.how.value,
            pushed=self.options.push,
        )
        with resting_log(self.session, self.mask, self.memory) as log:
            Emitter(log)(event)

    def _told(self) -> list[Taken]:
        """Give what the log says was taken so far."""
        return [note.said for note in fold(self.session.events()).taken]


def _intend(session: Session, target: Target, proposal: Proposal) -> None:
    """Write down which step is about to be taken, so that one that is cut off can be finished."""
    step = {"branch": target.branch, "before": proposal.before, "after": proposal.after}
    replace_json(session.directory / INTENT, step)


def _finish_cut_off(session: Session, source: SourceRepo) -> bool:
    """Bring a checkout in step whose branch was moved right before a crash."""
    path = session.directory / INTENT
    if not path.exists():
        return True
    step = read_json(path)
    fine = source.branch != step["branch"] or bring_in_step(source, step["before"], step["after"])
    path.unlink(missing_ok=True)
    return fine


def _as_taken(plan: Plan, taken: set[str]) -> Plan:
    """Give the plan as it is on the target: what was taken is done, all else is still open."""
    return plan.model_copy(update={"tasks": tuple(_stands(task, taken) for task in plan.tasks)})


def _stands(task: Task, taken: set[str]) -> Task:
    arrived = task.status is Status.DONE and task.commit is None
    status = Status.DONE if task.id in taken or arrived else Status.PENDING
    return task.model_copy(update={"status": status})


def _nothing(session: str, proposal: Proposal, wishes: Wishes) -> str:
    behind = proposal.selection.behind
    if wishes.clean and any(left.why in _DOUBTED for left in behind):
        return f"nothing in session {session} is free of doubt: take it without --clean"
    return f"nothing is accepted in session {session}: see `tilth info {session}`"


def _listing(proposal: Proposal) -> str:
    return "".join(f"- {coming.subject}\n" for coming in proposal.commits)
