"""Commits of a session: the messages they carry and how they are read back.

A title is flattened to one line before it goes in, so that no title can forge a trailer. Nothing
here runs git.
"""

from __future__ import annotations

import unicodedata

from tilth.values import Value

_FAILED = "FAILED ("
_SESSION = "Tilth-Session"
_TASK = "Tilth-Task"
_VERDICT = "Tilth-Verdict"
_QUALITY = "Tilth-Quality"
_BELOW_BAR = "below-bar"


class CommitMessage(Value):
    """Hold a subject line and the trailers below it."""

    subject: str
    trailers: tuple[tuple[str, str], ...] = ()

    def text(self) -> str:
        lines = [f"{key}: {_one_line(value)}" for key, value in self.trailers]
        return "\n".join([_one_line(self.subject), "", *lines]).rstrip("\n") + "\n"


class CommitRecord(Value):
    """Hold what one commit of a session says about itself."""

    id: str
    parent: str | None
    tree: str
    subject: str
    session: str | None = None
    task: str | None = None
    verdict: str | None = None
    below_bar: bool = False

    @property
    def failed(self) -> bool:
        return self.subject.startswith(_FAILED)


def done_message(
    task: str, title: str, *, session: str, verdict: str, below_bar: bool = False
) -> CommitMessage:
    """Announce a task that is done."""
    trailers = [(_SESSION, session), (_TASK, task), (_VERDICT, verdict)]
    if below_bar:
        trailers.append((_QUALITY, _BELOW_BAR))
    return CommitMessage(subject=_one_line(f"{task}: {title}"), trailers=tuple(trailers))


def failed_message(reason: str, task: str, title: str, *, session: str) -> CommitMessage:
    """Announce the partial work of a task that failed."""
    return CommitMessage(
        subject=_one_line(f"{_FAILED}{reason}) {task}: {title}"),
        trailers=((_SESSION, session), (_TASK, task)),
    )


def seed_message(tasks: int, tests: int, *, session: str) -> CommitMessage:
    """Announce the seed tests a session starts with."""
    return CommitMessage(
        subject=f"seed: {tasks} task(s), {tests} test(s)", trailers=((_SESSION, session),)
    )


def read_commit(id: str, raw: bytes) -> CommitRecord:
    """Read a commit object as git stores it."""
    head, _, message = raw.decode("utf-8", "replace").partition("\n\n")
    headers = [line.partition(" ")[::2] for line in head.split("\n")]
    parents = [value for key, value in headers if key == "parent"]
    subject, _, body = message.partition("\n")
    trailers = body.strip().rpartition("\n\n")[2].split("\n")
    said = {key: value.strip() for key, _, value in (line.partition(":") for line in trailers)}
    return CommitRecord(
        id=id,
        parent=parents[0] if parents else None,
        tree=next(value for key, value in headers if key == "tree"),
        subject=subject,
        session=said.get(_SESSION),
        task=said.get(_TASK),
        verdict=said.get(_VERDICT),
        below_bar=said.get(_QUALITY) == _BELOW_BAR,
    )


def _one_line(text: str) -> str:
    plain = "".join(" " if unicodedata.category(c) in ("Cc", "Cs") else c for c in text)
    return " ".join(plain.split())
