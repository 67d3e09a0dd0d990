"""Purposes: what a command that is proposed does, in a few words. Pure."""

from __future__ import annotations

# What a command does, by the words it begins with.
_PURPOSES = {
    "tilth answer ": "answers the question; put your answer between the quotes",
    "tilth doctor ": "tries the endpoint, the key and the models",
    "tilth resume ": "goes on: failed tasks are tried again, then what is not done yet",
    "tilth show ": "shows the task: its rounds, verdicts and change",
    "tilth take ": "proves the accepted commits again and brings them onto your branch",
    "tilth events ": "follows the log while it runs",
    "tilth prep-feature ": "goes on with the interview",
    "tilth run ": "begins the work",
    "tilth reset ": "removes the session and its branch",
    "git ": "lists the commits it made",
}


def purpose(command: str) -> str:
    """Say in a few words what a proposed command does; of one that is not known, nothing."""
    _, _, last = command.rpartition("then: ")
    return next((does for words, does in _PURPOSES.items() if last.startswith(words)), "")
