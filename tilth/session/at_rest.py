"""At rest: a person's words taken up by the command that says them, under the session's lock.

What asks for no model and no gate is done here at once: the record, the moves of the plan. Only new
attempts wait for a resume, and a landing for whoever has a worktree and a gate.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tilth.base.clock import SystemClock, stamp
from tilth.base.errors import SessionBusy
from tilth.config.secrets import Mask
from tilth.contract.operator_word import OperatorWord, Verb
from tilth.contract.prd import Status
from tilth.git.source import SourceRepo, open_source
from tilth.git.workspace import Workspace
from tilth.log.events import Emit, OperatorSpoke
from tilth.log.reattach import exchange_of
from tilth.log.state import SessionState, fold
from tilth.log.summary import summary
from tilth.log.task_state import TaskState
from tilth.log.writer import Emitter
from tilth.session.fence import Guard
from tilth.session.inbox import Inbox, LoggedWords
from tilth.session.landed import finish_landed
from tilth.session.lost_log import require_start
from tilth.session.report_file import save_report
from tilth.session.resting_log import resting_log
from tilth.session.session import Session, SessionStatus
from tilth.task import dropping
from tilth.task.words import TOO_LATE, Listener, lands_at_rest, settle, take_up, waiting


@dataclass(frozen=True)
class Desk:
    """Hold what words need of a session at rest, and whoever they can be told to, if anybody."""

    record: Session
    emit: Emit
    words: LoggedWords
    listeners: tuple[Listener, ...]

    def listener_for(self, word: OperatorWord) -> Listener | None:
        """Give the conversation a word can come into: that of its task, else the one begun last."""
        own = (each for each in self.listeners if each.task_id == word.task)
        return next(own, self.listeners[-1] if self.listeners else None)

    def stamp(self) -> str:
        return stamp(SystemClock().now())


@contextmanager
def open_desk(
    session: Session,
    mask: Mask,
    before: SessionState | None = None,
    source: SourceRepo | None = None,
) -> Iterator[Desk]:
    """Open the log of a locked session for words; summary, status and report tell of them then.

    `before` is what the log says, for whoever has read it, its conversations included; `source` is
    the repository of a session that is played again.
    """
    before = before or fold(session.events(), conversations=True)
    with resting_log(session, mask, before) as log:
        emit = Emitter(log)
        words = LoggedWords(Inbox(session.directory), log)
        listeners = (_listener(session, before, known, emit) for known in before.open_tasks)
        desk = Desk(session, emit, words, tuple(each for each in listeners if each is not None))
        yield desk
        _end_dropped(desk, source)
        session.save_summary(summary(log.state))
        restate(session)
        save_report(session, log.state)


def _end_dropped(desk: Desk, source: SourceRepo | None) -> None:
    """End the tasks under way that a person has given up, with what stands in their worktrees."""
    session, state = desk.record, desk.words.state
    for task_id in dropping.to_end(state):
        source = source or open_source(Path(session.checkpoint.source))
        path = session.lane(task_id) if state.laned else session.workspace
        clock, guard = SystemClock(), session.guard
        place = Workspace(source, path, session.id, clock, guard=guard)
        dropping.end(desk, task_id, place)


def wake(session: Session, mask: Mask, state: SessionState | None = None) -> SessionState:
    """Read the log of a locked session for words; what has its commit is done before any is heard.

    `state` is what the log says, for whoever has read it, its conversations included.
    """
    state = state or fold(session.events(), conversations=True)
    require_start(session, state)
    if finish_landed(session, state, mask):
        state = fold(session.events(), conversations=True)
    return state


def take_up_waiting(desk: Desk) -> tuple[OperatorSpoke, ...]:
    """Take up what lies in the inbox; a landing is left for whoever has a gate."""
    settle(desk)
    spoken = []
    for word in waiting(desk):
        if word.verb is Verb.STOP:
            spoken.append(_too_late(desk, word))
        elif not lands_at_rest(desk.record.plan, word):
            spoken.append(take_up(desk, word, desk.listener_for(word)))
    return tuple(spoken)


def take_up_leftovers(session: Session, state: SessionState | None, mask: Mask) -> bool:
    """Take up what a session that ended has left, and put right what a kill left half done.

    The lock must be held. Tells whether the log says more now than `state` does.
    """
    spoken = state is not None and bool(state.words)
    if Inbox(session.directory).is_empty and not spoken:
        return False
    with open_desk(session, mask, wake(session, mask, state)) as desk:
        take_up_waiting(desk)
    return state is None or desk.words.state.last_seq > state.last_seq


def settle_inbox(directory: Path, mask: Mask, guard: Guard | None = None) -> None:
    """Take up what lies in the inbox of a session at rest, until nothing new has come.

    Whoever has held the lock does so once it has let go: a word that is put while a session is held
    is seen by its holder, however late it comes.
    """
    inbox = Inbox(directory)
    seen: tuple[str, ...] = ()
    while (names := inbox.names) and names != seen:
        seen = names
        try:
            session = Session.open_locked(
                directory.parent, directory.name, clock=SystemClock(), mask=mask, guard=guard
            )
        except SessionBusy:
            return
        try:
            take_up_leftovers(session, None, mask)
        finally:
            session.release()


def restate(session: Session) -> None:
    """Have the checkpoint say whether there is work again, or none any more."""
    plan, status = session.plan, session.checkpoint.status
    over = (SessionStatus.DONE, SessionStatus.FAILED, SessionStatus.WAITING)
    if plan.all_done and status in (*over, SessionStatus.STOPPED):
        session.save_checkpoint(SessionStatus.DONE)
    elif status is SessionStatus.DONE or (
        status is SessionStatus.FAILED and not plan.with_status(Status.FAILED)
    ):
        session.save_checkpoint(SessionStatus.STOPPED)


def _too_late(desk: Desk, word: OperatorWord) -> OperatorSpoke:
    spoken = OperatorSpoke(**dict(word), refused=TOO_LATE)
    desk.emit(spoken)
    desk.words.remove(word)
    return spoken


def _listener(
    session: Session, state: SessionState, known: TaskState, emit: Emit
) -> Listener | None:
    """Find the conversation that a resume goes on with, and the case that waits in it."""
    stood = exchange_of(known, state)
    task = session.plan.task(known.id or "")
    if stood.thread is None or task is None:
        return None
    attempt = known.attempt
    return Listener(
        task_id=task.id,
        conversation=stood.thread.conversation.id,
        emit=emit.bind(task_id=task.id, trace_id=attempt.trace_id, iter=attempt.iterations),
        case=stood.waiting_call,
    )
