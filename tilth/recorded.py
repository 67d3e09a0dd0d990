"""Recorded answers: a model that says again what a log says was said, without key or network."""

from __future__ import annotations

from collections.abc import Callable

from tilth.errors import ProviderError
from tilth.events import Event
from tilth.messages import Conversation, OnRetry, Role, Turn
from tilth.payloads import PromptAssembled
from tilth.recording import Attempt, Recording

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

    def take(self, event: Event) -> None:
        """Hear what the play does."""
        task_id = event.scope.task_id or ""
        if event.type == "context_reset":
            self._open(task_id)
        elif isinstance(event.payload, PromptAssembled) and event.payload.role is Role.WORKER:
            self._begun[task_id] = self._begun.get(task_id, 0) + 1
            self._task_id = task_id

    @property
    def attempt(self) -> Attempt | None:
        """Give the recorded attempt that is being played."""
        begun = self._begun.get(self._task_id, 0)
        attempts = self.recording.attempts.get(self._task_id, [])
        return attempts[begun - 1] if 0 < begun <= len(attempts) else None

    def answer(self, role: Role) -> Turn:
        """Give the next recorded answer to a role, or raise where there is none in this start."""
        attempt = self.attempt
        key = (self._task_id, self._begun.get(self._task_id, 0), role)
        given = self._given.get(key, 0)
        answers = attempt.answers.get(role, []) if attempt else []
        if given >= len(answers) or answers[given][0] > self.start:
            raise ProviderError(THE_END)
        self._given[key] = given + 1
        payload = self.recording.payload(answers[given][1])
        return Turn.model_validate({name: payload.get(name) for name in Turn.model_fields})

    def _open(self, task_id: str) -> None:
        attempts = self.recording.attempts.get(task_id, [])
        begun = self._begun.get(task_id, 0)
        if begun >= len(attempts) or attempts[begun].start > self.start:
            raise ProviderError(THE_END)


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
        turn = self._script.answer(self._role)
        self._pause(turn)
        return turn
