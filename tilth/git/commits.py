"""Commits of a session: the messages they carry and how they are read back.

Each text is flattened before it goes in and stands above the last paragraph, so that none can forge
a trailer. Nothing here runs git.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

from tilth.base.values import Value

_FAILED = "FAILED ("
_SESSION = "Tilth-Session"
TASK_TRAILER = "Tilth-Task"
_VERDICT = "Tilth-Verdict"
_QUALITY = "Tilth-Quality"
_ROUND = "Tilth-Round"
_CHECK = "Tilth-Evaluator-Check"
_BELOW_BAR = "below-bar"
_WIDTH = 72


class CommitMessage(Value):
    """Hold a subject line, what it is about, and the trailers below it."""

    subject: str
    trailers: tuple[tuple[str, str], ...] = ()
    summary: str = ""
    criteria: tuple[str, ...] = ()

    @property
    def check(self) -> str | None:
        """Give what it says of the evaluator that accepted it."""
        return dict(self.trailers).get(_CHECK)

    def text(self) -> str:
        lines = [f"{key}: {_one_line(value)}" for key, value in self.trailers]
        met = [line for each in self.criteria for line in _wrapped(each, "- ")]
        parts = (_wrapped(self.summary), met, lines)
        body = "\n\n".join("\n".join(part) for part in parts if part)
        return f"{_one_line(self.subject)}\n\n{body}".rstrip("\n") + "\n"


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
    check: str | None = None
    # Every task it names: a squashed one names several. A task that was sent back has more rounds.
    tasks: tuple[str, ...] = ()
    round: int = 1

    @property
    def failed(self) -> bool:
        return self.subject.startswith(_FAILED)


def done_message(
    task: str,
    title: str,
    *,
    session: str,
    verdict: str,
    below_bar: bool = False,
    round: int = 1,
    check: str | None = None,
    summary: str = "",
    criteria: Sequence[str] = (),
) -> CommitMessage:
    """Announce a task that is done, for the first time or again.

    `check` says how often the evaluator that accepted it is known to be wrong; `summary` and
    `criteria` are the case's and the task's own words.
    """
    trailers = [(_SESSION, session), (TASK_TRAILER, task), (_VERDICT, verdict)]
    if round > 1:
        title = f"{title} (round {round})"
        trailers.append((_ROUND, str(round)))
    if below_bar:
        trailers.append((_QUALITY, _BELOW_BAR))
    if check is not None:
        trailers.append((_CHECK, check))
    return CommitMessage(
        subject=_one_line(f"{task}: {title}"),
        trailers=tuple(trailers),
        summary=summary,
        criteria=tuple(criteria),
    )


def failed_message(reason: str, task: str, title: str, *, session: str) -> CommitMessage:
    """Announce the partial work of a task that failed."""
    return CommitMessage(
        subject=_one_line(f"{_FAILED}{reason}) {task}: {title}"),
        trailers=((_SESSION, session), (TASK_TRAILER, task)),
    )


def seed_message(tasks: int, tests: int, *, session: str) -> CommitMessage:
    """Announce the seed tests a session starts with."""
    return CommitMessage(
        subject=f"seed: {tasks} task(s), {tests} test(s)", trailers=((_SESSION, session),)
    )


def squash_message(
    title: str, subjects: Sequence[str], tasks: Sequence[str], *, session: str
) -> bytes:
    """Announce several tasks that come as one commit, each by its subject."""
    listed = [f"- {_one_line(subject)}" for subject in subjects]
    trailers = [f"{_SESSION}: {session}", *(f"{TASK_TRAILER}: {task}" for task in tasks)]
    return "\n".join([_one_line(title), "", *listed, "", *trailers, ""]).encode()


def session_trailer(session: str) -> str:
    """Give the line by which a session's commits are found."""
    return f"{_SESSION}: {session}"


def read_commit(id: str, raw: bytes) -> CommitRecord:
    """Read a commit object as git stores it."""
    head, _, message = raw.decode("utf-8", "replace").partition("\n\n")
    headers = [line.partition(" ")[::2] for line in head.split("\n")]
    parents = [value for key, value in headers if key == "parent"]
    tree = next(value for key, value in headers if key == "tree")
    subject, _, body = message.partition("\n")
    lines = body.strip().rpartition("\n\n")[2].split("\n")
    trailers = [(key, value.strip()) for key, _, value in (line.partition(":") for line in lines)]
    said = dict(trailers)
    return CommitRecord(
        id=id,
        parent=parents[0] if parents else None,
        tree=tree,
        subject=subject,
        session=said.get(_SESSION),
        task=said.get(TASK_TRAILER),
        verdict=said.get(_VERDICT),
        below_bar=said.get(_QUALITY) == _BELOW_BAR,
        check=said.get(_CHECK),
        tasks=tuple(value for key, value in trailers if key == TASK_TRAILER),
        round=int(said[_ROUND]) if said.get(_ROUND, "").isdecimal() else 1,
    )


def _wrapped(text: str, mark: str = "") -> list[str]:
    """Set a text in lines that a log shows whole; none begins like a trailer of ours."""
    hang = " " * len(mark)
    lines = textwrap.wrap(
        f"{mark}{_one_line(text)}",
        _WIDTH,
        subsequent_indent=hang,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [f" {line}" if line.startswith("Tilth-") else line for line in lines]


def _one_line(text: str) -> str:
    plain = "".join(" " if unicodedata.category(c) in ("Cc", "Cs") else c for c in text)
    return " ".join(plain.split())
