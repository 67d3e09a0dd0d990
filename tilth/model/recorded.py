"""Recorded answers: a model that says again what a log says was said, without key or network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from tilth.base.errors import RecordingOver
from tilth.contract.operator_word import OperatorWord
from tilth.contract.prd import Status, Task
from tilth.log.conversations import turn_of
from tilth.log.events import Event, ModelCall, PromptAssembled
from tilth.model.messages import Conversation, OnRetry, Role, Turn
from tilth.replay.moves import Move, Moves
from tilth.replay.recording import Attempt, HeardWord, Recording, counts

THE_END = "the recording ends here"


class Script:
    """Follow a play event by event, and know which answer comes next.

    It is a sink of the play's own log. A task that the recording has not begun at this point ends
    the play there, as the recorded start ended.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.start = 0
        self._begun: dict[str, int] = {}
        self._given: dict[tuple[str, int, Role], int] = {}
        self._task_id = ""
        # Which task a conversation of the play is about: lanes speak at the same time.
        self._about: dict[str, str] = {}
        self._steps = 0
        self._own_steps: Counter[str] = Counter()
        self._moves = Moves()
        self._words = list(recording.words.heard)

    def take(self, event: Event) -> None:
        """Hear what the play does."""
        task_id = event.scope.task_id or ""
        if event.type == "context_reset":
            self._open(task_id)
        self._moves.take(event)
        if counts(event):
            self._steps += 1
            self._own_steps[task_id] += 1
        if isinstance(event.payload, PromptAssembled):
            self._about[event.payload.conversation] = task_id
            if event.payload.role is Role.WORKER:
                self._begun[task_id] = self._begun.get(task_id, 0) + 1
            elif not event.payload.second:
                return
            self._task_id = task_id

    def words_due(self) -> tuple[OperatorWord, ...]:
        """Give what a person had said by now and was heard in this start."""
        return tuple(
            each.word
            for each in self._words
            if each.start == self.start and each.unheard is None and self._is_due(each)
        )

    def words_answering(self, task_id: str, call_id: str) -> tuple[OperatorWord, ...]:
        """Give what was said in the place of hearing a case or blocker, whichever start it was."""
        asked = (task_id, self._begun.get(task_id, 0), call_id)
        return tuple(each.word for each in self._words if each.unheard == asked)

    def _is_due(self, heard: HeardWord) -> bool:
        if heard.word.task is None or not self.recording.state.laned:
            return heard.after <= self._steps
        own = heard.after_own <= self._own_steps[heard.word.task]
        return own and (heard.behind is None or self._moves.has(heard.behind))

    def words_before(self, task: Task) -> bool:
        """Tell whether a verdict is still to be heard that came before a task began or landed.

        A start that was cut short does not know that it was, and would go on to land what a person
        gave up or sent back before the next one.
        """
        move = {Status.PENDING: Move.BEGUN, Status.ACCEPTED: Move.TURN}.get(task.status)
        verdicts = [each.behind for each in self._words if each.start == self.start]
        if move is Move.TURN:
            own = (each for each in self.recording.words.resting if each.word.task == task.id)
            verdicts += [each.behind for each in own if each.start > self.start]
        return move is not None and any(
            behind is not None and not self._moves.is_among(behind, move, task.id)
            for behind in verdicts
        )

    def tries_again(self, task: Task) -> bool:
        """Tell whether the recording has another attempt at a task by now.

        A start that was cut short before a failure was carried out plays it to its end.
        """
        attempts = self.recording.attempts.get(task.id, [])
        return any(each.start <= self.start for each in attempts[self._begun.get(task.id, 0) :])

    def words_coming(self) -> tuple[OperatorWord, ...]:
        """Give what waited when this start began and is heard in it, now or later."""
        return tuple(each.word for each in self._words if each.start == self.start and each.waited)

    def words_missed(self, number: int) -> tuple[OperatorWord, ...]:
        """Give what the starts before this one did not come to hear."""
        return tuple(each.word for each in self._words if each.start < number)

    def word_heard(self, word: OperatorWord) -> None:
        """Leave out a word that was taken up."""
        self._words = [each for each in self._words if each.word.id != word.id]

    def attempt(self, task_id: str | None = None) -> Attempt | None:
        """Give the recorded attempt at a task that is being played; unnamed, the one begun last."""
        task_id = task_id or self._task_id
        begun = self._begun.get(task_id, 0)
        attempts = self.recording.attempts.get(task_id, [])
        return attempts[begun - 1] if 0 < begun <= len(attempts) else None

    def answer(self, role: Role, conversation: str) -> Turn:
        """Give the next recorded answer to a role, or raise where there is none in this start."""
        task_id = self._about.get(conversation, self._task_id)
        attempt = self.attempt(task_id)
        key = (task_id, self._begun.get(task_id, 0), role)
        given = self._given.get(key, 0)
        answers = attempt.answers.get(role, []) if attempt else []
        if given >= len(answers) or answers[given][0] > self.start:
            raise RecordingOver(THE_END)
        self._given[key] = given + 1
        return turn_of(self.recording.payload(answers[given][1], ModelCall))

    def _open(self, task_id: str) -> None:
        attempts = self.recording.attempts.get(task_id, [])
        begun = self._begun.get(task_id, 0)
        if begun >= len(attempts) or attempts[begun].start > self.start:
            raise RecordingOver(THE_END)


class RecordedModel:
    """Answer conversations from a recording; `pause` may keep a pace that can be watched."""

    endpoint = "recording"

    def __init__(
        self,
        script: Script,
        role: Role,
        name: str,
        pause: Callable[[Turn], None] = lambda turn: None,
    ) -> None:
        self.name = name
        self._script = script
        self._role = role
        self._pause = pause

    def respond(self, conversation: Conversation, on_retry: OnRetry) -> Turn:
        """Give the next recorded answer, whatever was asked."""
        turn = self._script.answer(self._role, conversation.id)
        self._pause(turn)
        return turn
