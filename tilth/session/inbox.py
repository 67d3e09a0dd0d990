"""The inbox: what a person said to a running session, one file a word, until it is taken up.

A word's file appears whole, by rename, under a name that sorts by the time it was said. Whoever
takes it up records it first and removes the file then. Nothing here knows what a word means.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from pydantic import ValidationError

from tilth.base.clock import Clock
from tilth.base.errors import CorruptSession, DiskError
from tilth.base.failpoint import reach
from tilth.base.values import describe_faults, jsonable
from tilth.contract.operator_word import OperatorWord, Verb
from tilth.contract.prd import Task
from tilth.log.state import SessionState
from tilth.log.writer import EventLog
from tilth.session.store import make_private, read_json, replace_bytes, sync_dir

_SUFFIX = ".json"


class Inbox:
    """Keep one session's words that were not taken up yet."""

    def __init__(self, session: Path) -> None:
        self._directory = session / "inbox"

    def put(self, word: OperatorWord, clock: Clock) -> None:
        """Leave a word for the process that works on the session."""
        name = f"{clock.now():%Y%m%d-%H%M%S-%f}-{word.id}-{word.verb}{_SUFFIX}"
        try:
            make_private(self._directory)
        except OSError as error:
            raise DiskError(
                f"cannot write {self._directory}: {error.strerror}; free space or fix access"
            ) from error
        text = json.dumps(jsonable(word), ensure_ascii=False)
        reach("before putting a word")
        replace_bytes(self._directory / name, text.encode("utf-8", "backslashreplace"))
        reach("after putting a word")

    def waiting(self) -> tuple[OperatorWord, ...]:
        """Read the words that wait, oldest first."""
        return tuple(_read(self._directory / name) for name in self.names)

    @property
    def is_empty(self) -> bool:
        return not self.names

    def asks_to_stop(self) -> bool:
        """Tell whether one of them asks to stop; cheap, for it is asked between any two steps."""
        return any(name.endswith(f"-{Verb.STOP}{_SUFFIX}") for name in self.names)

    def remove(self, word: OperatorWord) -> None:
        """Take a word out that is on record."""
        reach("before removing a word")
        for name in self.names:
            if f"-{word.id}-" in name:
                (self._directory / name).unlink(missing_ok=True)
                sync_dir(self._directory)
        reach("after removing a word")

    @property
    def names(self) -> tuple[str, ...]:
        """Name the files of the words that wait, oldest first."""
        try:
            names = sorted(os.listdir(self._directory))
        except OSError:
            return ()
        return tuple(name for name in names if name.endswith(_SUFFIX) and name[0] != ".")


class LoggedWords:
    """Give the words of a session whose log is being written: on record, and in its inbox."""

    def __init__(self, inbox: Inbox, log: EventLog) -> None:
        self._inbox = inbox
        self._log = log

    @property
    def state(self) -> SessionState:
        return self._log.state

    def waiting(self) -> tuple[OperatorWord, ...]:
        return self._inbox.waiting()

    def coming(self) -> tuple[OperatorWord, ...]:
        return self._inbox.waiting()

    def come_before(self, task: Task) -> bool:
        # What was said is heard first in any case, and nobody knows what will be.
        return False

    def tries_again(self, task: Task) -> bool:
        return True

    def answering(self, task_id: str, call_id: str) -> tuple[OperatorWord, ...]:
        return self._inbox.waiting()

    def remove(self, word: OperatorWord) -> None:
        self._inbox.remove(word)


def _read(path: Path) -> OperatorWord:
    try:
        return OperatorWord.model_validate(read_json(path))
    except ValidationError as error:
        fix = "take the file out of the inbox and say it again"
        raise CorruptSession(f"{path}: {describe_faults(error)}; {fix}") from None
