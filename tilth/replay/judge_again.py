"""Judging again: the recorded question of a review put to another evaluator, word for word.

It may look and prove as the first one could, on the recorded tree, where that still stands. Nothing
is written into the session.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from tilth.base.errors import UserError, WorkspaceError
from tilth.contract.operator_word import find_task
from tilth.contract.rules import Rules
from tilth.contract.verdict import SUBMIT_VERDICT, LedgerEntry
from tilth.git import trees
from tilth.git.source import SourceRepo, open_source
from tilth.log.events import EvaluatorParseError, EvaluatorTool
from tilth.log.past_reviews import PastReview
from tilth.log.state import SessionState
from tilth.model.messages import Conversation, Model, Role
from tilth.replay.account import Account
from tilth.replay.agreement import Pair, Ruling, Sight
from tilth.session.session import Session
from tilth.task.asking import ask
from tilth.task.attempt import Review
from tilth.task.bench import Bench
from tilth.task.briefs import TURNS_NOTE, evaluator_system
from tilth.task.evaluator_tools import RUN_PROBE, EvaluatorTools
from tilth.task.review_turns import Reading, Terms, read_verdict
from tilth.task.second_opinion import entry_again, put_again, tools_again

_MAY_LOOK = re.compile(re.escape(TURNS_NOTE).replace(re.escape("{looks}"), r"\d+"))


def could_look(past: PastReview) -> bool:
    """Tell whether the evaluator was offered tools then."""
    return any(tool.get("name") == RUN_PROBE.name for tool in past.prompt.head.get("tools", ()))


class Judge:
    """Put recorded reviews of one session to another evaluator."""

    def __init__(
        self,
        session: Session,
        account: Account,
        model: Model,
        state: SessionState,
        open_bench: Callable[[], Bench],
        new_id: Callable[[], str],
    ) -> None:
        self._session = session
        self._account = account
        self._model = model
        self._state = state
        self._rules = state.start.rules if state.start else Rules.FIRST
        self._open_bench = open_bench
        self._new_id = new_id

    def again(self, past: PastReview, concern_id: str) -> Pair:
        """Have another verdict on one case."""
        bench, sight = self._bench_for(past)
        conversation = self._conversation(past, sight)
        heard: list[EvaluatorParseError | EvaluatorTool] = []
        reading = read_verdict(
            # What it was not asked for in the recorded question it is not asked for after it.
            Review(conversation, completed=self._rules < Rules.EXCHANGE),
            lambda: ask(self._account, self._model, conversation, self._account.emit),
            Terms(tree=past.tree, threshold=self._state.threshold),
            heard.append,
            self._tools(bench, past, conversation) if bench else None,
        )
        return Pair(
            task_id=past.verdict.task_id,
            concern_id=concern_id,
            tree=past.tree,
            old=_ruling(past.verdict),
            new=self._new(past, reading),
            unreadable=tuple(e.error for e in heard if isinstance(e, EvaluatorParseError)),
            sight=sight,
        )

    def _bench_for(self, past: PastReview) -> tuple[Bench | None, Sight]:
        """Give where it can look, or why it cannot."""
        if not could_look(past):
            return None, Sight.NO_TOOLS_THEN
        source = self._source
        if source is None:
            return None, Sight.REPOSITORY_GONE
        if not all(trees.exists(source, tree) for tree in (past.tree, past.base)):
            return None, Sight.TREE_GONE
        bench = self._bench
        return (bench, Sight.SAME) if bench else (None, Sight.REPOSITORY_GONE)

    @cached_property
    def _source(self) -> SourceRepo | None:
        try:
            return open_source(Path(self._session.checkpoint.source))
        except (UserError, WorkspaceError):
            return None

    @cached_property
    def _bench(self) -> Bench | None:
        try:
            return self._open_bench()
        except WorkspaceError:
            return None

    def _conversation(self, past: PastReview, sight: Sight) -> Conversation:
        """Ask what was asked; one that cannot look any more is not told that it may."""
        if sight in (Sight.SAME, Sight.NO_TOOLS_THEN):
            return put_again(past, self._model, self._new_id())
        head = {
            **past.prompt.head,
            "model": self._model.name,
            "system": evaluator_system(can_look=False),
            "tools": [SUBMIT_VERDICT.to_wire()],
        }
        conversation = Conversation.from_head(self._new_id(), Role.EVALUATOR, head)
        for message in past.prompt.messages:
            conversation.reply([_without_looks(block) for block in message["content"]])
        return conversation

    def _tools(self, bench: Bench, past: PastReview, conversation: Conversation) -> EvaluatorTools:
        task = find_task(self._session.plan, past.verdict.task_id)
        return tools_again(bench, task, past, conversation, self._account.emit)

    def _new(self, past: PastReview, reading: Reading) -> Ruling:
        entry = entry_again(past, reading, self._state.threshold)
        return _ruling(entry) if entry else Ruling(verdict=None, model=reading.model)


def _without_looks(block: dict[str, object]) -> dict[str, object]:
    text = block.get("text")
    return {**block, "text": _MAY_LOOK.sub("", text)} if isinstance(text, str) else block


def _ruling(entry: LedgerEntry) -> Ruling:
    if entry.parse_failed:
        return Ruling(verdict=None, model=entry.model or "")
    return Ruling(
        verdict=entry.verdict,
        rejection_category=entry.rejection_category,
        score=entry.score,
        concern=entry.concern,
        proof=entry.proof,
        model=entry.model or "",
    )
